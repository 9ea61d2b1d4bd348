//! The state behind the lock: storage, the key table, and the moves that keep all counts, orders and names in step.
//!
//! Every method works on what it names and nothing more; `work` counts what was touched.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashTable};

use super::arena::{Arena, NONE};
use super::entry::{Entry, Holding, Key, KeyHash};
use super::names::{Domain, Member, Partition, Scope, Tenant};
use super::twins::{ASKED_PARTITIONS, Twins};
use super::{EvictionCounts, IndexConfig, TenantSettings};
use crate::decision::Roster;
use crate::model::{AdapterId, Eviction, HashScheme, ModelId, ReplicaId, TenantId, Tier, Timestamp};

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
    /// Bytes that keys hold outside their slots.
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
    table: Vec<HashTable<u32>>,
    hasher: RandomState,
    /// Tenants by size; of equal ones the first by id counts as the larger.
    by_size: BTreeSet<(u64, Reverse<TenantId>, u32)>,
    resized: Vec<u32>,
    emptied_partitions: Vec<u32>,
    emptied_scopes: Vec<u32>,
    stale_rosters: Vec<u32>,
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
        self.heap_bytes
            + (self.entries.len() * size_of::<Entry>()) as u64
            + (self.keys.len() * KEY) as u64
            + (self.members.len() * size_of::<Member>()) as u64
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

    pub(super) fn ensure_scope(&mut self, tenant: &str, model: &str) -> u32 {
        let tenant = match self.tenant_by_id.get(tenant) {
            Some(tenant) => *tenant,
            None => {
                let id = TenantId::from(tenant);
                let settings = self.settings.get(&id).copied().unwrap_or(self.config.default_settings);
                let at = self.tenants.insert(Tenant { id: Some(id.clone()), settings, ..Tenant::default() });
                self.tenant_by_id.insert(id, at);
                at
            }
        };
        if let Some(scope) = self.tenants[tenant].scopes.get(model) {
            return *scope;
        }
        let id = ModelId::from(model);
        let scope = self.scopes.insert(Scope { tenant, model: Some(id.clone()), ..Scope::default() });
        self.tenants[tenant].scopes.insert(id, scope);
        self.emptied_scopes.push(scope);
        scope
    }

    pub(super) fn ensure_partition(&mut self, scope: u32, scheme: &str, adapter: &str) -> u32 {
        let domain = match self.scopes[scope].domains.get(scheme) {
            Some(domain) => *domain,
            None => {
                let id = HashScheme::from(scheme);
                let domain =
                    self.domains.insert(Domain { scope, scheme: Some(id.clone()), ..Domain::default() });
                self.scopes[scope].domains.insert(id, domain);
                domain
            }
        };
        if let Some(partition) = self.domains[domain].partitions.get(adapter) {
            return *partition;
        }
        let id = AdapterId::from(adapter);
        let asked = &mut self.scopes[scope].asked;
        let has_twins = asked.len() >= ASKED_PARTITIONS;
        let partition =
            self.partitions.insert(Partition { domain, adapter: Some(id.clone()), keys: 0, has_twins });
        if !has_twins {
            asked.push(partition);
        }
        self.domains[domain].partitions.insert(id, partition);
        self.emptied_partitions.push(partition);
        partition
    }

    /// The member for `replica`; `None` where the scope or the server has as many as it may.
    pub(super) fn ensure_member(&mut self, scope: u32, replica: &str, now: Timestamp) -> Option<u32> {
        if let Some(member) = self.scopes[scope].members.get(replica) {
            let member = *member;
            self.hear(member, now);
            return Some(member);
        }
        if self.scopes[scope].members.len() >= self.config.max_replicas_per_scope
            || self.members.len() >= self.config.max_replica_records
        {
            return None;
        }
        let id = ReplicaId::from(replica);
        let member = self.members.insert(Member { scope, replica: Some(id.clone()), ..Member::default() });
        self.scopes[scope].members.insert(id, member);
        self.hear(member, now);
        self.list_idle(member);
        Some(member)
    }

    /// A replica was heard of.
    pub(super) fn hear(&mut self, member: u32, now: Timestamp) {
        let member = &mut self.members[member];
        member.heard = member.heard.max(now);
    }

    /// Lists a member without entries, so that a sweep finds it when it has gone silent.
    fn list_idle(&mut self, at: u32) {
        let member = &mut self.members[at];
        if member.entries == 0 && member.idle_since.is_none() {
            let since = member.heard.as_ns();
            member.idle_since = Some(since);
            self.idle.insert((since, at));
        }
    }

    pub(super) fn unlist_idle(&mut self, at: u32) {
        if let Some(since) = self.members[at].idle_since.take() {
            self.idle.remove(&(since, at));
        }
    }

    /// Takes a silent member off the list, or lists it again under its newer time.
    pub(super) fn retire_idle(&mut self, at: u32, cutoff_ns: i64) {
        self.unlist_idle(at);
        if self.members[at].entries > 0 {
            return;
        }
        if self.members[at].heard.as_ns() > cutoff_ns {
            return self.list_idle(at);
        }
        let member = self.members.remove(at);
        if let Some(replica) = member.replica {
            self.scopes[member.scope].members.remove(&replica);
        }
        self.emptied_scopes.push(member.scope);
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
            order.remove(&mut self.keys, key);
            order.insert(&mut self.keys, key, block.at_ns);
        }
        match self.keys[key].holders.binary_search_by_key(&member, |holding| holding.member) {
            Ok(at) => {
                let entry = self.keys[key].holders[at].entry;
                self.refresh(entry, block);
            }
            Err(at) => self.insert_entry(key, member, at, block),
        }
    }

    fn refresh(&mut self, at: u32, block: Block<'_>) {
        let entry = &mut self.entries[at];
        if block.at_ns < entry.last_seen_ns {
            return;
        }
        entry.tokens = block.tokens;
        entry.tier = block.tier;
        if block.at_ns > entry.last_seen_ns {
            let hits = entry.hits;
            self.relane(at, hits, block.at_ns);
        }
    }

    /// Moves an entry to its place for `hits` and `last_seen_ns`.
    pub(super) fn relane(&mut self, at: u32, hits: u32, last_seen_ns: i64) {
        self.work += 1;
        let tenant = self.tenant_of_partition(self.keys[self.entries[at].key].partition);
        self.leave_lane(tenant, at);
        let entry = &mut self.entries[at];
        entry.hits = hits;
        entry.last_seen_ns = last_seen_ns;
        let lane = self.tenants[tenant].lanes.entry(hits).or_default();
        lane.insert(&mut self.entries, at, last_seen_ns);
        if hits > 0 && !std::mem::replace(&mut self.tenants[tenant].is_credited, true) {
            self.credited.push(tenant);
        }
    }

    fn leave_lane(&mut self, tenant: u32, at: u32) {
        let lanes = &mut self.tenants[tenant].lanes;
        let hits = self.entries[at].hits;
        if let Some(lane) = lanes.get_mut(&hits) {
            lane.remove(&mut self.entries, at);
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
        self.tenants[tenant].keys_by_age.insert(&mut self.keys, key, at_ns);
        if self.partitions[partition].has_twins {
            self.twins.insert(scope, &self.keys[key].hash, key);
            self.heap_bytes += Twins::KEY_BYTES;
        }
        key
    }

    fn insert_entry(&mut self, key: u32, member: u32, place: usize, block: Block<'_>) {
        let last = self.members[member].last;
        let entry = self.entries.insert(Entry {
            key,
            member,
            tokens: block.tokens,
            tier: block.tier,
            last_seen_ns: block.at_ns,
            previous_of_member: last,
            ..Entry::default()
        });
        if last != NONE {
            self.entries[last].next_of_member = entry;
        }
        let partition = self.keys[key].partition;
        self.heap_bytes -= spilled(&self.keys[key]);
        self.keys[key].holders.insert(place, Holding { member, entry });
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
        let tenant = self.scopes[scope].tenant;
        self.tenants[tenant].entries += 1;
        self.mark_resized(tenant);
        self.tenants[tenant].lanes.entry(0).or_default().insert(&mut self.entries, entry, block.at_ns);
        let due_ns = block.at_ns.saturating_add(self.tenants[tenant].settings.ttl_ns);
        if self.tenants[tenant].due_ns.is_none_or(|listed| due_ns < listed) {
            self.list_due(tenant, Some(due_ns));
        }
    }

    /// Lists the tenant for the sweep at or after `due_ns`, or for none.
    pub(super) fn list_due(&mut self, tenant: u32, due_ns: Option<i64>) {
        if let Some(listed) = std::mem::replace(&mut self.tenants[tenant].due_ns, due_ns) {
            self.due.remove(&(listed, tenant));
        }
        if let Some(due_ns) = due_ns {
            self.due.insert((due_ns, tenant));
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
        self.members[member].entries -= 1;
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
        self.tenants[tenant].keys_by_age.remove(&mut self.keys, at);
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

    fn mark_roster(&mut self, domain: u32) {
        if !std::mem::replace(&mut self.domains[domain].roster_is_dirty, true) {
            self.work += self.domains[domain].serving.len() as u64;
            self.stale_rosters.push(domain);
        }
    }

    fn mark_resized(&mut self, tenant: u32) {
        if !std::mem::replace(&mut self.tenants[tenant].size_is_dirty, true) {
            self.resized.push(tenant);
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

    /// Removes entries until the index is within its caps.
    pub(super) fn enforce_caps(&mut self, now: Timestamp, evicted: &mut EvictionCounts) {
        while self.entries.len() as u64 > self.config.max_entries
            || self.memory_bytes() > self.config.max_memory_bytes
        {
            let Some((victim, eviction)) = self.victim(now) else { return };
            self.remove_entry(victim);
            match eviction {
                Eviction::Lru => evicted.cap_lru += 1,
                Eviction::Lfu => evicted.cap_lfu += 1,
            }
        }
    }

    /// The entry to go next: from the tenant with most entries, in that tenant's order.
    fn victim(&mut self, now: Timestamp) -> Option<(u32, Eviction)> {
        self.list_sizes();
        let (_, _, tenant) = self.by_size.last()?;
        let tenant = &self.tenants[*tenant];
        let eviction = tenant.settings.eviction;
        let lanes = tenant.lanes.values().filter_map(super::order::Order::oldest);
        let victim = match eviction {
            Eviction::Lru => lanes.min_by_key(|(at_ns, _)| *at_ns),
            Eviction::Lfu => {
                let is_old = |at_ns: i64| now.as_ns().saturating_sub(at_ns) >= super::LFU_GRACE_NS;
                let mut lanes = lanes.peekable();
                let youngest_choice = lanes.peek().copied();
                lanes.find(|(at_ns, _)| is_old(*at_ns)).or(youngest_choice)
            }
        };
        victim.map(|(_, entry)| (entry, eviction))
    }

    fn list_sizes(&mut self) {
        while let Some(at) = self.resized.pop() {
            self.work += 1;
            let tenant = &mut self.tenants[at];
            tenant.size_is_dirty = false;
            let Some(id) = tenant.id.clone() else { continue };
            let (old, new) = (tenant.listed_entries, tenant.entries);
            tenant.listed_entries = new;
            if old > 0 {
                self.by_size.remove(&(old, Reverse(id.clone()), at));
            }
            if new > 0 {
                self.by_size.insert((new, Reverse(id), at));
            }
        }
    }

    /// Removes the tenant's oldest keys until it is within its quota or `work` has reached `until`; how many went.
    pub(super) fn enforce_quota(&mut self, tenant: u32, until: u64) -> u64 {
        let mut removed = 0;
        while self.work < until && self.is_over_quota(tenant) {
            let Some((_, key)) = self.tenants[tenant].keys_by_age.oldest() else { break };
            let Some(holding) = self.keys[key].holders.last() else { break };
            let (entry, is_last) = (holding.entry, self.keys[key].holders.len() == 1);
            self.remove_entry(entry);
            removed += u64::from(is_last);
        }
        removed
    }

    /// Gives the tenant what the settings in force say of it.
    pub(super) fn renew_settings(&mut self, at: u32) {
        let Some(id) = &self.tenants[at].id else { return };
        let settings = self.settings.get(id).copied().unwrap_or(self.config.default_settings);
        let old = std::mem::replace(&mut self.tenants[at].settings, settings);
        if old.ttl_ns != settings.ttl_ns && self.tenants[at].entries > 0 {
            // The oldest entry is not looked for here: the next sweep finds the true time.
            self.list_due(at, Some(i64::MIN));
        }
    }

    pub(super) fn is_over_quota(&self, tenant: u32) -> bool {
        self.tenants[tenant].keys > self.tenants[tenant].settings.max_keys
    }

    /// Ends a write: names without anything below them go, rosters are made anew where replicas came or went, and
    /// tenants are ranked by their new sizes.
    pub(super) fn settle(&mut self) {
        while let Some(at) = self.emptied_partitions.pop() {
            self.drop_partition(at);
        }
        while let Some(at) = self.emptied_scopes.pop() {
            self.drop_scope(at);
        }
        while let Some(at) = self.stale_rosters.pop() {
            self.rebuild_roster(at);
        }
        self.list_sizes();
    }

    fn drop_partition(&mut self, at: u32) {
        if self.partitions[at].keys > 0 || self.partitions[at].adapter.is_none() {
            return;
        }
        self.work += 1;
        let Partition { domain, adapter, has_twins, .. } = self.partitions.remove(at);
        if !has_twins {
            let scope = self.domains[domain].scope;
            self.scopes[scope].asked.retain(|asked| *asked != at);
        }
        if let Some(adapter) = adapter {
            self.domains[domain].partitions.remove(&adapter);
        }
        if self.domains[domain].partitions.is_empty() {
            let Domain { scope, scheme, .. } = self.domains.remove(domain);
            if let Some(scheme) = scheme {
                self.scopes[scope].domains.remove(&scheme);
            }
            self.emptied_scopes.push(scope);
        }
    }

    fn drop_scope(&mut self, at: u32) {
        let scope = &self.scopes[at];
        if scope.model.is_none() || !scope.domains.is_empty() || !scope.members.is_empty() {
            return;
        }
        self.work += 1;
        let Scope { tenant, model, .. } = self.scopes.remove(at);
        if let Some(model) = model {
            self.tenants[tenant].scopes.remove(&model);
        }
        if self.tenants[tenant].scopes.is_empty() {
            self.list_sizes();
            self.list_due(tenant, None);
            if let Some(id) = self.tenants.remove(tenant).id {
                self.tenant_by_id.remove(&id);
            }
        }
    }

    fn rebuild_roster(&mut self, at: u32) {
        self.domains[at].roster_is_dirty = false;
        let mut serving: Vec<(ReplicaId, u32)> = self.domains[at]
            .serving
            .keys()
            .filter_map(|member| Some((self.members[*member].replica.clone()?, *member)))
            .collect();
        serving.sort_unstable();
        let domain = &mut self.domains[at];
        domain.by_place = serving.iter().map(|(_, member)| *member).collect();
        domain.places = domain.by_place.iter().zip(0..).map(|(member, place)| (*member, place)).collect();
        domain.roster = Arc::new(Roster::new(serving.into_iter().map(|(replica, _)| replica).collect()));
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
