//! The replicas that were considered, with every factor of their scores.

use std::io;

use super::super::printer::Printer;
use super::super::table::Grid;
use super::super::text::{real, wrap};
use super::heading;
use crate::explanation::ExplainedCandidate;

/// Candidates listed; JSON holds all.
const LISTED: usize = 20;

pub(super) fn print(printer: &mut Printer, candidates: &[ExplainedCandidate]) -> io::Result<()> {
    // A match has tokens, a warm replica has none.
    let is_warm = candidates.iter().all(|candidate| candidate.matched_tokens == 0);
    let formula = if is_warm {
        "score = hit rate x recency x pressure x SLO bias"
    } else {
        "score = tokens x freshness x pressure x SLO bias x distinguishing power"
    };
    heading(printer, "Candidates", "")?;
    for line in wrap(&format!("  {formula}"), printer.look().width, 4) {
        printer.line(&format!("  {}", line.trim_start()))?;
    }
    if let [only] = candidates {
        return single(printer, only, is_warm);
    }
    printer.line("")?;
    let mut grid = if is_warm { warm(printer) } else { matches(printer) };
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
    Ok(())
}

fn matches(printer: &Printer) -> Grid {
    Grid::new(
        printer.look(),
        &["-replica", ">tokens", ">fresh", ">press.", ">SLO", ">dist.", ">score", "tier", "-filtered by"],
    )
}

fn warm(printer: &Printer) -> Grid {
    Grid::new(
        printer.look(),
        &["-replica", ">hit rate", ">recency", ">press.", ">SLO", ">score", "-filtered by"],
    )
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
    row.push(if candidate.filtered_by.is_empty() { "-".to_owned() } else { candidate.filtered_by.clone() });
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
        about.push_str(&format!(": {} tokens", candidate.matched_tokens));
        if candidate.matched_blocks > 0 {
            about.push_str(&format!(" in {} blocks", candidate.matched_blocks));
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
