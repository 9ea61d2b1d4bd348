//! Findings as workflow commands of GitHub Actions, which shows them beside the lines.

use std::io;

use super::Linted;
use crate::policy::lint::{Severity, place};
use crate::render::printer::Printer;

/// Prints a command for each finding.
pub(super) fn print(printer: &mut Printer, linted: &Linted<'_>) -> io::Result<()> {
    for diagnostic in &linted.report.diagnostics {
        let (file, start) = place(&diagnostic.site, linted.sources);
        let end = linted
            .sources
            .get(diagnostic.site.file)
            .map_or(start, |source| source.place(diagnostic.site.end));
        let command = match diagnostic.rule.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        // Columns count only where the finding ends in the line it begins in.
        let columns = if end.line == start.line {
            format!(",col={},endColumn={}", start.column, end.column)
        } else {
            String::new()
        };
        printer.line(&format!(
            "::{command} file={},line={},endLine={}{columns},title={}::{}",
            property(file),
            start.line,
            end.line,
            diagnostic.rule.id(),
            data(&format!("{}; {}", diagnostic.what, diagnostic.help)),
        ))?;
    }
    Ok(())
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
