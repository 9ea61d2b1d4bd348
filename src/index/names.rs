//! The named levels above the keys: tenant, scope (tenant, model), domain (tenant, model, hash scheme), partition
//! (domain, adapter), member (scope, replica). Each is interned once; keys and entries refer to positions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::TenantSettings;
use super::arena::NONE;
use super::idle::Idle;
use super::order::Order;
use crate::decision::{Roster, StatsSeen};
use crate::model::{AdapterId, HashScheme, ModelId, ReplicaId, TenantId, Timestamp};

#[derive(Debug, Default)]
pub(super) struct Tenant {
    pub(super) id: Option<TenantId>,
    pub(super) settings: TenantSettings,
    pub(super) scopes: HashMap<ModelId, u32>,
    pub(super) keys: u64,
    pub(super) entries: u64,
    /// `entries` as the ranking of tenants by size last saw it.
    pub(super) listed_entries: u64,
    pub(super) size_is_dirty: bool,
    /// Groups of entries by delivered hits, each lane by age; LRU has lane 0 only.
    pub(super) lanes: BTreeMap<u32, Order>,
    /// Groups of keys by the time of their last report.
    pub(super) keys_by_age: Order,
    /// Sweep epoch in which hits were last halved.
    pub(super) halved_epoch: u32,
    /// Lane that a halving in progress has reached; 0 where none is.
    pub(super) halving_from: u32,
    /// Whether it is listed among the tenants whose entries may have hits.
    pub(super) is_credited: bool,
    /// Time under which it is listed among the tenants with entries; none of them expires earlier.
    pub(super) due_ns: Option<i64>,
}

#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) tenant: u32,
    pub(super) model: Option<ModelId>,
    pub(super) domains: HashMap<HashScheme, u32>,
    pub(super) members: HashMap<ReplicaId, u32>,
    pub(super) keys: u64,
    pub(super) entries: u64,
    /// Members with entries.
    pub(super) serving: u64,
    /// Whether any member ever reported statistics.
    pub(super) has_stats: bool,
    /// Members that were cleared and whose entries are on their way out.
    pub(super) clearing: u32,
    pub(super) hot: HotKeys,
    /// Members without entries.
    pub(super) idle: Idle,
    /// Its partitions whose keys are not listed among the twins.
    pub(super) asked: SmallVec<[u32; 2]>,
}

#[derive(Debug, Default)]
pub(super) struct Domain {
    pub(super) scope: u32,
    pub(super) scheme: Option<HashScheme>,
    pub(super) partitions: HashMap<AdapterId, u32>,
    pub(super) keys: u64,
    /// Entries of each member.
    pub(super) serving: HashMap<u32, u64>,
    /// The members of `serving` in the order of their ids, and each one's place.
    pub(super) roster: Arc<Roster>,
    /// Where each member stands, by member.
    pub(super) places: Vec<Place>,
    pub(super) by_place: Vec<u32>,
    /// The place that a seat has in the roster now; free seats have none.
    pub(super) place_of_seat: Vec<u32>,
    /// Rosters so far.
    pub(super) epoch: u64,
    pub(super) roster_is_dirty: bool,
}

/// A member's place in the roster of a domain, which changes with the roster, and its seat, which is its own as long as it
/// is there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    pub(super) member: u32,
    pub(super) place: u32,
    pub(super) seat: u32,
}

#[derive(Debug, Default)]
pub(super) struct Partition {
    pub(super) domain: u32,
    pub(super) adapter: Option<AdapterId>,
    pub(super) keys: u64,
    /// Whether its keys are listed among the twins.
    pub(super) has_twins: bool,
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) scope: u32,
    /// `None` for a member that was cleared: its entries are on their way out, and no lookup sees them.
    pub(super) replica: Option<ReplicaId>,
    pub(super) entries: u64,
    /// First and last of its groups.
    pub(super) first: u32,
    pub(super) last: u32,
    /// The segment that took its latest new keys: where it may still have room, the next ones go there.
    pub(super) open: u32,
    pub(super) stats: Option<Stats>,
    pub(super) heard: Timestamp,
    /// When its last event came.
    pub(super) last_event: Option<Timestamp>,
    /// Whether it dropped everything and was not heard of since.
    pub(super) is_gone: bool,
}

impl Default for Member {
    fn default() -> Self {
        Self {
            scope: NONE,
            replica: None,
            entries: 0,
            first: NONE,
            last: NONE,
            open: NONE,
            stats: None,
            heard: Timestamp::MIN,
            last_event: None,
            is_gone: false,
        }
    }
}

/// A level of names, and what one of it takes of the heap beside its slot and its text: maps, orders and lists take
/// hundreds of bytes with one item in them, and callers may bring ever new names with one key each.
pub(super) trait Level {
    /// Bytes with one thing below it.
    const BESIDE: usize;
}

/// The smallest map of names or members.
const MAP: usize = 128;
/// The smallest node of a tree.
const NODE: usize = 320;
/// A place in a map or a tree that many share.
const SHARED_PLACE: usize = 48;

impl Level for Tenant {
    // Scopes; lanes, an order in them, and that of the keys; among all tenants by id, by size and by time.
    const BESIDE: usize = MAP + 3 * NODE + 3 * SHARED_PLACE;
}

impl Level for Scope {
    // Domains and members.
    const BESIDE: usize = 2 * MAP;
}

impl Level for Domain {
    // Partitions, members that serve it, and the roster.
    const BESIDE: usize = 3 * MAP;
}

impl Level for Partition {
    // The lists of a segment that it shares with no other.
    const BESIDE: usize = 160;
}

impl Level for Member {
    // Among those without entries, or among those that serve, three times over; the lists of a segment of its own.
    const BESIDE: usize = 3 * SHARED_PLACE + 160;
}

/// Bytes that a name takes beside its level's slot: its text, a place in the map of the level above, and what it needs
/// for what is below it.
pub(super) fn name_bytes<T: Level>(name: &str) -> u64 {
    const MAP_PLACE: usize = 2 * size_of::<usize>() + size_of::<u64>();
    (size_of::<T>() + 2 * size_of::<usize>() + name.len() + MAP_PLACE + T::BESIDE) as u64
}

/// Statistics of a member, cleaned.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stats {
    pub(super) seen: StatsSeen,
    pub(super) cache_memory_bytes: i64,
    pub(super) client_version: Box<str>,
    pub(super) t2_hit_tokens: i64,
    pub(super) t2_query_tokens: i64,
}

/// Number of keys hit in the running sweep epoch and in the one before; kept without a lock, since a lookup that was
/// delivered marks its keys while others read.
#[derive(Debug, Default)]
pub(super) struct HotKeys {
    /// By epoch modulo 2: the epoch in the high half, the count in the low half.
    slots: [AtomicU64; 2],
}

impl HotKeys {
    /// So many keys move from `old` (their last hit's epoch, 0 for none) to `new`; `new` 0 removes them.
    pub(super) fn shift(&self, old: u32, new: u32, keys: u32, current: u32) {
        if keys == 0 {
            return;
        }
        if old != 0 && current.saturating_sub(old) <= 1 {
            self.change(old, |count| count.saturating_sub(keys));
        }
        if new != 0 {
            self.change(new, |count| count.saturating_add(keys));
        }
    }

    fn change(&self, epoch: u32, step: impl Fn(u32) -> u32) {
        let slot = &self.slots[epoch as usize % 2];
        let _ = slot.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |packed| {
            let held = (packed >> 32) as u32;
            let count = if held == epoch { packed as u32 } else { 0 };
            Some(u64::from(epoch) << 32 | u64::from(step(count)))
        });
    }

    /// Keys hit in `current` or the epoch before.
    pub(super) fn count(&self, current: u32) -> u64 {
        self.slots
            .iter()
            .map(|slot| slot.load(Ordering::Relaxed))
            .filter(|packed| current.saturating_sub((packed >> 32) as u32) <= 1)
            .map(|packed| packed & u64::from(u32::MAX))
            .sum()
    }
}
