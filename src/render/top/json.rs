//! A frame as JSON.

use serde::Serialize;

use crate::render::JSON_VERSION;
use crate::top::{LATENCY_SHARES, View};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ViewJson<'a> {
    version: u32,
    url: &'a str,
    server_version: Option<&'a str>,
    lookups: Option<LookupsJson<'a>>,
    index: Option<IndexJson>,
    replicas: Option<Vec<ReplicaJson<'a>>>,
    policies: Option<PoliciesJson<'a>>,
    away: Vec<AwayJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LookupsJson<'a> {
    total: u64,
    hint_share: Option<f64>,
    by_code: Vec<CodeJson<'a>>,
    latency: Vec<LatencyJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeJson<'a> {
    reason_code: &'a str,
    total: u64,
    share: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LatencyJson {
    percentile: &'static str,
    /// Null above the last bucket, which JSON has no number for.
    at_most_seconds: Option<f64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct IndexJson {
    keys: u64,
    entries: u64,
    memory_bytes: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReplicaJson<'a> {
    replica_id: &'a str,
    tenant: &'a str,
    age_seconds: Option<f64>,
    hit_rate: Option<f32>,
    pressure: Option<f32>,
    prefix_count: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PoliciesJson<'a> {
    namespaces: &'a [String],
    inert: usize,
    failed: Option<&'a str>,
}

#[derive(Serialize)]
struct AwayJson<'a> {
    source: &'static str,
    message: &'a str,
}

impl<'a> From<&'a View> for ViewJson<'a> {
    fn from(view: &'a View) -> Self {
        let lookups = view.lookups.as_ref().map(|lookups| LookupsJson {
            total: lookups.total,
            hint_share: lookups.hint_share,
            by_code: lookups
                .by_code
                .iter()
                .map(|row| CodeJson { reason_code: &row.code, total: row.total, share: row.share })
                .collect(),
            latency: LATENCY_SHARES
                .iter()
                .zip(&lookups.latency)
                .map(|((percentile, _), bound)| LatencyJson {
                    percentile,
                    at_most_seconds: Some(*bound).filter(|bound| bound.is_finite()),
                })
                .collect(),
        });
        let replica = |row: &'a crate::top::ReplicaRow| ReplicaJson {
            replica_id: &row.age.replica,
            tenant: &row.age.tenant,
            age_seconds: row.age.age_ns.map(|age| (age / 1_000_000) as f64 / 1e3),
            hit_rate: row.hit_rate,
            pressure: row.pressure,
            prefix_count: row.age.prefixes,
        };
        Self {
            version: JSON_VERSION,
            url: &view.url,
            server_version: view.server_version.as_deref(),
            lookups,
            index: view.index.map(|index| IndexJson {
                keys: index.keys,
                entries: index.entries,
                memory_bytes: index.memory_bytes,
            }),
            replicas: view.replicas.as_ref().map(|rows| rows.iter().map(replica).collect()),
            policies: view.policies.as_ref().map(|policies| PoliciesJson {
                namespaces: &policies.namespaces,
                inert: policies.inert,
                failed: policies.failed.as_deref(),
            }),
            away: view.away.iter().map(|(source, message)| AwayJson { source, message }).collect(),
        }
    }
}
