//! The index as the specification tells it: a list of entries, and a scan of it for every question.
//!
//! Where the specification leaves a choice open, the one that the index documents holds here too, and a sentence at the
//! place says so.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use icache::decision::StatsSeen;
use icache::index::{DropCause, EvictionCounts, ReplicaState, Swept};
use icache::model::{EventKind, Eviction, PROBE_TENANT, Tier, Timestamp};

use crate::op::{
    Event, H, ID_BYTES, Input, Lookup, Name, Prefix, Report, SECOND, Settings, Setup, UPDATE_BLOCKS,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyName {
    pub tenant: Name,
    pub model: Name,
    pub scheme: Name,
    pub adapter: Name,
    pub hash: H,
}

/// One replica's hold on one key.
#[derive(Clone, Debug)]
pub struct Entry {
    pub key: KeyName,
    pub replica: Name,
    pub tokens: i32,
    pub tier: Tier,
    pub last_seen: i64,
    pub hits: u32,
    /// Rises with every move to a new place in the victim order.
    pub arrival: u64,
}

/// What outlives a single holder of a key.
#[derive(Clone, Debug)]
pub struct Key {
    pub name: KeyName,
    pub newest_report: i64,
    pub arrival: u64,
    /// Number of sweeps before the last delivered hit.
    pub hit_after_sweeps: Option<u32>,
}

#[derive(Clone, Debug)]
pub struct Replica {
    pub tenant: Name,
    pub model: Name,
    pub name: Name,
    pub heard: i64,
    pub stats: Option<(StatsSeen, ReplicaState)>,
}

/// What an update did: each thing that was dropped, with every cause that would explain it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    pub blocks: u64,
    pub dropped: Vec<Vec<DropCause>>,
    pub evicted: EvictionCounts,
}

pub struct Model {
    pub setup: Setup,
    pub default: Settings,
    pub settings: Vec<(Name, Settings)>,
    pub entries: Vec<Entry>,
    pub keys: Vec<Key>,
    pub replicas: Vec<Replica>,
    pub sweeps: u32,
    pub arrivals: u64,
}

impl Model {
    pub fn new(setup: Setup) -> Self {
        Self {
            setup,
            default: setup.default,
            settings: vec![],
            entries: vec![],
            keys: vec![],
            replicas: vec![],
            sweeps: 0,
            arrivals: 0,
        }
    }

    pub fn entries(&self) -> u64 {
        self.entries.len() as u64
    }

    pub fn settings_of(&self, tenant: &str) -> Settings {
        self.settings.iter().rev().find(|(name, _)| *name == tenant).map_or(self.default, |(_, found)| *found)
    }

    /// The instant at which the entry at `at`, modulo all, reaches its time to live.
    pub fn expiry(&self, at: usize) -> Option<i64> {
        let entry = self.entries.get(at.checked_rem(self.entries.len())?)?;
        Some(entry.last_seen.saturating_add(self.settings_of(entry.key.tenant).ttl))
    }

    fn arrive(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    // --- updates and events

    pub fn report(&mut self, report: &Report, at: Option<i64>, now: i64) -> Outcome {
        let mut outcome = Outcome::default();
        let mut causes = flaws_of_names(report.replica, report.tenant, report.model);
        if [report.scheme, report.adapter].iter().any(|name| name.len() > ID_BYTES) {
            causes.push(DropCause::LongId);
        }
        if !causes.is_empty() {
            outcome.dropped.push(causes);
            return outcome;
        }
        // A report without a time is of now, and none is later than the server's clock.
        let at = at.unwrap_or(now).min(now);
        if report.stats.is_some_and(|stats| stats.version.len() > ID_BYTES) {
            outcome.dropped.push(vec![DropCause::LongVersion]);
        }
        if !self.hear(report.replica, report.tenant, report.model, now) {
            outcome.dropped.push(vec![DropCause::TooManyReplicas]);
            return outcome;
        }
        self.take_stats(report, at);
        if report.scheme.is_empty() {
            outcome.dropped.extend(report.prefixes.iter().map(|_| vec![DropCause::MissingScheme]));
            return outcome;
        }
        let mut blocks_left = UPDATE_BLOCKS;
        for prefix in &report.prefixes {
            let mut causes = flaws(prefix);
            // A flawed entry takes nothing of the update's share; a hash without a chain is one block.
            let blocks = prefix.blocks.len().max(1);
            if causes.is_empty() && blocks > blocks_left {
                causes.push(DropCause::TooManyBlocks);
            }
            if causes.is_empty() {
                blocks_left -= blocks;
                self.take_prefix(report, prefix, at, now, &mut outcome);
            } else {
                outcome.dropped.push(causes);
            }
        }
        outcome
    }

    /// Whether the replica is taken: a scope and the server have so many at most.
    fn hear(&mut self, name: Name, tenant: Name, model: Name, now: i64) -> bool {
        if let Some(replica) = self.replica_mut(name, tenant, model) {
            replica.heard = replica.heard.max(now);
            return true;
        }
        let in_scope = self.replicas.iter().filter(|r| r.tenant == tenant && r.model == model).count();
        let is_taken =
            in_scope < self.setup.replicas_per_scope && self.replicas.len() < self.setup.replica_records;
        if is_taken {
            self.replicas.push(Replica { tenant, model, name, heard: now, stats: None });
        }
        is_taken
    }

    fn replica_mut(&mut self, name: &str, tenant: &str, model: &str) -> Option<&mut Replica> {
        self.replicas.iter_mut().find(|r| r.name == name && r.tenant == tenant && r.model == model)
    }

    pub fn replica(&self, name: &str, tenant: &str, model: &str) -> Option<&Replica> {
        self.replicas.iter().find(|r| r.name == name && r.tenant == tenant && r.model == model)
    }

    fn take_stats(&mut self, report: &Report, at: i64) {
        let Some(stats) = report.stats else { return };
        let rate = |rate: f32| if rate.is_finite() { rate.clamp(0.0, 1.0) } else { 0.0 };
        let (hit_rate, pressure) = (rate(stats.hit_rate), rate(stats.pressure));
        let seen = StatsSeen { hit_rate, pressure, reported_at: Timestamp::from_ns(at) };
        // A client version over the limit of an id is left out.
        let version = if stats.version.len() > ID_BYTES { "" } else { stats.version };
        let state = ReplicaState {
            replica: report.replica.to_owned(),
            cache_memory_bytes: stats.memory,
            hit_rate,
            pressure,
            client_version: version.to_owned(),
            t2_hit_tokens: stats.t2_hit,
            t2_query_tokens: stats.t2_query,
        };
        if let Some(replica) = self.replica_mut(report.replica, report.tenant, report.model) {
            let is_older = replica.stats.as_ref().is_some_and(|(held, _)| held.reported_at.as_ns() > at);
            if !is_older {
                replica.stats = Some((seen, state));
            }
        }
    }

    fn take_prefix(&mut self, report: &Report, prefix: &Prefix, at: i64, now: i64, outcome: &mut Outcome) {
        let adapter = if prefix.adapter.is_empty() { report.adapter } else { prefix.adapter };
        let name = |hash| KeyName {
            tenant: report.tenant,
            model: report.model,
            scheme: report.scheme,
            adapter,
            hash,
        };
        let mut sum = 0_i32;
        let mut blocks = vec![];
        for (hash, count) in prefix.blocks.iter().zip(&prefix.counts) {
            sum = sum.saturating_add(*count);
            blocks.push((name(*hash), sum));
        }
        if prefix.hash != H::EMPTY {
            blocks.push((name(prefix.hash), prefix.tokens));
        }
        for (key, tokens) in blocks {
            self.store(key, report.replica, tokens, prefix.tier, at);
            outcome.blocks += 1;
            // Evictions run after each block, the tenant's quota first.
            outcome.evicted.quota_keys += self.enforce_quota(report.tenant);
            self.enforce_cap(now, &mut outcome.evicted);
        }
    }

    fn store(&mut self, name: KeyName, replica: Name, tokens: i32, tier: Tier, at: i64) {
        let arrival = self.arrive();
        match self.keys.iter_mut().find(|key| key.name == name) {
            Some(key) if key.newest_report < at => {
                key.newest_report = at;
                key.arrival = arrival;
            }
            Some(_) => {}
            None => self.keys.push(Key { name, newest_report: at, arrival, hit_after_sweeps: None }),
        }
        match self.entries.iter_mut().find(|entry| entry.key == name && entry.replica == replica) {
            Some(entry) if entry.last_seen <= at => {
                entry.tokens = tokens;
                entry.tier = tier;
                // A report of the same time changes what is held, not the place in the victim order.
                if entry.last_seen < at {
                    entry.last_seen = at;
                    entry.arrival = arrival;
                }
            }
            Some(_) => {}
            None => {
                let hits = 0;
                self.entries.push(Entry { key: name, replica, tokens, tier, last_seen: at, hits, arrival });
            }
        }
    }

    pub fn event(&mut self, event: &Event, now: i64) -> (u64, Vec<DropCause>) {
        let mut causes = flaws_of_names(event.replica, event.tenant, event.model);
        if event.hash == H::LONG {
            causes.push(DropCause::LongHash);
        }
        if event.adapter.len() > ID_BYTES {
            causes.push(DropCause::LongId);
        }
        if !causes.is_empty() {
            return (0, causes);
        }
        let Event { replica, tenant, model, adapter, hash, .. } = *event;
        let of_replica = |entry: &Entry| {
            entry.replica == replica && entry.key.tenant == tenant && entry.key.model == model
        };
        match event.kind {
            EventKind::PrefixEvicted => {
                let removed = self.remove(|entry| {
                    of_replica(entry)
                        && entry.key.hash == hash
                        && (adapter.is_empty() || entry.key.adapter == adapter)
                });
                (removed, vec![])
            }
            EventKind::AllCleared => {
                if let Some(replica) = self.replica_mut(replica, tenant, model) {
                    replica.stats = None;
                }
                (self.remove(of_replica), vec![])
            }
            EventKind::ReplicaUpdated => {
                let is_taken = self.hear(replica, tenant, model, now);
                (0, if is_taken { vec![] } else { vec![DropCause::TooManyReplicas] })
            }
            EventKind::PrefixAdded | EventKind::Unknown => (0, vec![]),
        }
    }

    /// Removes entries, and keys that nobody holds any more.
    fn remove(&mut self, goes: impl Fn(&Entry) -> bool) -> u64 {
        let before = self.entries.len();
        self.entries.retain(|entry| !goes(entry));
        if self.entries.len() == before {
            return 0;
        }
        let entries = &self.entries;
        self.keys.retain(|key| entries.iter().any(|entry| entry.key == key.name));
        (before - self.entries.len()) as u64
    }

    // --- policies, eviction, sweep

    /// Keys evicted, by tenant.
    pub fn set_policies(&mut self, default: Settings, of: &[(Name, Settings)]) -> BTreeMap<String, u64> {
        self.default = default;
        self.settings = of.to_vec();
        let mut tenants: Vec<Name> = self.entries.iter().map(|entry| entry.key.tenant).collect();
        tenants.sort_unstable();
        tenants.dedup();
        let evicted = tenants.into_iter().map(|tenant| (tenant.to_owned(), self.enforce_quota(tenant)));
        evicted.filter(|(_, count)| *count > 0).collect()
    }

    /// Over its quota a tenant loses the key whose newest report is oldest; of equal ones, the latest to arrive.
    fn enforce_quota(&mut self, tenant: &str) -> u64 {
        let mut removed = 0;
        loop {
            let of_tenant = || self.keys.iter().filter(|key| key.name.tenant == tenant);
            if of_tenant().count() as u64 <= self.settings_of(tenant).quota {
                return removed;
            }
            let oldest = of_tenant().min_by_key(|key| (key.newest_report, Reverse(key.arrival)));
            let Some(name) = oldest.map(|key| key.name) else { return removed };
            self.remove(|entry| entry.key == name);
            removed += 1;
        }
    }

    fn enforce_cap(&mut self, now: i64, evicted: &mut EvictionCounts) {
        while self.entries.len() as u64 > self.setup.max_entries {
            let tenant = self.largest_tenant();
            let of_tenant = self.entries.iter().filter(|entry| entry.key.tenant == tenant);
            let eviction = self.settings_of(tenant).eviction;
            let victim = match eviction {
                // Of entries of one time, one with fewer hits (left from a time under LFU) goes first, then the latest
                // to arrive.
                Eviction::Lru => of_tenant.min_by_key(|e| (e.last_seen, e.hits, Reverse(e.arrival))),
                Eviction::Lfu => of_tenant.min_by_key(|e| {
                    let is_young = now.saturating_sub(e.last_seen) < 60 * SECOND;
                    (is_young, e.hits, e.last_seen, Reverse(e.arrival))
                }),
            };
            let Some((key, replica)) = victim.map(|entry| (entry.key, entry.replica)) else { return };
            self.remove(|entry| entry.key == key && entry.replica == replica);
            match eviction {
                Eviction::Lru => evicted.cap_lru += 1,
                Eviction::Lfu => evicted.cap_lfu += 1,
            }
        }
    }

    /// Of tenants with as many entries, the first by id counts as the largest.
    fn largest_tenant(&self) -> Name {
        let mut sizes: BTreeMap<Name, u64> = BTreeMap::new();
        for entry in &self.entries {
            *sizes.entry(entry.key.tenant).or_default() += 1;
        }
        sizes.into_iter().min_by_key(|(id, size)| (Reverse(*size), *id)).map_or("", |(id, _)| id)
    }

    pub fn sweep(&mut self, now: i64) -> Swept {
        let mut swept = Swept::default();
        let settings: Vec<Settings> = self.entries.iter().map(|e| self.settings_of(e.key.tenant)).collect();
        let mut of_entry = settings.into_iter();
        self.entries.retain(|entry| {
            let Some(settings) = of_entry.next() else { return true };
            let is_expired = now.saturating_sub(entry.last_seen) >= settings.ttl;
            match settings.eviction {
                Eviction::Lru => swept.expired_lru += u64::from(is_expired),
                Eviction::Lfu => swept.expired_lfu += u64::from(is_expired),
            }
            !is_expired
        });
        let entries = &self.entries;
        self.keys.retain(|key| entries.iter().any(|entry| entry.key == key.name));
        self.halve_hits();
        self.sweeps += 1;
        // A replica without entries that has not been heard of for a while is forgotten with its statistics.
        let (entries, forget_after) = (&self.entries, self.setup.forget_after);
        let before = self.replicas.len();
        self.replicas.retain(|r| {
            now.saturating_sub(forget_after) < r.heard
                || entries
                    .iter()
                    .any(|e| e.replica == r.name && e.key.tenant == r.tenant && e.key.model == r.model)
        });
        swept.replicas = (before - self.replicas.len()) as u64;
        swept
    }

    /// What is halved arrives at its new place in victim order: fewest hits first, then oldest, then latest.
    fn halve_hits(&mut self) {
        let mut hit: Vec<usize> = (0..self.entries.len()).filter(|at| self.entries[*at].hits > 0).collect();
        hit.sort_by_key(|at| {
            let entry = &self.entries[*at];
            (entry.hits, entry.last_seen, Reverse(entry.arrival))
        });
        for at in hit {
            let arrival = self.arrive();
            self.entries[at].hits /= 2;
            self.entries[at].arrival = arrival;
        }
    }

    /// A delivered match: its keys are hot, and under LFU each entry behind it is credited one access.
    pub fn deliver(&mut self, lookup: &Lookup, delivered: &[(String, u32)]) {
        let counts_hits = self.settings_of(lookup.tenant).eviction == Eviction::Lfu;
        let mut credited: Vec<(H, &str)> = vec![];
        let hashes = match &lookup.input {
            Input::Chain { hashes, .. } => hashes.clone(),
            Input::Exact { hash, .. } => vec![*hash],
            Input::Nothing => vec![],
        };
        let is_exact = matches!(lookup.input, Input::Exact { .. });
        for (at, hash) in hashes.into_iter().enumerate() {
            // A block without tokens contributed nothing.
            if matches!(&lookup.input, Input::Chain { counts, .. } if counts[at] == 0) {
                continue;
            }
            for (replica, blocks) in delivered {
                if !is_exact && at >= *blocks as usize {
                    continue;
                }
                let name = key_of(lookup, hash);
                if let Some(key) = self.keys.iter_mut().find(|key| key.name == name) {
                    key.hit_after_sweeps = Some(self.sweeps);
                }
                // A hash that a chain names twice is one entry, and one access.
                if !counts_hits || credited.contains(&(hash, replica)) {
                    continue;
                }
                credited.push((hash, replica));
                let arrival = self.arrive();
                // Hits are counted up to 255.
                let countable = |e: &&mut Entry| e.key == name && e.replica == replica && e.hits < 255;
                if let Some(e) = self.entries.iter_mut().find(countable) {
                    e.hits += 1;
                    e.arrival = arrival;
                }
            }
        }
    }
}

pub fn key_of(lookup: &Lookup, hash: H) -> KeyName {
    let Lookup { tenant, model, scheme, adapter, .. } = *lookup;
    KeyName { tenant, model, scheme, adapter, hash }
}

fn flaws_of_names(replica: &str, tenant: &str, model: &str) -> Vec<DropCause> {
    let mut causes = vec![];
    let names = [replica, tenant, model];
    if tenant == PROBE_TENANT {
        causes.push(DropCause::ReservedTenant);
    }
    if names.iter().any(|name| name.is_empty()) {
        causes.push(DropCause::MissingKey);
    }
    if names.iter().any(|name| name.len() > ID_BYTES) {
        causes.push(DropCause::LongId);
    }
    causes
}

/// Every cause for which the entry is dropped.
fn flaws(prefix: &Prefix) -> Vec<DropCause> {
    let mut causes = vec![];
    if prefix.blocks.len() != prefix.counts.len() {
        causes.push(DropCause::ListsDisagree);
    }
    if prefix.blocks.len() > UPDATE_BLOCKS {
        causes.push(DropCause::TooManyBlocks);
    }
    let is_nothing = prefix.blocks.is_empty() && prefix.hash == H::EMPTY;
    if is_nothing || prefix.blocks.contains(&H::EMPTY) {
        causes.push(DropCause::EmptyHash);
    }
    if prefix.hash == H::LONG || prefix.blocks.contains(&H::LONG) {
        causes.push(DropCause::LongHash);
    }
    if prefix.tokens < 0 || prefix.counts.iter().any(|count| *count < 0) {
        causes.push(DropCause::NegativeCount);
    }
    if prefix.adapter.len() > ID_BYTES {
        causes.push(DropCause::LongId);
    }
    causes
}
