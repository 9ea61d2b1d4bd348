//! Sections to state: what a file holds is checked to its end before any of it is applied.

use std::io::Read;

use prost::Message;

use super::sections::{Fault, Kind, SectionReader};
use super::write::tier_number;
use crate::contract::wire::icache::v1alpha1 as wire;
use crate::index::Index;
use crate::lookup::{Drained, Router};
use crate::model::{HashList, PrefixEntry, ReplicaId, ReplicaStats, StateUpdate, Tier, Timestamp};
use crate::policy::PolicySet;

/// What entries and keys refer to.
#[derive(Default)]
pub(super) struct Names {
    replicas: Vec<wire::SavedReplica>,
    partitions: Vec<wire::SavedPartition>,
}

/// Takes what a file holds, in its order.
pub(super) trait Visit {
    fn replica(&mut self, replica: &wire::SavedReplica);
    fn entries(
        &mut self,
        replica: &wire::SavedReplica,
        partition: &wire::SavedPartition,
        run: &wire::EntryRun,
    );
    fn keys(&mut self, partition: &wire::SavedPartition, run: &wire::KeyRun);
    fn drain(&mut self, drain: &wire::SavedDrain);
}

/// Takes nothing: the file is checked only.
impl Visit for () {
    fn replica(&mut self, _: &wire::SavedReplica) {}
    fn entries(&mut self, _: &wire::SavedReplica, _: &wire::SavedPartition, _: &wire::EntryRun) {}
    fn keys(&mut self, _: &wire::SavedPartition, _: &wire::KeyRun) {}
    fn drain(&mut self, _: &wire::SavedDrain) {}
}

/// Reads a whole file, and gives `visitor` what is in it.
pub(super) fn walk(source: impl Read, visitor: &mut impl Visit) -> Result<wire::SavedHead, Fault> {
    let mut sections = SectionReader::begin(source)?;
    let (kind, message) = sections.next()?;
    let decoded = wire::SavedHead::decode(message).ok().filter(|_| kind == Kind::Head);
    let head = decoded.ok_or_else(|| sections.damaged("it does not begin with its head"))?;
    let mut names = Names::default();
    let mut counted = wire::SavedTail::default();
    loop {
        let (kind, message) = sections.next()?;
        let taken = match kind {
            Kind::Head => Err("it has a second head"),
            Kind::Names => take_names(message, &mut names, &mut counted, visitor),
            Kind::Entries => take_entries(message, &names, &mut counted, visitor),
            Kind::Keys => take_keys(message, &names, &mut counted, visitor),
            Kind::Drains => take_drains(message, &mut counted, visitor),
            Kind::Tail => match wire::SavedTail::decode(message) {
                Ok(tail) if tail == counted && sections.is_at_end()? => return Ok(head),
                Ok(tail) if tail == counted => Err("something follows its end"),
                Ok(_) => Err("it holds other counts than its end says"),
                Err(_) => Err(UNDECODABLE),
            },
        };
        taken.map_err(|why| sections.damaged(why))?;
    }
}

const UNDECODABLE: &str = "a section is no message of its kind";

fn decoded<M: Message + Default>(message: bytes::Bytes) -> Result<M, &'static str> {
    M::decode(message).map_err(|_| UNDECODABLE)
}

fn take_names(
    message: bytes::Bytes,
    names: &mut Names,
    counted: &mut wire::SavedTail,
    visitor: &mut impl Visit,
) -> Result<(), &'static str> {
    let section: wire::SavedNames = decoded(message)?;
    section.replicas.iter().for_each(|replica| visitor.replica(replica));
    counted.replicas += section.replicas.len() as u64;
    counted.partitions += section.partitions.len() as u64;
    names.replicas.extend(section.replicas);
    names.partitions.extend(section.partitions);
    Ok(())
}

const NAMELESS: &str = "it refers to a name that it does not hold";

fn take_entries(
    message: bytes::Bytes,
    names: &Names,
    counted: &mut wire::SavedTail,
    visitor: &mut impl Visit,
) -> Result<(), &'static str> {
    let section: wire::SavedEntries = decoded(message)?;
    for run in &section.runs {
        let replica = names.replicas.get(run.replica as usize).ok_or(NAMELESS)?;
        let partition = names.partitions.get(run.partition as usize).ok_or(NAMELESS)?;
        let count = run.hashes.len();
        let fits = |list: usize| list == 0 || list == count;
        let is_whole = run.tokens.len() == count && fits(run.tiers.len()) && fits(run.hits.len());
        let is_one_scope =
            (&replica.tenant_id, &replica.model_id) == (&partition.tenant_id, &partition.model_id);
        if !is_whole || !is_one_scope {
            return Err("entries and what belongs to them do not go together");
        }
        counted.entries += count as u64;
        visitor.entries(replica, partition, run);
    }
    Ok(())
}

fn take_keys(
    message: bytes::Bytes,
    names: &Names,
    counted: &mut wire::SavedTail,
    visitor: &mut impl Visit,
) -> Result<(), &'static str> {
    let section: wire::SavedKeys = decoded(message)?;
    for run in &section.runs {
        let partition = names.partitions.get(run.partition as usize).ok_or(NAMELESS)?;
        counted.keys += run.hashes.len() as u64;
        visitor.keys(partition, run);
    }
    Ok(())
}

fn take_drains(
    message: bytes::Bytes,
    counted: &mut wire::SavedTail,
    visitor: &mut impl Visit,
) -> Result<(), &'static str> {
    let section: wire::SavedDrains = decoded(message)?;
    counted.drains += section.drains.len() as u64;
    section.drains.iter().for_each(|drain| visitor.drain(drain));
    Ok(())
}

/// Brings a router to hold what a file says. Times ahead of the clock are the clock's, as everywhere.
pub(super) struct Restore<'a> {
    router: &'a Router,
    policies: &'a PolicySet,
    now: Timestamp,
    /// Entries of the file.
    pub(super) told: u64,
    /// Those that had outlived their time.
    pub(super) expired: u64,
    /// Parts that the limits of now do not admit.
    pub(super) dropped: u64,
    pub(super) drained: Vec<Drained>,
}

impl<'a> Restore<'a> {
    pub(super) fn new(router: &'a Router, policies: &'a PolicySet, now: Timestamp) -> Self {
        Self { router, policies, now, told: 0, expired: 0, dropped: 0, drained: Vec::new() }
    }

    fn index(&self) -> &'a Index {
        self.router.index()
    }

    fn time(&self, us: i64) -> Timestamp {
        Timestamp::from_us(us).min(self.now)
    }

    fn apply(&mut self, update: &StateUpdate<'_>, heard: Timestamp) {
        self.dropped += self.index().apply_update(update, heard).dropped.len() as u64;
    }
}

impl Visit for Restore<'_> {
    fn replica(&mut self, replica: &wire::SavedReplica) {
        let heard = self.time(replica.heard_us);
        let stats = replica.stats.as_ref();
        let update = StateUpdate {
            replica: &replica.replica_id,
            tenant: &replica.tenant_id,
            model: &replica.model_id,
            at: Some(stats.map_or(heard, |stats| self.time(stats.reported_us))),
            stats: stats.map(|stats| ReplicaStats {
                cache_memory_bytes: stats.cache_memory_bytes,
                hit_rate: stats.hit_rate,
                pressure: stats.pressure,
                client_version: &stats.client_version,
                t2_hit_tokens: stats.t2_hit_tokens,
                t2_query_tokens: stats.t2_query_tokens,
            }),
            ..StateUpdate::default()
        };
        self.apply(&update, heard);
    }

    fn entries(
        &mut self,
        replica: &wire::SavedReplica,
        partition: &wire::SavedPartition,
        run: &wire::EntryRun,
    ) {
        self.told += run.hashes.len() as u64;
        let (heard, seen) = (self.time(replica.heard_us), self.time(run.seen_us));
        if seen.age_ns(self.now) >= self.policies.policy_of(&partition.tenant_id).ttl_ns.value {
            self.expired += run.hashes.len() as u64;
            return;
        }
        let entry = |at: usize| PrefixEntry {
            prefix_hash: &run.hashes[at],
            token_count: run.tokens[at],
            block_hashes: HashList::EMPTY,
            block_token_counts: &[],
            tier: run.tiers.get(at).map_or(Tier::T1, |number| tier_of(*number)),
            adapter: "",
        };
        // A limit that is smaller now bounds an update, not what was reported in several.
        let most = self.router.limits().request_blocks.max(1);
        for from in (0..run.hashes.len()).step_by(most) {
            let until = run.hashes.len().min(from + most);
            let update = StateUpdate {
                replica: &replica.replica_id,
                tenant: &partition.tenant_id,
                model: &partition.model_id,
                scheme: &partition.hash_scheme,
                adapter: &partition.adapter_id,
                at: Some(seen),
                prefixes: (from..until).map(entry).collect(),
                stats: None,
            };
            self.apply(&update, heard);
            if let Some(hits) = run.hits.get(from..until) {
                self.index().restore_hits(&update, hits);
            }
        }
    }

    fn keys(&mut self, partition: &wire::SavedPartition, run: &wire::KeyRun) {
        let wire::SavedPartition { tenant_id, model_id, hash_scheme, adapter_id } = partition;
        let names = [tenant_id, model_id, hash_scheme, adapter_id].map(String::as_str);
        self.index().restore_keys(names, self.time(run.reported_us), HashList::Wire(&run.hashes));
    }

    fn drain(&mut self, drain: &wire::SavedDrain) {
        self.drained.push(Drained {
            replica: ReplicaId::from(drain.replica_id.as_str()),
            since: self.time(drain.since_us),
            until: Timestamp::from_us(drain.until_us),
        });
    }
}

/// A number without a name is a tier that is not known.
fn tier_of(number: u32) -> Tier {
    let tiers = [Tier::T1, Tier::T2, Tier::T3];
    tiers.into_iter().find(|tier| tier_number(*tier) == number).unwrap_or(Tier::Unknown)
}
