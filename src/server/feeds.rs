//! Live feeds for observers. Events wait in one queue with a bound: an observer that reads too slowly misses some, and
//! nobody waits for it.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, watch};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use super::{Core, Phase, draining};
use crate::contract::wire::inferencecache::v1alpha1 as wire;
use crate::model::Timestamp;

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
    pub(super) fn publish(&self, event: wire::CacheEvent) {
        if self.events.receiver_count() > 0 {
            // An error means that the last observer has just left.
            let _ = self.events.send(Arc::new(event));
        }
    }

    /// The events that `wanted` asks for, from now until the server drains.
    pub(super) fn events(&self, wanted: wire::StreamEventsRequest) -> Feed<wire::CacheEvent> {
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
                    Ok(event) if is_wanted(&event, &wanted) => {
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

fn is_wanted(event: &wire::CacheEvent, wanted: &wire::StreamEventsRequest) -> bool {
    (wanted.model_id.is_empty() || wanted.model_id == event.model_id)
        && (wanted.tenant_id.is_empty() || wanted.tenant_id == event.tenant_id)
        && (wanted.types.is_empty() || wanted.types.contains(&event.r#type))
}

/// All samples of the metrics that `wanted` names, now and every few seconds until the server drains.
pub(super) fn metrics(core: &Arc<Core>, wanted: wire::StreamMetricsRequest) -> Feed<wire::Metric> {
    let core = Arc::clone(core);
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
            for sample in core.metrics.samples(&core.router.index().gauges(), &wanted.names) {
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
