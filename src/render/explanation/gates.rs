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

/// Causes of a skip that say something of the lookup, and not only that the gate was not in play.
const TELLING: [&str; 4] = ["no-holder", "no-warm-replica", "no-seed", "no-replica"];

/// Where a value comes from that nobody has set.
const DEFAULT: &str = "default";

/// Columns before a gate's text: mark and id.
const INDENT: usize = 27;
/// Screens below this have no room for text beside the gate.
const NARROW: usize = 60;
/// Columns before a gate's text on such a screen.
const NARROW_INDENT: usize = 6;

/// `code` is the answer's, for the gate that decided.
pub(super) fn print(printer: &mut Printer, steps: &[ExplainedStep], code: &str) -> io::Result<()> {
    let is_unicode = printer.look().unicode;
    let legend: Vec<String> = MARKS
        .iter()
        .map(|(outcome, mark, ascii, _)| format!("{} {outcome}", if is_unicode { mark } else { ascii }))
        .collect();
    heading(printer, "How it came about", &legend.join("   "))?;
    for stage in steps.chunk_by(|a, b| a.stage == b.stage) {
        if let Some(first) = stage.first() {
            printer.line(&format!("on the {}:", first.stage))?;
        }
        let (idle, active): (Vec<&ExplainedStep>, Vec<&ExplainedStep>) =
            stage.iter().partition(|step| is_idle(step));
        for steps in active.chunk_by(|a, b| is_bare(a) && is_bare(b)) {
            match steps {
                [only] if !is_bare(only) => one(printer, only, code)?,
                bare => folded(printer, "passed", &names(bare))?,
            }
        }
        if let Some(first) = idle.first() {
            let is_one_cause = idle.iter().all(|step| step.cause == first.cause);
            let what = if is_one_cause { first.detail.as_str() } else { "not in play" };
            folded(printer, "skipped", &format!("{what}: {}", names(&idle)))?;
        }
    }
    Ok(())
}

fn names(steps: &[&ExplainedStep]) -> String {
    steps.iter().map(|step| step.gate.as_str()).collect::<Vec<_>>().join(", ")
}

/// Whether the gate passed and has nothing to say of it.
fn is_bare(step: &ExplainedStep) -> bool {
    step.outcome == "passed" && step.cause.is_empty() && step.values.is_empty() && step.knobs.is_empty()
}

/// Whether the gate was not in play, and nobody has set the knob that keeps it out.
fn is_idle(step: &ExplainedStep) -> bool {
    let is_set = shown_knobs(step).iter().any(|knob| knob.source != DEFAULT);
    step.outcome == "skipped" && !TELLING.contains(&step.cause.as_str()) && !is_set
}

fn folded(printer: &mut Printer, outcome: &str, text: &str) -> io::Result<()> {
    let (mark, tone) = mark(printer, outcome);
    for (at, line) in wrap(text, printer.look().width.saturating_sub(4), 0).iter().enumerate() {
        let line = if outcome == "skipped" { printer.paint(Tone::Faint, line) } else { line.clone() };
        let mark = if at == 0 { printer.paint(tone, mark) } else { " ".to_owned() };
        printer.line(&format!("  {mark} {line}"))?;
    }
    Ok(())
}

fn one(printer: &mut Printer, step: &ExplainedStep, code: &str) -> io::Result<()> {
    let (mark, tone) = mark(printer, &step.outcome);
    let is_narrow = printer.look().width < NARROW;
    let indent = if is_narrow { NARROW_INDENT } else { INDENT };
    let width = printer.look().width.saturating_sub(indent);
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
    let beside = if is_narrow { String::new() } else { lines.next().unwrap_or_default() };
    printer.line(&format!("  {} {gate}{beside}", printer.paint(tone, mark)))?;
    for line in lines {
        printer.line(&format!("{}{line}", " ".repeat(indent)))?;
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
        let hard = |text: String| text.replace(' ', &HARD_SPACE.to_string());
        let values: Vec<String> =
            group.iter().map(|knob| hard(format!("{} = {}", knob.name, short(&knob.value)))).collect();
        let values = values.join(", ");
        match group.first().map_or("", |knob| knob.source.as_str()) {
            DEFAULT if group.len() > 1 => format!("{values}{HARD_SPACE}(defaults)"),
            DEFAULT => format!("{values}{HARD_SPACE}(default)"),
            source => format!("{values} from {source}"),
        }
    });
    groups.collect::<Vec<_>>().join("; ")
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
