//! The stream of lookups: what it answers is what LookupRoute answers, and nothing about it grows without a bound.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "../server_support/mod.rs"]
#[allow(dead_code)]
mod server_support;

mod bounds;
mod doors;

use std::time::Duration;

use bytes::Bytes;
use icache::contract::wire::icache::v1alpha1::fast_lookup_client::FastLookupClient;
use icache::contract::wire::icache::v1alpha1::{FastLookupRequest, FastLookupResponse};
use icache::contract::wire::inferencecache::v1alpha1 as wire;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Status, Streaming};

use server_support::World;

const TENANT: &str = "team-a";
const MODEL: &str = "llama";
const SCHEME: &str = "vllm";
const WIDTH: usize = 8;

/// The hash of block `at` of chain `chain`.
fn hash(chain: u32, at: u32) -> Bytes {
    Bytes::from([chain.to_be_bytes(), at.to_be_bytes()].concat())
}

/// A lookup of the first `blocks` blocks of a chain, 16 tokens each.
fn asked(id: u64, chain: u32, blocks: u32) -> FastLookupRequest {
    let hashes: Vec<Bytes> = (0..blocks).map(|at| hash(chain, at)).collect();
    FastLookupRequest {
        id,
        model_id: MODEL.to_owned(),
        tenant_id: TENANT.to_owned(),
        hash_scheme: SCHEME.to_owned(),
        block_hashes: hashes.concat().into(),
        hash_width: u32::try_from(WIDTH).unwrap(),
        block_tokens: Some(16),
        ..Default::default()
    }
}

/// A report that `replica` has held the first `blocks` blocks of a chain since `timestamp_us`.
fn held(replica: &str, chain: u32, blocks: u32, timestamp_us: i64) -> wire::CacheStateUpdate {
    wire::CacheStateUpdate {
        replica_id: replica.to_owned(),
        model_id: MODEL.to_owned(),
        tenant_id: TENANT.to_owned(),
        hash_scheme: SCHEME.to_owned(),
        timestamp_us,
        prefixes: vec![wire::PrefixEntry {
            block_hashes: (0..blocks).map(|at| hash(chain, at)).collect(),
            block_token_counts: vec![16; blocks as usize],
            ..Default::default()
        }],
        ..Default::default()
    }
}

/// An open stream.
struct Stream {
    requests: mpsc::Sender<FastLookupRequest>,
    answers: Streaming<FastLookupResponse>,
}

impl Stream {
    async fn open(world: &World) -> Self {
        let channel = Channel::from_shared(format!("http://{}", world.running.grpc_addr())).unwrap();
        let mut client = FastLookupClient::new(channel.connect().await.unwrap());
        let (requests, receiver) = mpsc::channel(64);
        let answers = client.lookup(ReceiverStream::new(receiver)).await.unwrap().into_inner();
        Self { requests, answers }
    }

    async fn send(&self, request: FastLookupRequest) {
        self.requests.send(request).await.unwrap();
    }

    /// The next item: an answer, the status that the stream ended with, or nothing where it ended well.
    async fn next(&mut self) -> Result<Option<FastLookupResponse>, Status> {
        tokio::time::timeout(Duration::from_secs(30), self.answers.message())
            .await
            .expect("the stream goes on")
    }

    /// Id and reason code of the next answer.
    async fn code(&mut self) -> (u64, String) {
        let response = self.next().await.unwrap().expect("an answer");
        (response.id, response.answer.unwrap().reason_code)
    }
}
