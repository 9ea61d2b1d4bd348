//! What a run came to.

use super::tally::Tally;
use super::workload::Shape;

/// When the next lookup is asked.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loop {
    /// As soon as one is answered: so many are in flight, all connections together.
    Closed(u32),
    /// So many a second, whether the earlier ones are answered or not.
    Open(f64),
}

/// Some time of asking one server.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slice {
    /// How long it took.
    pub seconds: f64,
    /// Answers in it.
    pub answers: u64,
    /// Median latency in microseconds.
    pub p50_us: f64,
    /// 99th percentile of the latency in microseconds.
    pub p99_us: f64,
}

impl Slice {
    /// Answers a second.
    pub fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.answers as f64 / self.seconds } else { 0.0 }
    }
}

/// What one server did.
#[derive(Clone, Debug)]
pub struct ServerReport {
    /// Where it is.
    pub url: String,
    /// All slices together.
    pub tally: Tally,
    /// One after the other; one, where there is nothing to compare.
    pub slices: Vec<Slice>,
}

impl ServerReport {
    /// Nothing yet.
    pub fn new(url: &str) -> Self {
        Self { url: url.to_owned(), tally: Tally::default(), slices: Vec::new() }
    }

    /// Adds a slice that took `seconds`.
    pub fn add(&mut self, tally: &Tally, seconds: f64) {
        self.slices.push(Slice {
            seconds,
            answers: tally.answers(),
            p50_us: tally.percentile_us(0.5),
            p99_us: tally.percentile_us(0.99),
        });
        self.tally.add(tally);
    }

    /// Seconds of asking.
    pub fn seconds(&self) -> f64 {
        self.slices.iter().map(|slice| slice.seconds).sum()
    }

    /// Answers a second.
    pub fn rate(&self) -> f64 {
        let seconds = self.seconds();
        if seconds > 0.0 { self.tally.answers() as f64 / seconds } else { 0.0 }
    }
}

/// The first server over the second: of the pairs of slices, the middle one and the ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ratio {
    /// The median.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub most: f64,
}

/// How two servers compare.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Comparison {
    /// Pairs of slices.
    pub pairs: usize,
    /// Answers a second.
    pub rate: Ratio,
    /// Median latency.
    pub p50: Ratio,
    /// 99th percentile of the latency.
    pub p99: Ratio,
}

/// A whole run.
#[derive(Clone, Debug)]
pub struct BenchReport {
    /// The load.
    pub shape: Shape,
    /// When lookups were asked.
    pub pace: Loop,
    /// Connections to each server.
    pub connections: u32,
    /// Whether lookups went through the stream.
    pub is_fast: bool,
    /// Whether the run was ended before its time.
    pub is_partial: bool,
    /// The server, and the one it was compared with.
    pub servers: Vec<ServerReport>,
}

impl BenchReport {
    /// How the first server compares with the second, where both have answered in the same pairs of slices.
    pub fn comparison(&self) -> Option<Comparison> {
        let [first, second] = &self.servers[..] else { return None };
        let pairs: Vec<(&Slice, &Slice)> = first
            .slices
            .iter()
            .zip(&second.slices)
            .filter(|(first, second)| first.answers > 0 && second.answers > 0)
            .collect();
        let ratio = |value: fn(&Slice) -> f64| {
            let mut ratios: Vec<f64> =
                pairs.iter().map(|(first, second)| value(first) / value(second)).collect();
            ratios.sort_by(f64::total_cmp);
            let middle = ratios.len() / 2;
            let median = match ratios.len() % 2 {
                0 => (ratios.get(middle.checked_sub(1)?)? + ratios.get(middle)?) / 2.0,
                _ => *ratios.get(middle)?,
            };
            Some(Ratio { median, least: *ratios.first()?, most: *ratios.last()? })
        };
        Some(Comparison {
            pairs: pairs.len(),
            rate: ratio(Slice::rate)?,
            p50: ratio(|slice| slice.p50_us)?,
            p99: ratio(|slice| slice.p99_us)?,
        })
    }

    /// Answers that contradict what was loaded, of all servers.
    pub fn wrong(&self) -> u64 {
        self.servers.iter().map(|server| server.tally.wrong).sum()
    }

    /// Lookups without an answer, of all servers.
    pub fn failed(&self) -> u64 {
        self.servers.iter().map(|server| server.tally.failed()).sum()
    }

    /// Answers of all servers.
    pub fn answers(&self) -> u64 {
        self.servers.iter().map(|server| server.tally.answers()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::bench::{Kind, Mix, Verdict};

    fn report(servers: &[&[u64]]) -> BenchReport {
        let server = |answers: &&[u64]| {
            let mut report = ServerReport::new("http://127.0.0.1:9090");
            for count in *answers {
                let mut tally = Tally::default();
                for _ in 0..*count {
                    let latency = Duration::from_micros(1_000 / count);
                    tally.answer(Kind::Full, "PREFIX_MATCH", true, Verdict::Right, latency);
                }
                report.add(&tally, 0.5);
            }
            report
        };
        BenchReport {
            shape: Shape { blocks: 1, shared_head: 0.0, chains: 1, replicas: 1, mix: Mix::USUAL, seed: 1 },
            pace: Loop::Closed(1),
            connections: 1,
            is_fast: false,
            is_partial: false,
            servers: servers.iter().map(server).collect(),
        }
    }

    #[test]
    fn ratios_are_those_of_pairs() {
        let both = report(&[&[10, 20, 40], &[10, 10, 10]]);
        let comparison = both.comparison().unwrap();
        assert_eq!(comparison.pairs, 3);
        assert_eq!(comparison.rate, Ratio { median: 2.0, least: 1.0, most: 4.0 });
        assert!((comparison.p50.median - 0.5).abs() < 0.01, "{comparison:?}");
        assert_eq!(both.servers[0].rate(), 70.0 / 1.5);
        let even = report(&[&[10, 20], &[10, 10]]).comparison().unwrap();
        assert_eq!(even.rate.median, 1.5);
    }

    #[test]
    fn what_cannot_be_compared_is_not() {
        assert_eq!(report(&[&[10]]).comparison(), None);
        assert_eq!(report(&[&[10], &[]]).comparison(), None);
        assert_eq!(report(&[&[10], &[0]]).comparison(), None);
        assert_eq!(report(&[&[10, 0], &[10, 7]]).comparison().unwrap().pairs, 1);
    }
}
