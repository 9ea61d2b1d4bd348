//! One run: requests arrive, are routed and served, and the index hears of it, all on a virtual clock.

use super::agenda::Agenda;
use super::engine::{Engine, Queued};
use super::gateway::{Gateway, MODEL, Names, SCHEME};
use super::sidecar::{Sent, deliver};
use super::tally::{IndexTally, Run, Served, Tally};
use super::trace::Trace;
use super::{Contender, FaultKind, Publish, Settings};
use crate::engine::{Change, restate};
use crate::index::IndexConfig;
use crate::lookup::{Router, RouterConfig};
use crate::model::{Sourced, Timestamp};
use crate::policy::{Defaults, PolicySet};

/// The virtual clock's zero. Only differences matter; it is far from zero so that no time before it is negative.
const EPOCH: Timestamp = Timestamp::from_ns(1_000_000_000_000_000_000);
/// Time between two sweeps of the index, in nanoseconds: the default of `--sweep-interval`.
const SWEEP_NS: i64 = 60_000_000_000;
/// Time between two statistics of an engine, in nanoseconds.
const STATS_NS: i64 = 10_000_000_000;
/// Time between two signs of life, in nanoseconds.
const ALIVE_NS: i64 = 5_000_000_000;
/// Time after which a gateway sends a request to another engine, in nanoseconds: the first does not answer.
const RETRY_NS: i64 = 1_000_000_000;

/// What can be due.
#[derive(Debug)]
enum Task {
    /// An engine has computed its prompt, if it is in the same life.
    Finish {
        replica: usize,
        life: u32,
    },
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
    /// One of the faults happens.
    Fault(usize),
    /// A gateway sends a request to another engine.
    Retry(Queued),
}

impl Task {
    /// Place in the order of what is due at one time.
    fn kind(&self) -> u8 {
        match self {
            Self::Finish { .. } => 0,
            Self::Deliver { .. } => 1,
            Self::Sweep => 2,
            Self::Refresh(_) => 3,
            Self::Stats => 4,
            Self::Alive => 5,
            Self::Fault(_) => 6,
            Self::Retry(_) => 7,
        }
    }
}

/// A fleet at work.
pub(super) struct Fleet<'a> {
    trace: &'a Trace,
    settings: &'a Settings,
    engines: Vec<Engine>,
    names: Names,
    gateways: Vec<Gateway>,
    /// The servers, where the routing asks one.
    routers: Vec<Router>,
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
        let ranker = contender.routing.ranker(settings);
        let server = || {
            Router::new(RouterConfig {
                index: IndexConfig::default(),
                policies: policies.clone(),
                ranker: ranker.clone(),
                max_in_flight: Sourced::built_in(0),
            })
        };
        let gateways = settings.scenario.gateways.max(1);
        let servers = if contender.routing.asks() { settings.scenario.servers.clamp(1, gateways) } else { 0 };
        let engine = |at| {
            let rate = settings.scenario.rate(at, settings.prefill_rate);
            Engine::new(settings.blocks_per_replica, rate)
        };
        let gateway =
            |at| Gateway::new(contender.routing, at, settings.replicas, settings.seed, trace.longest());
        Self {
            engines: (0..settings.replicas).map(engine).collect(),
            gateways: (0..gateways).map(gateway).collect(),
            tally: Tally::new(
                contender.routing,
                policy.map(|named| named.name.clone()),
                names.replicas.iter().map(|name| name.as_str().to_owned()),
                span,
            ),
            names,
            routers: std::iter::repeat_with(server).take(servers).collect(),
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
        let entries_at_end = self.routers.iter().map(|router| router.index().entries()).sum();
        let index = (!self.routers.is_empty()).then_some(IndexTally { entries_at_end, ..self.index });
        self.tally.finish(index)
    }

    /// What breaks, and what recurs; the latter for the index only: without one nobody listens.
    fn plan_periodic(&mut self) {
        let start_ns = self.trace.requests().first().map_or(0, |first| first.at_ns);
        for (at, fault) in self.settings.scenario.faults.iter().enumerate() {
            self.plan(start_ns.saturating_add(fault.at_ns), Task::Fault(at));
        }
        if self.routers.is_empty() {
            return;
        }
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
        let gateway = at % self.gateways.len();
        let server = gateway % self.routers.len().max(1);
        let index = self.routers.get(server).map(|router| (router, &self.names));
        let is_warmup = (at as u64) < self.settings.warmup;
        let choice = self.gateways[gateway].choose(self.trace, request, is_warmup, index, clock(now_ns));
        let prompt = self.trace.full_blocks(request);
        let best_blocks = self.engines.iter().map(|engine| engine.leading(prompt)).max().unwrap_or(0);
        self.enqueue(
            choice.replica,
            Queued { request: at, best_blocks, answered: choice.answered, gateway },
            now_ns,
        );
    }

    /// Sends a request to an engine; one that is dead does not answer, and the gateway tries another.
    fn enqueue(&mut self, replica: usize, queued: Queued, now_ns: i64) {
        if !self.engines[replica].is_alive() {
            return self.fail(replica, queued, now_ns);
        }
        self.engines[replica].enqueue(queued);
        if self.engines[replica].is_idle() {
            self.begin(replica, now_ns);
        }
    }

    fn fail(&mut self, replica: usize, queued: Queued, now_ns: i64) {
        if let Some(request) = self.trace.requests().get(queued.request) {
            self.gateways[queued.gateway].settle(replica, request.tokens);
        }
        self.tally.run.retried += 1;
        self.plan(now_ns.saturating_add(RETRY_NS), Task::Retry(queued));
    }

    fn retry(&mut self, queued: Queued, now_ns: i64) {
        let Some(request) = self.trace.requests().get(queued.request) else { return };
        match self.gateways[queued.gateway].retry(&self.engines, request) {
            Some(replica) => self.enqueue(replica, queued, now_ns),
            None => self.tally.run.lost += 1,
        }
    }

    fn fault(&mut self, at: usize, now_ns: i64) {
        let Some(fault) = self.settings.scenario.faults.get(at).copied() else { return };
        match fault.kind {
            FaultKind::Kill => {
                for queued in self.engines[fault.replica].kill() {
                    self.fail(fault.replica, queued, now_ns);
                }
            }
            FaultKind::Restart if !self.engines[fault.replica].is_alive() => {
                self.engines[fault.replica].restart();
                self.send(fault.replica, now_ns, Sent::Cleared);
                self.send(fault.replica, now_ns, Sent::Alive);
            }
            FaultKind::Restart => {}
        }
    }

    fn begin(&mut self, replica: usize, now_ns: i64) {
        let Some(prefill) = self.engines[replica].begin(self.trace) else { return };
        let ends_ns = now_ns.saturating_add(prefill.span_ns);
        if !self.routers.is_empty() {
            let mut changes = prefill.removed(self.trace);
            if self.settings.publish == Publish::Start {
                changes.extend(prefill.stored(self.trace));
            }
            self.send(replica, now_ns, Sent::Changes(changes));
        }
        let life = self.engines[replica].life();
        self.plan(ends_ns, Task::Finish { replica, life });
    }

    fn finish(&mut self, replica: usize, now_ns: i64) {
        let Some(prefill) = self.engines[replica].finish() else { return };
        if !self.routers.is_empty() && self.settings.publish == Publish::End {
            self.send(replica, now_ns, Sent::Changes(prefill.stored(self.trace)));
        }
        let Some(request) = self.trace.requests().get(prefill.queued.request) else { return };
        self.gateways[prefill.queued.gateway].settle(replica, request.tokens);
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
            Task::Finish { replica, life } if self.engines[replica].life() == life => {
                self.finish(replica, now_ns);
            }
            Task::Finish { .. } => {}
            Task::Deliver { replica, sent_ns, sent } => self.deliver(replica, &sent, sent_ns, now_ns),
            Task::Sweep => {
                for router in &self.routers {
                    let swept = router.index().sweep(clock(now_ns));
                    self.index.expired += swept.expired_lru + swept.expired_lfu;
                }
                self.recur(now_ns + SWEEP_NS, Task::Sweep);
            }
            Task::Fault(at) => self.fault(at, now_ns),
            Task::Retry(queued) => self.retry(queued, now_ns),
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

    /// What a sidecar sent reaches the servers that it reports to.
    fn deliver(&mut self, replica: usize, sent: &Sent, sent_ns: i64, now_ns: i64) {
        let only = self.settings.scenario.split_reports.then(|| replica % self.routers.len().max(1));
        let name = &self.names.replicas[replica];
        let keys = (self.names.tenant.as_str(), MODEL, SCHEME);
        for (_, router) in
            self.routers.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at))
        {
            deliver(sent, router, (name, keys), (clock(sent_ns), clock(now_ns)), &mut self.index);
        }
    }

    /// Puts something on its way to the index; a dead sidecar says nothing.
    fn send(&mut self, replica: usize, sent_ns: i64, sent: Sent) {
        if !self.routers.is_empty() && !sent.is_empty() && self.engines[replica].is_alive() {
            let at_ns = sent_ns.saturating_add(self.settings.event_delay_ns);
            self.plan(at_ns, Task::Deliver { replica, sent_ns, sent });
        }
    }
}

/// A time of the trace on the virtual clock.
fn clock(ns: i64) -> Timestamp {
    EPOCH.plus_ns(ns)
}
