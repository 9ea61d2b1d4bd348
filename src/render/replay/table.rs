//! The report for people.

use std::collections::BTreeMap;
use std::io;

use super::shares::{Percentiles, gates, reasons, rfc3339, share, timings};
use crate::engine::EngineDrop;
use crate::index::DropCause;
use crate::model::format_duration;
use crate::render::printer::Printer;
use crate::render::table::Grid;
use crate::render::text::{Tone, clean, grouped, real};
use crate::replay::ReplayReport;

pub(super) fn table(printer: &mut Printer, report: &ReplayReport, is_check: bool) -> io::Result<()> {
    summary(printer, report)?;
    dropped(printer, report)?;
    lookups(printer, report)?;
    if is_check {
        check(printer, report)?;
    }
    if report.warnings.is_empty() {
        return Ok(());
    }
    printer.line("")?;
    let label = printer.paint(Tone::Warning, "warning:");
    for warning in &report.warnings {
        printer.line(&format!("{label} {}", clean(warning)))?;
    }
    match report.more_warnings {
        0 => Ok(()),
        more => printer.line(&format!("{label} and {} more", count(more))),
    }
}

fn summary(printer: &mut Printer, report: &ReplayReport) -> io::Result<()> {
    let plural =
        |number: u64, noun: &str| format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" });
    let total: u64 = report.records.values().sum();
    let span = report.span.map(|(first, last)| {
        format!(", from {} to {} ({})", rfc3339(first), rfc3339(last), format_duration(first.age_ns(last)))
    });
    let span = span.unwrap_or_default();
    printer.line(&format!("{}, {}{span}", plural(report.files, "capture"), plural(total, "record")))?;
    let named = |counts: &BTreeMap<&'static str, u64>| -> String {
        let parts: Vec<String> =
            counts.iter().map(|(name, number)| format!("{} {name}", count(*number))).collect();
        if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
    };
    printer.line(&format!("  records  {}", named(&report.records)))?;
    printer.line(&format!("  events   {}", named(&report.events)))?;
    printer.line(&format!(
        "  index    {} blocks stored or refreshed; entries: {} removed by events, {} expired in {} sweeps, {} held \
         at the end",
        count(report.blocks),
        count(report.removed),
        count(report.expired),
        count(report.sweeps),
        count(report.entries_at_end),
    ))?;
    let others = [
        (report.evicted_cap, "entries evicted over the cap"),
        (report.evicted_quota_keys, "keys evicted over a quota"),
        (report.engine_restarts, "engine restarts"),
        (report.engine_duplicates, "batches that came twice, passed over"),
        (report.policies_overridden, "policy records overridden"),
        (report.bad_lines, "bad lines passed over"),
        (report.unknown_records, "records of unknown kinds passed over"),
    ];
    for (number, what) in others.into_iter().filter(|(number, _)| *number > 0) {
        printer.line(&format!("           {} {what}", count(number)))?;
    }
    Ok(())
}

fn dropped(printer: &mut Printer, report: &ReplayReport) -> io::Result<()> {
    if report.dropped.is_empty() {
        return Ok(());
    }
    printer.line("")?;
    let mut grid = Grid::new(printer.look(), &["dropped", ">count", "why"]);
    for ((by, cause), number) in &report.dropped {
        grid.row([*cause, &count(*number), &meaning(by, cause)]);
    }
    grid.lines().iter().try_for_each(|line| printer.line(line))
}

/// The sentence that the registry has for a cause, as a part of a line.
fn meaning(by: &str, cause: &str) -> String {
    let sentence = if by == "ingest" {
        DropCause::ALL.iter().find(|known| known.label() == cause).map(|known| known.sentence())
    } else {
        EngineDrop::ALL.iter().find(|known| known.label() == cause).map(|known| known.meaning())
    };
    let sentence = sentence.unwrap_or("batches of more engines than are followed at a time");
    let mut chars = sentence.trim_end_matches('.').chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

fn lookups(printer: &mut Printer, report: &ReplayReport) -> io::Result<()> {
    printer.line("")?;
    if report.lookups == 0 {
        return printer.line("no lookups");
    }
    for (heading, list) in [("reason code", reasons(report)), ("decided by", gates(report))] {
        let mut grid = Grid::new(printer.look(), &[heading, ">lookups", ">share"]);
        for entry in list {
            grid.row([entry.id, &count(entry.count), &percent(entry.share)]);
        }
        grid.lines().iter().try_for_each(|line| printer.line(line))?;
        printer.line("")?;
    }
    printer.line(&format!(
        "{} of {} lookups got a hint ({})",
        count(report.hints),
        count(report.lookups),
        percent(share(report.hints, report.lookups)),
    ))?;
    printer.line(&format!(
        "{} of {} tokens asked for are held by the first replica of the answer ({})",
        count(report.matched_tokens),
        count(report.asked_tokens),
        percent(share(report.matched_tokens, report.asked_tokens)),
    ))?;
    let Some(timings) = timings(report) else { return Ok(()) };
    let Percentiles { p50_us, p90_us, p99_us, max_us } = timings;
    let shown = [p50_us, p90_us, p99_us, max_us].map(real);
    printer.line(&format!(
        "a lookup took {} us (p50), {} us (p90), {} us (p99), {} us at most",
        shown[0], shown[1], shown[2], shown[3]
    ))
}

fn check(printer: &mut Printer, report: &ReplayReport) -> io::Result<()> {
    printer.line("")?;
    let mut line = match (report.checked, report.mismatched) {
        (0, _) => {
            printer.paint(Tone::Warning, "check: no lookup has an answer or expectation to compare with")
        }
        (checked, 0) => {
            printer.paint(Tone::Good, &format!("check: all {} lookups answered as expected", count(checked)))
        }
        (checked, mismatched) => printer.paint(
            Tone::Bad,
            &format!("check: {} of {} lookups answered otherwise", count(mismatched), count(checked)),
        ),
    };
    if report.not_comparable > 0 {
        line.push_str(&format!("; {} recorded timeouts not compared", count(report.not_comparable)));
    }
    printer.line(&line)?;
    for mismatch in &report.mismatches {
        let [tenant, model, scheme, adapter] = &mismatch.keys;
        let adapter = if adapter.is_empty() { String::new() } else { format!(", adapter `{adapter}`") };
        let difference = &mismatch.difference;
        printer.line("")?;
        let place = format!("{}:{}", mismatch.file, mismatch.line);
        let place = printer.paint(Tone::Strong, &clean(&place));
        let keys = format!("tenant `{tenant}`, model `{model}`, hash scheme `{scheme}`{adapter}");
        printer.line(&format!("{place}: {}", clean(&keys)))?;
        let what = format!("{}: expected {}, got {}", difference.field, difference.expected, difference.got);
        printer.line(&format!("  {}", clean(&what)))?;
        printer.line(&format!("  expected {}", clean(&mismatch.expected)))?;
        printer.line(&format!("  got      {}", clean(&mismatch.got)))?;
        printer.line(&format!("  decided by {}", mismatch.because))?;
    }
    let more = report.mismatched - report.mismatches.len() as u64;
    if more > 0 && !report.mismatches.is_empty() {
        printer.line("")?;
        printer.line(&format!("and {} more; `--mismatches N` shows more of them", count(more)))?;
    }
    Ok(())
}

fn count(number: u64) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
