//! Engine batches: which engine one is from, and whether it is the next of its stream.

use std::collections::{BTreeMap, BTreeSet};

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
    publishers: BTreeMap<Name, Publisher>,
    streams: Vec<Stream>,
    stream_by_name: BTreeMap<Name, usize>,
    drops: DropCounts,
    too_many: u64,
    restarts: u64,
    duplicates: u64,
}

/// Replica, model, tenant and hash scheme.
type Name = [String; 4];

/// The process at the other end of a recorded connection: it numbers its batches, whatever rank they name.
#[derive(Debug, Default)]
struct Publisher {
    last_seq: Option<u64>,
    /// The streams that it has fed since it began, by position.
    fed: BTreeSet<usize>,
}

/// The cache of one engine, or of one data-parallel rank of it.
#[derive(Debug)]
struct Stream {
    identity: Identity,
    mapper: Mapper,
}

impl Engines {
    /// Gives `sink` what the batch comes to. What is no batch is counted, and is the next of its publisher all the same.
    pub(super) fn apply(
        &mut self,
        batch: &KvBatch,
        now: Timestamp,
        sink: &mut dyn FnMut(Fed<'_>),
    ) -> Result<(), DecodeError> {
        let sink = &mut |fed: Fed<'_>| sink(fed);
        let publisher = name(&batch.replica, batch);
        if self.publishers.len() >= MAX_ENGINES && !self.publishers.contains_key(&publisher) {
            self.too_many += 1;
            return Ok(());
        }
        let publisher = self.publishers.entry(publisher).or_default();
        match publisher.advance(batch.seq) {
            Step::Next => {}
            Step::Lost(batches) => self.drops.add(EngineDrop::Lost, batches),
            Step::Again => {
                self.duplicates += 1;
                return Ok(());
            }
            Step::Restart => {
                self.restarts += 1;
                for stream in std::mem::take(&mut publisher.fed) {
                    let stream = &mut self.streams[stream];
                    let cleared: Change = stream.mapper.clear();
                    feed(&[cleared], &stream.identity, None, sink);
                }
            }
        }
        let decoded = match decode_batch(&batch.payload) {
            Ok(decoded) => decoded,
            Err(error) => {
                self.drops.add(EngineDrop::BadBatch, 1);
                return Err(error);
            }
        };
        let replica = replica_of(&batch.replica, decoded.rank);
        let stream_name = name(&replica, batch);
        let position = match self.stream_by_name.get(&stream_name) {
            Some(position) => *position,
            None if self.streams.len() >= MAX_ENGINES => {
                self.too_many += 1;
                return Ok(());
            }
            None => {
                let position = self.streams.len();
                self.streams.push(Stream::new(&replica, batch));
                self.stream_by_name.insert(stream_name, position);
                position
            }
        };
        publisher.fed.insert(position);
        let stream = &mut self.streams[position];
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
        for stream in &self.streams {
            for (cause, count) in stream.mapper.counts().drops.iter() {
                sum.add(cause, count);
            }
        }
        let counts: Vec<_> = sum.iter().map(|(cause, count)| (cause.label(), count)).collect();
        counts.into_iter().chain([("too-many-engines", self.too_many)])
    }
}

fn name(replica: &str, batch: &KvBatch) -> Name {
    [replica, &batch.model, &batch.tenant, &batch.scheme].map(str::to_owned)
}

/// Where a batch stands among those of its publisher.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Next,
    /// That many are missing before it.
    Lost(u64),
    /// The same as the one before.
    Again,
    /// Its publisher began anew, and with empty caches.
    Restart,
}

impl Publisher {
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

impl Stream {
    fn new(replica: &str, batch: &KvBatch) -> Self {
        let identity = Identity {
            replica: ReplicaId::from(replica),
            tenant: TenantId::from(batch.tenant.as_str()),
            model: ModelId::from(batch.model.as_str()),
            scheme: HashScheme::from(batch.scheme.as_str()),
        };
        Self { identity, mapper: Mapper::new(MapperOptions::default()) }
    }
}

/// When a batch says that it was published; the beginning of time where it is no batch.
pub fn time_of(payload: &[u8]) -> Timestamp {
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
        let mut publisher = Publisher::default();
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
            assert_eq!(publisher.advance(seq), step, "{seq:?}");
        }
    }

    /// What some batches, each with its sequence number and rank, come to: stored and cleared replicas in order.
    fn fed(engines: &mut Engines, batches: &[(u64, Option<Vec<u8>>)]) -> Vec<String> {
        let mut seen = Vec::new();
        for (seq, payload) in batches {
            let batch = KvBatch {
                replica: "a".to_owned(),
                model: "m".to_owned(),
                tenant: "t".to_owned(),
                scheme: "vllm".to_owned(),
                topic: String::new(),
                seq: Some(*seq),
                payload: payload.clone().unwrap_or_else(|| b"nonsense".to_vec()),
            };
            let is_batch = engines
                .apply(&batch, Timestamp::default(), &mut |fed| {
                    seen.push(match fed {
                        Fed::Update(update) => update.replica.to_owned(),
                        Fed::Event(event) => format!("{} {}", event.replica, event.kind.label()),
                    });
                })
                .is_ok();
            assert!(is_batch || payload.is_none());
        }
        seen
    }

    /// A batch in which `rank` stores one block of one token.
    fn stored(rank: u8) -> Option<Vec<u8>> {
        // [0.0, [["BlockStored", [1], nil, [7], 1, nil]], rank]
        let mut bytes = vec![0x93, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0, 0x91, 0x96, 0xab];
        bytes.extend(b"BlockStored");
        bytes.extend([0x91, 1, 0xc0, 0x91, 7, 1, 0xc0, rank]);
        Some(bytes)
    }

    fn dropped(engines: &Engines) -> Vec<(&'static str, u64)> {
        engines.counts().filter(|(_, count)| *count > 0).collect()
    }

    #[test]
    fn ranks_of_one_publisher_share_its_sequence() {
        let mut engines = Engines::default();
        let batches: Vec<_> = (0..16).map(|seq| (seq, stored((seq % 8) as u8))).collect();
        let seen = fed(&mut engines, &batches);
        assert_eq!(seen[..8], ["a", "a-dp1", "a-dp2", "a-dp3", "a-dp4", "a-dp5", "a-dp6", "a-dp7"]);
        assert_eq!((dropped(&engines), engines.restarts, engines.duplicates), (vec![], 0, 0));
        fed(&mut engines, &[(18, stored(3)), (18, stored(4))]);
        assert_eq!((dropped(&engines), engines.duplicates), (vec![("lost", 2)], 1));
    }

    #[test]
    fn a_restart_clears_every_rank_of_the_publisher_at_once() {
        let mut engines = Engines::default();
        fed(&mut engines, &[(5, stored(0)), (6, stored(1)), (7, stored(2))]);
        let seen = fed(&mut engines, &[(0, stored(1))]);
        assert_eq!(seen, ["a all_cleared", "a-dp1 all_cleared", "a-dp2 all_cleared", "a-dp1"]);
        assert_eq!((dropped(&engines), engines.restarts), (vec![], 1));
    }

    #[test]
    fn what_is_no_batch_has_its_place_in_the_sequence() {
        let mut engines = Engines::default();
        fed(&mut engines, &[(0, stored(0)), (1, None), (2, stored(0))]);
        assert_eq!(dropped(&engines), [("bad-batch", 1)]);
        let seen = fed(&mut engines, &[(0, None), (1, stored(0))]);
        assert_eq!(seen, ["a all_cleared", "a"]);
        assert_eq!((dropped(&engines), engines.restarts), (vec![("bad-batch", 2)], 1));
        assert_eq!(fed(&mut engines, &[(1, None)]), [""; 0]);
        assert_eq!((dropped(&engines), engines.duplicates), (vec![("bad-batch", 2)], 1));
    }
}
