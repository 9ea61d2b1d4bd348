//! What a replay came to: tables for people, one JSON document for scripts, a bar while it runs.

use std::collections::BTreeMap;
use std::io;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::JSON_VERSION;
use super::printer::{Format, Printer};
use super::table::Grid;
use super::text::{Tone, clean, grouped, real};
use crate::engine::EngineDrop;
use crate::index::DropCause;
use crate::model::{Timestamp, format_duration};
use crate::replay::{Mismatch, ReplayReport};

/// A bar on standard error, where that is a terminal; it takes itself away when it is dropped.
pub struct Progress {
    bar: ProgressBar,
    /// Bytes of the captures that are done.
    done: u64,
}

impl Progress {
    /// A bar over `bytes` of captures.
    pub fn over(bytes: u64) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {eta} left {wide_msg}");
        let bar = ProgressBar::new(bytes);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, done: 0 }
    }

    /// A new capture begins.
    pub fn begin(&mut self, name: &str) {
        self.bar.set_message(clean(name).into_owned());
    }

    /// So many bytes of it are read.
    pub fn at(&self, bytes: u64) {
        self.bar.set_position(self.done + bytes);
    }

    /// It is done, and had so many bytes.
    pub fn end(&mut self, bytes: u64) {
        self.done += bytes;
        self.bar.set_position(self.done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Prints the report; `is_check` says that answers were compared.
pub fn replay(
    printer: &mut Printer,
    format: Format,
    report: &ReplayReport,
    is_check: bool,
) -> io::Result<()> {
    match format {
        Format::Json => printer.json(&ReplayJson::new(report, is_check)),
        Format::Jsonl => printer.json_line(&ReplayJson::new(report, is_check)),
        Format::Table => table(printer, report, is_check),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReplayJson<'a> {
    version: u32,
    captures: u64,
    /// RFC 3339.
    first_record: Option<String>,
    last_record: Option<String>,
    records: &'a BTreeMap<&'static str, u64>,
    unknown_kinds: &'a BTreeMap<String, u64>,
    unknown_records: u64,
    bad_lines: u64,
    torn_captures: u64,
    policies_overridden: u64,
    index: IndexJson,
    events: &'a BTreeMap<&'static str, u64>,
    dropped: Vec<DroppedJson>,
    engine_restarts: u64,
    engine_duplicates: u64,
    lookups: u64,
    hints: u64,
    hint_share: f64,
    asked_tokens: u64,
    matched_tokens: u64,
    matched_share: f64,
    reason_codes: Vec<ShareJson>,
    gates: Vec<ShareJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<CheckJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timings: Option<TimingsJson>,
    warnings: &'a [String],
    more_warnings: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct IndexJson {
    blocks: u64,
    removed: u64,
    sweeps: u64,
    expired: u64,
    evicted_cap: u64,
    evicted_quota_keys: u64,
    entries_at_end: u64,
}

#[derive(Serialize)]
struct DroppedJson {
    by: &'static str,
    cause: &'static str,
    count: u64,
}

#[derive(Serialize)]
struct ShareJson {
    id: &'static str,
    count: u64,
    share: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckJson<'a> {
    compared: u64,
    mismatched: u64,
    not_comparable: u64,
    mismatches: Vec<MismatchJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MismatchJson<'a> {
    file: &'a str,
    line: u64,
    tenant_id: &'a str,
    model_id: &'a str,
    hash_scheme: &'a str,
    adapter_id: &'a str,
    field: &'a str,
    expected: &'a str,
    got: &'a str,
    expected_answer: &'a str,
    got_answer: &'a str,
    decided_by: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TimingsJson {
    p50_us: f64,
    p90_us: f64,
    p99_us: f64,
    max_us: f64,
}

impl<'a> ReplayJson<'a> {
    fn new(report: &'a ReplayReport, is_check: bool) -> Self {
        let dropped =
            report.dropped.iter().map(|((by, cause), count)| DroppedJson { by, cause, count: *count });
        Self {
            version: JSON_VERSION,
            captures: report.files,
            first_record: report.span.map(|(first, _)| rfc3339(first)),
            last_record: report.span.map(|(_, last)| rfc3339(last)),
            records: &report.records,
            unknown_kinds: &report.unknown_kinds,
            unknown_records: report.unknown_records,
            bad_lines: report.bad_lines,
            torn_captures: report.torn,
            policies_overridden: report.policies_overridden,
            index: IndexJson {
                blocks: report.blocks,
                removed: report.removed,
                sweeps: report.sweeps,
                expired: report.expired,
                evicted_cap: report.evicted_cap,
                evicted_quota_keys: report.evicted_quota_keys,
                entries_at_end: report.entries_at_end,
            },
            events: &report.events,
            dropped: dropped.collect(),
            engine_restarts: report.engine_restarts,
            engine_duplicates: report.engine_duplicates,
            lookups: report.lookups,
            hints: report.hints,
            hint_share: share(report.hints, report.lookups),
            asked_tokens: report.asked_tokens,
            matched_tokens: report.matched_tokens,
            matched_share: share(report.matched_tokens, report.asked_tokens),
            reason_codes: reasons(report),
            gates: gates(report),
            check: is_check.then(|| CheckJson {
                compared: report.checked,
                mismatched: report.mismatched,
                not_comparable: report.not_comparable,
                mismatches: report.mismatches.iter().map(MismatchJson::from).collect(),
            }),
            timings: timings(report),
            warnings: &report.warnings,
            more_warnings: report.more_warnings,
        }
    }
}

impl<'a> From<&'a Mismatch> for MismatchJson<'a> {
    fn from(mismatch: &'a Mismatch) -> Self {
        let [tenant_id, model_id, hash_scheme, adapter_id] = &mismatch.keys;
        Self {
            file: &mismatch.file,
            line: mismatch.line,
            tenant_id,
            model_id,
            hash_scheme,
            adapter_id,
            field: &mismatch.difference.field,
            expected: &mismatch.difference.expected,
            got: &mismatch.difference.got,
            expected_answer: &mismatch.expected,
            got_answer: &mismatch.got,
            decided_by: mismatch.because,
        }
    }
}

/// Most frequent first; at equal counts in the order of the registry.
fn ranked<K: Copy>(counts: &BTreeMap<K, u64>, total: u64, id: impl Fn(K) -> &'static str) -> Vec<ShareJson> {
    let mut list: Vec<ShareJson> = counts
        .iter()
        .map(|(key, count)| ShareJson { id: id(*key), count: *count, share: share(*count, total) })
        .collect();
    list.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    list
}

fn reasons(report: &ReplayReport) -> Vec<ShareJson> {
    ranked(&report.reasons, report.lookups, |reason| reason.code())
}

fn gates(report: &ReplayReport) -> Vec<ShareJson> {
    ranked(&report.gates, report.lookups, |gate| gate.id())
}

fn timings(report: &ReplayReport) -> Option<TimingsJson> {
    let timings = report.timings.as_ref()?;
    Some(TimingsJson {
        p50_us: timings.percentile_us(0.5)?,
        p90_us: timings.percentile_us(0.9)?,
        p99_us: timings.percentile_us(0.99)?,
        max_us: timings.percentile_us(1.0)?,
    })
}

/// 0..1, to a millionth; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    (part as f64 / whole as f64 * 1e6).round() / 1e6
}

fn rfc3339(at: Timestamp) -> String {
    match jiff::Timestamp::from_microsecond(at.as_us()) {
        Ok(time) => time.to_string(),
        Err(_) => format!("{} us", at.as_us()),
    }
}

fn table(printer: &mut Printer, report: &ReplayReport, is_check: bool) -> io::Result<()> {
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
    let TimingsJson { p50_us, p90_us, p99_us, max_us } = timings;
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
