//! The door that every call of our services comes through: who calls, arrival time, deadline, calls in flight, and the
//! two places where the transport's answer is not the contract's.
//!
//! A message over the size limit is RESOURCE_EXHAUSTED, where the transport says OUT_OF_RANGE. A lookup whose deadline
//! passes before its message has arrived is answered `TIMEOUT`, where the transport would fail the call.
//!
//! A lookup counts as in flight from its head on. One whose message does not come stops to count after a while, or calls
//! that are never finished would shed everybody else's; it counts again should its message come.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::Sleep;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::NamedService;
use tonic::{Code, Status};

use super::Core;
use super::access::{Access, Caller};
use super::metrics::Metrics;
use super::traces::{Traced, Traces};
use crate::lookup::{Call, Stopwatch};
use crate::model::{Timestamp, duration_ns};

const GRPC_TIMEOUT_HEADER: &str = "grpc-timeout";
const LOOKUP_PATH: &str = "/inferencecache.v1alpha1.InferenceCache/LookupRoute";
const EXPLAIN_PATH: &str = "/icache.v1alpha1.Explain/ExplainRoute";

/// How a call arrived; an extension of its request.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    at: Instant,
    deadline: Option<Duration>,
    in_flight: u64,
    ticket: Option<Arc<Ticket>>,
    sees_all: bool,
    traced: Option<Traced>,
}

impl Arrival {
    /// The arrival of `request`, whose message is there; now, where it did not come through a door.
    ///
    /// The call is in flight as long as this is kept.
    pub(super) fn of<T>(request: &tonic::Request<T>) -> Self {
        let Some(arrival) = request.extensions().get::<Self>() else {
            return Self {
                at: Instant::now(),
                deadline: None,
                in_flight: 1,
                ticket: None,
                sees_all: false,
                traced: None,
            };
        };
        let mut arrival = arrival.clone();
        if let Some(count) = arrival.ticket.as_ref().and_then(|ticket| ticket.take_message()) {
            arrival.in_flight = count;
        }
        arrival
    }

    /// The arrival, now, of a lookup on the stream that arrived as this: in flight as long as it is kept, late when
    /// its own `budget` or the stream's deadline has passed.
    pub(super) fn of_message(&self, in_flight: &Arc<AtomicU64>, budget: Option<Duration>) -> Self {
        let (ticket, count) = Ticket::enter(in_flight);
        let left = [budget, self.time_left()];
        Self {
            at: Instant::now(),
            deadline: left.into_iter().flatten().min(),
            in_flight: count,
            ticket: Some(Arc::new(ticket)),
            sees_all: self.sees_all,
            traced: self.traced.as_ref().map(Traced::of_message),
        }
    }

    /// The call's trace, where calls are traced.
    pub(super) fn traced(&self) -> Option<&Traced> {
        self.traced.as_ref()
    }

    /// Time until the caller's deadline, where there is one.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_sub(self.elapsed()))
    }

    /// Time since the arrival.
    pub(super) fn elapsed(&self) -> Duration {
        self.at.elapsed()
    }

    /// Whether the caller's deadline has passed.
    pub(super) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| self.elapsed() >= deadline)
    }

    /// What the decision needs of it.
    pub(super) fn call(&self) -> Call {
        Call {
            now: Timestamp::now(),
            deadline_ns: self.deadline.map(duration_ns),
            in_flight: self.in_flight,
            watch: Stopwatch::Since(self.at),
            sees_all: self.sees_all,
        }
    }
}

/// A service behind the door.
#[derive(Clone)]
pub(super) struct Door<S> {
    inner: S,
    in_flight: Arc<AtomicU64>,
    message_wait: Duration,
    access: Access,
    metrics: Arc<Metrics>,
    traces: Option<Arc<Traces>>,
}

impl<S> Door<S> {
    /// The core counts the lookups that have arrived and are not answered; one whose message has not come within
    /// `message_wait` is not counted until it comes.
    pub(super) fn new(inner: S, core: &Core, message_wait: Duration) -> Self {
        let (in_flight, access) = (Arc::clone(&core.in_flight), core.access.clone());
        let (metrics, traces) = (Arc::clone(&core.metrics), core.traces.clone());
        Self { inner, in_flight, message_wait, access, metrics, traces }
    }
}

impl<S: NamedService> NamedService for Door<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for Door<S>
where
    S: Service<
            http::Request<Body>,
            Response = http::Response<Body>,
            Error = Infallible,
            Future = BoxFuture<http::Response<Body>, Infallible>,
        > + Clone
        + Unpin,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answering<S>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Answering<S> {
        let at = Instant::now();
        let path = request.uri().path();
        let metrics = Arc::clone(&self.metrics);
        let traced = self.traces.as_ref().map(|traces| traces.of_call(path, request.headers()));
        let caller = match self.access.admit(path, request.headers(), request.extensions()) {
            Ok(caller) => caller,
            Err(refused) => {
                let inner: BoxFuture<_, _> = Box::pin(std::future::ready(Ok(refused.into_http())));
                return Answering { inner, late: None, waiting: None, metrics, traced };
            }
        };
        // An explanation costs what a lookup costs and more, so it counts as one.
        let entered = (path == LOOKUP_PATH || path == EXPLAIN_PATH).then(|| Ticket::enter(&self.in_flight));
        let (ticket, in_flight) =
            entered.map_or((None, 1), |(ticket, count)| (Some(Arc::new(ticket)), count));
        let arrival = Arrival {
            at,
            deadline: request.headers().get(GRPC_TIMEOUT_HEADER).and_then(parse_timeout),
            in_flight,
            ticket: ticket.clone(),
            sees_all: caller.sees_all(),
            traced: traced.clone(),
        };
        let until = arrival.deadline.filter(|_| ticket.is_some()).and_then(|span| at.checked_add(span));
        request.extensions_mut().insert(arrival);
        request.extensions_mut().insert::<Caller>(caller);
        let late = until.map(|until| Late {
            until,
            sleep: Box::pin(tokio::time::sleep_until(until.into())),
            service: self.inner.clone(),
            request: without_message(&request),
        });
        let waiting = ticket.map(|ticket| Waiting { ticket, span: self.message_wait, timer: None });
        Answering { inner: self.inner.call(request), late, waiting, metrics, traced }
    }
}

/// One lookup on its way, in flight until dropped.
#[derive(Debug)]
struct Ticket {
    counter: Arc<AtomicU64>,
    has_message: AtomicBool,
    is_counted: AtomicBool,
}

impl Ticket {
    /// The ticket, and how many are in flight with it.
    fn enter(counter: &Arc<AtomicU64>) -> (Self, u64) {
        let count = counter.fetch_add(1, Ordering::Relaxed) + 1;
        let (has_message, is_counted) = (AtomicBool::new(false), AtomicBool::new(true));
        (Self { counter: Arc::clone(counter), has_message, is_counted }, count)
    }

    /// The message has come. How many are in flight, where the call was not counted any more and is so again.
    fn take_message(&self) -> Option<u64> {
        self.has_message.store(true, Ordering::Relaxed);
        let was_counted = self.is_counted.swap(true, Ordering::Relaxed);
        (!was_counted).then(|| self.counter.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Counts no more until the message comes, where it has not.
    fn give_up_waiting(&self) {
        if !self.has_message.load(Ordering::Relaxed) {
            self.leave();
        }
    }

    fn leave(&self) {
        if self.is_counted.swap(false, Ordering::Relaxed) {
            self.counter.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.leave();
    }
}

/// A ticket whose message has not come yet.
struct Waiting {
    ticket: Arc<Ticket>,
    span: Duration,
    /// Made when the call has to wait for something, which most do not.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Waiting {
    /// Whether it is over.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let span = self.span;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(span)));
        timer.as_mut().poll(context).map(|()| self.ticket.give_up_waiting())
    }
}

/// What answers a lookup whose message has not arrived in time: the same service, given a message with nothing in it,
/// so that the decision says `TIMEOUT` and the call is counted like every other.
struct Late<S> {
    until: Instant,
    sleep: Pin<Box<Sleep>>,
    service: S,
    request: http::Request<Body>,
}

/// The same call with an empty message: not compressed, of length 0.
fn without_message(request: &http::Request<Body>) -> http::Request<Body> {
    let mut copy = http::Request::new(Body::new(axum::body::Body::from(vec![0_u8; 5])));
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.version_mut() = request.version();
    *copy.headers_mut() = request.headers().clone();
    *copy.extensions_mut() = request.extensions().clone();
    copy
}

/// A call on its way to an answer.
pub(super) struct Answering<S> {
    inner: BoxFuture<http::Response<Body>, Infallible>,
    late: Option<Late<S>>,
    waiting: Option<Waiting>,
    metrics: Arc<Metrics>,
    traced: Option<Traced>,
}

impl<S> Future for Answering<S>
where
    S: Service<http::Request<Body>, Future = BoxFuture<http::Response<Body>, Infallible>> + Unpin,
{
    type Output = Result<http::Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Poll::Ready(answer) = this.inner.as_mut().poll(context) {
            return Poll::Ready(answer.map(|answer| this.answer(answer)));
        }
        if this.waiting.as_mut().is_some_and(|waiting| waiting.poll(context).is_ready()) {
            this.waiting = None;
        }
        let Some(late) = &mut this.late else { return Poll::Pending };
        // The clock counts, not the timer alone: the transport's own timer must never be the first to notice.
        if late.sleep.as_mut().poll(context).is_pending() && Instant::now() < late.until {
            return Poll::Pending;
        }
        let Some(mut late) = this.late.take() else { return Poll::Pending };
        this.inner = late.service.call(late.request);
        this.inner.as_mut().poll(context).map(|answer| answer.map(|answer| this.answer(answer)))
    }
}

impl<S> Answering<S> {
    /// The contract's status for a message over the limit. No handler of ours says OUT_OF_RANGE itself.
    fn answer(&self, mut response: http::Response<Body>) -> http::Response<Body> {
        // What succeeds says so behind its message.
        let mut code = Status::from_header_map(response.headers()).map_or(Code::Ok, |status| status.code());
        if code == Code::OutOfRange {
            self.metrics.observe_large_message();
            code = Code::ResourceExhausted;
            response.headers_mut().insert(Status::GRPC_STATUS, http::HeaderValue::from(code as i32));
        }
        if let Some(traced) = &self.traced {
            traced.answer(code);
        }
        response
    }
}

/// The caller's deadline: at most 8 digits and a unit, as the gRPC protocol has it. What is malformed is no deadline.
fn parse_timeout(header: &http::HeaderValue) -> Option<Duration> {
    let text = header.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let amount: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(amount * 3_600)),
        "M" => Some(Duration::from_secs(amount * 60)),
        "S" => Some(Duration::from_secs(amount)),
        "m" => Some(Duration::from_millis(amount)),
        "u" => Some(Duration::from_micros(amount)),
        "n" => Some(Duration::from_nanos(amount)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_read_as_the_protocol_writes_them() {
        for (text, expected) in [
            ("0n", Some(Duration::ZERO)),
            ("7u", Some(Duration::from_micros(7))),
            ("50m", Some(Duration::from_millis(50))),
            ("99999999S", Some(Duration::from_secs(99_999_999))),
            ("2M", Some(Duration::from_secs(120))),
            ("99999999H", Some(Duration::from_secs(99_999_999 * 3_600))),
            ("999999999n", None),
            ("", None),
            ("n", None),
            ("1", None),
            ("-1S", None),
            ("+1S", None),
            ("1 S", None),
            ("1s", None),
        ] {
            assert_eq!(parse_timeout(&http::HeaderValue::from_static(text)), expected, "{text:?}");
        }
        assert_eq!(parse_timeout(&http::HeaderValue::from_bytes(b"1\xff").unwrap()), None);
    }

    #[test]
    fn a_call_counts_from_its_head_and_again_from_a_late_message() {
        let counter = Arc::new(AtomicU64::new(0));
        let in_flight = || counter.load(Ordering::Relaxed);
        let (prompt, count) = Ticket::enter(&counter);
        assert_eq!((count, in_flight()), (1, 1));
        assert_eq!(prompt.take_message(), None);
        prompt.give_up_waiting();
        assert_eq!(in_flight(), 1, "its message has come");

        let (late, count) = Ticket::enter(&counter);
        assert_eq!((count, in_flight()), (2, 2));
        late.give_up_waiting();
        late.give_up_waiting();
        assert_eq!(in_flight(), 1);
        assert_eq!(late.take_message(), Some(2));
        assert_eq!((late.take_message(), in_flight()), (None, 2));

        let (never, _) = Ticket::enter(&counter);
        never.give_up_waiting();
        drop((prompt, late, never));
        assert_eq!(in_flight(), 0);
    }
}
