//! Starts a running index with what a capture holds.

use std::path::Path;

use super::intake::Intake;
use super::report::MAX_WARNINGS;
use crate::capture::{Body, CaptureError, MAX_NOTES, ReadOptions, Reader};
use crate::lookup::Router;
use crate::model::Timestamp;

/// What was loaded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Preload {
    /// Records applied.
    pub records: u64,
    /// Records left out: lookups, policies, configuration, sweeps.
    pub left_out: u64,
    /// Blocks stored or refreshed.
    pub blocks: u64,
    /// Events applied, those that engine batches came to included.
    pub events: u64,
    /// Parts of updates, events and batches that were dropped.
    pub dropped: u64,
    /// Entries in the index afterwards.
    pub entries: u64,
    /// What a person should know of the capture, each as a sentence.
    pub warnings: Vec<String>,
    /// How far times were moved, in nanoseconds.
    pub shift_ns: i64,
}

/// Applies every record of the capture at `path` that changes the index, so that its newest record is at `now` and the
/// distances between records stay: what was fresh at the end of the capture is fresh now.
///
/// Lookups, policies and configuration are left out; entries that are older than their time to live go at once. After an
/// error, what came before the fault is in the index.
pub fn preload(path: &Path, router: &Router, now: Timestamp) -> Result<Preload, CaptureError> {
    let options = ReadOptions::default();
    let mut newest = None;
    let mut reader = Reader::open_file(path, options)?;
    while let Some(record) = reader.next_record()? {
        newest = Some(record.at);
    }
    let warnings = reader.notes().warnings();
    let Some(newest) = newest else { return Ok(Preload { warnings, ..Preload::default() }) };
    // Whole microseconds, so that a capture of the server can say its times.
    let shift_ns = newest.age_ns(Timestamp::from_us(now.as_us()));
    let mut loaded = Preload { shift_ns, warnings, ..Preload::default() };
    let mut intake = Intake::default();
    let index = router.index();
    let mut reader = Reader::open_file(path, options)?;
    while let Some(record) = reader.next_record()? {
        let at = record.at.plus_ns(loaded.shift_ns);
        loaded.records += 1;
        match &record.body {
            // A payload that is no batch is among the dropped.
            Body::KvBatch(batch) => drop(intake.batch(router, batch, at)),
            Body::Report(update) => intake.update(router, update, at, loaded.shift_ns),
            Body::Event(event) => intake.event(router, event, at, loaded.shift_ns),
            Body::State(state) => {
                intake.state(router, state, at, loaded.shift_ns);
                let parts = state.others.keys().take(MAX_NOTES);
                loaded.warnings.extend(parts.map(|part| format!("passed over of `state`: `{part}`")));
                loaded.warnings.truncate(MAX_WARNINGS);
            }
            Body::Lookup(_) | Body::Policy(_) | Body::Config(_) | Body::Sweep => {
                loaded.records -= 1;
                loaded.left_out += 1;
            }
        }
    }
    index.sweep(now);
    loaded.blocks = intake.tally.blocks;
    loaded.events = intake.events();
    loaded.dropped = intake.dropped();
    loaded.entries = index.entries();
    Ok(loaded)
}
