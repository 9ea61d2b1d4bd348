//! Time that lookups took, in a histogram of fixed size.

use std::time::Duration;

use crate::model::duration_ns;

/// Ratio of one bucket's bound to the one before: percentiles are right to 2 %.
const GROWTH: f64 = 1.02;
/// Buckets: up to some 9 minutes.
const BUCKETS: usize = 1_366;

/// Durations by size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timings {
    buckets: Vec<u64>,
    count: u64,
}

impl Default for Timings {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS], count: 0 }
    }
}

impl Timings {
    /// Counts one.
    pub fn add(&mut self, duration: Duration) {
        let ns = duration_ns(duration).max(1) as f64;
        let at = (ns.ln() / GROWTH.ln()).ceil() as usize;
        self.buckets[at.min(BUCKETS - 1)] += 1;
        self.count += 1;
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (sum, count) in self.buckets.iter_mut().zip(&other.buckets) {
            *sum += count;
        }
        self.count += other.count;
    }

    /// Microseconds that `share` (0..1) of all durations stay within; `None` where there is none.
    pub fn percentile_us(&self, share: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let wanted = ((self.count as f64 * share).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        let at = self.buckets.iter().position(|count| {
            seen += count;
            seen >= wanted
        })?;
        Some(GROWTH.powi(i32::try_from(at).unwrap_or(i32::MAX)) / 1_000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_two_percent() {
        let mut timings = Timings::default();
        assert_eq!(timings.percentile_us(0.5), None);
        (1..=100).for_each(|us| timings.add(Duration::from_micros(us)));
        for (share, us) in [(0.5, 50.0), (0.99, 99.0), (1.0, 100.0), (0.0, 1.0)] {
            let got = timings.percentile_us(share).unwrap();
            assert!((us..us * 1.021).contains(&got), "{share}: {got}");
        }
        let mut long = Timings::default();
        long.add(Duration::MAX);
        long.merge(&timings);
        assert!(long.percentile_us(1.0).unwrap() > 1e8);
    }
}
