//! What changes the index: updates, events and engine batches, counted.

use std::collections::BTreeMap;

use super::engine::Engines;
use super::report::ReplayReport;
use crate::capture::{KvBatch, State};
use crate::contract::{self, decode_event, decode_update};
use crate::engine::{DecodeError, Fed};
use crate::index::{Applied, DropCause, EventApplied};
use crate::lookup::Router;
use crate::model::{CacheEvent, EventKind, HashList, StateUpdate, Timestamp};

/// Feeds an index and counts what becomes of it.
#[derive(Debug, Default)]
pub(super) struct Intake {
    engines: Engines,
    pub(super) tally: Tally,
}

/// What became of it.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) blocks: u64,
    dropped: BTreeMap<DropCause, u64>,
    events: BTreeMap<&'static str, u64>,
    removed: u64,
    evicted_cap: u64,
    evicted_quota_keys: u64,
}

impl Intake {
    /// Applies an update that arrived at `now`; a time of its own is moved by `shift_ns`.
    pub(super) fn update(
        &mut self,
        router: &Router,
        update: &contract::CacheStateUpdate,
        now: Timestamp,
        shift_ns: i64,
    ) {
        let update = decode_update(update);
        let at = update.at.map(|at| at.plus_ns(shift_ns));
        self.tally.update(router, &StateUpdate { at, ..update }, now);
    }

    /// Brings the index to hold what a state record says, in the order in which it says it; its times are moved by
    /// `shift_ns`.
    pub(super) fn state(&mut self, router: &Router, state: &State, now: Timestamp, shift_ns: i64) {
        for (at, message) in state.updates.iter().enumerate() {
            let update = decode_update(message);
            let moved = update.at.map(|at| at.plus_ns(shift_ns));
            let update = StateUpdate { at: moved, ..update };
            let heard = state.heard_us.get(at).map(|us| Timestamp::from_us(*us).plus_ns(shift_ns));
            self.tally.update(router, &update, heard.unwrap_or(now));
            if let Some(hits) = state.credits.get(at).filter(|hits| !hits.is_empty()) {
                router.index().restore_hits(&update, hits);
            }
        }
        for keys in &state.keys {
            let names = [&*keys.tenant_id, &*keys.model_id, &*keys.hash_scheme, &*keys.adapter_id];
            let reported_at = Timestamp::from_us(keys.reported_us).plus_ns(shift_ns);
            router.index().restore_keys(names, reported_at, HashList::Wire(&keys.hashes));
        }
    }

    /// Applies an event that arrived at `now`; a time of its own is moved by `shift_ns`.
    pub(super) fn event(
        &mut self,
        router: &Router,
        event: &contract::CacheEvent,
        now: Timestamp,
        shift_ns: i64,
    ) {
        let event = decode_event(event);
        let at = event.at.map(|at| at.plus_ns(shift_ns));
        self.tally.event(router, &CacheEvent { at, ..event }, now);
    }

    /// Applies an engine's batch that arrived at `now`. A payload that is no batch is counted, too.
    pub(super) fn batch(
        &mut self,
        router: &Router,
        batch: &KvBatch,
        now: Timestamp,
    ) -> Result<(), DecodeError> {
        let tally = &mut self.tally;
        self.engines.apply(batch, now, &mut |fed| match fed {
            Fed::Update(update) => tally.update(router, &update, now),
            Fed::Event(event) => tally.event(router, &event, now),
        })
    }

    /// Adds the counts to a report.
    pub(super) fn add_to(&self, report: &mut ReplayReport) {
        let tally = &self.tally;
        report.blocks += tally.blocks;
        report.removed += tally.removed;
        report.evicted_cap += tally.evicted_cap;
        report.evicted_quota_keys += tally.evicted_quota_keys;
        for (cause, count) in &tally.dropped {
            *report.dropped.entry(("ingest", cause.label())).or_default() += count;
        }
        for (kind, count) in &tally.events {
            *report.events.entry(kind).or_default() += count;
        }
        self.engines.add_to(report);
    }

    /// Everything dropped, on the way from the engines included.
    pub(super) fn dropped(&self) -> u64 {
        self.tally.dropped.values().sum::<u64>() + self.engines.dropped()
    }

    /// Events applied.
    pub(super) fn events(&self) -> u64 {
        self.tally.events.values().sum()
    }
}

impl Tally {
    fn update(&mut self, router: &Router, update: &StateUpdate<'_>, now: Timestamp) {
        let Applied { blocks, dropped, evicted } = router.apply_update(update, now);
        self.blocks += blocks;
        self.evicted_cap += evicted.cap_lru + evicted.cap_lfu;
        self.evicted_quota_keys += evicted.quota_keys;
        for cause in dropped {
            *self.dropped.entry(cause).or_default() += 1;
        }
    }

    fn event(&mut self, router: &Router, event: &CacheEvent<'_>, now: Timestamp) {
        let EventApplied { removed, dropped } = router.apply_event(event, now);
        self.removed += removed;
        *self.events.entry(EventKind::label(event.kind)).or_default() += 1;
        if let Some(cause) = dropped {
            *self.dropped.entry(cause).or_default() += 1;
        }
    }
}
