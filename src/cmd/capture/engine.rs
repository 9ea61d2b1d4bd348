//! An engine's recording: what it publishes, as a sidecar would tell it to a server, or as the engine's own bytes.

use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval};

use super::stop::{Stop, flushes};
use super::{unwritable, written};
use crate::capture::{Body, KvBatch, Recorder, State};
use crate::cmd::CommandError;
use crate::cmd::engine::{Followed, unconnected};
use crate::contract::{encode_event, encode_update};
use crate::engine::{
    Change, Fed, Identity, MAX_PAYLOAD_BYTES, MAX_UPDATE_BLOCKS, Mapper, Notice, feed, restate,
};
use crate::model::{CacheEvent, EventKind, Timestamp};
use crate::render::{CaptureProgress, EngineCaptured, Printer};
use crate::subscribe::{Connections, Follower, LIVENESS, Received};

/// Time after which an engine that is not there is said to be awaited.
const SAID_AFTER: Duration = Duration::from_secs(5);

/// A recording of one engine, with all of its ranks.
pub(super) struct EngineSession {
    endpoints: Vec<String>,
    connections: Connections,
    connected: Vec<bool>,
    follower: Follower,
    is_raw: bool,
    recorder: Recorder,
    progress: CaptureProgress,
    stop: Stop,
    /// What is said once.
    said: Said,
}

#[derive(Default)]
struct Said {
    lost: bool,
    unreadable: bool,
}

impl EngineSession {
    /// Begins to connect, and then creates the file: an address that is none must leave none behind.
    pub(super) fn begin(
        followed: Followed,
        is_raw: bool,
        duration: Option<Duration>,
        printer: &Printer,
        create: impl FnOnce(&str) -> Result<Recorder, CommandError>,
    ) -> Result<Self, CommandError> {
        let Followed { publishers, fleet, mapper } = followed;
        let connections = Connections::open(&publishers).map_err(|error| unconnected("--zmq", &error))?;
        let mut stop = Stop::new()?;
        let recorder = create(&publishers[0].endpoint)?;
        stop.after(duration);
        let progress = CaptureProgress::new(printer);
        if is_raw {
            progress.warn("the recording holds the token ids of prompts, from which prompts can be read");
        }
        Ok(Self {
            connected: vec![false; publishers.len()],
            endpoints: publishers.into_iter().map(|publisher| publisher.endpoint).collect(),
            connections,
            follower: Follower::new(fleet, mapper),
            is_raw,
            recorder,
            progress,
            stop,
            said: Said::default(),
        })
    }

    /// Records until it is stopped.
    pub(super) async fn run(mut self) -> Result<EngineCaptured, CommandError> {
        let mut flush = flushes();
        let mut alive = every(LIVENESS);
        let awaited = tokio::time::sleep(SAID_AFTER);
        tokio::pin!(awaited);
        let mut is_awaited = true;
        loop {
            tokio::select! {
                biased;
                () = self.stop.wait() => break,
                _ = flush.tick() => {
                    self.progress.at(self.recorder.path(), &self.recorder.recorded(), 0);
                    written(&mut self.recorder, Recorder::flush)?;
                }
                _ = alive.tick() => self.say_alive()?,
                () = &mut awaited, if is_awaited => {
                    is_awaited = false;
                    self.say_absent();
                }
                (publisher, received) = self.connections.next() => {
                    self.take(publisher, received)?;
                    self.rotate_full()?;
                }
            }
        }
        self.finish()
    }

    fn finish(self) -> Result<EngineCaptured, CommandError> {
        let counts = self.follower.counts();
        let path = self.recorder.path().to_path_buf();
        let recorded = self.recorder.finish().map_err(|error| unwritable(&path, &error))?;
        let dropped = counts.drops.iter().filter(|(_, count)| *count > 0);
        Ok(EngineCaptured {
            recorded,
            batches: counts.batches,
            restarts: counts.restarts,
            dropped: dropped.map(|(cause, count)| (cause.label(), count)).collect(),
        })
    }

    fn take(&mut self, publisher: usize, received: Received) -> Result<(), CommandError> {
        let now = Timestamp::now();
        self.say(publisher, &received);
        let followed = self.follower.follow(publisher, &received, now);
        if followed.unreadable.is_some() && !std::mem::replace(&mut self.said.unreadable, true) {
            self.progress.warn("a batch cannot be read; the result says how many there are");
        }
        if let Received::Batch { topic, seq, payload } = received
            && self.is_raw
        {
            return self.keep(publisher, &topic, seq, payload, now);
        }
        for (at, notice) in followed.notices {
            self.notify(at, &notice);
        }
        // Where bytes are kept, this is a restart, of which an engine that publishes nothing more has no bytes.
        for (at, changes) in &followed.changes {
            let identity = &self.follower.replicas()[*at].identity;
            record(&mut self.recorder, changes, identity, now)?;
        }
        Ok(())
    }

    /// Keeps a batch as it came, under the rank of its connection; replay looks at the rank that it names.
    fn keep(
        &mut self,
        publisher: usize,
        topic: &[u8],
        seq: u64,
        payload: Vec<u8>,
        now: Timestamp,
    ) -> Result<(), CommandError> {
        // What is longer is no batch, is counted as that, and would not fit a line.
        if payload.len() > MAX_PAYLOAD_BYTES {
            return Ok(());
        }
        let replicas = self.follower.replicas();
        let Some(own) = replicas.iter().find(|replica| replica.publisher == Some(publisher)) else {
            return Ok(());
        };
        let Identity { replica, tenant, model, scheme } = &own.identity;
        let batch = Body::KvBatch(KvBatch {
            replica: replica.as_str().to_owned(),
            model: model.as_str().to_owned(),
            tenant: tenant.as_str().to_owned(),
            scheme: scheme.as_str().to_owned(),
            topic: String::from_utf8_lossy(topic).into_owned(),
            seq: Some(seq),
            payload,
        });
        written(&mut self.recorder, |recorder| recorder.append(now, &batch))
    }

    /// A replica that is silent is left out of hints; a sidecar tells the server that it lives, and so does the capture.
    fn say_alive(&mut self) -> Result<(), CommandError> {
        let now = Timestamp::now();
        self.follower.expire(now);
        for replica in self.follower.replicas() {
            let is_heard = match replica.publisher {
                Some(publisher) => self.connected[publisher],
                None => self.connected.contains(&true),
            };
            if !is_heard {
                continue;
            }
            let Identity { replica, tenant, model, .. } = &replica.identity;
            let event = Body::Event(encode_event(&CacheEvent {
                kind: EventKind::ReplicaUpdated,
                replica: replica.as_str(),
                tenant: tenant.as_str(),
                model: model.as_str(),
                prefix_hash: &[],
                adapter: "",
                at: None,
            }));
            written(&mut self.recorder, |recorder| recorder.append(now, &event))?;
        }
        Ok(())
    }

    /// Begins a further file where one is full. It begins with all that is held; bytes go on where they ended.
    fn rotate_full(&mut self) -> Result<(), CommandError> {
        if !self.recorder.is_full() {
            return Ok(());
        }
        self.recorder.rotate().map_err(|(path, error)| unwritable(&path, &error))?;
        if self.is_raw {
            return Ok(());
        }
        let now = Timestamp::now();
        for replica in self.follower.replicas() {
            begin_with(&mut self.recorder, &replica.identity, &replica.mapper, now)?;
        }
        Ok(())
    }

    fn say(&mut self, publisher: usize, received: &Received) {
        let endpoint = &self.endpoints[publisher];
        match received {
            Received::Connected(is_connected) => {
                self.connected[publisher] = *is_connected;
                if !is_connected {
                    self.progress.warn(&format!("the connection to `{endpoint}` is lost; connecting again"));
                }
            }
            Received::Restarted => {
                self.progress.warn(&format!("the engine at `{endpoint}` began anew, with an empty cache"));
            }
            Received::Lost(batches) if !std::mem::replace(&mut self.said.lost, true) => {
                let lost = format!("{batches} batches of `{endpoint}` are lost, and no replay gives them");
                self.progress.warn(&format!("{lost}; the result says how many there are"));
            }
            _ => {}
        }
    }

    fn say_absent(&self) {
        let absent = self.endpoints.iter().zip(&self.connected).filter(|(_, is_connected)| !**is_connected);
        for (endpoint, _) in absent {
            self.progress
                .warn(&format!("nobody publishes at `{endpoint}` yet; trying again until somebody does"));
        }
    }

    fn notify(&self, at: usize, notice: &Notice) {
        let replica = &self.follower.replicas()[at].identity.replica;
        self.progress.warn(&match notice {
            Notice::UnnamedAdapter(id) => format!(
                "`{replica}`: blocks of adapter {id}, which has no name, are left out; name it with `--adapter-names`"
            ),
            Notice::UnknownMedium(medium) => {
                format!("`{replica}`: the medium `{medium}` is not known and taken for tier T3")
            }
        });
    }
}

fn every(period: Duration) -> Interval {
    let mut due = interval(period);
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    due
}

/// What a server would be told of some changes.
fn record(
    recorder: &mut Recorder,
    changes: &[Change],
    identity: &Identity,
    now: Timestamp,
) -> Result<(), CommandError> {
    let mut bodies = Vec::new();
    feed(changes, identity, None, &mut |fed| {
        bodies.push(match fed {
            Fed::Update(update) => Body::Report(encode_update(&update)),
            Fed::Event(event) => Body::Event(encode_event(&event)),
        });
    });
    written(recorder, |recorder| bodies.iter().try_for_each(|body| recorder.append(now, body)))
}

/// Everything held, a part at a time.
fn begin_with(
    recorder: &mut Recorder,
    identity: &Identity,
    mapper: &Mapper,
    now: Timestamp,
) -> Result<(), CommandError> {
    for part in mapper.prefixes().chunks(MAX_UPDATE_BLOCKS) {
        let held = part.iter().flat_map(|prefix_hash| mapper.held_at(*prefix_hash));
        let mut updates = Vec::new();
        feed(&restate(held), identity, Some(now), &mut |fed| {
            if let Fed::Update(update) = fed {
                updates.push(encode_update(&update));
            }
        });
        let state = Body::State(State { updates, ..State::default() });
        written(recorder, |recorder| recorder.append(now, &state))?;
    }
    Ok(())
}
