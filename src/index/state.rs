//! The state behind the lock: storage, the key table, and the moves that keep all counts, orders and names in step.
//!
//! Every method works on what it names and nothing more; `work` counts what was touched.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::atomic::Ordering;

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashTable};

use super::arena::{Arena, NONE};
use super::entry::{Entry, Holding, Key, KeyHash};
use super::names::{Domain, Member, Partition, Scope, Tenant, name_bytes};
use super::twins::Twins;
use super::{IndexConfig, TenantSettings};
use crate::model::{TenantId, Tier};

/// Sub-tables of the key table: growing one rehashes a 4,096th of the keys at most.
const SHARDS: usize = 4096;

#[derive(Debug)]
pub(super) struct State {
    pub(super) config: IndexConfig,
    pub(super) tenants: Arena<Tenant>,
    pub(super) scopes: Arena<Scope>,
    pub(super) domains: Arena<Domain>,
    pub(super) partitions: Arena<Partition>,
    pub(super) members: Arena<Member>,
    pub(super) keys: Arena<Key>,
    pub(super) entries: Arena<Entry>,
    pub(super) tenant_by_id: HashMap<TenantId, u32>,
    pub(super) settings: HashMap<TenantId, TenantSettings>,
    /// Members without entries, by when they were last heard of as listed.
    pub(super) idle: BTreeSet<(i64, u32)>,
    /// Number of finished sweeps, from 1.
    pub(super) epoch: u32,
    /// Bytes of everything but the slots of keys and entries: long hashes, long lists of holders, orders, names.
    pub(super) heap_bytes: u64,
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
    table: Vec<HashTable<u32>>,
    hasher: RandomState,
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
            keys: Arena::default(),
            entries: Arena::default(),
            tenant_by_id: HashMap::new(),
            settings: HashMap::new(),
            idle: BTreeSet::new(),
            epoch: 1,
            heap_bytes: 0,
            due: BTreeSet::new(),
            credited: Vec::new(),
            twins: Twins::default(),
            work: 0,
            longest_section: 0,
            table: std::iter::repeat_with(HashTable::new).take(SHARDS).collect(),
            hasher: RandomState::default(),
            by_size: BTreeSet::new(),
            resized: Vec::new(),
            emptied_partitions: Vec::new(),
            emptied_scopes: Vec::new(),
            stale_rosters: Vec::new(),
        }
    }

    /// Bytes of the index by its own count: what keys and entries take, their share of the table included.
    pub(super) fn memory_bytes(&self) -> u64 {
        const KEY: usize = size_of::<Key>() + 2 * size_of::<u32>();
        self.heap_bytes + (self.entries.len() * size_of::<Entry>()) as u64 + (self.keys.len() * KEY) as u64
    }

    fn hash(&self, partition: u32, hash: &[u8]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u32(partition);
        hasher.write(hash);
        hasher.finish()
    }

    pub(super) fn find_key(&self, partition: u32, hash: &[u8]) -> Option<u32> {
        let code = self.hash(partition, hash);
        self.table[shard(code)]
            .find(code, |key| {
                let key = &self.keys[*key];
                key.partition == partition && key.hash.as_bytes() == hash
            })
            .copied()
    }

    pub(super) fn find_scope(&self, tenant: &str, model: &str) -> Option<u32> {
        let tenant = self.tenant_by_id.get(tenant)?;
        self.tenants[*tenant].scopes.get(model).copied()
    }

    pub(super) fn tenant_of_partition(&self, partition: u32) -> u32 {
        let domain = self.partitions[partition].domain;
        self.scopes[self.domains[domain].scope].tenant
    }

    /// Adds or refreshes one entry. The newest time wins tokens and tier; at equal times the later arrival.
    pub(super) fn upsert(&mut self, partition: u32, member: u32, block: Block<'_>) {
        self.work += 1;
        let key = match self.find_key(partition, block.hash) {
            Some(key) => key,
            None => self.insert_key(partition, block.hash, block.at_ns),
        };
        if self.keys[key].reported_at_ns < block.at_ns {
            let tenant = self.tenant_of_partition(partition);
            self.keys[key].reported_at_ns = block.at_ns;
            let order = &mut self.tenants[tenant].keys_by_age;
            self.heap_bytes -= order.remove(&mut self.keys, key);
            self.heap_bytes += order.insert(&mut self.keys, key, block.at_ns);
        }
        match self.keys[key].holders.binary_search_by_key(&member, |holding| holding.member) {
            Ok(place) => self.refresh(key, place, block),
            Err(place) => self.insert_entry(key, member, place, block),
        }
    }

    fn refresh(&mut self, key: u32, place: usize, block: Block<'_>) {
        let holding = &mut self.keys[key].holders[place];
        if block.at_ns < holding.last_seen_ns {
            return;
        }
        let is_newer = block.at_ns > holding.last_seen_ns;
        *holding = Holding { last_seen_ns: block.at_ns, tokens: block.tokens, tier: block.tier, ..*holding };
        let entry = holding.entry;
        if is_newer {
            let hits = self.entries[entry].hits;
            self.relane(entry, hits, block.at_ns);
        }
    }

    /// Moves an entry to its place for `hits` and `last_seen_ns`.
    pub(super) fn relane(&mut self, at: u32, hits: u32, last_seen_ns: i64) {
        self.work += 1;
        let tenant = self.tenant_of_partition(self.keys[self.entries[at].key].partition);
        self.leave_lane(tenant, at);
        self.entries[at].hits = hits;
        let lane = self.tenants[tenant].lanes.entry(hits).or_default();
        self.heap_bytes += lane.insert(&mut self.entries, at, last_seen_ns);
        if hits > 0 && !std::mem::replace(&mut self.tenants[tenant].is_credited, true) {
            self.credited.push(tenant);
        }
    }

    fn leave_lane(&mut self, tenant: u32, at: u32) {
        let lanes = &mut self.tenants[tenant].lanes;
        let hits = self.entries[at].hits;
        if let Some(lane) = lanes.get_mut(&hits) {
            self.heap_bytes -= lane.remove(&mut self.entries, at);
            if hits > 0 && lane.is_empty() {
                lanes.remove(&hits);
            }
        }
    }

    fn insert_key(&mut self, partition: u32, hash: &[u8], at_ns: i64) -> u32 {
        let stored = KeyHash::new(hash);
        self.heap_bytes += stored.heap_bytes() as u64;
        let key = self.keys.insert(Key { hash: stored, partition, reported_at_ns: at_ns, ..Key::default() });
        let code = self.hash(partition, hash);
        let (keys, hasher) = (&self.keys, &self.hasher);
        self.table[shard(code)].insert_unique(code, key, |key| {
            let key = &keys[*key];
            let mut state = hasher.build_hasher();
            state.write_u32(key.partition);
            state.write(key.hash.as_bytes());
            state.finish()
        });
        let domain = self.partitions[partition].domain;
        let scope = self.domains[domain].scope;
        let tenant = self.scopes[scope].tenant;
        self.partitions[partition].keys += 1;
        self.domains[domain].keys += 1;
        self.scopes[scope].keys += 1;
        self.tenants[tenant].keys += 1;
        self.heap_bytes += self.tenants[tenant].keys_by_age.insert(&mut self.keys, key, at_ns);
        if self.partitions[partition].has_twins {
            self.twins.insert(scope, &self.keys[key].hash, key);
            self.heap_bytes += Twins::KEY_BYTES;
        }
        key
    }

    fn insert_entry(&mut self, key: u32, member: u32, place: usize, block: Block<'_>) {
        let last = self.members[member].last;
        let entry = self.entries.insert(Entry { key, member, previous_of_member: last, ..Entry::default() });
        if last != NONE {
            self.entries[last].next_of_member = entry;
        }
        let partition = self.keys[key].partition;
        self.heap_bytes -= spilled(&self.keys[key]);
        let (last_seen_ns, tokens, tier) = (block.at_ns, block.tokens, block.tier);
        let holding = Holding { last_seen_ns, member, entry, tokens, tier };
        self.keys[key].holders.insert(place, holding);
        self.heap_bytes += spilled(&self.keys[key]);
        let owner = &mut self.members[member];
        owner.last = entry;
        if owner.first == NONE {
            owner.first = entry;
        }
        owner.entries += 1;
        let domain = self.partitions[partition].domain;
        let serving = self.domains[domain].serving.entry(member).or_insert(0);
        *serving += 1;
        if *serving == 1 {
            self.mark_roster(domain);
        }
        let scope = self.domains[domain].scope;
        self.scopes[scope].entries += 1;
        if self.members[member].entries == 1 {
            self.scopes[scope].serving += 1;
        }
        let tenant = self.scopes[scope].tenant;
        self.tenants[tenant].entries += 1;
        self.mark_resized(tenant);
        let lane = self.tenants[tenant].lanes.entry(0).or_default();
        self.heap_bytes += lane.insert(&mut self.entries, entry, block.at_ns);
        let due_ns = block.at_ns.saturating_add(self.tenants[tenant].settings.ttl_ns);
        if self.tenants[tenant].due_ns.is_none_or(|listed| due_ns < listed) {
            self.list_due(tenant, Some(due_ns));
        }
    }

    /// Removes one entry, and its key with the last one.
    pub(super) fn remove_entry(&mut self, at: u32) {
        self.work += 1;
        let key = self.entries[at].key;
        let partition = self.keys[key].partition;
        let domain = self.partitions[partition].domain;
        let scope = self.domains[domain].scope;
        let tenant = self.scopes[scope].tenant;
        self.leave_lane(tenant, at);
        let entry = self.entries.remove(at);
        self.heap_bytes -= spilled(&self.keys[key]);
        let holders = &mut self.keys[key].holders;
        if let Ok(place) = holders.binary_search_by_key(&entry.member, |holding| holding.member) {
            holders.remove(place);
        }
        holders.shrink_to_fit();
        let is_last_holder = holders.is_empty();
        self.heap_bytes += spilled(&self.keys[key]);
        self.unlink_member(&entry);
        let serving = &mut self.domains[domain].serving;
        if let Some(count) = serving.get_mut(&entry.member) {
            *count -= 1;
            if *count == 0 {
                serving.remove(&entry.member);
                self.mark_roster(domain);
            }
        }
        self.scopes[scope].entries -= 1;
        self.tenants[tenant].entries -= 1;
        self.mark_resized(tenant);
        if is_last_holder {
            self.remove_key(key);
        }
    }

    fn unlink_member(&mut self, entry: &Entry) {
        let Entry { member, previous_of_member: previous, next_of_member: next, .. } = *entry;
        match previous {
            NONE => self.members[member].first = next,
            previous => self.entries[previous].next_of_member = next,
        }
        match next {
            NONE => self.members[member].last = previous,
            next => self.entries[next].previous_of_member = previous,
        }
        let owner = &mut self.members[member];
        owner.entries -= 1;
        if owner.entries > 0 {
            return;
        }
        if owner.replica.is_none() {
            self.heap_bytes -= name_bytes::<Member>("");
            self.members.remove(member);
            return;
        }
        let scope = owner.scope;
        self.scopes[scope].serving -= 1;
        self.list_idle(member);
    }

    /// Removes a key that nobody holds.
    fn remove_key(&mut self, at: u32) {
        let partition = self.keys[at].partition;
        let code = self.hash(partition, self.keys[at].hash.as_bytes());
        let table = &mut self.table[shard(code)];
        if let Ok(found) = table.find_entry(code, |key| *key == at) {
            found.remove();
        }
        let domain = self.partitions[partition].domain;
        let scope = self.domains[domain].scope;
        let tenant = self.scopes[scope].tenant;
        self.heap_bytes -= self.tenants[tenant].keys_by_age.remove(&mut self.keys, at);
        let key = self.keys.remove(at);
        if self.partitions[partition].has_twins {
            self.twins.remove(scope, &key.hash, at);
            self.heap_bytes -= Twins::KEY_BYTES;
        }
        self.heap_bytes -= key.hash.heap_bytes() as u64;
        self.scopes[scope].hot.shift(key.hit_epoch.load(Ordering::Relaxed), 0, self.epoch);
        self.partitions[partition].keys -= 1;
        self.domains[domain].keys -= 1;
        self.scopes[scope].keys -= 1;
        self.tenants[tenant].keys -= 1;
        if self.partitions[partition].keys == 0 {
            self.emptied_partitions.push(partition);
        }
    }

    /// Records a delivered hit on a key; needs no exclusive access.
    pub(super) fn mark_hot(&self, key: u32) {
        let key = &self.keys[key];
        let old = key.hit_epoch.swap(self.epoch, Ordering::Relaxed);
        if old != self.epoch {
            let scope = self.domains[self.partitions[key.partition].domain].scope;
            self.scopes[scope].hot.shift(old, self.epoch, self.epoch);
        }
    }
}

/// One block to store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    pub(super) hash: &'a [u8],
    /// Tokens of the prefix up to and including the block.
    pub(super) tokens: i32,
    pub(super) tier: Tier,
    pub(super) at_ns: i64,
}

fn shard(code: u64) -> usize {
    // The table takes its own bits from both ends of the code, so the shard comes from the middle.
    (code >> 32) as usize % SHARDS
}

fn spilled(key: &Key) -> u64 {
    if key.holders.spilled() { (key.holders.capacity() * size_of::<Holding>()) as u64 } else { 0 }
}
