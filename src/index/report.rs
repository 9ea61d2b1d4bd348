//! What the index says of itself: the state of a (tenant, model), gauges, and the facts an explanation adds.

use std::collections::BTreeMap;

use super::Index;
use super::state::State;
use crate::model::{ModelId, PROBE_TENANT, TenantId};

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

impl Index {
    /// Replicas and summary of what `tenant` and `model` admit; an empty name admits all, the reserved tenant nothing.
    pub fn cache_state(&self, tenant: &str, model: &str) -> CacheState {
        let mut found = CacheState::default();
        if tenant == PROBE_TENANT {
            return found;
        }
        let state = self.state.read();
        for scope in scopes(&state, tenant, model) {
            let scope = &state.scopes[scope];
            found.total_prefixes += scope.keys;
            found.hot_prefixes += scope.hot.count(state.epoch);
            for (replica, member) in &scope.members {
                let Some(stats) = &state.members[*member].stats else { continue };
                found.replicas.push(ReplicaState {
                    replica: replica.as_str().to_owned(),
                    cache_memory_bytes: stats.cache_memory_bytes,
                    hit_rate: stats.seen.hit_rate,
                    pressure: stats.seen.pressure,
                    client_version: stats.client_version.as_ref().to_owned(),
                    t2_hit_tokens: stats.t2_hit_tokens,
                    t2_query_tokens: stats.t2_query_tokens,
                });
            }
        }
        found.replicas.sort_by(|a, b| a.replica.cmp(&b.replica));
        found
    }

    /// Sizes at this instant.
    pub fn gauges(&self) -> IndexGauges {
        let state = self.state.read();
        let mut gauges = IndexGauges {
            entries: state.entries.len() as u64,
            memory_bytes: state.memory_bytes(),
            ..IndexGauges::default()
        };
        for scope in scopes(&state, "", "") {
            let scope = &state.scopes[scope];
            let Some(model) = &scope.model else { continue };
            let serving = scope.members.values().filter(|member| state.members[**member].entries > 0).count();
            *gauges.keys_by_model.entry(model.as_str().to_owned()).or_default() += scope.keys;
            *gauges.replicas_by_model.entry(model.as_str().to_owned()).or_default() += serving as u64;
        }
        gauges
    }

    /// Replica entries held.
    pub fn entries(&self) -> u64 {
        self.state.read().entries.len() as u64
    }

    /// What an explanation of a lookup under these keys can add.
    pub fn facts(&self, tenant: &str, model: &str, scheme: &str) -> DomainFacts {
        let state = self.state.read();
        let mut facts = DomainFacts::default();
        let with_entries = state.tenant_by_id.iter().filter(|(_, at)| state.tenants[**at].entries > 0);
        facts.tenants = listed(with_entries.map(|(id, _)| id.as_str()));
        let Some(tenant) = state.tenant_by_id.get(tenant) else { return facts };
        let scopes = &state.tenants[*tenant].scopes;
        let with_entries = scopes.iter().filter(|(_, at)| state.scopes[**at].entries > 0);
        facts.models = listed(with_entries.map(|(id, _)| id.as_str()));
        let Some(scope) = scopes.get(model) else { return facts };
        let domains = &state.scopes[*scope].domains;
        facts.schemes = listed(domains.keys().map(|id| id.as_str()));
        let Some(domain) = domains.get(scheme) else { return facts };
        let domain = &state.domains[*domain];
        facts.keys = domain.keys;
        facts.replicas = domain.roster.len() as u64;
        facts.adapters = listed(domain.partitions.keys().map(|id| id.as_str()).filter(|id| !id.is_empty()));
        facts
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = names.take(NAMES).map(str::to_owned).collect();
    names.sort_unstable();
    names
}

/// Scopes that `tenant` and `model` admit, by tenant and model; an empty name admits all.
fn scopes(state: &State, tenant: &str, model: &str) -> Vec<u32> {
    let mut tenants: Vec<(&TenantId, &u32)> = if tenant.is_empty() {
        state.tenant_by_id.iter().collect()
    } else {
        state.tenant_by_id.get_key_value(tenant).into_iter().collect()
    };
    tenants.sort_unstable();
    let mut found = Vec::new();
    for (_, tenant) in tenants {
        let scopes = &state.tenants[*tenant].scopes;
        if model.is_empty() {
            let mut all: Vec<(&ModelId, &u32)> = scopes.iter().collect();
            all.sort_unstable();
            found.extend(all.into_iter().map(|(_, scope)| *scope));
        } else {
            found.extend(scopes.get(model));
        }
    }
    found
}
