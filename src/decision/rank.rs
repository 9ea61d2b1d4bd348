//! Scores. All products are f32, multiplied in the order written here, since other servers of the contract round the
//! same way; freshness and distinguishing power are computed in f64 and rounded once.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::evidence::{Evidence, Holder, StatsSeen};
use super::pipeline::Settings;
use super::trace::Candidate;
use crate::model::{Slo, Tier, Timestamp};

/// `1 - age/ttl`: 1 where the age is 0 or less, 0 from the TTL on. Both in nanoseconds.
pub fn freshness(age_ns: i64, ttl_ns: i64) -> f32 {
    if age_ns <= 0 {
        return 1.0;
    }
    if age_ns >= ttl_ns {
        return 0.0;
    }
    (1.0 - age_ns as f64 / ttl_ns as f64) as f32
}

/// `1 - age/max_age` of statistics, in f32; both in nanoseconds, the age below the maximum.
pub fn recency(age_ns: i64, max_age_ns: i64) -> f32 {
    (1.0 - age_ns.max(0) as f32 / max_age_ns as f32).clamp(0.0, 1.0)
}

/// `clamp(1 - weight x pressure, 0, 1)`.
pub fn pressure_factor(weight: f32, pressure: f32) -> f32 {
    (1.0 - weight * pressure).clamp(0.0, 1.0)
}

/// `1 + decay x bias` for a request whose TTFT target is set and below `tight_ttft_ms`, else 1.
pub fn slo_bias(slo: Slo, tight_ttft_ms: i32, bias: f32, decay: f32) -> f32 {
    if slo.ttft_ms > 0 && slo.ttft_ms < tight_ttft_ms { 1.0 + decay * bias } else { 1.0 }
}

/// `1 - holders/total` where at least two replicas serve the domain, else 1; never below 0.
pub fn distinguishing_power(holders: usize, total: usize) -> f32 {
    if total < 2 {
        return 1.0;
    }
    (1.0 - holders as f64 / total as f64).max(0.0) as f32
}

/// Candidates of a prefix match, best first: `matched_tokens x freshness x pressure_factor x slo_bias`, then
/// `x distinguishing_power`, where a replica's holders are those that match at least as many tokens of a chain, and all
/// candidates of an exact lookup.
pub(super) fn rank_matches(
    evidence: &Evidence,
    settings: &Settings,
    slo: Slo,
    now: Timestamp,
) -> Vec<Candidate> {
    let ttl_ns = settings.policy.ttl_ns.value;
    let holders = in_order_of_ids(evidence);
    let at_least = deep_as(&evidence.holders);
    let mut alike = Alike::default();
    let ranked = holders.iter().map(|at| {
        let holder = &evidence.holders[*at as usize];
        let deep = match holder.blocks {
            // An exact match is all or nothing: every candidate holds the same.
            0 => evidence.holders.len(),
            _ => at_least[*at as usize] as usize,
        };
        let (decay, distinguishing_power) = alike.factors(holder, deep, evidence.roster.len(), ttl_ns, now);
        let factors = Factors::new(settings, slo, decay, pressure(holder.stats, ttl_ns, now));
        Candidate {
            member: holder.member,
            blocks: holder.blocks,
            matched_tokens: holder.matched_tokens,
            probability: decay,
            decay,
            pressure_factor: factors.pressure_factor,
            slo_bias: factors.slo_bias,
            distinguishing_power,
            score: factors.score(holder.matched_tokens as f32) * distinguishing_power,
            tier: holder.tier,
            filtered_by: None,
            wait: None,
        }
    });
    let mut ranked: Vec<Candidate> = ranked.collect();
    sort_best_first(&mut ranked);
    ranked
}

type Numbers = SmallVec<[u32; 64]>;

/// Places in `evidence.holders` in the order of the members: each stands in its place of the roster, or they are sorted
/// where the roster is much longer than the list.
fn in_order_of_ids(evidence: &Evidence) -> Numbers {
    let (holders, places) = (&evidence.holders, evidence.roster.len());
    let mut sorted: Numbers = (0..holders.len() as u32).collect();
    if places > 8 * holders.len() || holders.iter().any(|holder| holder.member as usize >= places) {
        sorted.sort_unstable_by_key(|at| holders[*at as usize].member);
        return sorted;
    }
    let mut by_place: Numbers = SmallVec::from_elem(u32::MAX, places);
    holders.iter().zip(0..).for_each(|(holder, at)| by_place[holder.member as usize] = at);
    by_place.retain(|at| *at != u32::MAX);
    by_place
}

/// For each holder, how many match at least as many tokens.
fn deep_as(holders: &[Holder]) -> Numbers {
    let all = holders.len();
    if holders.is_sorted_by_key(|holder| holder.matched_tokens) {
        // As a walk along the chain finds them: those that drop out first have the fewest.
        let mut first_of_depth = 0;
        return (0..all)
            .map(|at| {
                if holders[at].matched_tokens != holders[first_of_depth].matched_tokens {
                    first_of_depth = at;
                }
                (all - first_of_depth) as u32
            })
            .collect();
    }
    let mut depths: SmallVec<[i32; 64]> = holders.iter().map(|holder| holder.matched_tokens).collect();
    depths.sort_unstable();
    let deep = |holder: &Holder| all - depths.partition_point(|depth| *depth < holder.matched_tokens);
    holders.iter().map(|holder| deep(holder) as u32).collect()
}

/// The factors computed last: neighbours mostly have the same.
#[derive(Default)]
struct Alike {
    freshness: Option<(Timestamp, f32)>,
    power: Option<(usize, f32)>,
}

impl Alike {
    fn factors(
        &mut self,
        holder: &Holder,
        deep: usize,
        total: usize,
        ttl_ns: i64,
        now: Timestamp,
    ) -> (f32, f32) {
        let last_seen = holder.last_seen;
        let (_, decay) = *match &mut self.freshness {
            Some(held) if held.0 == last_seen => held,
            held => held.insert((last_seen, freshness(last_seen.age_ns(now), ttl_ns))),
        };
        let (_, power) = *match &mut self.power {
            Some(held) if held.0 == deep => held,
            held => held.insert((deep, distinguishing_power(deep, total))),
        };
        (decay, power)
    }
}

/// Warm replicas, best first: `hit_rate x recency x pressure_factor x slo_bias`. A replica is warm where its statistics
/// are younger than TenantHotMaxAge and its hit rate is at least TenantHotMinHitRate.
pub(super) fn rank_warm(
    evidence: &Evidence,
    settings: &Settings,
    slo: Slo,
    now: Timestamp,
) -> Vec<Candidate> {
    let max_age_ns = settings.ranker.tenant_hot_max_age_ns.value;
    let min_hit_rate = settings.ranker.tenant_hot_min_hit_rate.value;
    let ttl_ns = settings.policy.ttl_ns.value;
    let is_warm =
        |stats: &StatsSeen| stats.reported_at.age_ns(now) < max_age_ns && stats.hit_rate >= min_hit_rate;
    let mut ranked: Vec<Candidate> = evidence
        .warm
        .iter()
        .filter(|warm| is_warm(&warm.stats))
        .map(|warm| {
            let decay = recency(warm.stats.reported_at.age_ns(now), max_age_ns);
            let factors = Factors::new(settings, slo, decay, pressure(Some(warm.stats), ttl_ns, now));
            Candidate {
                member: warm.member,
                blocks: 0,
                matched_tokens: 0,
                probability: warm.stats.hit_rate,
                decay,
                pressure_factor: factors.pressure_factor,
                slo_bias: factors.slo_bias,
                distinguishing_power: 1.0,
                score: factors.score(warm.stats.hit_rate),
                tier: Tier::Unknown,
                filtered_by: None,
                wait: None,
            }
        })
        .collect();
    sort_best_first(&mut ranked);
    ranked
}

struct Factors {
    decay: f32,
    pressure_factor: f32,
    slo_bias: f32,
}

impl Factors {
    fn new(settings: &Settings, slo: Slo, decay: f32, pressure: f32) -> Self {
        let knobs = &settings.ranker;
        Self {
            decay,
            pressure_factor: pressure_factor(knobs.pressure_weight.value, pressure),
            slo_bias: slo_bias(slo, knobs.slo_tight_ttft_ms.value, knobs.slo_tight_bias.value, decay),
        }
    }

    fn score(&self, base: f32) -> f32 {
        base * self.decay * self.pressure_factor * self.slo_bias
    }
}

/// Pressure as the ranking sees it: 0 without statistics, and where they were reported longer ago than the TTL.
fn pressure(stats: Option<StatsSeen>, ttl_ns: i64, now: Timestamp) -> f32 {
    stats.filter(|stats| stats.reported_at.age_ns(now) <= ttl_ns).map_or(0.0, |stats| stats.pressure)
}

/// Score descending, then replica id ascending by bytes, which is the order of the roster.
fn sort_best_first(ranked: &mut [Candidate]) {
    let is_before = |a: &Candidate, b: &Candidate| match b.score.total_cmp(&a.score) {
        Ordering::Equal => a.member < b.member,
        of_scores => of_scores == Ordering::Less,
    };
    // Most candidates share the score of the system prompt and stand in the order of their ids already: a few that match
    // more move up. Where it is otherwise, the general sort takes over.
    let mut moves_left = 8 * ranked.len();
    for at in 1..ranked.len() {
        if !is_before(&ranked[at], &ranked[at - 1]) {
            continue;
        }
        let to = ranked[..at].partition_point(|held| is_before(held, &ranked[at]));
        let Some(left) = moves_left.checked_sub(at - to) else {
            return ranked.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.member.cmp(&b.member)));
        };
        moves_left = left;
        ranked[to..=at].rotate_right(1);
    }
}
