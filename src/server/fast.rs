//! The `FastLookup` service: many lookups on one stream.
//!
//! A stream is one future. It reads a request only when it has a place for it, so that a caller who does not read the
//! answers is not read either. Small lookups are answered as they are read; large ones are worked on by other threads,
//! and small ones that come behind them do not wait.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Sleep;
use tokio_stream::Stream;
use tonic::{Code, Request, Response, Status, Streaming};

use super::access::Caller;
use super::aside::aside;
use super::door::Arrival;
use super::grpc::{decide, is_small};
use super::metrics::LookupRecord;
use super::{Core, draining};
use crate::contract::wire::icache::v1alpha1::fast_lookup_server::FastLookup;
use crate::contract::wire::icache::v1alpha1::{FastLookupRequest, FastLookupResponse};
use crate::contract::wire::inferencecache::v1alpha1::LookupRouteResponse;
use crate::contract::{decode_fast_request, encode_request};
use crate::decision::Decision;

/// Large lookups of one stream that are worked on at a time; further requests are not read meanwhile.
const MAX_LARGE: usize = 8;

/// Lookups answered in a row before other calls get a turn.
const MAX_IN_A_ROW: usize = 64;

/// The handler.
pub(super) struct Fast {
    core: Arc<Core>,
}

impl Fast {
    pub(super) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }
}

#[tonic::async_trait]
impl FastLookup for Fast {
    type LookupStream = Answers;

    async fn lookup(
        &self,
        request: Request<Streaming<FastLookupRequest>>,
    ) -> Result<Response<Answers>, Status> {
        let (arrival, caller) = (Arrival::of(&request), Caller::of(&request));
        caller.may_name("")?;
        Ok(Response::new(Answers {
            stopping: Box::pin(draining(self.core.phase.clone())),
            core: Arc::clone(&self.core),
            requests: request.into_inner(),
            arrival,
            caller,
            reads: Reads::More,
            large: Vec::new(),
            counts: Vec::new(),
            in_a_row: 0,
        }))
    }
}

/// The answers of one stream, made as they are asked for.
pub(super) struct Answers {
    core: Arc<Core>,
    requests: Streaming<FastLookupRequest>,
    /// That of the stream.
    arrival: Arrival,
    /// Judged anew with each message.
    caller: Caller,
    reads: Reads,
    large: Vec<Large>,
    /// Token counts of the chain at hand; kept for its memory.
    counts: Vec<i32>,
    in_a_row: usize,
    stopping: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Whether requests are still read.
enum Reads {
    More,
    /// No more; the stream ends so once everything is answered.
    Done(Option<Status>),
}

/// A large lookup in work.
struct Large {
    id: u64,
    model: String,
    arrival: Arrival,
    work: Pin<Box<dyn Future<Output = Result<Answered, Status>> + Send>>,
    /// Until when its answer is waited for.
    late: Option<Pin<Box<Sleep>>>,
    /// It was too late. Its place is free when its thread is, or a caller could have any number of threads at work.
    is_answered: bool,
}

type Answered = (Decision, LookupRouteResponse);

impl Stream for Answers {
    type Item = Result<FastLookupResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(item) = this.poll_large(context) {
                return Poll::Ready(Some(item));
            }
            if let Reads::Done(end) = &mut this.reads {
                return match this.large.is_empty() {
                    true => Poll::Ready(end.take().map(Err)),
                    false => Poll::Pending,
                };
            }
            if this.large.len() >= MAX_LARGE {
                return Poll::Pending;
            }
            if this.in_a_row >= MAX_IN_A_ROW {
                this.in_a_row = 0;
                if !this.ends_with_server(context) {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                continue;
            }
            match Pin::new(&mut this.requests).poll_next(context) {
                Poll::Ready(Some(Ok(message))) => {
                    if let Err(status) = this.caller.may_name(&message.tenant_id) {
                        this.reads = Reads::Done(Some(status));
                        continue;
                    }
                    if let Some(response) = this.take(message) {
                        this.in_a_row += 1;
                        return Poll::Ready(Some(Ok(response)));
                    }
                }
                Poll::Ready(Some(Err(status))) => this.reads = Reads::Done(Some(of_contract(status))),
                Poll::Ready(None) => this.reads = Reads::Done(None),
                Poll::Pending => {
                    this.in_a_row = 0;
                    if !this.ends_with_server(context) {
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}

impl Answers {
    /// Whether the server stops, and with it the reading: a stream that goes on would hold up the stop.
    fn ends_with_server(&mut self, context: &mut Context<'_>) -> bool {
        let stops = self.stopping.as_mut().poll(context).is_ready();
        if stops {
            let status =
                Status::unavailable("the server is stopping; lookups without an answer have no hint");
            self.reads = Reads::Done(Some(status));
        }
        stops
    }

    /// Answers a small lookup; sets a large one to work.
    fn take(&mut self, message: FastLookupRequest) -> Option<FastLookupResponse> {
        let budget = (message.budget_us > 0).then(|| Duration::from_micros(message.budget_us));
        let arrival = self.arrival.of_message(&self.core.in_flight, budget);
        let id = message.id;
        let width = usize::try_from(message.hash_width).unwrap_or(usize::MAX).max(1);
        let blocks = (message.block_hashes.len() / width).max(message.block_token_counts.len());
        if is_small(blocks, message.token_ids.len()) {
            let mut record = LookupRecord::new(&self.core.metrics, &message.model_id, &arrival);
            let (decision, answer) = look_up(&self.core, &message, &mut self.counts, &arrival);
            record.decide(&decision);
            return Some(FastLookupResponse { id, answer: Some(answer) });
        }
        let (core, kept) = (Arc::clone(&self.core), arrival.clone());
        let model = message.model_id.clone();
        let work = move || look_up(&core, &message, &mut Vec::new(), &kept);
        self.large.push(Large {
            id,
            model,
            late: arrival.time_left().map(|left| Box::pin(tokio::time::sleep(left))),
            arrival,
            work: Box::pin(aside("a lookup", work)),
            is_answered: false,
        });
        None
    }

    /// The next answer of a large lookup: its own, or that it is late.
    fn poll_large(&mut self, context: &mut Context<'_>) -> Option<Result<FastLookupResponse, Status>> {
        let mut at = 0;
        while let Some(large) = self.large.get_mut(at) {
            let looked_up = match large.work.as_mut().poll(context) {
                Poll::Ready(looked_up) => {
                    let large = self.large.swap_remove(at);
                    if large.is_answered {
                        continue;
                    }
                    looked_up.map(|answered| (large, answered))
                }
                Poll::Pending => {
                    at += 1;
                    let is_late =
                        large.late.as_mut().is_some_and(|late| late.as_mut().poll(context).is_ready());
                    if !is_late {
                        continue;
                    }
                    large.late = None;
                    large.is_answered = true;
                    // A message with nothing in it: what the decision says of it is that it is late.
                    let late =
                        look_up(&self.core, &FastLookupRequest::default(), &mut self.counts, &large.arrival);
                    return Some(Ok(counted(&self.core, large.id, &large.model, &large.arrival, late)));
                }
            };
            return Some(looked_up.map(|(large, answered)| {
                counted(&self.core, large.id, &large.model, &large.arrival, answered)
            }));
        }
        None
    }
}

/// The response of a large lookup, entered in the metrics.
fn counted(core: &Core, id: u64, model: &str, arrival: &Arrival, answered: Answered) -> FastLookupResponse {
    let (decision, answer) = answered;
    LookupRecord::new(&core.metrics, model, arrival).decide(&decision);
    FastLookupResponse { id, answer: Some(answer) }
}

fn look_up(core: &Core, message: &FastLookupRequest, counts: &mut Vec<i32>, arrival: &Arrival) -> Answered {
    // One over the limit is enough to be over it.
    let most_counts = core.router.limits().request_blocks.saturating_add(1);
    let lookup = decode_fast_request(message, counts, most_counts);
    decide(core, &lookup, arrival, || encode_request(&lookup))
}

/// The contract's status for a message over the size limit.
fn of_contract(status: Status) -> Status {
    match status.code() {
        Code::OutOfRange => Status::resource_exhausted(status.message()),
        _ => status,
    }
}
