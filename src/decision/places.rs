//! The pipeline as data: every gate in its place, with what it checks under each ranker.

use super::gates::{balanced, index, request, result};
use super::pipeline::{Run, Verdict};
use super::{GateId, Stage};
use crate::model::Ranker;

type Check = for<'r, 'a> fn(&'r mut Run<'a>) -> Verdict;

/// One position of the pipeline of a ranker.
#[derive(Clone, Copy)]
pub struct PipelineStep {
    /// The gate.
    pub gate: GateId,
    /// The part of the pipeline.
    pub stage: Stage,
    pub(super) check: Check,
}

/// One position, for both rankers.
struct Place {
    gate: GateId,
    stage: Stage,
    /// `None` where the reference ranker has no such gate.
    reference: Option<Check>,
    balanced: Check,
}

/// A gate that checks the same under both rankers.
const fn both(gate: GateId, stage: Stage, check: Check) -> Place {
    Place { gate, stage, reference: Some(check), balanced: check }
}

/// A gate that checks something else where the ranking is at stake.
const fn each(gate: GateId, stage: Stage, reference: Option<Check>, balanced: Check) -> Place {
    Place { gate, stage, reference, balanced }
}

/// Every gate, in order. A gate that decides ends the run; `deadline` stands at both ends, above every other answer.
const PLACES: [Place; 24] = [
    both(GateId::Deadline, Stage::Request, request::deadline),
    both(GateId::LoadShed, Stage::Request, request::load_shed),
    both(GateId::OverLimit, Stage::Request, request::over_limit),
    both(GateId::ReservedTenant, Stage::Request, request::reserved_tenant),
    both(GateId::RequireChain, Stage::Request, request::require_chain),
    both(GateId::ResolveInput, Stage::Request, request::resolve_input),
    both(GateId::MinimumPrefixTokens, Stage::Request, request::minimum_prefix_tokens),
    both(GateId::ContractKeys, Stage::Request, request::contract_keys),
    each(GateId::PrefixMatch, Stage::Index, Some(index::prefix_match), balanced::prefix_match),
    each(GateId::TenantHot, Stage::Index, Some(index::tenant_hot), balanced::not_in_play),
    both(GateId::ColdStart, Stage::Index, index::cold_start),
    both(GateId::UnknownTenant, Stage::Index, index::unknown_tenant),
    both(GateId::UnknownModel, Stage::Index, index::unknown_model),
    both(GateId::UnknownHashScheme, Stage::Index, index::unknown_hash_scheme),
    both(GateId::NovelPrefix, Stage::Index, index::novel_prefix),
    both(GateId::ReplicaTimeout, Stage::Result, result::replica_timeout),
    both(GateId::EnableTenantHot, Stage::Result, result::enable_tenant_hot),
    both(GateId::MinimumPrefixTokens, Stage::Result, result::minimum_prefix_tokens),
    each(
        GateId::MinimumMatchedTokens,
        Stage::Result,
        Some(result::minimum_matched_tokens),
        balanced::minimum_matched_tokens,
    ),
    each(
        GateId::RoutingFloorScore,
        Stage::Result,
        Some(result::routing_floor_score),
        balanced::routing_floor_score,
    ),
    each(GateId::LoadHint, Stage::Result, None, balanced::load_hint),
    each(GateId::Affinity, Stage::Result, Some(result::affinity), balanced::not_in_play),
    both(GateId::Answer, Stage::Result, result::answer),
    both(GateId::Deadline, Stage::Result, request::deadline),
];

/// Gates on the request, which come first and need no index.
pub(super) const REQUEST_STEPS: usize = 8;

/// The pipeline of the reference ranker.
pub static PIPELINE: [PipelineStep; 23] = of_ranker(Ranker::Reference);

/// The pipeline of the balanced ranker, which has every gate.
pub static BALANCED_PIPELINE: [PipelineStep; 24] = of_ranker(Ranker::Balanced);

pub(super) fn pipeline_of(ranker: Ranker) -> &'static [PipelineStep] {
    match ranker {
        Ranker::Reference => &PIPELINE,
        Ranker::Balanced => &BALANCED_PIPELINE,
    }
}

const fn of_ranker<const N: usize>(ranker: Ranker) -> [PipelineStep; N] {
    let first = PipelineStep { gate: PLACES[0].gate, stage: PLACES[0].stage, check: PLACES[0].balanced };
    let mut steps = [first; N];
    let (mut place, mut at) = (0, 0);
    while place < PLACES.len() {
        let Place { gate, stage, reference, balanced } = PLACES[place];
        let check = match ranker {
            Ranker::Reference => reference,
            Ranker::Balanced => Some(balanced),
        };
        if let Some(check) = check {
            steps[at] = PipelineStep { gate, stage, check };
            at += 1;
        }
        place += 1;
    }
    assert!(at == N, "each step has a gate");
    steps
}
