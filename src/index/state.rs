//! The state behind the lock: storage, and the moves that keep all counts, orders and names in step.
//!
//! Every method works on what it names and nothing more; `work` counts what was touched.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::arena::{Arena, NONE};
use super::groups::{Kind, Tokens};
use super::names::{Domain, Member, Partition, Scope, Tenant, name_bytes};
use super::segment::{Group, MAX_SEGMENTS, SLOTS, Segment, key_in, place_of, slots_of, span};
use super::table::{KEY_BYTES, Table};
use super::twins::Twins;
use super::{IndexConfig, TenantSettings};
use crate::model::{HashList, TenantId, Tier};

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
    /// Members without entries, by when they were last heard of as listed.
    pub(super) idle: BTreeSet<(i64, u32)>,
    /// Number of finished sweeps, from 1.
    pub(super) epoch: u32,
    /// Bytes of everything but the slots of segments and the key table: lists of segments, groups, orders, names.
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
    table: Table,
}

/// A partition with the levels above it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    pub(super) partition: u32,
    pub(super) domain: u32,
    pub(super) scope: u32,
    pub(super) tenant: u32,
}

/// Blocks to store: a part of a chain that fits into one segment.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    pub(super) hashes: HashList<'a>,
    /// Place of the first block in `hashes`.
    pub(super) at: usize,
    /// Tokens of the prefix up to and including each block from there; at most as many blocks are stored.
    pub(super) tokens: &'a [i32],
    pub(super) tier: Tier,
    pub(super) at_ns: i64,
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
        self.heap_bytes + (self.segments.len() * size_of::<Segment>()) as u64 + self.keys * KEY_BYTES
    }

    pub(super) fn find_key(&self, partition: u32, hash: &[u8]) -> Option<u32> {
        let code = self.table.code(partition, hash);
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

    /// The key that most likely follows `key`.
    pub(super) fn guess_after(&self, key: u32) -> u32 {
        let (segment, slot) = place_of(key);
        match self.segments.get(segment) {
            Some(held) if slot as usize + 1 < held.len() => key + 1,
            Some(held) => held.next,
            None => NONE,
        }
    }

    /// A report named `next` behind `key`.
    fn link(&mut self, key: u32, next: u32) {
        let (segment, slot) = place_of(key);
        let Some(held) = self.segments.get(segment) else { return };
        if next != key.wrapping_add(1) && slot as usize + 1 == held.len() {
            self.segments[segment].next = next;
        }
    }

    /// Whether `blocks` more fit within all bounds for certain.
    pub(super) fn has_room(&self, tenant: u32, blocks: usize) -> bool {
        let (blocks, tenant) = (blocks as u64, &self.tenants[tenant]);
        // What a block takes at most when nothing is shared, and what its segment and a list of holders may grow by.
        const BLOCK_BYTES: u64 = 512;
        const LIST_BYTES: u64 = 1 << 20;
        let bytes = self.memory_bytes().saturating_add(blocks * BLOCK_BYTES + LIST_BYTES);
        self.entries + blocks <= self.config.max_entries
            && tenant.keys + blocks <= tenant.settings.max_keys
            && bytes <= self.config.max_memory_bytes
            && self.segments.len() + 1 < MAX_SEGMENTS
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

    /// Adds or refreshes as many of `blocks` as lie in one segment. The newest time wins tokens and tier; at equal times
    /// the later arrival. `last` is the key of the block before; gives how many were taken, and the last one's key.
    pub(super) fn store(&mut self, path: Path, member: u32, blocks: Blocks<'_>, last: u32) -> (usize, u32) {
        let hash = blocks.hashes.get(blocks.at);
        let guess = self.guess_after(last);
        let found = if self.is_key(guess, path.partition, hash) {
            Some(guess)
        } else {
            self.find_key(path.partition, hash)
        };
        let (segment, slot, count) = match found {
            Some(key) => {
                let (segment, slot) = place_of(key);
                let run = self.segments[segment].run(slot, blocks.hashes, blocks.at);
                (segment, slot, run.min(blocks.tokens.len() as u32))
            }
            None => self.add_keys(path, member, blocks, last),
        };
        self.work += u64::from(count);
        let mut tokens = [0; SLOTS];
        tokens[slot as usize..][..count as usize].copy_from_slice(&blocks.tokens[..count as usize]);
        self.link(last, key_in(segment, slot));
        let mask = span(slot, count);
        self.tell_times(path, segment, mask, blocks.at_ns);
        self.hold(path, member, segment, mask, blocks, &tokens);
        (count as usize, key_in(segment, slot + count - 1))
    }

    /// Adds the keys of leading blocks that are not there, the first of which is not; where they stand.
    fn add_keys(&mut self, path: Path, member: u32, blocks: Blocks<'_>, last: u32) -> (u32, u32, u32) {
        let hash = blocks.hashes.get(blocks.at);
        let left = blocks.tokens.len();
        let open = self.members[member].open;
        // Right behind the block before, or behind others where what comes would not fill half a segment.
        let (behind, slot) = place_of(last);
        let follows = last != NONE && behind == open && self.segments[open].len() == slot as usize + 1;
        let is_open = (follows || left < SLOTS / 2)
            && self
                .segments
                .get(open)
                .is_some_and(|held| held.partition == path.partition && held.admits(hash));
        let segment = if is_open {
            open
        } else {
            self.segments.insert(Segment::new(path.partition, hash, left.min(SLOTS)))
        };
        self.members[member].open = segment;
        let before = if is_open { self.segments[segment].heap_bytes() } else { 0 };
        let slot = self.segments[segment].len() as u32;
        let coder = self.table.coder();
        let mut count = 0;
        for at in 0..left {
            let hash = blocks.hashes.get(blocks.at + at);
            if !self.segments[segment].admits(hash) {
                break;
            }
            let code = coder.code(path.partition, hash);
            let segments = &self.segments;
            let is_known = at > 0
                && self
                    .table
                    .find(code, |key| {
                        let (segment, slot) = place_of(*key);
                        let segment = &segments[segment];
                        segment.partition == path.partition && segment.has(slot, hash)
                    })
                    .is_some();
            if is_known {
                break;
            }
            let key = key_in(segment, self.segments[segment].push(hash));
            let segments = &self.segments;
            self.table.insert(code, key, |key| {
                let (segment, slot) = place_of(*key);
                let segment = &segments[segment];
                coder.code(segment.partition, segment.hash(slot))
            });
            count += 1;
        }
        self.heap_bytes = self.heap_bytes + self.segments[segment].heap_bytes() - before;
        self.count_keys(path, segment, slot, count);
        (segment, slot, count)
    }

    fn count_keys(&mut self, path: Path, segment: u32, slot: u32, count: u32) {
        let keys = u64::from(count);
        self.keys += keys;
        self.partitions[path.partition].keys += keys;
        self.domains[path.domain].keys += keys;
        self.scopes[path.scope].keys += keys;
        self.tenants[path.tenant].keys += keys;
        if self.partitions[path.partition].has_twins {
            for slot in slot..slot + count {
                let hash = self.segments[segment].hash(slot);
                self.twins.insert(path.scope, hash, key_in(segment, slot));
                self.heap_bytes += Twins::KEY_BYTES;
            }
        }
    }

    /// The keys of `mask` were reported at `at_ns`.
    fn tell_times(&mut self, path: Path, segment: u32, mask: u64, at_ns: i64) {
        let mut told = 0;
        let mut stale = 0;
        for at in self.segments[segment].of_owner(NONE).rev() {
            let older = self.older(segment, at, mask, at_ns);
            told |= self.segments[segment].hold(at).mask() & mask;
            if older != 0 {
                stale |= older;
                self.take(path.tenant, segment, at, older);
            }
        }
        let due = stale | mask & !told;
        if due != 0 {
            let kind = Kind { owner: NONE, tier: Tier::T1, hits: 0, at_ns };
            self.put(path.tenant, segment, due, kind, &[0; SLOTS]);
        }
    }

    /// Slots of `mask` whose time in the group at `at` lies before `at_ns`.
    fn older(&self, segment: u32, at: usize, mask: u64, at_ns: i64) -> u64 {
        self.slots_where(segment, at, mask, |held_ns| held_ns < at_ns)
    }

    /// Slots of `mask` that the group at `at` holds since a time that is wanted.
    pub(super) fn slots_where(&self, segment: u32, at: usize, mask: u64, is_wanted: impl Fn(i64) -> bool) -> u64 {
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

    /// The member holds the slots of `mask` since `blocks.at_ns`.
    fn hold(&mut self, path: Path, member: u32, segment: u32, mask: u64, blocks: Blocks<'_>, tokens: &Tokens) {
        let Blocks { tier, at_ns, .. } = blocks;
        let mut held = 0;
        let mut moved: SmallVec<[(u8, u64); 2]> = SmallVec::new();
        let mut retold: SmallVec<[(u32, u64); 2]> = SmallVec::new();
        for at in self.segments[segment].of_owner(member).rev() {
            let (hold, id) = (self.segments[segment].hold(at), self.segments[segment].ids[at]);
            let part = hold.mask() & mask;
            if part == 0 {
                continue;
            }
            held |= part;
            let same = self.slots_where(segment, at, mask, |held_ns| held_ns == at_ns);
            let group = &self.groups[id];
            let is_told = |slot: &u32| hold.tier() == tier && group.tokens_of(*slot) == tokens[*slot as usize];
            let changed =
                slots_of(same).filter(|slot| !is_told(slot)).fold(0, |mask, slot| mask | 1_u64 << slot);
            if changed != 0 {
                retold.push((id, changed));
            }
            let older = self.older(segment, at, mask, at_ns);
            if older != 0 {
                let hits = group.hits;
                match moved.iter_mut().find(|(of, _)| *of == hits) {
                    Some((_, mask)) => *mask |= older,
                    None => moved.push((hits, older)),
                }
                self.work += u64::from(older.count_ones());
                self.take(path.tenant, segment, at, older);
            }
        }
        for (id, changed) in retold {
            self.retell(path.tenant, id, changed, tier, tokens);
        }
        let new = mask & !held;
        if new != 0 {
            match moved.iter_mut().find(|(of, _)| *of == 0) {
                Some((_, mask)) => *mask |= new,
                None => moved.push((0, new)),
            }
        }
        for (hits, mask) in moved {
            self.put(path.tenant, segment, mask, Kind { owner: member, tier, hits, at_ns }, tokens);
        }
        if new != 0 {
            self.count_entries(path, member, u64::from(new.count_ones()), at_ns);
        }
    }

    fn count_entries(&mut self, path: Path, member: u32, count: u64, at_ns: i64) {
        self.entries += count;
        let owner = &mut self.members[member];
        owner.entries += count;
        let is_first = owner.entries == count;
        let serving = self.domains[path.domain].serving.entry(member).or_insert(0);
        *serving += count;
        if *serving == count {
            self.mark_roster(path.domain);
        }
        self.scopes[path.scope].entries += count;
        self.scopes[path.scope].serving += u64::from(is_first);
        self.tenants[path.tenant].entries += count;
        self.mark_resized(path.tenant);
        let due_ns = at_ns.saturating_add(self.tenants[path.tenant].settings.ttl_ns);
        if self.tenants[path.tenant].due_ns.is_none_or(|listed| due_ns < listed) {
            self.list_due(path.tenant, Some(due_ns));
        }
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

    /// Removes the entries of a member's group at the slots of `part`, and the keys that nobody else holds; how many
    /// keys went.
    pub(super) fn remove_entries(&mut self, id: u32, part: u64) -> u64 {
        let (segment, at) = self.locate(id);
        let member = self.groups[id].owner;
        let count = u64::from(part.count_ones());
        self.work += count;
        let path = self.path_of(self.segments[segment].partition);
        self.take(path.tenant, segment, at, part);
        self.entries -= count;
        self.uncount_member(member, count);
        let serving = &mut self.domains[path.domain].serving;
        if let Some(left) = serving.get_mut(&member) {
            *left -= count;
            if *left == 0 {
                serving.remove(&member);
                self.mark_roster(path.domain);
            }
        }
        self.scopes[path.scope].entries -= count;
        self.tenants[path.tenant].entries -= count;
        self.mark_resized(path.tenant);
        let held = &self.segments[segment];
        let left = slots_of(part).filter(|slot| !held.is_held(*slot)).fold(0, |mask, slot| mask | 1 << slot);
        if left != 0 {
            self.remove_keys(path, segment, left);
        }
        u64::from(left.count_ones())
    }

    fn uncount_member(&mut self, member: u32, count: u64) {
        let owner = &mut self.members[member];
        owner.entries -= count;
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

    /// Removes keys that nobody holds.
    fn remove_keys(&mut self, path: Path, segment: u32, mask: u64) {
        let coder = self.table.coder();
        for slot in slots_of(mask) {
            let hash = self.segments[segment].hash(slot);
            self.table.remove(coder.code(path.partition, hash), key_in(segment, slot));
            if self.partitions[path.partition].has_twins {
                self.twins.remove(path.scope, hash, key_in(segment, slot));
                self.heap_bytes -= Twins::KEY_BYTES;
            }
        }
        for at in self.segments[segment].of_owner(NONE).rev() {
            let part = self.segments[segment].hold(at).mask() & mask;
            if part != 0 {
                self.take(path.tenant, segment, at, part);
            }
        }
        self.cool(path.scope, segment, mask);
        let keys = u64::from(mask.count_ones());
        self.keys -= keys;
        self.partitions[path.partition].keys -= keys;
        self.domains[path.domain].keys -= keys;
        self.scopes[path.scope].keys -= keys;
        self.tenants[path.tenant].keys -= keys;
        if self.partitions[path.partition].keys == 0 {
            self.emptied_partitions.push(path.partition);
        }
        let held = &mut self.segments[segment];
        held.present &= !mask;
        if held.present == 0 {
            self.heap_bytes -= held.heap_bytes();
            self.segments.remove(segment);
        }
    }

    /// Keys that go are hot no longer.
    fn cool(&mut self, scope: u32, segment: u32, mask: u64) {
        let heat = self.segments[segment].heat.get_mut();
        let (now, before) = (mask & heat.now, mask & heat.before & !heat.now);
        let epoch = heat.epoch;
        heat.now &= !mask;
        heat.before &= !mask;
        let hot = &self.scopes[scope].hot;
        hot.shift(epoch, 0, now.count_ones(), self.epoch);
        hot.shift(epoch.saturating_sub(1), 0, before.count_ones(), self.epoch);
    }

    /// Records a delivered hit on the keys of `mask`; needs no exclusive access.
    pub(super) fn mark_hot(&self, scope: u32, segment: u32, mask: u64) {
        let held = &self.segments[segment];
        let mask = mask & held.present;
        let mut heat = held.heat.lock();
        if heat.epoch != self.epoch {
            heat.before = if heat.epoch + 1 == self.epoch { heat.now } else { 0 };
            heat.now = 0;
            heat.epoch = self.epoch;
        }
        let new = mask & !heat.now;
        heat.now |= new;
        let warm = new & heat.before;
        let hot = &self.scopes[scope].hot;
        hot.shift(self.epoch - 1, self.epoch, warm.count_ones(), self.epoch);
        hot.shift(0, self.epoch, (new & !warm).count_ones(), self.epoch);
    }
}
