//! The result as a page with plots over time.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::json::SimulatedJson;
use super::{DEFAULTS, count, letter, name, percent, policies, seconds, setting};
use crate::decision::Reason;
use crate::render::html::{Fact, Merge, Page, Plot, Section, Series, Table, Unit, X};
use crate::render::replay::shares::share;
use crate::render::text::count_of;
use crate::simulate::{Run, Share, Simulated, Window};

/// The page; the JSON document is embedded in it.
pub fn simulated_page(result: &Simulated) -> io::Result<Page> {
    let reachable = &result.reachable;
    let found = |tokens| percent(share(tokens, reachable.asked_tokens));
    // The folder is of no use to those who are sent the page.
    let trace =
        Path::new(&result.trace).file_name().map_or(result.trace.as_str().into(), OsStr::to_string_lossy);
    let mut page = Page::new(&format!("Simulation of {trace}"), "icache simulate")
        .lead(setting(result))
        .fact(Fact::new("requests", count(result.requests)))
        .fact(
            Fact::new("one cache without bound", found(reachable.ideal_tokens))
                .note("of the tokens would be found"),
        )
        .fact(
            Fact::new("one cache of that memory", found(reachable.pooled_tokens))
                .note("of the tokens would be found"),
        );
    if let Some(best) = result.runs.iter().max_by_key(|run| run.total.found_tokens) {
        page = page.fact(Fact::new("most found", found(best.total.found_tokens)).note(name(result, best)));
    }
    let served = result.runs.iter().filter(|run| run.total.requests > 0);
    if let Some(best) = served.min_by(|a, b| a.ttft.mean_ns().total_cmp(&b.ttft.mean_ns())) {
        let fact = Fact::new("shortest wait", seconds(best.ttft.mean_ns()));
        page = page.fact(fact.note(format!("{}, mean time to first token", name(result, best))));
    }
    page = page.section(compared(result)).section(over_time(result));
    for run in &result.runs {
        page = page.section(of_run(result, run));
    }
    if !result.warnings.is_empty() {
        page = page.section(Section::new("Warnings").list(result.warnings.iter().cloned()));
    }
    page.data(&SimulatedJson::new(result))
}

fn compared(result: &Simulated) -> Section {
    let headings = [">found", ">missed", ">spread", ">TTFT mean", ">p50", ">p99", ">busy"].iter().copied();
    let some_are_lost = result.runs.iter().any(|run| run.lost > 0);
    let headings = std::iter::once("routing").chain(headings).chain(some_are_lost.then_some(">lost"));
    let headings: Vec<&str> = headings.collect();
    let mut table = Table::new("Routings side by side", &headings);
    for run in &result.runs {
        let figures = [
            percent(share(run.total.found_tokens, run.total.asked_tokens)),
            percent(share(run.missed_tokens, run.total.asked_tokens)),
            format!("{:.2}", run.spread()),
            seconds(run.ttft.mean_ns()),
            seconds(run.ttft.percentile_ns(50) as f64),
            seconds(run.ttft.percentile_ns(99) as f64),
            percent(run.utilisation()),
        ];
        let is_served = run.total.requests > 0;
        let figures = figures.map(|figure| if is_served { figure } else { "-".to_owned() });
        let lost = some_are_lost.then(|| count(run.lost));
        table.row(std::iter::once(name(result, run)).chain(figures).chain(lost));
    }
    let lost = if some_are_lost { " Lost: requests given up since no engine was alive." } else { "" };
    let section = Section::new("Compared").table(table).text(format!(
        "Found: share of the tokens found in cache. Missed: share of the tokens that were computed although an \
         engine held them. Spread: most prefilled tokens of an engine over the mean. TTFT: time to first token. Busy: \
         share of the time that engines prefill.{lost}"
    ));
    let policies = policies(result);
    if policies == [None] || policies.is_empty() {
        return section;
    }
    let named = policies.iter().enumerate();
    section.list(named.map(|(at, policy)| format!("{}: {}", letter(at), policy.unwrap_or(DEFAULTS))))
}

/// Where the windows of a run begin, in seconds.
fn across(run: &Run) -> X {
    X::Seconds(run.windows.iter().map(|window| window.from_ns as f64 / 1e9).collect())
}

fn width(run: &Run) -> f64 {
    run.window_ns as f64 / 1e9
}

fn over_time(result: &Simulated) -> Section {
    let by_run = |plot: Plot, of: &dyn Fn(&Window) -> f64| {
        let plot = result.runs.first().map(across).into_iter().fold(plot, Plot::x);
        result.runs.iter().fold(plot, |plot, run| {
            let known = |window: &Window| (window.share.requests > 0).then(|| of(window));
            plot.series(Series::with_gaps(&name(result, run), run.windows.iter().map(known)))
        })
    };
    let found = Plot::lines("Tokens found", "Share of the tokens found in cache, by arrival.", Unit::Share);
    let mean = Plot::lines("Mean wait", "Mean time to first token, by arrival.", Unit::Seconds);
    let p99 = Plot::lines(
        "Longest waits",
        "99th percentile of the time to first token, by arrival.",
        Unit::Seconds,
    );
    let of_share = |of: &Share| share(of.found_tokens, of.asked_tokens);
    Section::new("Over time")
        .plot(by_run(found, &|window| of_share(&window.share)))
        .plot(by_run(mean, &|window| window.ttft.mean_ns() / 1e9).log_where_apart())
        .plot(by_run(p99, &|window| window.ttft.percentile_ns(99) as f64 / 1e9).log_where_apart())
}

fn of_run(result: &Simulated, run: &Run) -> Section {
    let load = Plot::stacked(
        "Load",
        "Tokens that each engine computes for the requests of a stretch of time.",
        Unit::Count("tokens"),
        Merge::Sum,
    );
    let load = run.engines.iter().enumerate().fold(
        load.x(across(run)).column_width(width(run)),
        |plot, (at, of)| {
            let tokens =
                run.windows.iter().map(|window| window.prefilled_tokens.get(at).copied().unwrap_or(0) as f64);
            plot.series(Series::new(&of.name, tokens))
        },
    );
    let section = Section::new(&name(result, run)).plot(load);
    if run.index.is_none() {
        return section;
    }
    let codes: BTreeSet<Reason> = run.reasons.keys().copied().collect();
    let reasons = Plot::stacked(
        "Reason codes",
        "Answers of LookupRoute in a stretch of time, by reason code.",
        Unit::Count("lookups"),
        Merge::Sum,
    );
    let reasons = codes.into_iter().fold(reasons.x(across(run)).column_width(width(run)), |plot, code| {
        let counts = run.windows.iter().map(|window| window.reasons.get(&code).copied().unwrap_or(0) as f64);
        plot.series(Series::new(code.code(), counts))
    });
    section.plot(reasons).table(gates(run))
}

fn gates(run: &Run) -> Table {
    let lookups: u64 = run.reasons.values().sum();
    let caption = format!("{} by the gate that is the cause of the answer", count_of(lookups, "lookup"));
    let mut table = Table::new(&caption, &["because of", ">lookups", ">share", ">found", ">missed"]);
    let mut gates: Vec<_> = run.gates.iter().collect();
    gates.sort_by_key(|(_, of)| std::cmp::Reverse(of.share.requests));
    for (gate, of) in gates {
        table.row([
            gate.id().to_owned(),
            count(of.share.requests),
            percent(share(of.share.requests, lookups)),
            percent(share(of.share.found_tokens, of.share.asked_tokens)),
            percent(share(of.missed_tokens, of.share.asked_tokens)),
        ]);
    }
    table
}
