//! What the balanced ranker does in the place of the gates that are the reference ranker's.

use super::result::heard_in_time;
use crate::decision::pipeline::{Found, Run, Verdict};
use crate::decision::wait::rank_waits;
use crate::decision::{Candidates, Cause, GateId, Reason};
use crate::model::LoadHintCode;

/// Every member is a candidate; that one of them holds the prefix makes it a match.
pub(in crate::decision) fn prefix_match(run: &mut Run<'_>) -> Verdict {
    let holders = run.evidence.holders.len();
    let members = run.members();
    if holders == 0 {
        return Verdict::skipped(Cause::NoHolder).count("replicas_in_domain", members);
    }
    let ranked = rank_waits(run);
    run.find(GateId::PrefixMatch, Found::Match, ranked);
    Verdict::passed_because(Cause::HoldersFound)
        .count("holders", holders)
        .count("replicas_in_domain", members)
}

/// The replica with the shortest wait decides: unless what it holds reaches the floor, holding is no reason.
pub(in crate::decision) fn minimum_matched_tokens(run: &mut Run<'_>) -> Verdict {
    if run.found == Found::Nothing {
        return Verdict::skipped(Cause::NoResult);
    }
    let floor = run.settings.policy.minimum_matched_tokens.value.max(1);
    let first = run.remaining().next().map_or(0, |(first, _)| first.matched_tokens);
    let verdict = if first < floor {
        Verdict::downgraded(Cause::FirstBelowFloor)
    } else {
        let (removed, left) =
            run.retain_alike(GateId::MinimumMatchedTokens, |candidate| candidate.matched_tokens >= floor);
        super::result::removal(removed, left, Cause::BelowFloor)
    };
    verdict.count("first_matched_tokens", first).count("floor", floor)
}

/// The floor is on the reference ranker's scale.
pub(in crate::decision) fn routing_floor_score(_: &mut Run<'_>) -> Verdict {
    Verdict::skipped(Cause::ScaleOfReference)
}

/// Ranking all members leaves nothing to these.
pub(in crate::decision) fn not_in_play(run: &mut Run<'_>) -> Verdict {
    match run.found {
        Found::Nothing => Verdict::skipped(Cause::BalancedRanker),
        Found::Match | Found::Warm => Verdict::skipped(Cause::ResultStands),
    }
}

/// Without evidence: the member that is expected to let the request wait the least.
pub(in crate::decision) fn load_hint(run: &mut Run<'_>) -> Verdict {
    if run.found != Found::Nothing {
        return Verdict::skipped(Cause::ResultStands);
    }
    if run.candidates.is_empty() {
        run.candidates = rank_waits(run);
    }
    let heard = heard_in_time(run);
    let drained = &run.evidence.drained;
    let mut chosen = None;
    let is_hint = run.settings.ranker.load_hint_code.value == LoadHintCode::LoadHint;
    let judged = run.candidates.iter().map(|mut candidate| {
        if !heard(candidate.member) || drained.binary_search(&candidate.member).is_ok() {
            candidate.filtered_by = Some(GateId::ReplicaTimeout);
        } else if chosen.is_none() {
            chosen = Some((candidate.member, candidate.wait));
            candidate.filtered_by = if is_hint { None } else { Some(GateId::LoadHint) };
        } else {
            candidate.filtered_by.get_or_insert(GateId::LoadHint);
        }
        candidate
    });
    let judged: Candidates = judged.collect();
    run.candidates = judged;
    let Some((member, wait)) = chosen else {
        return Verdict::skipped(Cause::NoReplica);
    };
    let reason = match run.settings.ranker.load_hint_code.value {
        LoadHintCode::LoadHint => Reason::LoadHint,
        LoadHintCode::Affinity => {
            run.affinity = Some(member);
            Reason::AffinityHint
        }
    };
    Verdict::decided(reason, Some(Cause::ShortestWait))
        .real("wait_tokens", wait.map_or(0.0, |wait| wait.wait_tokens))
        .count("members", run.candidates.len())
}
