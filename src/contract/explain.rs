//! Explanations on the wire.

use super::decode::{decode_answer, decode_tier};
use super::encode::{encode_answer, encode_tier};
use super::wire::icache::v1alpha1 as wire;
use crate::explanation::{ExplainedCandidate, ExplainedKnob, ExplainedStep, Explanation, Finding, Wait};

/// Outcomes by the labels that the decision gives them.
const OUTCOMES: [(&str, wire::gate_step::Outcome); 5] = [
    ("passed", wire::gate_step::Outcome::Passed),
    ("filtered", wire::gate_step::Outcome::Filtered),
    ("downgraded", wire::gate_step::Outcome::Downgraded),
    ("decided", wire::gate_step::Outcome::Decided),
    ("skipped", wire::gate_step::Outcome::Skipped),
];

/// An explanation as the server sends it.
pub fn encode_explanation(explanation: Explanation) -> wire::ExplainRouteResponse {
    wire::ExplainRouteResponse {
        answer: Some(encode_answer(explanation.answer)),
        decided_by: explanation.decided_by,
        because: explanation.because,
        steps: explanation.steps.into_iter().map(encode_step).collect(),
        candidates: explanation.candidates.into_iter().map(encode_candidate).collect(),
        findings: explanation
            .findings
            .into_iter()
            .map(|Finding { id, message, advice }| wire::Finding { id, message, advice })
            .collect(),
    }
}

fn encode_step(step: ExplainedStep) -> wire::GateStep {
    let outcome = OUTCOMES.iter().find(|(label, _)| *label == step.outcome);
    wire::GateStep {
        gate: step.gate,
        stage: step.stage,
        outcome: outcome.map_or(0, |(_, outcome)| *outcome as i32),
        cause: step.cause,
        detail: step.detail,
        values: step.values.into_iter().map(|(name, value)| wire::Value { name, value }).collect(),
        knobs: step
            .knobs
            .into_iter()
            .map(|ExplainedKnob { name, value, source }| wire::Knob { name, value, source })
            .collect(),
    }
}

fn encode_candidate(candidate: ExplainedCandidate) -> wire::Candidate {
    wire::Candidate {
        replica_id: candidate.replica,
        matched_tokens: candidate.matched_tokens,
        matched_blocks: candidate.matched_blocks,
        estimated_cache_hit_prob: candidate.probability,
        freshness: candidate.freshness,
        pressure_factor: candidate.pressure_factor,
        slo_bias: candidate.slo_bias,
        distinguishing_power: candidate.distinguishing_power,
        score: candidate.score,
        tier: encode_tier(candidate.tier),
        filtered_by: candidate.filtered_by,
        wait: candidate.wait.map(encode_wait),
    }
}

fn encode_wait(wait: Wait) -> wire::Wait {
    wire::Wait {
        pending_tokens: wait.pending_tokens,
        uncached_tokens: wait.uncached_tokens,
        provisional_tokens: wait.provisional_tokens,
        ahead_tokens: wait.ahead_tokens,
        rate: wait.rate,
        pressure_scale: wait.pressure_scale,
        wait_tokens: wait.wait_tokens,
    }
}

fn decode_wait(message: wire::Wait) -> Wait {
    Wait {
        pending_tokens: message.pending_tokens,
        uncached_tokens: message.uncached_tokens,
        provisional_tokens: message.provisional_tokens,
        ahead_tokens: message.ahead_tokens,
        rate: message.rate,
        pressure_scale: message.pressure_scale,
        wait_tokens: message.wait_tokens,
    }
}

/// An explanation as a client reads it.
pub fn decode_explanation(message: wire::ExplainRouteResponse) -> Explanation {
    Explanation {
        answer: decode_answer(message.answer.unwrap_or_default()),
        decided_by: message.decided_by,
        because: message.because,
        steps: message.steps.into_iter().map(decode_step).collect(),
        candidates: message.candidates.into_iter().map(decode_candidate).collect(),
        findings: message
            .findings
            .into_iter()
            .map(|wire::Finding { id, message, advice }| Finding { id, message, advice })
            .collect(),
    }
}

/// An outcome that this version does not know is left empty.
fn decode_step(message: wire::GateStep) -> ExplainedStep {
    let outcome = OUTCOMES.iter().find(|(_, outcome)| *outcome as i32 == message.outcome);
    ExplainedStep {
        gate: message.gate,
        stage: message.stage,
        outcome: outcome.map(|(label, _)| (*label).to_owned()).unwrap_or_default(),
        cause: message.cause,
        detail: message.detail,
        values: message.values.into_iter().map(|wire::Value { name, value }| (name, value)).collect(),
        knobs: message
            .knobs
            .into_iter()
            .map(|wire::Knob { name, value, source }| ExplainedKnob { name, value, source })
            .collect(),
    }
}

fn decode_candidate(message: wire::Candidate) -> ExplainedCandidate {
    ExplainedCandidate {
        replica: message.replica_id,
        matched_tokens: message.matched_tokens,
        matched_blocks: message.matched_blocks,
        probability: message.estimated_cache_hit_prob,
        freshness: message.freshness,
        pressure_factor: message.pressure_factor,
        slo_bias: message.slo_bias,
        distinguishing_power: message.distinguishing_power,
        score: message.score,
        tier: decode_tier(message.tier),
        filtered_by: message.filtered_by,
        wait: message.wait.map(decode_wait),
    }
}
