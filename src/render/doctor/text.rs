//! A diagnosis for people.

use std::io;

use crate::doctor::{Diagnosis, Finding, NotChecked, Overview};
use crate::model::format_duration;
use crate::policy::lint::Severity;
use crate::render::printer::Printer;
use crate::render::text::{Tone, clean, count_of, grouped, wrap};

/// Columns before what a line of the overview says.
const LABEL: usize = 10;

pub(super) fn print(printer: &mut Printer, diagnosis: &Diagnosis) -> io::Result<()> {
    let width = printer.look().width;
    for (label, text) in overview(&diagnosis.overview) {
        for line in wrap(&format!("{label:<LABEL$}{text}"), width, LABEL) {
            printer.line(&line)?;
        }
    }
    for finding in &diagnosis.findings {
        printer.line("")?;
        print_finding(printer, finding)?;
    }
    for left in &diagnosis.not_checked {
        printer.line("")?;
        print_left(printer, left)?;
    }
    printer.line("")?;
    let passed = count_of(diagnosis.passed.len() as u64, "check");
    let found = [
        (diagnosis.count(Severity::Error), "error"),
        (diagnosis.count(Severity::Warning), "warning"),
        (diagnosis.count(Severity::Info), "note"),
    ];
    let found: Vec<String> = found
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| count_of(number as u64, noun))
        .collect();
    let left: usize = diagnosis.not_checked.iter().map(|left| left.checks.len()).sum();
    let found = if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") };
    let left = if left > 0 { format!(", {left} not made") } else { String::new() };
    printer.line(&format!("{found}; {passed} passed{left}"))
}

fn overview(overview: &Overview) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let serving = match overview.serving {
        Some(true) => "serving",
        Some(false) => "not serving",
        None => "no answer",
    };
    let version = overview.server_version.as_ref().map(|(version, commit)| match commit.as_str() {
        "unknown" => format!(", icache {version}"),
        commit => format!(", icache {version} ({commit})"),
    });
    rows.push(("server", format!("{}: {serving}{}", overview.url, version.unwrap_or_default())));
    if let Some(skew) = overview.skew_ns {
        let shown = match skew.saturating_abs() / 1_000_000_000 {
            0 => "agrees with this machine's, to the second".to_owned(),
            _ if skew > 0 => format!("{} ahead of this machine's", format_duration(skew)),
            _ => format!("{} behind this machine's", format_duration(skew.saturating_neg())),
        };
        rows.push(("clock", shown));
    }
    if let Some(replicas) = &overview.replicas {
        let ages = replicas.iter().filter_map(|replica| replica.age_ns);
        let second = |age: i64| format_duration(age / 1_000_000_000 * 1_000_000_000);
        let heard = match (ages.clone().min(), ages.max()) {
            (Some(freshest), Some(oldest)) => {
                format!(", heard of between {} and {} ago", second(freshest), second(oldest))
            }
            _ => String::new(),
        };
        rows.push(("replicas", format!("{}{heard}", replicas.len())));
    }
    if let Some(entries) = overview.entries {
        rows.push(("index", count_of(entries, "prefix")));
    }
    if let Some(lookups) = &overview.lookups {
        let all: u64 = lookups.values().sum();
        let mut by_code: Vec<(&String, &u64)> = lookups.iter().filter(|(_, lookups)| **lookups > 0).collect();
        by_code.sort_by_key(|(_, lookups)| std::cmp::Reverse(**lookups));
        let shares: Vec<String> = by_code
            .into_iter()
            .map(|(code, lookups)| format!("{code} {:.0} %", 100.0 * *lookups as f64 / all as f64))
            .collect();
        let shares = if shares.is_empty() { String::new() } else { format!(": {}", shares.join(", ")) };
        rows.push(("lookups", format!("{}{shares}", grouped(i64::try_from(all).unwrap_or(i64::MAX)))));
    }
    if let Some(policies) = overview.policies {
        rows.push(("policies", policies.to_string()));
    }
    rows
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Error => Tone::Bad,
        Severity::Warning => Tone::Warning,
        Severity::Info => Tone::Strong,
    }
}

/// A line whose head is painted once it is wrapped, since colours have no width.
fn headed(printer: &mut Printer, tone: Tone, head: &str, text: &str) -> io::Result<()> {
    let width = printer.look().width;
    for (at, line) in wrap(&format!("{head}: {text}"), width, 2).into_iter().enumerate() {
        let line = if at == 0 { line.replacen(head, &printer.paint(tone, head), 1) } else { line };
        printer.line(&line)?;
    }
    Ok(())
}

/// What to do, below what was seen.
fn help(printer: &mut Printer, text: &str) -> io::Result<()> {
    let width = printer.look().width;
    wrap(&format!("  = help: {text}"), width, 10).iter().try_for_each(|line| printer.line(line))
}

fn print_finding(printer: &mut Printer, finding: &Finding) -> io::Result<()> {
    let severity = finding.severity();
    let head = format!("{}[{}]", severity.label(), finding.check.id());
    headed(printer, tone(severity), &head, &clean(&finding.message))?;
    help(printer, &finding.advice)?;
    printer.line(&format!("  = note: `icache explain {}` says more", finding.check.id()))
}

fn print_left(printer: &mut Printer, left: &NotChecked) -> io::Result<()> {
    let head = format!("not checked[{}]", left.source.label());
    headed(printer, Tone::Strong, &head, &clean(&left.fault.what))?;
    help(printer, &left.fault.advice)?;
    let checks: Vec<&str> = left.checks.iter().map(|check| check.id()).collect();
    let width = printer.look().width;
    let text = format!("  = note: left out: {}", checks.join(", "));
    wrap(&text, width, 10).iter().try_for_each(|line| printer.line(line))
}
