//! `GET /snapshot`: the replicas and tenants in the shape that existing controllers decode.

use serde::Serialize;

use super::policies::rfc3339;
use crate::index::{ReplicaRow, Snapshot, TenantRow};
use crate::model::Timestamp;

/// The zero of the clock that controllers decode times with.
const NEVER: &str = "0001-01-01T00:00:00Z";

/// The whole answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SnapshotView {
    replicas: Vec<ReplicaView>,
    tenants: Vec<TenantView>,
    total_prefixes: u64,
    hot_prefixes: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReplicaView {
    replica_id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    tenant: String,
    cache_memory_bytes: i64,
    hit_rate: f32,
    pressure: f32,
    /// When it was last heard of.
    last_update: String,
    prefix_count: u64,
    last_event_at: String,
    #[serde(skip_serializing_if = "is_false")]
    stats_reported: bool,
    #[serde(skip_serializing_if = "is_zero")]
    t2_hit_tokens: i64,
    #[serde(skip_serializing_if = "is_zero")]
    t2_query_tokens: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TenantView {
    tenant_id: String,
    index_entries: u64,
    hit_rate: f64,
    #[serde(skip_serializing_if = "is_false")]
    hit_rate_reported: bool,
    /// Not told apart by tenant.
    memory_used: u64,
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
