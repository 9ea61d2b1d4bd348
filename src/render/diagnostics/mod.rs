//! What lint found, in five forms: as a compiler shows it, as JSON, and as three kinds of CI read it.

mod github;
mod json;
mod junit;
mod rules;
mod sarif;
mod text;

use std::io;

pub use rules::{RuleJson, lint_rules_page, rule, rule_listing};

use super::printer::Printer;
use crate::policy::SourceText;
use crate::policy::lint::{LintReport, Severity};

/// Form of the findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum DiagnosticFormat {
    /// With the lines that they speak of, for people
    #[default]
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands of GitHub Actions
    Github,
    /// JUnit XML, a test case for each rule and file
    Junit,
}

/// What is shown of a run of lint.
#[derive(Debug)]
pub struct Linted<'a> {
    /// What was read.
    pub sources: &'a [SourceText],
    /// What was found.
    pub report: &'a LintReport,
    /// Fixes that `--fix` has written.
    pub fixed: usize,
}

/// Prints the findings.
pub fn diagnostics(printer: &mut Printer, format: DiagnosticFormat, linted: &Linted<'_>) -> io::Result<()> {
    match format {
        DiagnosticFormat::Text => text::print(printer, linted),
        DiagnosticFormat::Json => printer.json(&json::document(linted)),
        DiagnosticFormat::Sarif => printer.json(&sarif::document(linted)),
        DiagnosticFormat::Github => github::print(printer, linted),
        DiagnosticFormat::Junit => junit::print(printer, linted),
    }
}

/// Prints the findings of policies that cannot be loaded, as lint shows them.
pub fn policy_error(printer: &mut Printer, error: &crate::policy::PolicyError) -> io::Result<()> {
    error.diagnostics.iter().try_for_each(|diagnostic| text::diagnostic(printer, &error.sources, diagnostic))
}

/// `1 error`, `2 errors`.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `2 errors, 1 warning`; empty where there is nothing.
fn counts(report: &LintReport) -> String {
    let parts = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "note")];
    let parts = parts.iter().map(|(severity, what)| (report.count(*severity), what));
    parts
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect::<Vec<_>>()
        .join(", ")
}
