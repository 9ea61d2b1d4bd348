//! The result for people.

use std::io;

use super::{DEFAULTS, count, letter, name, percent, policies, seconds, setting};
use crate::render::printer::Printer;
use crate::render::replay::shares::share;
use crate::render::table::Grid;
use crate::render::text::{Tone, clean, count_of, wrap};
use crate::simulate::{Run, Simulated, Times};

pub(super) fn table(printer: &mut Printer, result: &Simulated) -> io::Result<()> {
    head(printer, result)?;
    compared(printer, result)?;
    for run in result.runs.iter().filter(|run| run.index.is_some()) {
        answers(printer, result, run)?;
    }
    if result.warnings.is_empty() {
        return Ok(());
    }
    printer.line("")?;
    result.warnings.iter().try_for_each(|warning| printer.labelled(Tone::Warning, "warning:", warning))
}

fn head(printer: &mut Printer, result: &Simulated) -> io::Result<()> {
    let policies = policies(result);
    if policies.iter().any(Option::is_some) {
        for (at, policy) in policies.iter().enumerate() {
            let letter = printer.paint(Tone::Strong, &letter(at).to_string());
            printer.line(&format!("{letter}  {}", clean(policy.unwrap_or(DEFAULTS))))?;
        }
        printer.line("")?;
    }
    lines(printer, &setting(result))
}

fn lines(printer: &mut Printer, text: &str) -> io::Result<()> {
    let width = printer.look().width;
    wrap(text, width, 0).iter().try_for_each(|line| printer.line(line))
}

fn compared(printer: &mut Printer, result: &Simulated) -> io::Result<()> {
    printer.line("")?;
    let some_are_lost = result.runs.iter().any(|run| run.lost > 0);
    let mut headings = vec!["-routing", ">found", ">spread", ">mean", ">p50", ">p99", ">busy"];
    headings.extend(some_are_lost.then_some(">lost"));
    let mut grid = Grid::new(printer.look(), &headings);
    for run in &result.runs {
        let mut row = vec![name(result, run)];
        if run.total.requests == 0 {
            row.extend(["-"; 6].map(str::to_owned));
        } else {
            row.push(percent(share(run.total.found_tokens, run.total.asked_tokens)));
            row.push(format!("{:.2}", run.spread()));
            row.extend(times(&run.ttft));
            row.push(percent(run.utilisation()));
        }
        row.extend(some_are_lost.then(|| count(run.lost)));
        grid.row(row);
    }
    let reachable = &result.reachable;
    let found = |tokens| percent(share(tokens, reachable.asked_tokens));
    grid.row(["one cache of that memory".to_owned(), found(reachable.pooled_tokens)]);
    grid.row(["one cache without bound".to_owned(), found(reachable.ideal_tokens)]);
    grid.lines().iter().try_for_each(|line| printer.line(line))?;
    printer.line("")?;
    let lost = if some_are_lost { "; lost: requests given up since no engine was alive" } else { "" };
    lines(
        printer,
        &format!(
            "found: share of the tokens found in cache; spread: most prefilled tokens of an engine over the mean; mean, p50 \
             and p99: time to first token; busy: share of the time that engines prefill{lost}"
        ),
    )
}

fn answers(printer: &mut Printer, result: &Simulated, run: &Run) -> io::Result<()> {
    let lookups: u64 = run.reasons.values().sum();
    printer.line("")?;
    let title =
        format!("{}: {} of {} got a hint", name(result, run), count(run.hints), count_of(lookups, "lookup"));
    printer.line(&printer.paint(Tone::Strong, &title))?;
    let mut reasons: Vec<_> = run.reasons.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let mut grid = Grid::new(printer.look(), &["reason code", ">lookups", ">share"]);
    for (reason, number) in reasons {
        grid.row([reason.code().to_owned(), count(*number), percent(share(*number, lookups))]);
    }
    grid.lines().iter().try_for_each(|line| printer.line(line))?;
    printer.line("")?;
    let mut gates: Vec<_> = run.gates.iter().collect();
    gates.sort_by_key(|(_, of)| std::cmp::Reverse(of.share.requests));
    let headings = ["because of", ">lookups", ">share", ">found", ">missed"];
    let mut grid = Grid::new(printer.look(), &headings);
    for (gate, of) in gates {
        grid.row([
            gate.id().to_owned(),
            count(of.share.requests),
            percent(share(of.share.requests, lookups)),
            percent(share(of.share.found_tokens, of.share.asked_tokens)),
            percent(share(of.missed_tokens, of.share.asked_tokens)),
        ]);
    }
    grid.lines().iter().try_for_each(|line| printer.line(line))?;
    printer.line("")?;
    lines(printer, "missed: share of the tokens that were computed although an engine held them")
}

/// Mean, median and 99th percentile.
fn times(times: &Times) -> [String; 3] {
    [times.mean_ns(), times.percentile_ns(50) as f64, times.percentile_ns(99) as f64].map(seconds)
}
