//! Something that is logged at most once a minute.

use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_secs(60);

/// When it was said last, and how often it was left out since.
#[derive(Debug, Default)]
pub(super) struct Seldom {
    last: Option<Instant>,
    left_out: u64,
}

impl Seldom {
    /// Whether to say it now: how often it was left out before, or nothing.
    pub(super) fn say(&mut self, now: Instant) -> Option<u64> {
        if self.last.is_some_and(|last| now.duration_since(last) < INTERVAL) {
            self.left_out += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_once_a_minute_with_what_was_left_out() {
        let mut seldom = Seldom::default();
        let start = Instant::now();
        let said = [0, 1, 59, 60, 61, 120].map(|at| seldom.say(start + Duration::from_secs(at)));
        assert_eq!(said, [Some(0), None, None, Some(2), None, Some(1)]);
    }
}
