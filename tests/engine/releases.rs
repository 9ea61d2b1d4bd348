//! The 16 releases: each file decodes to what its index says, field by field, and comes to the changes it should.

use std::path::PathBuf;

use icache::engine::{
    Batch, BlockRemoved, BlockStored, EngineDrop, Event, Mapper, MapperOptions, Notice, TokenIds,
    decode_batch,
};
use icache::model::{AdapterId, EngineHash, Timestamp};
use serde_json::Value;

use crate::world::Names;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/kv-events")
}

/// Name, payload and what the index says, of each release.
pub fn releases() -> Vec<(String, Vec<u8>, Value)> {
    let index = std::fs::read(folder().join("index.json")).unwrap();
    let Value::Array(files) = serde_json::from_slice(&index).unwrap() else {
        panic!("index.json is not a list");
    };
    let files = files.into_iter().map(|file| {
        let name = file["file"].as_str().unwrap().to_owned();
        let payload = std::fs::read(folder().join(&name)).unwrap();
        assert_eq!(payload.len() as u64, file["len"].as_u64().unwrap(), "{name}");
        (name, payload, file["decoded"].clone())
    });
    files.collect()
}

#[test]
fn every_release_decodes_to_what_its_index_says() {
    let releases = releases();
    assert_eq!(releases.len(), 16);
    for (name, payload, expected) in &releases {
        let batch = decode_batch(payload).unwrap();
        assert_eq!(Some(batch.ts), expected[0].as_f64(), "{name}");
        assert_eq!(batch.rank.map(u64::from), expected[2].as_u64(), "{name}");
        assert_eq!(batch.ignored, Default::default(), "{name}");
        let events = expected[1].as_array().unwrap();
        assert_eq!(batch.events.len(), events.len(), "{name}");
        for (event, expected) in batch.events.iter().zip(events) {
            check_event(name, event, expected);
        }
    }
}

const STORED: [&str; 10] = [
    "type",
    "block_hashes",
    "parent_block_hash",
    "token_ids",
    "block_size",
    "lora_id",
    "medium",
    "lora_name",
    "extra_keys",
    "group_idx",
];
const REMOVED: [&str; 4] = ["type", "block_hashes", "medium", "group_idx"];

/// A field of an event in array or map form.
fn field<'a>(event: &'a Value, name: &str) -> &'a Value {
    let tag = event.get(0).unwrap_or(&event["type"]);
    let positions = match tag.as_str() {
        Some("BlockRemoved") => &REMOVED[..],
        _ => &STORED[..],
    };
    match positions.iter().position(|position| *position == name) {
        Some(at) if event.is_array() => event.get(at).unwrap_or(&Value::Null),
        _ => event.get(name).unwrap_or(&Value::Null),
    }
}

fn hash(value: &Value) -> Option<EngineHash> {
    match (value.as_u64(), value.as_i64(), value["$bytes"].as_str()) {
        (Some(unsigned), ..) => Some(EngineHash::from_unsigned(unsigned)),
        (_, Some(signed), _) => Some(EngineHash::from_signed(signed)),
        (.., Some(bytes)) => EngineHash::from_bytes(&hex::decode(bytes).unwrap()),
        _ => None,
    }
}

fn hashes(value: &Value) -> Vec<EngineHash> {
    value.as_array().unwrap().iter().map(|value| hash(value).unwrap()).collect()
}

fn check_event(release: &str, event: &Event<'_>, expected: &Value) {
    let text = |name| field(expected, name).as_str();
    let number = |name| field(expected, name).as_u64();
    match event {
        Event::Cleared => assert_eq!(text("type"), Some("AllBlocksCleared"), "{release}"),
        Event::Removed(removed) => {
            let expected = BlockRemoved {
                block_hashes: hashes(field(expected, "block_hashes")),
                medium: text("medium"),
                group_idx: number("group_idx").map(|group| group as u32),
            };
            assert_eq!(*removed, expected, "{release}");
        }
        Event::Stored(stored) => {
            let tokens = field(expected, "token_ids").as_array().unwrap();
            let plain = tokens.iter().map(|token| token.as_u64().map(|token| token as u32));
            let blocks = stored.block_hashes.len();
            let keys = field(expected, "extra_keys").as_array();
            assert_eq!(stored.extra_keys.is_some(), keys.is_some(), "{release}");
            if let (Some(found), Some(keys)) = (stored.extra_keys, keys) {
                let none = keys.iter().all(Value::is_null);
                let from = if none { blocks } else { 0 };
                assert_eq!(found.foreign_from("adapter-a", blocks), from, "{release}");
            }
            let expected = BlockStored {
                block_hashes: hashes(field(expected, "block_hashes")),
                parent_block_hash: hash(field(expected, "parent_block_hash")),
                token_ids: match plain.collect::<Option<Vec<u32>>>() {
                    Some(tokens) => TokenIds::Plain(tokens),
                    None => TokenIds::Pairs(tokens.len()),
                },
                block_size: number("block_size").unwrap() as u32,
                lora_id: field(expected, "lora_id").as_i64(),
                medium: text("medium"),
                lora_name: text("lora_name"),
                extra_keys: stored.extra_keys,
                group_idx: number("group_idx").map(|group| group as u32),
                cache_salt: text("cache_salt"),
            };
            assert_eq!(*stored, expected, "{release}");
        }
    }
}

/// Release, changes, and counters that are not 0.
type Case = (&'static str, &'static [&'static str], &'static [(EngineDrop, u64)]);

const NAMED: &[&str] = &["T1 start v1 v2", "T1@sql v3", "-v1", "clear"];
/// The child's hash is the one of its parent, so it takes its place.
const REUSED: &[&str] = &["T1 start v1 v2", "-v2", "T1@sql v3", "-v1", "clear"];
const BYTES: &[&str] = &["T1 start v1 v2", "T1 w3", "-v1"];
const ADAPTER: &[&str] = &["T1 start v1 v2", "T1@adapter-a v3", "-v1", "clear"];
const SALTED: &[&str] = &["T1 start v1 v2", "-v1", "clear"];
const ONE_MEDIUM: &[&str] = &["T1 start s1", "T1 s2 s3", "-s2", "clear"];
const OFFLOADED: &[&str] = &["T1 start s1", "T2 s2 s3", "clear"];
const SALTED_SGLANG: &[&str] = &["T1 start s1", "clear"];

#[test]
fn every_release_comes_to_its_changes() {
    use EngineDrop::{CacheSalt, ExtraKeys, HashReused, TokenPairs, UnknownRemoval};
    let cases: [Case; 16] = [
        ("vllm-0.9.0", REUSED, &[(HashReused, 1)]),
        ("vllm-0.9.1", REUSED, &[(HashReused, 1)]),
        ("vllm-0.10.2", NAMED, &[]),
        ("vllm-0.10.2-bytes-hashes", BYTES, &[]),
        ("vllm-0.14.0", ADAPTER, &[]),
        ("vllm-0.20.0", SALTED, &[(ExtraKeys, 1)]),
        ("vllm-0.22.0", SALTED, &[(ExtraKeys, 1)]),
        ("vllm-0.24.0", SALTED, &[(ExtraKeys, 1)]),
        ("vllm-0.29.0", SALTED, &[(ExtraKeys, 1)]),
        ("vllm-0.33.0", SALTED, &[(ExtraKeys, 1)]),
        ("sglang-0.4.6.post5", ONE_MEDIUM, &[(TokenPairs, 1), (UnknownRemoval, 1)]),
        ("sglang-0.4.7", ONE_MEDIUM, &[(TokenPairs, 1), (UnknownRemoval, 1)]),
        ("sglang-0.5.9", OFFLOADED, &[(TokenPairs, 1), (UnknownRemoval, 2)]),
        ("sglang-0.5.17", OFFLOADED, &[(TokenPairs, 1), (UnknownRemoval, 2)]),
        ("sglang-0.5.20", SALTED_SGLANG, &[(TokenPairs, 1), (CacheSalt, 2), (UnknownRemoval, 2)]),
        ("sglang-0.5.22", SALTED_SGLANG, &[(TokenPairs, 1), (CacheSalt, 2), (UnknownRemoval, 2)]),
    ];
    for (release, changes, drops) in cases {
        check_release(release, true, changes, drops);
    }
}

#[test]
fn without_a_name_the_adapter_number_is_dropped_and_said() {
    for release in ["vllm-0.9.0", "vllm-0.9.1", "vllm-0.10.2"] {
        let notices = check_release(release, false, SALTED, &[(EngineDrop::UnnamedAdapter, 1)]);
        assert_eq!(notices, [Notice::UnnamedAdapter(1)]);
    }
}

fn check_release(release: &str, named: bool, changes: &[&str], drops: &[(EngineDrop, u64)]) -> Vec<Notice> {
    let mut names = Names::default();
    names.add("v", &(0..48).collect::<Vec<u32>>(), 16);
    names.add("w", &(0..32).chain(0..16).collect::<Vec<u32>>(), 16);
    names.add("s", &(0..8).chain(0..16).collect::<Vec<u32>>(), 8);
    let mut options = MapperOptions::default();
    if named {
        options.adapter_names.insert(1, AdapterId::from("sql"));
    }
    let payload = std::fs::read(folder().join(format!("{release}.msgpack"))).unwrap();
    let batch: Batch<'_> = decode_batch(&payload).unwrap();
    let mut mapper = Mapper::new(options);
    let applied = mapper.apply(&batch, Timestamp::default());
    assert_eq!(names.show_all(&applied.changes), changes, "{release}");
    let counts = mapper.counts();
    let mut found: Vec<_> = counts.drops.iter().filter(|(_, count)| *count > 0).collect();
    let mut expected = drops.to_vec();
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "{release}");
    assert_eq!(counts.held_back_blocks, 0, "{release}");
    applied.notices
}
