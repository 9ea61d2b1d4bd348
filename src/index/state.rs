//! The state behind the lock: storage, and the moves that keep all counts, orders and names in step.
//!
//! Every method works on what it names and nothing more; `work` counts what was touched.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;

use super::arena::{Arena, NONE};
use super::group::Group;
use super::names::{Domain, Member, Partition, Scope, Tenant};
use super::regroup::Kind;
use super::segment::{SLOTS, Segment, place_of, slots_of};
use super::table::{KEY_BYTES, Table};
use super::twins::Twins;
use super::{IndexConfig, TenantSettings};
use crate::model::{HashList, TenantId};

#[derive(Debug)]
pub(super) struct State {
    pub(super) config: IndexConfig,
    pub(super) tenants: Arena<Tenant>,
    pub(super) scopes: Arena<Scope>,
    pub(super) domains: Arena<Domain>,
    pub(super) partitions: Arena<Partition>,
    pub(super) members: Arena<Member>,
    pub(super) segments: Arena<Segment>,
    pub(super) groups: Arena<Group>,
    /// Distinct keys, and what replicas hold of them.
    pub(super) keys: u64,
    pub(super) entries: u64,
    /// Moves to a new place in an order so far, of keys and of entries.
    pub(super) key_arrivals: u64,
    pub(super) entry_arrivals: u64,
    pub(super) tenant_by_id: HashMap<TenantId, u32>,
    pub(super) settings: HashMap<TenantId, TenantSettings>,
    /// Members without entries, by when they were last heard of.
    pub(super) idle: BTreeSet<(i64, u32)>,
    /// Number of finished sweeps, from 1.
    pub(super) epoch: u32,
    /// Bytes of everything but the slots of segments and the key table: lists of segments, groups, orders, names.
    pub(super) heap_bytes: u64,
    /// Bytes of crowds, which lookups make.
    pub(super) crowd_bytes: AtomicU64,
    /// Tenants with entries, by a time before which none of those expires.
    pub(super) due: BTreeSet<(i64, u32)>,
    /// Tenants whose entries may have hits.
    pub(super) credited: Vec<u32>,
    pub(super) twins: Twins,
    /// Keys, entries and names touched by writes.
    pub(super) work: u64,
    /// Most work of one critical section.
    pub(super) longest_section: u64,
    /// Tenants by size; of equal ones the first by id counts as the larger.
    pub(super) by_size: BTreeSet<(u64, Reverse<TenantId>, u32)>,
    pub(super) resized: Vec<u32>,
    pub(super) emptied_partitions: Vec<u32>,
    pub(super) emptied_scopes: Vec<u32>,
    pub(super) stale_rosters: Vec<u32>,
    pub(super) table: Table,
}

/// A partition with the levels above it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    pub(super) partition: u32,
    pub(super) domain: u32,
    pub(super) scope: u32,
    pub(super) tenant: u32,
}

impl State {
    pub(super) fn new(config: IndexConfig) -> Self {
        Self {
            config,
            tenants: Arena::default(),
            scopes: Arena::default(),
            domains: Arena::default(),
            partitions: Arena::default(),
            members: Arena::default(),
            segments: Arena::default(),
            groups: Arena::default(),
            keys: 0,
            entries: 0,
            key_arrivals: 0,
            entry_arrivals: 0,
            tenant_by_id: HashMap::new(),
            settings: HashMap::new(),
            idle: BTreeSet::new(),
            epoch: 1,
            heap_bytes: 0,
            crowd_bytes: AtomicU64::new(0),
            due: BTreeSet::new(),
            credited: Vec::new(),
            twins: Twins::default(),
            work: 0,
            longest_section: 0,
            by_size: BTreeSet::new(),
            resized: Vec::new(),
            emptied_partitions: Vec::new(),
            emptied_scopes: Vec::new(),
            stale_rosters: Vec::new(),
            table: Table::default(),
        }
    }

    /// Bytes of the index by its own count: what keys and entries take, their share of the table included.
    pub(super) fn memory_bytes(&self) -> u64 {
        let crowds = self.crowd_bytes.load(Ordering::Relaxed);
        let segments = (self.segments.len() * size_of::<Segment>()) as u64;
        self.heap_bytes + crowds + segments + self.keys * KEY_BYTES
    }

    pub(super) fn find_key(&self, partition: u32, hash: &[u8]) -> Option<u32> {
        self.find_coded(partition, hash, self.table.code(partition, hash))
    }

    /// The same for a hash whose code is known.
    pub(super) fn find_coded(&self, partition: u32, hash: &[u8], code: u64) -> Option<u32> {
        self.table.find(code, |key| {
            let (segment, slot) = place_of(*key);
            let segment = &self.segments[segment];
            segment.partition == partition && segment.has(slot, hash)
        })
    }

    /// Whether the key at `guess` is the one of `hash`.
    pub(super) fn is_key(&self, guess: u32, partition: u32, hash: &[u8]) -> bool {
        let (segment, slot) = place_of(guess);
        guess != NONE
            && self.segments.get(segment).is_some_and(|segment| {
                segment.partition == partition && (slot as usize) < segment.len() && segment.has(slot, hash)
            })
    }

    /// The segment of `key`, its place, and how many keys from there on are there and have the hashes from `at` on;
    /// `None` where not one does.
    pub(super) fn run_at(
        &self,
        key: u32,
        partition: u32,
        hashes: HashList<'_>,
        at: usize,
    ) -> Option<(&Segment, u32, u32, u32)> {
        let (number, slot) = place_of(key);
        let segment = self.segments.get(number).filter(|segment| segment.partition == partition)?;
        let count = segment.run(slot, hashes, at);
        (count > 0).then_some((segment, number, slot, count))
    }

    /// The key that most likely follows `key`.
    pub(super) fn guess_after(&self, key: u32) -> u32 {
        let (segment, slot) = place_of(key);
        match self.segments.get(segment) {
            Some(held) if slot as usize + 1 < held.len() => key + 1,
            Some(held) => held.next,
            None => NONE,
        }
    }

    pub(super) fn find_scope(&self, tenant: &str, model: &str) -> Option<u32> {
        let tenant = self.tenant_by_id.get(tenant)?;
        self.tenants[*tenant].scopes.get(model).copied()
    }

    pub(super) fn path_of(&self, partition: u32) -> Path {
        let domain = self.partitions[partition].domain;
        let scope = self.domains[domain].scope;
        Path { partition, domain, scope, tenant: self.scopes[scope].tenant }
    }

    /// Slots of `mask` that the group at `at` holds since a time that is wanted.
    pub(super) fn slots_where(
        &self,
        segment: u32,
        at: usize,
        mask: u64,
        is_wanted: impl Fn(i64) -> bool,
    ) -> u64 {
        let held = &self.segments[segment];
        let hold = held.hold(at);
        let part = hold.mask() & mask;
        if !hold.is_varied() {
            return if is_wanted(hold.at_ns()) { part } else { 0 };
        }
        let group = &self.groups[held.ids[at]];
        let wanted = slots_of(part).filter(|slot| is_wanted(group.at_ns(hold, *slot)));
        wanted.fold(0, |mask, slot| mask | 1 << slot)
    }

    /// Gives each slot of `part`, held by the group at `at`, other hits, as the latest to arrive.
    pub(super) fn relane(&mut self, tenant: u32, segment: u32, at: usize, part: u64, hits: u8) {
        self.work += u64::from(part.count_ones());
        let (hold, id) = (self.segments[segment].hold(at), self.segments[segment].ids[at]);
        let group = self.groups[id].clone();
        self.take(tenant, segment, at, part);
        let mut tokens = [0; SLOTS];
        slots_of(part).for_each(|slot| tokens[slot as usize] = group.tokens_of(slot));
        let kind = |at_ns| Kind { owner: hold.owner(), tier: hold.tier(), hits, at_ns };
        if hold.is_varied() {
            for slot in slots_of(part) {
                self.put(tenant, segment, 1 << slot, kind(group.at_ns(hold, slot)), &tokens);
            }
        } else {
            self.put(tenant, segment, part, kind(hold.at_ns()), &tokens);
        }
        self.mark_credited(tenant, hits);
    }

    pub(super) fn mark_credited(&mut self, tenant: u32, hits: u8) {
        if hits > 0 && !std::mem::replace(&mut self.tenants[tenant].is_credited, true) {
            self.credited.push(tenant);
        }
    }
}
