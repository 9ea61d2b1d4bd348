//! What a replay came to: tables for people, one JSON document for scripts, a bar while it runs.

mod json;
mod page;
mod progress;
pub(super) mod shares;
mod table;

use std::io;

pub use page::{PageContext, replay_page};
pub use progress::Progress;

use super::printer::{Format, Printer};
use crate::replay::ReplayReport;
use json::ReplayJson;

/// Prints the report; `is_check` says that answers were compared.
pub fn replay(
    printer: &mut Printer,
    format: Format,
    report: &ReplayReport,
    is_check: bool,
) -> io::Result<()> {
    match format {
        Format::Json => printer.json(&ReplayJson::new(report, is_check)),
        Format::Jsonl => printer.json_line(&ReplayJson::new(report, is_check)),
        Format::Table => table::table(printer, report, is_check),
    }
}
