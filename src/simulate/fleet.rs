//! One run: requests arrive, are routed and served, and the index hears of it, all on a virtual clock.

use super::agenda::Agenda;
use super::engine::{Engine, Queued};
use super::gateway::{Gateway, MODEL, Names, SCHEME};
use super::sidecar::{Sent, deliver};
use super::tally::{IndexTally, Run, Served, Tally};
use super::trace::Trace;
use super::{Contender, Publish, Settings};
use crate::engine::{Change, restate};
use crate::index::IndexConfig;
use crate::lookup::{Router, RouterConfig};
use crate::model::{Sourced, Timestamp};
use crate::policy::{Defaults, PolicySet, default_ranker};

/// The virtual clock's zero. Only differences matter; it is far from zero so that no time before it is negative.
const EPOCH: Timestamp = Timestamp::from_ns(1_000_000_000_000_000_000);
/// Time between two sweeps of the index, in nanoseconds: the default of `--sweep-interval`.
const SWEEP_NS: i64 = 60_000_000_000;
/// Time between two statistics of an engine, in nanoseconds.
const STATS_NS: i64 = 10_000_000_000;
/// Time between two signs of life, in nanoseconds.
const ALIVE_NS: i64 = 5_000_000_000;

/// What can be due.
#[derive(Debug)]
enum Task {
    /// An engine has computed its prompt.
    Finish(usize),
    /// What an engine's sidecar sent at a time reaches the index.
    Deliver {
        replica: usize,
        sent_ns: i64,
        sent: Sent,
    },
    Sweep,
    /// A sidecar reports everything held again.
    Refresh(usize),
    /// All sidecars report statistics.
    Stats,
    /// All sidecars say that they live.
    Alive,
}

impl Task {
    /// Place in the order of what is due at one time.
    fn kind(&self) -> u8 {
        match self {
            Self::Finish(_) => 0,
            Self::Deliver { .. } => 1,
            Self::Sweep => 2,
            Self::Refresh(_) => 3,
            Self::Stats => 4,
            Self::Alive => 5,
        }
    }
}

/// A fleet at work.
pub(super) struct Fleet<'a> {
    trace: &'a Trace,
    settings: &'a Settings,
    engines: Vec<Engine>,
    names: Names,
    gateway: Gateway,
    /// The index, where the routing asks it.
    router: Option<Router>,
    index: IndexTally,
    agenda: Agenda<Task>,
    tally: Tally,
}

impl<'a> Fleet<'a> {
    pub(super) fn new(trace: &'a Trace, settings: &'a Settings, contender: &Contender) -> Self {
        let names = Names::new(&settings.tenant, settings.replicas);
        let ends = (trace.requests().first(), trace.requests().last());
        let span = (ends.0.map_or(0, |first| first.at_ns), ends.1.map_or(0, |last| last.at_ns));
        let policy = contender.policy.as_ref();
        let policies =
            policy.map_or_else(|| PolicySet::empty(&Defaults::default()), |named| named.set.clone());
        let router = contender.routing.asks().then(|| {
            Router::new(RouterConfig {
                index: IndexConfig::default(),
                policies,
                ranker: default_ranker(),
                max_in_flight: Sourced::built_in(0),
            })
        });
        let engine = || Engine::new(settings.blocks_per_replica, settings.prefill_rate);
        Self {
            engines: std::iter::repeat_with(engine).take(settings.replicas).collect(),
            gateway: Gateway::new(
                contender.routing,
                settings.replicas,
                settings.warmup,
                settings.seed,
                trace.longest(),
            ),
            tally: Tally::new(
                contender.routing,
                policy.map(|named| named.name.clone()),
                names.replicas.iter().map(|name| name.as_str().to_owned()),
                span,
            ),
            names,
            router,
            index: IndexTally::default(),
            agenda: Agenda::new(),
            trace,
            settings,
        }
    }

    /// Runs to the end; `progress` is told the requests routed so far.
    pub(super) fn run(mut self, progress: &mut dyn FnMut(u64)) -> Run {
        self.plan_periodic();
        for at in 0..self.trace.requests().len() {
            self.arrive(at);
            progress(at as u64 + 1);
        }
        while let Some((now_ns, task)) = self.agenda.next(i64::MAX) {
            self.perform(task, now_ns);
        }
        let index = self
            .router
            .as_ref()
            .map(|router| IndexTally { entries_at_end: router.index().entries(), ..self.index });
        self.tally.finish(index)
    }

    /// What recurs, for the index only: without one nobody listens.
    fn plan_periodic(&mut self) {
        if self.router.is_none() {
            return;
        }
        let start_ns = self.trace.requests().first().map_or(0, |first| first.at_ns);
        self.recur(start_ns + SWEEP_NS, Task::Sweep);
        self.recur(start_ns + STATS_NS, Task::Stats);
        self.recur(start_ns, Task::Alive);
        let refresh_ns = self.settings.refresh_ns;
        for replica in (0..self.engines.len()).filter(|_| refresh_ns > 0) {
            // Sidecars do not start together: their refreshes are spread over the interval.
            let part = i128::from(refresh_ns) * (replica as i128 + 1) / self.engines.len() as i128;
            self.recur(start_ns + part as i64, Task::Refresh(replica));
        }
    }

    /// Plans what recurs, unless no request comes after it: then nobody asks the index any more.
    fn recur(&mut self, at_ns: i64, task: Task) {
        if self.trace.requests().last().is_some_and(|last| at_ns <= last.at_ns) {
            self.plan(at_ns, task);
        }
    }

    fn plan(&mut self, at_ns: i64, task: Task) {
        self.agenda.plan(at_ns, task.kind(), task);
    }

    fn arrive(&mut self, at: usize) {
        let Some(request) = self.trace.requests().get(at) else { return };
        let now_ns = request.at_ns;
        while let Some((due_ns, task)) = self.agenda.next(now_ns) {
            self.perform(task, due_ns);
        }
        let index = self.router.as_ref().map(|router| (router, &self.names));
        let choice = self.gateway.choose(self.trace, request, &self.engines, index, clock(now_ns));
        let prompt = self.trace.full_blocks(request);
        let best_blocks = self.engines.iter().map(|engine| engine.leading(prompt)).max().unwrap_or(0);
        self.engines[choice.replica]
            .enqueue(Queued { request: at, best_blocks, answered: choice.answered }, request.tokens);
        if self.engines[choice.replica].is_idle() {
            self.begin(choice.replica, now_ns);
        }
    }

    fn begin(&mut self, replica: usize, now_ns: i64) {
        let Some(prefill) = self.engines[replica].begin(self.trace) else { return };
        let ends_ns = now_ns.saturating_add(prefill.span_ns);
        if self.router.is_some() {
            let mut changes = prefill.removed(self.trace);
            if self.settings.publish == Publish::Start {
                changes.extend(prefill.stored(self.trace));
            }
            self.send(replica, now_ns, Sent::Changes(changes));
        }
        self.plan(ends_ns, Task::Finish(replica));
    }

    fn finish(&mut self, replica: usize, now_ns: i64) {
        let Some(prefill) = self.engines[replica].finish() else { return };
        if self.router.is_some() && self.settings.publish == Publish::End {
            self.send(replica, now_ns, Sent::Changes(prefill.stored(self.trace)));
        }
        let Some(request) = self.trace.requests().get(prefill.queued.request) else { return };
        let block_tokens = u64::from(super::BLOCK_TOKENS);
        let best_tokens = prefill.queued.best_blocks as u64 * block_tokens;
        self.tally.add(&Served {
            arrived_ns: request.at_ns,
            asked_tokens: request.tokens,
            found_tokens: prefill.found_tokens,
            missed_tokens: best_tokens.saturating_sub(prefill.found_tokens),
            prefill_ns: prefill.span_ns,
            ended_ns: now_ns,
            replica,
            answered: prefill.queued.answered,
        });
        self.begin(replica, now_ns);
    }

    fn perform(&mut self, task: Task, now_ns: i64) {
        match task {
            Task::Finish(replica) => self.finish(replica, now_ns),
            Task::Deliver { replica, sent_ns, sent } => {
                let Some(router) = &self.router else { return };
                let replica = &self.names.replicas[replica];
                let keys = (self.names.tenant.as_str(), MODEL, SCHEME);
                deliver(
                    &sent,
                    router.index(),
                    (replica, keys),
                    (clock(sent_ns), clock(now_ns)),
                    &mut self.index,
                );
            }
            Task::Sweep => {
                let Some(router) = &self.router else { return };
                let swept = router.index().sweep(clock(now_ns));
                self.index.expired += swept.expired_lru + swept.expired_lfu;
                self.recur(now_ns + SWEEP_NS, Task::Sweep);
            }
            Task::Refresh(replica) => {
                let with_running = self.settings.publish == Publish::Start;
                let held: Vec<Change> =
                    restate(self.engines[replica].held(self.trace, with_running).into_iter());
                self.send(replica, now_ns, Sent::Changes(held));
                self.recur(now_ns + self.settings.refresh_ns, Task::Refresh(replica));
            }
            Task::Stats => {
                for replica in 0..self.engines.len() {
                    let (hit_rate, pressure) = self.engines[replica].take_stats(self.trace);
                    self.send(replica, now_ns, Sent::Stats { hit_rate, pressure });
                }
                self.recur(now_ns + STATS_NS, Task::Stats);
            }
            Task::Alive => {
                for replica in 0..self.engines.len() {
                    self.send(replica, now_ns, Sent::Alive);
                }
                self.recur(now_ns + ALIVE_NS, Task::Alive);
            }
        }
    }

    /// Puts something on its way to the index.
    fn send(&mut self, replica: usize, sent_ns: i64, sent: Sent) {
        if !sent.is_empty() {
            let at_ns = sent_ns.saturating_add(self.settings.event_delay_ns);
            self.plan(at_ns, Task::Deliver { replica, sent_ns, sent });
        }
    }
}

/// A time of the trace on the virtual clock.
fn clock(ns: i64) -> Timestamp {
    EPOCH.plus_ns(ns)
}
