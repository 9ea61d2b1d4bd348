//! The index: which replica holds which block of which prefix, and what is known of each replica.
//!
//! Key: (tenant, model, hash scheme, adapter, hash); value for each replica: tokens, last seen, tier. One lock guards
//! all of it, so that a lookup sees one instant. Writers hold it for a bounded number of blocks at a time: a report, a
//! sweep, a clearing or an eviction pass is many short critical sections, and a lookup waits for one of them at most.

mod apply;
mod arena;
mod credit;
mod crowd;
mod events;
mod evict;
mod export;
mod group;
mod idle;
mod ingest;
mod lock;
mod names;
mod naming;
mod order;
mod read;
mod regroup;
mod remove;
mod report;
mod restore;
mod segment;
mod snapshot;
mod state;
mod store;
mod sweep;
mod table;
mod twins;
mod walk;

use hashbrown::HashMap;
use parking_lot::{RwLockReadGuard, RwLockWriteGuard};

pub use apply::Applied;
pub use events::EventApplied;
pub use export::{
    Export, ExportedEntry, ExportedHash, ExportedKey, ExportedPartition, ExportedReplica, Piece,
};
pub use ingest::DropCause;
pub use report::{CacheState, DomainFacts, IndexGauges, ReplicaState};
pub use snapshot::{ReplicaRow, RowStats, Snapshot, TenantRow};
pub use sweep::Swept;

use self::lock::Lock;
use self::state::State;
use crate::model::{Eviction, Limits, TenantId, Timestamp};

/// Blocks that one critical section touches at most; a lookup waits for no more.
pub const BLOCKS_PER_SECTION: u64 = 256;
/// Blocks that are stored or removed in one step where lookups waited of late, before it is asked whether one waits.
const SHORT_STEP: u64 = 8;

/// Under LFU, entries last seen more recently than this go last.
const LFU_GRACE_NS: i64 = 60_000_000_000;

/// What a policy says to the index about one tenant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TenantSettings {
    /// Nanoseconds an entry lives after its last report; above 0.
    pub ttl_ns: i64,
    /// Victim order over the cap.
    pub eviction: Eviction,
    /// Distinct keys; `u64::MAX` is no bound.
    pub max_keys: u64,
}

impl Default for TenantSettings {
    fn default() -> Self {
        Self { ttl_ns: 30 * 60 * 1_000_000_000, eviction: Eviction::Lru, max_keys: u64::MAX }
    }
}

/// Bounds of the index.
#[derive(Clone, Copy, Debug)]
pub struct IndexConfig {
    /// Replica entries.
    pub max_entries: u64,
    /// Bytes, by the index's own count.
    pub max_memory_bytes: u64,
    /// Replicas of one (tenant, model).
    pub max_replicas_per_scope: usize,
    /// Replicas of all (tenant, model), those without entries included.
    pub max_replica_records: usize,
    /// A replica without entries that has not been heard of for this long is forgotten, in nanoseconds.
    pub forget_replica_after_ns: i64,
    /// Limits of one update.
    pub limits: Limits,
    /// Settings of tenants without a policy.
    pub default_settings: TenantSettings,
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self {
            max_entries: 1_000_000,
            max_memory_bytes: u64::MAX,
            max_replicas_per_scope: 16_384,
            max_replica_records: 65_536,
            forget_replica_after_ns: 30 * 60 * 1_000_000_000,
            limits: Limits::default(),
            default_settings: TenantSettings::default(),
        }
    }
}

/// What went, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EvictionCounts {
    /// Entries evicted over the cap, in LRU order.
    pub cap_lru: u64,
    /// Entries evicted over the cap, in LFU order.
    pub cap_lfu: u64,
    /// Distinct keys evicted over the tenant's quota.
    pub quota_keys: u64,
}

/// The fleet-wide index.
pub struct Index {
    state: Lock<State>,
    limits: Limits,
}

impl Index {
    /// An empty index.
    pub fn new(config: IndexConfig) -> Self {
        // Positions are 32 bits with one value for none; beyond that the cap is the bound.
        let max_entries = config.max_entries.min(u64::from(u32::MAX) - 1);
        Self { state: Lock::new(State::new(IndexConfig { max_entries, ..config })), limits: config.limits }
    }

    /// Replaces the settings of all tenants; `quotas` that became smaller take effect before this returns.
    ///
    /// Returns the distinct keys evicted, by tenant.
    pub fn set_tenant_settings(
        &self,
        default: TenantSettings,
        by_tenant: HashMap<TenantId, TenantSettings>,
    ) -> Vec<(TenantId, u64)> {
        let replaced = {
            let mut state = self.state.write();
            state.config.default_settings = default;
            std::mem::replace(&mut state.settings, by_tenant)
        };
        drop(replaced);
        // A tenant that comes from here on has the new settings already.
        let mut evicted = Vec::new();
        let (mut at, mut count) = (0, 0);
        let mut section = self.section();
        while at < section.tenants.slots() {
            if section.is_full() {
                section.renew();
                continue;
            }
            if section.tenants.get(at).is_none() {
                at += 1;
                continue;
            }
            section.work += 1;
            section.renew_settings(at);
            let until = section.start + BLOCKS_PER_SECTION;
            count += section.enforce_quota(at, until);
            if section.is_over_quota(at) {
                continue;
            }
            if let Some(id) = section.tenants[at].id.clone().filter(|_| count > 0) {
                evicted.push((id, count));
            }
            (at, count) = (at + 1, 0);
        }
        section.end();
        evicted
    }

    /// Keys, entries and names touched by writes so far: the cost of an operation, free of clocks.
    pub fn work(&self) -> u64 {
        self.read_state().work
    }

    /// The most work that one critical section did so far: [`BLOCKS_PER_SECTION`], and what the last block needed.
    pub fn longest_section(&self) -> u64 {
        self.read_state().longest_section
    }

    /// The state for reading, at one instant.
    fn read_state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read()
    }

    /// Opens a critical section.
    fn section(&self) -> Section<'_> {
        let state = self.state.write();
        let start = state.work;
        Section { index: self, state, start }
    }
}

/// A critical section of a write. It ends by itself; names and rosters are put in order then.
struct Section<'a> {
    index: &'a Index,
    state: RwLockWriteGuard<'a, State>,
    start: u64,
}

impl Section<'_> {
    /// Whether it has to end: it has touched as many blocks as it may, or some and a lookup waits.
    fn is_full(&self) -> bool {
        let done = self.state.work - self.start;
        done >= BLOCKS_PER_SECTION || done > 0 && self.index.state.is_wanted()
    }

    /// Blocks that it may touch before it asks again; 1 at least.
    fn left(&self) -> u64 {
        let left = (self.start + BLOCKS_PER_SECTION).saturating_sub(self.state.work).max(1);
        if self.index.state.is_contended() { left.min(SHORT_STEP) } else { left }
    }

    /// Ends the section and lets waiting lookups in first.
    fn end(mut self) {
        self.close();
        RwLockWriteGuard::unlock_fair(self.state);
    }

    /// Ends the section, lets waiting lookups in, and begins another.
    fn renew(&mut self) {
        self.close();
        RwLockWriteGuard::unlocked_fair(&mut self.state, || self.index.state.give_way());
        self.start = self.state.work;
    }

    fn close(&mut self) {
        self.state.settle();
        self.state.longest_section = self.state.longest_section.max(self.state.work - self.start);
    }
}

impl std::ops::Deref for Section<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl std::ops::DerefMut for Section<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

/// The time a producer gave, never later than the server's: a skewed clock must not keep entries for ever.
fn not_later(at: Option<Timestamp>, now: Timestamp) -> Timestamp {
    at.map_or(now, |at| at.min(now))
}
