//! The balanced ranking: every replica of the domain by how long the request would wait there for its first token.

use smallvec::SmallVec;

use super::evidence::{Balance, Evidence, Load};
use super::holders::Holder;
use super::pipeline::{Run, Settings};
use super::rank::freshness;
use super::trace::{Candidate, Candidates, Wait};
use crate::model::{Tier, Timestamp};

/// What pressure makes a wait longer by at most.
pub const MAX_PRESSURE_SCALE: f32 = 10.0;

/// Weight of a token that has to be computed: this request waits for it, and so does one after it, on average.
pub const UNCACHED_WEIGHT: f32 = 2.0;
/// Weight of a token that hints of the last minutes brought to a replica beyond its share: what is hot spreads before it is
/// waited for, and what cannot be told apart otherwise takes turns.
pub const AHEAD_WEIGHT: f32 = 0.5;

/// `1 + weight x pressure / (1 - pressure)`, at most [`MAX_PRESSURE_SCALE`].
pub fn pressure_scale(weight: f32, pressure: f32) -> f32 {
    if pressure >= 1.0 {
        return if weight > 0.0 { MAX_PRESSURE_SCALE } else { 1.0 };
    }
    (1.0 + weight * pressure / (1.0 - pressure)).clamp(1.0, MAX_PRESSURE_SCALE)
}

/// `tokens / (tokens + wait)`: 1 where nothing has to be waited for. A prompt of unknown length counts as one token.
pub fn score(tokens: i32, wait_tokens: f32) -> f32 {
    let tokens = tokens.max(1) as f32;
    tokens / (tokens + wait_tokens)
}

/// All members of the domain, the shortest wait first; of equal waits the one that holds more, then by replica id.
pub(super) fn rank_waits(run: &Run<'_>) -> Candidates {
    let Run { evidence, settings, arrival, .. } = run;
    let now = arrival.now;
    let holders = by_member(evidence);
    let most_held = evidence.holders.iter().map(|holder| holder.matched_tokens).max().unwrap_or(0);
    let tokens = run.prefix_tokens.max(most_held);
    let members = 0..u32::try_from(evidence.roster.len()).unwrap_or(u32::MAX);
    let absent = &run.balance.absent;
    let share_s = share_s(&run.balance);
    let waits: Vec<Wait> = members
        .clone()
        .map(|member| {
            let holder = holders.get(member as usize).copied().flatten();
            wait(&run.balance, settings, member, (tokens, holder), (share_s, now))
        })
        .collect();
    let held = |member: u32| holders.get(member as usize).copied().flatten();
    // Keys are a tenth of a candidate, so that they are sorted in its place.
    let mut order: SmallVec<[u128; 64]> = members
        .filter(|member| absent.binary_search(member).is_err())
        .map(|member| {
            let matched = held(member).map_or(0, |holder| holder.matched_tokens);
            order_key(waits[member as usize].wait_tokens, matched, member)
        })
        .collect();
    order.sort_unstable();
    let ranked = order.iter().map(|key| {
        let member = *key as u32;
        let wait = waits[member as usize];
        candidate(member, held(member), score(tokens, wait.wait_tokens), wait, (settings, now))
    });
    ranked.collect()
}

/// Sorts by wait, then by tokens held, the most first, then by member. Waits are 0 or more, whose bits sort as they do.
fn order_key(wait_tokens: f32, matched_tokens: i32, member: u32) -> u128 {
    let unmatched = u32::MAX - matched_tokens.max(0).unsigned_abs();
    u128::from(wait_tokens.max(0.0).to_bits()) << 64 | u128::from(unmatched) << 32 | u128::from(member)
}

/// Seconds of work that hints of the last minutes brought to each replica, where it was shared by what each can do.
fn share_s(balance: &Balance) -> f32 {
    let takes_part = |member: &(&Load, u32)| balance.absent.binary_search(&member.1).is_err();
    let (recent, rates) = balance
        .loads
        .iter()
        .zip(0..)
        .filter(takes_part)
        .fold((0.0, 0.0), |(recent, rates), (load, _)| (recent + load.recent_tokens, rates + load.rate));
    if rates > 0.0 { recent / rates } else { 0.0 }
}

fn by_member(evidence: &Evidence) -> Vec<Option<Holder>> {
    let mut holders = vec![None; evidence.roster.len()];
    for holder in evidence.holders.iter() {
        if let Some(place) = holders.get_mut(holder.member as usize) {
            *place = Some(holder);
        }
    }
    holders
}

fn wait(
    balance: &Balance,
    settings: &Settings,
    member: u32,
    (tokens, holder): (i32, Option<Holder>),
    (share_s, now): (f32, Timestamp),
) -> Wait {
    let knobs = &settings.ranker;
    let usual_rate = knobs.prefill_rate.value.max(1) as f32;
    let load = balance.loads.get(member as usize);
    let pending_tokens = load.map_or(0.0, |load| load.pending_tokens);
    let rate = load.map_or(usual_rate, |load| load.rate);
    let provisional_tokens = load.map_or(0, |load| load.provisional_tokens.clamp(0, tokens));
    let held = holder.map_or(0, |holder| holder.matched_tokens).max(provisional_tokens);
    let uncached_tokens = tokens.saturating_sub(held).max(0);
    let reported = balance.pressure.get(member as usize).copied().flatten();
    let pressure = reported.filter(|(_, at)| at.age_ns(now) <= settings.policy.ttl_ns.value);
    let pressure_scale =
        pressure_scale(knobs.pressure_weight.value, pressure.map_or(0.0, |(value, _)| value));
    let recent_tokens = load.map_or(0.0, |load| load.recent_tokens);
    // A replica that just came has far less than its share: it is not to get everything until it has.
    let most = UNCACHED_WEIGHT * tokens as f32;
    let ahead_tokens = (AHEAD_WEIGHT * (recent_tokens - share_s * rate)).clamp(0.0, most);
    let cost = pending_tokens + UNCACHED_WEIGHT * uncached_tokens as f32 + ahead_tokens;
    let wait_tokens = cost * (usual_rate / rate) * pressure_scale;
    Wait {
        pending_tokens,
        uncached_tokens,
        ahead_tokens,
        provisional_tokens,
        rate,
        pressure_scale,
        wait_tokens,
    }
}

fn candidate(
    member: u32,
    holder: Option<Holder>,
    score: f32,
    wait: Wait,
    (settings, now): (&Settings, Timestamp),
) -> Candidate {
    let decay =
        holder.map_or(0.0, |holder| freshness(holder.last_seen.age_ns(now), settings.policy.ttl_ns.value));
    Candidate {
        member,
        blocks: holder.map_or(0, |holder| holder.blocks),
        matched_tokens: holder.map_or(0, |holder| holder.matched_tokens),
        probability: decay,
        decay,
        pressure_factor: 1.0,
        slo_bias: 1.0,
        distinguishing_power: 1.0,
        score,
        tier: holder.map_or(Tier::Unknown, |holder| holder.tier),
        filtered_by: None,
        wait: Some(wait),
    }
}
