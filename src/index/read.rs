//! One read for one lookup.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Index;
use super::group::Hold;
use super::names::Domain;
use super::segment::{place_of, slots_of};
use super::state::State;
use crate::decision::{ChainCounts, Evidence, Holder, Holders, Input, Query, Warm};
use crate::model::{Tier, Timestamp};

impl Index {
    /// What the index knows of `query`, at one instant.
    pub fn read(&self, query: &Query<'_>) -> Evidence {
        self.read_state().evidence(query)
    }
}

impl State {
    pub(super) fn evidence(&self, query: &Query<'_>) -> Evidence {
        let (state, index_is_empty) = (self, self.entries == 0);
        let nothing = |tenant_is_known, model_is_known| Evidence {
            index_is_empty,
            tenant_is_known,
            model_is_known,
            ..Evidence::default()
        };
        let Some(tenant) = state.tenant_by_id.get(query.tenant) else { return nothing(false, false) };
        let tenant = &state.tenants[*tenant];
        let tenant_is_known = tenant.entries > 0;
        let Some(scope) = tenant.scopes.get(query.model) else { return nothing(tenant_is_known, false) };
        let scope = &state.scopes[*scope];
        let model_is_known = scope.entries > 0;
        let Some(domain) = scope.domains.get(query.scheme) else {
            return nothing(tenant_is_known, model_is_known);
        };
        let domain = &state.domains[*domain];
        let known = Evidence::of(Arc::clone(&domain.roster));
        let mut evidence = Evidence { index_is_empty, tenant_is_known, model_is_known, ..known };
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

fn holders(state: &State, domain: &Domain, partition: u32, query: &Query<'_>) -> Holders {
    let scope = &state.scopes[domain.scope];
    let (has_stats, is_clearing) = (scope.has_stats, scope.clearing > 0);
    let (now, ttl_ns) = (query.now, query.ttl_ns);
    let view = View { state, domain, partition, has_stats, is_clearing, now, ttl_ns };
    match query.input {
        Input::Chain { hashes, counts } => view.chain(hashes.list(), *counts),
        Input::Exact(hash) => view.exact(hash.as_bytes()),
        Input::Nothing => Holders::default(),
    }
}

/// What one member holds of the request, so far.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) member: u32,
    pub(super) place: u32,
    pub(super) tier: Tier,
    pub(super) last_seen_ns: i64,
}

pub(super) type Runs = SmallVec<[Run; 8]>;

/// What a lookup sees of one partition.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) state: &'a State,
    pub(super) domain: &'a Domain,
    pub(super) partition: u32,
    /// Whether any member ever reported statistics.
    pub(super) has_stats: bool,
    /// Whether some member was cleared and still has entries.
    pub(super) is_clearing: bool,
    now: Timestamp,
    ttl_ns: i64,
}

impl View<'_> {
    pub(super) fn is_fresh(&self, at_ns: i64) -> bool {
        Timestamp::from_ns(at_ns).age_ns(self.now) < self.ttl_ns
    }

    /// Slots of a group that are fresh.
    pub(super) fn fresh(&self, segment: u32, at: usize) -> u64 {
        self.state.slots_where(segment, at, u64::MAX, |at_ns| self.is_fresh(at_ns))
    }

    /// The members that hold `slot` fresh, by member; one that was cleared does not stand for what it held.
    pub(super) fn starters(&self, segment: u32, slot: u32) -> Runs {
        let held = &self.state.segments[segment];
        let mut places = self.domain.places.iter();
        let mut place = places.next();
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
            while place.is_some_and(|place| place.member < hold.owner()) {
                place = places.next();
            }
            if let Some(place) = place.filter(|place| place.member == hold.owner()) {
                let (member, place) = (place.member, place.place);
                runs.push(Run { member, place, tier: Tier::T1, last_seen_ns: i64::MAX });
            }
        }
        runs
    }

    pub(super) fn holder(&self, run: &Run, blocks: u32, matched_tokens: i32) -> Holder {
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

    fn exact(&self, hash: &[u8]) -> Holders {
        let Some(key) = self.state.find_key(self.partition, hash) else { return Holders::default() };
        let (segment, slot) = place_of(key);
        let held = &self.state.segments[segment];
        let mut holders = Holders::default();
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
}

/// The slots of `mask` whose blocks, from block `at` in `slot` on, count for something.
pub(super) fn with_tokens(mask: u64, counts: ChainCounts<'_>, at: usize, slot: u32) -> u64 {
    if let ChainCounts::Uniform(count) = counts {
        return if count > 0 { mask } else { 0 };
    }
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
