//! What a load came to: a table with a plot for people, one JSON document for scripts, a page, a bar while it runs.

mod json;
mod page;
mod plot;
mod progress;
mod table;

use std::io;

pub use page::bench_page;
pub use progress::BenchProgress;

use super::printer::{Format, Printer};
use crate::bench::BenchReport;
use json::BenchJson;

/// Percentiles that are shown: name, and part of the answers.
const PERCENTILES: [(&str, f64); 7] = [
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
    ("greatest", 1.0),
];

/// Prints the report.
pub fn bench(printer: &mut Printer, format: Format, report: &BenchReport) -> io::Result<()> {
    match format {
        Format::Json => printer.json(&BenchJson::new(report)),
        Format::Jsonl => printer.json_line(&BenchJson::new(report)),
        Format::Table => table::table(printer, report),
    }
}
