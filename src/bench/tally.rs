//! What the answers of a slice come to.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::mix::Kind;
use super::workload::Verdict;

/// Reason codes, and kinds of error, that are told apart; further ones count as `other`: a server may say anything.
pub const MAX_CODES: usize = 32;

/// Latency that is told from a longer one at most, in nanoseconds: ten minutes.
pub const MAX_LATENCY_NS: u64 = 600_000_000_000;

/// Significant digits of a latency.
const DIGITS: u8 = 3;

/// Counts, and the distribution of latencies.
#[derive(Clone, Debug)]
pub struct Tally {
    latency_ns: Histogram<u64>,
    /// Answers by reason code.
    pub codes: BTreeMap<String, u64>,
    /// Answers by kind of question, in the order of [`Kind::ALL`].
    pub kinds: [u64; 4],
    /// Answers that name replicas.
    pub hints: u64,
    /// Answers that contradict what was loaded.
    pub wrong: u64,
    /// The first of them.
    pub first_wrong: Option<String>,
    /// Lookups without an answer, by what was said instead.
    pub errors: BTreeMap<String, u64>,
    /// Lookups of an open loop that were due, and for which no caller was free before the end.
    pub unsent: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            latency_ns: Histogram::new_with_bounds(1, MAX_LATENCY_NS, DIGITS)
                .expect("the bounds are constants, and valid"),
            codes: BTreeMap::new(),
            kinds: [0; 4],
            hints: 0,
            wrong: 0,
            first_wrong: None,
            errors: BTreeMap::new(),
            unsent: 0,
        }
    }
}

impl Tally {
    /// An answer.
    pub fn answer(&mut self, kind: Kind, code: &str, has_hints: bool, verdict: Verdict, latency: Duration) {
        self.latency_ns.saturating_record(nanoseconds(latency));
        count(&mut self.codes, code, 1);
        self.kinds[kind as usize] += 1;
        self.hints += u64::from(has_hints);
        if let Verdict::Wrong(what) = verdict {
            self.wrong += 1;
            self.first_wrong.get_or_insert(what);
        }
    }

    /// A lookup that got none.
    pub fn error(&mut self, what: &str) {
        count(&mut self.errors, what, 1);
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: &Self) {
        // Both have the same bounds.
        let _ = self.latency_ns.add(&other.latency_ns);
        other.codes.iter().for_each(|(code, number)| count(&mut self.codes, code, *number));
        other.errors.iter().for_each(|(what, number)| count(&mut self.errors, what, *number));
        self.kinds.iter_mut().zip(other.kinds).for_each(|(sum, number)| *sum += number);
        self.hints += other.hints;
        self.wrong += other.wrong;
        self.unsent += other.unsent;
        if self.first_wrong.is_none() {
            self.first_wrong.clone_from(&other.first_wrong);
        }
    }

    /// Answers.
    pub fn answers(&self) -> u64 {
        self.latency_ns.len()
    }

    /// Lookups that got none.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Latency that a part of the answers, 0..1, does not exceed, in microseconds; 0 where there are no answers.
    pub fn percentile_us(&self, part: f64) -> f64 {
        match self.answers() {
            0 => 0.0,
            // The value stands for a range; the greatest latency is known better.
            _ => self.latency_ns.value_at_quantile(part).min(self.latency_ns.max()) as f64 / 1e3,
        }
    }

    /// Mean latency in microseconds; 0 where there are no answers.
    pub fn mean_us(&self) -> f64 {
        self.latency_ns.mean() / 1e3
    }

    /// Answers by latency, in `steps` of equal ratio from the least latency to the greatest: upper bound in
    /// microseconds, and count.
    pub fn distribution(&self, steps: usize) -> Vec<(f64, u64)> {
        if self.answers() == 0 || steps == 0 {
            return Vec::new();
        }
        let (least, most) = (self.latency_ns.min().max(1), self.latency_ns.max().max(1));
        let ratio = (most as f64 / least as f64).powf(1.0 / steps as f64);
        let mut below = 0;
        let bounds = (1..=steps).map(|step| {
            let is_last = step == steps;
            let bound = if is_last { most } else { (least as f64 * ratio.powi(step as i32)) as u64 };
            let reached = if is_last { self.answers() } else { self.latency_ns.count_between(0, bound) };
            // Values stand for ranges: what two neighbours share counts for the lower one.
            let reached = reached.max(below);
            let count = reached - below;
            below = reached;
            (bound as f64 / 1e3, count)
        });
        bounds.collect()
    }
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX).clamp(1, MAX_LATENCY_NS)
}

fn count(counts: &mut BTreeMap<String, u64>, name: &str, number: u64) {
    let name = if counts.contains_key(name) || counts.len() < MAX_CODES { name } else { "other" };
    match counts.get_mut(name) {
        Some(count) => *count += number,
        None => {
            counts.insert(name.to_owned(), number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(latencies_us: impl IntoIterator<Item = u64>) -> Tally {
        let mut tally = Tally::default();
        for us in latencies_us {
            tally.answer(Kind::Full, "PREFIX_MATCH", true, Verdict::Right, Duration::from_micros(us));
        }
        tally
    }

    #[test]
    fn percentiles_are_those_of_the_latencies() {
        let tally = tally(1..=1_000);
        for (part, us) in [(0.0, 1.0), (0.5, 500.0), (0.99, 990.0), (1.0, 1_000.0)] {
            let found = tally.percentile_us(part);
            assert!((found - us).abs() <= us * 0.002, "{part}: {found}");
        }
        assert!((tally.mean_us() - 500.5).abs() < 1.0);
        assert_eq!((Tally::default().percentile_us(0.5), Tally::default().answers()), (0.0, 0));
    }

    #[test]
    fn sums_are_those_of_the_parts() {
        let mut sum = tally([10, 20]);
        let mut other = tally([1_000]);
        other.answer(Kind::Miss, "NO_HINT", false, Verdict::Wrong("one".to_owned()), Duration::ZERO);
        other.error("late");
        other.unsent = 3;
        sum.add(&other);
        sum.add(&other);
        assert_eq!((sum.answers(), sum.kinds, sum.hints), (6, [4, 0, 0, 2], 4));
        assert_eq!((sum.wrong, sum.first_wrong.as_deref(), sum.failed(), sum.unsent), (2, Some("one"), 2, 6));
        assert_eq!(sum.codes, BTreeMap::from([("NO_HINT".to_owned(), 2), ("PREFIX_MATCH".to_owned(), 4)]));
    }

    #[test]
    fn a_distribution_counts_every_answer_once() {
        for latencies in [vec![7], vec![7, 7, 7], (1..500).collect(), vec![1, 600_000_001]] {
            let tally = tally(latencies);
            let distribution = tally.distribution(12);
            assert_eq!(distribution.len(), 12);
            assert_eq!(distribution.iter().map(|(_, count)| count).sum::<u64>(), tally.answers());
            assert!(distribution.is_sorted_by(|one, next| one.0 <= next.0), "{distribution:?}");
        }
        assert_eq!(Tally::default().distribution(12), []);
    }

    #[test]
    fn a_server_that_says_anything_fills_no_memory() {
        let mut tally = Tally::default();
        for number in 0..1_000 {
            let code = format!("CODE_{number}");
            tally.answer(Kind::Full, &code, false, Verdict::Right, Duration::from_secs(10_000));
            tally.error(&code);
        }
        assert_eq!((tally.codes.len(), tally.errors.len()), (MAX_CODES + 1, MAX_CODES + 1));
        assert_eq!(tally.codes["other"], 1_000 - MAX_CODES as u64);
        assert_eq!((tally.answers(), tally.failed()), (1_000, 1_000));
    }
}
