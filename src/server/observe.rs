//! The observer feed: everything that the server applies and answers, in the order in which it took effect.
//!
//! It begins with settings, policies and state, so that a capture of it can be replayed to the very answers. Records wait
//! in a queue of the observer's own; one that reads too slowly misses the rest, is told how many, and its stream ends.
//!
//! Left out are health probes (the reserved tenant), lookups that were shed, which saw nothing of the index, and
//! explanations, which leave no trace in it.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::access::Caller;
use super::aside::aside;
use super::feeds::{Feed, deliver, deliver_rest, farewell};
use super::opening::{Snapshot, records};
use super::order::{Cut, MAX_OBSERVERS, Observer, Order, Refused};
use super::queue::Next;
use super::{Core, draining};
use crate::contract::decode_request;
use crate::contract::wire::icache::v1alpha1 as wire;
use crate::contract::wire::icache::v1alpha1::observe_server::Observe;
use crate::contract::wire::icache::v1alpha1::record::Body;
use crate::contract::wire::inferencecache::v1alpha1::{CacheEvent, CacheStateUpdate};
use crate::lookup::Call;
use crate::model::PROBE_TENANT;

/// The handler.
pub(super) struct ObserveService {
    core: Arc<Core>,
}

impl ObserveService {
    pub(super) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }
}

/// An observer that is in the line until this is dropped.
struct Place {
    order: Arc<Order>,
    observer: Arc<Observer>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.order.leave(&self.observer);
    }
}

#[tonic::async_trait]
impl Observe for ObserveService {
    type ObserveStream = Feed<wire::Record>;

    async fn observe(
        &self,
        request: Request<wire::ObserveRequest>,
    ) -> Result<Response<Self::ObserveStream>, Status> {
        let caller = Caller::of(&request);
        caller.may_name_all()?;
        let lookups = request.get_ref().lookups.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&lookups) {
            return Err(Status::invalid_argument(format!("lookups is {lookups}; it is a share from 0 to 1")));
        }
        let core = Arc::clone(&self.core);
        let (place, cut, snapshot) = aside("beginning to observe", move || begin(&core, lookups)).await??;
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(feed(Arc::clone(&self.core), caller, place, cut, snapshot, sender));
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }
}

fn begin(core: &Core, lookups: f64) -> Result<(Place, Cut, Snapshot), Status> {
    let router = &core.router;
    let credit = |request: &_, now| {
        // Nothing has changed since it was answered, so it finds the same.
        router.route(&decode_request(request), Call::at(now));
    };
    let (observer, cut, snapshot) =
        core.order.observe(lookups, || Snapshot::of(router), credit).map_err(|refused| match refused {
            Refused::TooMany => Status::resource_exhausted(format!(
                "{MAX_OBSERVERS} observers are there already; stop one of them"
            )),
            Refused::TooBusy => Status::unavailable(
                "more lookups came while the state was read than can be kept; try again at a quieter time",
            ),
        })?;
    Ok((Place { order: Arc::clone(&core.order), observer }, cut, snapshot))
}

/// Sends all of it until the observer leaves, has missed something, may not observe any more, or the server drains.
async fn feed(
    core: Arc<Core>,
    caller: Caller,
    place: Place,
    cut: Cut,
    snapshot: Snapshot,
    sender: mpsc::Sender<Result<wire::Record, Status>>,
) {
    for record in records(snapshot, cut) {
        if !deliver(&sender, record, &core.phase).await {
            return core.metrics.observe_missed(FEED, place.observer.queue.missed());
        }
    }
    let (mut sequence, mut timestamp_us) = (cut.sequence, cut.at.as_us());
    loop {
        let next = tokio::select! {
            biased;
            next = place.observer.queue.next() => next,
            () = sender.closed() => return core.metrics.observe_missed(FEED, place.observer.queue.missed()),
            () = draining(core.phase.clone()) => {
                let queue = &place.observer.queue;
                deliver_rest(&sender, queue).await;
                let missed = queue.missed() + queue.waiting();
                core.metrics.observe_missed(FEED, missed);
                return farewell(&sender, Status::unavailable("the server stops"), missed).await;
            }
        };
        match next {
            Next::Item(_) if !caller.sees_all() => {
                let status = Status::unauthenticated("the caller may not observe here any more");
                return farewell(&sender, status, place.observer.queue.missed()).await;
            }
            Next::Item(record) => {
                (sequence, timestamp_us) = (record.sequence, record.timestamp_us);
                if !deliver(&sender, wire::Record::clone(&record), &core.phase).await {
                    return core.metrics.observe_missed(FEED, place.observer.queue.missed());
                }
            }
            Next::Gap(_) => {
                // From here on nothing is missed any more, since the observer is not there any more.
                let queue = Arc::clone(&place.observer);
                drop(place);
                let missed = queue.queue.missed();
                core.metrics.observe_missed(FEED, missed);
                tracing::warn!(missed, "an observer was too slow, and its stream ends");
                let body = Some(Body::Missed(wire::Missed { records: missed }));
                if deliver(&sender, wire::Record { sequence, timestamp_us, body }, &core.phase).await {
                    let text =
                        format!("too slow: {missed} records were missed; observe again for a new state");
                    farewell(&sender, Status::data_loss(text), missed).await;
                }
                return;
            }
        }
    }
}

/// Label of this feed in the metrics.
const FEED: &str = "observe";

/// The record of an update; `None` for a health probe's.
pub(super) fn report(message: &CacheStateUpdate) -> Option<Body> {
    if message.tenant_id == PROBE_TENANT {
        return None;
    }
    let mut update = message.clone();
    if let Some(stats) = &mut update.stats {
        // The index keeps what is no number as 0, and JSON cannot say it.
        for rate in [&mut stats.hit_rate, &mut stats.pressure] {
            *rate = if rate.is_finite() { *rate } else { 0.0 };
        }
    }
    Some(Body::Report(update))
}

/// The record of an event; `None` for a health probe's.
pub(super) fn event(message: &CacheEvent) -> Option<Body> {
    use crate::contract::wire::inferencecache::v1alpha1::cache_event::Type;
    if message.tenant_id == PROBE_TENANT {
        return None;
    }
    let mut event = message.clone();
    // Numbers without a name are one kind, and JSON has no word for them.
    event.r#type = Type::try_from(event.r#type).unwrap_or_default() as i32;
    Some(Body::Event(event))
}
