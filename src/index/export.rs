//! All that an index holds, so that another index can be brought to answer and to evict in the very same way.
//!
//! Beside entries and statistics that is the order in which entries, and the keys of a quota, go: times and credits say
//! most of it, and of equal ones the order in which they came, which is the order of the lists here. Restoring goes
//! through [`Index::apply_update`], entry by entry in that order, each update at the time its replica was last heard of;
//! then come the credits and the order of the keys.

use smallvec::SmallVec;

use super::Index;
use super::arena::NONE;
use super::ingest::check_entry;
use super::regroup::Kind;
use super::segment::{SLOTS, place_of, slots_of};
use super::state::State;
use crate::model::{
    AdapterId, HashScheme, ModelId, PrefixEntry, ReplicaId, StateUpdate, TenantId, Tier, Timestamp,
};

/// Items that one read looks at before others may write.
const ITEMS_PER_READ: usize = 1_024;

/// Everything that moves answers and evictions.
#[derive(Debug, Default)]
pub struct Export {
    /// Replicas, in the order in which they came.
    pub replicas: Vec<ExportedReplica>,
    /// What entries and keys refer to.
    pub partitions: Vec<ExportedPartition>,
    /// Entries: of equal time and hits in the order in which they came.
    pub entries: Vec<ExportedEntry>,
    /// Keys: of equal time in the order in which they came.
    pub keys: Vec<ExportedKey>,
}

/// A replica of one (tenant, model).
#[derive(Clone, Debug)]
pub struct ExportedReplica {
    /// Its tenant.
    pub tenant: TenantId,
    /// Its model.
    pub model: ModelId,
    /// Who.
    pub replica: ReplicaId,
    /// When it was last heard of.
    pub heard: Timestamp,
    /// Its statistics, and when they were reported.
    pub stats: Option<(super::ReplicaState, Timestamp)>,
}

/// A (tenant, model, hash scheme, adapter).
#[derive(Clone, Debug)]
pub struct ExportedPartition {
    /// Its tenant.
    pub tenant: TenantId,
    /// Its model.
    pub model: ModelId,
    /// Its scheme.
    pub scheme: HashScheme,
    /// Its adapter.
    pub adapter: AdapterId,
}

/// A hash.
#[derive(Clone, Debug)]
pub struct ExportedHash(SmallVec<[u8; 16]>);

impl ExportedHash {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// One replica's hold on one hash.
#[derive(Clone, Debug)]
pub struct ExportedEntry {
    /// The hash.
    pub hash: ExportedHash,
    /// Position in [`Export::replicas`].
    pub replica: u32,
    /// Position in [`Export::partitions`].
    pub partition: u32,
    /// Tokens of the prefix.
    pub tokens: i32,
    /// Where it is held.
    pub tier: Tier,
    /// When it was last reported.
    pub last_seen: Timestamp,
    /// Credits.
    pub hits: u32,
}

/// A hash of one partition, whoever holds it.
#[derive(Clone, Debug)]
pub struct ExportedKey {
    /// The hash.
    pub hash: ExportedHash,
    /// Position in [`Export::partitions`].
    pub partition: u32,
    /// When it was last reported by anyone, those that do not hold it any more included.
    pub reported_at: Timestamp,
}

/// Positions of an arena to positions of a list.
#[derive(Default)]
struct Places(Vec<u32>);

const NOWHERE: u32 = u32::MAX;

impl Places {
    fn set(&mut self, at: u32, place: usize) {
        let at = at as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, NOWHERE);
        }
        self.0[at] = u32::try_from(place).unwrap_or(NOWHERE);
    }

    fn get(&self, at: u32) -> Option<u32> {
        self.0.get(at as usize).copied().filter(|place| *place != NOWHERE)
    }
}

impl Index {
    /// Whether an update may bring `entry`.
    pub fn takes(&self, entry: &PrefixEntry<'_>) -> bool {
        check_entry(entry, &self.limits).is_ok()
    }

    /// All that is held. It is read in many short sections, so the caller sees to it that nothing changes meanwhile.
    pub fn export(&self) -> Export {
        let mut export = Export::default();
        let (mut replicas, mut partitions) = (Places::default(), Places::default());
        self.each_position(
            |state| state.members.slots(),
            |state, at| {
                if let Some(replica) = exported_replica(state, at) {
                    replicas.set(at, export.replicas.len());
                    export.replicas.push(replica);
                }
            },
        );
        self.each_position(
            |state| state.partitions.slots(),
            |state, at| {
                if let Some(partition) = exported_partition(state, at) {
                    partitions.set(at, export.partitions.len());
                    export.partitions.push(partition);
                }
            },
        );
        let (mut entries, mut keys) = (Vec::new(), Vec::new());
        self.each_position(
            |state| state.groups.slots(),
            |state, at| {
                export_group(state, at, &replicas, &partitions, &mut entries, &mut keys);
            },
        );
        entries.sort_unstable_by_key(|(place, _)| *place);
        keys.sort_unstable_by_key(|(place, _)| *place);
        export.entries = entries.into_iter().map(|(_, entry)| entry).collect();
        export.keys = keys.into_iter().map(|(_, key)| key).collect();
        export
    }

    fn each_position(&self, slots: impl Fn(&State) -> u32, mut each: impl FnMut(&State, u32)) {
        let mut at = 0;
        loop {
            let state = self.read_state();
            let end = slots(&state);
            for _ in 0..ITEMS_PER_READ {
                if at >= end {
                    return;
                }
                each(&state, at);
                at += 1;
            }
        }
    }

    /// Gives the entries of `update` that are held these hits, one by one; those without are passed over.
    pub fn restore_hits(&self, update: &StateUpdate<'_>, hits: &[u32]) {
        let mut section = self.section();
        for (entry, hits) in update.prefixes.iter().zip(hits).filter(|(_, hits)| **hits > 0) {
            if section.is_full() {
                section.renew();
            }
            let adapter = if entry.adapter.is_empty() { update.adapter } else { entry.adapter };
            let names = [update.tenant, update.model, update.scheme, adapter];
            let Some(key) = find_key(&section, names, entry.prefix_hash) else { continue };
            let Some(scope) = section.find_scope(update.tenant, update.model) else { continue };
            let Some(member) = section.scopes[scope].members.get(update.replica).copied() else { continue };
            let (segment, slot) = place_of(key);
            let Some(at) = section.held_at(segment, slot, member) else { continue };
            let tenant = section.scopes[scope].tenant;
            let hits = u8::try_from(*hits).unwrap_or(super::credit::MAX_HITS);
            section.relane(tenant, segment, at, 1 << slot, hits);
        }
        section.end();
    }

    /// Puts these keys of one partition at the end of those that were last reported at `reported_at`, one by one.
    pub fn restore_keys<'a>(
        &self,
        [tenant, model, scheme, adapter]: [&str; 4],
        reported_at: Timestamp,
        hashes: impl Iterator<Item = &'a [u8]>,
    ) {
        let at_ns = reported_at.as_ns();
        let mut section = self.section();
        for hash in hashes {
            if section.is_full() {
                section.renew();
            }
            section.work += 1;
            let Some(key) = find_key(&section, [tenant, model, scheme, adapter], hash) else { continue };
            section.reorder_key(key, at_ns);
        }
        section.end();
    }
}

impl State {
    /// The group of `owner` that holds the slot.
    fn held_at(&self, segment: u32, slot: u32, owner: u32) -> Option<usize> {
        let held = &self.segments[segment];
        held.of_owner(owner).find(|at| held.hold(*at).mask() >> slot & 1 == 1)
    }

    /// Moves a key to its place for `reported_at_ns`, after those of the same time.
    fn reorder_key(&mut self, key: u32, reported_at_ns: i64) {
        let (segment, slot) = place_of(key);
        let Some(at) = self.held_at(segment, slot, NONE) else { return };
        let tenant = self.path_of(self.segments[segment].partition).tenant;
        let tier = self.segments[segment].hold(at).tier();
        self.take(tenant, segment, at, 1 << slot);
        let kind = Kind { owner: NONE, tier, hits: 0, at_ns: reported_at_ns };
        self.put(tenant, segment, 1 << slot, kind, &[0; SLOTS]);
    }
}

fn find_key(state: &State, [tenant, model, scheme, adapter]: [&str; 4], hash: &[u8]) -> Option<u32> {
    let scope = state.find_scope(tenant, model)?;
    let domain = state.scopes[scope].domains.get(scheme)?;
    let partition = state.domains[*domain].partitions.get(adapter)?;
    state.find_key(*partition, hash)
}

fn exported_replica(state: &State, at: u32) -> Option<ExportedReplica> {
    let member = state.members.get(at)?;
    let replica = member.replica.clone()?;
    let scope = &state.scopes[member.scope];
    let stats = member
        .stats
        .as_ref()
        .map(|stats| (super::report::replica_state(replica.as_str(), stats), stats.seen.reported_at));
    Some(ExportedReplica {
        tenant: state.tenants[scope.tenant].id.clone()?,
        model: scope.model.clone()?,
        replica,
        heard: member.heard,
        stats,
    })
}

fn exported_partition(state: &State, at: u32) -> Option<ExportedPartition> {
    let partition = state.partitions.get(at)?;
    let adapter = partition.adapter.clone()?;
    let domain = &state.domains[partition.domain];
    let scope = &state.scopes[domain.scope];
    Some(ExportedPartition {
        tenant: state.tenants[scope.tenant].id.clone()?,
        model: scope.model.clone()?,
        scheme: domain.scheme.clone()?,
        adapter,
    })
}

/// Where an item stands among those of its tenant: hits, time, and arrival.
type Place = (u8, i64, u64);

/// The entries, or the times of keys, of the group at `at`; nothing where a cleared replica has left it, which no lookup
/// sees.
fn export_group(
    state: &State,
    at: u32,
    replicas: &Places,
    partitions: &Places,
    entries: &mut Vec<(Place, ExportedEntry)>,
    keys: &mut Vec<(Place, ExportedKey)>,
) {
    let Some(group) = state.groups.get(at).filter(|group| group.segment != NONE) else { return };
    let (segment, place) = state.locate(at);
    let held = &state.segments[segment];
    let hold = held.hold(place);
    let Some(partition) = partitions.get(held.partition) else { return };
    let replica = replicas.get(group.owner);
    for slot in slots_of(hold.mask()) {
        let hash = ExportedHash(SmallVec::from_slice(held.hash(slot)));
        let at_ns = group.at_ns(hold, slot);
        let place = (group.hits, at_ns, group.arrival_of(slot));
        let time = Timestamp::from_ns(at_ns);
        if group.owner == NONE {
            keys.push((place, ExportedKey { hash, partition, reported_at: time }));
        } else if let Some(replica) = replica {
            let (tokens, tier) = (group.tokens_of(slot), hold.tier());
            let hits = u32::from(group.hits);
            let entry = ExportedEntry { hash, replica, partition, tokens, tier, last_seen: time, hits };
            entries.push((place, entry));
        }
    }
}
