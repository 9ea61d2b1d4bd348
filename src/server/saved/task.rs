//! When state is saved: every interval while it changes, and once more at the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::time::{MissedTickBehavior, interval};

use super::StateFolder;
use crate::contract::decode_request;
use crate::lookup::{Call, Drained};
use crate::model::Timestamp;
use crate::server::Core;

/// Time between two reports of the same trouble.
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// Saves the state of one server.
pub(in crate::server) struct Saver {
    core: Arc<Core>,
    folder: StateFolder,
    every: Duration,
    last: Mutex<Last>,
}

/// What is known of the last time.
struct Last {
    /// Work of the index, and the drained replicas, that the file has; `None` where it lacks what there is.
    saved: Option<(u64, Vec<Drained>)>,
    failures: u64,
    reported: Option<(String, Instant)>,
}

impl Saver {
    /// The state of now counts as saved if `is_saved`.
    pub(in crate::server) fn new(
        core: Arc<Core>,
        folder: StateFolder,
        every: Duration,
        is_saved: bool,
    ) -> Self {
        let state = || (core.router.index().work(), core.router.drains().all(Timestamp::now()));
        let saved = is_saved.then(state);
        let mut last = Last { saved, failures: 0, reported: None };
        if let Err(error) = folder.keep() {
            core.metrics.observe_unkept();
            last.report(&error.to_string(), &folder);
        }
        Self { core, folder, every, last: Mutex::new(last) }
    }

    /// Saves every interval until the server drains.
    pub(in crate::server) async fn run(self: Arc<Self>) {
        let mut ticks = interval(self.every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = super::super::draining(self.core.phase.clone()) => return,
            }
            self.save().await;
        }
    }

    /// The same for the last time, whose failure is told even where it was told just now.
    pub(in crate::server) async fn save_last(self: &Arc<Self>) {
        self.save_apart(true).await;
    }

    /// Saves what has changed since the last time, on a thread that may block.
    async fn save(self: &Arc<Self>) {
        self.save_apart(false).await;
    }

    async fn save_apart(self: &Arc<Self>, is_last: bool) {
        let this = Arc::clone(self);
        if let Err(error) = tokio::task::spawn_blocking(move || this.save_now(is_last)).await {
            tracing::error!(%error, "saving the state failed; the next time tries again");
        }
    }

    fn save_now(&self, is_last: bool) {
        let mut last = self.last.lock();
        let router = &self.core.router;
        let drained = router.drains().all(Timestamp::now());
        if last.failures == 0 && last.saved == Some((router.index().work(), drained.clone())) {
            return;
        }
        let begun = Instant::now();
        let credit = |request: &_, now| {
            router.route(&decode_request(request), Call::at(now));
        };
        let mut saved = (0, Timestamp::MIN);
        let written = self.folder.save(&drained, |sink| {
            let read = || {
                saved = (router.index().work(), Timestamp::now());
                sink.read(router.index(), saved.1);
            };
            self.core.order.read_still(read, credit);
        });
        self.core.metrics.observe_save(begun.elapsed(), written.is_ok(), saved.1);
        match written {
            Ok(entries) => {
                let failures = std::mem::take(&mut last.failures);
                last.saved = Some((saved.0, drained));
                if last.reported.take().is_some() || failures > 0 {
                    tracing::info!(failures, entries, "the state is saved again");
                }
                tracing::debug!(entries, "state saved");
            }
            Err(error) => {
                last.failures += 1;
                if is_last {
                    last.reported = None;
                }
                last.report(&error.to_string(), &self.folder);
            }
        }
    }
}

impl Last {
    /// Says what is wrong, once a minute while it stays the same.
    fn report(&mut self, why: &str, folder: &StateFolder) {
        let is_told =
            self.reported.as_ref().is_some_and(|(told, at)| told == why && at.elapsed() < REPORT_EVERY);
        if !is_told {
            let (folder, failures) = (folder.path().display(), self.failures);
            tracing::error!(%folder, failures, "the state cannot be saved: {why}; what was saved before is kept");
            self.reported = Some((why.to_owned(), Instant::now()));
        }
    }
}
