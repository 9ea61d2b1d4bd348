//! What happened when: counts of a replay by stretches of its own time, however long that is.

use std::collections::BTreeMap;

use crate::decision::Reason;
use crate::model::Timestamp;

/// Stretches of a timeline at most; where a further one would come, all become twice as long.
pub const MAX_BUCKETS: usize = 512;

/// Length of a stretch at first, in nanoseconds.
const FIRST_WIDTH_NS: i64 = 1_000_000;

/// Counts of one stretch of time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bucket {
    /// Records.
    pub records: u64,
    /// Lookups.
    pub lookups: u64,
    /// Lookups whose answer names a replica.
    pub hints: u64,
    /// Tokens of their prompts.
    pub asked_tokens: u64,
    /// Of those, tokens that the first replica of the answer holds.
    pub matched_tokens: u64,
    /// Lookups by reason code.
    pub reasons: BTreeMap<Reason, u64>,
    /// Lookups answered otherwise than recorded or expected.
    pub mismatched: u64,
    /// Blocks stored or refreshed.
    pub blocks: u64,
    /// Parts of updates, events and batches that were dropped.
    pub dropped: u64,
    /// Entries in the index at the end of the stretch; `None` where it was not looked at.
    pub entries: Option<u64>,
}

/// Stretches of equal length in order, those without records left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timeline {
    width_ns: i64,
    /// By the number of the stretch since the beginning of time, so that timelines of one width fit together.
    buckets: BTreeMap<i64, Bucket>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self { width_ns: FIRST_WIDTH_NS, buckets: BTreeMap::new() }
    }
}

impl Timeline {
    /// Length of a stretch in nanoseconds.
    pub fn width_ns(&self) -> i64 {
        self.width_ns
    }

    /// The stretches that have records, each with the time it begins.
    pub fn buckets(&self) -> impl ExactSizeIterator<Item = (Timestamp, &Bucket)> {
        self.buckets.iter().map(|(at, bucket)| (self.begin(*at), bucket))
    }

    /// Every stretch from the first to the last; those without records are `None`.
    pub fn dense(&self) -> Vec<(Timestamp, Option<&Bucket>)> {
        let (Some((first, _)), Some((last, _))) =
            (self.buckets.first_key_value(), self.buckets.last_key_value())
        else {
            return Vec::new();
        };
        (*first..=*last).map(|at| (self.begin(at), self.buckets.get(&at))).collect()
    }

    /// The same in `most` stretches at most, gaps included, for which they become twice as long as often as it takes.
    pub fn at_most(&self, most: usize) -> Self {
        let mut coarse = self.clone();
        while coarse.dense().len() > most.max(2) {
            coarse.merge_pairs();
        }
        coarse
    }

    fn begin(&self, at: i64) -> Timestamp {
        Timestamp::from_ns(at.saturating_mul(self.width_ns))
    }

    fn position(&self, at: Timestamp) -> i64 {
        at.as_ns().div_euclid(self.width_ns)
    }

    /// Whether `one` and `other` lie in the same stretch.
    pub(super) fn is_same(&self, one: Timestamp, other: Timestamp) -> bool {
        self.position(one) == self.position(other)
    }

    /// The stretch that `at` lies in.
    pub(super) fn bucket(&mut self, at: Timestamp) -> &mut Bucket {
        while !self.has_room(self.position(at)) {
            self.merge_pairs();
        }
        let position = self.position(at);
        self.buckets.entry(position).or_default()
    }

    /// Whether all stretches, the gaps and that at `position` included, are few enough.
    fn has_room(&self, position: i64) -> bool {
        let first = self.buckets.first_key_value().map_or(position, |(first, _)| (*first).min(position));
        let last = self.buckets.last_key_value().map_or(position, |(last, _)| (*last).max(position));
        last.saturating_sub(first) < MAX_BUCKETS as i64
    }

    fn merge_pairs(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2);
        for (at, bucket) in std::mem::take(&mut self.buckets) {
            self.buckets.entry(at.div_euclid(2)).or_default().follow(bucket);
        }
    }

    /// Adds what another replay came to, which had an index of its own.
    pub(super) fn add(&mut self, mut other: Self) {
        while self.width_ns < other.width_ns {
            self.merge_pairs();
        }
        while other.width_ns < self.width_ns {
            other.merge_pairs();
        }
        let width = self.width_ns;
        for (at, bucket) in other.buckets {
            let begin = Timestamp::from_ns(at.saturating_mul(width));
            self.bucket(begin).add(bucket);
        }
    }
}

impl Bucket {
    /// Takes in the stretch behind this one.
    fn follow(&mut self, next: Self) {
        let entries = next.entries.or(self.entries);
        self.add(Self { entries: None, ..next });
        self.entries = entries;
    }

    /// Takes in the same stretch of another index.
    fn add(&mut self, other: Self) {
        self.records += other.records;
        self.lookups += other.lookups;
        self.hints += other.hints;
        self.asked_tokens += other.asked_tokens;
        self.matched_tokens += other.matched_tokens;
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
        self.mismatched += other.mismatched;
        self.blocks += other.blocks;
        self.dropped += other.dropped;
        self.entries = match (self.entries, other.entries) {
            (Some(one), Some(another)) => Some(one + another),
            (one, another) => one.or(another),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ns(ms * 1_000_000)
    }

    fn with_records(times: impl IntoIterator<Item = i64>) -> Timeline {
        let mut timeline = Timeline::default();
        times.into_iter().for_each(|ms| timeline.bucket(at(ms)).records += 1);
        timeline
    }

    fn records(timeline: &Timeline) -> Vec<u64> {
        timeline.buckets().map(|(_, bucket)| bucket.records).collect()
    }

    #[test]
    fn at_the_limit_all_stay_and_one_over_pairs_are_merged() {
        let most = MAX_BUCKETS as i64;
        let full = with_records(0..most);
        assert_eq!((full.buckets().len(), full.width_ns()), (MAX_BUCKETS, FIRST_WIDTH_NS));
        let over = with_records(0..=most);
        assert_eq!((over.buckets().len(), over.width_ns()), (MAX_BUCKETS / 2 + 1, 2 * FIRST_WIDTH_NS));
        assert_eq!(records(&over)[..2], [2, 2]);
        assert_eq!(records(&over).iter().sum::<u64>(), most as u64 + 1);
        let gaps = with_records([0, most - 1]);
        assert_eq!((gaps.width_ns(), gaps.dense().len()), (FIRST_WIDTH_NS, MAX_BUCKETS));
        assert_eq!(with_records([0, most]).width_ns(), 2 * FIRST_WIDTH_NS);
    }

    #[test]
    fn a_coarser_one_has_the_same_counts() {
        let timeline = with_records(0..100);
        assert_eq!(timeline.at_most(100), timeline);
        let coarse = timeline.at_most(99);
        assert_eq!((coarse.dense().len(), coarse.width_ns()), (50, 2 * FIRST_WIDTH_NS));
        assert_eq!(records(&coarse), [2; 50]);
        assert!(with_records([-1, 0]).at_most(0).dense().len() <= 2);
    }

    #[test]
    fn any_span_of_time_fits() {
        let mut timeline = Timeline::default();
        for ns in [i64::MIN, -1, 0, 1, i64::MAX] {
            timeline.bucket(Timestamp::from_ns(ns)).records += 1;
        }
        assert!(timeline.dense().len() <= MAX_BUCKETS);
        assert_eq!(records(&timeline).iter().sum::<u64>(), 5);
    }

    #[test]
    fn the_level_of_a_merged_stretch_is_that_at_its_end() {
        let mut timeline = Timeline::default();
        timeline.bucket(at(0)).entries = Some(7);
        timeline.bucket(at(1)).entries = Some(3);
        timeline.bucket(at(MAX_BUCKETS as i64));
        assert_eq!(timeline.buckets().next().unwrap().1.entries, Some(3));
    }

    #[test]
    fn timelines_of_different_widths_are_added_by_time() {
        let mut sum = with_records([0, 1, 2]);
        sum.bucket(at(0)).entries = Some(1);
        let mut long = with_records([0, 1, 1_000]);
        long.bucket(at(0)).entries = Some(2);
        sum.add(long);
        assert_eq!((sum.width_ns(), records(&sum)), (2 * FIRST_WIDTH_NS, vec![4, 1, 1]));
        assert_eq!(sum.buckets().next().unwrap().1.entries, Some(3));
        let mut empty = Timeline::default();
        empty.add(sum.clone());
        assert_eq!(empty, sum);
    }
}
