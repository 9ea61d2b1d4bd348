//! The replicas that were considered, with every factor of their scores.

use std::collections::BTreeMap;
use std::io;

use super::super::printer::Printer;
use super::super::table::Grid;
use super::super::text::{Tone, count_of, grouped, real, wrap};
use super::heading;
use crate::explanation::ExplainedCandidate;

/// Candidates listed; JSON holds all.
const LISTED: usize = 20;

/// Heads of the factors of a match, and what they mean.
const MATCH: [(&str, &str); 5] = [
    ("tokens", "tokens of the request that the replica holds, from the start"),
    ("freshness", "1 just after a report, 0 at the end of the time to live"),
    ("pressure", "1 without load, less the fuller the replica's cache is"),
    ("SLO bias", "above 1 where a tight TTFT target favours fresh holders"),
    ("power", "distinguishing power: 0 where all hold this much, near 1 if few do"),
];

/// Heads of the factors of a warm replica, and what they mean.
const WARM: [(&str, &str); 4] = [
    ("hit rate", "share of its tokens that the replica found in cache"),
    ("recency", "1 for statistics of now, 0 at TenantHotMaxAge"),
    ("pressure", "1 without load, less the fuller the replica's cache is"),
    ("SLO bias", "above 1 where a tight TTFT target favours recent reporters"),
];

/// `domain` is how many replicas serve the domain, where that is known.
pub(super) fn print(
    printer: &mut Printer,
    candidates: &[ExplainedCandidate],
    domain: Option<u64>,
) -> io::Result<()> {
    if candidates.iter().any(|candidate| candidate.wait.is_some()) {
        waits(printer, candidates)?;
        return filtered(printer, candidates);
    }
    // A match has tokens, a warm replica has none.
    let is_warm = candidates.iter().all(|candidate| candidate.matched_tokens == 0);
    let factors: &[(&str, &str)] = if is_warm { &WARM } else { &MATCH };
    let heads: Vec<&str> = factors.iter().map(|(head, _)| *head).collect();
    heading(printer, "Candidates", "")?;
    for line in wrap(&format!("  score = {}", heads.join(" x ")), printer.look().width, 4) {
        printer.line(&format!("  {}", line.trim_start()))?;
    }
    if let [only] = candidates {
        single(printer, only, is_warm)?;
        return zeros(printer, candidates, domain);
    }
    printer.line("")?;
    let mut columns = vec!["-replica".to_owned()];
    columns.extend(heads.iter().map(|head| format!(">{head}")));
    columns.push(">score".to_owned());
    columns.extend((!is_warm).then(|| "tier".to_owned()));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut grid = Grid::new(printer.look(), &columns);
    for candidate in candidates.iter().take(LISTED) {
        grid.row(row(candidate, is_warm));
    }
    for line in grid.lines() {
        printer.line(&line)?;
    }
    let more = candidates.len().saturating_sub(LISTED);
    if more > 0 {
        printer.line(&format!(" and {more} more (-o json lists all)"))?;
    }
    zeros(printer, candidates, domain)?;
    filtered(printer, candidates)?;
    printer.line("")?;
    for (head, meaning) in factors {
        for line in wrap(&format!("{head:<11}{meaning}"), printer.look().width.saturating_sub(2), 11) {
            printer.line(&printer.paint(Tone::Faint, &format!("  {line}")))?;
        }
    }
    Ok(())
}

/// Heads of what makes a wait, and what they mean.
const WAIT: [(&str, &str); 6] = [
    ("tokens", "tokens of the request that the replica holds, from the start"),
    ("coming", "tokens of it that the replica is about to hold, since a hint is on its way"),
    ("uncached", "tokens of it that the replica has to compute"),
    ("pending", "tokens that hints brought and that are not computed yet"),
    ("ahead", "half of what hints of the last minutes brought beyond its share"),
    ("rate", "tokens that the replica computes in a second, as observed"),
];

/// The candidates of the balanced ranker.
fn waits(printer: &mut Printer, candidates: &[ExplainedCandidate]) -> io::Result<()> {
    heading(printer, "Candidates", "")?;
    let formula = "  wait = (pending + 2 x uncached + ahead) x PrefillRate / rate x pressure; score = tokens of \
                   the request / (those + wait)";
    for line in wrap(formula, printer.look().width, 4) {
        printer.line(&format!("  {}", line.trim_start()))?;
    }
    printer.line("")?;
    let heads = WAIT.iter().map(|(head, _)| format!(">{head}"));
    let columns: Vec<String> = std::iter::once("-replica".to_owned())
        .chain(heads)
        .chain([">pressure", ">wait", ">score"].map(str::to_owned))
        .collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut grid = Grid::new(printer.look(), &columns);
    let number = |value: f32| real(value.into());
    let whole = |value: f32| grouped(value.round() as i64);
    for candidate in candidates.iter().take(LISTED) {
        let Some(wait) = candidate.wait else { continue };
        grid.row([
            candidate.replica.clone(),
            candidate.matched_tokens.to_string(),
            wait.provisional_tokens.to_string(),
            wait.uncached_tokens.to_string(),
            whole(wait.pending_tokens),
            whole(wait.ahead_tokens),
            whole(wait.rate),
            number(wait.pressure_scale),
            whole(wait.wait_tokens),
            number(candidate.score),
        ]);
    }
    for line in grid.lines() {
        printer.line(&line)?;
    }
    let more = candidates.len().saturating_sub(LISTED);
    if more > 0 {
        printer.line(&format!(" and {more} more (-o json lists all)"))?;
    }
    printer.line("")?;
    for (head, meaning) in WAIT {
        for line in wrap(&format!("{head:<11}{meaning}"), printer.look().width.saturating_sub(2), 11) {
            printer.line(&printer.paint(Tone::Faint, &format!("  {line}")))?;
        }
    }
    Ok(())
}

/// Which gate removed whom, one line a gate.
fn filtered(printer: &mut Printer, candidates: &[ExplainedCandidate]) -> io::Result<()> {
    let mut by_gate: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for candidate in candidates.iter().filter(|candidate| !candidate.filtered_by.is_empty()) {
        by_gate.entry(&candidate.filtered_by).or_default().push(&candidate.replica);
    }
    for (gate, replicas) in by_gate {
        let more = replicas.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let listed = replicas.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
        let line = format!("filtered by {gate}: {listed}{more}");
        for line in wrap(&line, printer.look().width.saturating_sub(2), 2) {
            printer.line(&format!("  {line}"))?;
        }
    }
    Ok(())
}

/// Why scores are 0, one line for all that are for one reason.
fn zeros(printer: &mut Printer, candidates: &[ExplainedCandidate], domain: Option<u64>) -> io::Result<()> {
    let mut whys: Vec<String> = Vec::new();
    for candidate in candidates.iter().filter(|candidate| candidate.score == 0.0) {
        let why = zero(candidate, domain);
        if !whys.contains(&why) {
            whys.push(why);
        }
    }
    for why in whys.iter().take(LISTED) {
        for line in wrap(&format!("score 0: {why}"), printer.look().width.saturating_sub(2), 2) {
            printer.line(&format!("  {line}"))?;
        }
    }
    Ok(())
}

/// The factor that makes a score 0.
fn zero(candidate: &ExplainedCandidate, domain: Option<u64>) -> String {
    let (replica, tokens) = (&candidate.replica, candidate.matched_tokens);
    if candidate.distinguishing_power == 0.0 {
        let all = domain.map_or_else(|| "all replicas".to_owned(), |domain| format!("all {domain} replicas"));
        format!("{all} hold these {} tokens, so they distinguish nobody", grouped(tokens.into()))
    } else if candidate.freshness == 0.0 {
        format!("what {replica} reported is as old as it may get")
    } else if candidate.pressure_factor == 0.0 {
        format!("the pressure on {replica} takes all of it")
    } else if candidate.probability == 0.0 {
        format!("the hit rate of {replica} is 0")
    } else {
        format!("{replica} holds no token of the prompt")
    }
}

fn row(candidate: &ExplainedCandidate, is_warm: bool) -> Vec<String> {
    let number = |value: f32| real(value.into());
    let mut row = vec![candidate.replica.clone()];
    if is_warm {
        row.push(number(candidate.probability));
    } else {
        row.push(candidate.matched_tokens.to_string());
    }
    row.extend([number(candidate.freshness), number(candidate.pressure_factor), number(candidate.slo_bias)]);
    if !is_warm {
        row.push(number(candidate.distinguishing_power));
    }
    row.push(number(candidate.score));
    if !is_warm {
        row.push(candidate.tier.label().to_owned());
    }
    row
}

/// One candidate needs no table: the formula with its numbers says more.
fn single(printer: &mut Printer, candidate: &ExplainedCandidate, is_warm: bool) -> io::Result<()> {
    let number = |value: f32| real(value.into());
    let base = if is_warm { number(candidate.probability) } else { candidate.matched_tokens.to_string() };
    let mut factors = vec![base];
    factors.extend([candidate.freshness, candidate.pressure_factor, candidate.slo_bias].map(number));
    if !is_warm {
        factors.push(number(candidate.distinguishing_power));
    }
    printer.line(&format!("        = {} = {}", factors.join(" x "), number(candidate.score)))?;
    let mut about = candidate.replica.clone();
    if !is_warm {
        let tokens = u64::try_from(candidate.matched_tokens).unwrap_or(0);
        about.push_str(&format!(": {}", count_of(tokens, "token")));
        if candidate.matched_blocks > 0 {
            about.push_str(&format!(" in {}", count_of(candidate.matched_blocks.into(), "block")));
        }
        about.push_str(&format!(", tier {}", candidate.tier.label()));
    }
    about.push_str(&match candidate.filtered_by.as_str() {
        "" => ", in the answer".to_owned(),
        gate => format!(", filtered by {gate}"),
    });
    for line in wrap(&about, printer.look().width.saturating_sub(2), 2) {
        printer.line(&format!("  {line}"))?;
    }
    Ok(())
}
