//! Events in short, and the check that applies them step by step.

use icache::engine::{EngineDrop, Mapper, MapperOptions, Notice, decode_batch};
use icache::model::Timestamp;
use serde_json::{Value, json};

use crate::world::{Entries, Names, apply, held, msgpack};

/// Blocks of 2 tokens; block 1 to 8 of chain `a` hold tokens 0 to 15, of chain `b` 100 to 115.
pub const SIZE: usize = 2;
/// Events of a case are this far apart.
pub const STEP_NS: i64 = 1_000_000_000;

/// A store of blocks `from..` of a chain, named `hashes` by the engine.
pub fn store(hashes: &[i64], parent: Option<i64>, chain: char, from: usize) -> Value {
    let first = if chain == 'a' { 0 } else { 100 };
    let first = first + (from - 1) * SIZE;
    let tokens: Vec<usize> = (first..first + hashes.len() * SIZE).collect();
    json!({
        "type": "BlockStored", "block_hashes": hashes, "parent_block_hash": parent,
        "token_ids": tokens, "block_size": SIZE,
    })
}

pub fn copy(hashes: &[i64]) -> Value {
    with(store(hashes, None, 'a', 1), "token_ids", json!([]))
}

pub fn remove(hashes: &[i64]) -> Value {
    json!({"type": "BlockRemoved", "block_hashes": hashes})
}

pub fn clear() -> Value {
    json!(["AllBlocksCleared"])
}

pub fn with(mut event: Value, key: &str, value: Value) -> Value {
    event[key] = value;
    event
}

pub fn on(medium: &str, event: Value) -> Value {
    with(event, "medium", json!(medium))
}

pub fn group(group: u32, event: Value) -> Value {
    with(event, "group_idx", json!(group))
}

pub fn lora(name: &str, event: Value) -> Value {
    with(event, "lora_name", json!(name))
}

pub fn salt(event: Value) -> Value {
    with(event, "cache_salt", json!("pepper"))
}

pub fn keys(keys: Value, event: Value) -> Value {
    with(event, "extra_keys", keys)
}

pub fn names() -> Names {
    let mut names = Names::default();
    names.add("a", &(0..16).collect::<Vec<u32>>(), SIZE as u32);
    names.add("b", &(100..116).collect::<Vec<u32>>(), SIZE as u32);
    names
}

pub fn changes_of(mapper: &mut Mapper, events: Vec<Value>, now: Timestamp) -> (String, Vec<Notice>) {
    let payload = msgpack(&json!([1.0, events]));
    let before = held(mapper);
    let applied = mapper.apply(&decode_batch(&payload).unwrap(), now);
    let mut index: Entries = before;
    apply(&mut index, &applied.changes);
    assert_eq!(index, held(mapper), "what is held is what the changes say");
    (names().show_all(&applied.changes).join(", "), applied.notices)
}

/// One batch a step, with its changes; then the counters that are not 0.
#[track_caller]
pub fn check(options: MapperOptions, steps: Vec<(Value, &str)>, drops: &[(EngineDrop, u64)]) -> Mapper {
    let mut mapper = Mapper::new(options);
    for (at, (event, expected)) in steps.into_iter().enumerate() {
        let now = Timestamp::from_ns(at as i64 * STEP_NS);
        let (changes, _) = changes_of(&mut mapper, vec![event], now);
        assert_eq!(changes, expected, "step {at}");
    }
    let counts = mapper.counts().drops;
    let counts: Vec<_> = counts.iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(counts, drops);
    mapper
}

pub fn plain() -> MapperOptions {
    MapperOptions::default()
}
