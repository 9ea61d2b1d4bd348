//! One server under load: its connections, and the state that it is given and that is taken from it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::bench::{BLOCK_TOKENS, HASH_BYTES, Held, Question, Workload};
use crate::cmd::client::{Client, ServerArgs};
use crate::cmd::error::CommandError;
use crate::contract::wire::icache::v1alpha1::FastLookupRequest;
use crate::contract::wire::inferencecache::v1alpha1 as wire;

/// Longest wait for a server to take what it is given.
const LOAD_PATIENCE: Duration = Duration::from_secs(300);

/// Whose the load is.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) tenant: String,
    pub(super) model: String,
    pub(super) scheme: String,
}

impl Identity {
    /// A lookup of LookupRoute.
    pub(super) fn listed(&self, question: &Question) -> wire::LookupRouteRequest {
        let block_hashes = hashes(&question.chain);
        wire::LookupRouteRequest {
            model_id: self.model.clone(),
            tenant_id: self.tenant.clone(),
            hash_scheme: self.scheme.clone(),
            block_token_counts: vec![BLOCK_TOKENS; block_hashes.len()],
            block_hashes,
            ..Default::default()
        }
    }

    /// A lookup of the stream.
    pub(super) fn flat(&self, id: u64, question: &Question) -> FastLookupRequest {
        FastLookupRequest {
            id,
            model_id: self.model.clone(),
            tenant_id: self.tenant.clone(),
            hash_scheme: self.scheme.clone(),
            block_hashes: question.chain.clone(),
            hash_width: HASH_BYTES as u32,
            block_tokens: Some(BLOCK_TOKENS),
            ..Default::default()
        }
    }

    fn report(&self, workload: &Workload, held: &Held) -> wire::CacheStateUpdate {
        let block_hashes = hashes(&held.chain);
        wire::CacheStateUpdate {
            replica_id: workload.replica(held.replica),
            model_id: self.model.clone(),
            tenant_id: self.tenant.clone(),
            hash_scheme: self.scheme.clone(),
            prefixes: vec![wire::PrefixEntry {
                block_token_counts: vec![BLOCK_TOKENS; block_hashes.len()],
                block_hashes,
                ..Default::default()
            }],
            ..Default::default()
        }
    }
}

fn hashes(chain: &Bytes) -> Vec<Bytes> {
    (0..chain.len()).step_by(HASH_BYTES).map(|start| chain.slice(start..start + HASH_BYTES)).collect()
}

/// A server with open connections.
pub(super) struct Target {
    pub(super) clients: Vec<Client>,
}

impl Target {
    /// Connects so many times; one at least.
    pub(super) async fn connect(server: &ServerArgs, connections: u32) -> Result<Self, CommandError> {
        let way = server.way()?;
        let mut clients = Vec::new();
        for _ in 0..connections.max(1) {
            clients.push(way.connect().await?);
        }
        Ok(Self { clients })
    }

    /// Where it is.
    pub(super) fn url(&self) -> &str {
        self.clients[0].url()
    }

    /// Reports everything that will be asked for.
    pub(super) async fn load(
        &self,
        workload: &Arc<Workload>,
        identity: &Identity,
    ) -> Result<(), CommandError> {
        let client = &self.clients[0];
        let (sender, receiver) = tokio::sync::mpsc::channel(16);
        let feeding = async {
            for held in workload.held() {
                // An error is the call's to tell.
                if sender.send(identity.report(workload, &held)).await.is_err() {
                    break;
                }
            }
            drop(sender);
        };
        let mut contract = client.contract();
        let updates = tokio_stream::wrappers::ReceiverStream::new(receiver);
        let reporting = async { tokio::join!(contract.report_cache_state(updates), feeding).0 };
        let acked = tokio::time::timeout(LOAD_PATIENCE, reporting).await.map_err(|_| client.late())?;
        acked.map(|_| ()).map_err(|status| client.failed(&status))
    }

    /// Removes what the replicas of a load hold.
    pub(super) async fn clear(&self, workload: &Workload, identity: &Identity) -> Result<(), CommandError> {
        let client = &self.clients[0];
        for number in 0..workload.shape().replicas {
            let event = wire::CacheEvent {
                r#type: wire::cache_event::Type::AllCleared as i32,
                replica_id: workload.replica(number),
                model_id: identity.model.clone(),
                tenant_id: identity.tenant.clone(),
                ..Default::default()
            };
            let published = client.contract().publish_event(client.request(event)).await;
            published.map_err(|status| client.failed(&status))?;
        }
        Ok(())
    }
}
