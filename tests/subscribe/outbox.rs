//! What is sent when, of changes that wait.

use std::time::{Duration, Instant};

use icache::engine::{
    Batch, BlockRemoved, BlockStored, Change, Event, Ignored, MAX_UPDATE_BLOCKS, Mapper, MapperOptions,
    TokenIds,
};
use icache::model::{EngineHash, Timestamp};
use icache::subscribe::{BATCH_WAIT, Load, MAX_WAITING_CHANGES, Outbox, REFRESH_GAP};

const REFRESH: Duration = Duration::from_secs(600);

struct World {
    mapper: Mapper,
    outbox: Outbox,
    now: Instant,
}

impl World {
    fn new() -> Self {
        let now = Instant::now();
        Self { mapper: Mapper::new(MapperOptions::default()), outbox: Outbox::new(REFRESH, now), now }
    }

    fn apply(&mut self, events: Vec<Event<'_>>) -> bool {
        let batch = Batch { ts: 0.0, events, rank: None, ignored: Ignored::default() };
        let changes: Vec<Change> = self.mapper.apply(&batch, Timestamp::default()).changes;
        self.outbox.push(&changes, self.now)
    }

    /// One chain of blocks of one token each.
    fn store(&mut self, blocks: std::ops::Range<u32>) -> bool {
        self.apply(vec![Event::Stored(BlockStored {
            block_hashes: blocks.clone().map(hash).collect(),
            parent_block_hash: blocks.start.checked_sub(1).map(hash),
            token_ids: TokenIds::Plain(blocks.collect()),
            block_size: 1,
            lora_id: None,
            medium: None,
            lora_name: None,
            extra_keys: None,
            group_idx: None,
            cache_salt: None,
        })])
    }

    fn remove(&mut self, blocks: std::ops::Range<u32>) {
        let block_hashes = blocks.map(hash).collect();
        self.apply(vec![Event::Removed(BlockRemoved { block_hashes, medium: None, group_idx: None })]);
    }

    fn load(&mut self) -> Option<Load> {
        self.outbox.load(&self.mapper, true, self.now)
    }

    /// `clear -2 +3..5`: whether it clears, how many removals, and the tokens of the first and last addition.
    fn shown(&mut self) -> String {
        let Some(load) = self.load() else { return String::new() };
        let mut words = Vec::new();
        words.extend(load.clears.then(|| "clear".to_owned()));
        words.extend((!load.removals.is_empty()).then(|| format!("-{}", load.removals.len())));
        if let Some((first, last)) = load.additions.first().zip(load.additions.last()) {
            words.push(format!("+{}..{}", first.cumulative_tokens, last.cumulative_tokens));
        }
        words.join(" ")
    }
}

fn hash(block: u32) -> EngineHash {
    EngineHash::from_unsigned(u64::from(block))
}

#[test]
fn additions_wait_for_others_a_while_or_until_there_are_enough() {
    let mut world = World::new();
    world.store(0..3);
    assert_eq!(world.shown(), "");
    world.now += BATCH_WAIT;
    assert_eq!(world.shown(), "+1..3");
    assert_eq!(world.shown(), "");
    world.store(3..MAX_UPDATE_BLOCKS as u32 + 2);
    assert_eq!(world.shown(), "");
    world.store(MAX_UPDATE_BLOCKS as u32 + 2..MAX_UPDATE_BLOCKS as u32 + 3);
    assert_eq!(world.shown(), format!("+4..{}", MAX_UPDATE_BLOCKS + 3));
}

#[test]
fn only_the_last_word_on_a_block_is_sent() {
    let mut world = World::new();
    world.store(0..3);
    world.remove(1..3);
    world.store(1..2);
    world.now += BATCH_WAIT;
    let load = world.load().unwrap();
    assert_eq!((load.removals.len(), load.additions.len()), (1, 2));
    // A clearing supersedes what waits, and what is told anew.
    world.store(2..3);
    world.outbox.tell_all();
    world.apply(vec![Event::Cleared]);
    world.store(0..1);
    assert_eq!(world.shown(), "clear +1..1");
    assert_eq!(world.shown(), "");
}

#[test]
fn everything_is_told_tails_first_part_by_part_while_changes_go_on() {
    let blocks = MAX_UPDATE_BLOCKS as u32;
    let mut world = World::new();
    world.store(0..2 * blocks + 10);
    world.outbox.tell_all();
    assert_eq!(world.outbox.waiting(), 0);
    assert_eq!(world.shown(), format!("clear +{}..{}", blocks + 11, 2 * blocks + 10));
    assert!(world.outbox.is_telling_all());
    world.remove(0..1);
    assert_eq!(world.shown(), format!("-1 +11..{}", blocks + 10));
    assert_eq!(world.shown(), "+2..10");
    assert!(!world.outbox.is_telling_all());
    assert_eq!(world.shown(), "");
}

#[test]
fn a_refresh_is_spread_over_its_time() {
    let blocks = MAX_UPDATE_BLOCKS as u32;
    let mut world = World::new();
    world.store(0..2 * blocks);
    world.outbox.tell_all();
    while world.load().is_some() {}
    world.now += REFRESH - Duration::from_millis(1);
    assert_eq!(world.shown(), "");
    world.now += Duration::from_millis(1);
    assert_eq!(world.shown(), format!("+{}..{}", blocks + 1, 2 * blocks));
    assert_eq!(world.shown(), "");
    world.now += REFRESH / 2;
    assert_eq!(world.shown(), format!("+1..{blocks}"));
    world.now += REFRESH / 2;
    assert!(
        world.outbox.load(&world.mapper, false, world.now).is_none(),
        "not while the engine is not heard"
    );
    assert!(world.load().is_some());
    // However short its time, parts have a gap.
    let mut world = World::new();
    world.outbox = Outbox::new(Duration::from_millis(1), world.now);
    world.store(0..2 * blocks);
    world.outbox.tell_all();
    while world.load().is_some() {}
    world.now += Duration::from_millis(1);
    assert!(world.load().is_some());
    world.now += REFRESH_GAP - Duration::from_millis(1);
    assert_eq!(world.shown(), "");
    world.now += Duration::from_millis(1);
    assert!(world.load().is_some());
}

#[test]
fn too_many_changes_end_in_telling_everything() {
    let mut world = World::new();
    let bound = MAX_WAITING_CHANGES as u32;
    assert!(!world.store(0..bound));
    assert_eq!(world.outbox.waiting(), MAX_WAITING_CHANGES);
    assert!(world.store(bound..bound + 1));
    assert!(world.load().unwrap().clears);
    assert_eq!(world.outbox.waiting(), MAX_WAITING_CHANGES + 1 - MAX_UPDATE_BLOCKS);
    // Keys that change again and again take no more room.
    let mut world = World::new();
    for _ in 0..100 {
        world.store(0..10_000);
        world.remove(0..10_000);
    }
    assert_eq!(world.outbox.waiting(), 10_000);
}
