//! What `icache capture` shows while it records, and what it says in the end.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::JSON_VERSION;
use super::error::warnings;
use super::printer::{ColorWhen, Format, Printer};
use super::text::{clean, count_of, grouped};
use crate::capture::Recorded;

/// What came of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Captured {
    /// What was written.
    pub recorded: Recorded,
    /// Records that the server did not send since this was too slow.
    pub missed: u64,
    /// Times that the feed broke off and was begun anew.
    pub interruptions: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CapturedJson {
    version: u32,
    files: u64,
    records: u64,
    bytes: u64,
    missed: u64,
    interruptions: u64,
}

/// Prints it.
pub fn captured(printer: &mut Printer, format: Format, captured: &Captured) -> io::Result<()> {
    let Captured { recorded, missed, interruptions } = *captured;
    let json = CapturedJson {
        version: JSON_VERSION,
        files: recorded.files,
        records: recorded.records,
        bytes: recorded.bytes,
        missed,
        interruptions,
    };
    match format {
        Format::Json => return printer.json(&json),
        Format::Jsonl => return printer.json_line(&json),
        Format::Table => {}
    }
    print_recorded(printer, &recorded)?;
    if missed > 0 {
        let what = "missed, since they came faster than they were read";
        printer.prose(&format!("{} {what}", count_of(missed, "record")), 2)?;
    }
    if interruptions > 0 {
        let times = count_of(interruptions, "interruption");
        printer.prose(&format!("{times}; what happened meanwhile is in no file"), 2)?;
    }
    Ok(())
}

/// What came of a recording of an engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EngineCaptured {
    /// What was written.
    pub recorded: Recorded,
    /// Batches that could be read.
    pub batches: u64,
    /// Times that the engine began anew.
    pub restarts: u64,
    /// Batches that were lost, and messages, batches, events and blocks that were passed over, by cause.
    pub dropped: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EngineCapturedJson<'a> {
    version: u32,
    files: u64,
    records: u64,
    bytes: u64,
    batches: u64,
    restarts: u64,
    dropped: &'a BTreeMap<&'static str, u64>,
}

/// Prints it.
pub fn engine_captured(printer: &mut Printer, format: Format, captured: &EngineCaptured) -> io::Result<()> {
    let EngineCaptured { recorded, batches, restarts, dropped } = captured;
    let json = EngineCapturedJson {
        version: JSON_VERSION,
        files: recorded.files,
        records: recorded.records,
        bytes: recorded.bytes,
        batches: *batches,
        restarts: *restarts,
        dropped,
    };
    match format {
        Format::Json => return printer.json(&json),
        Format::Jsonl => return printer.json_line(&json),
        Format::Table => {}
    }
    print_recorded(printer, recorded)?;
    printer.line(&format!("batches read: {batches}; restarts of the engine: {restarts}"))?;
    if dropped.is_empty() {
        return Ok(());
    }
    let causes: Vec<String> = dropped.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
    printer.line(&format!("passed over: {}", causes.join(", ")))
}

fn print_recorded(printer: &mut Printer, recorded: &Recorded) -> io::Result<()> {
    let files = count_of(recorded.files, "file");
    let bytes = grouped(i64::try_from(recorded.bytes).unwrap_or(i64::MAX));
    printer.line(&format!("{} recorded in {files}, {bytes} bytes", count_of(recorded.records, "record")))
}

/// A line on standard error, where that is a terminal; it takes itself away when it is dropped.
pub struct CaptureProgress {
    bar: ProgressBar,
    color: ColorWhen,
}

impl CaptureProgress {
    /// A line in the manner of `printer`.
    pub fn new(printer: &Printer) -> Self {
        let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
        let bar = ProgressBar::new_spinner();
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self { bar, color: printer.when() }
    }

    /// So much is in the file, and in those before it.
    pub fn at(&self, path: &Path, recorded: &Recorded, missed: u64) {
        let name = path.display().to_string();
        let mut line = format!("{}: {}", clean(&name), count_of(recorded.records, "record"));
        if missed > 0 {
            line.push_str(&format!(", {} missed", count_of(missed, "record")));
        }
        self.bar.set_message(line);
        self.bar.tick();
    }

    /// Says something while the line stays.
    pub fn warn(&self, sentence: &str) {
        self.bar.suspend(|| warnings(self.color, &[sentence.to_owned()]));
    }
}

impl Drop for CaptureProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
