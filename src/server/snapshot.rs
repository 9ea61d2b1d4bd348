//! `GET /snapshot`: the replicas and tenants in the shape that existing controllers decode.

use serde::{Deserialize, Serialize};

use super::policies::rfc3339;
use crate::index::{ReplicaRow, Snapshot, TenantRow};
use crate::model::Timestamp;

/// The zero of the clock that controllers decode times with.
const NEVER: &str = "0001-01-01T00:00:00Z";

/// The whole answer.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotView {
    /// By id, then tenant.
    pub replicas: Vec<ReplicaView>,
    /// By id.
    pub tenants: Vec<TenantView>,
    /// Distinct keys.
    pub total_prefixes: u64,
    /// Of these, the keys with a delivered hit since the last sweep but one.
    pub hot_prefixes: u64,
}

/// One replica of one tenant.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaView {
    /// Who.
    pub replica_id: String,
    /// Whose.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// Bytes of its cache.
    pub cache_memory_bytes: i64,
    /// 0..1; 0 where it has reported no statistics.
    pub hit_rate: f32,
    /// Share of its cache in use, 0..1.
    pub pressure: f32,
    /// When it was last heard of.
    pub last_update: String,
    /// Keys that it holds.
    pub prefix_count: u64,
    /// When its last event came, in RFC 3339; the year 1 where none has.
    pub last_event_at: String,
    /// Whether it has reported statistics.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stats_reported: bool,
    /// A running total.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub t2_hit_tokens: i64,
    /// A running total.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub t2_query_tokens: i64,
}

/// One tenant.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantView {
    /// Which.
    pub tenant_id: String,
    /// Distinct keys.
    pub index_entries: u64,
    /// 0..1.
    pub hit_rate: f64,
    /// Whether any of its replicas has reported statistics.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hit_rate_reported: bool,
    /// Not told apart by tenant.
    pub memory_used: u64,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &i64) -> bool {
    *value == 0
}

/// The answer for what the index tells.
pub(super) fn view(snapshot: &Snapshot) -> SnapshotView {
    SnapshotView {
        replicas: snapshot.replicas.iter().map(replica).collect(),
        tenants: snapshot.tenants.iter().map(tenant).collect(),
        total_prefixes: snapshot.total_prefixes,
        hot_prefixes: snapshot.hot_prefixes,
    }
}

fn replica(row: &ReplicaRow) -> ReplicaView {
    let stats = row.stats.as_ref();
    ReplicaView {
        replica_id: row.replica.clone(),
        tenant: row.tenant.clone(),
        cache_memory_bytes: stats.map_or(0, |stats| stats.cache_memory_bytes),
        hit_rate: stats.map_or(0.0, |stats| stats.hit_rate),
        pressure: stats.map_or(0.0, |stats| stats.pressure),
        last_update: time(Some(row.heard)),
        prefix_count: row.prefixes,
        last_event_at: time(row.last_event),
        stats_reported: stats.is_some(),
        t2_hit_tokens: stats.map_or(0, |stats| stats.t2_hit_tokens),
        t2_query_tokens: stats.map_or(0, |stats| stats.t2_query_tokens),
    }
}

fn tenant(row: &TenantRow) -> TenantView {
    TenantView {
        tenant_id: row.tenant.clone(),
        index_entries: row.keys,
        hit_rate: row.hit_rate.unwrap_or(0.0),
        hit_rate_reported: row.hit_rate.is_some(),
        memory_used: 0,
    }
}

fn time(at: Option<Timestamp>) -> String {
    at.filter(|at| *at != Timestamp::MIN).map_or_else(|| NEVER.to_owned(), rfc3339)
}
