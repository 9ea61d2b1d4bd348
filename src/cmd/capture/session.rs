//! One recording, from its start until somebody ends it: over restarts of the server and from file to file.

use std::time::Duration;

use tokio::time::{Interval, sleep};

use super::feed::{Feed, Records};
use super::stop::{Stop, flushes};
use super::{record, unwritable, written};
use crate::capture::Recorder;
use crate::cmd::error::CommandError;
use crate::contract::wire::icache::v1alpha1 as wire;
use crate::contract::wire::icache::v1alpha1::record::Body;
use crate::model::Timestamp;
use crate::render::{CaptureProgress, Captured, Printer};

/// First and longest wait before a server that has gone is tried again.
const RETRY: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];

/// A recording.
pub(super) struct Session {
    feed: Feed,
    records: Option<Records>,
    recorder: Option<Recorder>,
    stop: Stop,
    /// How long is recorded, once the recording has begun.
    duration: Option<Duration>,
    flush: Interval,
    progress: CaptureProgress,
    missed: u64,
    interruptions: u64,
}

/// Why a feed is no longer read.
enum Ended {
    /// Somebody ended the recording.
    Stopped,
    /// The server has gone, or this was too slow for it; why.
    Lost(String),
    /// The file is full.
    Full,
}

impl Session {
    pub(super) fn new(
        feed: Feed,
        duration: Option<Duration>,
        printer: &Printer,
    ) -> Result<Self, CommandError> {
        let flush = flushes();
        let stop = Stop::new()?;
        let progress = CaptureProgress::new(printer);
        let (records, recorder) = (None, None);
        Ok(Self { feed, records, recorder, stop, duration, flush, progress, missed: 0, interruptions: 0 })
    }

    /// Reaches the server, and then creates the file: a server that is not there must leave none behind.
    pub(super) async fn begin(
        &mut self,
        create: impl FnOnce(&str) -> Result<Recorder, CommandError>,
    ) -> Result<(), CommandError> {
        tokio::select! {
            opened = self.feed.open() => self.records = Some(opened?),
            () = self.stop.wait() => return Err(CommandError::Interrupted),
        }
        self.recorder = Some(create(self.feed.url())?);
        self.stop.after(self.duration);
        Ok(())
    }

    /// Records until it is stopped.
    pub(super) async fn run(mut self) -> Result<Captured, CommandError> {
        let (Some(mut records), Some(mut recorder)) = (self.records.take(), self.recorder.take()) else {
            return Err(CommandError::Interrupted);
        };
        loop {
            let next = match self.read(&mut records, &mut recorder, None).await? {
                Ended::Stopped => None,
                Ended::Full => self.hand_over(&mut records, &mut recorder).await?,
                Ended::Lost(why) => self.reconnect(&why, &mut recorder).await?,
            };
            let Some(next) = next else { break };
            recorder.rotate().map_err(|(path, error)| unwritable(&path, &error))?;
            records = next;
        }
        let path = recorder.path().to_path_buf();
        let recorded = recorder.finish().map_err(|error| unwritable(&path, &error))?;
        Ok(Captured { recorded, missed: self.missed, interruptions: self.interruptions })
    }

    /// Writes what comes, up to a record of place `until`, to the end, or until the file is full.
    async fn read(
        &mut self,
        records: &mut Records,
        recorder: &mut Recorder,
        until: Option<u64>,
    ) -> Result<Ended, CommandError> {
        loop {
            let next = tokio::select! {
                biased;
                () = self.stop.wait() => return Ok(Ended::Stopped),
                _ = self.flush.tick() => {
                    self.progress.at(recorder.path(), &recorder.recorded(), self.missed);
                    written(recorder, Recorder::flush)?;
                    continue;
                }
                next = records.next() => next,
            };
            let record = match next {
                Ok(Some(record)) if until.is_some_and(|until| record.sequence >= until) => {
                    return Ok(Ended::Full);
                }
                Ok(Some(record)) => record,
                Ok(None) => return Ok(Ended::Lost("the server ended the feed".to_owned())),
                Err(status) => return Ok(Ended::Lost(lost(&status))),
            };
            let is_state = matches!(record.body, Some(Body::State(_) | Body::Config(_) | Body::Policy(_)));
            self.write(record, recorder)?;
            if until.is_none() && !is_state && recorder.is_full() {
                return Ok(Ended::Full);
            }
        }
    }

    fn write(&mut self, record: wire::Record, recorder: &mut Recorder) -> Result<(), CommandError> {
        if let Some(Body::Missed(missed)) = &record.body {
            self.missed += missed.records;
        }
        let at = Timestamp::from_us(record.timestamp_us);
        let Some(body) = record.body.and_then(record::body) else { return Ok(()) };
        written(recorder, |recorder| recorder.append(at, &body))
    }

    /// Observes a second time, and reads the first feed up to where the second begins: no record is lost between files.
    async fn hand_over(
        &mut self,
        records: &mut Records,
        recorder: &mut Recorder,
    ) -> Result<Option<Records>, CommandError> {
        let next = tokio::select! {
            next = self.feed.open() => next,
            () = self.stop.wait() => return Ok(None),
        };
        let next = match next {
            Ok(next) => next,
            Err(error) => return self.reconnect(&error.to_string(), recorder).await,
        };
        match self.read(records, recorder, Some(next.sequence)).await? {
            Ended::Stopped => Ok(None),
            Ended::Full => Ok(Some(next)),
            Ended::Lost(why) => {
                self.interrupted(&why);
                Ok(Some(next))
            }
        }
    }

    /// Tries until the server is back. What is recorded is on disk meanwhile.
    async fn reconnect(
        &mut self,
        why: &str,
        recorder: &mut Recorder,
    ) -> Result<Option<Records>, CommandError> {
        self.interrupted(why);
        written(recorder, Recorder::flush)?;
        let [mut wait, longest] = RETRY;
        loop {
            let opened = async {
                sleep(wait).await;
                self.feed.open().await
            };
            tokio::select! {
                opened = opened => if let Ok(records) = opened { return Ok(Some(records)) },
                () = self.stop.wait() => return Ok(None),
            }
            wait = longest.min(wait * 2);
        }
    }

    fn interrupted(&mut self, why: &str) {
        self.interruptions += 1;
        self.progress
            .warn(&format!("{why}; recording goes on in a further file once the server can be observed"));
    }
}

fn lost(status: &tonic::Status) -> String {
    match status.code() {
        tonic::Code::DataLoss => format!("this recorder was {}", status.message()),
        tonic::Code::Unavailable if status.message() == "the server stops" => "the server stopped".to_owned(),
        _ => "the connection to the server was lost".to_owned(),
    }
}
