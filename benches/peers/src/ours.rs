//! The index under its router: a lookup is the whole decision.

use std::sync::Arc;

use icache::decision::Decision;
use icache::index::{IndexConfig, TenantSettings};
use icache::lookup::{Call, Router, RouterConfig};
use icache::model::{
    CacheEvent, EventKind, HashList, LookupRequest, PrefixEntry, PrefixHash, Sourced, StateUpdate, Tier,
    Timestamp,
};
use icache::policy::{Defaults, PolicySet, TenantPolicy, default_ranker, resolve};

/// Where the clock stands when a lookup is made.
pub const NOW_NS: i64 = 1_754_611_200_000_000_000;
const KEYS: (&str, &str, &str) = ("team-a", "llama", "vllm");
/// The tenant of the same fleet whose policy has no affinity.
pub const PLAIN: &str = "team-a";

pub struct Ours {
    pub router: Router,
    names: Vec<String>,
    counts: Vec<i32>,
}

impl Ours {
    /// An empty index; `affinity` says whether the policy of the tenant falls back to a stable replica.
    pub fn new(replicas: usize, affinity: bool) -> Self {
        Self::bounded(replicas, affinity, u64::MAX, None)
    }

    /// The same with a cap on entries, and a quota of keys for the tenant.
    pub fn bounded(replicas: usize, affinity: bool, max_entries: u64, quota: Option<u64>) -> Self {
        let defaults = Defaults::default();
        let mut policies = PolicySet::empty(&defaults);
        let written = TenantPolicy {
            affinity_routing: Some(affinity),
            max_index_entries: quota,
            ..TenantPolicy::default()
        };
        policies.insert(PLAIN.into(), resolve(&written, &Arc::from("bench"), &defaults));
        let router = Router::new(RouterConfig {
            index: IndexConfig {
                max_entries,
                default_settings: TenantSettings::default(),
                ..IndexConfig::default()
            },
            policies,
            ranker: default_ranker(),
            max_in_flight: Sourced::built_in(0),
        });
        let names = (0..replicas).map(|at| format!("vllm-{at:04}")).collect();
        Self { router, names, counts: vec![16; 4_096] }
    }

    /// Sets whether the tenant's policy falls back to a stable replica.
    pub fn set_affinity(&self, affinity: bool) {
        let defaults = Defaults::default();
        let mut policies = PolicySet::empty(&defaults);
        let written = TenantPolicy { affinity_routing: Some(affinity), ..TenantPolicy::default() };
        policies.insert(PLAIN.into(), resolve(&written, &Arc::from("bench"), &defaults));
        self.router.replace_policies(policies);
    }

    pub fn report(&self, replica: usize, chain: &[PrefixHash], at_ns: i64) {
        let entry = PrefixEntry {
            prefix_hash: &[],
            token_count: 0,
            block_hashes: HashList::Fingerprints(chain),
            block_token_counts: &self.counts[..chain.len()],
            tier: Tier::T1,
            adapter: "",
        };
        let (tenant, model, scheme) = KEYS;
        let update = StateUpdate {
            replica: &self.names[replica],
            tenant,
            model,
            scheme,
            prefixes: vec![entry],
            ..StateUpdate::default()
        };
        let applied = self.router.index().apply_update(&update, Timestamp::from_ns(at_ns));
        assert_eq!(applied.blocks, chain.len() as u64);
    }

    fn event(&self, kind: EventKind, replica: usize, hash: &[u8]) -> u64 {
        let event = CacheEvent {
            kind,
            replica: &self.names[replica],
            tenant: KEYS.0,
            model: KEYS.1,
            prefix_hash: hash,
            adapter: "",
            at: None,
        };
        self.router.index().apply_event(&event, Timestamp::from_ns(NOW_NS)).removed
    }

    pub fn remove(&self, replica: usize, chain: &[PrefixHash]) {
        for hash in chain {
            self.event(EventKind::PrefixEvicted, replica, hash.as_bytes());
        }
    }

    pub fn clear(&self, replica: usize) -> u64 {
        self.event(EventKind::AllCleared, replica, &[])
    }

    pub fn find(&self, query: &[PrefixHash]) -> Decision {
        let request = LookupRequest {
            tenant: KEYS.0,
            model: KEYS.1,
            scheme: KEYS.2,
            block_hashes: HashList::Fingerprints(query),
            block_token_counts: &self.counts[..query.len()],
            ..LookupRequest::default()
        };
        self.router.peek(&request, Call::at(Timestamp::from_ns(NOW_NS)))
    }

    /// The same, and credited as a delivered answer is.
    pub fn route(&self, query: &[PrefixHash]) -> Decision {
        let request = LookupRequest {
            tenant: KEYS.0,
            model: KEYS.1,
            scheme: KEYS.2,
            block_hashes: HashList::Fingerprints(query),
            block_token_counts: &self.counts[..query.len()],
            ..LookupRequest::default()
        };
        self.router.route(&request, Call::at(Timestamp::from_ns(NOW_NS)))
    }

    /// The leading run of each replica, in order.
    pub fn runs(&self, query: &[PrefixHash]) -> Vec<(usize, u32)> {
        let decision = self.find(query);
        let mut runs: Vec<(usize, u32)> = decision
            .candidates
            .iter()
            .filter_map(|candidate| {
                let name = decision.roster.get(candidate.member)?.as_str();
                Some((self.names.iter().position(|held| held == name)?, candidate.blocks))
            })
            .collect();
        runs.sort_unstable();
        runs
    }
}
