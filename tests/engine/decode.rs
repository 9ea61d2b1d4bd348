//! Forms and limits of payloads.

use icache::engine::{
    BlockStored, DecodeError, Event, Ignored, MAX_BLOCK_SIZE, MAX_DEPTH, MAX_EVENTS, MAX_HASHES,
    MAX_PAYLOAD_BYTES, TokenIds, decode_batch,
};
use icache::model::EngineHash;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::releases::releases;
use crate::world::msgpack;

fn stored(event: Value) -> (BlockStored<'static>, Ignored) {
    let payload = msgpack(&json!([1.5, [event], null])).leak();
    let mut batch = decode_batch(payload).unwrap();
    match batch.events.pop() {
        Some(Event::Stored(stored)) => (stored, batch.ignored),
        other => panic!("{other:?}"),
    }
}

const FULL: &str = r#"["BlockStored",[7],9,[1,2],2,5,"CPU","sql",[null],3]"#;

#[test]
fn an_event_is_the_same_in_both_forms_and_with_what_is_not_known() {
    let array: Value = serde_json::from_str(FULL).unwrap();
    let (expected, ignored) = stored(array.clone());
    assert_eq!(ignored, Ignored::default());
    assert_eq!(expected.block_hashes, [EngineHash::from_unsigned(7)]);
    assert_eq!(expected.token_ids, TokenIds::Plain(vec![1, 2]));
    assert_eq!(expected.group_idx, Some(3));

    let mut longer = array.clone();
    let more = [json!("mla"), json!(4), json!({"a": [[1]]}), json!("x")];
    longer.as_array_mut().unwrap().extend(more);
    let positions = |positions| Ignored { positions, ..Ignored::default() };
    assert_eq!(stored(longer), (expected.clone(), positions(2)));

    let map = json!({
        "aaa": {"deep": [1, {"er": null}]}, "block_hashes": [7], "parent_block_hash": 9,
        "token_ids": [1, 2], "block_size": 2, "lora_id": 5, "medium": "CPU", "lora_name": "sql",
        "extra_keys": [null], "group_idx": 3, "kv_cache_spec_kind": "mla", "locality": "LOCAL",
        "kv_cache_spec_sliding_window": 4, "ownership": "x", "session_id": 1,
        "lookahead_token_ids": [1], "type": "BlockStored", "zzz": 1.5,
    });
    let keys = Ignored { keys: 2, ..Ignored::default() };
    assert_eq!(stored(map), (expected, keys));
}

#[test]
fn batches_have_both_forms() {
    let events = json!([["BlockRemoved", [-1]], {"type": "AllBlocksCleared"}, ["New", 1], [], {}]);
    for (batch, rank, ignored) in [
        (json!([1, events]), None, (3, 0, 0)),
        (json!([1.0, events, 4]), Some(4), (3, 0, 0)),
        (json!([1.0, events, null, "x", []]), None, (3, 0, 2)),
        (json!({"ts": 1.0, "events": events}), None, (3, 0, 0)),
        (json!({"data_parallel_rank": 4, "events": events, "ts": 1.0, "x": 1}), Some(4), (3, 1, 0)),
    ] {
        let payload = msgpack(&batch);
        let batch = decode_batch(&payload).unwrap();
        assert_eq!((batch.ts, batch.rank), (1.0, rank));
        let (tags, keys, positions) = ignored;
        assert_eq!(batch.ignored, Ignored { tags, keys, positions });
        let [Event::Removed(removed), Event::Cleared] = &batch.events[..] else {
            panic!("{:?}", batch.events);
        };
        assert_eq!(removed.block_hashes, [EngineHash::from_unsigned(u64::MAX)]);
    }
}

#[test]
fn hashes_have_three_forms() {
    let bytes = json!({"$bytes": "aaffffffffffffffff"});
    for form in [json!(-1), json!(u64::MAX), bytes] {
        let (event, _) = stored(json!(["BlockStored", [form], form, [], 1, null]));
        assert_eq!(event.block_hashes, [EngineHash::from_unsigned(u64::MAX)]);
        assert_eq!(event.parent_block_hash, Some(EngineHash::from_unsigned(u64::MAX)));
    }
}

#[test]
fn tokens_and_names_have_odd_forms() {
    for (tokens, expected) in [
        (json!(null), TokenIds::Plain(vec![])),
        (json!([u32::MAX]), TokenIds::Plain(vec![u32::MAX])),
        (json!([[1, 2], [2, 3]]), TokenIds::Pairs(2)),
        (json!([1, [2, 3]]), TokenIds::Pairs(2)),
        (json!([1, u64::from(u32::MAX) + 1]), TokenIds::OutOfRange(2)),
        (json!([-1]), TokenIds::OutOfRange(1)),
    ] {
        assert_eq!(stored(json!(["BlockStored", [1], null, tokens, 1])).0.token_ids, expected);
    }
    for (name, expected, keys) in [
        (json!(null), (None, None), 0),
        (json!("sql"), (Some("sql"), None), 0),
        (json!({"cache_salt": "s"}), (None, Some("s")), 0),
        (json!({"cache_salt": null, "x": 1}), (None, None), 1),
    ] {
        let event = json!(["BlockStored", [1], null, [], 1, null, null, name]);
        let (event, ignored) = stored(event);
        assert_eq!((event.lora_name, event.cache_salt), expected);
        assert_eq!(ignored.keys, keys);
    }
}

#[test]
fn extra_keys_other_than_the_adapter_are_found() {
    for (keys, from) in [
        (json!([null, []]), 2),
        (json!([["sql"], ["sql", "sql"]]), 2),
        (json!([["sql"], "sql"]), 2),
        (json!([["sql"], ["sql", "salt"]]), 1),
        (json!([[""], null]), 0),
        (json!([null, [["image", 0]]]), 1),
        (json!([null, [5]]), 1),
        (json!([null, {"a": 1}]), 1),
        (json!([null]), 2),
        (json!([null, null, ["sql"]]), 0),
    ] {
        let event = json!(["BlockStored", [1, 2], null, [], 1, null, null, null, keys]);
        let found = stored(event).0.extra_keys.unwrap();
        assert_eq!(found.foreign_from("sql", 2), from, "{keys}");
    }
}

#[track_caller]
fn check_error(payload: &[u8], message: &str) {
    assert_eq!(decode_batch(payload).map_err(|error| error.to_string()), Err(message.to_owned()));
}

#[test]
fn what_is_known_and_wrong_is_an_error_that_says_where() {
    check_error(b"", "payload is empty");
    check_error(&[0xc0], "`batch` at byte 0 is nil, expected an array or a map");
    for (batch, message) in [
        (json!([]), "`ts` is missing in what starts at byte 0"),
        (json!([1.0]), "`events` is missing in what starts at byte 0"),
        (json!([null, []]), "`ts` at byte 1 is nil, expected a number"),
        (json!([1, {}]), "`events` at byte 2 is a map, expected an array"),
        (
            json!([1, [], -1]),
            "`data_parallel_rank` at byte 3 is a negative integer, expected a non-negative integer or nil",
        ),
        (json!({"events": [1]}), "`event` at byte 9 is an integer, expected an array or a map"),
        (json!([1, [[1]]]), "`tag of event` at byte 4 is an integer, expected a string"),
        (json!([1, [["BlockRemoved"]]]), "`block_hashes` is missing in what starts at byte 3"),
        (
            json!([1, [["BlockRemoved", [null]]]]),
            "`block_hashes` at byte 18 is nil, expected an integer or at least 8 bytes",
        ),
        (
            json!([1, [["BlockRemoved", ["12345678"]]]]),
            "`block_hashes` at byte 18 is a string, expected an integer or at least 8 bytes",
        ),
        (
            json!([1, [["BlockRemoved", [{"$bytes": "00112233445566"}]]]]),
            "`block_hashes` at byte 18 is less than 8 bytes, expected an integer or at least 8 bytes",
        ),
        (
            json!([1, [["BlockRemoved", [], 1]]]),
            "`medium` at byte 18 is an integer, expected a string or nil",
        ),
        (json!([1, [["BlockStored", [], null, []]]]), "`block_size` is missing in what starts at byte 3"),
        (
            json!([1, [["BlockStored", [], null, 1]]]),
            "`token_ids` at byte 18 is an integer, expected an array",
        ),
        (
            json!([1, [["BlockStored", [], null, [], 0]]]),
            "`block_size` at byte 19 is 0, allowed are 1 to 4096",
        ),
        (
            json!([1, [["BlockStored", [], null, [], 4097]]]),
            "`block_size` at byte 19 is 4097, allowed are 1 to 4096",
        ),
    ] {
        check_error(&msgpack(&batch), message);
    }
    let mut payload = msgpack(&json!([1, []]));
    payload.push(0xc0);
    check_error(&payload, "1 bytes follow the batch, which ends at byte 3");
    // An array, a time, and a list of events that claims more than there is.
    check_error(&[0x92, 1, 0xdd, 0xff, 0xff, 0xff, 0xff, 0x90], "payload ends within `events` at byte 2");
    // A medium that is not UTF-8.
    let mut payload = msgpack(&json!([1, [["BlockRemoved", [], "x"]]]));
    *payload.last_mut().unwrap() = 0xff;
    check_error(&payload, "`medium` at byte 18 is not UTF-8, expected a string");
}

#[test]
fn limits_hold_at_the_limit_and_not_one_over() {
    let block_size = |size: u32| json!([1, [["BlockStored", [], null, [], size]]]);
    let hashes = |len: usize| json!([1, [["BlockRemoved", vec![1; len]]]]);
    let events = |len: usize| json!([1, vec![["AllBlocksCleared"]; len]]);
    let depth = |levels: usize| {
        let value = (0..levels).fold(json!(null), |inner, _| json!([inner]));
        json!([1, [["Unknown", value]]])
    };
    for (at, over) in [
        (block_size(MAX_BLOCK_SIZE), block_size(MAX_BLOCK_SIZE + 1)),
        (hashes(MAX_HASHES), hashes(MAX_HASHES + 1)),
        (events(MAX_EVENTS), events(MAX_EVENTS + 1)),
        (depth(MAX_DEPTH), depth(MAX_DEPTH + 1)),
    ] {
        let payload = msgpack(&at);
        decode_batch(&payload).unwrap();
        let payload = msgpack(&over);
        assert!(matches!(decode_batch(&payload), Err(DecodeError::OutOfBounds { .. })));
    }
    for (bytes, fits) in [(MAX_PAYLOAD_BYTES, true), (MAX_PAYLOAD_BYTES + 1, false)] {
        let mut payload = vec![0x93, 1, 0x90, 0xc6];
        // Bytes where the rank should be: an error of another kind, so that both are told apart.
        payload.extend((bytes as u32 - 8).to_be_bytes());
        payload.resize(bytes, 0);
        let bounds = matches!(decode_batch(&payload), Err(DecodeError::OutOfBounds { .. }));
        assert_eq!(bounds, !fits);
    }
}

#[test]
fn a_torn_payload_is_an_error_wherever_it_ends() {
    for (name, payload, _) in releases() {
        for end in 0..payload.len() {
            assert!(decode_batch(&payload[..end]).is_err(), "{name} up to byte {end}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn random_bytes_never_panic(payload in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_batch(&payload);
    }

    #[test]
    fn mutated_batches_never_panic(
        release in 0..16_usize,
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..8),
    ) {
        let (_, mut payload, _) = releases().swap_remove(release);
        for (at, byte, edit) in edits {
            let at = at.index(payload.len());
            match edit {
                0 => payload[at] = byte,
                1 => payload.insert(at, byte),
                _ => drop(payload.remove(at)),
            }
        }
        if let Ok(batch) = decode_batch(&payload) {
            let mut mapper = icache::engine::Mapper::new(Default::default());
            mapper.apply(&batch, Default::default());
        }
    }
}
