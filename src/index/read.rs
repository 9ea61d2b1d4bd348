//! One read for one lookup.

use std::sync::Arc;

use super::Index;
use super::group::Hold;
use super::names::Domain;
use super::segment::{place_of, slots_of, span};
use super::state::State;
use crate::decision::{ChainCounts, Evidence, Holder, Input, Query, Warm};
use crate::model::{HashList, Tier, Timestamp};

impl Index {
    /// What the index knows of `query`, at one instant.
    pub fn read(&self, query: &Query<'_>) -> Evidence {
        self.read_state().evidence(query)
    }
}

impl State {
    pub(super) fn evidence(&self, query: &Query<'_>) -> Evidence {
        let state = self;
        let mut evidence = Evidence { index_is_empty: state.entries == 0, ..Evidence::default() };
        let Some(tenant) = state.tenant_by_id.get(query.tenant) else { return evidence };
        let tenant = &state.tenants[*tenant];
        evidence.tenant_is_known = tenant.entries > 0;
        let Some(scope) = tenant.scopes.get(query.model) else { return evidence };
        let scope = &state.scopes[*scope];
        evidence.model_is_known = scope.entries > 0;
        let Some(domain) = scope.domains.get(query.scheme) else { return evidence };
        let domain = &state.domains[*domain];
        evidence.roster = Arc::clone(&domain.roster);
        if let Some(partition) = domain.partitions.get(query.adapter) {
            evidence.holders = holders(state, domain, *partition, query);
        }
        if query.wants_warm && evidence.holders.is_empty() {
            evidence.warm = warm(state, domain);
        }
        if query.wants_heard {
            evidence.heard = domain.by_place.iter().map(|member| state.members[*member].heard).collect();
        }
        evidence
    }
}

fn holders(state: &State, domain: &Domain, partition: u32, query: &Query<'_>) -> Vec<Holder> {
    let scope = &state.scopes[domain.scope];
    let (has_stats, is_clearing) = (scope.has_stats, scope.clearing > 0);
    let (now, ttl_ns) = (query.now, query.ttl_ns);
    let view = View { state, domain, partition, has_stats, is_clearing, now, ttl_ns };
    match query.input {
        Input::Chain { hashes, counts } => view.chain(hashes.list(), *counts),
        Input::Exact(hash) => view.exact(hash.as_bytes()),
        Input::Nothing => Vec::new(),
    }
}

/// What one member holds of the request, so far.
#[derive(Clone, Copy)]
struct Run {
    member: u32,
    place: u32,
    tier: Tier,
    last_seen_ns: i64,
}

type Runs = Vec<Run>;

/// What a lookup sees of one partition.
#[derive(Clone, Copy)]
struct View<'a> {
    state: &'a State,
    domain: &'a Domain,
    partition: u32,
    /// Whether any member ever reported statistics.
    has_stats: bool,
    /// Whether some member was cleared and still has entries.
    is_clearing: bool,
    now: Timestamp,
    ttl_ns: i64,
}

impl View<'_> {
    fn is_fresh(&self, at_ns: i64) -> bool {
        Timestamp::from_ns(at_ns).age_ns(self.now) < self.ttl_ns
    }

    /// Slots of a group that are fresh.
    fn fresh(&self, segment: u32, at: usize) -> u64 {
        self.state.slots_where(segment, at, u64::MAX, |at_ns| self.is_fresh(at_ns))
    }

    /// The members that hold `slot` fresh, by member; one that was cleared does not stand for what it held.
    fn starters(&self, segment: u32, slot: u32) -> Runs {
        let held = &self.state.segments[segment];
        let mut places = self.domain.places.iter();
        let mut seat = places.next();
        let mut runs = Runs::with_capacity(held.held().len());
        for (at, hold) in held.held().iter().enumerate() {
            let hold = Hold(*hold);
            if hold.mask() >> slot & 1 == 0 {
                continue;
            }
            let is_fresh = match hold.is_varied() {
                false => self.is_fresh(hold.at_ns()),
                true => self.fresh(segment, at) >> slot & 1 == 1,
            };
            let is_gone = self.is_clearing && self.state.members[hold.owner()].replica.is_none();
            if !is_fresh || is_gone {
                continue;
            }
            while seat.is_some_and(|(member, _)| *member < hold.owner()) {
                seat = places.next();
            }
            if let Some((member, place)) = seat.filter(|(member, _)| *member == hold.owner()) {
                runs.push(Run { member: *member, place: *place, tier: Tier::T1, last_seen_ns: i64::MAX });
            }
        }
        runs
    }

    fn holder(&self, run: &Run, blocks: u32, matched_tokens: i32) -> Holder {
        Holder {
            member: run.place,
            blocks,
            matched_tokens,
            last_seen: Timestamp::from_ns(run.last_seen_ns),
            tier: run.tier,
            stats: match self.has_stats {
                true => self.state.members[run.member].stats.as_ref().map(|stats| stats.seen),
                false => None,
            },
        }
    }

    fn exact(&self, hash: &[u8]) -> Vec<Holder> {
        let Some(key) = self.state.find_key(self.partition, hash) else { return Vec::new() };
        let (segment, slot) = place_of(key);
        let held = &self.state.segments[segment];
        let mut holders = Vec::new();
        for mut run in self.starters(segment, slot) {
            let mut of_owner = held.of_owner(run.member);
            let Some(at) = of_owner.find(|at| held.hold(*at).mask() >> slot & 1 == 1) else { continue };
            let (hold, group) = (held.hold(at), &self.state.groups[held.ids[at]]);
            (run.tier, run.last_seen_ns) = (hold.tier(), group.at_ns(hold, slot));
            let tokens = group.tokens_of(slot);
            if tokens > 0 {
                holders.push(self.holder(&run, 0, tokens));
            }
        }
        holders
    }

    /// The longest leading run of each holder of block 0.
    fn chain(&self, hashes: HashList<'_>, counts: ChainCounts<'_>) -> Vec<Holder> {
        let mut walk = Walk { holders: Vec::new(), live: Runs::new(), counts, summed: (0, 0), calm: None };
        let (mut at, mut guess) = (0, u32::MAX);
        while at < hashes.len() {
            let hash = hashes.get(at);
            let key = match self.state.is_key(guess, self.partition, hash) {
                true => Some(guess),
                false => self.state.find_key(self.partition, hash),
            };
            let Some(key) = key else { break };
            let (segment, slot) = place_of(key);
            if at == 0 {
                walk.live = self.starters(segment, slot);
                walk.holders.reserve_exact(walk.live.len());
            }
            let count = self.state.segments[segment].run(slot, hashes, at);
            self.pass(&mut walk, segment, slot, count, at);
            if walk.live.is_empty() {
                return walk.holders;
            }
            at += count as usize;
            let last = key + count - 1;
            guess = self.state.guess_after(last);
            if guess == last + 1 {
                // The run ended at a hash that differs, so that the next slot is none to try.
                guess = u32::MAX;
            }
        }
        for run in std::mem::take(&mut walk.live) {
            self.finish(&mut walk, &run, at);
        }
        walk.holders
    }

    /// Takes `count` blocks from block `at` on, which lie in `segment` from `slot` on. The live runs and the groups are
    /// both sorted by member, so that this is one merge; a member that drops out is finished and cannot come back.
    fn pass(&self, walk: &mut Walk<'_>, segment: u32, slot: u32, count: u32, at: usize) {
        let segment_held = &self.state.segments[segment];
        let held = segment_held.held();
        let span = span(slot, count);
        if let Some(calm) = &walk.calm
            && span & !calm.mask == 0
            && self.state.segments[calm.segment].held() == held
        {
            return;
        }
        let mut live = std::mem::take(&mut walk.live);
        let (mut next, mut common, mut is_calm) = (0, u64::MAX, true);
        live.retain_mut(|run| {
            while held.get(next).is_some_and(|hold| Hold(*hold).owner() < run.member) {
                next += 1;
            }
            let mut of_member = held[next.min(held.len())..]
                .iter()
                .map(|hold| Hold(*hold))
                .take_while(|hold| hold.owner() == run.member);
            let holds_all = |hold: &Hold| !hold.is_varied() && span & !hold.mask() == 0;
            // Mostly one group has it all.
            if let Some(hold) = of_member.find(holds_all)
                && self.is_fresh(hold.at_ns())
            {
                run.last_seen_ns = run.last_seen_ns.min(hold.at_ns());
                run.tier = run.tier.max(hold.tier());
                common &= hold.mask();
                return true;
            }
            is_calm = false;
            if held.get(next).is_none_or(|hold| Hold(*hold).owner() != run.member) {
                self.finish(walk, run, at);
                return false;
            }
            let blocks = self.pass_slowly(run, segment, next, slot, count);
            if blocks < count {
                self.finish(walk, run, at + blocks as usize);
            }
            blocks == count
        });
        walk.live = live;
        walk.calm = is_calm.then_some(Calm { segment, mask: common });
    }

    /// How many of `count` slots the member of `run` holds from `slot` on; its groups begin at `from`.
    fn pass_slowly(&self, run: &mut Run, segment: u32, from: usize, slot: u32, count: u32) -> u32 {
        let held = &self.state.segments[segment];
        let of_member = held.held()[from..].iter().take_while(|hold| Hold(**hold).owner() == run.member);
        let of_member = from..from + of_member.count();
        let fresh = of_member.clone().fold(0, |mask, at| mask | self.fresh(segment, at));
        let blocks = (fresh >> slot).trailing_ones().min(count);
        if blocks == 0 {
            return 0;
        }
        for at in of_member {
            let hold = held.hold(at);
            let part = hold.mask() & span(slot, blocks);
            if part == 0 {
                continue;
            }
            // Times never fall from slot to slot.
            let oldest = self.state.groups[held.ids[at]].at_ns(hold, part.trailing_zeros());
            run.last_seen_ns = run.last_seen_ns.min(oldest);
            run.tier = run.tier.max(hold.tier());
        }
        blocks
    }

    fn finish(&self, walk: &mut Walk<'_>, run: &Run, blocks: usize) {
        let tokens = walk.tokens(blocks);
        if tokens > 0 {
            walk.holders.push(self.holder(run, blocks as u32, tokens));
        }
    }
}

/// A lookup of a chain under way.
struct Walk<'a> {
    holders: Vec<Holder>,
    /// By member.
    live: Runs,
    counts: ChainCounts<'a>,
    /// Blocks that were summed last, and their tokens.
    summed: (usize, i32),
    calm: Option<Calm>,
}

/// The segment passed last, where each live run holds the slots of `mask` at least in one group of one time: where the
/// next one has the same groups, nothing changes.
struct Calm {
    segment: u32,
    mask: u64,
}

impl Walk<'_> {
    fn tokens(&mut self, blocks: usize) -> i32 {
        if self.summed.0 != blocks {
            self.summed = (blocks, self.counts.sum(blocks));
        }
        self.summed.1
    }
}

/// The slots of `mask` whose blocks, from block `at` in `slot` on, count for something.
pub(super) fn with_tokens(mask: u64, counts: ChainCounts<'_>, at: usize, slot: u32) -> u64 {
    let counting = slots_of(mask).filter(|held| counts.get(at + (held - slot) as usize) > 0);
    counting.fold(0, |mask, slot| mask | 1 << slot)
}

fn warm(state: &State, domain: &Domain) -> Vec<Warm> {
    domain
        .by_place
        .iter()
        .zip(0..)
        .filter_map(|(member, place)| {
            let stats = state.members[*member].stats.as_ref()?;
            Some(Warm { member: place, stats: stats.seen })
        })
        .collect()
}
