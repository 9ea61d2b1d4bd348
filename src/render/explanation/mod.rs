//! How an answer came about, readable at a glance: the answer, the gates, the candidates, the likely causes.

mod candidates;
mod gates;
mod json;

use std::io;

pub use self::json::ExplanationJson;
use super::answer;
use super::printer::{Format, Printer};
use super::text::{HARD_SPACE, Tone, wrap};
use crate::explanation::{ExplainedStep, Explanation, Finding};

/// Prints an explanation.
pub fn explanation(printer: &mut Printer, format: Format, explanation: &Explanation) -> io::Result<()> {
    match format {
        Format::Json => printer.json(&ExplanationJson::from(explanation)),
        Format::Jsonl => printer.json_line(&ExplanationJson::from(explanation)),
        Format::Table => text(printer, explanation),
    }
}

fn text(printer: &mut Printer, explanation: &Explanation) -> io::Result<()> {
    answer::head(printer, &explanation.answer)?;
    if let Some(because) = because(explanation) {
        answer::labelled(printer, "because", &because)?;
    }
    answer::replicas(printer, &explanation.answer)?;
    gates::print(printer, &explanation.steps, &explanation.answer.reason_code)?;
    if !explanation.candidates.is_empty() {
        candidates::print(printer, &explanation.candidates)?;
    }
    if !explanation.findings.is_empty() {
        findings(printer, &explanation.findings)?;
    }
    Ok(())
}

/// The gate that is the cause, and what it compared.
fn because(explanation: &Explanation) -> Option<String> {
    let step = explanation
        .steps
        .iter()
        .rfind(|step| step.gate == explanation.because && step.outcome != "skipped")
        .or_else(|| explanation.steps.iter().find(|step| step.gate == explanation.because))?;
    let said: Vec<String> =
        [step.detail.clone(), compared(step)].into_iter().filter(|part| !part.is_empty()).collect();
    let said = if said.is_empty() { "no cause recorded".to_owned() } else { said.join("; ") };
    Some(format!("{}: {said}", step.gate))
}

/// Names of values that bound the value before them.
const BOUNDS: [&str; 4] = ["floor", "limit", "minimum", "budget"];

/// The values of a step: a value and its bound with the sign between them, others with their names.
fn compared(step: &ExplainedStep) -> String {
    let mut parts = Vec::new();
    let mut values = step.values.iter().peekable();
    while let Some((name, value)) = values.next() {
        let here = format!("{}{HARD_SPACE}{}", name.replace('_', " "), short(value));
        match values.next_if(|(next, _)| BOUNDS.contains(&next.as_str())) {
            Some((bound, limit)) => match sign(value, limit) {
                Some(sign) => {
                    let limit = short(limit);
                    parts.push(format!("{here}{HARD_SPACE}{sign}{HARD_SPACE}{bound}{HARD_SPACE}{limit}"));
                }
                None => parts.push(format!("{here}, {bound} {}", short(limit))),
            },
            None => parts.push(here),
        }
    }
    parts.join(", ")
}

fn sign(value: &str, bound: &str) -> Option<&'static str> {
    let order = match (value.parse::<f64>(), bound.parse::<f64>()) {
        (Ok(value), Ok(bound)) => value.partial_cmp(&bound)?,
        _ => crate::model::parse_duration(value).ok()?.cmp(&crate::model::parse_duration(bound).ok()?),
    };
    Some(match order {
        std::cmp::Ordering::Less => "<",
        std::cmp::Ordering::Equal => "=",
        std::cmp::Ordering::Greater => ">",
    })
}

/// A fraction to 4 significant digits; everything else as it is.
fn short(value: &str) -> String {
    let is_fraction = value.contains('.') || value.contains('e');
    match value.parse::<f64>() {
        Ok(number) if is_fraction => super::text::real(number),
        _ => value.to_owned(),
    }
}

fn heading(printer: &mut Printer, text: &str, rest: &str) -> io::Result<()> {
    printer.line("")?;
    let head = printer.paint(Tone::Strong, text);
    let rest = printer.paint(Tone::Faint, rest);
    printer.line(format!("{head}  {rest}").trim_end())
}

fn findings(printer: &mut Printer, findings: &[Finding]) -> io::Result<()> {
    heading(printer, "Likely cause", "")?;
    let width = printer.look().width;
    for finding in findings {
        for (at, line) in wrap(&format!("  {}", finding.message), width, 2).iter().enumerate() {
            let line = if at == 0 { format!("  {}", line.trim_start()) } else { line.clone() };
            printer.line(&printer.paint(Tone::Warning, &line))?;
        }
        for line in wrap(&format!("  -> {}", finding.advice), width, 5) {
            printer.line(&line)?;
        }
    }
    Ok(())
}
