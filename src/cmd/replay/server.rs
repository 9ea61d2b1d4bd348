//! Captures to a running server: in order, at the times that they were recorded or faster.

use std::path::PathBuf;
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::Args;
use super::input::{Input, no_batch, open, unusable};
use crate::capture::{Body, KvBatch, Notes, Reader, Record};
use crate::cmd::client::Client;
use crate::cmd::error::{CommandError, UsageError};
use crate::contract::CacheStateUpdate;
use crate::engine::decode_batch;
use crate::model::Timestamp;
use crate::render::Progress;
use crate::replay::{Message, Pace, Question, ReplayError, ReplayReport, Sending, batch_time};

/// Records that are read ahead.
const READ_AHEAD: usize = 256;
/// Updates in one call of ReportCacheState.
const MAX_UPDATES: usize = 256;

/// How much faster than recorded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Speed {
    /// So many times.
    Times(f64),
    /// As fast as the server answers.
    Max,
}

/// Least and greatest factor.
const FACTORS: std::ops::RangeInclusive<f64> = 0.001..=1e6;

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "max" {
            return Ok(Self::Max);
        }
        let factor = text.strip_suffix('x').and_then(|number| number.parse().ok());
        factor.filter(|factor| FACTORS.contains(factor)).map(Self::Times).ok_or_else(|| {
            "write `1x`, `10x` or any other factor from 0.001x to 1000000x, or `max`".to_owned()
        })
    }
}

/// What the reading thread finds.
enum Read {
    File(String),
    Record(Box<Record>, u64),
    Notes(Box<Notes>),
    End(u64),
}

type Found = Result<Read, UsageError>;

/// Sends everything and tells what came back.
pub fn run(args: &Args, sizes: Vec<u64>) -> Result<ReplayReport, CommandError> {
    let (sender, receiver) = mpsc::channel(READ_AHEAD);
    let (files, identity, skip_bad) = (args.files.clone(), args.identity.clone(), args.skip_bad);
    // A reader that waits for its input must not keep Ctrl-C waiting.
    thread::spawn(move || {
        let read = read_all(&files, &sender, |file| open(file, &identity, skip_bad));
        if let Err(Stop::Error(error)) = read {
            // Where nobody listens, nobody needs to know.
            let _ = sender.blocking_send(Err(*error));
        }
    });
    let progress = Progress::over(sizes.iter().sum());
    let speed = args.speed.unwrap_or(Speed::Times(1.0));
    let sending = Sending::new(args.check, args.mismatches);
    args.server.run(async |client| Conversation::new(&client, sending, speed, progress).run(receiver).await)
}

/// Why reading ended early.
enum Stop {
    Error(Box<UsageError>),
    NobodyListens,
}

impl From<UsageError> for Stop {
    fn from(error: UsageError) -> Self {
        Self::Error(Box::new(error))
    }
}

fn read_all(
    files: &[PathBuf],
    sender: &mpsc::Sender<Found>,
    open: impl Fn(&PathBuf) -> Result<Input, UsageError>,
) -> Result<(), Stop> {
    let send = |read: Read| sender.blocking_send(Ok(read)).map_err(|_| Stop::NobodyListens);
    let mut last: Option<Timestamp> = None;
    for file in files {
        let name = file.display().to_string();
        send(Read::File(name.clone()))?;
        let size = match open(file)? {
            Input::Bare(payload, identity) => {
                decode_batch(&payload).map_err(|error| no_batch(&name, &error))?;
                let at = batch_time(&payload);
                let at = last.map_or(at, |last| last.max(at));
                last = Some(at);
                let size = payload.len() as u64;
                let body = Body::KvBatch(KvBatch {
                    replica: identity.replica,
                    model: identity.model,
                    tenant: identity.tenant,
                    scheme: identity.scheme,
                    topic: String::new(),
                    seq: None,
                    payload,
                });
                send(Read::Record(Box::new(Record { line: 1, at, body }), size))?;
                size
            }
            Input::Capture(mut reader) => {
                let first = next(&mut reader)?;
                if let (Some(end), Some(record)) = (last, &first)
                    && record.at < end
                {
                    let behind_us = record.at.age_ns(end) / 1_000;
                    return Err(unusable(ReplayError::Order { name, behind_us }).into());
                }
                let mut record = first;
                while let Some(found) = record {
                    last = Some(found.at);
                    send(Read::Record(Box::new(found), reader.bytes_read()))?;
                    record = next(&mut reader)?;
                }
                send(Read::Notes(Box::new(reader.notes().clone())))?;
                reader.bytes_read()
            }
        };
        send(Read::End(size))?;
    }
    Ok(())
}

fn next<R: std::io::BufRead>(reader: &mut Reader<R>) -> Result<Option<Record>, UsageError> {
    reader.next_record().map_err(unusable)
}

/// One replay with a server.
struct Conversation<'a> {
    client: &'a Client,
    sending: Sending,
    progress: Progress,
    speed: Option<f64>,
    /// Updates that go in the next call.
    pending: Vec<CacheStateUpdate>,
    /// Messages that have left.
    sent: u64,
    start: Instant,
    /// Time of the first record.
    first: Option<Timestamp>,
    greatest_lag: Duration,
}

impl<'a> Conversation<'a> {
    fn new(client: &'a Client, sending: Sending, speed: Speed, progress: Progress) -> Self {
        let speed = match speed {
            Speed::Times(factor) => Some(factor),
            Speed::Max => None,
        };
        Self {
            client,
            sending,
            progress,
            speed,
            pending: Vec::new(),
            sent: 0,
            start: Instant::now(),
            first: None,
            greatest_lag: Duration::ZERO,
        }
    }

    async fn run(mut self, mut found: mpsc::Receiver<Found>) -> Result<ReplayReport, CommandError> {
        loop {
            let read = match found.try_recv() {
                Ok(read) => read,
                // What waits for company goes while the next record is not there yet.
                Err(_) => {
                    self.flush().await?;
                    match found.recv().await {
                        Some(read) => read,
                        None => break,
                    }
                }
            };
            match read? {
                Read::File(name) => {
                    self.progress.begin(&name);
                    self.sending.next_file(&name);
                }
                Read::Record(record, bytes) => {
                    self.progress.at(bytes);
                    self.send(*record).await?;
                }
                Read::Notes(notes) => self.sending.note(&notes),
                Read::End(size) => self.progress.end(size),
            }
        }
        self.flush().await?;
        let elapsed = self.start.elapsed();
        let pace = Pace { speed: self.speed, elapsed, greatest_lag: self.greatest_lag };
        Ok(self.sending.finish(pace))
    }

    async fn send(&mut self, record: Record) -> Result<(), CommandError> {
        self.wait_for(record.at).await?;
        for message in self.sending.messages(record, Timestamp::now()) {
            match message {
                Message::Report(update) => {
                    self.pending.push(update);
                    if self.pending.len() >= MAX_UPDATES {
                        self.flush().await?;
                    }
                }
                Message::Event(event) => {
                    self.flush().await?;
                    let reply = self.client.contract().publish_event(self.client.request(event)).await;
                    let ack = reply
                        .map_err(|status| self.client.failed_after(&status, self.sent, "message"))?
                        .into_inner();
                    self.acknowledged(1, ack.accepted, &ack.reason_code);
                }
                Message::Lookup(question) => {
                    self.flush().await?;
                    self.ask(&question).await?;
                }
            }
        }
        Ok(())
    }

    /// Waits until it is time for a record. Every time is counted from the first record, so that delays do not add up.
    async fn wait_for(&mut self, at: Timestamp) -> Result<(), CommandError> {
        let first = *self.first.get_or_insert_with(|| {
            self.start = Instant::now();
            at
        });
        let Some(speed) = self.speed else { return Ok(()) };
        let since = Duration::from_nanos(u64::try_from(first.age_ns(at)).unwrap_or(0));
        let Some(due) = since.try_div(speed).and_then(|since| self.start.checked_add(since)) else {
            return Ok(());
        };
        let now = Instant::now();
        if now < due {
            self.flush().await?;
            sleep_until(due).await;
        }
        self.greatest_lag = self.greatest_lag.max(Instant::now().saturating_duration_since(due));
        Ok(())
    }

    /// Sends the updates that wait, and waits until the server has applied them.
    async fn flush(&mut self) -> Result<(), CommandError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let updates = std::mem::take(&mut self.pending);
        let count = updates.len() as u64;
        let request = self.client.request(tokio_stream::iter(updates));
        let reply = self.client.contract().report_cache_state(request).await;
        let ack =
            reply.map_err(|status| self.client.failed_after(&status, self.sent, "message"))?.into_inner();
        self.acknowledged(count, ack.accepted, &ack.reason_code);
        Ok(())
    }

    fn acknowledged(&mut self, messages: u64, accepted: bool, reason: &str) {
        self.sent += messages;
        if !accepted {
            self.sending.refused(reason);
        }
    }

    async fn ask(&mut self, question: &Question) -> Result<(), CommandError> {
        let request = self.client.request(question.lookup.request.clone());
        let asked = Instant::now();
        let reply = self.client.contract().lookup_route(request).await;
        let took = asked.elapsed();
        let answer =
            reply.map_err(|status| self.client.failed_after(&status, self.sent, "message"))?.into_inner();
        self.sending.answered(question, answer, took);
        Ok(())
    }
}

/// Division that says so where the result is too long.
trait TryDiv: Sized {
    fn try_div(self, factor: f64) -> Option<Self>;
}

impl TryDiv for Duration {
    fn try_div(self, factor: f64) -> Option<Self> {
        Self::try_from_secs_f64(self.as_secs_f64() / factor).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_factors_or_max() {
        for (text, speed) in [
            ("1x", Some(Speed::Times(1.0))),
            ("10x", Some(Speed::Times(10.0))),
            ("0.001x", Some(Speed::Times(0.001))),
            ("1000000x", Some(Speed::Times(1e6))),
            ("max", Some(Speed::Max)),
            ("1000001x", None),
            ("0.0009x", None),
            ("0x", None),
            ("-1x", None),
            ("NaNx", None),
            ("10", None),
            ("", None),
        ] {
            assert_eq!(text.parse::<Speed>().ok(), speed, "{text}");
        }
    }
}
