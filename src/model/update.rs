//! What producers say: state updates and events, borrowed from the messages they came in.

use super::{HashList, Tier, Timestamp};

/// A delta of what one replica holds: adds or refreshes what it names; absence removes nothing.
#[derive(Clone, Debug, Default)]
pub struct StateUpdate<'a> {
    /// The replica that reports.
    pub replica: &'a str,
    /// Its tenant.
    pub tenant: &'a str,
    /// Its model.
    pub model: &'a str,
    /// Scheme of all hashes in the update.
    pub scheme: &'a str,
    /// Partition of entries that name none.
    pub adapter: &'a str,
    /// When the state was true; `None` means now.
    pub at: Option<Timestamp>,
    /// The prefixes.
    pub prefixes: Vec<PrefixEntry<'a>>,
    /// Statistics of the replica.
    pub stats: Option<ReplicaStats<'a>>,
}

/// One prefix: a single hash, or a chain of block hashes, or both. As received: nothing is checked yet.
#[derive(Clone, Copy, Debug)]
pub struct PrefixEntry<'a> {
    /// Hash of the whole prefix; empty where there is none.
    pub prefix_hash: &'a [u8],
    /// Tokens that `prefix_hash` stands for.
    pub token_count: i32,
    /// Hash of each block, from the start of the sequence.
    pub block_hashes: HashList<'a>,
    /// Tokens of each block.
    pub block_token_counts: &'a [i32],
    /// Where it is held.
    pub tier: Tier,
    /// Partition; empty means the update's.
    pub adapter: &'a str,
}

/// Statistics of a replica, as received.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ReplicaStats<'a> {
    /// Bytes of KV cache.
    pub cache_memory_bytes: i64,
    /// Share of queried tokens found in cache, 0..1.
    pub hit_rate: f32,
    /// Share of the KV cache in use, 0..1.
    pub pressure: f32,
    /// Version of the reporting client.
    pub client_version: &'a str,
    /// Tokens found in tier 2.
    pub t2_hit_tokens: i64,
    /// Tokens asked of tier 2.
    pub t2_query_tokens: i64,
}

/// Something that happened to one replica.
#[derive(Clone, Copy, Debug)]
pub struct CacheEvent<'a> {
    /// What happened.
    pub kind: EventKind,
    /// To whom.
    pub replica: &'a str,
    /// In which tenant.
    pub tenant: &'a str,
    /// In which model.
    pub model: &'a str,
    /// The hash that an eviction names.
    pub prefix_hash: &'a [u8],
    /// The partition that an eviction is limited to; empty means all.
    pub adapter: &'a str,
    /// When; `None` means now.
    pub at: Option<Timestamp>,
}

/// Kind of a [`CacheEvent`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EventKind {
    /// A prefix was stored. Changes nothing: an event carries no hash scheme.
    PrefixAdded,
    /// A prefix was dropped.
    PrefixEvicted,
    /// The replica is alive.
    ReplicaUpdated,
    /// The replica dropped everything.
    AllCleared,
    /// A kind this version does not know; changes nothing.
    Unknown,
}

impl EventKind {
    /// Label in metrics and replay tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::PrefixAdded => "prefix_added",
            Self::PrefixEvicted => "prefix_evicted",
            Self::ReplicaUpdated => "replica_updated",
            Self::AllCleared => "all_cleared",
            Self::Unknown => "unknown",
        }
    }
}
