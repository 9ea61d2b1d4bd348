//! Time that lookups took, in a histogram of fixed size.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Longest duration told apart, in nanoseconds; longer ones count as this one.
const MAX_NS: u64 = 600_000_000_000;
/// Significant digits that percentiles are right to.
const DIGITS: u8 = 3;

/// Durations by size.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Timings {
    /// `None` before the first.
    histogram: Option<Histogram<u64>>,
}

impl Timings {
    /// Counts one.
    pub fn add(&mut self, duration: Duration) {
        let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).clamp(1, MAX_NS);
        if self.histogram.is_none() {
            // These bounds are ones that a histogram can have.
            self.histogram = Histogram::new_with_bounds(1, MAX_NS, DIGITS).ok();
        }
        if let Some(histogram) = &mut self.histogram {
            histogram.saturating_record(ns);
        }
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        match (&mut self.histogram, &other.histogram) {
            // Both have the same bounds, so that one fits into the other.
            (Some(sum), Some(other)) => drop(sum.add(other)),
            (sum @ None, other) => sum.clone_from(other),
            (Some(_), None) => {}
        }
    }

    /// Microseconds that `share` (0..1) of all durations stay within; `None` where there is none.
    pub fn percentile_us(&self, share: f64) -> Option<f64> {
        let histogram = self.histogram.as_ref().filter(|histogram| !histogram.is_empty())?;
        Some(histogram.value_at_quantile(share) as f64 / 1_000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_three_digits() {
        let mut timings = Timings::default();
        assert_eq!(timings.percentile_us(0.5), None);
        (1..=100).for_each(|us| timings.add(Duration::from_micros(us)));
        for (share, us) in [(0.5, 50.0), (0.99, 99.0), (1.0, 100.0), (0.0, 1.0)] {
            let got = timings.percentile_us(share).unwrap();
            assert!((us..us * 1.001).contains(&got), "{share}: {got}");
        }
        let mut long = Timings::default();
        long.add(Duration::MAX);
        long.merge(&timings);
        assert!(long.percentile_us(1.0).unwrap() > 1e8);
        let mut empty = Timings::default();
        empty.merge(&long);
        assert_eq!(empty, long);
    }

    #[test]
    fn the_longest_is_told_apart_and_longer_ones_count_as_it() {
        let of = |ns: u64| {
            let mut timings = Timings::default();
            timings.add(Duration::from_nanos(ns));
            timings.percentile_us(1.0)
        };
        assert_ne!(of(MAX_NS), of(MAX_NS / 2));
        assert_eq!(of(MAX_NS), of(MAX_NS + 1));
    }
}
