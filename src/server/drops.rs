//! The log of dropped input: at most one line a minute for each cause and replica.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::index::DropCause;

const EVERY: Duration = Duration::from_secs(60);

/// Replicas that are told apart; the names come from callers.
const MAX_TRACKED: usize = 1_024;

/// Stands for all replicas beyond those told apart.
const OTHERS: &str = "(others)";

/// When each cause and replica was last logged, and how often it was not since.
#[derive(Default)]
pub(super) struct DropLog {
    lines: Mutex<HashMap<(DropCause, String), Line>>,
}

struct Line {
    logged_at: Instant,
    left_out: u64,
}

impl DropLog {
    /// Logs that something of `replica` was dropped, where it is time to.
    pub(super) fn record(&self, cause: DropCause, replica: &str, tenant: &str, model: &str) {
        if let Some(left_out) = self.due(cause, replica, Instant::now()) {
            tracing::warn!(
                cause = cause.label(),
                replica,
                tenant,
                model,
                left_out,
                "dropped input: {}",
                cause.sentence()
            );
        }
    }

    /// Lines left out since the last one, where one is due at `now`.
    fn due(&self, cause: DropCause, replica: &str, now: Instant) -> Option<u64> {
        let mut lines = self.lines.lock();
        if lines.len() >= MAX_TRACKED {
            lines.retain(|_, line| now.duration_since(line.logged_at) < EVERY);
        }
        let mut key = (cause, replica.to_owned());
        if lines.len() >= MAX_TRACKED && !lines.contains_key(&key) {
            key.1 = OTHERS.to_owned();
        }
        let Some(line) = lines.get_mut(&key) else {
            lines.insert(key, Line { logged_at: now, left_out: 0 });
            return Some(0);
        };
        if now.duration_since(line.logged_at) < EVERY {
            line.left_out += 1;
            return None;
        }
        line.logged_at = now;
        Some(std::mem::take(&mut line.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_minute_for_each_cause_and_replica() {
        let log = DropLog::default();
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        for (cause, replica, seconds, expected) in [
            (DropCause::EmptyHash, "r1", 0, Some(0)),
            (DropCause::EmptyHash, "r1", 1, None),
            (DropCause::EmptyHash, "r1", 59, None),
            (DropCause::EmptyHash, "r2", 59, Some(0)),
            (DropCause::LongHash, "r1", 59, Some(0)),
            (DropCause::EmptyHash, "r1", 60, Some(2)),
            (DropCause::EmptyHash, "r1", 61, None),
            (DropCause::EmptyHash, "r1", 120, Some(1)),
        ] {
            assert_eq!(log.due(cause, replica, after(seconds)), expected, "{cause:?} {replica} {seconds} s");
        }
    }

    #[test]
    fn callers_cannot_grow_the_table() {
        let log = DropLog::default();
        let now = Instant::now();
        let logged = (0..10 * MAX_TRACKED)
            .filter(|replica| log.due(DropCause::EmptyHash, &replica.to_string(), now).is_some())
            .count();
        assert_eq!(logged, MAX_TRACKED + 1);
        assert_eq!(log.lines.lock().len(), MAX_TRACKED + 1);
        assert_eq!(log.due(DropCause::EmptyHash, "new", now + EVERY), Some(0));
        assert_eq!(log.lines.lock().len(), 1);
    }
}
