//! The way to the server: one connection at a time, whose loss is noticed at once.
//!
//! A server that restarts comes back with an empty index, and a channel that reconnects by itself would hide it. So
//! each connection is made once and never again: when it ends, that is told, and everything is told anew over the next.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tonic::codegen::Service;
use tonic::codegen::http::Uri;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use super::outbox::Load;
use super::scrape::EngineStats;
use crate::contract::wire::inferencecache::v1alpha1 as wire;
use crate::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use crate::contract::{code_name, encode_event, encode_update};
use crate::engine::Identity;
use crate::model::{CacheEvent, EventKind, HashList, PrefixEntry, PrefixHash, ReplicaStats, StateUpdate};

/// Removals that are under way at once.
pub const MAX_CONCURRENT_REMOVALS: usize = 64;
/// Waits between attempts to connect: the first, and the longest.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// An idle connection is asked for a sign of life this often, and given up after as long again.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// One thing to tell the server.
#[derive(Debug)]
pub struct Job {
    /// The connection it is meant for: what was made for an earlier one is dropped.
    pub link: u64,
    /// On whose behalf.
    pub identity: Identity,
    /// Clearing, removals and additions.
    pub load: Load,
    /// Statistics, after them.
    pub stats: Option<EngineStats>,
    /// That the replica lives, after all else.
    pub is_alive: bool,
}

/// What becomes of the connection and of jobs.
#[derive(Debug)]
pub enum LinkEvent {
    /// A new connection, by number.
    Up(u64),
    /// A job is done, over the connection with this number.
    Done(u64),
    /// The connection is lost, or there is none to be had; why.
    Down(String),
}

/// What bytes go over.
pub trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// A connection to the server.
pub struct Dialed {
    /// Over TLS or not.
    pub wire: Box<dyn Wire>,
    /// The token that goes with each call.
    pub authorization: Option<MetadataValue<Ascii>>,
}

/// Makes one connection to the server, or says why there is none. Called for each anew, so that certificates and tokens
/// may change meanwhile.
pub type Dial = Arc<dyn Fn() -> Dialing + Send + Sync>;

/// A connection that is being made.
pub type Dialing = Pin<Box<dyn Future<Output = Result<Dialed, String>> + Send>>;

/// Keeps a connection to the server and sends jobs over it, until nobody gives any.
pub async fn run(
    endpoint: Endpoint,
    dial: Dial,
    patience: Duration,
    mut jobs: mpsc::Receiver<Job>,
    events: mpsc::Sender<LinkEvent>,
) {
    let mut wait = RETRY.0;
    let mut number = 0;
    loop {
        let why = match tokio::time::timeout(patience, Link::connect(&endpoint, &dial)).await {
            Ok(Ok(mut link)) => {
                number += 1;
                wait = RETRY.0;
                if events.send(LinkEvent::Up(number)).await.is_err() {
                    return;
                }
                match link.serve(number, patience, &mut jobs, &events).await {
                    Some(why) => why,
                    None => return,
                }
            }
            Ok(Err(why)) => why,
            Err(_) => format!("no connection within {patience:?}"),
        };
        if events.send(LinkEvent::Down(why)).await.is_err() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = events.closed() => return,
        }
        wait = (wait * 2).min(RETRY.1);
    }
}

struct Link {
    authorization: Option<MetadataValue<Ascii>>,
    client: InferenceCacheClient<Channel>,
    closed: oneshot::Receiver<()>,
}

impl Link {
    async fn connect(endpoint: &Endpoint, dial: &Dial) -> Result<Self, String> {
        let Dialed { wire, authorization } = dial().await?;
        let (open, closed) = oneshot::channel();
        let endpoint = endpoint
            .clone()
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .keep_alive_while_idle(true);
        let once = Once { wire: Some(Watched { wire, _open: open }) };
        let channel = endpoint.connect_with_connector(once).await.map_err(|error| root_cause(&error))?;
        Ok(Self { authorization, client: InferenceCacheClient::new(channel), closed })
    }

    /// Sends jobs until the connection ends, and says why; `None` where there are no more jobs.
    async fn serve(
        &mut self,
        number: u64,
        patience: Duration,
        jobs: &mut mpsc::Receiver<Job>,
        events: &mpsc::Sender<LinkEvent>,
    ) -> Option<String> {
        loop {
            let job = tokio::select! {
                job = jobs.recv() => job?,
                _ = &mut self.closed => return Some("the connection was closed".to_owned()),
            };
            if job.link != number {
                continue;
            }
            if let Err(status) = self.send(job, patience).await {
                return Some(sentence_of(&status));
            }
            events.send(LinkEvent::Done(number)).await.ok()?;
        }
    }

    async fn send(&mut self, job: Job, patience: Duration) -> Result<(), Status> {
        let Job { identity, load, stats, is_alive, .. } = job;
        if load.clears {
            self.publish(event(&identity, EventKind::AllCleared, None), patience).await?;
        }
        // Each is a key of its own, so their order does not matter.
        for removals in load.removals.chunks(MAX_CONCURRENT_REMOVALS) {
            let mut calls = JoinSet::new();
            for (adapter, prefix_hash) in removals {
                let block = Some((adapter.as_str(), *prefix_hash));
                let event = event(&identity, EventKind::PrefixEvicted, block);
                let (mut client, call) = (self.client.clone(), self.call(event, patience));
                calls.spawn(async move { client.publish_event(call).await });
            }
            while let Some(call) = calls.join_next().await {
                call.map_err(|error| Status::internal(error.to_string()))??;
            }
        }
        if !load.additions.is_empty() || stats.is_some() {
            let update = update(&identity, &load, stats.as_ref());
            // The acknowledgement says that it is applied, so that no later removal overtakes it.
            let updates = self.call(tokio_stream::iter([update]), patience);
            self.client.report_cache_state(updates).await?;
        }
        if is_alive {
            self.publish(event(&identity, EventKind::ReplicaUpdated, None), patience).await?;
        }
        Ok(())
    }

    async fn publish(&mut self, event: wire::CacheEvent, patience: Duration) -> Result<(), Status> {
        let call = self.call(event, patience);
        self.client.publish_event(call).await.map(drop)
    }

    fn call<T>(&self, message: T, patience: Duration) -> Request<T> {
        let mut request = Request::new(message);
        request.set_timeout(patience);
        if let Some(authorization) = &self.authorization {
            request.metadata_mut().insert("authorization", authorization.clone());
        }
        request
    }
}

fn event(identity: &Identity, kind: EventKind, block: Option<(&str, PrefixHash)>) -> wire::CacheEvent {
    let (adapter, prefix_hash) = block.unzip();
    encode_event(&CacheEvent {
        kind,
        replica: identity.replica.as_str(),
        tenant: identity.tenant.as_str(),
        model: identity.model.as_str(),
        prefix_hash: prefix_hash.as_ref().map_or(&[], |hash| hash.as_bytes()),
        adapter: adapter.unwrap_or_default(),
        at: None,
    })
}

fn update(identity: &Identity, load: &Load, stats: Option<&EngineStats>) -> wire::CacheStateUpdate {
    let prefixes = load.additions.iter().map(|block| PrefixEntry {
        prefix_hash: block.prefix_hash.as_bytes(),
        token_count: block.cumulative_tokens,
        block_hashes: HashList::EMPTY,
        block_token_counts: &[],
        tier: block.tier,
        adapter: block.adapter.as_str(),
    });
    encode_update(&StateUpdate {
        replica: identity.replica.as_str(),
        tenant: identity.tenant.as_str(),
        model: identity.model.as_str(),
        scheme: identity.scheme.as_str(),
        adapter: "",
        at: None,
        prefixes: prefixes.collect(),
        stats: stats.map(|stats| ReplicaStats {
            cache_memory_bytes: 0,
            hit_rate: stats.hit_rate,
            pressure: stats.pressure,
            client_version: concat!("icache/", env!("CARGO_PKG_VERSION")),
            t2_hit_tokens: stats.t2_hit_tokens,
            t2_query_tokens: stats.t2_query_tokens,
        }),
    })
}

fn sentence_of(status: &Status) -> String {
    match status.message() {
        "" => format!("the server answered {}", code_name(status.code())),
        text => format!("the server answered {}: {text}", code_name(status.code())),
    }
}

fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// Connects once; a channel that wants to connect again is told that this one is over.
struct Once {
    wire: Option<Watched>,
}

impl Service<Uri> for Once {
    type Response = TokioIo<Watched>;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let wire = self.wire.take().ok_or_else(|| std::io::Error::other("the connection was closed"));
        Box::pin(std::future::ready(wire.map(TokioIo::new)))
    }
}

/// A connection that tells of its end: whoever drops it drops the sender.
struct Watched {
    wire: Box<dyn Wire>,
    _open: oneshot::Sender<()>,
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.wire).poll_read(context, buffer)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.wire).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.wire).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(context)
    }
}
