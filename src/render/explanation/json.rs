//! The JSON shape of an explanation.

use serde::Serialize;

use super::super::JSON_VERSION;
use super::super::answer::AnswerJson;
use crate::explanation::{ExplainedCandidate, ExplainedStep, Explanation, Wait};

/// JSON shape of an explanation; names are those of the explain service's proto3 JSON.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplanationJson {
    /// Version of this shape.
    version: u32,
    answer: AnswerJson,
    decided_by: String,
    because: String,
    steps: Vec<StepJson>,
    candidates: Vec<CandidateJson>,
    findings: Vec<FindingJson>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct StepJson {
    gate: String,
    stage: String,
    outcome: String,
    cause: String,
    detail: String,
    values: Vec<ValueJson>,
    knobs: Vec<KnobJson>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct ValueJson {
    name: String,
    value: String,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct KnobJson {
    name: String,
    value: String,
    source: String,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CandidateJson {
    replica_id: String,
    matched_tokens: i32,
    matched_blocks: u32,
    estimated_cache_hit_prob: f32,
    freshness: f32,
    pressure_factor: f32,
    slo_bias: f32,
    distinguishing_power: f32,
    score: f32,
    tier: &'static str,
    filtered_by: String,
    wait: Option<WaitJson>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct WaitJson {
    pending_tokens: f32,
    uncached_tokens: i32,
    provisional_tokens: i32,
    ahead_tokens: f32,
    rate: f32,
    pressure_scale: f32,
    wait_tokens: f32,
}

impl From<Wait> for WaitJson {
    fn from(wait: Wait) -> Self {
        Self {
            pending_tokens: wait.pending_tokens,
            uncached_tokens: wait.uncached_tokens,
            provisional_tokens: wait.provisional_tokens,
            ahead_tokens: wait.ahead_tokens,
            rate: wait.rate,
            pressure_scale: wait.pressure_scale,
            wait_tokens: wait.wait_tokens,
        }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct FindingJson {
    id: String,
    message: String,
    advice: String,
}

impl From<&Explanation> for ExplanationJson {
    fn from(explanation: &Explanation) -> Self {
        let findings = explanation.findings.iter().map(|finding| FindingJson {
            id: finding.id.clone(),
            message: finding.message.clone(),
            advice: finding.advice.clone(),
        });
        Self {
            version: JSON_VERSION,
            answer: AnswerJson::from(&explanation.answer),
            decided_by: explanation.decided_by.clone(),
            because: explanation.because.clone(),
            steps: explanation.steps.iter().map(StepJson::from).collect(),
            candidates: explanation.candidates.iter().map(CandidateJson::from).collect(),
            findings: findings.collect(),
        }
    }
}

impl From<&ExplainedStep> for StepJson {
    fn from(step: &ExplainedStep) -> Self {
        let values =
            step.values.iter().map(|(name, value)| ValueJson { name: name.clone(), value: value.clone() });
        let knobs = step.knobs.iter().map(|knob| KnobJson {
            name: knob.name.clone(),
            value: knob.value.clone(),
            source: knob.source.clone(),
        });
        Self {
            gate: step.gate.clone(),
            stage: step.stage.clone(),
            outcome: step.outcome.clone(),
            cause: step.cause.clone(),
            detail: step.detail.clone(),
            values: values.collect(),
            knobs: knobs.collect(),
        }
    }
}

impl From<&ExplainedCandidate> for CandidateJson {
    fn from(candidate: &ExplainedCandidate) -> Self {
        Self {
            replica_id: candidate.replica.clone(),
            matched_tokens: candidate.matched_tokens,
            matched_blocks: candidate.matched_blocks,
            estimated_cache_hit_prob: candidate.probability,
            freshness: candidate.freshness,
            pressure_factor: candidate.pressure_factor,
            slo_bias: candidate.slo_bias,
            distinguishing_power: candidate.distinguishing_power,
            score: candidate.score,
            tier: candidate.tier.label(),
            filtered_by: candidate.filtered_by.clone(),
            wait: candidate.wait.map(WaitJson::from),
        }
    }
}
