//! Gates on the result.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::request::block_lists_agree;
use crate::decision::evidence::Input;
use crate::decision::pipeline::{Found, Run, Verdict};
use crate::decision::{Cause, GateId, Reason};

pub(in crate::decision) fn replica_timeout(run: &mut Run<'_>) -> Verdict {
    let timeout_ns = run.settings.ranker.replica_timeout_ns.value;
    if is_off(run) {
        return Verdict::skipped(Cause::SwitchedOff);
    }
    if run.found == Found::Nothing {
        return Verdict::skipped(Cause::NoResult);
    }
    let heard = heard_in_time(run);
    let drained = std::mem::take(&mut run.evidence.drained);
    let mut drained_removed = 0_usize;
    let (removed, left) = run.retain(GateId::ReplicaTimeout, |candidate| {
        let is_drained = drained.binary_search(&candidate.member).is_ok();
        drained_removed += usize::from(is_drained);
        !is_drained && heard(candidate.member)
    });
    run.evidence.drained = drained;
    let cause = match drained_removed {
        0 => Cause::NotHeardOf,
        all if all == removed => Cause::Drained,
        _ => Cause::NotHeardOfOrDrained,
    };
    let verdict = removal(removed, left, cause);
    let verdict = if drained_removed > 0 { verdict.count("drained", drained_removed) } else { verdict };
    if timeout_ns > 0 { verdict.span("timeout", timeout_ns) } else { verdict }
}

/// Whether no replica can be timed out or drained.
fn is_off(run: &Run<'_>) -> bool {
    run.settings.ranker.replica_timeout_ns.value <= 0 && run.evidence.drained.is_empty()
}

pub(in crate::decision) fn enable_tenant_hot(run: &mut Run<'_>) -> Verdict {
    match run.found {
        Found::Warm if run.settings.policy.enable_tenant_hot.value => Verdict::passed(),
        Found::Warm => Verdict::downgraded(Cause::PolicyRefusesWarm),
        Found::Match => Verdict::skipped(Cause::NotHotResult),
        Found::Nothing => Verdict::skipped(Cause::NoResult),
    }
}

/// On the result only where affinity may answer in its place.
pub(in crate::decision) fn minimum_prefix_tokens(run: &mut Run<'_>) -> Verdict {
    let policy = &run.settings.policy;
    let minimum = policy.minimum_prefix_tokens.value;
    if minimum <= 0 {
        return Verdict::skipped(Cause::SwitchedOff);
    }
    if !policy.affinity_routing.value {
        return Verdict::skipped(Cause::CheckedOnRequest);
    }
    if run.found == Found::Nothing {
        return Verdict::skipped(Cause::NoResult);
    }
    let verdict =
        if run.prefix_tokens < minimum { Verdict::downgraded(Cause::TooShort) } else { Verdict::passed() };
    verdict.count("prefix_tokens", run.prefix_tokens).count("minimum", minimum)
}

pub(in crate::decision) fn minimum_matched_tokens(run: &mut Run<'_>) -> Verdict {
    let floor = run.settings.policy.minimum_matched_tokens.value;
    if let Some(verdict) = match_only(run.found, floor <= 0) {
        return verdict;
    }
    let matched = run.commons_remaining().map(|common| common.matched_tokens);
    let (least, best) =
        matched.fold((i32::MAX, 0), |(least, best), tokens| (tokens.min(least), tokens.max(best)));
    // Mostly all of them do.
    let (removed, left) = match least >= floor {
        true => (0, 0),
        false => {
            run.retain_alike(GateId::MinimumMatchedTokens, |candidate| candidate.matched_tokens >= floor)
        }
    };
    removal(removed, left, Cause::BelowFloor).count("best_matched_tokens", best).count("floor", floor)
}

pub(in crate::decision) fn routing_floor_score(run: &mut Run<'_>) -> Verdict {
    let floor = run.settings.policy.routing_floor_score.value;
    if let Some(verdict) = match_only(run.found, floor <= 0.0) {
        return verdict;
    }
    let best = run.commons_remaining().map(|common| common.score).fold(0.0, f32::max);
    let verdict = if best < floor { Verdict::downgraded(Cause::BelowFloor) } else { Verdict::passed() };
    verdict.real("best_score", best).real("floor", floor)
}

/// The verdict of a floor that has nothing to check.
fn match_only(found: Found, is_off: bool) -> Option<Verdict> {
    match found {
        Found::Nothing => Some(Verdict::skipped(Cause::NoResult)),
        Found::Warm => Some(Verdict::skipped(Cause::NotMatchResult)),
        Found::Match if is_off => Some(Verdict::skipped(Cause::SwitchedOff)),
        Found::Match => None,
    }
}

pub(super) fn removal(removed: usize, left: usize, cause: Cause) -> Verdict {
    match (removed, left) {
        (0, _) => Verdict::passed(),
        (_, 0) => Verdict::downgraded(cause).count("removed", removed),
        _ => Verdict::filtered(cause).count("removed", removed).count("left", left),
    }
}

pub(in crate::decision) fn affinity(run: &mut Run<'_>) -> Verdict {
    if run.found != Found::Nothing {
        return Verdict::skipped(Cause::ResultStands);
    }
    if !run.settings.policy.affinity_routing.value {
        return Verdict::skipped(Cause::SwitchedOff);
    }
    if !block_lists_agree(run.request.block_hashes, run.request.block_token_counts) {
        return Verdict::skipped(Cause::BlockListsDisagree);
    }
    let Some(seed) = seed(&run.input) else {
        return Verdict::skipped(Cause::NoSeed);
    };
    let replicas = eligible(run);
    let Some(pick) = pick(seed, &replicas) else {
        return Verdict::skipped(Cause::NoReplica);
    };
    run.affinity = Some(pick);
    Verdict::decided(Reason::AffinityHint, Some(Cause::StableReplica)).count("replicas", replicas.len())
}

/// Bytes that are handed to the hasher at once.
const PIECE: usize = 1_536;

/// SHA-256 over each block hash behind its length (4 bytes, big-endian), or over the exact hash alone.
fn seed(input: &Input<'_>) -> Option<[u8; 32]> {
    let mut hasher = Sha256::new();
    match input {
        Input::Chain { hashes, .. } => {
            // Handed over in large pieces: each costs the hasher as much as some bytes do.
            let (mut piece, mut filled) = ([0; PIECE], 0);
            for hash in hashes.list().iter() {
                let length = u32::try_from(hash.len()).unwrap_or(u32::MAX).to_be_bytes();
                if filled + length.len() + hash.len() > PIECE {
                    hasher.update(&piece[..filled]);
                    filled = 0;
                }
                let Some((place, rest)) = piece[filled..].split_first_chunk_mut() else { continue };
                *place = length;
                if let (Ok(word), Some(place)) = (<[u8; 8]>::try_from(hash), rest.first_chunk_mut()) {
                    *place = word;
                } else if let Some(place) = rest.get_mut(..hash.len()) {
                    place.copy_from_slice(hash);
                } else {
                    hasher.update(length);
                    hasher.update(hash);
                    continue;
                }
                filled += length.len() + hash.len();
            }
            hasher.update(&piece[..filled]);
        }
        Input::Exact(hash) => hasher.update(hash.as_bytes()),
        Input::Nothing => return None,
    }
    Some(hasher.finalize().into())
}

/// Members of the roster that may be picked: those heard of in time and not drained, in the order of their ids.
fn eligible(run: &Run<'_>) -> Vec<u32> {
    let members = 0..u32::try_from(run.evidence.roster.len()).unwrap_or(u32::MAX);
    if is_off(run) {
        return members.collect();
    }
    let heard = heard_in_time(run);
    let drained = &run.evidence.drained;
    members.filter(|member| heard(*member) && drained.binary_search(member).is_err()).collect()
}

/// Whether a member was heard of within the replica timeout; without one, all were.
pub(super) fn heard_in_time(run: &Run<'_>) -> impl Fn(u32) -> bool + use<> {
    let (now, timeout_ns) = (run.arrival.now, run.settings.ranker.replica_timeout_ns.value);
    let heard = Arc::clone(&run.evidence.heard);
    move |member| timeout_ns <= 0 || heard.get(member as usize).is_some_and(|at| at.age_ns(now) <= timeout_ns)
}

/// The replica at the seed's first 8 bytes (big-endian) modulo the number of replicas.
fn pick(seed: [u8; 32], replicas: &[u32]) -> Option<u32> {
    let (head, _) = seed.split_first_chunk::<8>()?;
    let count = u64::try_from(replicas.len()).ok().filter(|count| *count > 0)?;
    let at = usize::try_from(u64::from_be_bytes(*head) % count).ok()?;
    replicas.get(at).copied()
}

pub(in crate::decision) fn answer(run: &mut Run<'_>) -> Verdict {
    match run.found {
        Found::Match => Verdict::decided(Reason::PrefixMatch, None),
        Found::Warm => Verdict::decided(Reason::TenantHot, None),
        Found::Nothing => Verdict::decided(Reason::NoHint, Some(Cause::NoResult)),
    }
}
