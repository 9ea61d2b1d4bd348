//! The report as a page of its own, with plots over time.

use std::io;

use super::json::ReplayJson;
use super::shares::{Share, gates, reasons, rfc3339, share, timings};
use super::table::{meaning, pace_line};
use crate::decision::{GateId, Reason};
use crate::model::{Timestamp, format_duration};
use crate::render::html::{Fact, MAX_COLUMNS, Merge, Mood, Page, Plot, Section, Series, Table, Unit, X};
use crate::render::text::{count_of, grouped, real};
use crate::replay::{Bucket, ReplayReport, Timeline};

/// What a page has beyond the report.
#[derive(Clone, Copy, Debug)]
pub struct PageContext<'a> {
    /// What was replayed, as the title names it.
    pub title: &'a str,
    /// The command line that made the page.
    pub made_by: &'a str,
    /// Whether answers were compared.
    pub is_check: bool,
}

/// The page of a report.
pub fn replay_page(report: &ReplayReport, context: PageContext<'_>) -> io::Result<Page> {
    let mut page = facts(Page::new(context.title, context.made_by).lead(lead(report)), report, context);
    // As many stretches as a plot has columns, so that every plot shows the same ones.
    let coarse = report.timeline.at_most(MAX_COLUMNS);
    let timeline = Axis::of(&coarse);
    if report.lookups > 0 {
        page = page.section(answers(report, &timeline)).section(why(report));
    }
    if report.pace.is_none() && !timeline.times.is_empty() {
        page = page.section(index(report, &timeline));
    }
    if let Some(section) = latency(report) {
        page = page.section(section);
    }
    if context.is_check {
        page = page.section(checked(report));
    }
    page = page.section(records(report));
    if !report.warnings.is_empty() {
        page = page.section(Section::new("Warnings").list(report.told_warnings()));
    }
    page.data(&ReplayJson::new(report, context.is_check))
}

fn lead(report: &ReplayReport) -> String {
    let total: u64 = report.records.values().sum();
    let what = format!("{}, {}", count_of(report.files, "capture"), count_of(total, "record"));
    match report.span {
        None => what,
        Some((first, last)) => {
            let length = format_duration(first.age_ns(last));
            format!("{what}, from {} to {} ({length})", rfc3339(first), rfc3339(last))
        }
    }
}

fn facts(page: Page, report: &ReplayReport, context: PageContext<'_>) -> Page {
    let of = |part: u64, whole: u64| format!("{} of {}", count(part), count(whole));
    let mut page = page
        .fact(Fact::new("lookups", count(report.lookups)))
        .fact(
            Fact::new("got a hint", percent(share(report.hints, report.lookups)))
                .note(of(report.hints, report.lookups)),
        )
        .fact(
            Fact::new("tokens found", percent(share(report.matched_tokens, report.asked_tokens)))
                .note(of(report.matched_tokens, report.asked_tokens)),
        );
    if report.pace.is_none() {
        page = page.fact(Fact::new("index entries at the end", count(report.entries_at_end)));
    }
    if let Some(times) = timings(report) {
        let note = format!("p50 {}", duration(times.p50_us));
        page = page.fact(Fact::new("a lookup took (p99)", duration(times.p99_us)).note(note));
    }
    let dropped: u64 = report.dropped.values().sum();
    if dropped > 0 {
        page = page.fact(Fact::new("dropped", count(dropped)).note("parts of updates and batches"));
    }
    if context.is_check {
        let (value, mood) = match (report.checked, report.mismatched) {
            (0, _) => ("nothing to compare".to_owned(), Mood::Bad),
            (_, 0) => ("all as expected".to_owned(), Mood::Good),
            (_, mismatched) => (format!("{} otherwise", count(mismatched)), Mood::Bad),
        };
        let note = format!("of {} compared", count_of(report.checked, "lookup"));
        page = page.fact(Fact::new("check", value).mood(mood).note(note));
    }
    page
}

/// The stretches of the timeline, without gaps.
struct Axis<'a> {
    times: Vec<Timestamp>,
    buckets: Vec<Option<&'a Bucket>>,
    width_s: f64,
}

impl<'a> Axis<'a> {
    fn of(timeline: &'a Timeline) -> Self {
        let (times, buckets) = timeline.dense().into_iter().unzip();
        Self { times, buckets, width_s: timeline.width_ns() as f64 / 1e9 }
    }

    fn stack(&self, title: &str, description: &str, unit: &'static str) -> Plot {
        Plot::stacked(title, description, Unit::Count(unit), Merge::Sum)
            .x(X::Times(self.times.clone()))
            .column_width(self.width_s)
    }

    fn counts(&self, name: &str, value: impl Fn(&Bucket) -> u64) -> Series {
        Series::new(name, self.buckets.iter().map(|bucket| bucket.map_or(0.0, |bucket| value(bucket) as f64)))
    }

    /// Parts of a whole, where there is one.
    fn shares(&self, name: &str, value: impl Fn(&Bucket) -> (u64, u64)) -> Series {
        Series::with_gaps(
            name,
            self.buckets.iter().map(|bucket| {
                let (part, whole) = value((*bucket)?);
                (whole > 0).then(|| part as f64 / whole as f64)
            }),
        )
    }

    /// The level of the index, which stays as it was where nothing happened.
    fn entries(&self) -> Series {
        let mut level = None;
        Series::with_gaps(
            "entries",
            self.buckets.iter().map(|bucket| {
                level = bucket.and_then(|bucket| bucket.entries).or(level);
                level.map(|entries| entries as f64)
            }),
        )
    }
}

fn answers(report: &ReplayReport, axis: &Axis<'_>) -> Section {
    let description = "Lookups by the reason code of their answer.";
    let codes = reasons(report).into_iter().filter_map(|entry| Reason::parse(entry.id));
    let stack = codes.fold(axis.stack("Reason codes over time", description, "lookups"), |plot, reason| {
        plot.series(axis.counts(reason.code(), |bucket| bucket.reasons.get(&reason).copied().unwrap_or(0)))
    });
    let shares = Plot::lines(
        "Hints and tokens found over time",
        "Share of lookups whose answer names a replica, and share of their prompts' tokens that the first replica holds. \
         Where nobody asked, the lines break off.",
        Unit::Share,
    )
    .x(X::Times(axis.times.clone()))
    .series(axis.shares("lookups with a hint", |bucket| (bucket.hints, bucket.lookups)))
    .series(axis.shares("tokens found", |bucket| (bucket.matched_tokens, bucket.asked_tokens)));
    let mut section = Section::new("Answers").plot(stack).plot(shares);
    if report.mismatched > 0 {
        let description = "Lookups that were answered otherwise than recorded or expected.";
        let plot = axis.stack("Mismatches over time", description, "lookups");
        section = section.plot(plot.series(axis.counts("mismatches", |bucket| bucket.mismatched)));
    }
    section
}

fn why(report: &ReplayReport) -> Section {
    let table = |caption: &str, heading: &str, list: Vec<Share>, meaning: fn(&str) -> String| {
        let mut table = Table::new(caption, &[heading, ">lookups", ">share", "meaning"]);
        for entry in list {
            table.row([entry.id.to_owned(), count(entry.count), percent(entry.share), meaning(entry.id)]);
        }
        table
    };
    let reason =
        |id: &str| Reason::parse(id).map_or_else(String::new, |reason| reason.info().summary.to_owned());
    let gate = |id: &str| GateId::parse(id).map_or_else(String::new, |gate| gate.info().summary.to_owned());
    let section = Section::new("Why").table(table("Reason codes", "reason code", reasons(report), reason));
    match gates(report) {
        gates if gates.is_empty() => section,
        gates => section.table(table("Gates that decided", "because of", gates, gate)),
    }
}

fn index(report: &ReplayReport, axis: &Axis<'_>) -> Section {
    let entries = Plot::lines(
        "Index entries over time",
        "Entries that the index holds: one for each block that a replica has.",
        Unit::Count("entries"),
    )
    .x(X::Times(axis.times.clone()))
    .series(axis.entries());
    let description = "Blocks stored or refreshed.";
    let blocks = axis
        .stack("Blocks reported over time", description, "blocks")
        .series(axis.counts("blocks", |bucket| bucket.blocks));
    let mut section = Section::new("Index").plot(entries).plot(blocks);
    let mut table = Table::new("What became of entries", &["what", ">count"]);
    for (what, number) in [
        ("blocks stored or refreshed", report.blocks),
        ("entries removed by events", report.removed),
        ("entries expired", report.expired),
        ("entries evicted over the cap", report.evicted_cap),
        ("keys evicted over a quota", report.evicted_quota_keys),
        ("sweeps", report.sweeps),
    ] {
        table.row([what.to_owned(), count(number)]);
    }
    section = section.table(table);
    if report.dropped.is_empty() {
        return section;
    }
    let description = "Parts of updates, events and batches that were dropped.";
    let plot = axis.stack("Dropped over time", description, "parts");
    let mut causes = Table::new("Dropped", &["cause", "by", ">count", "why"]);
    for ((by, cause), number) in &report.dropped {
        causes.row([(*cause).to_owned(), (*by).to_owned(), count(*number), meaning(by, cause)]);
    }
    section.plot(plot.series(axis.counts("dropped", |bucket| bucket.dropped))).table(causes)
}

fn latency(report: &ReplayReport) -> Option<Section> {
    let times = timings(report)?;
    let values = [
        ("p50", times.p50_us),
        ("p90", times.p90_us),
        ("p99", times.p99_us),
        ("p99.9", times.p999_us),
        ("longest", times.max_us),
    ];
    let plot = Plot::stacked(
        "Time that a lookup took",
        "Of all lookups, the part named below each column took at most so long.",
        Unit::Micros,
        Merge::Mean,
    )
    .x(X::Names(values.iter().map(|(name, _)| (*name).to_owned()).collect()))
    .series(Series::new("time", values.iter().map(|(_, us)| *us)));
    let section = Section::new("Latency").plot(plot);
    Some(match pace_line(report) {
        None => section.text("Measured in process, on the machine that made this page."),
        Some(pace) => section.text(format!("Measured from request to answer. {pace}.")),
    })
}

fn checked(report: &ReplayReport) -> Section {
    let mut section = Section::new("Check");
    if report.not_comparable > 0 {
        let timeouts = count_of(report.not_comparable, "recorded timeout");
        section = section.text(format!("{timeouts} not compared: they say how busy that server was."));
    }
    if report.mismatches.is_empty() {
        let text = match report.checked {
            0 => "No lookup has an answer or expectation to compare with.".to_owned(),
            checked => format!("{} compared.", count_of(checked, "lookup")),
        };
        return section.text(text);
    }
    let headings = ["where", "whose", "field", "expected", "got", "because of"];
    let mut table = Table::new("Lookups answered otherwise", &headings);
    for mismatch in &report.mismatches {
        let [tenant, model, scheme, adapter] = &mismatch.keys;
        let adapter = if adapter.is_empty() { String::new() } else { format!(", adapter {adapter}") };
        table.row([
            format!("{}:{}", mismatch.file, mismatch.line),
            format!("{tenant}, {model}, {scheme}{adapter}"),
            mismatch.difference.field.clone(),
            format!("{} ({})", mismatch.difference.expected, mismatch.expected),
            format!("{} ({})", mismatch.difference.got, mismatch.got),
            mismatch.because.unwrap_or_default().to_owned(),
        ]);
    }
    let more = report.mismatched - report.mismatches.len() as u64;
    let section = section.table(table);
    if more > 0 { section.text(format!("And {} more.", count(more))) } else { section }
}

fn records(report: &ReplayReport) -> Section {
    let mut kinds = Table::new("Records by kind", &["kind", ">records"]);
    for (kind, number) in &report.records {
        kinds.row([(*kind).to_owned(), count(*number)]);
    }
    for (kind, number) in &report.unknown_kinds {
        kinds.row([format!("{kind} (unknown, passed over)"), count(*number)]);
    }
    let mut events = Table::new("Events by type", &["type", ">events"]);
    for (kind, number) in &report.events {
        events.row([(*kind).to_owned(), count(*number)]);
    }
    let section = Section::new("Records").table(kinds);
    if report.events.is_empty() { section } else { section.table(events) }
}

fn duration(us: f64) -> String {
    match us {
        us if us < 1e3 => format!("{} µs", real(us)),
        us if us < 1e6 => format!("{} ms", real(us / 1e3)),
        us => format!("{} s", real(us / 1e6)),
    }
}

fn count(number: u64) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
