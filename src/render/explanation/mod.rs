//! How an answer came about, readable at a glance: the answer, the gates, the candidates, the likely causes.

mod asked;
mod candidates;
mod gates;
mod json;

use std::io;

pub use self::asked::Asked;
pub use self::json::ExplanationJson;
use super::answer;
use super::printer::{Format, Printer};
use super::text::{HARD_SPACE, Tone, count_of, grouped, wrap};
use crate::explanation::{ExplainedStep, Explanation, Finding};

/// Prints an explanation of what `asked` says.
pub fn explanation(
    printer: &mut Printer,
    format: Format,
    asked: &Asked,
    explanation: &Explanation,
) -> io::Result<()> {
    match format {
        Format::Json => printer.json(&ExplanationJson::from(explanation)),
        Format::Jsonl => printer.json_line(&ExplanationJson::from(explanation)),
        Format::Table => text(printer, asked, explanation),
    }
}

fn text(printer: &mut Printer, asked: &Asked, explanation: &Explanation) -> io::Result<()> {
    for line in wrap(&asked.line(explanation), printer.look().width, 2) {
        printer.line(&line)?;
    }
    answer::head(printer, &explanation.answer)?;
    if let Some(because) = because(explanation) {
        answer::labelled(printer, "because", &because)?;
    }
    if let Some(best) = best(explanation) {
        answer::labelled(printer, "best", &best)?;
    }
    if !explanation.findings.is_empty() {
        findings(printer, &explanation.findings)?;
        // A table begins with an empty line of its own.
        if answer::begins_with_text(&explanation.answer) {
            printer.line("")?;
        }
    }
    answer::replicas(printer, &explanation.answer)?;
    gates::print(printer, &explanation.steps, &explanation.answer.reason_code)?;
    if !explanation.candidates.is_empty() {
        let domain = value_of(explanation, "prefix-match", "replicas_in_domain");
        candidates::print(printer, &explanation.candidates, domain)?;
    }
    Ok(())
}

/// How much of the prompt the best replica holds.
fn best(explanation: &Explanation) -> Option<String> {
    let tokens = resolved(explanation, "prefix_tokens").filter(|tokens| *tokens > 0)?;
    let best = explanation.candidates.iter().max_by_key(|candidate| candidate.matched_tokens)?;
    let first = explanation.candidates.first().filter(|first| first.matched_tokens == best.matched_tokens);
    let best = first.unwrap_or(best);
    (best.matched_tokens > 0).then(|| {
        let matched = grouped(best.matched_tokens.into());
        format!("{} holds {matched} of {}", best.replica, count_of(tokens, "token"))
    })
}

/// A count that the prompt came to.
fn resolved(explanation: &Explanation, name: &str) -> Option<u64> {
    value_of(explanation, "resolve-input", name)
}

/// A count that a gate compared.
fn value_of(explanation: &Explanation, gate: &str, name: &str) -> Option<u64> {
    let steps = explanation.steps.iter().filter(|step| step.gate == gate);
    let mut values = steps.flat_map(|step| &step.values).filter(|(known, _)| known == name);
    values.next().and_then(|(_, value)| value.parse().ok())
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
    if text.chars().count() + 2 + rest.chars().count() <= printer.look().width {
        let rest = printer.paint(Tone::Faint, rest);
        return printer.line(format!("{head}  {rest}").trim_end());
    }
    printer.line(&head)?;
    for line in wrap(rest, printer.look().width.saturating_sub(2), 0) {
        printer.line(&format!("  {}", printer.paint(Tone::Faint, &line)))?;
    }
    Ok(())
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
