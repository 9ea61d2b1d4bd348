//! State to sections.

use std::io::{self, Write};

use bytes::Bytes;
use prost::Message as _;

use super::sections::{Kind, SectionWriter};
use crate::contract::wire::icache::v1alpha1 as wire;
use crate::index::{Export, ExportedEntry, ExportedKey, ExportedPartition, ExportedReplica};
use crate::lookup::Drained;
use crate::model::{PROBE_TENANT, Tier, Timestamp};

/// Items of one section, and of one run, at most.
const ITEMS: usize = 2_048;

/// A section is closed once it has as many bytes.
const SECTION_BYTES: usize = 1 << 20;

/// Writes all of it. What belongs to the reserved tenant is left out: a probe cleans up after itself, and a server that
/// starts knows of none.
pub(super) fn write<W: Write>(
    out: W,
    state: &Export,
    drained: &[Drained],
    saved_at: Timestamp,
) -> io::Result<W> {
    let mut sections = SectionWriter::begin(out)?;
    let head =
        wire::SavedHead { server_version: env!("CARGO_PKG_VERSION").to_owned(), saved_us: saved_at.as_us() };
    sections.section(Kind::Head, &head)?;
    let (mut replicas, mut partitions) = (Vec::new(), Vec::new());
    let kept = state.replicas.iter().filter(|replica| replica.tenant.as_str() != PROBE_TENANT);
    let replica_places = places(state.replicas.len(), |at| state.replicas[at].tenant.as_str());
    let partition_places = places(state.partitions.len(), |at| state.partitions[at].tenant.as_str());
    let mut tail = wire::SavedTail { drains: drained.len() as u64, ..wire::SavedTail::default() };
    let mut bytes = 0;
    for replica in kept {
        let replica = saved_replica(replica);
        bytes += replica.encoded_len();
        replicas.push(replica);
        tail.replicas += 1;
        if replicas.len() >= ITEMS || bytes >= SECTION_BYTES {
            bytes = 0;
            let replicas = std::mem::take(&mut replicas);
            sections.section(Kind::Names, &wire::SavedNames { replicas, partitions: Vec::new() })?;
        }
    }
    for partition in state.partitions.iter().filter(|partition| partition.tenant.as_str() != PROBE_TENANT) {
        let partition = saved_partition(partition);
        bytes += partition.encoded_len();
        partitions.push(partition);
        tail.partitions += 1;
        if partitions.len() >= ITEMS || bytes >= SECTION_BYTES {
            bytes = 0;
            let (replicas, partitions) = (std::mem::take(&mut replicas), std::mem::take(&mut partitions));
            sections.section(Kind::Names, &wire::SavedNames { replicas, partitions })?;
        }
    }
    sections.section(Kind::Names, &wire::SavedNames { replicas, partitions })?;
    tail.entries = entries(&mut sections, state, &replica_places, &partition_places)?;
    tail.keys = keys(&mut sections, state, &partition_places)?;
    drains(&mut sections, drained)?;
    sections.section(Kind::Tail, &tail)?;
    Ok(sections.into_inner())
}

/// Places in the file by place in the state; none for what is left out.
fn places<'a>(count: usize, tenant: impl Fn(usize) -> &'a str) -> Vec<Option<u32>> {
    let mut next = 0;
    let place = |at| {
        let is_kept = tenant(at) != PROBE_TENANT;
        let place = is_kept.then_some(next);
        next += u32::from(is_kept);
        place
    };
    (0..count).map(place).collect()
}

fn saved_replica(replica: &ExportedReplica) -> wire::SavedReplica {
    wire::SavedReplica {
        tenant_id: replica.tenant.as_str().to_owned(),
        model_id: replica.model.as_str().to_owned(),
        replica_id: replica.replica.as_str().to_owned(),
        heard_us: replica.heard.as_us(),
        stats: replica.stats.as_ref().map(|(stats, at)| wire::SavedStats {
            reported_us: at.as_us(),
            cache_memory_bytes: stats.cache_memory_bytes,
            hit_rate: stats.hit_rate,
            pressure: stats.pressure,
            client_version: stats.client_version.clone(),
            t2_hit_tokens: stats.t2_hit_tokens,
            t2_query_tokens: stats.t2_query_tokens,
        }),
    }
}

fn saved_partition(partition: &ExportedPartition) -> wire::SavedPartition {
    wire::SavedPartition {
        tenant_id: partition.tenant.as_str().to_owned(),
        model_id: partition.model.as_str().to_owned(),
        hash_scheme: partition.scheme.as_str().to_owned(),
        adapter_id: partition.adapter.as_str().to_owned(),
    }
}

/// How a tier is numbered in the file.
pub(super) fn tier_number(tier: Tier) -> u32 {
    match tier {
        Tier::Unknown => 0,
        Tier::T1 => 1,
        Tier::T2 => 2,
        Tier::T3 => 3,
    }
}

fn entries<W: Write>(
    sections: &mut SectionWriter<W>,
    state: &Export,
    replicas: &[Option<u32>],
    partitions: &[Option<u32>],
) -> io::Result<u64> {
    let (mut written, mut items, mut bytes) = (0, 0, 0);
    let mut section = wire::SavedEntries::default();
    let is_alike = |a: &ExportedEntry, b: &ExportedEntry| {
        (a.replica, a.partition, a.last_seen) == (b.replica, b.partition, b.last_seen)
    };
    for alike in state.entries.chunk_by(is_alike).flat_map(|alike| alike.chunks(ITEMS)) {
        let Some(first) = alike.first() else { continue };
        let place = |places: &[Option<u32>], at: u32| places.get(at as usize).copied().flatten();
        let (Some(replica), Some(partition)) =
            (place(replicas, first.replica), place(partitions, first.partition))
        else {
            continue;
        };
        let is_hit = alike.iter().any(|entry| entry.hits > 0);
        let is_elsewhere = alike.iter().any(|entry| entry.tier != Tier::T1);
        let run = wire::EntryRun {
            replica,
            partition,
            seen_us: first.last_seen.as_us(),
            hashes: alike.iter().map(|entry| Bytes::copy_from_slice(entry.hash.as_bytes())).collect(),
            tokens: alike.iter().map(|entry| entry.tokens).collect(),
            tiers: alike.iter().filter(|_| is_elsewhere).map(|entry| tier_number(entry.tier)).collect(),
            hits: alike.iter().filter(|_| is_hit).map(|entry| entry.hits).collect(),
        };
        written += alike.len() as u64;
        items += alike.len();
        bytes += run.encoded_len();
        section.runs.push(run);
        if items >= ITEMS || bytes >= SECTION_BYTES {
            sections.section(Kind::Entries, &std::mem::take(&mut section))?;
            (items, bytes) = (0, 0);
        }
    }
    if !section.runs.is_empty() {
        sections.section(Kind::Entries, &section)?;
    }
    Ok(written)
}

fn keys<W: Write>(
    sections: &mut SectionWriter<W>,
    state: &Export,
    partitions: &[Option<u32>],
) -> io::Result<u64> {
    let (mut written, mut items, mut bytes) = (0, 0, 0);
    let mut section = wire::SavedKeys::default();
    let is_alike =
        |a: &ExportedKey, b: &ExportedKey| (a.partition, a.reported_at) == (b.partition, b.reported_at);
    for alike in state.keys.chunk_by(is_alike).flat_map(|alike| alike.chunks(ITEMS)) {
        let Some(first) = alike.first() else { continue };
        let Some(partition) = partitions.get(first.partition as usize).copied().flatten() else { continue };
        let run = wire::KeyRun {
            partition,
            reported_us: first.reported_at.as_us(),
            hashes: alike.iter().map(|key| Bytes::copy_from_slice(key.hash.as_bytes())).collect(),
        };
        written += alike.len() as u64;
        items += alike.len();
        bytes += run.encoded_len();
        section.runs.push(run);
        if items >= ITEMS || bytes >= SECTION_BYTES {
            sections.section(Kind::Keys, &std::mem::take(&mut section))?;
            (items, bytes) = (0, 0);
        }
    }
    if !section.runs.is_empty() {
        sections.section(Kind::Keys, &section)?;
    }
    Ok(written)
}

fn drains<W: Write>(sections: &mut SectionWriter<W>, drained: &[Drained]) -> io::Result<()> {
    let mut section = wire::SavedDrains::default();
    let mut bytes = 0;
    for drained in drained {
        let drain = wire::SavedDrain {
            replica_id: drained.replica.as_str().to_owned(),
            since_us: drained.since.as_us(),
            until_us: drained.until.as_us(),
        };
        bytes += drain.encoded_len();
        section.drains.push(drain);
        if bytes >= SECTION_BYTES {
            sections.section(Kind::Drains, &std::mem::take(&mut section))?;
            bytes = 0;
        }
    }
    if section.drains.is_empty() { Ok(()) } else { sections.section(Kind::Drains, &section) }
}
