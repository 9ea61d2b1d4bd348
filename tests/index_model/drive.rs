//! Runs the same operations through the index and the model, and compares everything that can be asked of both.

use std::collections::BTreeMap;
use std::fmt::Debug;

use bytes::Bytes;
use hashbrown::HashMap;
use icache::decision::{ChainCounts, ChainHashes, Evidence, ExactHash, Query};
use icache::index::{CacheState, Index, IndexConfig, TenantSettings};
use icache::model::{
    CacheEvent, HashList, Limits, PrefixEntry, PrefixHash, ReplicaId, ReplicaStats, StateUpdate, TenantId,
    Timestamp,
};

use crate::ask::{Seen, SeenHolder};
use crate::model::Model;
use crate::op::{
    At, Event, H, ID_BYTES, Input, Lookup, Name, Op, Prefix, Report, Settings, Setup, Step, UPDATE_BLOCKS,
};

/// What differs, or nothing.
type Checked = Result<(), String>;

pub struct Pair {
    index: Index,
    model: Model,
    now: i64,
    last_at: Option<i64>,
    /// The last lookup and what it found.
    last: Option<(Lookup, Vec<(String, u32)>)>,
}

impl Pair {
    pub fn new(setup: Setup) -> Self {
        let index = Index::new(IndexConfig {
            max_entries: setup.max_entries,
            max_replicas_per_scope: setup.replicas_per_scope,
            max_replica_records: setup.replica_records,
            forget_replica_after_ns: setup.forget_after,
            limits: Limits { id_bytes: ID_BYTES, request_blocks: UPDATE_BLOCKS, ..Limits::default() },
            default_settings: settings(setup.default),
            ..IndexConfig::default()
        });
        let now = 1_700_000_000_000_000_000;
        Self { index, model: Model::new(setup), now, last_at: None, last: None }
    }

    pub fn run(&mut self, op: &Op) -> Checked {
        match op {
            Op::Report(report) => self.report(report)?,
            Op::Event(event) => self.event(event)?,
            Op::Sweep => {
                let swept = self.index.sweep(Timestamp::from_ns(self.now));
                same("swept", &swept, &self.model.sweep(self.now))?;
            }
            Op::Step(step) => self.step(*step),
            Op::Policies { default, of } => self.policies(*default, of)?,
            Op::Lookup(lookup) => self.lookup(lookup)?,
            Op::Deliver { bits, times } => {
                for _ in 0..*times {
                    self.deliver(*bits);
                }
            }
            Op::State { tenant, model } => self.state(tenant, model)?,
        }
        same("entries", &self.index.entries(), &self.model.entries())
    }

    /// Everything at once, for the end of a run.
    pub fn settle(&self) -> Checked {
        self.state("", "")?;
        let gauges = self.index.gauges();
        let nonzero = |of: BTreeMap<String, u64>| of.into_iter().filter(|(_, count)| *count > 0).collect();
        let gauged: (BTreeMap<_, _>, BTreeMap<_, _>) =
            (nonzero(gauges.keys_by_model), nonzero(gauges.replicas_by_model));
        same("gauges", &gauged, &self.model.by_model())
    }

    fn step(&mut self, step: Step) {
        self.now = match step {
            Step::By(ns) => self.now + ns,
            Step::ToExpiry { at, before } => {
                let target = self.model.expiry(at).map_or(self.now, |expiry| expiry.saturating_sub(before));
                target.max(self.now)
            }
        };
    }

    fn report(&mut self, report: &Report) -> Checked {
        let at = match report.at {
            At::Unset => None,
            At::FromNow(ns) => Some(self.now + ns),
            At::Again => self.last_at,
            At::Absolute(ns) => Some(ns),
        };
        self.last_at = at.or(Some(self.now));
        let blocks: Vec<Vec<Bytes>> = report.prefixes.iter().map(|p| bytes(&p.blocks)).collect();
        let update = StateUpdate {
            replica: report.replica,
            tenant: report.tenant,
            model: report.model,
            scheme: report.scheme,
            adapter: report.adapter,
            at: at.map(Timestamp::from_ns),
            prefixes: report.prefixes.iter().zip(&blocks).map(|(p, blocks)| entry(p, blocks)).collect(),
            stats: report.stats.map(|stats| ReplicaStats {
                cache_memory_bytes: stats.memory,
                hit_rate: stats.hit_rate,
                pressure: stats.pressure,
                client_version: stats.version,
                t2_hit_tokens: stats.t2_hit,
                t2_query_tokens: stats.t2_query,
            }),
        };
        let applied = self.index.apply_update(&update, Timestamp::from_ns(self.now));
        let expected = self.model.report(report, at, self.now);
        same("blocks", &applied.blocks, &expected.blocks)?;
        same("evicted", &applied.evicted, &expected.evicted)?;
        same("number of drops", &applied.dropped.len(), &expected.dropped.len())?;
        for (cause, causes) in applied.dropped.iter().zip(&expected.dropped) {
            if !causes.contains(cause) {
                return Err(format!("dropped for {cause:?}, expected one of {causes:?}"));
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Checked {
        let sent = CacheEvent {
            kind: event.kind,
            replica: event.replica,
            tenant: event.tenant,
            model: event.model,
            prefix_hash: event.hash.bytes(),
            adapter: event.adapter,
            at: None,
        };
        let applied = self.index.apply_event(&sent, Timestamp::from_ns(self.now));
        let (removed, causes) = self.model.event(event, self.now);
        same("removed", &applied.removed, &removed)?;
        match applied.dropped {
            None => same("causes", &vec![], &causes),
            Some(cause) if causes.contains(&cause) => Ok(()),
            Some(cause) => Err(format!("dropped for {cause:?}, expected one of {causes:?}")),
        }
    }

    fn policies(&mut self, default: Settings, of: &[(Name, Settings)]) -> Checked {
        let by_tenant: HashMap<TenantId, TenantSettings> =
            of.iter().map(|(tenant, of)| (TenantId::from(*tenant), settings(*of))).collect();
        let evicted = self.index.set_tenant_settings(settings(default), by_tenant);
        let evicted: BTreeMap<String, u64> =
            evicted.into_iter().map(|(tenant, count)| (tenant.as_str().to_owned(), count)).collect();
        same("evicted for quotas", &evicted, &self.model.set_policies(default, of))
    }

    fn lookup(&mut self, lookup: &Lookup) -> Checked {
        let wire = match &lookup.input {
            Input::Chain { hashes, .. } => bytes(hashes),
            _ => vec![],
        };
        let input = input(&lookup.input, &wire);
        let evidence = self.index.read(&self.query(lookup, &input));
        let expected = self.model.lookup(lookup, self.now);
        same("evidence", &seen(&evidence), &expected)?;
        let facts = self.index.facts(lookup.tenant, lookup.model, lookup.scheme);
        same("facts", &facts, &self.model.facts(lookup.tenant, lookup.model, lookup.scheme))?;
        let found = expected.holders.into_iter().map(|holder| (holder.replica, holder.blocks)).collect();
        self.last = Some((lookup.clone(), found));
        Ok(())
    }

    fn query<'a>(&self, lookup: &Lookup, input: &'a icache::decision::Input<'a>) -> Query<'a> {
        Query {
            tenant: lookup.tenant,
            model: lookup.model,
            scheme: lookup.scheme,
            adapter: lookup.adapter,
            input,
            now: Timestamp::from_ns(self.now),
            ttl_ns: self.model.settings_of(lookup.tenant).ttl,
            wants_warm: lookup.wants_warm,
            wants_heard: lookup.wants_heard,
        }
    }

    fn deliver(&mut self, bits: u8) {
        let Some((lookup, found)) = self.last.clone() else { return };
        let mut delivered = found;
        let mut at = 0;
        delivered.retain(|_| {
            at += 1;
            bits >> (at - 1) & 1 == 1
        });
        let wire = match &lookup.input {
            Input::Chain { hashes, .. } => bytes(hashes),
            _ => vec![],
        };
        let input = input(&lookup.input, &wire);
        let ids: Vec<(ReplicaId, u32)> =
            delivered.iter().map(|(id, blocks)| (ReplicaId::from(id.as_str()), *blocks)).collect();
        let refs: Vec<(&ReplicaId, u32)> = ids.iter().map(|(id, blocks)| (id, *blocks)).collect();
        let counts_hits = self.model.settings_of(lookup.tenant).eviction == icache::model::Eviction::Lfu;
        self.index.credit(&self.query(&lookup, &input), &refs, counts_hits);
        self.model.deliver(&lookup, &delivered);
    }

    fn state(&self, tenant: &str, model: &str) -> Checked {
        let sorted = |mut state: CacheState| {
            // A replica of several models is listed once for each; which comes first is left open.
            state.replicas.sort_by_cached_key(|replica| format!("{replica:?}"));
            state
        };
        let (found, expected) =
            (self.index.cache_state(tenant, model), self.model.cache_state(tenant, model));
        if !found.replicas.is_sorted_by(|a, b| a.replica <= b.replica) {
            return Err("cache state is not sorted by replica".to_owned());
        }
        same("cache state", &sorted(found), &sorted(expected))
    }
}

fn same<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Checked {
    if found == expected { Ok(()) } else { Err(format!("{what}\n   found {found:?}\nexpected {expected:?}")) }
}

fn settings(of: Settings) -> TenantSettings {
    TenantSettings { ttl_ns: of.ttl, eviction: of.eviction, max_keys: of.quota }
}

fn bytes(hashes: &[H]) -> Vec<Bytes> {
    hashes.iter().map(|hash| hash.bytes().clone()).collect()
}

fn entry<'a>(prefix: &'a Prefix, blocks: &'a [Bytes]) -> PrefixEntry<'a> {
    PrefixEntry {
        prefix_hash: prefix.hash.bytes(),
        token_count: prefix.tokens,
        block_hashes: HashList::Wire(blocks),
        block_token_counts: &prefix.counts,
        tier: prefix.tier,
        adapter: prefix.adapter,
    }
}

/// The input in the index's terms; one that is derived goes in as fingerprints, where all its hashes are some.
fn input<'a>(input: &'a Input, wire: &'a [Bytes]) -> icache::decision::Input<'a> {
    use icache::decision::Input as Wanted;
    match input {
        Input::Nothing => Wanted::Nothing,
        Input::Exact { hash, is_derived } => Wanted::Exact(match hash.fingerprint() {
            Some(fingerprint) if *is_derived => ExactHash::Derived(fingerprint, 16),
            _ => ExactHash::Given(hash.bytes()),
        }),
        Input::Chain { hashes, counts, is_derived } => {
            let fingerprints: Option<Vec<PrefixHash>> =
                hashes.iter().map(|hash| hash.fingerprint()).collect();
            let hashes = match fingerprints {
                Some(fingerprints) if *is_derived => ChainHashes::Derived(fingerprints),
                _ => ChainHashes::Given(HashList::Wire(wire)),
            };
            let counts = match counts.first() {
                Some(first) if *is_derived && counts.iter().all(|count| count == first) => {
                    ChainCounts::Uniform(*first)
                }
                _ => ChainCounts::Given(counts),
            };
            Wanted::Chain { hashes, counts }
        }
    }
}

fn seen(evidence: &Evidence) -> Seen {
    let name =
        |member: u32| evidence.roster.get(member).map_or("nobody", |replica| replica.as_str()).to_owned();
    let mut holders: Vec<SeenHolder> = evidence
        .holders
        .iter()
        .map(|holder| SeenHolder {
            replica: name(holder.member),
            blocks: holder.blocks,
            tokens: holder.matched_tokens,
            last_seen: holder.last_seen.as_ns(),
            tier: holder.tier,
            stats: holder.stats,
        })
        .collect();
    holders.sort_by(|a, b| a.replica.cmp(&b.replica));
    Seen {
        roster: evidence.roster.iter().map(|replica| replica.as_str().to_owned()).collect(),
        holders,
        warm: evidence.warm.iter().map(|warm| (name(warm.member), warm.stats)).collect(),
        heard: evidence.heard.iter().map(|at| at.as_ns()).collect(),
        index_is_empty: evidence.index_is_empty,
        tenant_is_known: evidence.tenant_is_known,
        model_is_known: evidence.model_is_known,
    }
}
