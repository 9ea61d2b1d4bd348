//! Live feeds for observers. Events wait in one queue with a bound: an observer that reads too slowly misses some, and
//! nobody waits for it.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, watch};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use super::access::Caller;
use super::metrics::{METRICS, Metric, MetricInfo, Sample};
use super::series::OTHER;
use super::{Core, Phase, draining};
use crate::contract::decode_event;
use crate::contract::wire::inferencecache::v1alpha1 as wire;
use crate::model::{EventKind, Timestamp};

/// Events that wait for the slowest observer at most.
const QUEUE: usize = 1_024;

/// Time between two rounds of the metrics feed.
const METRICS_EVERY: Duration = Duration::from_secs(5);

/// A feed as an observer gets it.
pub(super) type Feed<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Where events come from.
pub(super) struct Feeds {
    events: broadcast::Sender<Arc<wire::CacheEvent>>,
    phase: watch::Receiver<Phase>,
}

impl Feeds {
    pub(super) fn new(phase: watch::Receiver<Phase>) -> Self {
        Self { events: broadcast::Sender::new(QUEUE), phase }
    }

    /// Offers an event to all observers.
    pub(super) fn publish(&self, mut event: wire::CacheEvent) {
        if self.events.receiver_count() > 0 {
            // A hash is a slice of its message, which may be larger than anything that an event can hold.
            event.prefix_hash = Bytes::copy_from_slice(&event.prefix_hash);
            // An error means that the last observer has just left.
            let _ = self.events.send(Arc::new(event));
        }
    }

    /// The events that `wanted` asks for and `caller` may see, from now until the server drains. No event has an id of more than `id_bytes`.
    pub(super) fn events(
        &self,
        wanted: &wire::StreamEventsRequest,
        id_bytes: usize,
        caller: Caller,
    ) -> Feed<wire::CacheEvent> {
        let wanted = Wanted::new(wanted, id_bytes);
        let mut events = self.events.subscribe();
        let phase = self.phase.clone();
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                let event = tokio::select! {
                    event = events.recv() => event,
                    () = sender.closed() => return,
                    () = draining(phase.clone()) => return,
                };
                match event {
                    Ok(event) if wanted.takes(&event) && caller.sees(&event.tenant_id) => {
                        if !deliver(&sender, wire::CacheEvent::clone(&event), &phase).await {
                            return;
                        }
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        });
        Box::pin(ReceiverStream::new(receiver))
    }
}

/// Hands an item to the observer; whether the feed goes on. One that does not read must not hold up the server's stop.
async fn deliver<T>(
    sender: &mpsc::Sender<Result<T, Status>>,
    item: T,
    phase: &watch::Receiver<Phase>,
) -> bool {
    tokio::select! {
        sent = sender.send(Ok(item)) => sent.is_ok(),
        () = draining(phase.clone()) => false,
    }
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

    fn takes(&self, event: &wire::CacheEvent) -> bool {
        let Self::Only { model, tenant, kinds } = self else { return false };
        (model.is_empty() || **model == event.model_id)
            && (tenant.is_empty() || **tenant == event.tenant_id)
            && (kinds.is_empty() || kinds.contains(&kind_of(event.r#type)))
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
pub(super) fn metrics(
    core: &Arc<Core>,
    wanted: &wire::StreamMetricsRequest,
    caller: Caller,
) -> Feed<wire::Metric> {
    let core = Arc::clone(core);
    let wanted = known_metrics(&wanted.names);
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(METRICS_EVERY);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = sender.closed() => return,
                () = draining(core.phase.clone()) => return,
            }
            let timestamp_us = Timestamp::now().as_us();
            for sample in core.metrics.samples(&core.router.index().gauges(), wanted.as_deref()) {
                if !may_see(&caller, &sample) {
                    continue;
                }
                let metric = wire::Metric {
                    name: sample.name,
                    r#type: sample.kind.to_owned(),
                    labels: sample.labels.into_iter().collect(),
                    value: sample.value,
                    timestamp_us,
                };
                if !deliver(&sender, metric, &core.phase).await {
                    return;
                }
            }
        }
    });
    Box::pin(ReceiverStream::new(receiver))
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
    fn an_event_in_the_queue_does_not_keep_its_message() {
        let message = Bytes::from(vec![7; 1 << 20]);
        let feeds = Feeds::new(watch::channel(Phase::Serving).1);
        let mut observer = feeds.events.subscribe();
        feeds.publish(wire::CacheEvent { prefix_hash: message.slice(..8), ..Default::default() });
        assert!(message.is_unique(), "the queue holds the message");
        assert_eq!(observer.try_recv().unwrap().prefix_hash, message.slice(..8));
    }
}
