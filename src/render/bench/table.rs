//! The report for people.

use std::collections::BTreeMap;
use std::io;

use super::super::printer::Printer;
use super::super::table::Grid;
use super::super::text::{Tone, clean, count_of, grouped, real, wrap};
use super::PERCENTILES;
use super::plot::plot;
use crate::bench::{BLOCK_TOKENS, BenchReport, Kind, Loop, Ratio, ServerReport};

pub(super) fn table(printer: &mut Printer, report: &BenchReport) -> io::Result<()> {
    for text in [pace(report), shape(report)] {
        wrap(&text, printer.look().width, 2).iter().try_for_each(|line| printer.line(line))?;
    }
    if report.is_partial {
        let line = printer.paint(Tone::Warning, "ended early: this is what there was until then");
        printer.line(&line)?;
    }
    for server in &report.servers {
        printer.line("")?;
        printer.toned(Tone::Strong, &summary(server), 2)?;
        one(printer, report, server)?;
    }
    compared(printer, report)
}

/// How lookups were asked.
pub(super) fn pace(report: &BenchReport) -> String {
    let way = if report.is_fast { "FastLookup" } else { "LookupRoute" };
    let pace = match report.pace {
        Loop::Closed(in_flight) => format!("{} in flight", grouped(i64::from(in_flight))),
        Loop::Open(rate) => format!("{} a second asked for", real(rate)),
    };
    format!("{way}, {pace}, {}", count_of(u64::from(report.connections), "connection"))
}

/// What was asked.
pub(super) fn shape(report: &BenchReport) -> String {
    let shape = &report.shape;
    format!(
        "{} of {} of {BLOCK_TOKENS} tokens, {} % of it shared, on {}; {}; seed {}",
        count_of(u64::from(shape.chains), "chain"),
        count_of(u64::from(shape.blocks), "block"),
        real(f64::from(shape.shared_head) * 100.0),
        count_of(u64::from(shape.replicas), "replica"),
        shape.mix.text(),
        shape.seed,
    )
}

pub(super) fn summary(server: &ServerReport) -> String {
    format!(
        "{}: {} in {} s, {} a second",
        server.url,
        count_of(server.tally.answers(), "answer"),
        real(server.seconds()),
        real(server.rate()),
    )
}

fn one(printer: &mut Printer, report: &BenchReport, server: &ServerReport) -> io::Result<()> {
    let tally = &server.tally;
    if tally.answers() > 0 {
        let mut grid = Grid::new(printer.look(), &["latency", ">us"]);
        grid.row(["mean", &real(tally.mean_us())]);
        for (name, part) in PERCENTILES {
            grid.row([name, &real(tally.percentile_us(part))]);
        }
        grid.lines().iter().try_for_each(|line| printer.line(line))?;
        printer.line("")?;
        plot(tally, printer.look().width.min(80)).iter().try_for_each(|line| printer.line(line))?;
        printer.line("")?;
        let kinds =
            Kind::ALL.into_iter().zip(tally.kinds).map(|(kind, count)| (kind.name().to_owned(), count));
        counted(printer, "asked", kinds.filter(|(_, count)| *count > 0).collect(), tally.answers())?;
        printer.line("")?;
        counted(printer, "reason code", ranked(&tally.codes), tally.answers())?;
    }
    if tally.failed() > 0 {
        printer.line("")?;
        counted(printer, "no answer", ranked(&tally.errors), tally.answers() + tally.failed())?;
    }
    if matches!(report.pace, Loop::Open(_)) && tally.unsent > 0 {
        let line = format!(
            "{} due and not asked: as many as can be were in flight",
            count_of(tally.unsent, "lookup")
        );
        printer.toned(Tone::Warning, &line, 2)?;
    }
    let line = match &tally.first_wrong {
        None => return Ok(()),
        Some(first) => format!("{} what was loaded, the first with {first}", contradict(tally.wrong)),
    };
    printer.toned(Tone::Bad, &line, 2)
}

fn contradict(wrong: u64) -> String {
    let verb = if wrong == 1 { "contradicts" } else { "contradict" };
    format!("{} {verb}", count_of(wrong, "answer"))
}

/// Most frequent first.
pub(super) fn ranked(counts: &BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let mut list: Vec<(String, u64)> = counts.iter().map(|(name, count)| (name.clone(), *count)).collect();
    list.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    list
}

fn counted(printer: &mut Printer, heading: &str, list: Vec<(String, u64)>, total: u64) -> io::Result<()> {
    let mut grid = Grid::new(printer.look(), &[heading, ">count", ">share"]);
    for (name, count) in list {
        grid.row([name, count_text(count), percent(count, total)]);
    }
    grid.lines().iter().try_for_each(|line| printer.line(line))
}

pub(super) fn count_text(count: u64) -> String {
    grouped(i64::try_from(count).unwrap_or(i64::MAX))
}

pub(super) fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", part as f64 / whole.max(1) as f64 * 100.0)
}

fn compared(printer: &mut Printer, report: &BenchReport) -> io::Result<()> {
    let [first, second] = &report.servers[..] else { return Ok(()) };
    printer.line("")?;
    let Some(comparison) = report.comparison() else {
        return printer.line("nothing to compare: the servers have not both answered");
    };
    let line =
        format!("{} over {}, {} in turn", first.url, second.url, count_of(comparison.pairs as u64, "slice"));
    let line = printer.paint(Tone::Strong, &clean(&line));
    printer.line(&line)?;
    let mut grid = Grid::new(printer.look(), &["", ">ratio", ">least", ">greatest"]);
    for (name, Ratio { median, least, most }) in
        [("answers a second", comparison.rate), ("p50", comparison.p50), ("p99", comparison.p99)]
    {
        grid.row([name.to_owned(), real(median), real(least), real(most)]);
    }
    grid.lines().iter().try_for_each(|line| printer.line(line))
}
