//! Live feeds for observers: events and metrics. What waits for one of them has a bound: an observer that reads too
//! slowly misses some, and nobody waits for it. How much it missed is in a metric while the feed runs, and in a trailer
//! when it ends; the messages of the shared contract have no place for it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::RwLock;
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, timeout};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Status};

use super::access::Caller;
use super::metrics::{METRICS, Metric, MetricInfo, Metrics, Sample, Sizes};
use super::queue::{Bounds, Next, Queue};
use super::series::OTHER;
use super::{Core, Phase, draining};
use crate::contract::wire::inferencecache::v1alpha1 as wire;
use crate::contract::{decode_event, decode_update};
use crate::index::{Applied, DropCause, Index};
use crate::model::{EventKind, Timestamp};

/// Events that wait for one observer at most, and their bytes.
const QUEUE: Bounds = Bounds { items: 1_024, bytes: 4 << 20, ends_at_gap: false };

/// Time between two rounds of the metrics feed.
const METRICS_EVERY: Duration = Duration::from_secs(5);

/// Trailer that says how many items an observer missed.
pub(super) const MISSED_TRAILER: &str = "icache-missed";

/// Time that what waits, and then the trailer, have to leave when the server stops.
const FAREWELL: Duration = Duration::from_millis(200);

/// A feed as an observer gets it.
pub(super) type Feed<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Where events come from.
pub(super) struct Feeds {
    subscribers: RwLock<Vec<Arc<Subscriber>>>,
    /// How many those are, for whoever has an event: mostly none.
    count: AtomicUsize,
    phase: watch::Receiver<Phase>,
    metrics: Arc<Metrics>,
}

struct Subscriber {
    wanted: Wanted,
    /// What it may not see does not even count as missed.
    caller: Caller,
    queue: Queue<Arc<wire::CacheEvent>>,
}

impl Subscriber {
    fn takes(&self, model: &str, tenant: &str, kind: EventKind) -> bool {
        self.wanted.takes(model, tenant, kind) && self.caller.sees(tenant)
    }
}

/// A subscriber that is told of events until this is dropped.
struct Subscription {
    feeds: Arc<Feeds>,
    subscriber: Arc<Subscriber>,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut subscribers = self.feeds.subscribers.write();
        subscribers.retain(|other| !Arc::ptr_eq(other, &self.subscriber));
        self.feeds.count.store(subscribers.len(), Ordering::Relaxed);
    }
}

/// Label of the feed of events in the metrics.
const EVENTS: &str = "events";
/// Label of the feed of metrics in the metrics.
const METRIC_ROUNDS: &str = "metrics";

impl Feeds {
    pub(super) fn new(phase: watch::Receiver<Phase>, metrics: Arc<Metrics>) -> Self {
        Self { subscribers: RwLock::default(), count: AtomicUsize::new(0), phase, metrics }
    }

    fn is_heard(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Offers an event to all observers.
    pub(super) fn publish(&self, mut event: wire::CacheEvent) {
        if !self.is_heard() {
            return;
        }
        // A hash is a slice of its message, which may be larger than anything that an event can hold.
        event.prefix_hash = Bytes::copy_from_slice(&event.prefix_hash);
        let kind = kind_of(event.r#type);
        let event = Arc::new(event);
        for subscriber in self.subscribers.read().iter() {
            if subscriber.takes(&event.model_id, &event.tenant_id, kind) {
                self.offer(subscriber, &event);
            }
        }
    }

    fn offer(&self, subscriber: &Subscriber, event: &Arc<wire::CacheEvent>) {
        let bytes = prost::Message::encoded_len(&**event);
        if !subscriber.queue.push(Arc::clone(event), bytes) {
            self.metrics.observe_missed(EVENTS, 1);
        }
    }

    /// Offers an update that was applied: one event for each block that it brought or refreshed.
    pub(super) fn publish_added(
        &self,
        message: &wire::CacheStateUpdate,
        applied: &Applied,
        index: &Index,
        now: Timestamp,
    ) {
        if !self.is_heard() || applied.blocks == 0 || applied.dropped.contains(&DropCause::TooManyReplicas) {
            return;
        }
        let subscribers = self.subscribers.read();
        let (model, tenant) = (&*message.model_id, &*message.tenant_id);
        let takes = |subscriber: &&Arc<Subscriber>| subscriber.takes(model, tenant, EventKind::PrefixAdded);
        let takers: Vec<_> = subscribers.iter().filter(takes).collect();
        if takers.is_empty() {
            return;
        }
        let update = decode_update(message);
        let mut left = applied.blocks;
        for (entry, taken) in message.prefixes.iter().zip(&update.prefixes) {
            if !index.takes(taken) {
                continue;
            }
            let single = Some(&entry.prefix_hash).filter(|hash| !hash.is_empty());
            for hash in entry.block_hashes.iter().chain(single) {
                if left == 0 {
                    return;
                }
                if takers.iter().all(|taker| taker.queue.is_full()) {
                    // Nobody reads as fast as blocks come; what is left is counted, and not made.
                    takers.iter().for_each(|taker| taker.queue.miss(left));
                    return self.metrics.observe_missed(EVENTS, left * takers.len() as u64);
                }
                left -= 1;
                let event = Arc::new(added(message, entry, hash, now));
                takers.iter().for_each(|taker| self.offer(taker, &event));
            }
        }
    }

    /// The events that `wanted` asks for and `caller` may see, from now until the server drains. No event has an id of more
    /// than `id_bytes`.
    pub(super) fn events(
        self: &Arc<Self>,
        wanted: &wire::StreamEventsRequest,
        id_bytes: usize,
        caller: Caller,
    ) -> Feed<wire::CacheEvent> {
        let subscription = self.subscribe(Wanted::new(wanted, id_bytes), caller);
        let (phase, metrics) = (self.phase.clone(), Arc::clone(&self.metrics));
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            let queue = &subscription.subscriber.queue;
            let mut in_hand = 0;
            loop {
                let event = tokio::select! {
                    event = queue.next() => event,
                    () = sender.closed() => return,
                    () = draining(phase.clone()) => {
                        deliver_rest(&sender, queue).await;
                        break;
                    }
                };
                let Next::Item(event) = event else { break };
                if !deliver(&sender, wire::CacheEvent::clone(&event), &phase).await {
                    in_hand = 1;
                    break;
                }
            }
            // What the end of the server keeps back was not sent either.
            let unsent = queue.waiting() + in_hand;
            metrics.observe_missed(EVENTS, unsent);
            farewell(&sender, Status::new(Code::Ok, ""), queue.missed() + unsent).await;
        });
        Box::pin(ReceiverStream::new(receiver))
    }

    fn subscribe(self: &Arc<Self>, wanted: Wanted, caller: Caller) -> Subscription {
        let subscriber = Arc::new(Subscriber { wanted, caller, queue: Queue::new(QUEUE) });
        let mut subscribers = self.subscribers.write();
        subscribers.push(Arc::clone(&subscriber));
        self.count.store(subscribers.len(), Ordering::Relaxed);
        Subscription { feeds: Arc::clone(self), subscriber }
    }
}

/// A block that a report brought.
fn added(
    message: &wire::CacheStateUpdate,
    entry: &wire::PrefixEntry,
    hash: &Bytes,
    now: Timestamp,
) -> wire::CacheEvent {
    let adapter = if entry.adapter_id.is_empty() { &message.adapter_id } else { &entry.adapter_id };
    wire::CacheEvent {
        r#type: wire::cache_event::Type::PrefixAdded as i32,
        replica_id: message.replica_id.clone(),
        model_id: message.model_id.clone(),
        tenant_id: message.tenant_id.clone(),
        prefix_hash: Bytes::copy_from_slice(hash),
        timestamp_us: if message.timestamp_us == 0 { now.as_us() } else { message.timestamp_us },
        adapter_id: adapter.clone(),
    }
}

/// Hands an item to the observer; whether the feed goes on. One that does not read must not hold up the server's stop.
pub(super) async fn deliver<T>(
    sender: &mpsc::Sender<Result<T, Status>>,
    item: T,
    phase: &watch::Receiver<Phase>,
) -> bool {
    tokio::select! {
        sent = sender.send(Ok(item)) => sent.is_ok(),
        () = draining(phase.clone()) => false,
    }
}

/// Hands the observer what waits while the server stops, as far as it reads on.
pub(super) async fn deliver_rest<T: Clone>(sender: &mpsc::Sender<Result<T, Status>>, queue: &Queue<Arc<T>>) {
    let rest = async {
        while let Ok(room) = sender.reserve().await {
            // Only what can be sent is taken, so that what stays is counted.
            let Some(Next::Item(item)) = queue.try_next() else { return };
            room.send(Ok(T::clone(&item)));
        }
    };
    // What does not get through in time is missed.
    let _ = timeout(FAREWELL, rest).await;
}

/// Ends a feed with `status`, and with how many items its observer missed. One that does not read goes without.
pub(super) async fn farewell<T>(sender: &mpsc::Sender<Result<T, Status>>, status: Status, missed: u64) {
    let mut trailers = MetadataMap::new();
    trailers.insert(MISSED_TRAILER, MetadataValue::from(missed));
    let status = Status::with_metadata(status.code(), status.message(), trailers);
    // An error means that it does not read, or is gone.
    let _ = timeout(FAREWELL, sender.send(Err(status))).await;
}

/// What an observer asked for, in as much memory as it takes to tell events by it: it is kept as long as the feed.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Wanted {
    /// An id that no event can have.
    Nothing,
    /// Empty is everything.
    Only { model: Box<str>, tenant: Box<str>, kinds: Vec<EventKind> },
}

impl Wanted {
    fn new(asked: &wire::StreamEventsRequest, id_bytes: usize) -> Self {
        let (model, tenant) = (asked.model_id.as_str(), asked.tenant_id.as_str());
        if model.len() > id_bytes || tenant.len() > id_bytes {
            return Self::Nothing;
        }
        let mut kinds = Vec::new();
        for kind in asked.types.iter().copied().map(kind_of) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        Self::Only { model: Box::from(model), tenant: Box::from(tenant), kinds }
    }

    fn takes(&self, of_model: &str, of_tenant: &str, kind: EventKind) -> bool {
        let Self::Only { model, tenant, kinds } = self else { return false };
        (model.is_empty() || **model == *of_model)
            && (tenant.is_empty() || **tenant == *of_tenant)
            && (kinds.is_empty() || kinds.contains(&kind))
    }
}

/// All numbers without a name are one kind.
fn kind_of(number: i32) -> EventKind {
    decode_event(&wire::CacheEvent { r#type: number, ..Default::default() }).kind
}

/// The names of `asked` that are names of metrics, each once; none where all metrics are asked for.
fn known_metrics(asked: &[String]) -> Option<Vec<&'static str>> {
    let is_asked = |info: &&MetricInfo| asked.iter().any(|name| name == info.name);
    (!asked.is_empty()).then(|| METRICS.iter().filter(is_asked).map(|info| info.name).collect())
}

/// Metrics that say nothing of anybody's state.
const OPEN_METRICS: [Metric; 2] = [Metric::ServerUp, Metric::BuildInfo];

/// Whether a caller may see a sample: one that may not name every tenant sees those of its own, since the others count
/// what all tenants do.
fn may_see(caller: &Caller, sample: &Sample) -> bool {
    if caller.sees_all() || OPEN_METRICS.iter().any(|metric| metric.info().name == sample.name) {
        return true;
    }
    let tenant = sample.labels.iter().find(|(name, _)| name == "tenant_id");
    tenant.is_some_and(|(_, tenant)| tenant != OTHER && caller.sees(tenant))
}

/// All samples of the metrics that `wanted` names and `caller` may see, now and every few seconds until the server drains.
/// An observer that is still busy with a round when the next is due misses that one: its values are in the one after it.
pub(super) fn metrics(
    core: &Arc<Core>,
    wanted: &wire::StreamMetricsRequest,
    caller: Caller,
) -> Feed<wire::Metric> {
    let core = Arc::clone(core);
    let wanted = known_metrics(&wanted.names);
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let mut rounds = tokio::time::interval(METRICS_EVERY);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let (mut due, mut missed) = (None, 0);
        loop {
            let at = tokio::select! {
                at = rounds.tick() => at,
                () = sender.closed() => return,
                () = draining(core.phase.clone()) => break,
            };
            let skipped = due.map_or(0, |due| rounds_between(due, at));
            missed += skipped;
            core.metrics.observe_missed(METRIC_ROUNDS, skipped);
            due = Some(at + METRICS_EVERY);
            if !send_round(&core, wanted.as_deref(), &caller, &sender).await {
                break;
            }
        }
        farewell(&sender, Status::new(Code::Ok, ""), missed).await;
    });
    Box::pin(ReceiverStream::new(receiver))
}

/// Whole rounds from when one was due until the one at `at`.
fn rounds_between(due: tokio::time::Instant, at: tokio::time::Instant) -> u64 {
    // A timer may be late by some milliseconds; half a round is nobody's lateness but the observer's.
    let late = at.saturating_duration_since(due) + METRICS_EVERY / 2;
    (late.as_nanos() / METRICS_EVERY.as_nanos()) as u64
}

async fn send_round(
    core: &Core,
    wanted: Option<&[&str]>,
    caller: &Caller,
    sender: &mpsc::Sender<Result<wire::Metric, Status>>,
) -> bool {
    let timestamp_us = Timestamp::now().as_us();
    for sample in core.metrics.samples(&Sizes::of(&core.router), wanted) {
        if !may_see(caller, &sample) {
            continue;
        }
        let metric = wire::Metric {
            name: sample.name,
            r#type: sample.kind.to_owned(),
            labels: sample.labels.into_iter().collect(),
            value: sample.value,
            timestamp_us,
        };
        if !deliver(sender, metric, &core.phase).await {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_wish_is_bounded() {
        let long = "x".repeat(513);
        let asked = |model: &str, types: Vec<i32>| wire::StreamEventsRequest {
            model_id: model.to_owned(),
            types,
            ..Default::default()
        };
        assert_eq!(Wanted::new(&asked(&long, vec![]), 512), Wanted::Nothing);
        assert_ne!(Wanted::new(&asked(&long[..512], vec![]), 512), Wanted::Nothing);
        let Wanted::Only { kinds, .. } = Wanted::new(&asked("m", (-100..100_000).collect()), 512) else {
            panic!("events can be of this model");
        };
        assert_eq!(kinds.len(), 5);
        let names =
            vec!["inferencecache_shed_total".to_owned(), long, "inferencecache_shed_total".to_owned()];
        assert_eq!(known_metrics(&names), Some(vec!["inferencecache_shed_total"]));
        assert_eq!(known_metrics(&names[1..2]), Some(vec![]), "nothing, and not everything");
        assert_eq!(known_metrics(&[]), None);
    }

    #[test]
    fn rounds_that_were_due_meanwhile_are_missed() {
        let due = tokio::time::Instant::now();
        for (late_ms, missed) in [(0, 0), (20, 0), (2_499, 0), (5_000, 1), (10_010, 2)] {
            assert_eq!(rounds_between(due, due + Duration::from_millis(late_ms)), missed, "{late_ms}");
        }
    }

    #[tokio::test]
    async fn an_event_in_the_queue_does_not_keep_its_message() {
        let message = Bytes::from(vec![7; 1 << 20]);
        let feeds = Arc::new(Feeds::new(watch::channel(Phase::Serving).1, Arc::new(Metrics::new(1))));
        let observer =
            feeds.subscribe(Wanted::new(&wire::StreamEventsRequest::default(), 512), Caller::anyone());
        feeds.publish(wire::CacheEvent { prefix_hash: message.slice(..8), ..Default::default() });
        assert!(message.is_unique(), "the queue holds the message");
        let Next::Item(event) = observer.subscriber.queue.next().await else { panic!("it is there") };
        assert_eq!(event.prefix_hash, message.slice(..8));
        drop(observer);
        assert!(!feeds.is_heard());
    }
}
