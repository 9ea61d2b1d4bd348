//! The report for people.

use std::collections::BTreeMap;
use std::io;

use super::shares::{Percentiles, gates, reasons, rfc3339, share, timings};
use crate::engine::EngineDrop;
use crate::index::DropCause;
use crate::model::format_duration;
use crate::render::printer::Printer;
use crate::render::table::Grid;
use crate::render::text::{Tone, clean, count_of, grouped, real};
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
    for warning in &report.warnings {
        printer.labelled(Tone::Warning, "warning:", warning)?;
    }
    match report.more_warnings {
        0 => Ok(()),
        more => printer.labelled(Tone::Warning, "warning:", &format!("and {} more", count(more))),
    }
}

/// Where the values of the summary begin.
const INDENT: usize = 11;

fn summary(printer: &mut Printer, report: &ReplayReport) -> io::Result<()> {
    let total: u64 = report.records.values().sum();
    let span = report.span.map(|(first, last)| {
        format!(", from {} to {} ({})", rfc3339(first), rfc3339(last), format_duration(first.age_ns(last)))
    });
    let span = span.unwrap_or_default();
    let total = count_of(total, "record");
    printer.prose(&format!("{}, {total}{span}", count_of(report.files, "capture")), 2)?;
    let named = |counts: &BTreeMap<&'static str, u64>| -> String {
        let parts: Vec<String> =
            counts.iter().map(|(name, number)| format!("{} {name}", count(*number))).collect();
        if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
    };
    printer.prose(&format!("  records  {}", named(&report.records)), INDENT)?;
    printer.prose(&format!("  events   {}", named(&report.events)), INDENT)?;
    if report.pace.is_some() {
        printer.line(&format!("  sent     {} in updates", count_of(report.blocks, "block")))?;
        return others(printer, report);
    }
    let index = format!(
        "  index    {} stored or refreshed; entries: {} removed by events, {} expired in {}, {} held at the end",
        count_of(report.blocks, "block"),
        count(report.removed),
        count(report.expired),
        count_of(report.sweeps, "sweep"),
        count(report.entries_at_end),
    );
    printer.prose(&index, INDENT)?;
    others(printer, report)
}

fn others(printer: &mut Printer, report: &ReplayReport) -> io::Result<()> {
    let others = [
        (report.evicted_cap, "entry", "evicted over the cap"),
        (report.evicted_quota_keys, "key", "evicted over a quota"),
        (report.engine_restarts, "engine restart", ""),
        (report.engine_duplicates, "batch", "that came twice, passed over"),
        (report.policies_overridden, "policy record", "overridden"),
        (report.bad_lines, "bad line", "passed over"),
        (report.unknown_records, "record", "of an unknown kind passed over"),
    ];
    for (number, noun, what) in others.into_iter().filter(|(number, ..)| *number > 0) {
        printer.prose(&format!("           {} {what}", count_of(number, noun)), INDENT)?;
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
pub(super) fn meaning(by: &str, cause: &str) -> String {
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
    let lists = [("reason code", reasons(report)), ("because of", gates(report))];
    for (heading, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        let mut grid = Grid::new(printer.look(), &[heading, ">lookups", ">share"]);
        for entry in list {
            grid.row([entry.id, &count(entry.count), &percent(entry.share)]);
        }
        grid.lines().iter().try_for_each(|line| printer.line(line))?;
        printer.line("")?;
    }
    let text = format!(
        "{} of {} got a hint ({})",
        count(report.hints),
        count_of(report.lookups, "lookup"),
        percent(share(report.hints, report.lookups)),
    );
    printer.prose(&text, 2)?;
    let text = format!(
        "{} of {} asked for are held by the first replica of the answer ({})",
        count(report.matched_tokens),
        count_of(report.asked_tokens, "token"),
        percent(share(report.matched_tokens, report.asked_tokens)),
    );
    printer.prose(&text, 2)?;
    let Some(timings) = timings(report) else { return Ok(()) };
    let Percentiles { p50_us, p90_us, p99_us, p999_us, max_us } = timings;
    let shown = [p50_us, p90_us, p99_us, p999_us, max_us].map(real);
    let text = format!(
        "a lookup took {} us (p50), {} us (p90), {} us (p99), {} us (p99.9), {} us at most",
        shown[0], shown[1], shown[2], shown[3], shown[4]
    );
    printer.prose(&text, 2)?;
    pace_line(report).map_or(Ok(()), |pace| printer.prose(&pace, 2))
}

/// How a replay against a server kept to its times, in words.
pub(super) fn pace_line(report: &ReplayReport) -> Option<String> {
    let pace = report.pace.as_ref()?;
    let total: u64 = report.records.values().sum();
    let seconds = pace.elapsed.as_secs_f64();
    let rate = if seconds > 0.0 { (total as f64 / seconds).round() as u64 } else { total };
    let speed = pace.speed.map_or_else(|| "max".to_owned(), |speed| format!("{}x", real(speed)));
    let lag = match pace.speed {
        Some(_) => format!(", at most {} ms behind", real(pace.greatest_lag.as_secs_f64() * 1e3)),
        None => String::new(),
    };
    Some(format!(
        "sent at --speed {speed} in {} s ({} a second){lag}",
        real(seconds),
        count_of(rate, "record"),
    ))
}

fn check(printer: &mut Printer, report: &ReplayReport) -> io::Result<()> {
    printer.line("")?;
    let mut line = match (report.checked, report.mismatched) {
        (0, _) => {
            printer.paint(Tone::Warning, "check: no lookup has an answer or expectation to compare with")
        }
        (checked, 0) => {
            printer.paint(Tone::Good, &format!("check: {} answered as expected", all_of(checked)))
        }
        (checked, mismatched) => printer.paint(
            Tone::Bad,
            &format!("check: {} of {} answered otherwise", count(mismatched), count_of(checked, "lookup")),
        ),
    };
    if report.not_comparable > 0 {
        line.push_str(&format!("; {} not compared", count_of(report.not_comparable, "recorded timeout")));
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
        if let Some(because) = mismatch.because {
            printer.line(&format!("  because of {because}"))?;
        }
    }
    let more = report.mismatched - report.mismatches.len() as u64;
    if more > 0 && !report.mismatches.is_empty() {
        printer.line("")?;
        printer.line(&format!("and {} more; `--mismatches N` shows more of them", count(more)))?;
    }
    Ok(())
}

fn all_of(lookups: u64) -> String {
    if lookups == 1 { "the only lookup".to_owned() } else { format!("all {}", count_of(lookups, "lookup")) }
}

fn count(number: u64) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
