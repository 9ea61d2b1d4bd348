//! Tables: a line of headings, a rule, one line a row, no borders.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use super::printer::Look;
use super::text::{Tone, clean};

const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('-').junction(' '));

/// Before every line.
const INDENT: &str = "  ";

/// Marks where a name may break; taken out once the lines are made.
const BREAK: char = '\u{200b}';

/// A table under construction.
pub struct Grid {
    table: Table,
    right: Vec<bool>,
    names: Vec<bool>,
    look: Look,
}

impl Grid {
    /// Columns by their headings. `>` before a heading aligns its column to the right; `-` says that the column holds
    /// names, which break at hyphens.
    pub fn new(look: Look, headings: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic);
        table.force_no_tty();
        table.set_width(u16::try_from(look.width.saturating_sub(INDENT.len())).unwrap_or(u16::MAX));
        let right: Vec<bool> = headings.iter().map(|heading| heading.starts_with('>')).collect();
        let names = headings.iter().map(|heading| heading.starts_with('-')).collect();
        let mut grid = Self { table, right, names, look };
        let cells = headings.iter().enumerate().map(|(at, heading)| {
            let heading = heading.trim_start_matches(['>', '-']);
            grid.cell(at, heading)
        });
        let cells: Vec<Cell> = cells.collect();
        grid.table.set_header(cells);
        for (column, heading) in grid.table.column_iter_mut().zip(headings) {
            column.set_padding((0, 1));
            if heading.starts_with('-') {
                column.set_delimiter(BREAK);
            }
        }
        grid
    }

    /// Adds a row; control characters in it are written out.
    pub fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells: Vec<Cell> =
            cells.into_iter().enumerate().map(|(at, cell)| self.cell(at, &clean(cell.as_ref()))).collect();
        self.table.add_row(cells);
    }

    fn cell(&self, at: usize, text: &str) -> Cell {
        let is_right = self.right.get(at).copied().unwrap_or(false);
        let is_name = self.names.get(at).copied().unwrap_or(false) && text.len() > 1;
        let text = if is_name { text.replace('-', &format!("-{BREAK}")) } else { text.to_owned() };
        Cell::new(text).set_alignment(if is_right { CellAlignment::Right } else { CellAlignment::Left })
    }

    /// The lines, headings in bold where there is colour.
    pub fn lines(&self) -> Vec<String> {
        let made = self.table.lines().map(|line| format!("{INDENT}{line}").trim_end().replace(BREAK, ""));
        let mut lines: Vec<String> = made.collect();
        let rule = lines.iter().position(|line| line.trim_start().starts_with("--")).unwrap_or(0);
        for line in &mut lines[..rule] {
            *line = Tone::Strong.paint(self.look.color, line);
        }
        lines
    }
}
