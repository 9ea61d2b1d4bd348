//! Lookups on one stream of the FastLookup service.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use super::pace::Slice;
use super::run::Load;
use crate::bench::Tally;
use crate::cmd::client::Client;
use crate::contract::decode_answer;
use crate::contract::wire::icache::v1alpha1::{FastLookupRequest, FastLookupResponse};

/// A stream with its lookups in flight.
struct Conversation {
    slice: Arc<Slice>,
    load: Arc<Load>,
    tally: Arc<Mutex<Tally>>,
    /// When each lookup that is not answered was due.
    waiting: Mutex<HashMap<u64, Instant>>,
    places: Semaphore,
}

/// Asks until the slice is over, with up to `window` lookups in flight.
pub(super) async fn ask(
    slice: Arc<Slice>,
    load: Arc<Load>,
    client: Client,
    tally: Arc<Mutex<Tally>>,
    window: usize,
) {
    let (sender, receiver) = mpsc::channel(window);
    let answers = match client.fast().lookup(ReceiverStream::new(receiver)).await {
        Ok(opened) => opened.into_inner(),
        Err(status) => return slice.failed(status, &tally),
    };
    let places = Semaphore::new(window);
    let conversation = Conversation { slice, load, tally, waiting: Mutex::default(), places };
    let mut asking = pin!(conversation.ask(sender));
    let mut reading = pin!(conversation.read(answers, &client));
    let mut has_asked = false;
    let ended = loop {
        tokio::select! {
            () = &mut asking, if !has_asked => has_asked = true,
            ended = &mut reading => break ended,
        }
    };
    let unanswered = conversation.waiting.lock().len();
    let status = match ended {
        Ok(()) if unanswered == 0 => return,
        Ok(()) => Status::unavailable("the server ended the stream early"),
        Err(status) => status,
    };
    for _ in 0..unanswered.max(1) {
        conversation.slice.failed(status.clone(), &conversation.tally);
    }
    // Nobody asks here any more; without it the others would, and the rate would say nothing.
    conversation.slice.stop();
}

impl Conversation {
    async fn ask(&self, sender: mpsc::Sender<FastLookupRequest>) {
        loop {
            let Ok(place) = self.places.acquire().await else { return };
            place.forget();
            let Some(ticket) = self.slice.ticket().await else { return };
            let question = self.load.workload.question(ticket.number);
            self.waiting.lock().insert(ticket.number, ticket.due);
            if sender.send(self.load.identity.flat(ticket.number, question)).await.is_err() {
                return;
            }
        }
    }

    async fn read(&self, mut answers: Streaming<FastLookupResponse>, client: &Client) -> Result<(), Status> {
        loop {
            let response = match tokio::time::timeout(client.timeout(), answers.message()).await {
                Ok(response) => response?,
                // In an open loop there may be nothing to answer.
                Err(_) if self.waiting.lock().is_empty() => continue,
                Err(_) => return Err(Status::deadline_exceeded("no answer came in time")),
            };
            let Some(response) = response else { return Ok(()) };
            let Some(due) = self.waiting.lock().remove(&response.id) else {
                return Err(Status::data_loss("the server answered what was not asked"));
            };
            let latency = due.elapsed();
            let question = self.load.workload.question(response.id);
            let answer = decode_answer(response.answer.unwrap_or_default());
            self.load.count(question, &answer, latency, &self.tally);
            self.slice.answered();
            self.places.add_permits(1);
        }
    }
}
