//! An index, and short ways to tell it things and to ask it.

use bytes::Bytes;
use icache::decision::{ChainCounts, ChainHashes, Evidence, ExactHash, Input, Query};
use icache::index::{Applied, EventApplied, Index, IndexConfig, TenantSettings};
use icache::model::{
    CacheEvent, EventKind, Eviction, HashList, PrefixEntry, ReplicaId, ReplicaStats, StateUpdate, Tier,
    Timestamp,
};

pub const SECOND: i64 = 1_000_000_000;
/// The clock of every test stands here at first.
pub const NOW: i64 = 1_700_000_000 * SECOND;
pub const TTL: i64 = 600 * SECOND;

/// Where something is.
#[derive(Clone, Copy)]
pub struct At {
    pub replica: &'static str,
    pub tenant: &'static str,
    pub model: &'static str,
    pub scheme: &'static str,
    pub adapter: &'static str,
}

pub const HERE: At = At { replica: "r", tenant: "t", model: "m", scheme: "s", adapter: "" };

/// One entry of a report; a hash is the bytes of its name.
#[derive(Clone, Copy)]
pub struct Prefix<'a> {
    pub hash: &'a str,
    pub tokens: i32,
    pub blocks: &'a [&'a str],
    pub counts: &'a [i32],
    pub tier: Tier,
    pub adapter: &'static str,
}

pub const NOTHING: Prefix<'static> =
    Prefix { hash: "", tokens: 0, blocks: &[], counts: &[], tier: Tier::T1, adapter: "" };

pub fn one(hash: &str, tokens: i32) -> Prefix<'_> {
    Prefix { hash, tokens, ..NOTHING }
}

pub fn chain<'a>(blocks: &'a [&'a str], counts: &'a [i32]) -> Prefix<'a> {
    Prefix { blocks, counts, ..NOTHING }
}

/// What a lookup finds of one replica.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    pub replica: String,
    pub blocks: u32,
    pub tokens: i32,
    pub last_seen: i64,
    pub tier: Tier,
}

pub struct World(pub Index);

impl World {
    pub fn new() -> Self {
        Self::with(u64::MAX, Eviction::Lru)
    }

    pub fn with(max_entries: u64, eviction: Eviction) -> Self {
        let default_settings = TenantSettings { ttl_ns: TTL, eviction, max_keys: u64::MAX };
        Self(Index::new(IndexConfig { max_entries, default_settings, ..IndexConfig::default() }))
    }

    /// Bounded by bytes, not by entries.
    pub fn with_memory(max_memory_bytes: u64, eviction: Eviction) -> Self {
        let default_settings = TenantSettings { ttl_ns: TTL, eviction, max_keys: u64::MAX };
        let bounds = IndexConfig { max_memory_bytes, max_entries: u64::MAX, ..IndexConfig::default() };
        Self(Index::new(IndexConfig { default_settings, ..bounds }))
    }

    pub fn update(
        &self,
        place: At,
        prefixes: &[Prefix<'_>],
        stats: Option<ReplicaStats<'_>>,
        at: Option<i64>,
        now: i64,
    ) -> Applied {
        let blocks: Vec<Vec<Bytes>> = prefixes.iter().map(|prefix| bytes(prefix.blocks)).collect();
        let entries = prefixes.iter().zip(&blocks).map(|(prefix, blocks)| PrefixEntry {
            prefix_hash: prefix.hash.as_bytes(),
            token_count: prefix.tokens,
            block_hashes: HashList::Wire(blocks),
            block_token_counts: prefix.counts,
            tier: prefix.tier,
            adapter: prefix.adapter,
        });
        let update = StateUpdate {
            replica: place.replica,
            tenant: place.tenant,
            model: place.model,
            scheme: place.scheme,
            adapter: place.adapter,
            at: at.map(Timestamp::from_ns),
            prefixes: entries.collect(),
            stats,
        };
        self.0.apply_update(&update, Timestamp::from_ns(now))
    }

    /// A report of now that is taken whole.
    pub fn report(&self, place: At, prefixes: &[Prefix<'_>]) {
        self.report_at(place, prefixes, NOW);
    }

    pub fn report_at(&self, place: At, prefixes: &[Prefix<'_>], now: i64) {
        assert_eq!(self.update(place, prefixes, None, None, now).dropped, []);
    }

    pub fn stats(&self, place: At, hit_rate: f32, at: i64) {
        let stats = ReplicaStats { hit_rate, ..ReplicaStats::default() };
        assert_eq!(self.update(place, &[], Some(stats), Some(at), NOW).dropped, []);
    }

    pub fn event(&self, kind: EventKind, place: At, hash: &str, now: i64) -> EventApplied {
        let event = CacheEvent {
            kind,
            replica: place.replica,
            tenant: place.tenant,
            model: place.model,
            prefix_hash: hash.as_bytes(),
            adapter: place.adapter,
            at: None,
        };
        self.0.apply_event(&event, Timestamp::from_ns(now))
    }

    pub fn evidence(&self, place: At, input: &Input<'_>, now: i64) -> Evidence {
        self.0.read(&query(place, input, now))
    }

    pub fn exact(&self, place: At, hash: &str, now: i64) -> Vec<Found> {
        found(&self.evidence(place, &exact(hash), now))
    }

    pub fn exact_tokens(&self, hash: &str) -> Vec<i32> {
        self.exact(HERE, hash, NOW).into_iter().map(|found| found.tokens).collect()
    }

    pub fn chain(&self, place: At, blocks: &[&str], counts: &[i32], now: i64) -> Vec<Found> {
        let blocks = bytes(blocks);
        let hashes = ChainHashes::Given(HashList::Wire(&blocks));
        found(&self.evidence(place, &Input::Chain { hashes, counts: ChainCounts::Given(counts) }, now))
    }

    /// Delivers a chain match with the runs of `delivered`, or an exact one where there is a single hash.
    pub fn deliver(&self, place: At, blocks: &[&str], delivered: &[(&str, u32)]) {
        self.deliver_counts(place, blocks, &vec![16; blocks.len()], delivered);
    }

    /// The same, with the tokens of each block.
    pub fn deliver_counts(&self, place: At, blocks: &[&str], counts: &[i32], delivered: &[(&str, u32)]) {
        let ids: Vec<(ReplicaId, u32)> =
            delivered.iter().map(|(replica, blocks)| (ReplicaId::from(*replica), *blocks)).collect();
        let delivered: Vec<(&ReplicaId, u32)> = ids.iter().map(|(id, blocks)| (id, *blocks)).collect();
        let wire = bytes(blocks);
        let input = match blocks {
            [hash] => exact(hash),
            _ => Input::Chain {
                hashes: ChainHashes::Given(HashList::Wire(&wire)),
                counts: ChainCounts::Given(counts),
            },
        };
        self.0.credit(&query(place, &input, NOW), &delivered, true);
    }

    pub fn sweep(&self, now: i64) -> u64 {
        let swept = self.0.sweep(Timestamp::from_ns(now));
        swept.expired_lru + swept.expired_lfu
    }

    /// When each replica was last heard of.
    pub fn heard(&self, place: At) -> Vec<i64> {
        self.evidence(place, &Input::Nothing, NOW).heard.iter().map(|at| at.as_ns()).collect()
    }

    pub fn roster(&self, place: At) -> Vec<String> {
        let evidence = self.evidence(place, &Input::Nothing, NOW);
        evidence.roster.iter().map(|replica| replica.as_str().to_owned()).collect()
    }

    /// Hit rate and age of the replicas with statistics.
    pub fn warm(&self, place: At) -> Vec<(f32, i64)> {
        let evidence = self.evidence(place, &Input::Nothing, NOW);
        evidence.warm.iter().map(|warm| (warm.stats.hit_rate, warm.stats.reported_at.as_ns())).collect()
    }

    /// Whether index, tenant and model have entries.
    pub fn known(&self, place: At) -> [bool; 3] {
        let evidence = self.evidence(place, &Input::Nothing, NOW);
        [!evidence.index_is_empty, evidence.tenant_is_known, evidence.model_is_known]
    }
}

pub fn exact(hash: &str) -> Input<'_> {
    Input::Exact(ExactHash::Given(hash.as_bytes()))
}

fn bytes(hashes: &[&str]) -> Vec<Bytes> {
    hashes.iter().map(|hash| Bytes::copy_from_slice(hash.as_bytes())).collect()
}

fn query<'a>(place: At, input: &'a Input<'a>, now: i64) -> Query<'a> {
    Query {
        tenant: place.tenant,
        model: place.model,
        scheme: place.scheme,
        adapter: place.adapter,
        input,
        now: Timestamp::from_ns(now),
        ttl_ns: TTL,
        wants_warm: true,
        wants_heard: true,
    }
}

fn found(evidence: &Evidence) -> Vec<Found> {
    let mut found: Vec<Found> = evidence
        .holders
        .iter()
        .map(|holder| Found {
            replica: evidence.roster.get(holder.member).map_or("", |id| id.as_str()).to_owned(),
            blocks: holder.blocks,
            tokens: holder.matched_tokens,
            last_seen: holder.last_seen.as_ns(),
            tier: holder.tier,
        })
        .collect();
    found.sort_by(|a, b| a.replica.cmp(&b.replica));
    found
}
