//! All that an index holds, so that another index can be brought to answer and to evict in the very same way.
//!
//! Beside entries and statistics that is the order in which entries, and the keys of a quota, go: times and credits say
//! most of it, and of equal ones the order in which they came, which is the order of the lists here. Restoring goes
//! through [`Index::apply_update`], entry by entry in that order, each update at the time its replica was last heard of;
//! then come the credits and the order of the keys.

use smallvec::SmallVec;

use super::Index;
use super::arena::NONE;
use super::group::Hold;
use super::ingest::check_entry;
use super::segment::{SLOTS, slots_of};
use super::state::State;
use crate::model::{AdapterId, HashScheme, ModelId, PrefixEntry, ReplicaId, TenantId, Tier, Timestamp};

/// Items that one read looks at before others may write.
const ITEMS_PER_READ: usize = 1_024;

/// Items of one piece at most.
const ITEMS_PER_PIECE: usize = 2_048;

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

/// A part of an export. Parts come in this order, and those of one kind make up the list of that name.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// Of [`Export::replicas`].
    Replicas(&'a [ExportedReplica]),
    /// Of [`Export::partitions`].
    Partitions(&'a [ExportedPartition]),
    /// Of [`Export::entries`].
    Entries(&'a [ExportedEntry]),
    /// Of [`Export::keys`].
    Keys(&'a [ExportedKey]),
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
        self.export_in_pieces(|piece| match piece {
            Piece::Replicas(replicas) => export.replicas.extend_from_slice(replicas),
            Piece::Partitions(partitions) => export.partitions.extend_from_slice(partitions),
            Piece::Entries(entries) => export.entries.extend_from_slice(entries),
            Piece::Keys(keys) => export.keys.extend_from_slice(keys),
        });
        export
    }

    /// The same, a piece at a time. What is kept meanwhile is the order: 24 bytes for each group, or for each entry of a
    /// group whose entries came at different times.
    pub fn export_in_pieces(&self, mut take: impl FnMut(Piece<'_>)) {
        let (mut replicas, mut partitions) = (Places::default(), Places::default());
        let members = |state: &State| state.members.slots();
        self.each_in_pieces(members, exported_replica, &mut replicas, |found| take(Piece::Replicas(found)));
        let slots = |state: &State| state.partitions.slots();
        self.each_in_pieces(slots, exported_partition, &mut partitions, |found| {
            take(Piece::Partitions(found))
        });
        let (mut entries, mut keys) = (Vec::new(), Vec::new());
        let mut at = 0;
        loop {
            let state = self.read_state();
            let end = state.groups.slots();
            let until = end.min(at + ITEMS_PER_READ as u32);
            (at..until).for_each(|at| place_group(&state, at, &mut entries, &mut keys));
            if until == end {
                break;
            }
            at = until;
        }
        entries.sort_unstable();
        let entry = |state: &State, placed: &Placed, found: &mut Vec<ExportedEntry>| {
            export_entries(state, placed, &replicas, &partitions, found);
        };
        self.each_placed(entries, entry, |found| take(Piece::Entries(found)));
        keys.sort_unstable();
        let key = |state: &State, placed: &Placed, found: &mut Vec<ExportedKey>| {
            export_keys(state, placed, &partitions, found);
        };
        self.each_placed(keys, key, |found| take(Piece::Keys(found)));
    }

    /// What `read` makes of the positions of an arena, in pieces; each one's place among all is noted.
    fn each_in_pieces<T>(
        &self,
        slots: impl Fn(&State) -> u32,
        read: impl Fn(&State, u32) -> Option<T>,
        places: &mut Places,
        mut take: impl FnMut(&[T]),
    ) {
        let (mut at, mut taken, mut found) = (0, 0, Vec::new());
        loop {
            let state = self.read_state();
            let end = slots(&state);
            let until = end.min(at + ITEMS_PER_READ as u32);
            for at in at..until {
                if let Some(item) = read(&state, at) {
                    places.set(at, taken + found.len());
                    found.push(item);
                }
            }
            drop(state);
            at = until;
            if found.len() + ITEMS_PER_READ > ITEMS_PER_PIECE || at >= end && !found.is_empty() {
                take(&found);
                taken += found.len();
                found.clear();
            }
            if at >= end {
                return;
            }
        }
    }

    /// What `read` makes of what stands at these places, in their order and in pieces.
    fn each_placed<T>(
        &self,
        placed: Vec<Placed>,
        read: impl Fn(&State, &Placed, &mut Vec<T>),
        mut take: impl FnMut(&[T]),
    ) {
        let mut found = Vec::with_capacity(ITEMS_PER_PIECE);
        let mut rest = &placed[..];
        while !rest.is_empty() {
            let state = self.read_state();
            while let Some((first, others)) = rest.split_first()
                && found.len() + SLOTS <= ITEMS_PER_PIECE
            {
                read(&state, first, &mut found);
                rest = others;
            }
            drop(state);
            take(&found);
            found.clear();
        }
    }
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

/// Where a group, or one slot of it, stands among those of its tenant: hits, time, arrival; then which group, and which
/// slot where it is one.
type Placed = (u8, i64, u64, u32, u8);

/// Stands for all slots of a group: no arrivals of others lie between those of one group and one time.
const WHOLE: u8 = u8::MAX;

/// Lists the group at `at` among the entries or the keys; nothing where a cleared replica has left it, which no lookup
/// sees.
fn place_group(state: &State, at: u32, entries: &mut Vec<Placed>, keys: &mut Vec<Placed>) {
    let Some(group) = state.groups.get(at).filter(|group| group.segment != NONE) else { return };
    let (segment, place) = state.locate(at);
    let hold = state.segments[segment].hold(place);
    let list = match group.owner {
        NONE => keys,
        owner if state.members[owner].replica.is_some() => entries,
        _ => return,
    };
    if hold.is_varied() {
        let place = |slot| (group.hits, group.at_ns(hold, slot), group.arrival_of(slot), at, slot as u8);
        list.extend(slots_of(hold.mask()).map(place));
    } else {
        let (at_ns, arrival) = group.place(hold);
        list.push((group.hits, at_ns, arrival, at, WHOLE));
    }
}

/// Segment, hold and slots of what stands at a place, in the order of arrival; none where it is there no longer.
fn placed_slots(state: &State, placed: &Placed) -> Option<(u32, Hold, SmallVec<[u32; SLOTS]>)> {
    let (.., at, slot) = *placed;
    let group = state.groups.get(at).filter(|group| group.segment != NONE)?;
    let (segment, place) = state.locate(at);
    let hold = state.segments[segment].hold(place);
    let part = if slot == WHOLE { hold.mask() } else { hold.mask() & 1 << slot };
    let slots = slots_of(part);
    Some((segment, hold, if group.is_backward { slots.rev().collect() } else { slots.collect() }))
}

fn hash_in(state: &State, segment: u32, slot: u32) -> ExportedHash {
    ExportedHash(SmallVec::from_slice(state.segments[segment].hash(slot)))
}

fn export_entries(
    state: &State,
    placed: &Placed,
    replicas: &Places,
    partitions: &Places,
    entries: &mut Vec<ExportedEntry>,
) {
    let Some((segment, hold, slots)) = placed_slots(state, placed) else { return };
    let group = &state.groups[placed.3];
    let partition = partitions.get(state.segments[segment].partition);
    let Some((replica, partition)) = replicas.get(group.owner).zip(partition) else { return };
    entries.extend(slots.into_iter().map(|slot| ExportedEntry {
        hash: hash_in(state, segment, slot),
        replica,
        partition,
        tokens: group.tokens_of(slot),
        tier: hold.tier(),
        last_seen: Timestamp::from_ns(group.at_ns(hold, slot)),
        hits: u32::from(group.hits),
    }));
}

fn export_keys(state: &State, placed: &Placed, partitions: &Places, keys: &mut Vec<ExportedKey>) {
    let Some((segment, hold, slots)) = placed_slots(state, placed) else { return };
    let group = &state.groups[placed.3];
    let Some(partition) = partitions.get(state.segments[segment].partition) else { return };
    keys.extend(slots.into_iter().map(|slot| ExportedKey {
        hash: hash_in(state, segment, slot),
        partition,
        reported_at: Timestamp::from_ns(group.at_ns(hold, slot)),
    }));
}
