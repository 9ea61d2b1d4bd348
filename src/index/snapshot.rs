//! The replicas and tenants of the index, for controllers that poll it.

use std::collections::BTreeMap;

use super::Index;
use super::state::State;
use crate::model::{PROBE_TENANT, Timestamp};

/// What controllers are told; parts may be some milliseconds apart.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Snapshot {
    /// By replica, then tenant. One replica of several models of a tenant is one row.
    pub replicas: Vec<ReplicaRow>,
    /// Tenants with entries or with replicas, by id.
    pub tenants: Vec<TenantRow>,
    /// Distinct keys.
    pub total_prefixes: u64,
    /// Distinct keys with a delivered hit since the last sweep but one.
    pub hot_prefixes: u64,
}

/// One replica of one tenant.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplicaRow {
    /// Who.
    pub replica: String,
    /// Whose.
    pub tenant: String,
    /// Keys that it holds.
    pub prefixes: u64,
    /// When it was last heard of.
    pub heard: Timestamp,
    /// When its last event came.
    pub last_event: Option<Timestamp>,
    /// Its statistics; of several models, those reported last.
    pub stats: Option<RowStats>,
}

/// Statistics of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RowStats {
    /// When they were reported.
    pub reported_at: Timestamp,
    /// Bytes of KV cache.
    pub cache_memory_bytes: i64,
    /// 0..1.
    pub hit_rate: f32,
    /// 0..1.
    pub pressure: f32,
    /// Tokens found in tier 2.
    pub t2_hit_tokens: i64,
    /// Tokens asked of tier 2.
    pub t2_query_tokens: i64,
}

/// One tenant.
#[derive(Clone, PartialEq, Debug)]
pub struct TenantRow {
    /// Who.
    pub tenant: String,
    /// Distinct keys.
    pub keys: u64,
    /// Mean hit rate of its replicas that report statistics; none where none does.
    pub hit_rate: Option<f64>,
}

impl Index {
    /// Every replica and tenant, the reserved tenant left out.
    pub fn snapshot(&self) -> Snapshot {
        let mut rows: BTreeMap<(String, String), ReplicaRow> = BTreeMap::new();
        self.each_slot(
            |state| state.members.slots(),
            |state, at| {
                if let Some(row) = row(state, at) {
                    let key = (row.replica.clone(), row.tenant.clone());
                    match rows.get_mut(&key) {
                        Some(held) => held.join(row),
                        None => drop(rows.insert(key, row)),
                    }
                }
            },
        );
        let mut tenants: BTreeMap<String, u64> = BTreeMap::new();
        self.each_slot(
            |state| state.tenants.slots(),
            |state, at| {
                let Some(held) = state.tenants.get(at) else { return };
                if let Some(id) = held.id.as_ref().filter(|id| held.keys > 0 && id.as_str() != PROBE_TENANT) {
                    tenants.insert(id.as_str().to_owned(), held.keys);
                }
            },
        );
        for row in rows.values().filter(|row| !tenants.contains_key(&row.tenant)).collect::<Vec<_>>() {
            tenants.insert(row.tenant.clone(), 0);
        }
        let rates = hit_rates(rows.values());
        let tenants = tenants.into_iter().map(|(tenant, keys)| {
            let hit_rate = rates.get(&tenant).copied();
            TenantRow { tenant, keys, hit_rate }
        });
        let state = self.cache_state("", "");
        Snapshot {
            tenants: tenants.collect(),
            replicas: rows.into_values().collect(),
            total_prefixes: state.total_prefixes,
            hot_prefixes: state.hot_prefixes,
        }
    }
}

impl ReplicaRow {
    /// The same replica in another model.
    fn join(&mut self, other: Self) {
        self.prefixes += other.prefixes;
        self.heard = self.heard.max(other.heard);
        self.last_event = self.last_event.max(other.last_event);
        let is_newer = |other: &RowStats| self.stats.is_none_or(|own| own.reported_at < other.reported_at);
        if other.stats.as_ref().is_some_and(is_newer) {
            self.stats = other.stats;
        }
    }
}

fn row(state: &State, at: u32) -> Option<ReplicaRow> {
    let member = state.members.get(at)?;
    let replica = member.replica.as_ref()?;
    let tenant = state.tenants[state.scopes[member.scope].tenant].id.as_ref()?;
    let stats = member.stats.as_ref().map(|stats| RowStats {
        reported_at: stats.seen.reported_at,
        cache_memory_bytes: stats.cache_memory_bytes,
        hit_rate: stats.seen.hit_rate,
        pressure: stats.seen.pressure,
        t2_hit_tokens: stats.t2_hit_tokens,
        t2_query_tokens: stats.t2_query_tokens,
    });
    (tenant.as_str() != PROBE_TENANT).then(|| ReplicaRow {
        replica: replica.as_str().to_owned(),
        tenant: tenant.as_str().to_owned(),
        prefixes: member.entries,
        heard: member.heard,
        last_event: member.last_event,
        stats,
    })
}

/// The mean over the replicas that report.
fn hit_rates<'a>(rows: impl Iterator<Item = &'a ReplicaRow>) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for row in rows {
        if let Some(stats) = &row.stats {
            let (sum, count) = sums.entry(row.tenant.clone()).or_default();
            *sum += f64::from(stats.hit_rate);
            *count += 1.0;
        }
    }
    sums.into_iter().map(|(tenant, (sum, count))| (tenant, sum / count)).collect()
}
