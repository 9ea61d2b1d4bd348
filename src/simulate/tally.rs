//! What a run is measured by.

use std::collections::BTreeMap;

use super::gateway::{Answered, Routing};
use crate::decision::{GateId, Reason};

/// Windows that a run is divided into, by the arrival of the requests, at most.
pub const MAX_WINDOWS: usize = 60;

const SECOND_NS: i64 = 1_000_000_000;

/// What came of one routing, under one set of policies where it asks the index.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// How requests were routed.
    pub routing: Routing,
    /// The policies, by name; `None` are the defaults, and routings that do not ask.
    pub policy: Option<String>,
    /// All requests together.
    pub total: Share,
    /// Tokens computed that an engine held, or was computing, when the request was routed.
    pub missed_tokens: u64,
    /// Time to first token of all requests.
    pub ttft: Times,
    /// Nanoseconds from the first arrival to the end of the last prefill.
    pub span_ns: i64,
    /// What each engine did.
    pub engines: Vec<Load>,
    /// Answers of LookupRoute, by reason code; requests of the warm-up have none.
    pub reasons: BTreeMap<Reason, u64>,
    /// The same, by the gate that is their cause.
    pub gates: BTreeMap<GateId, GateShare>,
    /// Answers that name a replica.
    pub hints: u64,
    /// Requests that an engine did not answer because it was dead, each time that this happened.
    pub retried: u64,
    /// Requests that were given up because no engine was alive.
    pub lost: u64,
    /// How it went, window by window.
    pub windows: Vec<Window>,
    /// Nanoseconds that a window lasts.
    pub window_ns: i64,
    /// The index, where the routing asks it.
    pub index: Option<IndexTally>,
}

/// Requests, and the tokens of their prompts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share {
    /// Requests.
    pub requests: u64,
    /// Tokens of their prompts.
    pub asked_tokens: u64,
    /// Of those, tokens found in the cache of the engine that served them; the others were computed.
    pub found_tokens: u64,
}

impl Share {
    fn add(&mut self, asked: u64, found: u64) {
        self.requests += 1;
        self.asked_tokens += asked;
        self.found_tokens += found;
    }

    /// Tokens that were computed.
    pub fn prefilled_tokens(&self) -> u64 {
        self.asked_tokens - self.found_tokens
    }
}

/// What one engine did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Load {
    /// Its name.
    pub name: String,
    /// Its requests.
    pub share: Share,
    /// Nanoseconds that it prefilled.
    pub busy_ns: i64,
    /// Nanoseconds that its requests waited before their prefill began, all together.
    pub wait_ns: i64,
}

/// Requests whose answer has one gate for a cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GateShare {
    /// Requests, and what they found.
    pub share: Share,
    /// Tokens computed that an engine held, or was computing, when the request was routed.
    pub missed_tokens: u64,
}

/// What the index did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IndexTally {
    /// Blocks stored or refreshed.
    pub stored_blocks: u64,
    /// Entries that events removed.
    pub removed: u64,
    /// Entries that reached their time to live.
    pub expired: u64,
    /// Entries evicted over the cap of the index.
    pub evicted_cap: u64,
    /// Keys evicted over the tenant's quota.
    pub evicted_quota_keys: u64,
    /// Entries held at the end.
    pub entries_at_end: u64,
}

/// Requests that arrived in one span of time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Window {
    /// Nanoseconds from the first arrival of all to its start.
    pub from_ns: i64,
    /// The requests.
    pub share: Share,
    /// Their times to first token.
    pub ttft: Times,
    /// Their reason codes.
    pub reasons: BTreeMap<Reason, u64>,
    /// Tokens that each engine computed for them.
    pub prefilled_tokens: Vec<u64>,
}

/// Spans of time, all kept: percentiles are exact.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Times {
    sorted_ns: Vec<i64>,
}

impl Times {
    /// Nanoseconds on average, 0 of none.
    pub fn mean_ns(&self) -> f64 {
        let sum: i128 = self.sorted_ns.iter().map(|ns| i128::from(*ns)).sum();
        sum as f64 / self.sorted_ns.len().max(1) as f64
    }

    /// The least span that at least `percent` of all do not exceed, in nanoseconds (nearest rank); 0 of none.
    pub fn percentile_ns(&self, percent: usize) -> i64 {
        let rank = (self.sorted_ns.len() * percent).div_ceil(100);
        self.sorted_ns.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    }
}

/// One request that was served.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub(super) arrived_ns: i64,
    pub(super) asked_tokens: u64,
    pub(super) found_tokens: u64,
    pub(super) missed_tokens: u64,
    pub(super) prefill_ns: i64,
    pub(super) ended_ns: i64,
    pub(super) replica: usize,
    pub(super) answered: Option<Answered>,
}

/// Counts while a run goes on.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) run: Run,
    first_ns: i64,
}

impl Tally {
    /// For requests that arrive from `first_ns` to `last_ns`.
    pub(super) fn new(
        routing: Routing,
        policy: Option<String>,
        names: impl Iterator<Item = String>,
        (first_ns, last_ns): (i64, i64),
    ) -> Self {
        let engines: Vec<Load> = names.map(|name| Load { name, ..Load::default() }).collect();
        let span_ns = last_ns - first_ns;
        // Whole seconds, of which as many windows as there may be cover the last arrival too.
        let seconds = span_ns / (SECOND_NS * MAX_WINDOWS as i64) + 1;
        let window_ns = seconds * SECOND_NS;
        let windows = (0..=span_ns / window_ns).map(|at| Window {
            from_ns: at * window_ns,
            prefilled_tokens: vec![0; engines.len()],
            ..Window::default()
        });
        let run = Run {
            routing,
            policy,
            total: Share::default(),
            missed_tokens: 0,
            ttft: Times::default(),
            span_ns: 0,
            windows: windows.collect(),
            window_ns,
            engines,
            reasons: BTreeMap::new(),
            gates: BTreeMap::new(),
            hints: 0,
            retried: 0,
            lost: 0,
            index: None,
        };
        Self { run, first_ns }
    }

    pub(super) fn add(&mut self, served: &Served) {
        let run = &mut self.run;
        let (asked, found) = (served.asked_tokens, served.found_tokens);
        let ttft_ns = served.ended_ns - served.arrived_ns;
        run.total.add(asked, found);
        run.missed_tokens += served.missed_tokens;
        run.ttft.sorted_ns.push(ttft_ns);
        run.span_ns = run.span_ns.max(served.ended_ns - self.first_ns);
        let engine = &mut run.engines[served.replica];
        engine.share.add(asked, found);
        engine.busy_ns = engine.busy_ns.saturating_add(served.prefill_ns);
        engine.wait_ns = engine.wait_ns.saturating_add(ttft_ns - served.prefill_ns);
        let at = (served.arrived_ns - self.first_ns) / run.window_ns;
        let window = &mut run.windows[at as usize];
        window.share.add(asked, found);
        window.ttft.sorted_ns.push(ttft_ns);
        window.prefilled_tokens[served.replica] += asked - found;
        let Some(answered) = served.answered else { return };
        *run.reasons.entry(answered.reason).or_default() += 1;
        *window.reasons.entry(answered.reason).or_default() += 1;
        run.hints += u64::from(answered.has_hint);
        let gate = run.gates.entry(answered.because).or_default();
        gate.share.add(asked, found);
        gate.missed_tokens += served.missed_tokens;
    }

    pub(super) fn finish(mut self, index: Option<IndexTally>) -> Run {
        self.run.ttft.sorted_ns.sort_unstable();
        for window in &mut self.run.windows {
            window.ttft.sorted_ns.sort_unstable();
        }
        self.run.index = index;
        self.run
    }
}

impl Run {
    /// Highest number of prefilled tokens of an engine over the mean; 1 where nothing was prefilled.
    pub fn spread(&self) -> f64 {
        let most = self.engines.iter().map(|engine| engine.share.prefilled_tokens()).max().unwrap_or(0);
        let all = self.total.prefilled_tokens();
        if all == 0 { 1.0 } else { most as f64 * self.engines.len() as f64 / all as f64 }
    }

    /// Share of the run that the engines prefilled, on average.
    pub fn utilisation(&self) -> f64 {
        let busy: i128 = self.engines.iter().map(|engine| i128::from(engine.busy_ns)).sum();
        let whole = i128::from(self.span_ns) * self.engines.len() as i128;
        if whole == 0 { 0.0 } else { busy as f64 / whole as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let times = Times { sorted_ns: (1..=10).collect() };
        assert_eq!([0, 1, 50, 51, 99, 100].map(|percent| times.percentile_ns(percent)), [1, 1, 5, 6, 10, 10]);
        assert_eq!(times.mean_ns(), 5.5);
        assert_eq!((Times::default().percentile_ns(50), Times::default().mean_ns()), (0, 0.0));
    }

    #[test]
    fn windows_cover_every_arrival_and_are_bounded() {
        for (first, last, windows, seconds) in [
            (0, 0, 1, 1),
            (5, 5 + SECOND_NS, 2, 1),
            (0, 60 * SECOND_NS - 1, 60, 1),
            (0, 60 * SECOND_NS, 31, 2),
            (0, 3_537 * SECOND_NS, 60, 59),
        ] {
            let tally = Tally::new(Routing::Random, None, std::iter::empty(), (first, last));
            let run = &tally.run;
            assert_eq!(
                (run.windows.len(), run.window_ns / SECOND_NS),
                (windows, seconds),
                "{first} to {last}"
            );
        }
    }
}
