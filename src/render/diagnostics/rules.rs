//! The registry of rules: as a list, as a page, and as a document.

use std::fmt::Write as _;
use std::io;

use serde::Serialize;

use crate::policy::lint::{Rule, Severity};
use crate::render::JSON_VERSION;
use crate::render::markdown::plain;
use crate::render::printer::{Format, Printer};
use crate::render::registry::{deeper, document};
use crate::render::table::Grid;
use crate::render::text::{Tone, wrap};

/// A rule as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleJson {
    version: u32,
    id: &'static str,
    severity: &'static str,
    summary: &'static str,
    enforced: bool,
    fails: &'static str,
    passes: &'static str,
    doc: &'static str,
}

impl From<Rule> for RuleJson {
    fn from(rule: Rule) -> Self {
        let info = rule.info();
        Self {
            version: JSON_VERSION,
            id: info.id,
            severity: info.severity.label(),
            summary: info.summary,
            enforced: rule.is_enforced(),
            fails: rule.failing_example(),
            passes: rule.passing_example(),
            doc: info.doc,
        }
    }
}

#[derive(Serialize)]
struct RulesJson {
    version: u32,
    rules: Vec<RuleJson>,
}

/// Prints every rule, one a line.
pub fn rule_listing(printer: &mut Printer, format: Format) -> io::Result<()> {
    let rules = || Rule::ALL.iter().copied().map(RuleJson::from);
    match format {
        Format::Json => return printer.json(&RulesJson { version: JSON_VERSION, rules: rules().collect() }),
        Format::Jsonl => return rules().try_for_each(|rule| printer.json_line(&rule)),
        Format::Table => {}
    }
    let mut grid = Grid::new(printer.look(), &["rule", "severity", "finds"]);
    for info in Rule::ALL.iter().map(|rule| rule.info()) {
        grid.row([info.id, info.severity.label(), info.summary]);
    }
    for line in grid.lines() {
        printer.line(&line)?;
    }
    printer.line("")?;
    printer.prose("`icache policy rules RULE` prints the long form of one of them", 2)
}

/// Prints the page of one rule.
pub fn rule(printer: &mut Printer, format: Format, rule: Rule) -> io::Result<()> {
    match format {
        Format::Json => return printer.json(&RuleJson::from(rule)),
        Format::Jsonl => return printer.json_line(&RuleJson::from(rule)),
        Format::Table => {}
    }
    let look = printer.look();
    let info = rule.info();
    printer.line(&format!("{} ({})", Tone::Strong.paint(look.color, info.id), info.severity.label()))?;
    for line in wrap(info.summary, look.width, 0) {
        printer.line(&line)?;
    }
    printer.line("")?;
    plain(info.doc, look).iter().try_for_each(|line| printer.line(line))?;
    printer.line("")?;
    wrap(allowed(rule), look.width, 0).iter().try_for_each(|line| printer.line(line))
}

/// Whether findings can be left out, as a sentence.
fn allowed(rule: Rule) -> &'static str {
    if rule.is_enforced() {
        "A server refuses what it finds, so nothing allows it."
    } else if rule.severity() == Severity::Error {
        "A server takes what it finds and reports it. A comment `# icache: allow` with the rule's id allows it."
    } else {
        "A server takes what it finds. A comment `# icache: allow` with the rule's id, on the line or above it, allows it."
    }
}

/// `docs/lint-rules.md`.
pub fn lint_rules_page() -> String {
    let mut out = document(
        "Lint rules",
        "What `icache policy lint` finds in CachePolicy and CacheTenant files. Errors that a server enforces cannot be allowed; \
         the others can, with a comment `# icache: allow RULE` on the line or above it, or with `--allow RULE`.",
    );
    out.push_str("| rule | severity | enforced by servers | finds |\n|---|---|---|---|\n");
    for rule in Rule::ALL {
        let info = rule.info();
        let enforced = if rule.is_enforced() { "yes" } else { "" };
        let _ = writeln!(
            out,
            "| [`{0}`](#{0}) | {1} | {enforced} | {2} |",
            info.id,
            info.severity.label(),
            info.summary
        );
    }
    for info in Rule::ALL.iter().map(|rule| rule.info()) {
        let _ = write!(
            out,
            "\n## {}\n\n{}: {}.\n\n{}",
            info.id,
            capital(info.severity),
            info.summary,
            deeper(info.doc)
        );
    }
    out
}

fn capital(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
        Severity::Info => "Info",
    }
}
