//! The log of dropped input: at most one line a minute for each cause and replica.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::index::DropCause;

const EVERY: Duration = Duration::from_secs(60);

/// Replicas that are told apart; the names come from callers.
const MAX_TRACKED: usize = 1_024;

/// Bytes of a name that are kept and logged; what is dropped may be dropped for the length of its names.
const MAX_NAME_BYTES: usize = 64;

/// Stands for the rest of a name.
const ELLIPSIS: char = '…';

/// Stands for all replicas beyond those told apart.
const OTHERS: &str = "(others)";

/// When each cause and replica was last logged, and how much was not since.
#[derive(Default)]
pub(super) struct DropLog {
    lines: Mutex<HashMap<(DropCause, Box<str>), Line>>,
}

struct Line {
    logged_at: Instant,
    left_out: u64,
}

impl DropLog {
    /// Logs that `count` parts of what `replica` sent were dropped, where it is time to.
    pub(super) fn record(&self, cause: DropCause, count: u64, replica: &str, tenant: &str, model: &str) {
        let replica = shortened(replica);
        if let Some(left_out) = self.due(cause, count, &replica, Instant::now()) {
            tracing::warn!(
                cause = cause.label(),
                replica = &*replica,
                tenant = &*shortened(tenant),
                model = &*shortened(model),
                count,
                left_out,
                "dropped input: {}",
                cause.sentence()
            );
        }
    }

    /// What was left out since the last line, where one is due at `now`. `replica` is a shortened name.
    fn due(&self, cause: DropCause, count: u64, replica: &str, now: Instant) -> Option<u64> {
        let mut lines = self.lines.lock();
        if lines.len() >= MAX_TRACKED {
            lines.retain(|_, line| now.duration_since(line.logged_at) < EVERY);
        }
        let mut key = (cause, Box::from(replica));
        if lines.len() >= MAX_TRACKED && !lines.contains_key(&key) {
            key.1 = Box::from(OTHERS);
        }
        let Some(line) = lines.get_mut(&key) else {
            lines.insert(key, Line { logged_at: now, left_out: 0 });
            return Some(0);
        };
        if now.duration_since(line.logged_at) < EVERY {
            line.left_out += count;
            return None;
        }
        line.logged_at = now;
        Some(std::mem::take(&mut line.left_out))
    }
}

/// The start of a name that a caller chose, as long as a log needs it.
fn shortened(name: &str) -> Cow<'_, str> {
    if name.len() <= MAX_NAME_BYTES {
        return Cow::Borrowed(name);
    }
    let mut short = String::with_capacity(MAX_NAME_BYTES + ELLIPSIS.len_utf8());
    short.push_str(&name[..name.floor_char_boundary(MAX_NAME_BYTES)]);
    short.push(ELLIPSIS);
    Cow::Owned(short)
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
            assert_eq!(
                log.due(cause, 1, replica, after(seconds)),
                expected,
                "{cause:?} {replica} {seconds} s"
            );
        }
    }

    #[test]
    fn callers_cannot_grow_the_table() {
        let log = DropLog::default();
        let now = Instant::now();
        let logged = (0..10 * MAX_TRACKED)
            .filter(|replica| log.due(DropCause::EmptyHash, 1, &replica.to_string(), now).is_some())
            .count();
        assert_eq!(logged, MAX_TRACKED + 1);
        assert_eq!(log.lines.lock().len(), MAX_TRACKED + 1);
        assert_eq!(log.due(DropCause::EmptyHash, 1, "new", now + EVERY), Some(0));
        assert_eq!(log.lines.lock().len(), 1);
    }

    #[test]
    fn what_is_left_out_is_counted_by_its_parts() {
        let log = DropLog::default();
        let now = Instant::now();
        assert_eq!(log.due(DropCause::EmptyHash, 5, "r1", now), Some(0));
        assert_eq!(log.due(DropCause::EmptyHash, 5, "r1", now), None);
        assert_eq!(log.due(DropCause::EmptyHash, 2, "r1", now), None);
        assert_eq!(log.due(DropCause::EmptyHash, 1, "r1", now + EVERY), Some(7));
    }

    #[test]
    fn names_are_cut_between_characters() {
        let x = |count: usize| "x".repeat(count);
        for (name, short) in [
            (String::new(), String::new()),
            (x(64), x(64)),
            (x(65), x(64) + "…"),
            (x(63) + "é", x(63) + "…"),
            (x(62) + "é", x(62) + "é"),
            ("é".repeat(40), "é".repeat(32) + "…"),
            ("😀".repeat(17), "😀".repeat(16) + "…"),
        ] {
            assert_eq!(shortened(&name), short, "{name}");
        }
    }

    #[test]
    fn callers_cannot_make_the_table_hold_long_names() {
        let log = DropLog::default();
        let (tenant, model) = ("t".repeat(1 << 16), "m".repeat(1 << 16));
        for replica in 0..2 * MAX_TRACKED {
            let name = format!("{replica}{}", "r".repeat(1 << 16));
            log.record(DropCause::LongId, 1, &name, &tenant, &model);
        }
        let lines = log.lines.lock();
        let held: usize = lines.keys().map(|(_, name)| name.len()).sum();
        assert_eq!(lines.len(), MAX_TRACKED + 1);
        assert_eq!(held, MAX_TRACKED * (MAX_NAME_BYTES + ELLIPSIS.len_utf8()) + OTHERS.len());
    }
}
