//! Random events against a naive model: a plain list of physical copies.

use std::collections::{BTreeMap, BTreeSet};

use icache::engine::{Fed, Identity, Mapper, MapperOptions, decode_batch, feed};
use icache::hash::fingerprint_chain;
use icache::model::{EventKind, HashScheme, ModelId, PrefixHash, ReplicaId, TenantId, Tier, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{Entries, apply, held, msgpack};

/// Blocks an engine may hold: hash, parent, content, adapter, whether salted. Some stand for the same prefix.
const WORLD: [(u64, Option<u64>, u32, &str, bool); 12] = [
    (1, None, 1, "", false),
    (2, Some(1), 2, "", false),
    (3, Some(2), 3, "", false),
    (4, Some(1), 4, "", false),
    (11, None, 1, "sql", false),
    (12, Some(11), 2, "sql", false),
    (21, None, 1, "", true),
    (22, Some(21), 2, "", false),
    (23, Some(22), 3, "", false),
    (31, Some(1), 2, "", false),
    (41, None, 1, "law", false),
    (42, Some(2), 3, "sql", false),
];
const MEDIA: [(&str, Tier); 4] =
    [("GPU", Tier::T1), ("CPU", Tier::T2), ("CPU_PINNED", Tier::T2), ("DISK", Tier::T3)];

/// From the start of the sequence to block `at` of the world.
fn path(at: usize) -> Vec<usize> {
    let mut path = vec![at];
    while let Some(parent) = WORLD[path[0]].1 {
        path.insert(0, WORLD.iter().position(|block| block.0 == parent).unwrap());
    }
    path
}

/// The last `len` blocks of that path, as far as they have one adapter: what one event can hold.
fn stored(at: usize, len: usize) -> Vec<usize> {
    let mut path = path(at);
    path.retain(|block| WORLD[*block].3 == WORLD[at].3);
    path.split_off(path.len().saturating_sub(len))
}

fn tokens(blocks: &[usize]) -> Vec<u32> {
    blocks.iter().flat_map(|at| [WORLD[*at].2, 0]).collect()
}

fn entry(at: usize) -> ((String, PrefixHash), i32) {
    let tokens = tokens(&path(at));
    let hash = *fingerprint_chain(&tokens, 2, None).last().unwrap();
    ((WORLD[at].3.to_owned(), hash), tokens.len() as i32)
}

#[derive(Clone, Debug)]
enum Op {
    /// The last so many blocks of the path to a block, as one event.
    Store(usize, usize, Place),
    /// Without tokens.
    Copy(usize, Place),
    Remove(usize, Place),
    Clear,
}

/// Medium and group.
type Place = (usize, u32);

impl Op {
    fn event(&self) -> Value {
        let place = |(medium, group): Place, mut event: Value| {
            event["medium"] = json!(MEDIA[medium].0);
            event["group_idx"] = json!(group);
            event
        };
        match *self {
            Op::Store(at, len, to) => {
                let blocks = stored(at, len);
                let event = json!({
                    "type": "BlockStored",
                    "block_hashes": blocks.iter().map(|at| WORLD[*at].0).collect::<Vec<_>>(),
                    "parent_block_hash": WORLD[blocks[0]].1,
                    "token_ids": tokens(&blocks),
                    "block_size": 2,
                    "lora_name": WORLD[at].3,
                    "cache_salt": if WORLD[blocks[0]].4 { "pepper" } else { "" },
                });
                place(to, event)
            }
            Op::Copy(at, to) => {
                let hash = WORLD[at].0;
                place(
                    to,
                    json!(
                        {"type": "BlockStored", "block_hashes": [hash], "token_ids": [], "block_size": 2}
                    ),
                )
            }
            Op::Remove(at, from) => {
                place(from, json!({"type": "BlockRemoved", "block_hashes": [WORLD[at].0]}))
            }
            Op::Clear => json!({"type": "AllBlocksCleared"}),
        }
    }
}

struct Copy {
    block: usize,
    place: Place,
    waits_for: Option<u64>,
}

#[derive(Default)]
struct Naive {
    ignore_extra_keys: bool,
    l2_retains: bool,
    copies: Vec<Copy>,
    retained: BTreeSet<usize>,
}

impl Naive {
    fn knows(&self, hash: u64) -> bool {
        let known = self.copies.iter().filter(|copy| copy.waits_for.is_none());
        known.map(|copy| copy.block).chain(self.retained.iter().copied()).any(|block| WORLD[block].0 == hash)
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Store(at, len, place) => {
                let blocks = stored(at, len);
                let parent = WORLD[blocks[0]].1;
                let waits_for = parent.filter(|parent| !self.knows(*parent));
                self.copies.extend(blocks.iter().map(|block| Copy { block: *block, place, waits_for }));
                while let Some(at) =
                    self.copies.iter().position(|copy| copy.waits_for.is_some_and(|hash| self.knows(hash)))
                {
                    self.copies[at].waits_for = None;
                }
            }
            Op::Copy(block, place) => {
                if self.knows(WORLD[block].0) {
                    let waits_for = None;
                    self.copies.push(Copy { block, place, waits_for });
                }
            }
            Op::Remove(block, place) => self.remove(block, place),
            Op::Clear => {
                self.copies.clear();
                self.retained.clear();
            }
        }
    }

    fn remove(&mut self, block: usize, place: Place) {
        let find = |waits: bool| {
            let mut copies = self.copies.iter();
            copies.position(|copy| {
                copy.block == block && copy.place == place && copy.waits_for.is_some() == waits
            })
        };
        if let Some(at) = find(true) {
            self.copies.remove(at);
            return;
        }
        let removed = find(false).map(|at| self.copies.remove(at));
        let tier = MEDIA[place.0].1;
        if tier == Tier::T2 {
            self.retained.remove(&block);
        }
        let on_gpu = |copy: &Copy| {
            copy.block == block && copy.waits_for.is_none() && MEDIA[copy.place.0].1 == Tier::T1
        };
        if removed.is_some() && tier == Tier::T1 && !self.copies.iter().any(on_gpu) && self.l2_retains {
            self.retained.insert(block);
        }
    }

    fn held(&self) -> Entries {
        let copies = self.copies.iter().filter(|copy| copy.waits_for.is_none());
        let copies = copies.map(|copy| (copy.block, MEDIA[copy.place.0].1));
        let retained = self.retained.iter().map(|block| (*block, Tier::T2));
        let mut entries = Entries::new();
        for (block, tier) in copies.chain(retained) {
            let salted = path(block).iter().any(|block| WORLD[*block].4);
            if salted && !self.ignore_extra_keys {
                continue;
            }
            let (key, tokens) = entry(block);
            let entry = entries.entry(key).or_insert((tier, tokens));
            entry.0 = entry.0.min(tier);
        }
        entries
    }
}

/// What the index does with what it is fed, in the plainest way.
fn apply_fed(index: &mut Entries, fed: Fed<'_>) {
    let hash = |bytes: &[u8]| PrefixHash::new(u64::from_be_bytes(bytes.try_into().unwrap()));
    match fed {
        Fed::Update(update) => {
            for entry in update.prefixes {
                let key = |bytes| (entry.adapter.to_owned(), hash(bytes));
                if !entry.prefix_hash.is_empty() {
                    index.insert(key(entry.prefix_hash), (entry.tier, entry.token_count));
                }
                let mut tokens = 0;
                for (bytes, count) in entry.block_hashes.iter().zip(entry.block_token_counts) {
                    tokens += count;
                    index.insert(key(bytes), (entry.tier, tokens));
                }
            }
        }
        Fed::Event(event) if event.kind == EventKind::AllCleared => index.clear(),
        Fed::Event(event) => index.retain(|(adapter, prefix), _| {
            *prefix != hash(event.prefix_hash) || !(event.adapter.is_empty() || adapter == event.adapter)
        }),
    }
}

fn ops() -> impl Strategy<Value = Vec<Vec<Op>>> {
    let place = || (0..MEDIA.len(), 0..2_u32);
    let block = || 0..WORLD.len();
    let op = prop_oneof![
        60 => (block(), 1..4_usize, place()).prop_map(|(at, len, to)| Op::Store(at, len, to)),
        15 => (block(), place()).prop_map(|(at, to)| Op::Copy(at, to)),
        80 => (block(), place()).prop_map(|(at, from)| Op::Remove(at, from)),
        2 => Just(Op::Clear),
    ];
    proptest::collection::vec(proptest::collection::vec(op, 1..6), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_is_held_is_what_the_copies_are(
        batches in ops(),
        ignore_extra_keys in any::<bool>(),
        l2_retains in any::<bool>(),
    ) {
        let options = MapperOptions { ignore_extra_keys, l2_retains, ..MapperOptions::default() };
        let mut mapper = Mapper::new(options);
        let mut naive = Naive { ignore_extra_keys, l2_retains, ..Naive::default() };
        let (mut by_changes, mut by_feed) = (BTreeMap::new(), BTreeMap::new());
        let identity = Identity {
            replica: ReplicaId::from("r"),
            tenant: TenantId::from("t"),
            model: ModelId::from("m"),
            scheme: HashScheme::from("vllm"),
        };
        for batch in batches {
            let events: Vec<Value> = batch.iter().map(Op::event).collect();
            let payload = msgpack(&json!([1.0, events]));
            let applied = mapper.apply(&decode_batch(&payload).unwrap(), Timestamp::default());
            apply(&mut by_changes, &applied.changes);
            feed(&applied.changes, &identity, None, &mut |fed| apply_fed(&mut by_feed, fed));
            batch.iter().for_each(|op| naive.apply(op));
            let expected = naive.held();
            prop_assert_eq!(&held(&mapper), &expected);
            prop_assert_eq!(&by_changes, &expected);
            prop_assert_eq!(&by_feed, &expected);
            let waiting = naive.copies.iter().filter(|copy| copy.waits_for.is_some()).count();
            prop_assert_eq!(mapper.counts().held_back_blocks, waiting);
        }
    }
}
