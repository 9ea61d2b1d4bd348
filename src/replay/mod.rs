//! Replay: a capture into a fresh index, on a clock that follows the capture's times.
//!
//! Nothing of the machine enters: the same capture gives the same answers everywhere, so answers can be checked against
//! recorded ones and policies compared on real traffic.

mod check;
mod engine;
mod intake;
mod preload;
mod report;
mod sending;
mod settings;
mod simulate;
mod timeline;
mod timings;

use std::io::BufRead;
use std::path::Path;
use std::time::Instant;

use thiserror::Error;

pub use check::{Mismatch, compare, compare_untimed};
pub use engine::{MAX_ENGINES, time_of as batch_time};
pub use preload::{Preload, preload};
pub use report::{Checked, GivenPolicy, MAX_WARNINGS, Pace, ReplayReport};
pub use sending::{Message, Question, Sending};
pub use simulate::{MAX_VARIANTS, Move, Side, Simulated, Simulation, Variant};
pub use timeline::{Bucket, MAX_BUCKETS, Timeline};
pub use timings::Timings;

use self::intake::Intake;
pub use self::settings::RankingOverride;
use self::settings::ServerSettings;
use crate::capture::{Body, CaptureError, Config, KvBatch, Lookup, Notes, ReadOptions, Reader, Record};
use crate::contract::{decode_answer, decode_request};
use crate::decision::{Decision, GateId, Reason};
use crate::engine::DecodeError;
use crate::explanation::answer;
use crate::lookup::{Call, Router};
use crate::model::{LookupRequest, ReplicaId, Timestamp, format_duration};
use crate::policy::{PolicyError, PolicySet, SourceText, load_policies, load_sources};

/// Time between two sweeps, in nanoseconds: the default of `--sweep-interval`.
pub const SWEEP_INTERVAL_NS: i64 = 60_000_000_000;

/// How a capture is replayed.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// Policies that hold throughout, in place of the captured ones.
    pub policy: Option<PolicyOverride>,
    /// Which ranker, in place of the captured one.
    pub ranking: RankingOverride,
    /// Compare each lookup with its recorded answer or expectation.
    pub check: bool,
    /// Mismatches kept in full; further ones are only counted.
    pub mismatches: usize,
    /// Pass over and count lines that cannot be used.
    pub skip_bad: bool,
    /// Measure how long lookups take on this machine.
    pub timings: bool,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self {
            policy: None,
            ranking: RankingOverride::default(),
            check: false,
            mismatches: 10,
            skip_bad: false,
            timings: false,
        }
    }
}

/// Policies in place of the captured ones.
#[derive(Clone, Debug)]
pub struct PolicyOverride {
    /// Their files.
    pub files: Vec<SourceText>,
    /// The namespace of objects that name none.
    pub namespace: String,
}

/// On whose behalf a batch is that does not say so itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BatchIdentity {
    /// The engine.
    pub replica: String,
    /// Its model.
    pub model: String,
    /// Its tenant.
    pub tenant: String,
    /// Scheme of the fingerprints.
    pub scheme: String,
}

/// Why a replay ended early.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The capture cannot be used.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Policy documents, of a record or given in its place, cannot be used.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A capture begins before the end of the one that it is to continue.
    #[error("`{name}` begins {} before the end of the capture before it", format_duration(behind_us.saturating_mul(1_000)))]
    Order {
        /// File.
        name: String,
        /// Microseconds from its first record to the last one of the capture before.
        behind_us: i64,
    },
}

/// One capture, or several that continue each other, on the way through an index.
pub struct Replay {
    name: String,
    options: ReplayOptions,
    settings: ServerSettings,
    router: Router,
    intake: Intake,
    report: ReplayReport,
    clock: Option<Clock>,
    is_begun: bool,
    config: Option<Config>,
    told: Told,
    last_answer: Option<LastAnswer>,
}

/// What the timeline has been told of the totals.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    blocks: u64,
    dropped: u64,
}

/// The gist of an answer, for comparing.
#[derive(Clone, PartialEq, Eq, Debug)]
struct LastAnswer {
    reason: Reason,
    because: GateId,
    /// The first replica, where there is a hint.
    first: Option<ReplicaId>,
}

/// The virtual clock and what hangs on it.
#[derive(Clone, Copy, Debug)]
struct Clock {
    now: Timestamp,
    last_sweep: Timestamp,
    /// The capture says when its server swept.
    is_recorded: bool,
}

impl Replay {
    /// A replay of the capture called `name` into an empty index.
    pub fn new(name: &str, options: ReplayOptions) -> Result<Self, ReplayError> {
        let mut settings = ServerSettings::default();
        settings.override_ranking(options.ranking);
        let mut replay = Self {
            name: name.to_owned(),
            router: settings.router(PolicySet::empty(settings.defaults())),
            settings,
            intake: Intake::default(),
            report: ReplayReport::new(),
            clock: None,
            is_begun: false,
            config: None,
            told: Told::default(),
            last_answer: None,
            options,
        };
        replay.put_override_in_force()?;
        Ok(replay)
    }

    /// Goes on with the capture called `name`, whose records come behind all that was there: the next file of a capture
    /// that was rotated.
    pub fn next_file(&mut self, name: &str) {
        self.name = name.to_owned();
        self.report.files += 1;
    }

    /// Opens and replays a whole file. `progress` is told the bytes read, now and then.
    pub fn run_file(
        path: &Path,
        options: ReplayOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<ReplayReport, ReplayError> {
        let mut reader = Reader::open_file(path, ReadOptions { skip_bad: options.skip_bad })?;
        let mut replay = Self::new(reader.name(), options)?;
        replay.run(&mut reader, progress)?;
        Ok(replay.finish())
    }

    /// Replays all that is left in `reader`.
    pub fn run<R: BufRead>(
        &mut self,
        reader: &mut Reader<R>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ReplayError> {
        let mut before = self.now();
        while let Some(record) = reader.next_record()? {
            if let Some(end) = before.take().filter(|end| record.at < *end) {
                let behind_us = record.at.age_ns(end) / 1_000;
                return Err(ReplayError::Order { name: self.name.clone(), behind_us });
            }
            self.apply(&record)?;
            progress(reader.bytes_read());
        }
        self.note(reader.notes());
        Ok(())
    }

    /// Takes over what a reader passed over, where its records were applied one by one.
    pub fn note(&mut self, notes: &Notes) {
        self.report.note(notes);
    }

    /// Replays one record; its time must not lie before that of the record before.
    pub fn apply(&mut self, record: &Record) -> Result<(), ReplayError> {
        self.tick(record.at, matches!(record.body, Body::Sweep));
        self.report.count_record(record);
        let now = record.at;
        match &record.body {
            Body::KvBatch(batch) => {
                if let Err(error) = self.intake.batch(&self.router, batch, now) {
                    self.report.warn(format!("{}:{}: {error}", self.name, record.line));
                }
            }
            Body::Report(update) => self.intake.update(&self.router, update, now, 0),
            Body::Event(event) => self.intake.event(&self.router, event, now, 0),
            Body::Lookup(lookup) => self.look_up(lookup, record),
            Body::Policy(documents) => self.put_in_force(documents, record.line)?,
            Body::Config(config) => {
                if self.config.as_ref() == Some(config) {
                    return Ok(());
                }
                let passed_over = if self.is_begun {
                    vec!["all of it, since it comes after other records".to_owned()]
                } else {
                    self.settings.apply(config)
                };
                for part in passed_over {
                    self.report
                        .warn(format!("{}:{}: passed over of `config`: {part}", self.name, record.line));
                }
                if !self.is_begun {
                    self.config = Some(config.clone());
                    self.router = self.settings.router(PolicySet::empty(self.settings.defaults()));
                    self.put_override_in_force()?;
                    if let Some(clock) = &mut self.clock {
                        clock.is_recorded |= self.settings.records_sweeps();
                    }
                }
                return Ok(());
            }
            Body::State(state) => {
                self.intake.state(&self.router, state, now, 0);
                for part in state.others.keys() {
                    self.report
                        .warn(format!("{}:{}: passed over of `state`: `{part}`", self.name, record.line));
                }
            }
            Body::Sweep => {}
        }
        self.is_begun = true;
        Ok(())
    }

    /// Replays a payload that stands alone, at the time that it says itself; where that has passed, now.
    ///
    /// An error says why the payload is no batch.
    pub fn apply_bare(&mut self, payload: Vec<u8>, identity: &BatchIdentity) -> Result<(), DecodeError> {
        let at = engine::time_of(&payload);
        let at = self.now().map_or(at, |now| now.max(at));
        self.tick(at, false);
        self.report.count_bare(at, &identity.tenant);
        let batch = KvBatch {
            replica: identity.replica.clone(),
            model: identity.model.clone(),
            tenant: identity.tenant.clone(),
            scheme: identity.scheme.clone(),
            topic: String::new(),
            seq: None,
            payload,
        };
        self.intake.batch(&self.router, &batch, at)?;
        Ok(())
    }

    /// The index as it stands, with its policies: lookups asked of it see what the capture has brought about so far.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// Time of the last record, `None` before the first.
    pub fn now(&self) -> Option<Timestamp> {
        self.clock.map(|clock| clock.now)
    }

    /// What came of it.
    pub fn finish(mut self) -> ReplayReport {
        if let Some(now) = self.now() {
            self.tell_timeline(now);
        }
        self.intake.add_to(&mut self.report);
        self.report.entries_at_end = self.router.index().entries();
        self.report
    }

    /// Moves the clock, and sweeps where it is time to.
    fn tick(&mut self, now: Timestamp, is_sweep: bool) {
        if let Some(before) = self.now().filter(|before| !self.report.timeline.is_same(*before, now)) {
            self.tell_timeline(before);
        }
        let clock = self.clock.get_or_insert(Clock { now, last_sweep: now, is_recorded: false });
        clock.now = now;
        clock.is_recorded |= is_sweep;
        let is_due = !clock.is_recorded && clock.last_sweep.age_ns(now) >= SWEEP_INTERVAL_NS;
        if is_sweep || is_due {
            clock.last_sweep = now;
            let swept = self.router.index().sweep(now);
            self.report.sweeps += 1;
            self.report.expired += swept.expired_lru + swept.expired_lfu;
        }
    }

    /// Ends a stretch of the timeline: what was stored and dropped in it, and what the index holds.
    fn tell_timeline(&mut self, at: Timestamp) {
        let (blocks, dropped) = (self.intake.tally.blocks, self.intake.dropped());
        let entries = self.router.index().entries();
        let bucket = self.report.timeline.bucket(at);
        bucket.blocks += blocks - self.told.blocks;
        bucket.dropped += dropped - self.told.dropped;
        bucket.entries = Some(entries);
        self.told = Told { blocks, dropped };
    }

    fn look_up(&mut self, lookup: &Lookup, record: &Record) {
        let request = decode_request(&lookup.request);
        let start = self.options.timings.then(Instant::now);
        let call = Call::at(record.at);
        // The recorded server gave no credit for an answer that came too late.
        let was_late =
            lookup.answer.as_ref().is_some_and(|answer| answer.reason_code == Reason::Timeout.code());
        let decision =
            if was_late { self.router.peek(&request, call) } else { self.router.route(&request, call) };
        if let Some(start) = start {
            self.report.timings.get_or_insert_default().add(start.elapsed());
        }
        self.report.count_lookup(record.at, &request, &decision);
        self.last_answer = Some(LastAnswer {
            reason: decision.reason,
            because: decision.because,
            first: decision.hints().next().map(|hint| hint.replica.clone()),
        });
        if self.options.check {
            self.check(lookup, record, &request, &decision);
        }
    }

    fn check(&mut self, lookup: &Lookup, record: &Record, request: &LookupRequest<'_>, decision: &Decision) {
        let got = answer(decision, request, 0);
        let recorded = lookup.answer.clone().map(decode_answer);
        let checked = compare(lookup.expect.as_ref(), recorded.as_ref(), &got);
        self.report.count_checked(record.at, checked, self.options.mismatches, |difference| {
            let expected = check::expectation(lookup.expect.as_ref(), recorded.as_ref());
            let place = (self.name.clone(), record.line);
            Mismatch::new(place, request, Some(decision.because.id()), difference, expected, &got)
        });
    }

    fn put_in_force(&mut self, documents: &str, line: u64) -> Result<(), ReplayError> {
        if self.options.policy.is_some() {
            self.report.policies_overridden += 1;
            return Ok(());
        }
        let name = format!("{} (policy record in line {line})", self.name);
        match load_policies(&name, documents, self.settings.defaults()) {
            Ok(loaded) => self.replace_policies(loaded.set, loaded.inert),
            Err(error) if self.options.skip_bad => self.report.bad_line(error.headline()),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn put_override_in_force(&mut self) -> Result<(), ReplayError> {
        let Some(PolicyOverride { files, namespace }) = &self.options.policy else { return Ok(()) };
        let loaded = load_sources(files.clone(), Some(namespace), self.settings.defaults())?;
        let tenants = loaded.set.iter().map(|(tenant, _)| tenant.as_str().to_owned()).collect();
        let name = files.iter().map(|file| file.name().to_owned()).collect::<Vec<_>>().join(", ");
        self.report.policy = Some(GivenPolicy { name, tenants, is_met: false });
        self.replace_policies(loaded.set, loaded.inert);
        Ok(())
    }

    fn replace_policies(&mut self, set: PolicySet, inert: Vec<String>) {
        let evicted = self.router.replace_policies(set);
        self.report.evicted_quota_keys += evicted.iter().map(|(_, keys)| keys).sum::<u64>();
        for sentence in inert {
            self.report.warn(sentence);
        }
    }
}
