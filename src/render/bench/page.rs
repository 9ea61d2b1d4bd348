//! The report as a page of its own.

use std::io;

use super::PERCENTILES;
use super::json::BenchJson;
use super::table::{count_text, pace, percent, ranked, shape, summary};
use crate::bench::{BenchReport, Kind, ServerReport};
use crate::render::html::{Fact, Merge, Mood, Page, Plot, Section, Series, Table, Unit, X};
use crate::render::text::real;

/// Columns of the plot of latencies.
const COLUMNS: usize = 40;

/// The page of a report.
pub fn bench_page(report: &BenchReport) -> io::Result<Page> {
    let urls: Vec<&str> = report.servers.iter().map(|server| server.url.as_str()).collect();
    let early = if report.is_partial { " Ended early." } else { "" };
    let lead = format!("{}. {}.{early}", pace(report), shape(report));
    let mut page = Page::new(&format!("Load on {}", urls.join(" and ")), "icache bench").lead(lead);
    for (server, name) in report.servers.iter().zip(["", " (against)"]) {
        page = page
            .fact(Fact::new(&format!("answers a second{name}"), real(server.rate())))
            .fact(Fact::new(&format!("p50{name}"), us(server.tally.percentile_us(0.5))))
            .fact(Fact::new(&format!("p99{name}"), us(server.tally.percentile_us(0.99))));
    }
    let (wrong, failed) = (report.wrong(), report.failed());
    let mood = |count| if count == 0 { Mood::Good } else { Mood::Bad };
    page = page
        .fact(Fact::new("wrong answers", count_text(wrong)).mood(mood(wrong)))
        .fact(Fact::new("without an answer", count_text(failed)).mood(mood(failed)));
    page = page.section(latencies(report));
    for server in report.servers.iter().filter(|server| server.tally.answers() > 0) {
        page = page.section(one(server));
    }
    if let Some(comparison) = report.comparison() {
        let mut table =
            Table::new("The first server over the second", &["measure", ">ratio", ">least", ">greatest"]);
        for (name, ratio) in
            [("answers a second", comparison.rate), ("p50", comparison.p50), ("p99", comparison.p99)]
        {
            table.row([name.to_owned(), real(ratio.median), real(ratio.least), real(ratio.most)]);
        }
        page = page.section(Section::new("Compared").table(table));
    }
    page.data(&BenchJson::new(report))
}

/// Percentiles of every server side by side.
fn latencies(report: &BenchReport) -> Section {
    let answered: Vec<&ServerReport> =
        report.servers.iter().filter(|server| server.tally.answers() > 0).collect();
    let headings: Vec<String> = std::iter::once("percentile".to_owned())
        .chain(answered.iter().map(|server| format!(">{}", server.url)))
        .collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut table = Table::new("Latency from when a lookup was due, in microseconds", &headings);
    for (name, part) in PERCENTILES {
        let values = answered.iter().map(|server| real(server.tally.percentile_us(part)));
        table.row(std::iter::once(name.to_owned()).chain(values));
    }
    let names = PERCENTILES.iter().map(|(name, _)| (*name).to_owned()).collect();
    let plot = Plot::lines("Percentiles", "Latency that so many of the answers do not exceed.", Unit::Micros);
    let plot = answered.iter().fold(plot.x(X::Names(names)), |plot, server| {
        let values = PERCENTILES.iter().map(|(_, part)| server.tally.percentile_us(*part));
        plot.series(Series::new(&server.url, values))
    });
    Section::new("Latency").plot(plot).table(table)
}

fn one(server: &ServerReport) -> Section {
    let tally = &server.tally;
    let distribution = tally.distribution(COLUMNS);
    let names = distribution.iter().map(|(bound, _)| format!("up to {}", us(*bound))).collect();
    let counts = distribution.iter().map(|(_, count)| *count as f64);
    let plot = Plot::stacked(
        "Distribution",
        "Answers by latency, in ranges of equal ratio.",
        Unit::Count("answers"),
        Merge::Sum,
    );
    let plot = plot.x(X::Names(names)).series(Series::new("answers", counts));
    let mut codes = Table::new("Answers", &["reason code", ">count", ">share"]);
    for (code, count) in ranked(&tally.codes) {
        codes.row([code, count_text(count), percent(count, tally.answers())]);
    }
    let mut kinds = Table::new("Questions", &["held of the chain", ">count", ">share"]);
    for (kind, count) in Kind::ALL.into_iter().zip(tally.kinds) {
        kinds.row([kind.name().to_owned(), count_text(count), percent(count, tally.answers())]);
    }
    Section::new(&server.url).text(summary(server)).plot(plot).table(codes).table(kinds)
}

fn us(value: f64) -> String {
    format!("{} us", real(value))
}
