//! A capture as what a running server is to be sent, and what came back.
//!
//! Engine batches go through the code that maps them in process; reports and events keep their distance from the record
//! that they stand in, so that what was fresh when it was recorded is fresh when it is sent.

use std::collections::BTreeMap;
use std::time::Duration;

use super::check::{Mismatch, compare_untimed, expectation};
use super::engine::Engines;
use super::report::{Checked, Pace, ReplayReport};
use crate::capture::{Body, Lookup, Notes, Record};
use crate::contract::{
    CacheEvent, CacheStateUpdate, LookupRouteResponse, PrefixEntry, decode_answer, decode_event,
    decode_request, encode_event, encode_update,
};
use crate::decision::Reason;
use crate::engine::Fed;
use crate::model::Timestamp;

/// One call.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// An update of ReportCacheState.
    Report(CacheStateUpdate),
    /// An event of PublishEvent.
    Event(CacheEvent),
    /// A LookupRoute.
    Lookup(Box<Question>),
}

/// A lookup on its way.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// What is asked, and what is expected of it.
    pub lookup: Lookup,
    at: Timestamp,
    place: (String, u64),
}

/// Captures on their way to a server.
#[derive(Debug)]
pub struct Sending {
    name: String,
    check: bool,
    mismatches: usize,
    engines: Engines,
    report: ReplayReport,
    left_out: BTreeMap<&'static str, u64>,
    unknown_reasons: u64,
}

impl Sending {
    /// Nothing sent yet. `check` compares answers; of those that differ, the first `mismatches` are kept whole.
    pub fn new(check: bool, mismatches: usize) -> Self {
        Self {
            name: String::new(),
            check,
            mismatches,
            engines: Engines::default(),
            report: ReplayReport::default(),
            left_out: BTreeMap::new(),
            unknown_reasons: 0,
        }
    }

    /// The capture called `name` begins.
    pub fn next_file(&mut self, name: &str) {
        self.name = name.to_owned();
        self.report.files += 1;
    }

    /// What the record comes to, sent at `now`, in order.
    pub fn messages(&mut self, record: Record, now: Timestamp) -> Vec<Message> {
        self.report.count_record(&record);
        let shift_us = record.at.age_ns(now) / 1_000;
        let mut messages = Vec::new();
        let line = record.line;
        match record.body {
            Body::KvBatch(batch) => {
                let sink = &mut |fed: Fed<'_>| {
                    messages.push(match fed {
                        Fed::Update(update) => Message::Report(encode_update(&update)),
                        Fed::Event(event) => Message::Event(encode_event(&event)),
                    });
                };
                if let Err(error) = self.engines.apply(&batch, record.at, sink) {
                    self.report.warn(format!("{}:{line}: {error}", self.name));
                }
            }
            Body::Report(update) => messages.push(Message::Report(moved(update, shift_us))),
            Body::Event(mut event) => {
                event.timestamp_us = moved_time(event.timestamp_us, shift_us);
                messages.push(Message::Event(event));
            }
            Body::State(state) => {
                messages
                    .extend(state.updates.into_iter().map(|update| Message::Report(moved(update, shift_us))));
                // No message says these; a server gives credits for what is looked up, and orders by itself.
                let unsaid =
                    [("credits", !state.credits.is_empty()), ("keys", !state.keys.is_empty())].into_iter();
                let unsaid = unsaid.filter(|(_, is_there)| *is_there).map(|(part, _)| part);
                for part in unsaid.chain(state.others.keys().map(String::as_str)) {
                    self.report.warn(format!("{}:{line}: passed over of `state`: `{part}`", self.name));
                }
            }
            Body::Lookup(lookup) => {
                let place = (self.name.clone(), line);
                messages.push(Message::Lookup(Box::new(Question { lookup: *lookup, at: record.at, place })));
            }
            Body::Policy(_) => *self.left_out.entry("policy").or_default() += 1,
            Body::Config(_) => *self.left_out.entry("config").or_default() += 1,
            Body::Sweep => *self.left_out.entry("sweep").or_default() += 1,
        }
        self.count(&messages, record.at);
        messages
    }

    fn count(&mut self, messages: &[Message], at: Timestamp) {
        let mut blocks = 0;
        for message in messages {
            match message {
                Message::Report(update) => {
                    let of = |entry: &PrefixEntry| entry.block_hashes.len().max(1) as u64;
                    blocks += update.prefixes.iter().map(of).sum::<u64>();
                }
                Message::Event(event) => {
                    *self.report.events.entry(decode_event(event).kind.label()).or_default() += 1;
                }
                Message::Lookup(_) => {}
            }
        }
        self.report.blocks += blocks;
        self.report.timeline.bucket(at).blocks += blocks;
    }

    /// The server answered `question` after `took`.
    pub fn answered(&mut self, question: &Question, answer: LookupRouteResponse, took: Duration) {
        let request = decode_request(&question.lookup.request);
        let got = decode_answer(answer);
        let reason = Reason::parse(&got.reason_code);
        self.unknown_reasons += u64::from(reason.is_none());
        let first = got.replicas.first().map(|replica| replica.matched_tokens);
        self.report.timings.get_or_insert_default().add(took);
        self.report.count_answer(question.at, &request, reason, first);
        if !self.check {
            return;
        }
        let expect = question.lookup.expect.as_ref();
        let recorded = question.lookup.answer.clone().map(decode_answer);
        let checked = match compare_untimed(expect, recorded.as_ref(), &got) {
            // What was asked for in time elsewhere may find this server busy.
            Checked::Differs(_) if reason == Some(Reason::Timeout) => Checked::NotComparable,
            checked => checked,
        };
        self.report.count_checked(question.at, checked, self.mismatches, |difference| {
            let expected = expectation(expect, recorded.as_ref());
            Mismatch::new(question.place.clone(), &request, None, difference, expected, &got)
        });
    }

    /// The server did not take what it was sent.
    pub fn refused(&mut self, reason: &str) {
        self.report.warn(format!("the server did not accept what it was sent: `{reason}`"));
    }

    /// Takes over what a reader passed over.
    pub fn note(&mut self, notes: &Notes) {
        self.report.note(notes);
    }

    /// What came of it.
    pub fn finish(mut self, pace: Pace) -> ReplayReport {
        self.engines.add_to(&mut self.report);
        for (kind, count) in &self.left_out {
            let why = match *kind {
                "sweep" => "the server sweeps by its own clock",
                "policy" => "the server has policies of its own",
                _ => "the server has settings of its own",
            };
            let records = if *count == 1 { "record" } else { "records" };
            self.report.warn(format!("passed over {count} {kind} {records}: {why}"));
        }
        if self.unknown_reasons > 0 {
            let count = self.unknown_reasons;
            self.report.warn(format!("{count} answers have reason codes that this icache does not know"));
        }
        self.report.pace = Some(pace);
        self.report
    }
}

fn moved(update: CacheStateUpdate, shift_us: i64) -> CacheStateUpdate {
    CacheStateUpdate { timestamp_us: moved_time(update.timestamp_us, shift_us), ..update }
}

/// A time of the wire moved; 0, which is none, stays.
fn moved_time(us: i64, shift_us: i64) -> i64 {
    if us == 0 { 0 } else { us.saturating_add(shift_us) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(at_s: i64, own_us: i64) -> Record {
        let update = CacheStateUpdate { timestamp_us: own_us, ..CacheStateUpdate::default() };
        Record { line: 2, at: Timestamp::from_us(at_s * 1_000_000), body: Body::Report(update) }
    }

    #[test]
    fn a_time_of_its_own_keeps_its_distance_and_none_stays_none() {
        let mut sending = Sending::new(false, 0);
        for (own, sent) in [(0, 0), (99_500_000, 999_500_000), (100_250_000, 1_000_250_000)] {
            let messages = sending.messages(report(100, own), Timestamp::from_us(1_000_000_000));
            let [Message::Report(update)] = &messages[..] else { panic!("{messages:?}") };
            assert_eq!(update.timestamp_us, sent);
        }
    }

    #[test]
    fn what_a_server_has_of_its_own_is_passed_over_and_told() {
        let mut sending = Sending::new(false, 0);
        let at = Timestamp::default();
        for body in [Body::Sweep, Body::Policy(String::new()), Body::Policy(String::new())] {
            assert_eq!(sending.messages(Record { line: 2, at, body }, at), []);
        }
        let pace = Pace { speed: None, elapsed: Duration::ZERO, greatest_lag: Duration::ZERO };
        let report = sending.finish(pace);
        assert_eq!(
            report.warnings,
            [
                "passed over 2 policy records: the server has policies of its own",
                "passed over 1 sweep record: the server sweeps by its own clock"
            ]
        );
    }
}
