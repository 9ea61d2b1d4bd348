//! One capture under several policies at once: what each answers, and which answers differ from those of the first.

use std::collections::BTreeMap;
use std::io::BufRead;

use super::{LastAnswer, PolicyOverride, Replay, ReplayError, ReplayOptions, ReplayReport};
use crate::capture::{Body, Reader};
use crate::decision::{GateId, Reason};

/// Policies compared at once: each holds an index of its own.
pub const MAX_VARIANTS: usize = 8;

/// Policies to replay under.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What it is called.
    pub name: String,
    /// In place of the captured policies; `None` keeps those.
    pub policy: Option<PolicyOverride>,
}

/// How an answer came about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Side {
    /// The code.
    pub reason: Reason,
    /// The gate that is its cause.
    pub because: GateId,
}

/// Lookups that the first variant answers in one way and another in another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Move {
    /// Under the first variant.
    pub from: Side,
    /// Under the other.
    pub to: Side,
}

/// What came of one variant.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// What it is called.
    pub name: String,
    /// Its replay.
    pub report: ReplayReport,
    /// Lookups whose code or cause differs from that under the first variant, by what they moved from and to.
    pub moves: BTreeMap<Move, u64>,
    /// Lookups with the same code for the same cause, and another first replica than under the first variant.
    pub other_replica: u64,
}

/// Captures on their way through several indexes side by side.
pub struct Simulation {
    variants: Vec<Variant>,
    results: Vec<Simulated>,
    skip_bad: bool,
}

impl Simulation {
    /// Compares `variants` with the first of them.
    pub fn new(variants: Vec<Variant>, skip_bad: bool) -> Self {
        let results = variants.iter().map(|variant| Simulated {
            name: variant.name.clone(),
            report: ReplayReport::default(),
            moves: BTreeMap::new(),
            other_replica: 0,
        });
        Self { results: results.collect(), variants, skip_bad }
    }

    /// Replays all that is left in `reader`, from empty indexes. `progress` is told the bytes read, now and then.
    pub fn run<R: BufRead>(
        &mut self,
        reader: &mut Reader<R>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ReplayError> {
        let mut replays = Vec::with_capacity(self.variants.len());
        for variant in &self.variants {
            let policy = variant.policy.clone();
            let options = ReplayOptions { policy, skip_bad: self.skip_bad, ..ReplayOptions::default() };
            replays.push(Replay::new(reader.name(), options)?);
        }
        while let Some(record) = reader.next_record()? {
            for replay in &mut replays {
                replay.apply(&record)?;
            }
            if matches!(record.body, Body::Lookup(_)) {
                let answers = replays.iter().map(|replay| replay.last_answer.as_ref());
                compare(&mut self.results, answers);
            }
            progress(reader.bytes_read());
        }
        for (mut replay, result) in replays.into_iter().zip(&mut self.results) {
            replay.report.note(reader.notes());
            result.report.add(replay.finish(), 0);
        }
        Ok(())
    }

    /// What came of each variant, in their order.
    pub fn finish(self) -> Vec<Simulated> {
        self.results
    }
}

fn compare<'a>(results: &mut [Simulated], answers: impl Iterator<Item = Option<&'a LastAnswer>>) {
    let mut answers = results.iter_mut().zip(answers);
    let Some((_, Some(first))) = answers.next() else { return };
    for (result, answer) in answers {
        let Some(answer) = answer else { continue };
        let (from, to) = (first.side(), answer.side());
        if from != to {
            *result.moves.entry(Move { from, to }).or_default() += 1;
        } else if first.first != answer.first {
            result.other_replica += 1;
        }
    }
}

impl LastAnswer {
    fn side(&self) -> Side {
        Side { reason: self.reason, because: self.because }
    }
}
