//! What the index says of itself: the state of a (tenant, model), gauges, and the facts an explanation adds.

use std::collections::{BTreeMap, BTreeSet};

use super::Index;
use super::names::Stats;
use super::state::State;
use crate::model::{PROBE_TENANT, ReplicaId, Timestamp};

/// State of the replicas of one (tenant, model), or of all that a filter admits.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CacheState {
    /// Replicas that reported statistics, by id; of one id in several scopes, by tenant and model.
    pub replicas: Vec<ReplicaState>,
    /// Distinct keys.
    pub total_prefixes: u64,
    /// Distinct keys with a delivered hit since the last sweep but one.
    pub hot_prefixes: u64,
}

impl CacheState {
    /// The parts as one.
    pub fn joined(parts: impl IntoIterator<Item = CacheState>) -> Self {
        let mut all = Self::default();
        for part in parts {
            all.replicas.extend(part.replicas);
            all.total_prefixes += part.total_prefixes;
            all.hot_prefixes += part.hot_prefixes;
        }
        all.replicas.sort_by(|a, b| a.replica.cmp(&b.replica));
        all
    }
}

/// One replica's statistics, as the index keeps them.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplicaState {
    /// Who.
    pub replica: String,
    /// Bytes of KV cache.
    pub cache_memory_bytes: i64,
    /// 0..1.
    pub hit_rate: f32,
    /// 0..1.
    pub pressure: f32,
    /// Version of the reporting client.
    pub client_version: String,
    /// Tokens found in tier 2.
    pub t2_hit_tokens: i64,
    /// Tokens asked of tier 2.
    pub t2_query_tokens: i64,
}

/// Sizes for the metrics.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct IndexGauges {
    /// Distinct keys by model, over all tenants.
    pub keys_by_model: BTreeMap<String, u64>,
    /// Replicas with entries by model, over all tenants and schemes.
    pub replicas_by_model: BTreeMap<String, u64>,
    /// Replica entries.
    pub entries: u64,
    /// Bytes, by the index's own count.
    pub memory_bytes: u64,
}

/// Facts around one lookup that help to see why it found nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DomainFacts {
    /// Distinct keys in (tenant, model, scheme), over all adapters.
    pub keys: u64,
    /// Replicas with entries in it.
    pub replicas: u64,
    /// Known tenants.
    pub tenants: Vec<String>,
    /// Models of the tenant.
    pub models: Vec<String>,
    /// Hash schemes of (tenant, model).
    pub schemes: Vec<String>,
    /// Adapters of (tenant, model, scheme), the base model left out.
    pub adapters: Vec<String>,
}

/// Names that one fact lists at most.
const NAMES: usize = 10_000;

/// Positions that one read looks at, so that no lookup waits long behind it.
const SLOTS_PER_READ: u32 = 256;

impl Index {
    /// Replicas and summary of what `tenant` and `model` admit; an empty name admits all, the reserved tenant nothing.
    /// Parts may be some milliseconds apart.
    pub fn cache_state(&self, tenant: &str, model: &str) -> CacheState {
        let mut found = CacheState::default();
        if tenant == PROBE_TENANT {
            return found;
        }
        self.each_slot(
            |state| state.scopes.slots(),
            |state, at| {
                if admits(state, at, tenant, model) {
                    found.total_prefixes += state.scopes[at].keys;
                    found.hot_prefixes += state.scopes[at].hot.count(state.epoch);
                }
            },
        );
        let mut replicas = Vec::new();
        self.each_slot(
            |state| state.members.slots(),
            |state, at| {
                let Some(member) = state.members.get(at) else { return };
                let (Some(replica), Some(stats)) = (&member.replica, &member.stats) else { return };
                if admits(state, member.scope, tenant, model) {
                    replicas.push(replica_state(replica.as_str(), stats));
                }
            },
        );
        replicas.sort_by(|a, b| a.replica.cmp(&b.replica));
        CacheState { replicas, ..found }
    }

    /// Sizes; those of different models may be some milliseconds apart.
    pub fn gauges(&self) -> IndexGauges {
        let mut gauges = IndexGauges::default();
        self.each_slot(
            |state| state.scopes.slots(),
            |state, at| {
                let Some(scope) = state.scopes.get(at) else { return };
                let Some(model) = &scope.model else { return };
                *gauges.keys_by_model.entry(model.as_str().to_owned()).or_default() += scope.keys;
                *gauges.replicas_by_model.entry(model.as_str().to_owned()).or_default() += scope.serving;
            },
        );
        let state = self.read_state();
        IndexGauges { entries: state.entries, memory_bytes: state.memory_bytes(), ..gauges }
    }

    /// Replicas with entries that have not been heard of for longer than `after_ns`, by model, over all tenants. A
    /// model of which all have been heard of in time is not among them.
    pub fn silent_replicas(&self, now: Timestamp, after_ns: i64) -> BTreeMap<String, u64> {
        let mut silent = BTreeMap::new();
        self.each_slot(
            |state| state.members.slots(),
            |state, at| {
                let Some(member) = state.members.get(at) else { return };
                let is_silent = member.entries > 0 && member.heard.age_ns(now) > after_ns;
                let (Some(_), true) = (&member.replica, is_silent) else { return };
                let Some(model) = &state.scopes[member.scope].model else { return };
                *silent.entry(model.as_str().to_owned()).or_default() += 1;
            },
        );
        silent
    }

    /// Replicas heard of within `within_ns`, with entries or without, by model, over all tenants.
    pub fn live_replicas(&self, now: Timestamp, within_ns: i64) -> BTreeMap<String, BTreeSet<ReplicaId>> {
        let mut live: BTreeMap<String, BTreeSet<ReplicaId>> = BTreeMap::new();
        self.each_slot(
            |state| state.members.slots(),
            |state, at| {
                let Some(member) = state.members.get(at) else { return };
                let (Some(replica), true) = (&member.replica, member.heard.age_ns(now) <= within_ns) else {
                    return;
                };
                let Some(model) = &state.scopes[member.scope].model else { return };
                let of_model = match live.get_mut(model.as_str()) {
                    Some(of_model) => of_model,
                    None => live.entry(model.as_str().to_owned()).or_default(),
                };
                of_model.insert(replica.clone());
            },
        );
        live
    }

    /// Replica entries held.
    pub fn entries(&self) -> u64 {
        self.read_state().entries
    }

    /// What an explanation of a lookup under these keys can add; parts may be some milliseconds apart.
    pub fn facts(&self, tenant: &str, model: &str, scheme: &str) -> DomainFacts {
        let mut facts = DomainFacts::default();
        self.each_slot(
            |state| state.tenants.slots(),
            |state, at| {
                let Some(held) = state.tenants.get(at) else { return };
                list(&mut facts.tenants, held.id.as_ref().filter(|_| held.entries > 0).map(|id| id.as_str()));
            },
        );
        if tenant.is_empty() {
            return sorted(facts);
        }
        self.each_slot(
            |state| state.scopes.slots(),
            |state, at| {
                let Some(held) = state.scopes.get(at) else { return };
                if held.entries > 0 && admits(state, at, tenant, "") {
                    list(&mut facts.models, held.model.as_ref().map(|id| id.as_str()));
                }
            },
        );
        if model.is_empty() {
            return sorted(facts);
        }
        self.each_slot(
            |state| state.partitions.slots(),
            |state, at| {
                let Some(partition) = state.partitions.get(at) else { return };
                let (Some(adapter), true) = (&partition.adapter, partition.keys > 0) else { return };
                let domain = &state.domains[partition.domain];
                if !admits(state, domain.scope, tenant, model) {
                    return;
                }
                let Some(held) = &domain.scheme else { return };
                list(&mut facts.schemes, Some(held.as_str()));
                if held.as_str() == scheme {
                    list(&mut facts.adapters, Some(adapter.as_str()).filter(|id| !id.is_empty()));
                    facts.keys += partition.keys;
                    facts.replicas = domain.roster.len() as u64;
                }
            },
        );
        sorted(facts)
    }

    /// Looks at all positions of an arena, in short reads.
    pub(super) fn each_slot(&self, slots: impl Fn(&State) -> u32, mut look: impl FnMut(&State, u32)) {
        let mut next = 0;
        loop {
            let state = self.read_state();
            let end = slots(&state);
            if next >= end {
                return;
            }
            let until = end.min(next + SLOTS_PER_READ);
            (next..until).for_each(|at| look(&state, at));
            next = until;
        }
    }
}

fn sorted(mut facts: DomainFacts) -> DomainFacts {
    for names in [&mut facts.tenants, &mut facts.models, &mut facts.schemes, &mut facts.adapters] {
        names.sort_unstable();
        names.dedup();
    }
    facts
}

pub(super) fn replica_state(replica: &str, stats: &Stats) -> ReplicaState {
    ReplicaState {
        replica: replica.to_owned(),
        cache_memory_bytes: stats.cache_memory_bytes,
        hit_rate: stats.seen.hit_rate,
        pressure: stats.seen.pressure,
        client_version: stats.client_version.as_ref().to_owned(),
        t2_hit_tokens: stats.t2_hit_tokens,
        t2_query_tokens: stats.t2_query_tokens,
    }
}

/// Adds a name, unless there are enough or it was the last one added.
fn list(names: &mut Vec<String>, name: Option<&str>) {
    let Some(name) = name else { return };
    if names.len() < NAMES && names.last().is_none_or(|last| last != name) {
        names.push(name.to_owned());
    }
}

/// Whether the scope at `at` is of `tenant` and `model`; an empty name admits all.
fn admits(state: &State, at: u32, tenant: &str, model: &str) -> bool {
    let Some(scope) = state.scopes.get(at) else { return false };
    let Some(held_model) = &scope.model else { return false };
    let held_tenant = state.tenants[scope.tenant].id.as_ref();
    (model.is_empty() || held_model.as_str() == model)
        && (tenant.is_empty() || held_tenant.is_some_and(|id| id.as_str() == tenant))
}
