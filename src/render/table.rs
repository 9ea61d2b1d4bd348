//! Tables: a line of headings, a rule, one line a row, no borders.

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};
use textwrap::core::display_width;

use super::printer::Look;
use super::text::{HARD_SPACE, Tone, clean};

const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('-').junction(' '));

/// Before every line.
const INDENT: &str = "  ";

/// Marks where a name may break; taken out once the lines are made.
const BREAK: char = '\u{200b}';

/// Blanks behind a cell, where there is room for them.
const PADDING: u16 = 1;

/// What a column keeps at least where its words do not fit.
const LEAST_COLUMN: usize = 12;

/// A table under construction.
pub struct Grid {
    table: Table,
    /// Width of the longest word of each column.
    words: Vec<usize>,
    right: Vec<bool>,
    names: Vec<bool>,
    look: Look,
}

impl Grid {
    /// Columns by their headings. `>` before a heading aligns its column to the right; `-` says that the column holds
    /// names, which break at hyphens and blanks.
    pub fn new(look: Look, headings: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic);
        table.force_no_tty();
        table.set_width(u16::try_from(look.width.saturating_sub(INDENT.len())).unwrap_or(u16::MAX));
        let right: Vec<bool> = headings.iter().map(|heading| heading.starts_with('>')).collect();
        let names = headings.iter().map(|heading| heading.starts_with('-')).collect();
        let mut grid = Self { table, words: vec![0; headings.len()], right, names, look };
        let cells: Vec<Cell> = headings
            .iter()
            .enumerate()
            .map(|(at, heading)| grid.cell(at, heading.trim_start_matches(['>', '-'])))
            .collect();
        grid.table.set_header(cells);
        for (column, heading) in grid.table.column_iter_mut().zip(headings) {
            if heading.starts_with('-') {
                column.set_delimiter(BREAK);
            }
        }
        grid
    }

    /// Adds a row; control characters in it are written out.
    pub fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells: Vec<Cell> =
            cells.into_iter().enumerate().map(|(at, cell)| self.value(at, &clean(cell.as_ref()))).collect();
        self.table.add_row(cells);
    }

    /// A cell below the heading. What is aligned to the right is a number, and its unit stays with it.
    fn value(&mut self, at: usize, text: &str) -> Cell {
        let is_right = self.right.get(at).copied().unwrap_or(false);
        if is_right {
            self.cell(at, &text.replace(' ', &HARD_SPACE.to_string()))
        } else {
            self.cell(at, text)
        }
    }

    fn cell(&mut self, at: usize, text: &str) -> Cell {
        let is_right = self.right.get(at).copied().unwrap_or(false);
        let is_name = self.names.get(at).copied().unwrap_or(false) && text.len() > 1;
        let text = if is_name {
            text.replace('-', &format!("-{BREAK}")).replace(' ', &format!(" {BREAK}"))
        } else {
            text.to_owned()
        };
        let longest = text.split([' ', '\n', BREAK]).map(display_width).max().unwrap_or(0);
        if let Some(known) = self.words.get_mut(at) {
            *known = longest.max(*known);
        }
        Cell::new(text).set_alignment(if is_right { CellAlignment::Right } else { CellAlignment::Left })
    }

    /// Blanks behind the cells, and the width of each column, below which its words break. Where not all words fit, columns
    /// move together; then the words of the column with the longest break: paths rather than names.
    fn least_widths(&self) -> (u16, Vec<usize>) {
        let columns = self.words.len();
        // One blank stands for the border between two columns.
        let room =
            |padding: usize| self.look.width.saturating_sub(INDENT.len() + columns * (padding + 1) - 1);
        for padding in [PADDING, 0] {
            let mut words = self.words.clone();
            let over = words.iter().sum::<usize>().saturating_sub(room(padding.into()));
            if let Some(longest) = words.iter_mut().rev().max_by_key(|word| **word) {
                *longest = longest.saturating_sub(over).max(LEAST_COLUMN.min(*longest));
            }
            if words.iter().sum::<usize>() <= room(padding.into()) {
                return (padding, words);
            }
        }
        (0, vec![1; columns])
    }

    /// The lines, headings in bold where there is colour.
    pub fn lines(&self) -> Vec<String> {
        let mut table = self.table.clone();
        let (padding, widths) = self.least_widths();
        for (column, least) in table.column_iter_mut().zip(widths) {
            let least = u16::try_from(least).unwrap_or(u16::MAX).saturating_add(padding);
            column
                .set_padding((0, padding))
                .set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
        }
        let plain =
            |line: String| format!("{INDENT}{line}").trim_end().replace(BREAK, "").replace(HARD_SPACE, " ");
        let made = table.lines().map(plain);
        let mut lines: Vec<String> = made.collect();
        let rule = lines.iter().position(|line| line.trim_start().starts_with("--")).unwrap_or(0);
        for line in &mut lines[..rule] {
            *line = Tone::Strong.paint(self.look.color, line);
        }
        lines
    }
}
