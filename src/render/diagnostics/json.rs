//! Findings as one JSON document.

use serde::Serialize;

use super::Linted;
use crate::policy::SourceText;
use crate::policy::lint::{Diagnostic, Severity, Site};
use crate::render::JSON_VERSION;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LintJson<'a> {
    version: u32,
    diagnostics: Vec<DiagnosticJson<'a>>,
    errors: usize,
    warnings: usize,
    infos: usize,
    allowed: usize,
    fixed: usize,
    files: usize,
    policies: usize,
    tenants: usize,
    other_kinds: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiagnosticJson<'a> {
    rule: &'a str,
    severity: &'a str,
    #[serde(flatten)]
    place: PlaceJson<'a>,
    message: &'a str,
    help: &'a str,
    related: Vec<RelatedJson<'a>>,
    fixable: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RelatedJson<'a> {
    #[serde(flatten)]
    place: PlaceJson<'a>,
    message: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlaceJson<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

pub(super) fn document<'a>(linted: &Linted<'a>) -> LintJson<'a> {
    let report = linted.report;
    LintJson {
        version: JSON_VERSION,
        diagnostics: report.diagnostics.iter().map(|finding| diagnostic(linted.sources, finding)).collect(),
        errors: report.count(Severity::Error),
        warnings: report.count(Severity::Warning),
        infos: report.count(Severity::Info),
        allowed: report.allowed,
        fixed: linted.fixed,
        files: linted.sources.len(),
        policies: report.policies,
        tenants: report.tenants,
        other_kinds: report.other_kinds,
    }
}

fn diagnostic<'a>(sources: &'a [SourceText], diagnostic: &'a Diagnostic) -> DiagnosticJson<'a> {
    DiagnosticJson {
        rule: diagnostic.rule.id(),
        severity: diagnostic.rule.severity().label(),
        place: place(sources, &diagnostic.site),
        message: &diagnostic.what,
        help: &diagnostic.help,
        related: diagnostic
            .related
            .iter()
            .map(|related| RelatedJson { place: place(sources, &related.site), message: &related.label })
            .collect(),
        fixable: diagnostic.fix.is_some(),
    }
}

fn place<'a>(sources: &'a [SourceText], site: &Site) -> PlaceJson<'a> {
    let (file, start) = crate::policy::lint::place(site, sources);
    let end = sources.get(site.file).map_or(start, |source| source.place(site.end));
    PlaceJson { file, line: start.line, column: start.column, end_line: end.line, end_column: end.column }
}
