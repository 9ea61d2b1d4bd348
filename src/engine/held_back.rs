//! Blocks whose parent is not known yet: kept for a while, in bounds, and given back when the parent comes.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{AdapterId, EngineHash, Timestamp};

use super::drops::EngineDrop;
use super::place::Place;

/// Blocks of one event that wait for their parent, with their tokens.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) parent: EngineHash,
    /// In order; `None` where a block was removed meanwhile, so that those after it keep their position.
    pub(super) hashes: Vec<Option<EngineHash>>,
    pub(super) tokens: Vec<u32>,
    pub(super) block_size: u32,
    pub(super) adapter: AdapterId,
    pub(super) place: Place,
    /// From which block on they are not indexed, and why.
    pub(super) refused: Option<(usize, EngineDrop)>,
    pub(super) since: Timestamp,
}

/// Bounds on [`HeldBack`].
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldBackLimits {
    pub(super) blocks: usize,
    pub(super) tokens: usize,
    pub(super) age_ns: i64,
}

/// Bounded by `limits`; the two sets have one element for each event and each block.
#[derive(Debug)]
pub(super) struct HeldBack {
    limits: HeldBackLimits,
    /// By order of arrival.
    events: BTreeMap<u64, Event>,
    by_parent: BTreeSet<(EngineHash, u64)>,
    /// With the position in the event.
    by_hash: BTreeSet<(EngineHash, u64, usize)>,
    blocks: usize,
    tokens: usize,
    arrivals: u64,
}

#[derive(Debug)]
struct Event {
    waiting: Waiting,
    /// Blocks that were not removed meanwhile.
    blocks: usize,
}

impl HeldBack {
    pub(super) fn new(limits: HeldBackLimits) -> Self {
        Self {
            limits,
            events: BTreeMap::new(),
            by_parent: BTreeSet::new(),
            by_hash: BTreeSet::new(),
            blocks: 0,
            tokens: 0,
            arrivals: 0,
        }
    }

    /// Number of blocks that wait.
    pub(super) fn len(&self) -> usize {
        self.blocks
    }

    /// Keeps an event; the oldest make room. Blocks that were dropped for it, perhaps its own.
    pub(super) fn hold(&mut self, waiting: Waiting) -> usize {
        let (blocks, tokens) = (waiting.hashes.len(), waiting.tokens.len());
        if blocks > self.limits.blocks || tokens > self.limits.tokens {
            return blocks;
        }
        let mut dropped = 0;
        while self.blocks + blocks > self.limits.blocks || self.tokens + tokens > self.limits.tokens {
            let Some(oldest) = self.events.keys().next().copied() else {
                break;
            };
            dropped += self.take(oldest).map_or(0, |event| event.blocks);
        }
        self.arrivals += 1;
        self.blocks += blocks;
        self.tokens += tokens;
        self.by_parent.insert((waiting.parent, self.arrivals));
        for (position, hash) in waiting.hashes.iter().enumerate() {
            if let Some(hash) = hash {
                self.by_hash.insert((*hash, self.arrivals, position));
            }
        }
        self.events.insert(self.arrivals, Event { waiting, blocks });
        dropped
    }

    /// Gives back what waits for `parent`, in order of arrival.
    pub(super) fn take_children(&mut self, parent: EngineHash) -> Vec<Waiting> {
        if self.events.is_empty() {
            return Vec::new();
        }
        let children = self.by_parent.range((parent, 0)..=(parent, u64::MAX));
        let children: Vec<u64> = children.map(|(_, arrival)| *arrival).collect();
        let taken = children.into_iter().filter_map(|arrival| self.take(arrival));
        taken.map(|event| event.waiting).collect()
    }

    /// Takes one waiting copy of `hash` at `place` away; whether there was one.
    pub(super) fn remove(&mut self, hash: EngineHash, place: Place) -> bool {
        let copies = self.by_hash.range((hash, 0, 0)..=(hash, u64::MAX, usize::MAX));
        let copy = copies.copied().find(|(_, arrival, _)| {
            let event = self.events.get(arrival);
            event.is_some_and(|event| event.waiting.place == place)
        });
        let Some(copy) = copy else {
            return false;
        };
        let (_, arrival, position) = copy;
        let Some(event) = self.events.get_mut(&arrival) else {
            return false;
        };
        event.waiting.hashes[position] = None;
        event.blocks -= 1;
        let empty = event.blocks == 0;
        self.by_hash.remove(&copy);
        self.blocks -= 1;
        if empty {
            self.take(arrival);
        }
        true
    }

    /// Drops what has waited too long; how many blocks.
    pub(super) fn expire(&mut self, now: Timestamp) -> usize {
        let mut dropped = 0;
        while let Some((arrival, event)) = self.events.first_key_value() {
            if event.waiting.since.age_ns(now) < self.limits.age_ns {
                break;
            }
            let arrival = *arrival;
            dropped += self.take(arrival).map_or(0, |event| event.blocks);
        }
        dropped
    }

    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.by_parent.clear();
        self.by_hash.clear();
        self.blocks = 0;
        self.tokens = 0;
    }

    fn take(&mut self, arrival: u64) -> Option<Event> {
        let event = self.events.remove(&arrival)?;
        let waiting = &event.waiting;
        self.blocks -= event.blocks;
        self.tokens -= waiting.tokens.len();
        self.by_parent.remove(&(waiting.parent, arrival));
        for (position, hash) in waiting.hashes.iter().enumerate() {
            if let Some(hash) = hash {
                self.by_hash.remove(&(*hash, arrival, position));
            }
        }
        Some(event)
    }
}
