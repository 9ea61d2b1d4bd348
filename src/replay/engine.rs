//! Engine batches: which engine one is from, and whether it is the next of its stream.

use std::collections::BTreeMap;

use super::report::ReplayReport;
use crate::capture::KvBatch;
use crate::engine::{
    Change, DecodeError, DropCounts, EngineDrop, Fed, Identity, Mapper, MapperOptions, decode_batch, feed,
};
use crate::model::{HashScheme, ModelId, ReplicaId, TenantId, Timestamp};

/// Engines followed at a time; batches of further ones are dropped.
pub const MAX_ENGINES: usize = 16_384;

/// Every engine that a capture has batches of.
#[derive(Debug, Default)]
pub(super) struct Engines {
    streams: BTreeMap<[String; 4], Stream>,
    drops: DropCounts,
    too_many: u64,
    restarts: u64,
    duplicates: u64,
}

/// One engine, or one data-parallel rank of it.
#[derive(Debug)]
struct Stream {
    identity: Identity,
    mapper: Mapper,
    last_seq: Option<u64>,
}

impl Engines {
    /// Gives `sink` what the batch comes to. What is no batch changes nothing and is counted.
    pub(super) fn apply(
        &mut self,
        batch: &KvBatch,
        now: Timestamp,
        sink: &mut dyn FnMut(Fed<'_>),
    ) -> Result<(), DecodeError> {
        let decoded = match decode_batch(&batch.payload) {
            Ok(decoded) => decoded,
            Err(error) => {
                self.drops.add(EngineDrop::BadBatch, 1);
                return Err(error);
            }
        };
        let replica = replica_of(&batch.replica, decoded.rank);
        let key = [&replica, &batch.model, &batch.tenant, &batch.scheme].map(String::clone);
        if self.streams.len() >= MAX_ENGINES && !self.streams.contains_key(&key) {
            self.too_many += 1;
            return Ok(());
        }
        let stream = self.streams.entry(key).or_insert_with(|| Stream::new(&replica, batch));
        let sink = &mut |fed: Fed<'_>| sink(fed);
        match stream.advance(batch.seq) {
            Step::Next => {}
            Step::Lost(batches) => self.drops.add(EngineDrop::Lost, batches),
            Step::Again => {
                self.duplicates += 1;
                return Ok(());
            }
            Step::Restart => {
                self.restarts += 1;
                let cleared: Change = stream.mapper.clear();
                feed(&[cleared], &stream.identity, None, sink);
            }
        }
        let applied = stream.mapper.apply(&decoded, now);
        feed(&applied.changes, &stream.identity, None, sink);
        Ok(())
    }

    /// Adds the counts to a report.
    pub(super) fn add_to(&self, report: &mut ReplayReport) {
        report.engine_restarts += self.restarts;
        report.engine_duplicates += self.duplicates;
        for (label, count) in self.counts().filter(|(_, count)| *count > 0) {
            *report.dropped.entry(("engine", label)).or_default() += count;
        }
    }

    /// Everything dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.counts().map(|(_, count)| count).sum()
    }

    fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let mut sum = self.drops.clone();
        for stream in self.streams.values() {
            for (cause, count) in stream.mapper.counts().drops.iter() {
                sum.add(cause, count);
            }
        }
        let counts: Vec<_> = sum.iter().map(|(cause, count)| (cause.label(), count)).collect();
        counts.into_iter().chain([("too-many-engines", self.too_many)])
    }
}

/// Where a batch stands in its stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Next,
    /// That many are missing before it.
    Lost(u64),
    /// The same as the one before.
    Again,
    /// Its publisher began anew, and with an empty cache.
    Restart,
}

impl Stream {
    fn new(replica: &str, batch: &KvBatch) -> Self {
        let identity = Identity {
            replica: ReplicaId::from(replica),
            tenant: TenantId::from(batch.tenant.as_str()),
            model: ModelId::from(batch.model.as_str()),
            scheme: HashScheme::from(batch.scheme.as_str()),
        };
        Self { identity, mapper: Mapper::new(MapperOptions::default()), last_seq: None }
    }

    /// A capture may begin amid a stream, so its first batch is never late.
    fn advance(&mut self, seq: Option<u64>) -> Step {
        let Some(seq) = seq else { return Step::Next };
        let step = match self.last_seq {
            None => Step::Next,
            Some(last) if seq == last => Step::Again,
            Some(last) if seq < last => Step::Restart,
            Some(last) if seq - last > 1 => Step::Lost(seq - last - 1),
            Some(_) => Step::Next,
        };
        self.last_seq = Some(seq);
        step
    }
}

/// When a batch says that it was published; the beginning of time where it is no batch.
pub(super) fn time_of(payload: &[u8]) -> Timestamp {
    // A batch's own clock is a float, with some microseconds of error.
    decode_batch(payload)
        .map_or(Timestamp::default(), |batch| Timestamp::from_us((batch.ts * 1e6).round() as i64))
}

/// The replica that a batch is reported as: ranks have caches of their own.
///
/// The first rank of a replica that was not recorded by rank keeps its name, since engines of one rank say 0 as well.
fn replica_of(recorded: &str, rank: Option<u32>) -> String {
    let by_rank = recorded
        .rsplit_once("-dp")
        .filter(|(_, suffix)| !suffix.is_empty() && suffix.bytes().all(|byte| byte.is_ascii_digit()));
    match (rank, by_rank) {
        (None, _) | (Some(0), None) => recorded.to_owned(),
        (Some(rank), Some((base, _))) => format!("{base}-dp{rank}"),
        (Some(rank), None) => format!("{recorded}-dp{rank}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_goes_under_the_rank_it_names() {
        for (recorded, rank, replica) in [
            ("a", None, "a"),
            ("a", Some(0), "a"),
            ("a", Some(2), "a-dp2"),
            ("a-dp1", None, "a-dp1"),
            ("a-dp1", Some(1), "a-dp1"),
            ("a-dp1", Some(0), "a-dp0"),
            ("a-dpx", Some(1), "a-dpx-dp1"),
            ("a-dp", Some(0), "a-dp"),
        ] {
            assert_eq!(replica_of(recorded, rank), replica, "{recorded} {rank:?}");
        }
    }

    #[test]
    fn sequences_tell_gaps_repetitions_and_restarts() {
        let batch = KvBatch {
            replica: "a".to_owned(),
            model: "m".to_owned(),
            tenant: "t".to_owned(),
            scheme: "vllm".to_owned(),
            topic: String::new(),
            seq: None,
            payload: Vec::new(),
        };
        let mut stream = Stream::new("a", &batch);
        for (seq, step) in [
            (Some(7), Step::Next),
            (Some(8), Step::Next),
            (Some(8), Step::Again),
            (None, Step::Next),
            (Some(12), Step::Lost(3)),
            (Some(0), Step::Restart),
            (Some(1), Step::Next),
            (Some(u64::MAX), Step::Lost(u64::MAX - 2)),
        ] {
            assert_eq!(stream.advance(seq), step, "{seq:?}");
        }
    }
}
