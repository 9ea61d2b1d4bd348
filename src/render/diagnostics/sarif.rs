//! Findings as SARIF 2.1.0.

use serde_json::{Value, json};

use super::Linted;
use crate::policy::SourceText;
use crate::policy::lint::{Diagnostic, Edit, Rule, Severity, Site};
use crate::render::markdown::plain;
use crate::render::printer::Look;

/// The whole log: one run, all rules, every finding.
pub(super) fn document(linted: &Linted<'_>) -> Value {
    let results: Vec<Value> =
        linted.report.diagnostics.iter().map(|diagnostic| result(linted.sources, diagnostic)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "icache",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": Rule::ALL.iter().map(|entry| rule(*entry)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn rule(rule: Rule) -> Value {
    let info = rule.info();
    json!({
        "id": info.id,
        "shortDescription": {"text": info.summary},
        "help": {"text": plain(info.doc, Look::plain(100)).join("\n"), "markdown": info.doc},
        "defaultConfiguration": {"level": level(info.severity)},
    })
}

fn result(sources: &[SourceText], diagnostic: &Diagnostic) -> Value {
    let mut result = json!({
        "ruleId": diagnostic.rule.id(),
        "ruleIndex": Rule::ALL.iter().position(|rule| *rule == diagnostic.rule),
        "level": level(diagnostic.rule.severity()),
        "message": {"text": format!("{}; {}", diagnostic.what, diagnostic.help)},
        "locations": [{"physicalLocation": location(sources, &diagnostic.site)}],
    });
    if !diagnostic.related.is_empty() {
        let related = diagnostic.related.iter().map(|related| {
            json!({
                "physicalLocation": location(sources, &related.site),
                "message": {"text": related.label},
            })
        });
        result["relatedLocations"] = related.collect();
    }
    if let Some(edit) = &diagnostic.fix {
        result["fixes"] = json!([fix(sources, edit)]);
    }
    result
}

fn fix(sources: &[SourceText], edit: &Edit) -> Value {
    let place = location(sources, &edit.site);
    json!({
        "description": {"text": format!("write `{}`", edit.text)},
        "artifactChanges": [{
            "artifactLocation": place["artifactLocation"],
            "replacements": [{
                "deletedRegion": place["region"],
                "insertedContent": {"text": edit.text},
            }],
        }],
    })
}

fn location(sources: &[SourceText], site: &Site) -> Value {
    let (name, start) = crate::policy::lint::place(site, sources);
    let end = sources.get(site.file).map_or(start, |source| source.place(site.end));
    json!({
        "artifactLocation": {"uri": uri(name)},
        "region": {
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        },
    })
}

/// A path as a relative reference, or an absolute `file` URI.
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            b'\\' => out.push('/'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        for (path, expected) in [
            ("a/b.yaml", "a/b.yaml"),
            ("/a b.yaml", "file:///a%20b.yaml"),
            ("é:1.yaml", "%C3%A9%3A1.yaml"),
            ("standard input", "standard%20input"),
        ] {
            assert_eq!(uri(path), expected);
        }
    }
}
