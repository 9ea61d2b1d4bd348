//! What changes in effect between two sets of policies.

use std::io;

use crate::policy::{Change, KnobDiff, PolicyDiff, Setting};
use crate::render::printer::{Format, Printer};
use crate::render::text::{Tone, clean};

/// Prints the knobs that change, with their sources.
pub fn policy_diff(printer: &mut Printer, format: Format, diff: &PolicyDiff) -> io::Result<()> {
    match format {
        Format::Json => return printer.json(diff),
        Format::Jsonl => return printer.json_line(diff),
        Format::Table => {}
    }
    if diff.is_empty() {
        return printer.line("nothing changes in effect");
    }
    let mut is_first = true;
    for own in &diff.namespaces {
        separate(printer, &mut is_first)?;
        let note = match own.change {
            Change::Added => " (added; compared with the defaults)",
            Change::Removed => " (removed; the defaults hold)",
            Change::Changed => "",
        };
        let name = format!("namespace {}", clean(&own.namespace));
        printer.line(&format!("{}{note}", printer.paint(Tone::Strong, &name)))?;
        knobs(printer, &own.knobs)?;
    }
    if diff.default.is_empty() {
        return Ok(());
    }
    separate(printer, &mut is_first)?;
    printer.line(&printer.paint(Tone::Strong, "every other namespace"))?;
    knobs(printer, &diff.default)
}

fn separate(printer: &mut Printer, is_first: &mut bool) -> io::Result<()> {
    if std::mem::take(is_first) { Ok(()) } else { printer.line("") }
}

/// Two lines a knob: the values, then where each comes from, since sources are long.
fn knobs(printer: &mut Printer, knobs: &[KnobDiff]) -> io::Result<()> {
    let width = knobs.iter().map(|knob| knob.name.chars().count()).max().unwrap_or(0);
    for knob in knobs {
        let (old, new) = (value(&knob.old), value(&knob.new));
        let (old_shown, new_shown) = (printer.paint(Tone::Bad, &old), printer.paint(Tone::Good, &new));
        let name = clean(&knob.name).into_owned();
        printer.line(&format!("  {name:<width$}  {old_shown} -> {new_shown}"))?;
        let indent = " ".repeat(width + 4);
        for (label, setting) in [("old", &knob.old), ("new", &knob.new)] {
            let line = format!("{indent}{label}: {}", setting.source);
            printer.toned(Tone::Faint, &line, width + 9)?;
        }
    }
    Ok(())
}

fn value(setting: &Setting) -> String {
    let text = setting.value.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string);
    clean(&text).into_owned()
}
