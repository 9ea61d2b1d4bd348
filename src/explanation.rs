//! A decision in words and numbers: what the explain service sends and `lookup --explain` prints.
//!
//! Everything is read off the decision's own record; the only addition is what the index knows around the keys, from
//! which the likely causes of an unexpected answer are named.

use strsim::damerau_levenshtein;

pub use crate::decision::Wait;
use crate::decision::{Decision, GateId, Number, Reason, Settings, Step};
use crate::index::DomainFacts;
use crate::lookup::Explained;
use crate::model::{Answer, LookupRequest, RankedReplica, Tier, format_duration};

/// An answer and how it came about.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Explanation {
    /// The answer.
    pub answer: Answer,
    /// Gate that gave it.
    pub decided_by: String,
    /// Gate that is the cause of it.
    pub because: String,
    /// One step for each gate, in pipeline order.
    pub steps: Vec<ExplainedStep>,
    /// Every replica considered, best first.
    pub candidates: Vec<ExplainedCandidate>,
    /// Likely causes of an answer that is probably not meant.
    pub findings: Vec<Finding>,
}

/// One gate's part.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ExplainedStep {
    /// Gate id.
    pub gate: String,
    /// `request`, `index` or `result`.
    pub stage: String,
    /// `passed`, `filtered`, `downgraded`, `decided` or `skipped`.
    pub outcome: String,
    /// Cause id; empty where the outcome needs none.
    pub cause: String,
    /// The cause as a sentence.
    pub detail: String,
    /// Names and values that were compared.
    pub values: Vec<(String, String)>,
    /// Knobs consulted.
    pub knobs: Vec<ExplainedKnob>,
}

/// A knob with its effective value.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ExplainedKnob {
    /// Policy field or server setting.
    pub name: String,
    /// Effective value.
    pub value: String,
    /// Where it came from.
    pub source: String,
}

/// One replica considered.
#[derive(Clone, PartialEq, Debug)]
pub struct ExplainedCandidate {
    /// Who.
    pub replica: String,
    /// Tokens matched.
    pub matched_tokens: i32,
    /// Blocks of the run; 0 for an exact match or a warm replica.
    pub matched_blocks: u32,
    /// Freshness of a match, hit rate of a warm replica.
    pub probability: f32,
    /// Freshness or recency.
    pub freshness: f32,
    /// 0..1.
    pub pressure_factor: f32,
    /// 1 or more.
    pub slo_bias: f32,
    /// 0..1.
    pub distinguishing_power: f32,
    /// The product.
    pub score: f32,
    /// Coldest tier.
    pub tier: Tier,
    /// Gate that removed it; empty where it is in the answer.
    pub filtered_by: String,
    /// What the score is made of under the balanced ranker.
    pub wait: Option<Wait>,
}

/// A likely cause.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Finding {
    /// Stable id.
    pub id: String,
    /// What was seen.
    pub message: String,
    /// What to do.
    pub advice: String,
}

/// The answer of a decision.
pub fn answer(decision: &Decision, request: &LookupRequest<'_>, latency_us: i64) -> Answer {
    let adapter = if decision.index_was_read { request.adapter } else { "" };
    Answer {
        reason_code: decision.reason.code().to_owned(),
        replicas: decision
            .hints()
            .map(|hint| RankedReplica {
                replica: hint.replica.as_str().to_owned(),
                score: hint.score,
                matched_tokens: hint.matched_tokens,
                probability: hint.probability,
                tier: hint.tier,
            })
            .collect(),
        latency_us,
        token_ids: decision.tokens.clone(),
        adapter: adapter.to_owned(),
    }
}

/// The whole explanation.
pub fn explanation(explained: &Explained, request: &LookupRequest<'_>, latency_us: i64) -> Explanation {
    let decision = &explained.decision;
    let candidates = decision.candidates.iter().filter_map(|candidate| {
        Some(ExplainedCandidate {
            replica: decision.roster.get(candidate.member)?.as_str().to_owned(),
            matched_tokens: candidate.matched_tokens,
            matched_blocks: candidate.blocks,
            probability: candidate.probability,
            freshness: candidate.decay,
            pressure_factor: candidate.pressure_factor,
            slo_bias: candidate.slo_bias,
            distinguishing_power: candidate.distinguishing_power,
            score: candidate.score,
            tier: candidate.tier,
            filtered_by: candidate.filtered_by.map(|gate| gate.id().to_owned()).unwrap_or_default(),
            wait: candidate.wait,
        })
    });
    Explanation {
        answer: answer(decision, request, latency_us),
        decided_by: decision.decided_by.id().to_owned(),
        because: decision.because.id().to_owned(),
        steps: decision.steps.iter().map(|step| explained_step(step, &explained.settings)).collect(),
        candidates: candidates.collect(),
        findings: findings(explained, request),
    }
}

fn explained_step(step: Step<'_>, settings: &Settings) -> ExplainedStep {
    let knobs = step.gate.info().knobs_under(settings.ranker.ranker.value).iter().map(|knob| {
        let (value, source) = knob.effective(settings);
        ExplainedKnob { name: knob.info().name.to_owned(), value, source: source.to_string() }
    });
    ExplainedStep {
        gate: step.gate.id().to_owned(),
        stage: step.stage.label().to_owned(),
        outcome: step.outcome.label().to_owned(),
        cause: step.cause.map(|cause| cause.id().to_owned()).unwrap_or_default(),
        detail: step.cause.map(|cause| cause.sentence().to_owned()).unwrap_or_default(),
        values: step.values.iter().map(|value| (value.name.to_owned(), shown(value.number))).collect(),
        knobs: knobs.collect(),
    }
}

fn shown(number: Number) -> String {
    match number {
        Number::Count(count) => count.to_string(),
        Number::Real(real) => real.to_string(),
        Number::Span(ns) => format_duration(ns),
        Number::Field(field) => field.to_owned(),
    }
}

fn findings(explained: &Explained, request: &LookupRequest<'_>) -> Vec<Finding> {
    let facts = &explained.facts;
    match explained.decision.reason {
        Reason::UnknownTenant => vec![unknown("tenant", "tenant_id", request.tenant, &facts.tenants)],
        Reason::UnknownModel => vec![unknown("model", "model_id", request.model, &facts.models)],
        Reason::UnknownHashScheme => {
            vec![unknown("hash-scheme", "hash_scheme", request.scheme, &facts.schemes)]
        }
        _ => no_block(&explained.decision, facts, request).into_iter().collect(),
    }
}

/// Names listed where none is near.
const LISTED: usize = 5;

/// Names that are compared with the one asked for at most: each comparison costs the product of the two lengths.
const COMPARED: usize = 1_000;

/// Characters of a name that are compared at most.
const COMPARED_CHARS: usize = 64;

/// The names nearest to one that is not known.
#[derive(Clone, PartialEq, Debug)]
pub struct Nearest {
    /// Nearest first, 5 at most.
    pub names: Vec<String>,
    /// The first of them, where it may be what is meant.
    pub near: Option<Near>,
}

/// A name that may be what is meant.
#[derive(Clone, PartialEq, Debug)]
pub struct Near {
    /// The name.
    pub name: String,
    /// How the one asked for differs from it, in words.
    pub difference: String,
}

/// The names in `known` that are nearest to `asked`.
pub fn nearest(asked: &str, known: &[String]) -> Nearest {
    let folded = |name: &str| name.chars().take(COMPARED_CHARS).collect::<String>().to_lowercase();
    let wanted = folded(asked);
    let mut by_distance: Vec<(usize, &String)> =
        known.iter().take(COMPARED).map(|name| (damerau_levenshtein(&wanted, &folded(name)), name)).collect();
    by_distance.sort_unstable();
    let is_near = |(distance, name): &&(usize, &String)| {
        let name = folded(name);
        let (short, long) = if name.len() < wanted.len() { (&name, &wanted) } else { (&wanted, &name) };
        // A name that goes on where another ends is often a version of it, however long what it goes on with.
        let goes_on = short.chars().count() >= 3 && (long.starts_with(short) || long.ends_with(short));
        goes_on || *distance <= name.chars().count().max(3) / 2
    };
    let near = by_distance.iter().find(is_near);
    let near = near.map(|(distance, name)| Near {
        name: (*name).clone(),
        difference: difference(asked, name, *distance),
    });
    Nearest { names: by_distance.iter().take(LISTED).map(|(_, name)| (*name).clone()).collect(), near }
}

/// How `asked` differs from `name`; `edits` apart but for case.
fn difference(asked: &str, name: &str, edits: usize) -> String {
    if edits == 0 {
        return "only upper and lower case differ".to_owned();
    }
    let more = |long: &str, short: &str| {
        let rest = long.strip_prefix(short).map(|rest| (rest.to_owned(), "at the end"));
        rest.or_else(|| long.strip_suffix(short).map(|rest| (rest.to_owned(), "at the start")))
    };
    if let Some((rest, place)) = more(asked, name) {
        return format!("it has `{rest}` too much {place}");
    }
    if let Some((rest, place)) = more(name, asked) {
        return format!("it lacks `{rest}` {place}");
    }
    if edits == 1 { "one letter differs".to_owned() } else { format!("{edits} letters differ") }
}

fn unknown(id: &str, field: &str, asked: &str, known: &[String]) -> Finding {
    let Nearest { names, near } = nearest(asked, known);
    let message = match near {
        Some(Near { name, .. }) => {
            format!("no replica reports under {field} `{asked}`; the nearest known is `{name}`")
        }
        None => format!("no replica reports under {field} `{asked}`"),
    };
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let more = known.len().saturating_sub(LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    Finding {
        id: format!("unknown-{id}"),
        message,
        advice: format!(
            "make gateway and engine sidecar use the same {field}; known: {}{rest}",
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        ),
    }
}

/// The keys are right, the domain is not empty, and nobody holds even the first block: of a prompt that was served before
/// this hints at hashes that were made another way, or at entries that have expired.
fn no_block(decision: &Decision, facts: &DomainFacts, request: &LookupRequest<'_>) -> Option<Finding> {
    if !decision.is_novel() || facts.keys == 0 {
        return None;
    }
    if !request.adapter.is_empty() && !facts.adapters.iter().any(|adapter| adapter == request.adapter) {
        return Some(Finding {
            id: "unknown-adapter".to_owned(),
            message: format!(
                "no replica holds anything under adapter_id `{}` in this domain",
                request.adapter
            ),
            advice: format!(
                "check the adapter's name; known: {}",
                if facts.adapters.is_empty() {
                    "the base model only".to_owned()
                } else {
                    facts.adapters.join(", ")
                }
            ),
        });
    }
    let blocks = blocks_looked_up(decision)?;
    Some(Finding {
        id: "first-block-unknown".to_owned(),
        message: format!(
            "0 of {blocks} blocks: no replica holds a fresh entry for the first block, though this domain holds {} \
             blocks on {} replicas",
            facts.keys, facts.replicas
        ),
        advice: "if this prompt was served within the time to live, compare tokenizer, chat template, block size and \
                 hash seed of gateway and engine"
            .to_owned(),
    })
}

/// Blocks of the chain that was looked up; `None` where it was no chain.
fn blocks_looked_up(decision: &Decision) -> Option<i64> {
    let resolved = decision.steps.iter().find(|step| step.gate == GateId::ResolveInput)?;
    resolved.values.iter().find_map(|value| match (value.name, value.number) {
        ("blocks", Number::Count(count)) => Some(count),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_told_with_its_difference() {
        let known: Vec<String> = ["vllm", "sglang", "team-a"].map(str::to_owned).to_vec();
        for (asked, name, difference) in [
            ("vllm-v1", Some("vllm"), "it has `-v1` too much at the end"),
            ("qwen", None, ""),
            ("vllmx", Some("vllm"), "it has `x` too much at the end"),
            ("glang", Some("sglang"), "it lacks `s` at the start"),
            ("Team-A", Some("team-a"), "only upper and lower case differ"),
            ("taem-a", Some("team-a"), "one letter differs"),
            ("team-bb", Some("team-a"), "2 letters differ"),
        ] {
            let near = nearest(asked, &known).near;
            let found = near.as_ref().map(|near| (near.name.as_str(), near.difference.as_str()));
            assert_eq!(found, name.map(|name| (name, difference)), "{asked}");
        }
    }
}
