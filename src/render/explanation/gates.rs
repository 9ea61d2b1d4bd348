//! The gates in pipeline order, one mark each.

use std::io;

use super::super::printer::Printer;
use super::super::text::{Tone, wrap};
use super::{compared, heading, short};
use crate::explanation::{ExplainedKnob, ExplainedStep};

/// Outcome, mark, mark in ASCII, colour; in the order of the legend.
const MARKS: [(&str, &str, &str, Tone); 5] = [
    ("passed", "✓", "+", Tone::Good),
    ("skipped", "·", ".", Tone::Faint),
    ("filtered", "▼", "v", Tone::Warning),
    ("downgraded", "↓", "!", Tone::Warning),
    ("decided", "●", "*", Tone::Strong),
];

/// Causes under which a gate has nothing to say; neighbours that share one are shown in one line.
const FOLDED: [&str; 6] =
    ["already-decided", "no-result", "result-stands", "index-empty", "not-match-result", "chain-lookup"];

/// Columns before a gate's text: mark and id.
const INDENT: usize = 27;

pub(super) fn print(printer: &mut Printer, steps: &[ExplainedStep]) -> io::Result<()> {
    let is_unicode = printer.look().unicode;
    let legend: Vec<String> = MARKS
        .iter()
        .map(|(outcome, mark, ascii, _)| format!("{} {outcome}", if is_unicode { mark } else { ascii }))
        .collect();
    heading(printer, "How it came about", &legend.join("   "))?;
    let mut rest = steps;
    let mut stage = "";
    while let Some(first) = rest.first() {
        if first.stage != stage {
            stage = &first.stage;
            printer.line(&printer.paint(Tone::Faint, &format!("on the {stage}")))?;
        }
        let run = run_length(rest);
        let (now, later) = rest.split_at(run);
        if run > 1 {
            folded(printer, now)?
        } else {
            one(printer, first)?
        }
        rest = later;
    }
    Ok(())
}

/// How many steps from the first share a line.
fn run_length(steps: &[ExplainedStep]) -> usize {
    let Some(first) = steps.first() else { return 0 };
    if first.outcome != "skipped" || !FOLDED.contains(&first.cause.as_str()) {
        return 1;
    }
    let alike = |step: &&ExplainedStep| {
        step.outcome == first.outcome && step.cause == first.cause && step.stage == first.stage
    };
    steps.iter().take_while(alike).count()
}

fn folded(printer: &mut Printer, steps: &[ExplainedStep]) -> io::Result<()> {
    let Some(first) = steps.first() else { return Ok(()) };
    let names: Vec<&str> = steps.iter().map(|step| step.gate.as_str()).collect();
    let (mark, tone) = mark(printer, &first.outcome);
    let text = format!("{mark} {} gates: {} ({})", steps.len(), first.detail, names.join(", "));
    for line in wrap(&format!("__{text}"), printer.look().width, 4) {
        printer.line(&printer.paint(tone, &line.replacen("__", "  ", 1)))?;
    }
    Ok(())
}

fn one(printer: &mut Printer, step: &ExplainedStep) -> io::Result<()> {
    let (mark, tone) = mark(printer, &step.outcome);
    let width = printer.look().width.saturating_sub(INDENT);
    let said: Vec<String> =
        [step.detail.clone(), compared(step)].into_iter().filter(|part| !part.is_empty()).collect();
    let mut lines = wrap(&said.join("; "), width, 0);
    let knobs: Vec<String> = shown_knobs(step)
        .iter()
        .map(|knob| format!("{} = {} ({})", knob.name, short(&knob.value), knob.source))
        .collect();
    lines.extend(knobs.iter().flat_map(|knob| wrap(knob, width, 2)).map(|line| format!("\0{line}")));
    lines.retain(|line| !line.is_empty());
    let gate = format!("{:<width$}", step.gate, width = INDENT - 4);
    let is_faint = step.outcome == "skipped";
    let first = lines.first().cloned().unwrap_or_default();
    let body = |line: &str| match line.strip_prefix('\0') {
        Some(knob) => printer.paint(Tone::Faint, knob),
        None if is_faint => printer.paint(Tone::Faint, line),
        None => line.to_owned(),
    };
    let gate = if is_faint { printer.paint(Tone::Faint, &gate) } else { gate };
    let mut shown = vec![format!("  {} {gate}{}", printer.paint(tone, mark), body(&first))];
    shown.extend(lines.iter().skip(1).map(|line| format!("{}{}", " ".repeat(INDENT), body(line))));
    shown.iter().try_for_each(|line| printer.line(line))
}

fn mark(printer: &Printer, outcome: &str) -> (&'static str, Tone) {
    MARKS.iter().find(|(name, ..)| *name == outcome).map_or(("?", Tone::Warning), |(_, mark, ascii, tone)| {
        (if printer.look().unicode { mark } else { ascii }, *tone)
    })
}

/// The knobs that had a part in what the gate did.
fn shown_knobs(step: &ExplainedStep) -> &[ExplainedKnob] {
    match step.cause.as_str() {
        "switched-off" | "no-deadline" | "checked-on-result" | "checked-on-request" => &step.knobs,
        _ if step.outcome == "skipped" => &[],
        _ => &step.knobs,
    }
}
