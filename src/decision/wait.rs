//! The balanced ranking: every replica of the domain by how long the request would wait there for its first token.

use std::borrow::Cow;
use std::cmp::Reverse;

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
    let Run { evidence, settings, arrival, balance, .. } = run;
    let (holdings, places) = (holdings(evidence, settings, arrival.now), holding_of(evidence));
    let (holdings, places) = (holdings.as_slice(), places.as_slice());
    let most_held = holdings.iter().map(|holding| holding.matched_tokens).max().unwrap_or(0);
    let tokens = run.prefix_tokens.max(most_held);
    let measure = Measure::new(settings, balance, tokens, arrival.now);
    let loads = measure.loads(places.len());
    let mut waits: Vec<Wait> = Vec::with_capacity(places.len());
    waits.extend(loads.iter().zip(places).zip(0..).map(|((load, place), member)| {
        measure.wait(member, *load, holdings[*place as usize].matched_tokens)
    }));
    let order = order(&waits, &balance.absent, |member| holdings[places[member] as usize].matched_tokens);
    let ranked = order.iter().map(|member| {
        let (wait, place) = (waits[*member as usize], places[*member as usize]);
        candidate(*member, holdings[place as usize], score(tokens, wait.wait_tokens), wait)
    });
    // Hardly two of them wait alike.
    Candidates::of_alone(ranked)
}

/// What a member holds of the request.
#[derive(Clone, Copy)]
struct Holding {
    blocks: u32,
    matched_tokens: i32,
    tier: Tier,
    decay: f32,
}

/// What those who hold nothing hold, and then what each group of holders does.
fn holdings(evidence: &Evidence, settings: &Settings, now: Timestamp) -> SmallVec<[Holding; 8]> {
    let nothing = Holding { blocks: 0, matched_tokens: 0, tier: Tier::Unknown, decay: 0.0 };
    let groups = evidence.holders.commons().map(|common: &Holder| Holding {
        blocks: common.blocks,
        matched_tokens: common.matched_tokens,
        tier: common.tier,
        decay: freshness(common.last_seen.age_ns(now), settings.policy.ttl_ns.value),
    });
    std::iter::once(nothing).chain(groups).collect()
}

/// By member, which of [`holdings`] is its own.
fn holding_of(evidence: &Evidence) -> SmallVec<[u32; 64]> {
    let mut places = SmallVec::from_elem(0, evidence.roster.len());
    for (members, place) in evidence.holders.all_members().zip(1..) {
        for member in members {
            if let Some(of_member) = places.get_mut(*member as usize) {
                *of_member = place;
            }
        }
    }
    places
}

/// The members by wait, then by tokens held, the most first, then by id; those `absent`, ascending, are left out.
fn order(waits: &[Wait], absent: &[u32], matched_tokens: impl Fn(usize) -> i32) -> SmallVec<[u32; 64]> {
    // Waits are 0 or more, whose bits sort as they do: a wait and a member make one number.
    let key = |(wait, member): (&Wait, u64)| u64::from(wait.wait_tokens.max(0.0).to_bits()) << 32 | member;
    let mut keys: SmallVec<[u64; 64]> = SmallVec::from_elem(0, waits.len());
    keys.as_mut_slice().iter_mut().zip(waits.iter().zip(0..)).for_each(|(place, wait)| *place = key(wait));
    if !absent.is_empty() {
        keys.retain(|key| absent.binary_search(&(*key as u32)).is_err());
    }
    keys.sort_unstable();
    for equal in keys.chunk_by_mut(|a, b| *a >> 32 == *b >> 32).filter(|equal| equal.len() > 1) {
        equal.sort_by_key(|key| Reverse(matched_tokens(*key as u32 as usize).max(0)));
    }
    keys.iter().map(|key| *key as u32).collect()
}

/// Seconds of work that hints of the last minutes brought to each replica, where it was shared by what each can do.
fn share_s(balance: &Balance) -> f32 {
    let all_do = balance.absent.is_empty();
    let takes_part = |member: &(&Load, u32)| all_do || balance.absent.binary_search(&member.1).is_err();
    let (recent, rates) = balance
        .loads
        .iter()
        .zip(0..)
        .filter(takes_part)
        .fold((0.0, 0.0), |(recent, rates), (load, _)| (recent + load.recent_tokens, rates + load.rate));
    if rates > 0.0 { recent / rates } else { 0.0 }
}

/// What waits are told by, the same for all members.
struct Measure<'a> {
    balance: &'a Balance,
    /// Tokens of the request.
    tokens: i32,
    usual_rate: f32,
    share_s: f32,
    pressure_weight: f32,
    /// The scale of those who told no pressure.
    usual_scale: f32,
    ttl_ns: i64,
    now: Timestamp,
}

impl<'a> Measure<'a> {
    fn new(settings: &Settings, balance: &'a Balance, tokens: i32, now: Timestamp) -> Self {
        let knobs = &settings.ranker;
        let pressure_weight = knobs.pressure_weight.value;
        Self {
            balance,
            tokens,
            usual_rate: knobs.prefill_rate.value.max(1) as f32,
            share_s: share_s(balance),
            pressure_weight,
            usual_scale: pressure_scale(pressure_weight, 0.0),
            ttl_ns: settings.policy.ttl_ns.value,
            now,
        }
    }

    /// The loads of so many members; of those that nothing is known of, that of an idle replica.
    fn loads(&self, members: usize) -> Cow<'a, [Load]> {
        let known = self.balance.loads.as_slice();
        if let Some(known) = known.get(..members) {
            return Cow::Borrowed(known);
        }
        let (pending_tokens, recent_tokens, provisional_tokens) = (0.0, 0.0, 0);
        let idle = Load { pending_tokens, recent_tokens, rate: self.usual_rate, provisional_tokens };
        Cow::Owned(known.iter().copied().chain(std::iter::repeat(idle)).take(members).collect())
    }

    /// What a request waits for at `member`, which holds `matched_tokens` of it.
    fn wait(&self, member: usize, load: Load, matched_tokens: i32) -> Wait {
        let Load { pending_tokens, recent_tokens, rate, provisional_tokens } = load;
        let provisional_tokens = provisional_tokens.min(self.tokens).max(0);
        let held = matched_tokens.max(provisional_tokens);
        let uncached_tokens = self.tokens.saturating_sub(held).max(0);
        let reported = self.balance.pressure.get(member).copied().flatten();
        let pressure_scale = match reported.filter(|(_, at)| at.age_ns(self.now) <= self.ttl_ns) {
            Some((pressure, _)) => pressure_scale(self.pressure_weight, pressure),
            None => self.usual_scale,
        };
        // A replica that just came has far less than its share: it is not to get everything until it has.
        let most = UNCACHED_WEIGHT * self.tokens as f32;
        let ahead_tokens = (AHEAD_WEIGHT * (recent_tokens - self.share_s * rate)).clamp(0.0, most);
        let cost = pending_tokens + UNCACHED_WEIGHT * uncached_tokens as f32 + ahead_tokens;
        let wait_tokens = cost * (self.usual_rate / rate) * pressure_scale;
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
}

fn candidate(member: u32, holding: Holding, score: f32, wait: Wait) -> Candidate {
    let Holding { blocks, matched_tokens, tier, decay } = holding;
    Candidate {
        member,
        blocks,
        matched_tokens,
        probability: decay,
        decay,
        pressure_factor: 1.0,
        slo_bias: 1.0,
        distinguishing_power: 1.0,
        score,
        tier,
        filtered_by: None,
        wait: Some(wait),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(wait_tokens: f32) -> Wait {
        Wait {
            pending_tokens: 0.0,
            uncached_tokens: 0,
            provisional_tokens: 0,
            ahead_tokens: 0.0,
            rate: 1.0,
            pressure_scale: 1.0,
            wait_tokens,
        }
    }

    #[test]
    fn waits_come_first_then_what_is_held_then_ids() {
        let waits: Vec<Wait> = [3.0, 0.0, 1.5, 1.5, 1.5, 0.0, f32::INFINITY].map(waiting).into();
        let held = [9, 1, 2, 4, 2, 1, 100];
        let ranked = |absent: &[u32]| order(&waits, absent, |member| held[member]).to_vec();
        assert_eq!(ranked(&[]), [1, 5, 3, 2, 4, 0, 6]);
        assert_eq!(ranked(&[3, 5]), [1, 2, 4, 0, 6]);
        // As a sort of all three by comparison has it, on many.
        let waits: Vec<Wait> = (0..200).map(|at| waiting((at * 7 % 13) as f32)).collect();
        let held = |member: usize| (member * 5 % 3) as i32;
        let mut expected: Vec<u32> = (0..200).collect();
        expected.sort_by(|a, b| {
            let (a, b) = (*a as usize, *b as usize);
            let by_wait = waits[a].wait_tokens.total_cmp(&waits[b].wait_tokens);
            by_wait.then(held(b).cmp(&held(a))).then(a.cmp(&b))
        });
        assert_eq!(order(&waits, &[], held).to_vec(), expected);
    }
}
