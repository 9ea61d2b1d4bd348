//! The one join of policy, decision and index: every lookup of every door, replay and offline command runs through it.

mod drains;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use hashbrown::HashMap;
use parking_lot::Mutex;

use crate::decision::{
    Arrival, Balance, Candidate, Decision, Evidence, InputResolver, Query, Reason, Settings, plan,
};
use crate::hash::fingerprint_chain;
use crate::index::{Applied, DomainFacts, EventApplied, Index, IndexConfig, TenantSettings};
use crate::load::{Delivered, Loads, Members};
use crate::model::{
    CacheEvent, Eviction, Limits, LookupRequest, PrefixHash, Ranker, RankerKnobs, ReplicaId, ResolvedPolicy,
    Sourced, StateUpdate, TenantId, Timestamp, duration_ns,
};
use crate::policy::PolicySet;

/// Silence after which a replica counts as silent where no replica timeout is set: six signs of life of the engine sidecar.
pub const SILENT_AFTER_NS: i64 = 30_000_000_000;
pub use drains::{DRAIN_NS, Drained, Drains, MAX_DRAINED, TooManyDrained};

/// What a router is made of.
#[derive(Clone, Debug)]
pub struct RouterConfig {
    /// Bounds of the index.
    pub index: IndexConfig,
    /// Policies in force at start.
    pub policies: PolicySet,
    /// Ranking settings.
    pub ranker: RankerKnobs,
    /// Lookups in flight above which further ones are shed; 0 is no limit.
    pub max_in_flight: Sourced<u64>,
}

/// The index with everything that a lookup needs beside it.
pub struct Router {
    index: Index,
    loads: Loads,
    in_force: ArcSwap<InForce>,
    /// Held while policies are replaced: lookups and index must end up with the same set.
    replacing: Mutex<()>,
    bounds: IndexConfig,
    server: ServerSettings,
    drains: Drains,
}

/// What holds for every tenant.
struct ServerSettings {
    ranker: Arc<RankerKnobs>,
    limits: Limits,
    max_in_flight: Sourced<u64>,
}

/// The policies in force, with all that a lookup needs of them: it borrows its settings, and counts no reference that
/// other lookups count too.
struct InForce {
    set: Arc<PolicySet>,
    default: Settings,
    by_tenant: HashMap<TenantId, Settings>,
}

impl InForce {
    fn new(set: PolicySet, server: &ServerSettings) -> Self {
        let settings = |policy: &Arc<ResolvedPolicy>| Settings {
            policy: Arc::clone(policy),
            ranker: Arc::clone(&server.ranker),
            limits: server.limits,
            max_in_flight: server.max_in_flight.clone(),
        };
        let by_tenant = set.iter().map(|(tenant, policy)| (tenant.clone(), settings(policy))).collect();
        Self { default: settings(set.default_policy()), by_tenant, set: Arc::new(set) }
    }

    fn settings_of(&self, tenant: &str) -> &Settings {
        self.by_tenant.get(tenant).unwrap_or(&self.default)
    }
}

/// How a lookup came in.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The instant that ages are taken at.
    pub now: Timestamp,
    /// Nanoseconds from arrival to the caller's deadline.
    pub deadline_ns: Option<i64>,
    /// Lookups in flight, this one included.
    pub in_flight: u64,
    /// Runs since arrival.
    pub watch: Stopwatch,
    /// Whether the caller may know of all tenants. One who may not is told of an unknown tenant what an empty index would
    /// tell: the difference would say that others are there.
    pub sees_all: bool,
}

impl Call {
    /// A lookup on a virtual clock: no deadline, no load, no time passes.
    pub fn at(now: Timestamp) -> Self {
        Self { now, deadline_ns: None, in_flight: 1, watch: Stopwatch::Still, sees_all: true }
    }
}

/// Time since a lookup arrived.
#[derive(Clone, Copy, Debug)]
pub enum Stopwatch {
    /// Runs since the instant.
    Since(Instant),
    /// Stands still: what a replay decides must not depend on the machine.
    Still,
}

impl Stopwatch {
    /// Nanoseconds since arrival.
    pub fn elapsed_ns(self) -> i64 {
        match self {
            Self::Since(start) => duration_ns(start.elapsed()),
            Self::Still => 0,
        }
    }
}

/// A decision, with the settings it was made under.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The decision.
    pub decision: Decision,
    /// What held for it.
    pub settings: Settings,
    /// What the index knew around it.
    pub facts: DomainFacts,
}

impl Router {
    /// A router with an empty index.
    pub fn new(config: RouterConfig) -> Self {
        let (default_settings, by_tenant) = index_settings(&config.policies);
        let index = Index::new(IndexConfig { default_settings, ..config.index });
        index.set_tenant_settings(default_settings, by_tenant);
        let loads = Loads::new(&config.ranker);
        let server = ServerSettings {
            ranker: Arc::new(config.ranker),
            limits: config.index.limits,
            max_in_flight: config.max_in_flight,
        };
        Self {
            index,
            loads,
            in_force: ArcSwap::from_pointee(InForce::new(config.policies, &server)),
            replacing: Mutex::new(()),
            bounds: config.index,
            server,
            drains: Drains::default(),
        }
    }

    /// The replicas that get no hints since they are about to go.
    pub fn drains(&self) -> &Drains {
        &self.drains
    }

    /// The index: updates, events and sweeps go to it directly.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Applies a delta that arrived at `now`, and takes note of the prefills that it says are done.
    pub fn apply_update(&self, update: &StateUpdate<'_>, now: Timestamp) -> Applied {
        let applied = self.index.apply_update(update, now);
        self.loads.reported(update, now);
        applied
    }

    /// Applies an event that arrived at `now`.
    pub fn apply_event(&self, event: &CacheEvent<'_>, now: Timestamp) -> EventApplied {
        let applied = self.index.apply_event(event, now);
        self.loads.happened(event, now);
        applied
    }

    /// What is known of the load of replicas.
    pub fn loads(&self) -> &Loads {
        &self.loads
    }

    /// Ranking settings.
    pub fn ranker(&self) -> &RankerKnobs {
        &self.server.ranker
    }

    /// Bounds of the index.
    pub fn bounds(&self) -> &IndexConfig {
        &self.bounds
    }

    /// Limits on what one message may hold.
    pub fn limits(&self) -> &Limits {
        &self.server.limits
    }

    /// Replicas with entries that have gone silent, by model: not heard of for longer than the replica timeout, or than
    /// [`SILENT_AFTER_NS`] where that is off.
    pub fn silent_replicas(&self, now: Timestamp) -> BTreeMap<String, u64> {
        self.index.silent_replicas(now, self.silent_after_ns())
    }

    /// Replicas that are not silent, those without entries included, by model.
    pub fn live_replicas(&self, now: Timestamp) -> BTreeMap<String, BTreeSet<ReplicaId>> {
        self.index.live_replicas(now, self.silent_after_ns())
    }

    fn silent_after_ns(&self) -> i64 {
        match self.server.ranker.replica_timeout_ns.value {
            timeout_ns if timeout_ns > 0 => timeout_ns,
            _ => SILENT_AFTER_NS,
        }
    }

    /// The policies in force.
    pub fn policies(&self) -> Arc<PolicySet> {
        Arc::clone(&self.in_force.load().set)
    }

    /// Puts `set` in force, for lookups first and then for the index. Returns distinct keys evicted, by tenant.
    ///
    /// A lookup takes the policy of its tenant once, time to live included, and nothing of the index's settings: it
    /// sees the old set or the new one, never both. Those settings bound what is stored, and order what goes.
    pub fn replace_policies(&self, set: PolicySet) -> Vec<(TenantId, u64)> {
        let (default, by_tenant) = index_settings(&set);
        let _replacing = self.replacing.lock();
        self.in_force.store(Arc::new(InForce::new(set, &self.server)));
        self.index.set_tenant_settings(default, by_tenant)
    }

    /// Answers a lookup and credits what is delivered.
    pub fn route(&self, request: &LookupRequest<'_>, call: Call) -> Decision {
        let in_force = self.in_force.load();
        self.decide(request, in_force.settings_of(request.tenant), call, true)
    }

    /// The answer that [`Self::route`] would give, and what it was made of; credits nothing.
    pub fn explain(&self, request: &LookupRequest<'_>, call: Call) -> Explained {
        let settings = self.in_force.load().settings_of(request.tenant).clone();
        let decision = self.decide(request, &settings, call, false);
        let facts = match decision.needs_facts() {
            true => self.index.facts(request.tenant, request.model, request.scheme),
            false => DomainFacts::default(),
        };
        Explained { decision, settings, facts }
    }

    /// The decision that [`Self::route`] would give; credits nothing.
    pub fn peek(&self, request: &LookupRequest<'_>, call: Call) -> Decision {
        let in_force = self.in_force.load();
        self.decide(request, in_force.settings_of(request.tenant), call, false)
    }

    fn decide(
        &self,
        request: &LookupRequest<'_>,
        settings: &Settings,
        call: Call,
        credits: bool,
    ) -> Decision {
        let arrival = Arrival {
            now: call.now,
            elapsed_ns: call.watch.elapsed_ns(),
            deadline_ns: call.deadline_ns,
            in_flight: call.in_flight,
        };
        let plan = plan(request, settings, &Tokens, arrival);
        let see = |evidence: &mut Evidence| {
            evidence.index_is_empty |= !call.sees_all && !evidence.tenant_is_known;
            if let Some(drained) = self.drains.among(&evidence.roster, call.now) {
                evidence.drained = drained;
            }
        };
        let mut members = None;
        let concluded = if settings.ranker.ranker.value == Ranker::Balanced {
            let read = plan.query().map(|query| {
                let (mut evidence, balance) = self.read_balanced(&query, settings, &mut members);
                see(&mut evidence);
                (evidence, balance)
            });
            plan.conclude_balanced(read)
        } else {
            let evidence = plan.query().map(|query| {
                let mut evidence = self.index.read(&query);
                see(&mut evidence);
                evidence
            });
            plan.conclude(evidence)
        };
        let (decision, input) = concluded.deliver(call.watch.elapsed_ns());
        if !credits {
            return decision;
        }
        let query = Query::new(request, settings, &input, call.now);
        if let (Some(chosen), Some(members)) = (decision.chosen(), members) {
            let delivered = Delivered {
                member: chosen.member,
                held_blocks: chosen.blocks,
                uncached_tokens: chosen.wait.map_or(0.0, |wait| wait.uncached_tokens as f32),
            };
            self.loads.deliver(&query, &members, delivered, call.now);
        }
        if decision.reason != Reason::PrefixMatch {
            return decision;
        }
        if settings.policy.eviction.value == Eviction::Lfu {
            let named = |one: Candidate| Some((decision.roster.get(one.member)?, one.blocks));
            let delivered: Vec<(&ReplicaId, u32)> = decision.delivered().filter_map(named).collect();
            self.index.credit(&query, &delivered, true);
        } else if let Some(blocks) = decision.delivered_alike().map(|(common, _)| common.blocks).max() {
            self.index.credit_keys(&query, blocks);
        }
        decision
    }

    /// Evidence, and the load of its members, who are left in `members`.
    fn read_balanced(
        &self,
        query: &Query<'_>,
        settings: &Settings,
        members: &mut Option<Arc<Members>>,
    ) -> (Evidence, Balance) {
        let max_idle_ns = settings.ranker.tenant_hot_max_age_ns.value;
        let (mut evidence, around) = self.index.read_balanced(query, max_idle_ns);
        let all = self.loads.members(&evidence.roster, around.idle_roster.as_ref(), query.now);
        let mut balance = all.join(&mut evidence, around, query.wants_heard);
        balance.loads = self.loads.loads(query, &all, query.now);
        *members = Some(all);
        (evidence, balance)
    }
}

/// What the index needs of the policies: the settings of tenants without one, and of those with one.
fn index_settings(set: &PolicySet) -> (TenantSettings, HashMap<TenantId, TenantSettings>) {
    let settings = |policy: &ResolvedPolicy| TenantSettings {
        ttl_ns: policy.ttl_ns.value,
        eviction: policy.eviction.value,
        max_keys: policy.max_index_entries.value,
    };
    let by_tenant = set.iter().map(|(tenant, policy)| (tenant.clone(), settings(policy)));
    (settings(set.default_policy()), by_tenant.collect())
}

/// Tokens are fingerprinted here; no tokenizer is loaded.
struct Tokens;

impl InputResolver for Tokens {
    fn chain(&self, tokens: &[u32], block_size: u32) -> Vec<PrefixHash> {
        fingerprint_chain(tokens, block_size, None)
    }

    fn tokenize(&self, _model: &str, _text: &str) -> Option<Vec<u32>> {
        None
    }
}
