//! The rules from engine events to changes, one case each.

use std::collections::HashMap;

use icache::engine::{EngineDrop, Mapper, MapperOptions};
use icache::model::{AdapterId, Timestamp};
use serde_json::{Value, json};

use crate::steps::{changes_of, check, clear, copy, group, keys, lora, on, plain, remove, salt, store, with};

#[test]
fn sequences_chain_through_their_parent_and_copies_are_counted() {
    let one = || store(&[1], None, 'a', 1);
    let steps = vec![
        (store(&[1, 2], None, 'a', 1), "T1 start a1 a2"),
        (store(&[3], Some(2), 'a', 3), "T1 a3"),
        (one(), "T1 start a1"),
        (remove(&[1]), ""),
        (remove(&[1, 3]), "-a1, -a3"),
        (remove(&[1]), ""),
        (clear(), "clear"),
        (remove(&[2]), ""),
        (clear(), "clear"),
    ];
    check(plain(), steps, &[(EngineDrop::UnknownRemoval, 2)]);
}

#[test]
fn a_hash_is_the_same_block_in_every_form() {
    let bytes = json!([{"$bytes": "00ffffffffffffffff"}]);
    let steps = vec![
        (store(&[-1], None, 'a', 1), "T1 start a1"),
        (with(store(&[0], None, 'a', 1), "block_hashes", bytes), "T1 start a1"),
        (with(remove(&[]), "block_hashes", json!([u64::MAX])), ""),
        (store(&[5], Some(-1), 'a', 2), "T1 a2"),
        (remove(&[-1]), "-a1"),
    ];
    check(plain(), steps, &[]);
}

#[test]
fn a_thousand_copies_take_a_thousand_removals() {
    let mut mapper = Mapper::new(plain());
    let stores = (0..1_000).map(|_| store(&[1], None, 'a', 1)).collect();
    changes_of(&mut mapper, stores, Timestamp::default());
    let removals = (0..999).map(|_| remove(&[1])).collect();
    assert_eq!(changes_of(&mut mapper, removals, Timestamp::default()).0, "");
    let last = vec![remove(&[1]), remove(&[1])];
    assert_eq!(changes_of(&mut mapper, last, Timestamp::default()).0, "-a1");
    assert_eq!(mapper.counts().drops.get(EngineDrop::UnknownRemoval), 1);
    assert_eq!(mapper.counts().held_blocks, 0);
}

#[test]
fn the_tier_is_the_hottest_place() {
    let steps = vec![
        (on("CPU", store(&[1, 2], None, 'a', 1)), "T2 start a1 a2"),
        (store(&[1], None, 'a', 1), "T1 start a1"),
        (on("disk", copy(&[1, 2])), ""),
        (group(1, copy(&[1])), "T1 a1"),
        (remove(&[1]), ""),
        (on("cpu", remove(&[2])), "T3 a2"),
        (group(1, remove(&[1])), "T2 a1"),
        (on("OBJ", remove(&[1])), ""),
        (on("CPU", remove(&[1])), "T3 a1"),
        (on("DISK", remove(&[2, 1])), "-a2, -a1"),
        (on("CPU", copy(&[1])), ""),
    ];
    check(plain(), steps, &[(EngineDrop::UnknownBlock, 1), (EngineDrop::UnknownRemoval, 1)]);
}

#[test]
fn a_gap_in_what_is_said_ends_the_chain() {
    let steps = vec![
        (store(&[2], Some(1), 'a', 2), ""),
        (store(&[1], None, 'a', 1), "T1 start a1, T1 a2"),
        // At a colder place only what is new is said.
        (on("CPU", store(&[1, 2, 3], None, 'a', 1)), "T2 a3"),
    ];
    check(plain(), steps, &[]);
    let steps = vec![
        (store(&[1, 2], None, 'a', 1), "T1 start a1 a2"),
        (remove(&[1]), "-a1"),
        (on("CPU", store(&[1, 2, 3], None, 'a', 1)), "T2 start a1, T2 a3"),
    ];
    check(plain(), steps, &[]);
}

#[test]
fn l2_retains_what_leaves_the_gpu() {
    let options = MapperOptions { l2_retains: true, max_retained_blocks: 2, ..plain() };
    let steps = vec![
        (store(&[1, 2, 3, 4], None, 'a', 1), "T1 start a1 a2 a3 a4"),
        (remove(&[1]), "T2 a1"),
        (remove(&[1]), ""),
        (store(&[1], None, 'a', 1), "T1 start a1"),
        (remove(&[2]), "T2 a2"),
        (remove(&[1]), "T2 a1"),
        (on("CPU", remove(&[2])), "-a2"),
        // The third one makes the oldest leave.
        (remove(&[3, 4]), "T2 a3 a4, -a1"),
        (store(&[2], Some(1), 'a', 2), ""),
        (clear(), "clear"),
    ];
    check(options, steps, &[(EngineDrop::UnknownRemoval, 1)]);
}

#[test]
fn a_prefix_leaves_with_the_last_block_that_has_it() {
    // Other engine hashes, same content: an ignored salt.
    let options = MapperOptions { ignore_extra_keys: true, ..plain() };
    let steps = vec![
        (store(&[1, 2], None, 'a', 1), "T1 start a1 a2"),
        (salt(store(&[11, 12], None, 'a', 1)), "T1 start a1 a2"),
        (keys(json!([["image"]]), store(&[13], Some(12), 'a', 3)), "T1 a3"),
        (on("CPU", store(&[21], None, 'a', 1)), ""),
        (remove(&[1]), ""),
        (remove(&[11]), "T2 a1"),
        (on("CPU", remove(&[21])), "-a1"),
        (remove(&[12]), ""),
        (remove(&[2]), "-a2"),
    ];
    check(options, steps, &[]);
}

#[test]
fn a_removal_for_the_base_model_leaves_the_adapters() {
    let steps = vec![
        (store(&[1], None, 'a', 1), "T1 start a1"),
        (lora("sql", store(&[11, 12], None, 'a', 1)), "T1@sql start a1 a2"),
        (lora("law", on("CPU", store(&[21], None, 'a', 1))), "T2@law start a1"),
        (remove(&[1]), "-a1, T1@sql a1, T2@law a1"),
        (remove(&[11]), "-a1@sql"),
        (on("CPU", remove(&[21])), "-a1@law"),
    ];
    check(plain(), steps, &[]);
}

#[test]
fn adapters_have_names() {
    let options = MapperOptions { adapter_names: HashMap::from([(1, AdapterId::from("sql"))]), ..plain() };
    let long = "x".repeat(513);
    let id = |id: i64, event| with(event, "lora_id", json!(id));
    let steps = vec![
        (id(1, store(&[1], None, 'a', 1)), "T1@sql start a1"),
        (id(1, lora("law", store(&[2], None, 'a', 1))), "T1@law start a1"),
        (id(2, store(&[3], None, 'a', 1)), ""),
        (id(2, store(&[4], Some(3), 'a', 2)), ""),
        (lora(&long, store(&[5], None, 'a', 1)), ""),
        (lora("", store(&[6], None, 'a', 1)), "T1 start a1"),
        (keys(json!([["sql"]]), id(1, store(&[7], None, 'a', 1))), "T1@sql start a1"),
    ];
    let drops = [(EngineDrop::UnnamedAdapter, 2), (EngineDrop::AdapterTooLong, 1)];
    check(options, steps, &drops);
}

#[test]
fn what_the_fingerprint_cannot_tell_apart_is_refused_with_what_follows() {
    let images = json!([null, [["image", 0]], null]);
    let steps = vec![
        (keys(images.clone(), store(&[1, 2, 3], None, 'a', 1)), "T1 start a1"),
        (store(&[4], Some(3), 'a', 4), ""),
        (on("CPU", copy(&[1, 2])), ""),
        (remove(&[3]), ""),
        (store(&[5], Some(4), 'a', 5), ""),
        (salt(store(&[11], None, 'a', 1)), ""),
        (store(&[12], Some(11), 'a', 2), ""),
        // Salted itself: the parent does not matter.
        (salt(store(&[31, 32], Some(30), 'a', 2)), ""),
        (store(&[33], Some(32), 'a', 4), ""),
        // Held back, then refused in part, or with its parent.
        (keys(images, store(&[42, 43, 44], Some(41), 'b', 2)), ""),
        (store(&[41], None, 'b', 1), "T1 start b1, T1 b2"),
        (store(&[52], Some(51), 'b', 2), ""),
        (salt(store(&[51], None, 'b', 1)), ""),
        (remove(&[51, 52, 11, 43]), ""),
        (keys(json!([["sql"]]), lora("sql", store(&[61], None, 'a', 1))), "T1@sql start a1"),
        (keys(json!([["sql"]]), lora("law", store(&[62], None, 'a', 1))), ""),
        (with(store(&[63], None, 'a', 1), "cache_salt", json!("")), "T1 start a1"),
    ];
    let drops = [(EngineDrop::ExtraKeys, 5), (EngineDrop::CacheSalt, 4), (EngineDrop::ParentRefused, 5)];
    let mapper = check(plain(), steps, &drops);
    assert_eq!(mapper.counts().held_back_blocks, 0);
}

#[test]
fn tokens_that_say_no_positions_are_dropped() {
    let tokens = |tokens: Value| with(store(&[1, 2], None, 'a', 1), "token_ids", tokens);
    let steps = vec![
        (tokens(json!([1, 2, 3])), ""),
        (tokens(json!([1, 2, 3, 4, 5, 6])), ""),
        (tokens(json!([[1, 2], [2, 3]])), ""),
        (tokens(json!([1, 2, 3, -4])), ""),
        (tokens(json!([])), ""),
        (with(tokens(json!([1])), "block_hashes", json!([])), ""),
    ];
    let drops = [
        (EngineDrop::TokenPairs, 2),
        (EngineDrop::TokenRange, 2),
        (EngineDrop::TokenCount, 5),
        (EngineDrop::UnknownBlock, 2),
    ];
    check(plain(), steps, &drops);
}

#[test]
fn a_reused_hash_stands_for_the_newer_content() {
    let steps = vec![
        (store(&[1, 2], None, 'a', 1), "T1 start a1 a2"),
        (store(&[1], None, 'b', 1), "-a1, T1 b1"),
        (salt(store(&[2], None, 'a', 1)), "-a2"),
        (store(&[3], Some(1), 'b', 2), "T1 b2"),
        (lora("sql", store(&[1], None, 'b', 1)), "-b1, T1@sql b1"),
        (remove(&[1, 1]), "-b1@sql"),
    ];
    let drops = [(EngineDrop::CacheSalt, 1), (EngineDrop::HashReused, 3), (EngineDrop::UnknownRemoval, 1)];
    check(plain(), steps, &drops);
}

#[test]
fn blocks_wait_for_their_parent_and_are_never_a_start() {
    let steps = vec![
        (store(&[5], Some(4), 'a', 5), ""),
        (store(&[3, 4], Some(2), 'a', 3), ""),
        (store(&[12], Some(11), 'b', 2), ""),
        (remove(&[3, 12, 12]), ""),
        (store(&[1, 2], None, 'a', 1), "T1 start a1 a2, T1 a4 a5"),
        (store(&[11], None, 'b', 1), "T1 start b1"),
        (store(&[22], Some(21), 'b', 2), ""),
        (clear(), "clear"),
        (store(&[21], None, 'b', 1), "T1 start b1"),
    ];
    check(plain(), steps, &[(EngineDrop::UnknownRemoval, 1)]);
}

#[test]
fn the_order_within_a_batch_is_kept() {
    let mut mapper = Mapper::new(plain());
    let events = vec![
        store(&[1, 2], None, 'a', 1),
        remove(&[2]),
        store(&[2], Some(1), 'a', 2),
        store(&[3], Some(2), 'a', 3),
        clear(),
        store(&[1], None, 'a', 1),
        store(&[11], None, 'b', 1),
    ];
    let (changes, _) = changes_of(&mut mapper, events, Timestamp::default());
    let expected = "T1 start a1 a2, -a2, T1 a2 a3, clear, T1 start a1, T1 start b1";
    assert_eq!(changes, expected);
}

#[test]
fn events_of_both_forms_in_one_batch_follow_on_each_other() {
    let mut mapper = Mapper::new(plain());
    let events = vec![
        store(&[1], None, 'a', 1),
        json!(["BlockStored", [2], 1, [2, 3], 2, null, "GPU", null]),
        json!(["BlockRemoved", [1], "GPU"]),
        remove(&[2]),
    ];
    let (changes, _) = changes_of(&mut mapper, events, Timestamp::default());
    assert_eq!(changes, "T1 start a1, T1 a2, -a1, -a2");
}

#[test]
fn cases_that_broke_others() {
    let five =
        with(with(store(&[1], None, 'a', 1), "token_ids", json!([1, 2, 3, 4, 5])), "block_size", json!(16));
    let named = lora("adapter-116", store(&[11], None, 'a', 1));
    let steps = vec![
        (five, ""),
        (keys(json!([["adapter-116"]]), named), "T1@adapter-116 start a1"),
        // One hash in two groups, removed in one.
        (group(0, store(&[21], None, 'b', 1)), "T1 start b1"),
        (group(1, store(&[21], None, 'b', 1)), "T1 start b1"),
        (group(0, remove(&[21])), ""),
        (group(0, remove(&[21])), ""),
        (group(1, remove(&[21])), "-b1"),
    ];
    check(plain(), steps, &[(EngineDrop::TokenCount, 1), (EngineDrop::UnknownRemoval, 1)]);
}
