//! Any bytes as an engine's payloads: nothing panics, bounds hold, and what the changes say is what is held.
//!
//! The first byte chooses options; payloads follow, each behind its length in two bytes, and are applied one after the
//! other, so that one can follow on what another stored.
#![no_main]

use std::collections::BTreeMap;

use icache::engine::{Change, MapperOptions, Mapper, decode_batch};
use icache::model::{AdapterId, PrefixHash, Tier, Timestamp};
use libfuzzer_sys::fuzz_target;

type Entries = BTreeMap<(AdapterId, PrefixHash), (Tier, i32)>;

const MAX_HELD: usize = 64;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, mut rest)) = bytes.split_first() else { return };
    let mut mapper = Mapper::new(MapperOptions {
        ignore_extra_keys: choice & 1 != 0,
        l2_retains: choice & 2 != 0,
        max_held_blocks: MAX_HELD,
        max_retained_blocks: 8,
        max_held_back_blocks: 16,
        max_held_back_tokens: 1_024,
        held_back_ns: 10,
        ..MapperOptions::default()
    });
    let mut index = Entries::new();
    let mut now = 0;
    while let Some((len, after)) = rest.split_first_chunk::<2>() {
        let (payload, after) = after.split_at(after.len().min(usize::from(u16::from_le_bytes(*len))));
        rest = after;
        now += 1;
        match decode_batch(payload) {
            Ok(batch) => apply(&mut index, &mapper.apply(&batch, Timestamp::from_ns(now)).changes),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        let held: Entries = mapper
            .held()
            .map(|held| ((held.adapter.clone(), held.prefix_hash), (held.tier, held.cumulative_tokens)))
            .collect();
        assert_eq!(index, held);
        assert!(mapper.counts().held_blocks <= MAX_HELD && held.len() <= MAX_HELD);
        assert!(mapper.counts().held_back_blocks <= 16);
        let listed: usize = mapper.prefixes().iter().map(|prefix| mapper.held_at(*prefix).count()).sum();
        assert_eq!(listed, held.len());
    }
});

fn apply(index: &mut Entries, changes: &[Change]) {
    for change in changes {
        match change {
            Change::Stored { adapter, tier, blocks, .. } => {
                for (prefix_hash, tokens) in blocks {
                    index.insert((adapter.clone(), *prefix_hash), (*tier, *tokens));
                }
            }
            Change::Removed { prefix_hash, adapter } => index.retain(|(partition, hash), _| {
                hash != prefix_hash || !(adapter.as_str().is_empty() || partition == adapter)
            }),
            Change::Cleared => index.clear(),
        }
    }
}
