//! A whole run: load, warm up, ask in slices, remove.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::task::JoinSet;

use super::pace::Slice;
use super::target::{Identity, Target};
use super::{stream, unary};
use crate::bench::{BenchReport, Loop, Question, ServerReport, Tally, Workload};
use crate::cmd::client::ServerArgs;
use crate::cmd::error::CommandError;
use crate::model::Answer;
use crate::render::BenchProgress;

/// Lookups in flight of an open loop, all connections together.
const MAX_OPEN: usize = 1_024;
/// Time between two looks at the progress.
const TICK: Duration = Duration::from_millis(100);
/// Time that a server has to remove the load once the run is over.
const CLEAR_PATIENCE: Duration = Duration::from_secs(10);

/// How long to ask.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Until {
    Elapsed(Duration),
    Requests(u64),
}

impl Until {
    /// Part `at` of `of`; all parts together are the whole.
    fn part(self, at: u32, of: u32) -> Self {
        match self {
            Self::Elapsed(length) => Self::Elapsed(length / of),
            Self::Requests(number) => {
                let bound = |at: u32| (u128::from(number) * u128::from(at) / u128::from(of)) as u64;
                Self::Requests(bound(at + 1) - bound(at))
            }
        }
    }
}

/// What is to be done.
pub(super) struct Plan {
    pub(super) workload: Workload,
    pub(super) identity: Identity,
    pub(super) pace: Loop,
    pub(super) connections: u32,
    pub(super) is_fast: bool,
    pub(super) until: Until,
    pub(super) warm_up: Duration,
    pub(super) slices: u32,
}

/// How a run ended.
pub(super) enum Ended {
    Done,
    Interrupted,
    /// Some lookups have no answer; the server may be gone.
    Lost(CommandError),
}

/// What is asked, and for whom.
pub(super) struct Load {
    pub(super) workload: Arc<Workload>,
    pub(super) identity: Identity,
}

impl Load {
    /// Counts an answer.
    pub(super) fn count(
        &self,
        question: &Question,
        answer: &Answer,
        latency: Duration,
        tally: &Mutex<Tally>,
    ) {
        let verdict = self.workload.verdict(question, answer);
        let has_hints = !answer.replicas.is_empty();
        tally.lock().answer(question.kind, &answer.reason_code, has_hints, verdict, latency);
    }
}

/// A future that is ready once Ctrl-C was pressed.
type Interrupt<'a> = Pin<&'a mut (dyn Future<Output = ()> + Send)>;

/// Runs the plan against one server, or two in turn.
pub(super) async fn run(servers: &[ServerArgs], plan: Plan) -> Result<(BenchReport, Ended), CommandError> {
    let mut interrupt = pin!(async {
        // Without a handler Ctrl-C ends the program, which is what is wanted then.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    });
    let connecting = async {
        let mut targets = Vec::new();
        for server in servers {
            targets.push(Target::connect(server, plan.connections).await?);
        }
        Ok::<_, CommandError>(targets)
    };
    let targets = tokio::select! {
        connected = connecting => connected?,
        () = &mut interrupt => return Err(CommandError::Interrupted),
    };
    let load = Arc::new(Load { workload: Arc::new(plan.workload), identity: plan.identity.clone() });
    let bench = Bench {
        targets: &targets,
        load: &load,
        pace: plan.pace,
        connections: plan.connections,
        is_fast: plan.is_fast,
    };
    let prepared = tokio::select! {
        prepared = bench.prepare() => prepared,
        () = &mut interrupt => Err(CommandError::Interrupted),
    };
    let ran = match prepared {
        Ok(()) => Ok(bench.measure(plan.until, plan.warm_up, plan.slices, interrupt).await),
        Err(error) => Err(error),
    };
    let cleared = bench.clear().await;
    let (report, ended) = ran?;
    match (ended, cleared) {
        (Ended::Done, Err(error)) => Ok((report, Ended::Lost(error))),
        (ended, _) => Ok((report, ended)),
    }
}

struct Bench<'a> {
    targets: &'a [Target],
    load: &'a Arc<Load>,
    pace: Loop,
    connections: u32,
    is_fast: bool,
}

impl Bench<'_> {
    /// Removes what an earlier run may have left, and loads.
    async fn prepare(&self) -> Result<(), CommandError> {
        for target in self.targets {
            target.clear(&self.load.workload, &self.load.identity).await?;
            target.load(&self.load.workload, &self.load.identity).await?;
        }
        Ok(())
    }

    /// Removes what was loaded; the first error.
    async fn clear(&self) -> Result<(), CommandError> {
        let mut cleared = Ok(());
        for target in self.targets {
            let clearing = target.clear(&self.load.workload, &self.load.identity);
            let ended = tokio::time::timeout(CLEAR_PATIENCE, clearing).await;
            cleared = cleared.and(ended.unwrap_or_else(|_| Err(target.clients[0].late())));
        }
        cleared
    }

    async fn measure(
        &self,
        until: Until,
        warm_up: Duration,
        slices: u32,
        mut interrupt: Interrupt<'_>,
    ) -> (BenchReport, Ended) {
        let mut report = BenchReport {
            shape: *self.load.workload.shape(),
            pace: self.pace,
            connections: self.connections,
            is_fast: self.is_fast,
            is_partial: false,
            servers: self.targets.iter().map(|target| ServerReport::new(target.url())).collect(),
        };
        let mut progress = BenchProgress::over(self.work(until), matches!(until, Until::Requests(_)));
        let mut first = 0_u64;
        let mut fault = None;
        let warming = (!warm_up.is_zero()).then_some((Until::Elapsed(warm_up), false));
        let measuring = (0..slices).map(|at| (until.part(at, slices), true));
        for (until, counts) in warming.into_iter().chain(measuring) {
            for (at, target) in self.targets.iter().enumerate() {
                if until == Until::Requests(0) {
                    continue;
                }
                let slice = Slice::start(self.pace, until, first);
                // Far enough apart that no two slices ask in the same order.
                first = first.wrapping_add(1 << 40);
                let bar = counts.then_some(&mut progress);
                let (tally, is_interrupted) = self.slice(target, &slice, bar, interrupt.as_mut()).await;
                if counts {
                    report.servers[at].add(&tally, slice.elapsed().as_secs_f64());
                }
                fault = fault.or(slice.fault().map(|status| (at, status)));
                if slice.is_stopped() {
                    report.is_partial = true;
                    let lost = fault.map(|(at, status)| self.targets[at].clients[0].failed(&status));
                    return (
                        report,
                        match lost {
                            Some(error) if !is_interrupted => Ended::Lost(error),
                            _ => Ended::Interrupted,
                        },
                    );
                }
            }
        }
        match fault {
            Some((at, status)) => (report, Ended::Lost(self.targets[at].clients[0].failed(&status))),
            None => (report, Ended::Done),
        }
    }

    /// What the bar counts: milliseconds, or lookups.
    fn work(&self, until: Until) -> u64 {
        let each = match until {
            Until::Elapsed(length) => u64::try_from(length.as_millis()).unwrap_or(u64::MAX),
            Until::Requests(number) => number,
        };
        each.saturating_mul(self.targets.len() as u64)
    }

    /// Asks one server until the slice is over: what came of it, and whether Ctrl-C ended it.
    async fn slice(
        &self,
        target: &Target,
        slice: &Arc<Slice>,
        mut progress: Option<&mut BenchProgress>,
        mut interrupt: Interrupt<'_>,
    ) -> (Tally, bool) {
        let mut callers = JoinSet::new();
        let tallies: Vec<Arc<Mutex<Tally>>> = target.clients.iter().map(|_| Arc::default()).collect();
        for (at, (client, tally)) in target.clients.iter().zip(&tallies).enumerate() {
            let share = self.share(at, target.clients.len());
            let (slice, load) = (Arc::clone(slice), Arc::clone(self.load));
            if self.is_fast {
                callers.spawn(stream::ask(slice, load, client.clone(), Arc::clone(tally), share));
                continue;
            }
            for _ in 0..share {
                let (slice, load) = (Arc::clone(&slice), Arc::clone(&load));
                callers.spawn(unary::ask(slice, load, client.clone(), Arc::clone(tally)));
            }
        }
        let mut ticks = tokio::time::interval(TICK);
        let is_interrupted = loop {
            tokio::select! {
                ended = callers.join_next() => if ended.is_none() { break false },
                _ = ticks.tick() => {
                    if let Some(progress) = &mut progress {
                        progress.at(slice.elapsed(), slice.answers());
                    }
                }
                () = &mut interrupt => {
                    slice.stop();
                    callers.abort_all();
                    while callers.join_next().await.is_some() {}
                    break true;
                }
            }
        };
        if let Some(progress) = progress {
            progress.end(slice.elapsed(), slice.answers());
        }
        let mut sum = Tally::default();
        tallies.iter().for_each(|tally| sum.add(&tally.lock()));
        sum.unsent = slice.unsent();
        (sum, is_interrupted)
    }

    /// Lookups in flight on connection `at` of `of`.
    fn share(&self, at: usize, of: usize) -> usize {
        let all = match self.pace {
            Loop::Closed(in_flight) => in_flight as usize,
            Loop::Open(_) => MAX_OPEN,
        };
        all / of + usize::from(at < all % of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_whole() {
        for number in [1, 7, 10, 1_003] {
            let parts = (0..10).map(|at| match Until::Requests(number).part(at, 10) {
                Until::Requests(number) => number,
                Until::Elapsed(_) => 0,
            });
            assert_eq!(parts.sum::<u64>(), number);
        }
        let part = Until::Elapsed(Duration::from_secs(5)).part(3, 10);
        assert_eq!(part, Until::Elapsed(Duration::from_millis(500)));
    }
}
