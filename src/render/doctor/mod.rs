//! What is right and wrong with an installation.

mod json;
mod page;
mod text;

use std::io;

pub use self::page::doctor_page;
use super::printer::{Format, Printer};
use crate::doctor::Diagnosis;

/// Prints a diagnosis; as JSON Lines, one finding a line.
pub fn diagnosis(printer: &mut Printer, format: Format, diagnosis: &Diagnosis) -> io::Result<()> {
    match format {
        Format::Json => printer.json(&json::DiagnosisJson::from(diagnosis)),
        Format::Jsonl => diagnosis
            .findings
            .iter()
            .try_for_each(|finding| printer.json_line(&json::FindingJson::from(finding))),
        Format::Table => text::print(printer, diagnosis),
    }
}
