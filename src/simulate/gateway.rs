//! Where a gateway sends a request.

use std::collections::HashMap;

use super::Settings;
use super::engine::Engine;
use super::trace::{BLOCK_TOKENS, Request, Trace};
use crate::decision::{GateId, Reason};
use crate::lookup::{Call, Router};
use crate::model::{HashList, LookupRequest, Ranker, RankerKnobs, ReplicaId, Sourced, Timestamp};
use crate::policy::default_ranker;

/// How a gateway chooses among engines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Routing {
    /// The first replica of LookupRoute's answer by the reference ranker; round-robin where it is empty.
    Reference,
    /// The same by the balanced ranker.
    Balanced,
    /// One after the other.
    RoundRobin,
    /// Any, all equally likely.
    Random,
    /// The one with the fewest prompt tokens of this gateway's requests that are not prefilled yet; of several, the one
    /// chosen longest ago.
    LeastLoaded,
}

impl Routing {
    /// Every routing.
    pub const ALL: &'static [Routing] =
        &[Self::Reference, Self::Balanced, Self::RoundRobin, Self::Random, Self::LeastLoaded];

    /// Stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Balanced => "balanced",
            Self::RoundRobin => "round-robin",
            Self::Random => "random",
            Self::LeastLoaded => "least-loaded",
        }
    }

    /// The routing called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|routing| routing.name() == name)
    }

    /// Whether it asks the index, so that policies matter.
    pub fn asks(self) -> bool {
        matches!(self, Self::Reference | Self::Balanced)
    }

    /// The ranking settings of its servers, which are told the prefill rate of the first engine.
    pub(super) fn ranker(self, settings: &Settings) -> RankerKnobs {
        let ranker = if self == Self::Balanced { Ranker::Balanced } else { Ranker::Reference };
        let rate = settings.scenario.rate(0, settings.prefill_rate);
        RankerKnobs {
            ranker: Sourced::built_in(ranker),
            replica_timeout_ns: Sourced::built_in(settings.scenario.replica_timeout_ns),
            prefill_rate: Sourced::built_in(u32::try_from(rate).unwrap_or(u32::MAX)),
            ..default_ranker()
        }
    }
}

/// How an answer of LookupRoute came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Answered {
    pub(super) reason: Reason,
    pub(super) because: GateId,
    pub(super) has_hint: bool,
}

/// A place for a request, and the answer that it rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    pub(super) replica: usize,
    pub(super) answered: Option<Answered>,
}

/// The keys of every lookup and report, and the replicas by name.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) tenant: String,
    pub(super) replicas: Vec<ReplicaId>,
    by_name: HashMap<ReplicaId, usize>,
}

/// The model of all requests.
pub(super) const MODEL: &str = "model";
/// Their hash scheme.
pub(super) const SCHEME: &str = "vllm";

impl Names {
    pub(super) fn new(tenant: &str, replicas: usize) -> Self {
        // Ids of one length sort as their numbers do.
        let digits = replicas.saturating_sub(1).to_string().len();
        let replicas: Vec<_> =
            (0..replicas).map(|at| ReplicaId::from(format!("engine-{at:0digits$}").as_str())).collect();
        let by_name = replicas.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect();
        Self { tenant: tenant.to_owned(), replicas, by_name }
    }
}

/// One gateway and what it keeps in mind.
#[derive(Debug)]
pub(super) struct Gateway {
    routing: Routing,
    routed: u64,
    next: usize,
    random: SplitMix64,
    /// When each engine was chosen last, counted in requests.
    chosen: Vec<u64>,
    /// Prompt tokens of its requests that each engine has not prefilled yet: what a gateway can know of the load.
    outstanding: Vec<u64>,
    counts: Vec<i32>,
}

impl Gateway {
    /// Gateway `at` of several; they do not begin with the same engine.
    pub(super) fn new(routing: Routing, at: usize, replicas: usize, seed: u64, longest: usize) -> Self {
        Self {
            routing,
            routed: 0,
            next: at % replicas.max(1),
            random: SplitMix64::new(seed.wrapping_add(at as u64)),
            chosen: vec![0; replicas],
            outstanding: vec![0; replicas],
            counts: vec![BLOCK_TOKENS.cast_signed(); longest],
        }
    }

    /// Chooses for a request that arrives at `now`; one of the warm-up goes round-robin.
    pub(super) fn choose(
        &mut self,
        trace: &Trace,
        request: &Request,
        is_warmup: bool,
        index: Option<(&Router, &Names)>,
        now: Timestamp,
    ) -> Choice {
        self.routed += 1;
        let plain = |replica| Choice { replica, answered: None };
        let choice = match (self.routing, index) {
            _ if is_warmup => plain(self.round_robin()),
            (Routing::Reference | Routing::Balanced, Some((router, names))) => {
                self.ask(trace, request, router, names, now)
            }
            (Routing::Reference | Routing::Balanced | Routing::RoundRobin, _) => plain(self.round_robin()),
            (Routing::Random, _) => plain(self.random.below(self.chosen.len())),
            (Routing::LeastLoaded, _) => plain(self.least_loaded()),
        };
        self.chosen[choice.replica] = self.routed;
        self.outstanding[choice.replica] += request.tokens;
        choice
    }

    /// A request of so many tokens is no longer with an engine.
    pub(super) fn settle(&mut self, replica: usize, tokens: u64) {
        self.outstanding[replica] -= tokens;
    }

    /// The next engine that answers, for a request that another did not.
    pub(super) fn retry(&mut self, engines: &[Engine], request: &Request) -> Option<usize> {
        let next = (0..engines.len()).map(|_| self.round_robin()).find(|at| engines[*at].is_alive())?;
        self.outstanding[next] += request.tokens;
        Some(next)
    }

    fn ask(
        &mut self,
        trace: &Trace,
        request: &Request,
        router: &Router,
        names: &Names,
        now: Timestamp,
    ) -> Choice {
        let chain = trace.chain(request);
        let lookup = LookupRequest {
            tenant: &names.tenant,
            model: MODEL,
            scheme: SCHEME,
            block_hashes: HashList::Fingerprints(chain),
            block_token_counts: &self.counts[..chain.len()],
            ..LookupRequest::default()
        };
        let decision = router.route(&lookup, Call::at(now));
        let hint = decision.hints().next().and_then(|hint| names.by_name.get(hint.replica).copied());
        let answered =
            Answered { reason: decision.reason, because: decision.because, has_hint: hint.is_some() };
        Choice { replica: hint.unwrap_or_else(|| self.round_robin()), answered: Some(answered) }
    }

    fn round_robin(&mut self) -> usize {
        let replica = self.next;
        self.next = (self.next + 1) % self.chosen.len().max(1);
        replica
    }

    fn least_loaded(&self) -> usize {
        let load = |at: &usize| (self.outstanding[*at], self.chosen[*at], *at);
        (0..self.chosen.len()).min_by_key(load).unwrap_or(0)
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers for a seed, whatever the machine and the release.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitMix64(u64);

impl SplitMix64 {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; its bias is a 2^64th of the bound.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs for seed 1234567, as published with the reference implementation.
    #[test]
    fn random_numbers_are_those_of_the_reference() {
        let mut random = SplitMix64(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn replicas_sort_as_their_numbers_do() {
        let names = Names::new("t", 11);
        assert_eq!(names.replicas[10].as_str(), "engine-10");
        assert!(names.replicas.is_sorted());
        assert_eq!(Names::new("t", 1).replicas[0].as_str(), "engine-0");
    }
}
