//! State to sections.

use std::io::{self, Write};

use bytes::Bytes;
use prost::Message as _;

use super::sections::{Kind, SectionWriter};
use crate::contract::wire::icache::v1alpha1 as wire;
use crate::index::{ExportedEntry, ExportedKey, ExportedPartition, ExportedReplica, Piece};
use crate::lookup::Drained;
use crate::model::{PROBE_TENANT, Tier, Timestamp};

/// A section is closed once it has as many bytes, and with each piece.
const SECTION_BYTES: usize = 1 << 20;

/// Writes a state, a piece at a time. What belongs to the reserved tenant is left out: a probe cleans up after itself, and
/// a server that starts knows of none.
pub(super) struct StateWriter<W> {
    sections: SectionWriter<W>,
    /// Places in the file by place in the state; none for what is left out.
    replicas: Vec<Option<u32>>,
    partitions: Vec<Option<u32>>,
    tail: wire::SavedTail,
}

impl<W: Write> StateWriter<W> {
    pub(super) fn begin(out: W, saved_at: Timestamp) -> io::Result<Self> {
        let mut sections = SectionWriter::begin(out)?;
        let server_version = env!("CARGO_PKG_VERSION").to_owned();
        sections.section(Kind::Head, &wire::SavedHead { server_version, saved_us: saved_at.as_us() })?;
        Ok(Self { sections, replicas: Vec::new(), partitions: Vec::new(), tail: wire::SavedTail::default() })
    }

    pub(super) fn piece(&mut self, piece: Piece<'_>) -> io::Result<()> {
        match piece {
            Piece::Replicas(replicas) => self.names(replicas),
            Piece::Partitions(partitions) => self.names(partitions),
            Piece::Entries(entries) => self.entries(entries),
            Piece::Keys(keys) => self.keys(keys),
        }
    }

    /// Entries so far.
    pub(super) fn count(&self) -> u64 {
        self.tail.entries
    }

    pub(super) fn end(mut self, drained: &[Drained]) -> io::Result<W> {
        drains(&mut self.sections, drained)?;
        self.tail.drains = drained.len() as u64;
        self.sections.section(Kind::Tail, &self.tail)?;
        Ok(self.sections.into_inner())
    }

    fn names<N: Named>(&mut self, named: &[N]) -> io::Result<()> {
        let mut section = wire::SavedNames::default();
        let mut bytes = 0;
        for name in named {
            let (places, count) = N::places(self);
            let is_kept = name.tenant() != PROBE_TENANT;
            places.push(is_kept.then(|| u32::try_from(*count).unwrap_or(u32::MAX)));
            if !is_kept {
                continue;
            }
            *count += 1;
            bytes += name.add_to(&mut section);
            if bytes >= SECTION_BYTES {
                bytes = 0;
                self.sections.section(Kind::Names, &std::mem::take(&mut section))?;
            }
        }
        if bytes > 0 { self.sections.section(Kind::Names, &section) } else { Ok(()) }
    }

    fn entries(&mut self, entries: &[ExportedEntry]) -> io::Result<()> {
        let mut bytes = 0;
        let mut section = wire::SavedEntries::default();
        let is_alike = |a: &ExportedEntry, b: &ExportedEntry| {
            (a.replica, a.partition, a.last_seen) == (b.replica, b.partition, b.last_seen)
        };
        for alike in entries.chunk_by(is_alike) {
            let Some(first) = alike.first() else { continue };
            let (Some(replica), Some(partition)) =
                (place(&self.replicas, first.replica), place(&self.partitions, first.partition))
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
            self.tail.entries += alike.len() as u64;
            bytes += run.encoded_len();
            section.runs.push(run);
            if bytes >= SECTION_BYTES {
                bytes = 0;
                self.sections.section(Kind::Entries, &std::mem::take(&mut section))?;
            }
        }
        if section.runs.is_empty() { Ok(()) } else { self.sections.section(Kind::Entries, &section) }
    }

    fn keys(&mut self, keys: &[ExportedKey]) -> io::Result<()> {
        let mut bytes = 0;
        let mut section = wire::SavedKeys::default();
        let is_alike =
            |a: &ExportedKey, b: &ExportedKey| (a.partition, a.reported_at) == (b.partition, b.reported_at);
        for alike in keys.chunk_by(is_alike) {
            let Some(first) = alike.first() else { continue };
            let Some(partition) = place(&self.partitions, first.partition) else { continue };
            let run = wire::KeyRun {
                partition,
                reported_us: first.reported_at.as_us(),
                hashes: alike.iter().map(|key| Bytes::copy_from_slice(key.hash.as_bytes())).collect(),
            };
            self.tail.keys += alike.len() as u64;
            bytes += run.encoded_len();
            section.runs.push(run);
            if bytes >= SECTION_BYTES {
                bytes = 0;
                self.sections.section(Kind::Keys, &std::mem::take(&mut section))?;
            }
        }
        if section.runs.is_empty() { Ok(()) } else { self.sections.section(Kind::Keys, &section) }
    }
}

fn place(places: &[Option<u32>], at: u32) -> Option<u32> {
    places.get(at as usize).copied().flatten()
}

/// What entries and keys refer to.
trait Named {
    fn tenant(&self) -> &str;
    /// Adds it to a section; the bytes that it takes there.
    fn add_to(&self, section: &mut wire::SavedNames) -> usize;
    /// Where its kind's places are noted, and how many of it are in the file.
    fn places<W>(writer: &mut StateWriter<W>) -> (&mut Vec<Option<u32>>, &mut u64);
}

impl Named for ExportedReplica {
    fn tenant(&self) -> &str {
        self.tenant.as_str()
    }

    fn add_to(&self, section: &mut wire::SavedNames) -> usize {
        let replica = saved_replica(self);
        let bytes = replica.encoded_len();
        section.replicas.push(replica);
        bytes
    }

    fn places<W>(writer: &mut StateWriter<W>) -> (&mut Vec<Option<u32>>, &mut u64) {
        (&mut writer.replicas, &mut writer.tail.replicas)
    }
}

impl Named for ExportedPartition {
    fn tenant(&self) -> &str {
        self.tenant.as_str()
    }

    fn add_to(&self, section: &mut wire::SavedNames) -> usize {
        let partition = saved_partition(self);
        let bytes = partition.encoded_len();
        section.partitions.push(partition);
        bytes
    }

    fn places<W>(writer: &mut StateWriter<W>) -> (&mut Vec<Option<u32>>, &mut u64) {
        (&mut writer.partitions, &mut writer.tail.partitions)
    }
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
