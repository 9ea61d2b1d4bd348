//! Findings as JUnit XML: a suite for each file, a test case for each rule that found something in it, or one that passed.

use std::collections::BTreeMap;
use std::io;

use super::Linted;
use crate::policy::lint::{Diagnostic, Rule, Severity, place};
use crate::render::printer::Printer;

/// Prints the document. Errors are failures; warnings and notes stand in the output of a case that passed.
pub(super) fn print(printer: &mut Printer, linted: &Linted<'_>) -> io::Result<()> {
    let suites: Vec<Suite<'_>> =
        linted.sources.iter().enumerate().map(|(file, _)| Suite::of(linted, file)).collect();
    let tests: usize = suites.iter().map(Suite::tests).sum();
    let failures: usize = suites.iter().map(Suite::failures).sum();
    printer.line("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    printer.line(&format!(
        "<testsuites name=\"icache policy lint\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">"
    ))?;
    suites.iter().try_for_each(|suite| suite.print(printer, linted))?;
    printer.line("</testsuites>")
}

struct Suite<'a> {
    name: &'a str,
    by_rule: BTreeMap<Rule, Vec<&'a Diagnostic>>,
}

impl<'a> Suite<'a> {
    fn of(linted: &Linted<'a>, file: usize) -> Self {
        let mut by_rule: BTreeMap<Rule, Vec<&Diagnostic>> = BTreeMap::new();
        for diagnostic in linted.report.diagnostics.iter().filter(|diagnostic| diagnostic.site.file == file) {
            by_rule.entry(diagnostic.rule).or_default().push(diagnostic);
        }
        Self { name: linted.sources.get(file).map_or("", |source| source.name()), by_rule }
    }

    fn tests(&self) -> usize {
        self.by_rule.len().max(1)
    }

    fn failures(&self) -> usize {
        self.by_rule.keys().filter(|rule| rule.severity() == Severity::Error).count()
    }

    fn print(&self, printer: &mut Printer, linted: &Linted<'_>) -> io::Result<()> {
        let name = escaped(self.name);
        let (tests, failures) = (self.tests(), self.failures());
        printer.line(&format!(
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\">"
        ))?;
        if self.by_rule.is_empty() {
            printer.line(&format!("    <testcase name=\"all rules\" classname=\"{name}\"/>"))?;
        }
        for (rule, found) in &self.by_rule {
            let lines: Vec<String> = found.iter().map(|diagnostic| line(linted, diagnostic)).collect();
            let text = escaped(&lines.join("\n"));
            printer.line(&format!("    <testcase name=\"{}\" classname=\"{name}\">", rule.id()))?;
            if rule.severity() == Severity::Error {
                let message = escaped(rule.info().summary);
                printer
                    .line(&format!("      <failure type=\"error\" message=\"{message}\">{text}</failure>"))?;
            } else {
                printer.line(&format!("      <system-out>{text}</system-out>"))?;
            }
            printer.line("    </testcase>")?;
        }
        printer.line("  </testsuite>")
    }
}

fn line(linted: &Linted<'_>, diagnostic: &Diagnostic) -> String {
    let (name, start) = place(&diagnostic.site, linted.sources);
    let severity = diagnostic.rule.severity().label();
    format!("{name}:{}:{}: {severity}: {}; {}", start.line, start.column, diagnostic.what, diagnostic.help)
}

/// Text as XML 1.0 can hold it: what it cannot hold at all is shown as the replacement character.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(char),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ if char.is_control() => out.push('\u{fffd}'),
            _ => out.push(char),
        }
    }
    out
}
