//! Tables: a line of headings, a rule, one line a row, no borders.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use super::printer::Look;
use super::text::{Tone, clean};

const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('-').junction(' '));

/// A table under construction.
pub struct Grid {
    table: Table,
    right: Vec<bool>,
    look: Look,
}

impl Grid {
    /// Columns by their headings; a heading that begins with `>` is aligned to the right.
    pub fn new(look: Look, headings: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(look.width).unwrap_or(u16::MAX));
        table.force_no_tty();
        let right: Vec<bool> = headings.iter().map(|heading| heading.starts_with('>')).collect();
        let mut grid = Self { table, right, look };
        let cells = headings.iter().enumerate().map(|(at, heading)| {
            let heading = heading.trim_start_matches('>');
            grid.cell(at, &Tone::Strong.paint(false, heading))
        });
        let cells: Vec<Cell> = cells.collect();
        grid.table.set_header(cells);
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
        Cell::new(text).set_alignment(if is_right { CellAlignment::Right } else { CellAlignment::Left })
    }

    /// The lines, headings in bold where there is colour.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.table.lines().map(|line| line.trim_end().to_owned()).collect();
        let rule = lines.iter().position(|line| line.trim_start().starts_with("--")).unwrap_or(0);
        for line in &mut lines[..rule] {
            *line = Tone::Strong.paint(self.look.color, line);
        }
        lines
    }
}
