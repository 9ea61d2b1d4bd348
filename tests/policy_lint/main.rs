//! Lint of policies: every rule, exact places, five formats, suppressions, fixes, hostile files, agreement with the loader.

mod agreement;
mod cli;
mod fix;
mod formats;
mod hostile;
mod rules;
#[path = "../server_support/shapes.rs"]
mod shapes;
mod spans;

use icache::policy::SourceText;
use icache::policy::lint::{Diagnostic, LintOptions, Rule, lint};

/// What lint finds in one text.
fn found(text: &str) -> Vec<Diagnostic> {
    found_with(text, &LintOptions::default())
}

fn found_with(text: &str, options: &LintOptions) -> Vec<Diagnostic> {
    lint(&[SourceText::new("p.yaml", text)], options).diagnostics
}

/// Rule, line and column of each finding.
fn places(text: &str, diagnostics: &[Diagnostic]) -> Vec<(&'static str, usize, usize)> {
    let sources = [SourceText::new("p.yaml", text)];
    let place = |diagnostic: &Diagnostic| {
        let (_, place) = diagnostic.place(&sources);
        (diagnostic.rule.id(), place.line, place.column)
    };
    diagnostics.iter().map(place).collect()
}

/// The head of a CachePolicy, without its spec: five lines.
const HEAD: &str =
    "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata:\n  name: p\n  namespace: team-a\n";

fn has(diagnostics: &[Diagnostic], rule: Rule) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.rule == rule)
}
