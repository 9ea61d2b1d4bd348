//! The gates in pipeline order, one mark each.

use std::io;

use super::super::printer::Printer;
use super::super::text::{HARD_SPACE, Tone, wrap};
use super::{compared, heading, short};
use crate::decision::Knob;
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

/// `code` is the answer's, for the gate that decided.
pub(super) fn print(printer: &mut Printer, steps: &[ExplainedStep], code: &str) -> io::Result<()> {
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
            printer.line(&format!("on the {stage}:"))?;
        }
        let (now, later) = rest.split_at(run_length(rest));
        if now.len() > 1 {
            folded(printer, now)?
        } else {
            one(printer, first, code)?
        }
        rest = later;
    }
    Ok(())
}

/// How many steps from the first share a line.
fn run_length(steps: &[ExplainedStep]) -> usize {
    let Some(first) = steps.first() else { return 0 };
    let is_bare = |step: &ExplainedStep| {
        step.outcome == "passed" && step.cause.is_empty() && step.values.is_empty() && step.knobs.is_empty()
    };
    let is_idle = |step: &ExplainedStep| step.outcome == "skipped" && FOLDED.contains(&step.cause.as_str());
    if !is_bare(first) && !is_idle(first) {
        return 1;
    }
    let is_alike = |step: &&ExplainedStep| {
        step.outcome == first.outcome
            && step.cause == first.cause
            && step.stage == first.stage
            && (is_bare(step) || is_idle(step))
    };
    steps.iter().take_while(is_alike).count()
}

fn folded(printer: &mut Printer, steps: &[ExplainedStep]) -> io::Result<()> {
    let Some(first) = steps.first() else { return Ok(()) };
    let names: Vec<&str> = steps.iter().map(|step| step.gate.as_str()).collect();
    let names = names.join(", ");
    let text = match first.detail.as_str() {
        "" => names,
        detail => format!("{} gates: {detail} ({names})", steps.len()),
    };
    let (mark, tone) = mark(printer, &first.outcome);
    let is_faint = first.outcome == "skipped";
    for (at, line) in wrap(&text, printer.look().width.saturating_sub(4), 0).iter().enumerate() {
        let line = if is_faint { printer.paint(Tone::Faint, line) } else { line.clone() };
        let mark = if at == 0 { printer.paint(tone, mark) } else { " ".to_owned() };
        printer.line(&format!("  {mark} {line}"))?;
    }
    Ok(())
}

fn one(printer: &mut Printer, step: &ExplainedStep, code: &str) -> io::Result<()> {
    let (mark, tone) = mark(printer, &step.outcome);
    let width = printer.look().width.saturating_sub(INDENT);
    let is_faint = step.outcome == "skipped";
    let code = if step.outcome == "decided" { code } else { "" };
    let detail = if step.cause == "switched-off" { "off" } else { &step.detail };
    let said: Vec<&str> = [code, detail].into_iter().filter(|part| !part.is_empty()).collect();
    let compared = compared(step);
    let said = [said.join(": "), compared]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("; ");
    let knobs = knobs(step);
    // What a knob switched off is told by the knob.
    let blocks =
        if is_faint && !knobs.is_empty() { vec![format!("{said}: {knobs}")] } else { vec![said, knobs] };
    let mut lines = Vec::new();
    for (at, block) in blocks.iter().enumerate().filter(|(_, block)| !block.is_empty()) {
        for line in wrap(block, width, 0) {
            lines.push(if is_faint || at == 1 { printer.paint(Tone::Faint, &line) } else { line });
        }
    }
    let gate = format!("{:<width$}", step.gate, width = INDENT - 4);
    let gate = if is_faint { printer.paint(Tone::Faint, &gate) } else { gate };
    let mut lines = lines.into_iter();
    printer.line(&format!("  {} {gate}{}", printer.paint(tone, mark), lines.next().unwrap_or_default()))?;
    for line in lines {
        printer.line(&format!("{}{line}", " ".repeat(INDENT)))?;
    }
    Ok(())
}

fn mark(printer: &Printer, outcome: &str) -> (&'static str, Tone) {
    MARKS.iter().find(|(name, ..)| *name == outcome).map_or(("?", Tone::Warning), |(_, mark, ascii, tone)| {
        (if printer.look().unicode { mark } else { ascii }, *tone)
    })
}

/// Knobs with their values, and where the values came from; neighbours of one source share its name.
fn knobs(step: &ExplainedStep) -> String {
    let knobs = shown_knobs(step);
    let groups = knobs.chunk_by(|a, b| a.source == b.source).map(|group| {
        let values: Vec<String> = group
            .iter()
            .map(|knob| {
                format!("{} = {}", knob.name, short(&knob.value)).replace(' ', &HARD_SPACE.to_string())
            })
            .collect();
        let all = if group.len() > 1 { "all " } else { "" };
        let source = group.first().map_or("", |knob| knob.source.as_str());
        format!("{}{HARD_SPACE}({all}{source})", values.join(", "))
    });
    groups.collect::<Vec<_>>().join(", ")
}

/// The knobs that had a part in what the gate did.
fn shown_knobs(step: &ExplainedStep) -> Vec<&ExplainedKnob> {
    match step.cause.as_str() {
        "switched-off" => {
            let off: Vec<&ExplainedKnob> = step.knobs.iter().filter(|knob| is_off(knob)).collect();
            if off.is_empty() { step.knobs.iter().collect() } else { off }
        }
        "no-deadline" | "checked-on-result" | "checked-on-request" => step.knobs.iter().collect(),
        _ if step.outcome == "skipped" => Vec::new(),
        _ => step.knobs.iter().collect(),
    }
}

fn is_off(knob: &ExplainedKnob) -> bool {
    let info = Knob::ALL.iter().map(|known| known.info()).find(|info| info.name == knob.name);
    knob.value == "0s" || info.is_some_and(|info| info.off == knob.value)
}
