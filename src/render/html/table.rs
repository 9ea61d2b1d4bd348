//! Tables of a page.

use serde::Serialize;

use super::limits::{MAX_ROWS, clipped};
use crate::render::text::count_of;

/// A table under construction.
#[derive(Clone, Debug)]
pub struct Table {
    caption: String,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    left_out: u64,
}

#[derive(Clone, Debug, Serialize)]
struct Column {
    name: String,
    is_number: bool,
}

/// A table as the template takes it.
#[derive(Debug, Serialize)]
pub(super) struct Grid {
    caption: String,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    more: String,
}

impl Table {
    /// Columns by their headings; `>` before a heading says that the column holds numbers. The first column names its row.
    pub fn new(caption: &str, headings: &[&str]) -> Self {
        let column = |heading: &&str| Column {
            name: clipped(heading.trim_start_matches('>')),
            is_number: heading.starts_with('>'),
        };
        Self {
            caption: clipped(caption),
            columns: headings.iter().map(column).collect(),
            rows: Vec::new(),
            left_out: 0,
        }
    }

    /// Adds a row; rows beyond [`MAX_ROWS`] are only counted. Cells beyond the columns are left out, missing ones empty.
    pub fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) -> &mut Self {
        if self.rows.len() >= MAX_ROWS {
            self.left_out += 1;
            return self;
        }
        let mut row: Vec<String> = cells.into_iter().map(|cell| clipped(cell.as_ref())).collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
        self
    }

    pub(super) fn shown(&self) -> Grid {
        let more = match self.left_out {
            0 => String::new(),
            rows => format!("and {} more", count_of(rows, "row")),
        };
        Grid { caption: self.caption.clone(), columns: self.columns.clone(), rows: self.rows.clone(), more }
    }
}
