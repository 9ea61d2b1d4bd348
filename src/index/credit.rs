//! Credit for what was delivered.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::read::with_tokens;
use super::segment::{place_of, slots_of, span};
use super::state::{Path, State};
use super::{Index, Section};
use crate::decision::{ChainCounts, Input, Query};
use crate::model::{HashList, ReplicaId};

/// Hits that an entry counts at most, so that the number of lanes to look at for a victim is bounded.
pub(super) const MAX_HITS: u8 = 255;

/// Slots that are credited in one step of a section.
const STEP: u32 = 16;

impl Index {
    /// Marks the keys behind a delivered prefix match as hit, and under LFU credits one access to each entry that
    /// contributed tokens to a delivered replica.
    ///
    /// `delivered` gives each replica with the blocks of its run; the count is ignored for an exact lookup. What has
    /// gone from the index since the lookup is passed over.
    pub fn credit(&self, query: &Query<'_>, delivered: &[(&ReplicaId, u32)], counts_hits: bool) {
        let Some(most) = delivered.iter().map(|(_, blocks)| *blocks).max() else { return };
        if counts_hits {
            with_walk(query, most, |walk| self.count_hits(walk, delivered));
        } else {
            self.credit_keys(query, most);
        }
    }

    /// Marks the keys behind a delivered prefix match as hit: those of the first `most` blocks, or that of an exact lookup.
    pub fn credit_keys(&self, query: &Query<'_>, most: u32) {
        with_walk(query, most, |walk| self.mark_keys(walk));
    }

    fn mark_keys(&self, walk: Walk<'_>) {
        let state = self.read_state();
        let Some(path) = path(&state, walk.query) else { return };
        let (mut at, mut last) = (0, u32::MAX);
        while at < walk.blocks {
            let piece = walk.next(&state, path, at, last, u32::MAX);
            if let Some(Piece { segment, mask, .. }) = piece {
                state.mark_hot(path.scope, segment, mask);
            }
            (at, last) = piece.map_or((at + 1, u32::MAX), |piece| (at + piece.count as usize, piece.last));
        }
    }

    /// Credits in bounded sections; what a section looked up is looked up anew in the next.
    fn count_hits(&self, walk: Walk<'_>, delivered: &[(&ReplicaId, u32)]) {
        let is_exact = matches!(walk.query.input, Input::Exact(_));
        // A chain that names a hash twice made one access to its entry; the first place lies in the most runs.
        let mut seen: HashMap<u32, u64> = HashMap::new();
        let mut section = self.section();
        let (mut at, mut last) = (0, u32::MAX);
        while at < walk.blocks {
            if section.is_full() {
                section.renew();
                last = u32::MAX;
            }
            let found = path(&section, walk.query);
            let piece = found.and_then(|path| Some((path, walk.next(&section, path, at, last, STEP)?)));
            let Some((path, piece)) = piece else {
                section.work += 1;
                (at, last) = (at + 1, u32::MAX);
                continue;
            };
            let old = seen.entry(piece.segment).or_default();
            let mask = piece.mask & !*old;
            *old |= mask;
            let limit = |blocks: u32| match (blocks as usize).saturating_sub(at) {
                _ if is_exact => mask,
                0 => 0,
                left => mask & span(piece.slot, (left as u32).min(piece.count)),
            };
            if shares_classes(&section, path.scope, piece.segment, delivered, limit) {
                for slot in slots_of(mask) {
                    credit(&mut section, walk, at, piece, delivered, |blocks| limit(blocks) & 1 << slot);
                }
            } else {
                credit(&mut section, walk, at, piece, delivered, limit);
            }
            if walk.next(&section, path, at, last, STEP).is_some_and(|still| still.segment == piece.segment) {
                section.mark_hot(path.scope, piece.segment, mask);
            }
            (at, last) = (at + piece.count as usize, piece.last);
        }
        section.end();
    }
}

/// Calls `credit` with the first `most` blocks of the chain behind an answer, or with the one hash.
fn with_walk(query: &Query<'_>, most: u32, credit: impl FnOnce(Walk<'_>)) {
    let exact;
    let (hashes, counts, blocks) = match query.input {
        // A block without tokens contributed nothing.
        Input::Chain { hashes, counts } => (hashes.list(), *counts, (most as usize).min(hashes.list().len())),
        Input::Exact(hash) => {
            exact = [bytes::Bytes::copy_from_slice(hash.as_bytes())];
            (HashList::Wire(&exact), ChainCounts::Uniform(1), 1)
        }
        Input::Nothing => return,
    };
    credit(Walk { query, hashes, counts, blocks });
}

/// The chain behind a delivered answer.
#[derive(Clone, Copy)]
struct Walk<'a> {
    query: &'a Query<'a>,
    hashes: HashList<'a>,
    counts: ChainCounts<'a>,
    /// Blocks of the longest run.
    blocks: usize,
}

/// Blocks that lie in one segment.
#[derive(Clone, Copy)]
struct Piece {
    segment: u32,
    slot: u32,
    count: u32,
    /// Those of its slots that count for something.
    mask: u64,
    last: u32,
}

impl Walk<'_> {
    /// The blocks from `at` on that lie in one segment, `most` of them; `last` is the key of the block before.
    fn next(&self, state: &State, path: Path, at: usize, last: u32, most: u32) -> Option<Piece> {
        let hash = self.hashes.get(at);
        let guess = state.guess_after(last);
        let key = match state.is_key(guess, path.partition, hash) {
            true => guess,
            false => state.find_key(path.partition, hash)?,
        };
        let (segment, slot) = place_of(key);
        let run = state.segments[segment].run(slot, self.hashes, at);
        let count = run.min((self.blocks - at) as u32).min(most);
        let mask = with_tokens(span(slot, count), self.counts, at, slot);
        Some(Piece { segment, slot, count, mask, last: key + count - 1 })
    }
}

/// Whether entries of two replicas lie in one order at one place: then their slots have to be credited in turns.
fn shares_classes(
    state: &State,
    scope: u32,
    segment: u32,
    delivered: &[(&ReplicaId, u32)],
    limit: impl Fn(u32) -> u64,
) -> bool {
    let held = &state.segments[segment];
    let mut classes: SmallVec<[(i64, u8, u32); 16]> = SmallVec::new();
    for (replica, blocks) in delivered {
        let Some(member) = state.scopes[scope].members.get(*replica).copied() else { continue };
        let of_member = held.of_owner(member);
        for at in of_member.filter(|at| held.hold(*at).mask() & limit(*blocks) != 0) {
            if held.hold(at).is_varied() {
                return true;
            }
            classes.push((held.hold(at).at_ns(), state.groups[held.ids[at]].hits, member));
        }
    }
    classes.sort_unstable();
    classes.windows(2).any(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1))
}

/// One access to each replica's entries of the piece at the slots that `limit` gives for its blocks.
fn credit(
    section: &mut Section<'_>,
    walk: Walk<'_>,
    at: usize,
    piece: Piece,
    delivered: &[(&ReplicaId, u32)],
    limit: impl Fn(u32) -> u64,
) {
    for (replica, blocks) in delivered {
        let mask = limit(*blocks);
        if mask == 0 {
            continue;
        }
        if section.is_full() {
            section.renew();
        }
        // A section that began anew may find the piece elsewhere, or gone.
        let Some(path) = path(section, walk.query) else { return };
        let is_there = walk.next(section, path, at, piece.last.wrapping_sub(piece.count), STEP);
        if is_there.is_none_or(|now| (now.segment, now.slot) != (piece.segment, piece.slot)) {
            return;
        }
        section.work += 1;
        let Some(member) = section.scopes[path.scope].members.get(*replica).copied() else { continue };
        credit_slots(section, path.tenant, piece.segment, member, mask);
    }
}

fn credit_slots(state: &mut State, tenant: u32, segment: u32, member: u32, mask: u64) {
    let held = &state.segments[segment];
    let of_member: SmallVec<[(u32, u64); 4]> = held
        .of_owner(member)
        .map(|at| (held.ids[at], held.hold(at).mask() & mask))
        .filter(|(_, part)| *part != 0)
        .collect();
    // Entries of one place in the order are credited by slot: those of the same hits and time lie in few groups.
    for (group, part) in of_member {
        let hits = state.groups[group].hits;
        if hits < MAX_HITS {
            let (segment, at) = state.locate(group);
            state.relane(tenant, segment, at, part, hits + 1);
        }
    }
}

fn path(state: &State, query: &Query<'_>) -> Option<Path> {
    let scope = state.find_scope(query.tenant, query.model)?;
    let domain = state.scopes[scope].domains.get(query.scheme)?;
    let partition = state.domains[*domain].partitions.get(query.adapter)?;
    Some(state.path_of(*partition))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{ChainCounts, ChainHashes};
    use crate::index::{IndexConfig, TenantSettings};
    use crate::model::{
        CacheEvent, EventKind, Eviction, HashList, PrefixEntry, PrefixHash, StateUpdate, Tier, Timestamp,
    };

    const START_NS: i64 = 1_000_000_000_000;

    fn now() -> Timestamp {
        Timestamp::from_ns(START_NS)
    }

    fn report(index: &Index, replica: &str, hashes: &[PrefixHash], now: Timestamp) {
        let counts = vec![16; hashes.len()];
        let prefixes = vec![PrefixEntry {
            prefix_hash: &[],
            token_count: 0,
            block_hashes: HashList::Fingerprints(hashes),
            block_token_counts: &counts,
            tier: Tier::T1,
            adapter: "",
        }];
        let update =
            StateUpdate { replica, tenant: "t", model: "m", scheme: "s", prefixes, ..StateUpdate::default() };
        assert_eq!(index.apply_update(&update, now).dropped, []);
    }

    fn query<'a>(input: &'a Input<'a>) -> Query<'a> {
        Query {
            tenant: "t",
            model: "m",
            scheme: "s",
            adapter: "",
            input,
            now: now(),
            ttl_ns: 1,
            wants_warm: false,
            wants_heard: false,
        }
    }

    fn chain(hashes: &[PrefixHash]) -> Input<'static> {
        Input::Chain { hashes: ChainHashes::Derived(hashes.to_vec()), counts: ChainCounts::Uniform(16) }
    }

    #[test]
    fn what_has_gone_is_passed_over_and_the_rest_is_hot() {
        let index = Index::new(IndexConfig::default());
        let hashes = [1, 2, 3].map(PrefixHash::new);
        report(&index, "r", &hashes, now());
        let gone = CacheEvent {
            kind: EventKind::PrefixEvicted,
            replica: "r",
            tenant: "t",
            model: "m",
            prefix_hash: hashes[1].as_bytes(),
            adapter: "",
            at: None,
        };
        assert_eq!(index.apply_event(&gone, now()).removed, 1);
        index.credit(&query(&chain(&hashes)), &[(&ReplicaId::from("r"), 3)], false);
        assert_eq!(index.cache_state("t", "m").hot_prefixes, 2);
    }

    #[test]
    fn nothing_delivered_makes_nothing_hot() {
        let index = Index::new(IndexConfig::default());
        let hash = PrefixHash::new(1);
        report(&index, "r", &[hash], now());
        index.credit(&query(&Input::Exact(crate::decision::ExactHash::Derived(hash, 16))), &[], false);
        assert_eq!(index.cache_state("t", "m").hot_prefixes, 0);
    }

    #[test]
    fn a_hash_that_a_chain_repeats_is_one_access() {
        let default_settings = TenantSettings { eviction: Eviction::Lfu, ..TenantSettings::default() };
        let index = Index::new(IndexConfig { max_entries: 2, default_settings, ..IndexConfig::default() });
        let [repeated, wanted, other] = [1, 2, 3].map(PrefixHash::new);
        report(&index, "r", &[repeated, wanted], now());
        let replica = ReplicaId::from("r");
        index.credit(&query(&chain(&[repeated; 3])), &[(&replica, 3)], true);
        for _ in 0..2 {
            index.credit(&query(&chain(&[wanted])), &[(&replica, 1)], true);
        }
        // Two hits against one: the repeated hash is the first to go.
        let later = now().plus_ns(120_000_000_000);
        report(&index, "q", &[other], later);
        let held = |hash| {
            let input = Input::Exact(crate::decision::ExactHash::Derived(hash, 16));
            !index.read(&Query { ttl_ns: i64::MAX, ..query(&input) }).holders.is_empty()
        };
        assert_eq!([repeated, wanted, other].map(held), [false, true, true]);
    }
}
