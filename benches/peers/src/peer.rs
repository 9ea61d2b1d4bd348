//! The peer: `ConcurrentRadixTreeCompressed`, driven through its own worker loop.

use std::sync::Arc;
use std::thread::JoinHandle;

use dynamo_kv_router::indexer::concurrent_radix_tree_compressed::ConcurrentRadixTreeCompressed;
use dynamo_kv_router::indexer::{SyncIndexer, WorkerTask};
use dynamo_kv_router::protocols::{
    ExternalSequenceBlockHash, KvCacheEvent, KvCacheEventData, KvCacheRemoveData, KvCacheStoreData,
    KvCacheStoredBlockData, LocalBlockHash, RouterEvent,
};

pub type Query = Vec<LocalBlockHash>;

pub struct Peer {
    pub tree: Arc<ConcurrentRadixTreeCompressed>,
}

fn event(replica: usize, data: KvCacheEventData) -> WorkerTask {
    let event = KvCacheEvent { event_id: 0, data, dp_rank: 0 };
    WorkerTask::Event(RouterEvent::new(replica as u64, event))
}

/// The blocks of `chain` behind its first `parent` ones.
pub fn stored(replica: usize, chain: &[u64], parent: usize) -> WorkerTask {
    let blocks = chain[parent..]
        .iter()
        .map(|hash| KvCacheStoredBlockData {
            block_hash: ExternalSequenceBlockHash(*hash),
            tokens_hash: LocalBlockHash(*hash),
            mm_extra_info: None,
        })
        .collect();
    let parent_hash = parent.checked_sub(1).map(|at| ExternalSequenceBlockHash(chain[at]));
    event(replica, KvCacheEventData::Stored(KvCacheStoreData { parent_hash, start_position: None, blocks }))
}

pub fn removed(replica: usize, chain: &[u64]) -> WorkerTask {
    let block_hashes = chain.iter().map(|hash| ExternalSequenceBlockHash(*hash)).collect();
    event(replica, KvCacheEventData::Removed(KvCacheRemoveData { block_hashes }))
}

pub fn query(chain: &[u64]) -> Query {
    chain.iter().map(|hash| LocalBlockHash(*hash)).collect()
}

impl Peer {
    pub fn new() -> Self {
        Self { tree: Arc::new(ConcurrentRadixTreeCompressed::new()) }
    }

    /// Runs the tasks on this thread, by the peer's own loop. What it knows of its blocks dies with the loop.
    pub fn run(&self, tasks: impl Iterator<Item = WorkerTask>) {
        let receiver = prepared(tasks);
        self.run_prepared(receiver);
    }

    /// The same, for tasks that wait in a channel already.
    pub fn run_prepared(&self, receiver: flume::Receiver<WorkerTask>) {
        let outcome = self.tree.worker(receiver, None);
        assert!(outcome.is_ok(), "the peer's loop failed: {outcome:?}");
    }

    /// A thread that runs what is sent, and keeps what it knows of its blocks until it is told to end.
    pub fn start(&self) -> (flume::Sender<WorkerTask>, JoinHandle<()>) {
        let (sender, receiver) = flume::bounded(1_024);
        let tree = Arc::clone(&self.tree);
        let worker = std::thread::spawn(move || {
            let outcome = tree.worker(receiver, None);
            assert!(outcome.is_ok(), "the peer's loop failed: {outcome:?}");
        });
        (sender, worker)
    }

    pub fn runs(&self, query: &Query) -> Vec<(usize, u32)> {
        let scores = self.tree.find_matches(query, false).scores;
        let mut runs: Vec<(usize, u32)> =
            scores.into_iter().map(|(worker, blocks)| (worker.worker_id as usize, blocks)).collect();
        runs.sort_unstable();
        runs
    }
}

/// A channel that holds the tasks and the end.
pub fn prepared(tasks: impl Iterator<Item = WorkerTask>) -> flume::Receiver<WorkerTask> {
    let (sender, receiver) = flume::unbounded();
    for task in tasks.chain([WorkerTask::Terminate]) {
        assert!(sender.send(task).is_ok(), "the receiver is held here");
    }
    receiver
}
