//! Points in time and spans, in nanoseconds.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Unix time in nanoseconds, saturating at the ends of `i64`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Before every other time.
    pub const MIN: Timestamp = Timestamp(i64::MIN);

    /// From Unix nanoseconds.
    pub const fn from_ns(ns: i64) -> Self {
        Self(ns)
    }

    /// From Unix microseconds, the unit of the wire.
    pub fn from_us(us: i64) -> Self {
        Self(us.saturating_mul(1_000))
    }

    /// The system clock.
    pub fn now() -> Self {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => Self(duration_ns(since)),
            Err(before) => Self(-duration_ns(before.duration())),
        }
    }

    /// Unix nanoseconds.
    pub fn as_ns(self) -> i64 {
        self.0
    }

    /// Unix microseconds, rounded towards the past.
    pub fn as_us(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// Nanoseconds from this time to `now`; negative where this time lies ahead.
    pub fn age_ns(self, now: Timestamp) -> i64 {
        now.0.saturating_sub(self.0)
    }

    /// This time moved by `ns` nanoseconds.
    pub fn plus_ns(self, ns: i64) -> Self {
        Self(self.0.saturating_add(ns))
    }
}

/// A duration in nanoseconds, saturating at `i64::MAX` (292 years).
pub fn duration_ns(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
