//! The balanced ranker through the router: members, waits, provisional holdings, reasons, and what heals by itself; and
//! fleets of the simulation that the reference ranker cannot serve.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod bounds;
mod fleets;
mod members;
mod waits;
mod world;

use icache::decision::{Decision, Reason};
use icache::index::IndexConfig;
use icache::lookup::{Call, Router, RouterConfig};
use icache::model::{
    CacheEvent, EventKind, HashList, LoadHintCode, LookupRequest, PrefixEntry, PrefixHash, Ranker,
    RankerKnobs, ReplicaStats, Sourced, StateUpdate, Tier, Timestamp,
};
use icache::policy::{Defaults, PolicySet, default_ranker};

const SECOND: i64 = 1_000_000_000;
const BLOCK: i32 = 64;

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_ns(1_754_611_200 * SECOND + (seconds * 1e9) as i64)
}

/// A server with the balanced ranker.
struct Server {
    router: Router,
}

fn knobs() -> RankerKnobs {
    RankerKnobs {
        ranker: Sourced::built_in(Ranker::Balanced),
        prefill_rate: Sourced::built_in(1_000),
        ..default_ranker()
    }
}

impl Server {
    fn new(ranker: RankerKnobs) -> Self {
        let router = Router::new(RouterConfig {
            index: IndexConfig::default(),
            policies: PolicySet::empty(&Defaults::default()),
            ranker,
            max_in_flight: Sourced::built_in(0),
        });
        Self { router }
    }

    /// With replicas that said that they live.
    fn with(replicas: &[&str]) -> Self {
        let server = Self::new(knobs());
        replicas.iter().for_each(|replica| server.event(replica, EventKind::ReplicaUpdated, at(0.0)));
        server
    }

    fn event(&self, replica: &str, kind: EventKind, now: Timestamp) {
        let event =
            CacheEvent { kind, replica, tenant: "t", model: "m", prefix_hash: &[], adapter: "", at: None };
        assert_eq!(self.router.apply_event(&event, now).dropped, None);
    }

    fn stores(&self, replica: &str, chain: &[u64], now: Timestamp) {
        self.stores_under("s", replica, chain, now);
    }

    fn stores_under(&self, scheme: &str, replica: &str, chain: &[u64], now: Timestamp) {
        let hashes = hashes(chain);
        let counts = vec![BLOCK; chain.len()];
        let entry = PrefixEntry {
            prefix_hash: &[],
            token_count: 0,
            block_hashes: HashList::Fingerprints(&hashes),
            block_token_counts: &counts,
            tier: Tier::T1,
            adapter: "",
        };
        let prefixes = vec![entry];
        let update =
            StateUpdate { replica, tenant: "t", model: "m", scheme, prefixes, ..StateUpdate::default() };
        assert_eq!(self.router.apply_update(&update, now).dropped, []);
    }

    fn pressure(&self, replica: &str, pressure: f32, now: Timestamp) {
        let stats = Some(ReplicaStats { pressure, ..ReplicaStats::default() });
        let update = StateUpdate { replica, tenant: "t", model: "m", stats, ..StateUpdate::default() };
        self.router.apply_update(&update, now);
    }

    fn asks(&self, chain: &[u64], now: Timestamp, is_delivered: bool) -> Decision {
        let hashes = hashes(chain);
        let counts = vec![BLOCK; chain.len()];
        let request = LookupRequest {
            tenant: "t",
            model: "m",
            scheme: "s",
            block_hashes: HashList::Fingerprints(&hashes),
            block_token_counts: &counts,
            ..LookupRequest::default()
        };
        match is_delivered {
            true => self.router.route(&request, Call::at(now)),
            false => self.router.peek(&request, Call::at(now)),
        }
    }

    /// Code and replicas of a delivered answer.
    fn routes(&self, chain: &[u64], now: Timestamp) -> (Reason, Vec<String>) {
        answer(&self.asks(chain, now, true))
    }

    /// The first replica of a delivered answer.
    fn first(&self, chain: &[u64], now: Timestamp) -> String {
        self.routes(chain, now).1.into_iter().next().unwrap_or_default()
    }

    /// Pending, uncached and provisional tokens of a replica for a prompt.
    fn wait(&self, replica: &str, chain: &[u64], now: Timestamp) -> (f32, i32, i32) {
        let decision = self.asks(chain, now, false);
        let member = decision.roster.member(replica).unwrap();
        let candidate = decision.candidates.iter().find(|candidate| candidate.member == member).unwrap();
        let wait = candidate.wait.unwrap();
        (wait.pending_tokens, wait.uncached_tokens, wait.provisional_tokens)
    }
}

fn hashes(chain: &[u64]) -> Vec<PrefixHash> {
    chain.iter().map(|hash| PrefixHash::new(hash.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
}

fn answer(decision: &Decision) -> (Reason, Vec<String>) {
    (decision.reason, decision.hints().map(|hint| hint.replica.as_str().to_owned()).collect())
}
