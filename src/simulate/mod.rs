//! Simulation: a request trace against a fleet of modelled engines, under several routings side by side.
//!
//! Everything that icache does is the real thing: requests are routed by [`crate::lookup::Router`], and engines tell the
//! index what they hold in the words of [`crate::engine`]. Only the engines are modelled: each is a cache of blocks that
//! drops the least recently used, and prefills one prompt at a time, first come first served. Time is a virtual clock of
//! whole nanoseconds on which the order of everything is fixed, so a run comes out the same on every machine.

mod agenda;
mod cache;
mod engine;
mod fleet;
mod gateway;
mod reachable;
mod scenario;
mod sidecar;
mod tally;
mod trace;
mod workload;

pub use cache::{Admitted, BlockCache};
pub use gateway::Routing;
pub use reachable::Reachable;
pub use scenario::{Fault, FaultKind, MAX_FAULTS, MAX_GATEWAYS, MAX_UTILISATION, Scenario};
pub use tally::{GateShare, IndexTally, Load, MAX_WINDOWS, Run, Share, Times, Window};
pub use trace::{
    BLOCK_TOKENS, MAX_BAD_LINES, MAX_REQUESTS, MAX_TIMESTAMP_MS, MAX_TRACE_BLOCKS, MAX_TRACE_LINE_BYTES,
    Request, Trace, TraceError, TraceOptions,
};
pub use workload::{DEFAULT_WORKLOAD_REQUESTS, MAX_WORKLOAD_REQUESTS, Workload};

use self::fleet::Fleet;
use crate::model::format_duration;
use crate::policy::PolicySet;

/// Engines in a fleet at most.
pub const MAX_REPLICAS: usize = 1_024;
/// Blocks in the cache of an engine at most.
pub const MAX_BLOCKS_PER_REPLICA: usize = 1 << 22;
/// Prefill rate at most, in tokens a second.
pub const MAX_PREFILL_RATE: u64 = 1_000_000_000;
/// Runs side by side at most.
pub const MAX_RUNS: usize = 16;

/// The fleet, and how it is used: the same for all runs that are compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Engines, 1 to [`MAX_REPLICAS`].
    pub replicas: usize,
    /// Blocks of [`BLOCK_TOKENS`] tokens in the cache of each, 1 to [`MAX_BLOCKS_PER_REPLICA`].
    pub blocks_per_replica: usize,
    /// Tokens that each prefills in a second unless the scenario says otherwise, 1 to [`MAX_PREFILL_RATE`].
    pub prefill_rate: u64,
    /// When engines say what they have stored.
    pub publish: Publish,
    /// Nanoseconds that what engines and sidecars say takes to the index.
    pub event_delay_ns: i64,
    /// Nanoseconds between two reports of everything that a replica holds; 0 for none.
    pub refresh_ns: i64,
    /// Requests to begin with that are routed round-robin whatever the routing.
    pub warmup: u64,
    /// Of the random routing.
    pub seed: u64,
    /// Whose requests they are; a policy holds if it is this tenant's.
    pub tenant: String,
    /// What differs from one server in front of equal engines that never fail.
    pub scenario: Scenario,
}

/// When engines say what a prompt brought into their cache. What had to go for it, they say when its prefill begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Publish {
    /// When its prefill begins.
    Start,
    /// When its prefill ends.
    #[default]
    End,
}

impl Publish {
    /// Stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
        }
    }
}

/// One of the runs to compare.
#[derive(Clone, Debug)]
pub struct Contender {
    /// How requests are routed.
    pub routing: Routing,
    /// Policies in force; `None` are the defaults.
    pub policy: Option<NamedPolicies>,
}

/// Policies and what they are called.
#[derive(Clone, Debug)]
pub struct NamedPolicies {
    /// The path that they come from.
    pub name: String,
    /// The policies.
    pub set: PolicySet,
}

/// What a simulation came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulated {
    /// The trace's name.
    pub trace: String,
    /// Requests of the trace.
    pub requests: u64,
    /// The fleet.
    pub settings: Settings,
    /// What caches without a choice of engine would reach.
    pub reachable: Reachable,
    /// The runs, in the order that they were asked for.
    pub runs: Vec<Run>,
    /// What a person should know, each as a sentence.
    pub warnings: Vec<String>,
}

/// Runs the `contenders` one after the other, each from empty caches and an empty index.
///
/// `progress` is told the requests routed so far in all runs.
pub fn simulate(
    name: &str,
    trace: &Trace,
    settings: &Settings,
    contenders: &[Contender],
    progress: &mut dyn FnMut(u64),
) -> Simulated {
    let mut runs = Vec::with_capacity(contenders.len());
    let stretched = settings.scenario.utilisation.map(|percent| {
        let rates: Vec<u64> =
            (0..settings.replicas).map(|at| settings.scenario.rate(at, settings.prefill_rate)).collect();
        let factor = scenario::stretch(trace, &rates, settings.blocks_per_replica, percent);
        trace.clone().stretched(factor)
    });
    let trace = stretched.as_ref().unwrap_or(trace);
    let requests = trace.requests().len() as u64;
    for (at, contender) in contenders.iter().enumerate() {
        let before = at as u64 * requests;
        runs.push(Fleet::new(trace, settings, contender).run(&mut |done| progress(before + done)));
    }
    let pooled = settings.replicas.saturating_mul(settings.blocks_per_replica);
    let bad = trace.bad_lines - trace.first_bad.len() as u64;
    let more = (bad > 0).then(|| format!("and {bad} more lines that were passed over"));
    let warnings = trace.first_bad.iter().cloned().chain(more).chain(unmet(trace, settings)).collect();
    Simulated {
        trace: name.to_owned(),
        requests,
        settings: settings.clone(),
        reachable: Reachable::of(trace, pooled),
        runs,
        warnings,
    }
}

/// The faults that no request met.
fn unmet(trace: &Trace, settings: &Settings) -> impl Iterator<Item = String> {
    let ends = (trace.requests().first(), trace.requests().last());
    let span_ns = ends.1.map_or(0, |last| last.at_ns) - ends.0.map_or(0, |first| first.at_ns);
    let late = settings.scenario.faults.iter().filter(move |fault| fault.at_ns > span_ns);
    late.map(move |fault| {
        let (flag, replica, at) = (fault.kind.flag(), fault.replica, format_duration(fault.at_ns));
        let last = format_duration(span_ns);
        format!("`{flag} r{replica}@{at}` changes nothing: the last request comes {last} after the first")
    })
}
