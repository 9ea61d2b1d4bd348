//! What ends a recording, and how often it is on disk until then.

use std::time::Duration;

use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

use crate::cmd::CommandError;
use crate::cmd::serve::Signals;

/// Time after which what was recorded is on disk.
const FLUSH_EVERY: Duration = Duration::from_millis(500);

/// When what was recorded is to be written out.
pub(super) fn flushes() -> Interval {
    let mut flush = interval(FLUSH_EVERY);
    flush.set_missed_tick_behavior(MissedTickBehavior::Delay);
    flush
}

/// Ctrl-C, SIGTERM, or the end of a time.
pub(super) struct Stop {
    signals: Signals,
    until: Option<Instant>,
}

impl Stop {
    pub(super) fn new() -> Result<Self, CommandError> {
        Ok(Self { signals: Signals::new()?, until: None })
    }

    /// Ends it so long after now, too.
    pub(super) fn after(&mut self, duration: Option<Duration>) {
        self.until = duration.and_then(|duration| Instant::now().checked_add(duration));
    }

    /// Cancelling it loses nothing.
    pub(super) async fn wait(&mut self) {
        let until = self.until;
        let over = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.signals.next() => {}
            () = over => {}
        }
    }
}
