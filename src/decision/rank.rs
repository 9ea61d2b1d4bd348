//! Scores. All products are f32, multiplied in the order written here, since other servers of the contract round the
//! same way; freshness and distinguishing power are computed in f64 and rounded once.

use smallvec::SmallVec;

use super::evidence::{Evidence, StatsSeen};
use super::holders::{Holder, Holders};
use super::pipeline::Settings;
use super::trace::{Candidate, Candidates};
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
pub(super) fn rank_matches(evidence: &Evidence, settings: &Settings, slo: Slo, now: Timestamp) -> Candidates {
    let (holders, total) = (&evidence.holders, evidence.roster.len());
    let scored = scored(holders, total, settings, slo, now);
    if 2 * scored.len() > holders.len()
        && let Some(ranked) = one_by_one(holders, &scored, total)
    {
        return ranked;
    }
    by_groups(holders, &scored)
}

/// A candidate for each group of holders, the members still those of the group's first.
fn scored(holders: &Holders, total: usize, settings: &Settings, slo: Slo, now: Timestamp) -> Vec<Candidate> {
    let scale = Scale::new(settings, slo, now);
    let deeper = Deeper::of(holders);
    let (mut depth, mut power) = (None, 0.0);
    let alike = |holder: &Holder| {
        // An exact match is all or nothing: every candidate holds the same.
        let depth_of_holder = Some(holder.matched_tokens).filter(|_| holder.blocks > 0);
        if depth != Some(depth_of_holder) {
            depth = Some(depth_of_holder);
            let deep = depth_of_holder.map_or(holders.len(), |depth| deeper.at_least(depth));
            power = distinguishing_power(deep, total);
        }
        let decay = freshness(holder.last_seen.age_ns(now), scale.ttl_ns);
        let factors = scale.factors(decay, holder.stats);
        Candidate {
            member: holder.member,
            blocks: holder.blocks,
            matched_tokens: holder.matched_tokens,
            probability: decay,
            decay,
            pressure_factor: factors.pressure_factor,
            slo_bias: factors.slo_bias,
            distinguishing_power: power,
            score: factors.score(holder.matched_tokens as f32) * power,
            tier: holder.tier,
            filtered_by: None,
            wait: None,
        }
    };
    let mut scored = Vec::with_capacity(holders.group_count());
    scored.extend(holders.commons().map(alike));
    scored
}

/// The ranking where hardly any replicas share anything, as where each reported at a time of its own; `None` where the
/// roster is too long to be gone over.
fn one_by_one(holders: &Holders, scored: &[Candidate], places: usize) -> Option<Candidates> {
    if places > 32 * holders.len() {
        return None;
    }
    // By replica: its score, as a number that sorts, over its group.
    let mut by_member: SmallVec<[u64; 64]> = SmallVec::from_elem(NOBODY, places);
    let found = by_member.as_mut_slice();
    let (mut last, mut ties) = (0, 0);
    for ((common, members), group) in scored.iter().zip(holders.all_members()).zip(0_u64..) {
        let score = u64::from(descending(common.score)) << 32;
        ties += usize::from(std::mem::replace(&mut last, score) == score);
        for member in members {
            *found.get_mut(*member as usize).filter(|held| **held == NOBODY)? = score | group;
        }
    }
    let score_of = |held: u64| held >> 32 << 32;
    let mut order: SmallVec<[u64; 64]> = SmallVec::from_elem(0, holders.len());
    if 2 * ties > scored.len() && places <= 4 * holders.len() {
        // Who holds no more than all others do has a score of 0: those are in order but for the few that hold more.
        let held = found.iter().zip(0_u64..).filter(|(held, _)| **held != NOBODY);
        order.iter_mut().zip(held).for_each(|(key, (held, member))| *key = score_of(*held) | member);
    } else {
        let members = holders.all_members().flatten();
        let keys = members.map(|member| score_of(found[*member as usize]) | u64::from(*member));
        order.iter_mut().zip(keys).for_each(|(key, of_member)| *key = of_member);
    }
    sort_nearly_sorted(&mut order);
    let members = order.iter().map(|key| *key as u32).collect();
    Some(Candidates::each_alone(members, |member| &scored[found[member as usize] as u32 as usize]))
}

/// The mark of a place whose replica holds nothing; no score has it, since it would be that of a group beyond the last.
const NOBODY: u64 = u64::MAX;

/// Sorts by moving up the few that stand too far back; where there are many, as any list is sorted.
fn sort_nearly_sorted(keys: &mut [u64]) {
    let mut moves_left = 8 * keys.len();
    for at in 1..keys.len() {
        let key = keys[at];
        if keys[at - 1] <= key {
            continue;
        }
        let to = keys[..at].partition_point(|held| *held <= key);
        let Some(left) = moves_left.checked_sub(at - to) else {
            return keys.sort_unstable();
        };
        moves_left = left;
        keys.copy_within(to..at, to + 1);
        keys[to] = key;
    }
}

/// The ranking where many replicas share what is known of them: it goes by groups.
fn by_groups(holders: &Holders, scored: &[Candidate]) -> Candidates {
    let mut order: SmallVec<[u64; 64]> =
        scored.iter().zip(0..).map(|(alike, at)| u64::from(descending(alike.score)) << 32 | at).collect();
    // Mostly in order already, but for a few.
    order.sort();
    let group = |at: u64| at as u32 as usize;
    let mut ranked = Candidates::with_capacity(holders.len(), scored.len() + 2);
    for of_score in order.chunk_by(|a, b| a >> 32 == b >> 32) {
        if let [at] = of_score {
            ranked.push_group(scored[group(*at)], holders.members_of(group(*at)).iter().copied());
            continue;
        }
        // Each group is in the order of ids by itself; those of one score have to be so together.
        let members = |at: u64| holders.members_of(group(at)).iter().map(move |member| (*member, at));
        let longest = of_score.iter().copied().max_by_key(|at| holders.members_of(group(*at)).len());
        let Some(longest) = longest else { continue };
        // Mostly all but one of them are short: those go between the members of that one.
        let others = of_score.iter().filter(|at| **at != longest);
        let mut others: SmallVec<[(u32, u64); 64]> = others.flat_map(|at| members(*at)).collect();
        others.sort_unstable();
        let mut rest = holders.members_of(group(longest));
        for (member, at) in others {
            let (before, behind) = rest.split_at(rest.partition_point(|other| *other < member));
            ranked.extend_alike(scored[group(longest)], before.iter().copied());
            ranked.push(Candidate { member, ..scored[group(at)] });
            rest = behind;
        }
        ranked.extend_alike(scored[group(longest)], rest.iter().copied());
    }
    ranked
}

/// A number that sorts scores as [`f32::total_cmp`] does, greatest first.
fn descending(score: f32) -> u32 {
    let bits = score.to_bits();
    if bits >> 31 == 1 { bits } else { !bits & (u32::MAX >> 1) }
}

/// How many holders match at least as many tokens: the depths there are, deepest first, with the number of holders up to
/// there.
struct Deeper(SmallVec<[(i32, usize); 8]>);

impl Deeper {
    fn of(holders: &Holders) -> Self {
        let mut depths: SmallVec<[(i32, usize); 8]> = SmallVec::new();
        for (holder, all) in holders.commons().zip(holders.all_members()) {
            // Those that match the same mostly stand together.
            match depths.last_mut() {
                Some((depth, count)) if *depth == holder.matched_tokens => *count += all.len(),
                _ => depths.push((holder.matched_tokens, all.len())),
            }
        }
        depths.sort_unstable_by_key(|(depth, _)| std::cmp::Reverse(*depth));
        let mut so_far = 0;
        for (_, count) in &mut depths {
            so_far += *count;
            *count = so_far;
        }
        Self(depths)
    }

    fn at_least(&self, depth: i32) -> usize {
        let until = self.0.partition_point(|(held, _)| *held >= depth);
        until.checked_sub(1).map_or(0, |last| self.0[last].1)
    }
}

/// Warm replicas, best first: `hit_rate x recency x pressure_factor x slo_bias`. A replica is warm where its statistics
/// are younger than TenantHotMaxAge and its hit rate is at least TenantHotMinHitRate.
pub(super) fn rank_warm(evidence: &Evidence, settings: &Settings, slo: Slo, now: Timestamp) -> Candidates {
    let max_age_ns = settings.ranker.tenant_hot_max_age_ns.value;
    let min_hit_rate = settings.ranker.tenant_hot_min_hit_rate.value;
    let scale = Scale::new(settings, slo, now);
    let is_warm =
        |stats: &StatsSeen| stats.reported_at.age_ns(now) < max_age_ns && stats.hit_rate >= min_hit_rate;
    let mut ranked: Vec<Candidate> = evidence
        .warm
        .iter()
        .filter(|warm| is_warm(&warm.stats))
        .map(|warm| {
            let decay = recency(warm.stats.reported_at.age_ns(now), max_age_ns);
            let factors = scale.factors(decay, Some(warm.stats));
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
    ranked.into()
}

/// What is the same for all candidates of a lookup.
struct Scale {
    ttl_ns: i64,
    now: Timestamp,
    pressure_weight: f32,
    /// The pressure factor of those without statistics.
    unpressed: f32,
    slo: Slo,
    tight_ttft_ms: i32,
    tight_bias: f32,
}

struct Factors {
    decay: f32,
    pressure_factor: f32,
    slo_bias: f32,
}

impl Scale {
    fn new(settings: &Settings, slo: Slo, now: Timestamp) -> Self {
        let knobs = &settings.ranker;
        let pressure_weight = knobs.pressure_weight.value;
        Self {
            ttl_ns: settings.policy.ttl_ns.value,
            now,
            pressure_weight,
            unpressed: pressure_factor(pressure_weight, 0.0),
            slo,
            tight_ttft_ms: knobs.slo_tight_ttft_ms.value,
            tight_bias: knobs.slo_tight_bias.value,
        }
    }

    /// Pressure as the ranking sees it is 0 without statistics, and where they were reported longer ago than the TTL.
    fn factors(&self, decay: f32, stats: Option<StatsSeen>) -> Factors {
        let is_recent = |stats: &StatsSeen| stats.reported_at.age_ns(self.now) <= self.ttl_ns;
        let pressure_factor = match stats.filter(is_recent) {
            Some(stats) => pressure_factor(self.pressure_weight, stats.pressure),
            None => self.unpressed,
        };
        Factors {
            decay,
            pressure_factor,
            slo_bias: slo_bias(self.slo, self.tight_ttft_ms, self.tight_bias, decay),
        }
    }
}

impl Factors {
    fn score(&self, base: f32) -> f32 {
        base * self.decay * self.pressure_factor * self.slo_bias
    }
}

/// Score descending, then replica id ascending by bytes, which is the order of the roster.
fn sort_best_first(ranked: &mut [Candidate]) {
    ranked.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.member.cmp(&b.member)));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holders from `(member, blocks, seconds)`, 16 tokens a block.
    fn held(all: impl IntoIterator<Item = (u32, u32, i64)>) -> Holders {
        let holder = |(member, blocks, seconds)| Holder {
            member,
            blocks,
            matched_tokens: 16 * blocks as i32,
            last_seen: Timestamp::from_ns(seconds * 1_000_000_000),
            tier: Tier::T1,
            stats: None,
        };
        all.into_iter().map(holder).collect()
    }

    /// Candidates whose score is a number of their holder's alone.
    fn scored_by(holders: &Holders, score: impl Fn(&Holder) -> f32) -> Vec<Candidate> {
        let candidate = |holder: &Holder| Candidate {
            member: holder.member,
            blocks: holder.blocks,
            matched_tokens: holder.matched_tokens,
            probability: 1.0,
            decay: holder.last_seen.as_ns() as f32,
            pressure_factor: 1.0,
            slo_bias: 1.0,
            distinguishing_power: 1.0,
            score: score(holder),
            tier: holder.tier,
            filtered_by: None,
            wait: None,
        };
        holders.commons().map(candidate).collect()
    }

    #[test]
    fn one_by_one_ranks_as_by_groups_does() {
        let by_age = |count: u32| held((0..count).map(move |at| (at * 7 % count, 4, i64::from(at))));
        let some_alike = held((0..40).map(|at| (at * 7 % 40, 1 + at % 3 / 2, i64::from(at / 2))));
        let scores: [fn(&Holder) -> f32; 4] = [
            // As where nobody holds more than all others do, but for a few; all apart; in groups; the wrong way round.
            |holder| if holder.member % 9 == 0 { holder.member as f32 } else { 0.0 },
            |holder| 1.0 / (1.0 + holder.last_seen.as_ns() as f32),
            |holder| (holder.member % 5) as f32,
            |holder| holder.last_seen.as_ns() as f32,
        ];
        for holders in [by_age(1), by_age(2), by_age(64), by_age(65), some_alike] {
            for score in scores {
                let scored = scored_by(&holders, score);
                for places in [holders.len(), 5 * holders.len(), 32 * holders.len()] {
                    let ranked =
                        one_by_one(&holders, &scored, places).map(|all| all.iter().collect::<Vec<_>>());
                    assert_eq!(
                        ranked,
                        Some(by_groups(&holders, &scored).iter().collect()),
                        "{places} places"
                    );
                }
                assert!(one_by_one(&holders, &scored, 32 * holders.len() + 1).is_none());
            }
        }
        // Whoever stands beyond the roster, or twice, is left to the other way.
        for odd in [held([(0, 1, 1), (2, 1, 2)]), held([(1, 1, 1), (1, 1, 2)])] {
            assert!(one_by_one(&odd, &scored_by(&odd, |_| 1.0), 2).is_none());
        }
    }

    #[test]
    fn a_list_is_sorted_however_it_stands() {
        for step in [1, 3, 37, 63, 64] {
            let mut keys: Vec<u64> = (0..65).map(|at| at * step % 65).collect();
            sort_nearly_sorted(&mut keys);
            assert_eq!(keys, (0..65).collect::<Vec<_>>(), "steps of {step}");
        }
    }

    #[test]
    fn the_number_of_a_score_sorts_as_scores_do() {
        let scores = [
            f32::NAN,
            f32::INFINITY,
            f32::MAX,
            2.0,
            1.0,
            0.5,
            f32::MIN_POSITIVE,
            1e-45,
            0.0,
            -0.0,
            -1e-45,
            -1.0,
            f32::MIN,
            f32::NEG_INFINITY,
            -f32::NAN,
        ];
        for (a, b) in scores.iter().flat_map(|a| scores.iter().map(move |b| (a, b))) {
            assert_eq!(descending(*a).cmp(&descending(*b)), b.total_cmp(a), "{a} {b}");
        }
    }
}
