//! Who is about to hold what: the chains of delivered hints, until reports confirm them or their time is over.
//!
//! A chain is claimed at some of its blocks only, two in each doubling of the depth and the last one, so that a long prompt
//! costs no more than a few probes. What is claimed of a longer prompt's head is therefore at least two thirds of it.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::atomic::{AtomicUsize, Ordering};

use foldhash::fast::{FoldHasher, RandomState};
use hashbrown::HashMap;
use parking_lot::RwLock;
use smallvec::SmallVec;

use crate::decision::{ChainCounts, Input, Query};
use crate::model::{HashList, PrefixEntry, StateUpdate, Timestamp};

/// Claims kept at most; for further ones the oldest of the same part go.
pub const MAX_CLAIMS: usize = 262_144;

const SHARDS: usize = 64;
const MAX_SHARD_CLAIMS: usize = MAX_CLAIMS / SHARDS;

/// Blocks of a chain of `blocks` that are claimed and asked for, from 0, in order: the 1st, 2nd, 3rd, 4th, 6th, 8th, 12th,
/// and the last.
pub(super) fn checkpoints(blocks: usize) -> impl Iterator<Item = usize> {
    let doublings =
        std::iter::successors(Some((2_usize, 3_usize)), |(depth, next)| Some((*next, *depth * 2)));
    let depths = std::iter::once(1).chain(doublings.map(|(depth, _)| depth));
    let inner = depths.take_while(move |depth| *depth < blocks).map(|depth| depth - 1);
    inner.chain(blocks.checked_sub(1))
}

/// Makes keys of blocks: tenant, model, scheme, adapter and hash in 64 bits.
#[derive(Debug, Default)]
pub(super) struct Keys {
    hasher: RandomState,
}

/// The keys of one chain.
pub(super) struct ChainKeys<'a> {
    domain: FoldHasher<'a>,
    hashes: ChainHashes<'a>,
}

enum ChainHashes<'a> {
    Chain(HashList<'a>, ChainCounts<'a>),
    One(&'a [u8]),
}

impl ChainKeys<'_> {
    pub(super) fn len(&self) -> usize {
        match &self.hashes {
            ChainHashes::Chain(hashes, _) => hashes.len(),
            ChainHashes::One(_) => 1,
        }
    }

    /// The key of block `at`.
    pub(super) fn key(&self, at: usize) -> u64 {
        match &self.hashes {
            ChainHashes::Chain(hashes, _) => key(&self.domain, hashes.get(at)),
            ChainHashes::One(hash) => key(&self.domain, hash),
        }
    }

    /// Tokens of the first `blocks` blocks; an exact hash stands for as many as there may be.
    pub(super) fn tokens(&self, blocks: usize) -> i32 {
        match &self.hashes {
            ChainHashes::Chain(_, counts) => counts.sum(blocks),
            ChainHashes::One(_) => i32::MAX,
        }
    }
}

fn key(domain: &FoldHasher<'_>, hash: &[u8]) -> u64 {
    let mut hasher = domain.clone();
    hasher.write(hash);
    hasher.finish()
}

impl Keys {
    fn domain(&self, names: [&str; 4]) -> FoldHasher<'_> {
        let mut hasher = self.hasher.build_hasher();
        for name in names {
            hasher.write_usize(name.len());
            hasher.write(name.as_bytes());
        }
        hasher
    }

    /// The keys that `query` is matched by; `None` where it has no hash.
    pub(super) fn of_query<'a>(&'a self, query: &Query<'a>) -> Option<ChainKeys<'a>> {
        let domain = self.domain([query.tenant, query.model, query.scheme, query.adapter]);
        let hashes = match query.input {
            Input::Chain { hashes, counts } => ChainHashes::Chain(hashes.list(), *counts),
            Input::Exact(hash) => ChainHashes::One(hash.as_bytes()),
            Input::Nothing => return None,
        };
        Some(ChainKeys { domain, hashes })
    }

    /// The keys of what an entry of a report says is held.
    pub(super) fn of_entry<'a>(
        &'a self,
        update: &StateUpdate<'a>,
        entry: &PrefixEntry<'a>,
    ) -> impl Iterator<Item = u64> + use<'a> {
        let adapter = if entry.adapter.is_empty() { update.adapter } else { entry.adapter };
        let domain = self.domain([update.tenant, update.model, update.scheme, adapter]);
        let (blocks, whole) = (entry.block_hashes, entry.prefix_hash);
        let hashes = (0..blocks.len()).map(move |at| blocks.get(at));
        let hashes = hashes.chain(Some(whole).filter(|whole| !whole.is_empty()));
        hashes.map(move |hash| key(&domain, hash))
    }
}

#[derive(Clone, Copy, Debug)]
struct Claim {
    number: u32,
    expires_ns: i64,
}

#[derive(Debug, Default)]
struct Shard {
    by_key: HashMap<u64, SmallVec<[Claim; 2]>>,
    /// Claims in the order in which they came; one that was removed keeps its place until its turn.
    order: VecDeque<(i64, u64)>,
}

/// All claims.
#[derive(Debug)]
pub(super) struct Claims {
    shards: Vec<RwLock<Shard>>,
    count: AtomicUsize,
}

impl Default for Claims {
    fn default() -> Self {
        let shards = std::iter::repeat_with(RwLock::default).take(SHARDS).collect();
        Self { shards, count: AtomicUsize::new(0) }
    }
}

impl Claims {
    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many there are, those included whose time is over and that nobody came across since.
    pub(super) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    fn shard(&self, key: u64) -> &RwLock<Shard> {
        &self.shards[(key >> 32) as usize % SHARDS]
    }

    /// Tells `visit` who claims `key`.
    pub(super) fn visit(&self, key: u64, now: Timestamp, mut visit: impl FnMut(u32)) {
        let shard = self.shard(key).read();
        let claims = shard.by_key.get(&key).into_iter().flatten();
        claims.filter(|claim| claim.expires_ns > now.as_ns()).for_each(|claim| visit(claim.number));
    }

    /// Replica `number` claims `keys`.
    pub(super) fn add(&self, keys: &[u64], number: u32, expires: Timestamp, now: Timestamp) {
        let expires_ns = expires.as_ns();
        for key in keys {
            let mut shard = self.shard(*key).write();
            let mut gone = 0;
            while let Some((at_ns, _)) = shard.order.front()
                && (*at_ns <= now.as_ns() || shard.order.len() >= MAX_SHARD_CLAIMS)
            {
                gone += shard.forget_oldest();
            }
            let claims = shard.by_key.entry(*key).or_default();
            let came = match claims.iter_mut().find(|claim| claim.number == number) {
                Some(claim) => {
                    claim.expires_ns = claim.expires_ns.max(expires_ns);
                    0
                }
                None => {
                    claims.push(Claim { number, expires_ns });
                    1
                }
            };
            shard.order.push_back((expires_ns, *key));
            self.count.fetch_add(came, Ordering::Relaxed);
            self.count.fetch_sub(gone, Ordering::Relaxed);
        }
    }

    /// Replica `number` claims `keys` no more.
    pub(super) fn remove(&self, keys: &[u64], number: u32) {
        for key in keys {
            let gone = self.shard(*key).write().retain(*key, |claim| claim.number != number);
            self.count.fetch_sub(gone, Ordering::Relaxed);
        }
    }
}

impl Shard {
    /// Takes the first of the order, and the claims that end no later; how many those were.
    fn forget_oldest(&mut self) -> usize {
        match self.order.pop_front() {
            Some((at_ns, key)) => self.retain(key, |claim| claim.expires_ns > at_ns),
            None => 0,
        }
    }

    fn retain(&mut self, key: u64, mut keep: impl FnMut(&Claim) -> bool) -> usize {
        let Some(claims) = self.by_key.get_mut(&key) else { return 0 };
        let before = claims.len();
        claims.retain(|claim| keep(claim));
        let left = claims.len();
        if left == 0 {
            self.by_key.remove(&key);
        }
        before - left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: i64) -> Timestamp {
        Timestamp::from_ns(ns)
    }

    #[test]
    fn two_blocks_of_each_doubling_and_the_last() {
        let of = |blocks| checkpoints(blocks).collect::<Vec<_>>();
        assert_eq!(of(0), [0; 0]);
        assert_eq!(of(1), [0]);
        assert_eq!(of(2), [0, 1]);
        assert_eq!(of(7), [0, 1, 2, 3, 5, 6]);
        assert_eq!(of(100), [0, 1, 2, 3, 5, 7, 11, 15, 23, 31, 47, 63, 95, 99]);
        assert_eq!(of(131_072).len(), 34);
    }

    #[test]
    fn claims_end_and_never_outgrow_their_bound() {
        let claims = Claims::default();
        let seen = |key, now| {
            let mut seen = Vec::new();
            claims.visit(key, at(now), |number| seen.push(number));
            seen
        };
        claims.add(&[7], 1, at(100), at(0));
        claims.add(&[7], 2, at(200), at(0));
        assert_eq!((seen(7, 99), seen(7, 100), seen(7, 200)), (vec![1, 2], vec![2], vec![]));
        claims.remove(&[7], 2);
        assert_eq!((seen(7, 99), claims.len()), (vec![1], 1));
        let shard = |n: u64| n << 38;
        for n in 0..2 * MAX_SHARD_CLAIMS as u64 {
            claims.add(&[shard(n)], 3, at(1_000), at(150));
        }
        assert_eq!(claims.len(), MAX_SHARD_CLAIMS);
        assert_eq!(
            (seen(shard(0), 151), seen(shard(2 * MAX_SHARD_CLAIMS as u64 - 1), 151)),
            (vec![], vec![3])
        );
    }
}
