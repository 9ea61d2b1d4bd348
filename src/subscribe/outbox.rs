//! What the server has yet to be told of one replica.
//!
//! Pure. Changes wait by key, so that only the latest state of each is sent, and a removal is never overtaken by an
//! addition that came before it. Whatever is doubtful ends in telling everything anew from the mapper, which holds it
//! all: nothing is buffered for a server that is away.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use crate::engine::{Change, MAX_UPDATE_BLOCKS, Mapper};
use crate::model::{AdapterId, PrefixHash, Tier};

/// How long an addition waits for others at most.
pub const BATCH_WAIT: Duration = Duration::from_millis(100);
/// Changes that wait at most; over it everything held is told anew in their place.
pub const MAX_WAITING_CHANGES: usize = 131_072;
/// Between two parts of a refresh, of [`MAX_UPDATE_BLOCKS`] blocks each, lies at least this.
pub const REFRESH_GAP: Duration = Duration::from_millis(100);

/// What is sent at once: in the order of its fields.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Load {
    /// First of all, everything is dropped.
    pub clears: bool,
    /// Blocks held no more; at most [`MAX_UPDATE_BLOCKS`].
    pub removals: Vec<(AdapterId, PrefixHash)>,
    /// Blocks held; at most [`MAX_UPDATE_BLOCKS`].
    pub additions: Vec<Addition>,
}

/// One block that is held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Addition {
    /// Its partition.
    pub adapter: AdapterId,
    /// The prefix.
    pub prefix_hash: PrefixHash,
    /// Tokens from the start of the sequence to the end of the block.
    pub cumulative_tokens: i32,
    /// Hottest tier that holds it.
    pub tier: Tier,
}

type Key = (AdapterId, PrefixHash);

#[derive(Debug)]
struct Wanted {
    /// Of its place in `order`.
    stamp: u64,
    /// Tier and tokens; `None` where it is held no more.
    state: Option<(Tier, i32)>,
}

/// Bounded by [`MAX_WAITING_CHANGES`], and 8 bytes for each prefix held while these are told anew.
#[derive(Debug)]
pub struct Outbox {
    refresh: Duration,
    clears: bool,
    wanted: HashMap<Key, Wanted>,
    /// Keys by their latest change; one is stale where its change has another stamp by now.
    order: VecDeque<(u64, Key)>,
    last_stamp: u64,
    waits_since: Option<Instant>,
    /// Prefixes yet to be told; the last one is the next.
    walk: Vec<PrefixHash>,
    /// Whether all of them are to be told at once.
    is_urgent: bool,
    part_gap: Duration,
    part_due: Instant,
}

impl Outbox {
    /// Nothing is told yet; what is held is told again once in `refresh`.
    pub fn new(refresh: Duration, now: Instant) -> Self {
        Self {
            refresh,
            clears: false,
            wanted: HashMap::new(),
            order: VecDeque::new(),
            last_stamp: 0,
            waits_since: None,
            walk: Vec::new(),
            is_urgent: false,
            part_gap: refresh,
            part_due: now + refresh,
        }
    }

    /// Takes changes in; whether there were too many, so that everything is told anew.
    pub fn push(&mut self, changes: &[Change], now: Instant) -> bool {
        for change in changes {
            match change {
                Change::Stored { adapter, tier, blocks, .. } => {
                    for (prefix_hash, tokens) in blocks {
                        self.want((adapter.clone(), *prefix_hash), Some((*tier, *tokens)));
                    }
                }
                Change::Removed { prefix_hash, adapter } => self.want((adapter.clone(), *prefix_hash), None),
                Change::Cleared => {
                    self.forget();
                    self.clears = true;
                }
            }
        }
        if self.wanted.len() > MAX_WAITING_CHANGES {
            self.tell_all();
            return true;
        }
        if !self.wanted.is_empty() {
            self.waits_since.get_or_insert(now);
        }
        false
    }

    /// The server may know anything: all of it is dropped, and everything held is told, in the next loads.
    pub fn tell_all(&mut self) {
        self.forget();
        self.clears = true;
        self.is_urgent = true;
    }

    /// Changes that wait, those of a refresh left out.
    pub fn waiting(&self) -> usize {
        if self.is_urgent { self.wanted.len() + self.walk.len() } else { self.wanted.len() }
    }

    /// Whether everything is still being told anew.
    pub fn is_telling_all(&self) -> bool {
        self.is_urgent
    }

    /// What is due now, from `mapper`, which holds what the changes came from. `refreshes` lets a refresh go on.
    pub fn load(&mut self, mapper: &Mapper, refreshes: bool, now: Instant) -> Option<Load> {
        let starts_over = self.clears && self.is_urgent;
        let mut load = Load { clears: std::mem::take(&mut self.clears), ..Load::default() };
        if starts_over {
            self.walk = mapper.prefixes();
        }
        let is_ripe = self.waits_since.is_some_and(|since| now.duration_since(since) >= BATCH_WAIT);
        if load.clears || self.is_urgent || is_ripe || self.wanted.len() >= MAX_UPDATE_BLOCKS {
            self.take_changes(&mut load);
        }
        if !self.is_urgent && refreshes && now >= self.part_due {
            self.begin_part(mapper, now);
            self.walk_on(mapper, &mut load);
        } else if self.is_urgent {
            self.walk_on(mapper, &mut load);
            if self.walk.is_empty() {
                self.is_urgent = false;
                self.part_due = now + self.refresh;
            }
        }
        (load != Load::default()).then_some(load)
    }

    fn want(&mut self, key: Key, state: Option<(Tier, i32)>) {
        self.last_stamp += 1;
        let stamp = self.last_stamp;
        self.wanted.insert(key.clone(), Wanted { stamp, state });
        self.order.push_back((stamp, key));
        if self.order.len() > 2 * MAX_WAITING_CHANGES {
            let wanted = &self.wanted;
            self.order.retain(|(stamp, key)| wanted.get(key).is_some_and(|change| change.stamp == *stamp));
        }
    }

    fn forget(&mut self) {
        self.wanted.clear();
        self.order.clear();
        self.walk.clear();
        self.waits_since = None;
        self.is_urgent = false;
    }

    /// The oldest changes, as many as a load takes.
    fn take_changes(&mut self, load: &mut Load) {
        let has_room =
            |load: &Load| load.additions.len() < MAX_UPDATE_BLOCKS && load.removals.len() < MAX_UPDATE_BLOCKS;
        while has_room(load)
            && let Some((stamp, key)) = self.order.pop_front()
        {
            if self.wanted.get(&key).is_none_or(|change| change.stamp != stamp) {
                continue;
            }
            let state = self.wanted.remove(&key).and_then(|change| change.state);
            let (adapter, prefix_hash) = key;
            match state {
                None => load.removals.push((adapter, prefix_hash)),
                Some((tier, cumulative_tokens)) => {
                    load.additions.push(Addition { adapter, prefix_hash, cumulative_tokens, tier });
                }
            }
        }
        if self.wanted.is_empty() {
            self.waits_since = None;
        }
    }

    /// A refresh is spread over its interval: one part after the other, with even gaps.
    fn begin_part(&mut self, mapper: &Mapper, now: Instant) {
        if self.walk.is_empty() {
            self.walk = mapper.prefixes();
            let parts = u32::try_from(self.walk.len().div_ceil(MAX_UPDATE_BLOCKS)).unwrap_or(u32::MAX);
            self.part_gap = (self.refresh / parts.max(1)).max(REFRESH_GAP);
        }
        self.part_due = now + self.part_gap;
    }

    /// Tells the next prefixes as they are now. Tails come before heads, part by part, and heads before tails within
    /// one: where the server has to let something go, that is then the tail.
    fn walk_on(&mut self, mapper: &Mapper, load: &mut Load) {
        let told = load.additions.len();
        while load.additions.len() < MAX_UPDATE_BLOCKS
            && let Some(prefix_hash) = self.walk.pop()
        {
            load.additions.extend(mapper.held_at(prefix_hash).map(|held| Addition {
                adapter: held.adapter.clone(),
                prefix_hash,
                cumulative_tokens: held.cumulative_tokens,
                tier: held.tier,
            }));
        }
        load.additions[told..].reverse();
    }
}
