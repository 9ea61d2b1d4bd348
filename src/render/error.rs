//! Errors on standard error: one line of what happened, one of what to do.

use std::io;

use super::printer::{ColorWhen, Printer};
use super::text::{Tone, clean};

/// The two lines of an error.
pub trait ErrorText {
    /// What happened: lower-case, no full stop, input in backticks.
    fn what(&self) -> String;

    /// What to do about it.
    fn advice(&self) -> String;
}

/// Prints `error`.
pub fn error(printer: &mut Printer, error: &dyn ErrorText) -> io::Result<()> {
    let label = printer.paint(Tone::Bad, "error:");
    printer.line(&format!("{label} {}", clean(&error.what())))?;
    let label = printer.paint(Tone::Strong, "help:");
    printer.line(&format!("{label} {}", clean(&error.advice())))?;
    printer.flush()
}

/// Prints what a person should know, to standard error. Nowhere is left to report that it is gone.
pub fn warnings(when: ColorWhen, sentences: &[String]) {
    let mut printer = Printer::stderr(when);
    let label = printer.paint(Tone::Warning, "warning:");
    for sentence in sentences {
        let _ = printer.line(&format!("{label} {}", clean(sentence)));
    }
}
