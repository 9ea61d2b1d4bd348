//! How large a page gets, whatever is put into it.

/// Points of one line; longer lines keep the least and the greatest of each stretch.
pub const MAX_LINE_POINTS: usize = 240;
/// Columns of one stacked plot; neighbours are merged beyond it.
pub const MAX_COLUMNS: usize = 120;
/// Series of one plot; what is beyond is left out of a plot of lines, and one series `other` of a stack.
pub const MAX_SERIES: usize = 8;
/// Rows of a table, and items of a list.
pub const MAX_ROWS: usize = 500;
/// Characters of one text: a cell, a name, a paragraph.
pub const MAX_TEXT: usize = 1_000;

/// `text`, cut where it is longer than [`MAX_TEXT`], with control characters written out.
pub(super) fn clipped(text: &str) -> String {
    let text = crate::render::text::clean(text);
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.into_owned(),
    }
}
