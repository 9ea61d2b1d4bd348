//! What a simulation came to: tables for people, one JSON document for scripts, a bar while it runs.

mod json;
mod progress;
mod table;

use std::io;

pub use progress::SimulationProgress;

use super::printer::{Format, Printer};
use crate::simulate::Simulated;
use json::SimulatedJson;

/// Prints what a simulation came to.
pub fn simulated(printer: &mut Printer, format: Format, result: &Simulated) -> io::Result<()> {
    match format {
        Format::Json => printer.json(&SimulatedJson::new(result)),
        Format::Jsonl => printer.json_line(&SimulatedJson::new(result)),
        Format::Table => table::table(printer, result),
    }
}
