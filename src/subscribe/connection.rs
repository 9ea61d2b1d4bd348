//! The connections to engines: one thread for each publisher, which subscribes, closes gaps by replays, and hands on
//! batches in order.
//!
//! An engine never waits for this: it publishes whether anybody listens or not, and drops what is not taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use zmq::{Context, PollEvents, Socket};

use super::frames::read_message;
use super::sockets::{EVENT_CONNECTED, EVENT_DISCONNECTED, Publisher, Sockets, dealer};
use crate::engine::{END_OF_REPLAY, Numbered, ReplayEnd, Step, Stream};

/// Batches that wait between a connection and who follows it at most.
pub const MAX_WAITING_BATCHES: usize = 64;
/// Bytes of a topic that are handed on.
pub const MAX_TOPIC_BYTES: usize = 256;

/// How often a thread looks whether it should end.
const POLL_MS: i64 = 100;
/// Messages read from one socket before the others are looked at.
const BURST: usize = 64;
/// After so long without a connection the sockets are made anew: libzmq gives a peer up for good that broke the
/// protocol, though an engine may come in its place.
const RENEWAL: Duration = Duration::from_secs(6);

/// An engine that publishes nothing is asked whether it has, first after the shorter time, then less and less often: the
/// last batches before a silence may have been dropped on the way.
const QUIET: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// What a connection hands on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    /// The next batch of the stream, by subscription or by replay.
    Batch {
        /// The topic it was published under, at most [`MAX_TOPIC_BYTES`] of it; of a replay that names none the topic
        /// of the batch before it.
        topic: Arc<[u8]>,
        /// Its number.
        seq: u64,
        /// The engine's bytes.
        payload: Vec<u8>,
    },
    /// So many batches before the next one are gone for good.
    Lost(u64),
    /// A batch that was handed on before came again, and is left out.
    Again,
    /// The publisher began anew, with an empty cache.
    Restarted,
    /// A message with a missing or surplus frame, or whose number is no 8 bytes; it is left out.
    BadFrame,
    /// A replay is asked for.
    ReplayAsked,
    /// The connection is there (`true`), or is lost and being made again.
    Connected(bool),
}

/// The threads of some publishers. Dropping it ends them.
#[derive(Debug)]
pub struct Connections {
    receiver: mpsc::Receiver<(usize, Received)>,
    stop: Arc<AtomicBool>,
}

/// A publisher that cannot be connected to as it is written.
#[derive(Debug, thiserror::Error)]
#[error("cannot connect to `{endpoint}`: {source}")]
pub struct ConnectError {
    /// The address.
    pub endpoint: String,
    /// Why.
    pub source: std::io::Error,
}

impl Connections {
    /// Begins to connect. Publishers need not be there yet.
    ///
    /// # Errors
    ///
    /// Where an address is none, or the system has no thread or socket left.
    pub fn open(publishers: &[Publisher]) -> Result<Self, ConnectError> {
        let (sender, receiver) = mpsc::channel(MAX_WAITING_BATCHES);
        let stop = Arc::new(AtomicBool::new(false));
        let connections = Self { receiver, stop: Arc::clone(&stop) };
        for (at, publisher) in publishers.iter().enumerate() {
            let failed = |source| ConnectError { endpoint: publisher.endpoint.clone(), source };
            let context = Context::new();
            let sockets = Sockets::open(&context, publisher, 0).map_err(|error| failed(error.into()))?;
            if let Some(replay) = &publisher.replay {
                // Told now, and not when the first gap opens.
                dealer(&context, replay)
                    .map_err(|error| ConnectError { endpoint: replay.clone(), source: error.into() })?;
            }
            let worker = Worker {
                context,
                publisher: publisher.clone(),
                stream: Stream::live(),
                replay: None,
                topic: Arc::from(&b""[..]),
                out: Outlet { at, sender: sender.clone() },
                stop: Arc::clone(&stop),
                down_since: Some(Instant::now()),
                renewals: 0,
                quiet: Quiet::begin(),
            };
            std::thread::Builder::new()
                .name(format!("engine-{at}"))
                .spawn(move || worker.run(sockets))
                .map_err(failed)?;
        }
        Ok(connections)
    }

    /// The next thing received, with the position of its publisher. Cancelling it loses nothing.
    pub async fn next(&mut self) -> (usize, Received) {
        match self.receiver.recv().await {
            Some(received) => received,
            // The threads end with this value only.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A replay under way, on a socket of its own: what an earlier one still sends has nowhere to go.
struct Replay {
    dealer: Socket,
    silent_until: Instant,
}

/// Where a thread hands on to; waits while nobody takes.
struct Outlet {
    at: usize,
    sender: mpsc::Sender<(usize, Received)>,
}

/// Nobody follows any more.
struct Gone;

impl Outlet {
    fn give(&self, received: Received) -> Result<(), Gone> {
        self.sender.blocking_send((self.at, received)).map_err(|_| Gone)
    }
}

struct Worker {
    context: Context,
    publisher: Publisher,
    stream: Stream<Vec<u8>>,
    replay: Option<Replay>,
    topic: Arc<[u8]>,
    out: Outlet,
    stop: Arc<AtomicBool>,
    /// `None` while connected.
    down_since: Option<Instant>,
    renewals: u64,
    quiet: Quiet,
}

/// When an engine that says nothing is asked.
struct Quiet {
    wait: Duration,
    until: Instant,
}

impl Quiet {
    fn begin() -> Self {
        Self { wait: QUIET.0, until: Instant::now() + QUIET.0 }
    }

    /// Whether it is time to ask.
    fn is_over(&mut self) -> bool {
        let is_over = Instant::now() >= self.until;
        if is_over {
            self.wait = (self.wait * 2).min(QUIET.1);
            self.until = Instant::now() + self.wait;
        }
        is_over
    }
}

impl Worker {
    fn run(mut self, mut sockets: Sockets) {
        while !self.stop.load(Ordering::Relaxed) {
            let turn = self.renew(&mut sockets).and_then(|()| self.wait(&sockets)).map(|()| {
                self.read_monitor(&sockets.monitor)?;
                self.read_live(&sockets.subscriber)?;
                self.read_replay()?;
                self.ask_quiet()
            });
            match turn {
                Ok(Ok(())) => {}
                Ok(Err(Gone)) => return,
                Err(error) => {
                    tracing::error!(endpoint = self.publisher.endpoint, %error, "the engine can no longer be followed");
                    return;
                }
            }
        }
    }

    /// Makes the sockets anew where they have had no connection for long.
    fn renew(&mut self, sockets: &mut Sockets) -> zmq::Result<()> {
        if self.down_since.is_some_and(|since| since.elapsed() >= RENEWAL) {
            self.renewals += 1;
            *sockets = Sockets::open(&self.context, &self.publisher, self.renewals)?;
            self.down_since = Some(Instant::now());
        }
        Ok(())
    }

    fn wait(&self, sockets: &Sockets) -> zmq::Result<()> {
        let mut items = vec![
            sockets.monitor.as_poll_item(PollEvents::POLLIN),
            sockets.subscriber.as_poll_item(PollEvents::POLLIN),
        ];
        items.extend(self.replay.as_ref().map(|replay| replay.dealer.as_poll_item(PollEvents::POLLIN)));
        match zmq::poll(&mut items, POLL_MS) {
            Ok(_) | Err(zmq::Error::EINTR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn read_monitor(&mut self, monitor: &Socket) -> Result<(), Gone> {
        while let Some(frames) = read_message(monitor) {
            let event = frames.list.first().and_then(|frame| frame.first_chunk::<2>());
            match event.map(|bytes| u16::from_ne_bytes(*bytes)) {
                Some(EVENT_CONNECTED) => {
                    self.down_since = None;
                    self.quiet = Quiet::begin();
                    self.out.give(Received::Connected(true))?;
                    let mut steps = Vec::new();
                    self.stream.connected(&mut steps);
                    self.carry_out(steps)?;
                }
                // Connections that never came to a handshake end with this event too.
                Some(EVENT_DISCONNECTED) if self.down_since.is_none() => {
                    self.down_since = Some(Instant::now());
                    self.out.give(Received::Connected(false))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_live(&mut self, subscriber: &Socket) -> Result<(), Gone> {
        for _ in 0..BURST {
            let Some(frames) = read_message(subscriber) else { break };
            self.quiet = Quiet::begin();
            match frames.live() {
                Some((topic, seq, payload)) => {
                    self.learn_topic(&topic);
                    let mut steps = Vec::new();
                    self.stream.live_batch(Numbered::new(seq, payload), &mut steps);
                    self.carry_out(steps)?;
                }
                None => self.out.give(Received::BadFrame)?,
            }
        }
        Ok(())
    }

    fn read_replay(&mut self) -> Result<(), Gone> {
        for _ in 0..BURST {
            let Some(replay) = &mut self.replay else { break };
            let Some(frames) = read_message(&replay.dealer) else {
                if Instant::now() < replay.silent_until {
                    break;
                }
                return self.end_replay(ReplayEnd::Broken);
            };
            replay.silent_until = Instant::now() + self.publisher.replay_timeout;
            match frames.replayed() {
                Some((_, END_OF_REPLAY, _)) => return self.end_replay(ReplayEnd::Complete),
                Some((topic, seq, payload)) => {
                    if let Some(topic) = topic {
                        self.learn_topic(&topic);
                    }
                    let mut steps = Vec::new();
                    self.stream.replayed(Numbered::new(seq, payload), &mut steps);
                    self.carry_out(steps)?;
                }
                None => self.out.give(Received::BadFrame)?,
            }
        }
        Ok(())
    }

    fn ask_quiet(&mut self) -> Result<(), Gone> {
        if self.publisher.replay.is_none() || self.down_since.is_some() || !self.quiet.is_over() {
            return Ok(());
        }
        let mut steps = Vec::new();
        self.stream.quiet(&mut steps);
        self.carry_out(steps)
    }

    fn end_replay(&mut self, end: ReplayEnd) -> Result<(), Gone> {
        self.replay = None;
        let mut steps = Vec::new();
        self.stream.replay_over(end, &mut steps);
        self.carry_out(steps)
    }

    /// Publishers have one topic, so that of a replay without one is the last one seen.
    fn learn_topic(&mut self, topic: &[u8]) {
        let topic = &topic[..topic.len().min(MAX_TOPIC_BYTES)];
        if *self.topic != *topic {
            self.topic = Arc::from(topic);
        }
    }

    fn carry_out(&mut self, steps: Vec<Step<Vec<u8>>>) -> Result<(), Gone> {
        let mut steps = steps;
        loop {
            let mut is_refused = false;
            for step in steps {
                self.out.give(match step {
                    Step::Apply { seq, payload } => {
                        Received::Batch { topic: Arc::clone(&self.topic), seq, payload }
                    }
                    Step::Lost(batches) => Received::Lost(batches),
                    Step::Again => Received::Again,
                    Step::Restarted => Received::Restarted,
                    Step::Replay(from) => {
                        self.replay = self.ask(from);
                        is_refused = self.replay.is_none();
                        Received::ReplayAsked
                    }
                })?;
            }
            if !is_refused {
                return Ok(());
            }
            // Each round leaves a gap behind, so this ends.
            steps = Vec::new();
            self.stream.replay_over(ReplayEnd::Broken, &mut steps);
        }
    }

    fn ask(&self, from: u64) -> Option<Replay> {
        let endpoint = self.publisher.replay.as_deref()?;
        let asked = dealer(&self.context, endpoint).and_then(|dealer| {
            let start = from.to_be_bytes();
            dealer.send_multipart([&b""[..], &start[..]], zmq::DONTWAIT)?;
            Ok(dealer)
        });
        match asked {
            Ok(dealer) => {
                Some(Replay { dealer, silent_until: Instant::now() + self.publisher.replay_timeout })
            }
            Err(error) => {
                tracing::warn!(endpoint, %error, "no replay can be asked for");
                None
            }
        }
    }
}
