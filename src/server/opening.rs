//! What an observer gets first: settings, policies, and the state in parts.

use std::iter;

use crate::contract::encode_update;
use crate::contract::wire::icache::v1alpha1 as wire;
use crate::contract::wire::icache::v1alpha1::record::Body;
use crate::index::{Export, ExportedEntry, ExportedKey, ExportedReplica};
use crate::lookup::Router;
use crate::model::{HashList, PrefixEntry, ReplicaStats, StateUpdate};
use crate::policy::documents;

/// Entries, keys and replicas of one part at most: some hundred KiB.
const ITEMS_PER_PART: usize = 2_048;

/// Everything of one instant.
pub(super) struct Snapshot {
    config: wire::ServerConfig,
    policies: String,
    state: Export,
}

impl Snapshot {
    /// Reads it; the caller sees to it that nothing changes meanwhile.
    pub(super) fn of(router: &Router) -> Self {
        let policies = documents(&router.policies());
        Self { config: config(router), policies, state: router.index().export() }
    }

    /// The records, in order.
    pub(super) fn into_bodies(self) -> impl Iterator<Item = Body> + Send {
        let Self { config, policies, state } = self;
        let head = [Body::Config(config), Body::Policy(policies)];
        let parts = Parts { state, replicas: 0, entries: 0, keys: 0, is_first: true };
        head.into_iter().chain(parts.map(Body::State))
    }
}

fn config(router: &Router) -> wire::ServerConfig {
    let (ranker, bounds) = (router.ranker(), router.bounds());
    let limits = bounds.limits;
    let wide = |count: usize| count as u64;
    wire::ServerConfig {
        pressure_weight: ranker.pressure_weight.value,
        slo_tight_ttft_ms: ranker.slo_tight_ttft_ms.value,
        slo_tight_bias: ranker.slo_tight_bias.value,
        tenant_hot_max_age_ns: ranker.tenant_hot_max_age_ns.value,
        tenant_hot_min_hit_rate: ranker.tenant_hot_min_hit_rate.value,
        replica_timeout_ns: ranker.replica_timeout_ns.value,
        block_size: ranker.block_size.value,
        ranker: ranker.ranker.value.label().to_owned(),
        in_flight_ttl_ns: ranker.in_flight_ttl_ns.value,
        prefill_rate: ranker.prefill_rate.value,
        load_hint_code: ranker.load_hint_code.value.label().to_owned(),
        default_ttl_ns: router.policies().default_policy().ttl_ns.value,
        max_entries: bounds.max_entries,
        max_memory_bytes: bounds.max_memory_bytes,
        max_replicas: wide(bounds.max_replicas_per_scope),
        max_replica_records: wide(bounds.max_replica_records),
        max_blocks: wide(limits.request_blocks),
        max_hash_bytes: wide(limits.hash_bytes),
        max_id_bytes: wide(limits.id_bytes),
        max_tokens: wide(limits.request_tokens),
        max_prompt_bytes: wide(limits.prompt_bytes),
    }
}

/// The state in parts: replicas, then entries, then keys. An empty state is one empty part.
struct Parts {
    state: Export,
    replicas: usize,
    entries: usize,
    keys: usize,
    is_first: bool,
}

impl Iterator for Parts {
    type Item = wire::StatePart;

    fn next(&mut self) -> Option<wire::StatePart> {
        let Export { replicas, entries, keys, .. } = &self.state;
        let mut part = wire::StatePart::default();
        if self.replicas < replicas.len() {
            let some = &replicas[self.replicas..replicas.len().min(self.replicas + ITEMS_PER_PART)];
            self.replicas += some.len();
            some.iter().for_each(|replica| add_replica(&mut part, replica));
        } else if self.entries < entries.len() {
            let some = &entries[self.entries..entries.len().min(self.entries + ITEMS_PER_PART)];
            self.entries += some.len();
            let is_alike = |a: &ExportedEntry, b: &ExportedEntry| {
                (a.replica, a.partition, a.last_seen) == (b.replica, b.partition, b.last_seen)
            };
            some.chunk_by(is_alike).for_each(|alike| add_entries(&mut part, &self.state, alike));
        } else if self.keys < keys.len() {
            let some = &keys[self.keys..keys.len().min(self.keys + ITEMS_PER_PART)];
            self.keys += some.len();
            let is_alike = |a: &ExportedKey, b: &ExportedKey| {
                (a.partition, a.reported_at) == (b.partition, b.reported_at)
            };
            part.keys.extend(some.chunk_by(is_alike).map(|alike| key_order(&self.state, alike)));
        } else if !self.is_first {
            return None;
        }
        self.is_first = false;
        Some(part)
    }
}

fn add_replica(part: &mut wire::StatePart, exported: &ExportedReplica) {
    let stats = exported.stats.as_ref();
    let update = StateUpdate {
        replica: exported.replica.as_str(),
        tenant: exported.tenant.as_str(),
        model: exported.model.as_str(),
        at: Some(stats.map_or(exported.heard, |(_, at)| *at)),
        stats: stats.map(|(stats, _)| ReplicaStats {
            cache_memory_bytes: stats.cache_memory_bytes,
            hit_rate: stats.hit_rate,
            pressure: stats.pressure,
            client_version: &stats.client_version,
            t2_hit_tokens: stats.t2_hit_tokens,
            t2_query_tokens: stats.t2_query_tokens,
        }),
        ..StateUpdate::default()
    };
    part.updates.push(encode_update(&update));
    part.heard_us.push(exported.heard.as_us());
    part.credits.push(wire::Credits::default());
}

/// Entries of one replica, partition and time, in one update.
fn add_entries(part: &mut wire::StatePart, state: &Export, alike: &[ExportedEntry]) {
    let Some(first) = alike.first() else { return };
    let replica = &state.replicas[first.replica as usize];
    let partition = &state.partitions[first.partition as usize];
    let prefixes = alike.iter().map(|entry| PrefixEntry {
        prefix_hash: entry.hash.as_bytes(),
        token_count: entry.tokens,
        block_hashes: HashList::EMPTY,
        block_token_counts: &[],
        tier: entry.tier,
        adapter: "",
    });
    let update = StateUpdate {
        replica: replica.replica.as_str(),
        tenant: partition.tenant.as_str(),
        model: partition.model.as_str(),
        scheme: partition.scheme.as_str(),
        adapter: partition.adapter.as_str(),
        at: Some(first.last_seen),
        prefixes: prefixes.collect(),
        stats: None,
    };
    part.updates.push(encode_update(&update));
    part.heard_us.push(replica.heard.as_us());
    let has_hits = alike.iter().any(|entry| entry.hits > 0);
    let hits = if has_hits { alike.iter().map(|entry| entry.hits).collect() } else { Vec::new() };
    part.credits.push(wire::Credits { hits });
}

fn key_order(state: &Export, alike: &[ExportedKey]) -> wire::KeyOrder {
    let Some(first) = alike.first() else { return wire::KeyOrder::default() };
    let partition = &state.partitions[first.partition as usize];
    wire::KeyOrder {
        tenant_id: partition.tenant.to_string(),
        model_id: partition.model.to_string(),
        hash_scheme: partition.scheme.to_string(),
        adapter_id: partition.adapter.to_string(),
        reported_us: first.reported_at.as_us(),
        hashes: alike.iter().map(|key| bytes::Bytes::copy_from_slice(key.hash.as_bytes())).collect(),
    }
}

/// The records of a snapshot, each at the cut.
pub(super) fn records(
    snapshot: Snapshot,
    cut: super::order::Cut,
) -> impl Iterator<Item = wire::Record> + Send {
    let at = iter::repeat((cut.sequence, cut.at.as_us()));
    snapshot.into_bodies().zip(at).map(|(body, (sequence, timestamp_us))| wire::Record {
        sequence,
        timestamp_us,
        body: Some(body),
    })
}
