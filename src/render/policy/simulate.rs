//! Recorded traffic under several policies, side by side.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use crate::decision::{GateId, Reason};
use crate::render::JSON_VERSION;
use crate::render::printer::{Format, Printer};
use crate::render::replay::shares::{Share, gates, reasons, share};
use crate::render::table::Grid;
use crate::render::text::{Tone, clean, grouped};
use crate::replay::{Move, ReplayReport, Side, Simulated};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SimulationJson<'a> {
    version: u32,
    captures: u64,
    lookups: u64,
    asked_tokens: u64,
    policies: Vec<VariantJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VariantJson<'a> {
    name: &'a str,
    hints: u64,
    hint_share: f64,
    matched_tokens: u64,
    matched_share: f64,
    reason_codes: Vec<Share>,
    because: Vec<Share>,
    expired: u64,
    evicted_cap: u64,
    evicted_quota_keys: u64,
    entries_at_end: u64,
    differences: u64,
    moves: Vec<MoveJson>,
    other_replica: u64,
    warnings: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MoveJson {
    count: u64,
    from: SideJson,
    to: SideJson,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SideJson {
    reason_code: &'static str,
    because: &'static str,
}

impl From<Side> for SideJson {
    fn from(side: Side) -> Self {
        Self { reason_code: side.reason.code(), because: side.because.id() }
    }
}

impl<'a> SimulationJson<'a> {
    fn new(results: &'a [Simulated]) -> Self {
        let first = results.first().map(|first| &first.report);
        Self {
            version: JSON_VERSION,
            captures: first.map_or(0, |report| report.files),
            lookups: first.map_or(0, |report| report.lookups),
            asked_tokens: first.map_or(0, |report| report.asked_tokens),
            policies: results.iter().map(VariantJson::from).collect(),
        }
    }
}

impl<'a> From<&'a Simulated> for VariantJson<'a> {
    fn from(result: &'a Simulated) -> Self {
        let report = &result.report;
        let moves = ranked(&result.moves).into_iter().map(|(step, count)| MoveJson {
            count,
            from: step.from.into(),
            to: step.to.into(),
        });
        Self {
            name: &result.name,
            hints: report.hints,
            hint_share: share(report.hints, report.lookups),
            matched_tokens: report.matched_tokens,
            matched_share: share(report.matched_tokens, report.asked_tokens),
            reason_codes: reasons(report),
            because: gates(report),
            expired: report.expired,
            evicted_cap: report.evicted_cap,
            evicted_quota_keys: report.evicted_quota_keys,
            entries_at_end: report.entries_at_end,
            differences: differences(result),
            moves: moves.collect(),
            other_replica: result.other_replica,
            warnings: &report.warnings,
        }
    }
}

/// Lookups that are answered otherwise than under the first policies.
fn differences(result: &Simulated) -> u64 {
    result.moves.values().sum::<u64>() + result.other_replica
}

/// Most frequent first; at equal counts in the order of the registries.
fn ranked(moves: &BTreeMap<Move, u64>) -> Vec<(Move, u64)> {
    let mut list: Vec<(Move, u64)> = moves.iter().map(|(step, count)| (*step, *count)).collect();
    list.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    list
}

/// Prints the comparison; the first of `results` is the one that the others are compared with.
pub fn simulation(printer: &mut Printer, format: Format, results: &[Simulated]) -> io::Result<()> {
    match format {
        Format::Json => printer.json(&SimulationJson::new(results)),
        Format::Jsonl => printer.json_line(&SimulationJson::new(results)),
        Format::Table => table(printer, results),
    }
}

/// What the columns are called: paths do not fit beside each other.
fn letter(at: usize) -> String {
    u8::try_from(at).map_or_else(|_| at.to_string(), |at| char::from(b'A' + at % 26).to_string())
}

fn table(printer: &mut Printer, results: &[Simulated]) -> io::Result<()> {
    for (at, result) in results.iter().enumerate() {
        let label = printer.paint(Tone::Strong, &letter(at));
        printer.line(&format!("{label}  {}", clean(&result.name)))?;
    }
    printer.line("")?;
    let Some(first) = results.first().map(|result| &result.report) else { return Ok(()) };
    if first.lookups == 0 {
        printer.line("no lookups")?;
        return warnings(printer, results);
    }
    printer.line(&format!(
        "{} of {}, {} asked for",
        plural(first.lookups, "lookup"),
        plural(first.files, "capture"),
        plural(first.asked_tokens, "token")
    ))?;
    printer.line("")?;
    totals(printer, results)?;
    let count_reasons: Vec<_> = results.iter().map(|result| &result.report.reasons).collect();
    counts(printer, "reason code", Reason::ALL, &count_reasons, Reason::code, results)?;
    let count_gates: Vec<_> = results.iter().map(|result| &result.report.gates).collect();
    counts(printer, "because of", GateId::ALL, &count_gates, GateId::id, results)?;
    for (at, result) in results.iter().enumerate().skip(1) {
        moved(printer, at, result)?;
    }
    warnings(printer, results)
}

fn headings(first: &str, results: &[Simulated]) -> Vec<String> {
    let letters = results.iter().enumerate().map(|(at, _)| format!(">{}", letter(at)));
    std::iter::once(first.to_owned()).chain(letters).collect()
}

fn grid(printer: &Printer, first: &str, results: &[Simulated]) -> Grid {
    let headings = headings(first, results);
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    Grid::new(printer.look(), &headings)
}

fn print(printer: &mut Printer, grid: &Grid) -> io::Result<()> {
    grid.lines().iter().try_for_each(|line| printer.line(line))?;
    printer.line("")
}

fn totals(printer: &mut Printer, results: &[Simulated]) -> io::Result<()> {
    let mut grid = grid(printer, "of all", results);
    let mut row = |name: &str, show: &dyn Fn(&ReplayReport) -> String| {
        let cells = results.iter().map(|result| show(&result.report));
        grid.row(std::iter::once(name.to_owned()).chain(cells));
    };
    row("lookups with a hint", &|report| count(report.hints));
    row("share", &|report| percent(share(report.hints, report.lookups)));
    row("tokens matched", &|report| count(report.matched_tokens));
    row("share", &|report| percent(share(report.matched_tokens, report.asked_tokens)));
    row("entries expired", &|report| count(report.expired));
    row("keys evicted over a quota", &|report| count(report.evicted_quota_keys));
    print(printer, &grid)
}

/// A row for each that occurs under any of the policies, in the order of the registry.
fn counts<K: Copy + Ord>(
    printer: &mut Printer,
    heading: &str,
    all: &[K],
    of: &[&BTreeMap<K, u64>],
    name: impl Fn(K) -> &'static str,
    results: &[Simulated],
) -> io::Result<()> {
    let mut grid = grid(printer, heading, results);
    for key in all {
        let row: Vec<u64> = of.iter().map(|counts| counts.get(key).copied().unwrap_or(0)).collect();
        if row.iter().any(|number| *number > 0) {
            grid.row(std::iter::once(name(*key).to_owned()).chain(row.into_iter().map(count)));
        }
    }
    print(printer, &grid)
}

fn moved(printer: &mut Printer, at: usize, result: &Simulated) -> io::Result<()> {
    let (a, b) = (letter(0), letter(at));
    let title = match differences(result) {
        0 => format!("{a} and {b} answer all lookups alike"),
        1 => format!("1 lookup is answered otherwise under {b} than under {a}"),
        number => format!("{} lookups are answered otherwise under {b} than under {a}", count(number)),
    };
    printer.line(&printer.paint(Tone::Strong, &title))?;
    if differences(result) == 0 {
        return Ok(());
    }
    let (under_a, under_b) = (format!("under {a}"), format!("under {b}"));
    let mut grid = Grid::new(printer.look(), &[">lookups", &under_a, &under_b]);
    let side = |side: Side| format!("{} ({})", side.reason.code(), side.because.id());
    for (step, number) in ranked(&result.moves) {
        grid.row([count(number), side(step.from), side(step.to)]);
    }
    if result.other_replica > 0 {
        grid.row([count(result.other_replica), "a replica".to_owned(), "another replica first".to_owned()]);
    }
    grid.lines().iter().try_for_each(|line| printer.line(line))
}

fn warnings(printer: &mut Printer, results: &[Simulated]) -> io::Result<()> {
    for (at, result) in results.iter().enumerate() {
        for warning in &result.report.warnings {
            printer.labelled(Tone::Warning, "warning:", &format!("{}: {warning}", letter(at)))?;
        }
        if result.report.more_warnings > 0 {
            let more = format!("{}: and {} more", letter(at), count(result.report.more_warnings));
            printer.labelled(Tone::Warning, "warning:", &more)?;
        }
    }
    Ok(())
}

fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

fn count(number: u64) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
