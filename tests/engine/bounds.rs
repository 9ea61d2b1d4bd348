//! What a mapper keeps is bounded, at the bound and one over.

use icache::engine::{EngineDrop, MAX_NOTICES, MAX_PLACES_PER_BLOCK, Mapper, MapperOptions, Notice};
use icache::model::Timestamp;
use serde_json::json;

use crate::steps::{STEP_NS, changes_of, check, group, on, plain, remove, store, with};

#[test]
fn blocks_wait_only_so_long_and_only_so_many() {
    let late = |held_back_ns| MapperOptions { held_back_ns, ..plain() };
    let steps = |changes| {
        vec![(store(&[2], Some(1), 'a', 2), ""), (remove(&[]), ""), (store(&[1], None, 'a', 1), changes)]
    };
    check(late(2 * STEP_NS + 1), steps("T1 start a1, T1 a2"), &[]);
    check(late(2 * STEP_NS), steps("T1 start a1"), &[(EngineDrop::HeldBackExpired, 1)]);

    let room = |max_held_back_blocks, max_held_back_tokens| MapperOptions {
        max_held_back_blocks,
        max_held_back_tokens,
        ..plain()
    };
    let steps = |changes| {
        vec![
            (store(&[2, 3], Some(1), 'a', 2), ""),
            (store(&[12], Some(11), 'b', 2), ""),
            (store(&[1], None, 'a', 1), changes),
            (store(&[11], None, 'b', 1), "T1 start b1, T1 b2"),
        ]
    };
    check(room(3, 6), steps("T1 start a1, T1 a2 a3"), &[]);
    for room in [room(2, 6), room(3, 5), room(1, 6), room(3, 3)] {
        check(room, steps("T1 start a1"), &[(EngineDrop::HeldBackFull, 2)]);
    }
}

#[test]
fn what_is_held_is_bounded() {
    let options = MapperOptions { max_held_blocks: 2, ..plain() };
    let steps = vec![
        (store(&[1, 2, 3], None, 'a', 1), "T1 start a1 a2"),
        (store(&[1], None, 'a', 1), "T1 start a1"),
        (store(&[4], Some(3), 'a', 4), ""),
        (remove(&[2]), "-a2"),
        (store(&[2, 3], Some(1), 'a', 2), "T1 a2"),
    ];
    let mapper = check(options, steps, &[(EngineDrop::HeldFull, 2)]);
    assert_eq!((mapper.counts().held_blocks, mapper.counts().held_back_blocks), (2, 1));

    let places = MAX_PLACES_PER_BLOCK as u32;
    let mut mapper = Mapper::new(plain());
    let copies = (0..=places).map(|at| group(at, store(&[1], None, 'a', 1))).collect();
    changes_of(&mut mapper, copies, Timestamp::default());
    assert_eq!(mapper.counts().drops.get(EngineDrop::HeldFull), 1);
    let removals = (0..places).map(|at| group(at, remove(&[1]))).collect();
    assert_eq!(changes_of(&mut mapper, removals, Timestamp::default()).0, "-a1");
}

#[test]
fn adapters_and_media_are_said_once() {
    let mut mapper = Mapper::new(plain());
    let event = || on("TAPE", with(store(&[1], None, 'a', 1), "lora_id", json!(7)));
    let events = vec![event(), event(), on("tape", remove(&[1]))];
    let (changes, notices) = changes_of(&mut mapper, events, Timestamp::default());
    assert_eq!(changes, "");
    assert_eq!(notices, [Notice::UnknownMedium("TAPE".into()), Notice::UnnamedAdapter(7)]);
    let (_, notices) = changes_of(&mut mapper, vec![event()], Timestamp::default());
    assert_eq!(notices, []);
    // One is said already.
    let more = (0..MAX_NOTICES).map(|id| with(event(), "lora_id", json!(1_000 + id))).collect();
    let (_, notices) = changes_of(&mut mapper, more, Timestamp::default());
    assert_eq!(notices.len(), MAX_NOTICES - 1);
}
