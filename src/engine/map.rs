//! Follows one replica: from the events of its engine to what changes in the index.
//!
//! Engines name blocks by hashes of their own, which differ between releases and processes, so blocks are indexed by
//! the content fingerprint of their tokens, chained through the parent that the engine names. Whatever leaves doubt
//! about the content of a prefix is left out and counted: a missing hint costs little, a wrong one a cache miss.

use std::collections::{HashSet, VecDeque};

use crate::hash::fingerprint_chain;
use crate::model::{AdapterId, EngineHash, Limits, PrefixHash, Timestamp};

use super::changes::{Change, Changes};
use super::decode::{Batch, BlockRemoved, BlockStored, Event, TokenIds};
use super::drops::{DropCounts, EngineDrop};
use super::held_back::{HeldBack, HeldBackLimits, Waiting};
use super::holdings::{Content, Held, Holdings, HoldingsLimits, Indexed, StoreOutcome};
use super::options::MapperOptions;
use super::place::{Media, Place};

/// Adapter numbers without a name that are said; further ones are only counted.
pub const MAX_NOTICES: usize = 1_024;

/// What one batch comes to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Applied {
    /// Changes to the index, in order.
    pub changes: Vec<Change>,
    /// What an operator should hear of, each thing once.
    pub notices: Vec<Notice>,
}

/// Something to say once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// Blocks of this adapter number are left out until it has a name.
    UnnamedAdapter(i64),
    /// This medium is not known and taken for the coldest tier.
    UnknownMedium(String),
}

/// Counters and sizes of a [`Mapper`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counts {
    /// What was passed over, by cause.
    pub drops: DropCounts,
    /// Engine blocks held, those left out of the index for their content included.
    pub held_blocks: usize,
    /// Blocks that wait for their parent.
    pub held_back_blocks: usize,
}

/// State of one replica. Memory is bounded by [`MapperOptions`], [`MAX_NOTICES`] and `MAX_MEDIA`.
#[derive(Debug)]
pub struct Mapper {
    options: MapperOptions,
    holdings: Holdings,
    held_back: HeldBack,
    media: Media,
    said_adapters: HashSet<i64>,
    base_model: AdapterId,
    drops: DropCounts,
}

impl Mapper {
    /// A replica of which nothing is known.
    pub fn new(options: MapperOptions) -> Self {
        let retained = if options.l2_retains { options.max_retained_blocks } else { 0 };
        Self {
            holdings: Holdings::new(HoldingsLimits { blocks: options.max_held_blocks, retained }),
            held_back: HeldBack::new(HeldBackLimits {
                blocks: options.max_held_back_blocks,
                tokens: options.max_held_back_tokens,
                age_ns: options.held_back_ns,
            }),
            media: Media::default(),
            said_adapters: HashSet::new(),
            base_model: AdapterId::from(""),
            drops: DropCounts::default(),
            options,
        }
    }

    /// Applies one batch, whose rank is the caller's to look at; `now` dates what is held back.
    pub fn apply(&mut self, batch: &Batch<'_>, now: Timestamp) -> Applied {
        self.expire(now);
        self.drops.add(EngineDrop::UnknownTag, batch.ignored.tags);
        self.drops.add(EngineDrop::UnknownKey, batch.ignored.keys);
        self.drops.add(EngineDrop::SurplusPosition, batch.ignored.positions);
        let mut out = Changes::default();
        let mut notices = Vec::new();
        for event in &batch.events {
            match event {
                Event::Stored(stored) => self.store(stored, now, &mut out, &mut notices),
                Event::Removed(removed) => self.remove(removed, &mut out, &mut notices),
                Event::Cleared => {
                    self.forget();
                    out.cleared();
                }
            }
        }
        Applied { changes: out.into_list(), notices }
    }

    /// Forgets everything: the engine restarted, or said that its cache is empty.
    pub fn clear(&mut self) -> Change {
        self.forget();
        Change::Cleared
    }

    /// Drops what has been held back for too long; [`Mapper::apply`] does so too.
    pub fn expire(&mut self, now: Timestamp) {
        let expired = self.held_back.expire(now);
        self.count(EngineDrop::HeldBackExpired, expired);
    }

    /// Every entry the index should have of this replica, in no order.
    pub fn held(&self) -> impl Iterator<Item = Held<'_>> {
        self.holdings.held()
    }

    /// Every prefix held, those with the fewest tokens first.
    pub fn prefixes(&self) -> Vec<PrefixHash> {
        self.holdings.prefixes()
    }

    /// The entries of one prefix: one for each partition that holds it.
    pub fn held_at(&self, prefix_hash: PrefixHash) -> impl Iterator<Item = Held<'_>> {
        self.holdings.held_at(prefix_hash)
    }

    /// Counters since the start, and sizes now.
    pub fn counts(&self) -> Counts {
        Counts {
            drops: self.drops.clone(),
            held_blocks: self.holdings.len(),
            held_back_blocks: self.held_back.len(),
        }
    }

    fn forget(&mut self) {
        self.holdings.clear();
        self.held_back.clear();
    }

    fn count(&mut self, cause: EngineDrop, blocks: usize) {
        self.drops.add(cause, blocks as u64);
    }

    fn place(&mut self, medium: Option<&str>, group: Option<u32>, notices: &mut Vec<Notice>) -> Place {
        let (place, unknown) = self.media.place(medium, group);
        if unknown && let Some(medium) = medium {
            notices.push(Notice::UnknownMedium(medium.to_owned()));
        }
        place
    }

    fn remove(&mut self, event: &BlockRemoved<'_>, out: &mut Changes, notices: &mut Vec<Notice>) {
        let place = self.place(event.medium, event.group_idx, notices);
        for hash in &event.block_hashes {
            // A copy that waits goes first: it must not come back once its parent is there.
            let removed = self.held_back.remove(*hash, place) || self.holdings.remove(*hash, place, out);
            if !removed {
                self.count(EngineDrop::UnknownRemoval, 1);
            }
        }
    }

    fn store(
        &mut self,
        event: &BlockStored<'_>,
        now: Timestamp,
        out: &mut Changes,
        notices: &mut Vec<Notice>,
    ) {
        let place = self.place(event.medium, event.group_idx, notices);
        let blocks = event.block_hashes.len();
        let tokens = match &event.token_ids {
            TokenIds::Plain(tokens) if tokens.is_empty() => {
                return self.store_known(&event.block_hashes, place, out);
            }
            TokenIds::Plain(tokens) if tokens.len() == blocks * event.block_size as usize => tokens,
            TokenIds::Plain(_) => return self.count(EngineDrop::TokenCount, blocks.max(1)),
            TokenIds::Pairs(_) => return self.count(EngineDrop::TokenPairs, blocks.max(1)),
            TokenIds::OutOfRange(_) => return self.count(EngineDrop::TokenRange, blocks.max(1)),
        };
        let adapter = match self.adapter(event, notices) {
            Ok(adapter) => adapter,
            Err(cause) => return self.count(cause, blocks),
        };
        let refused = self.refused(event, &adapter);
        let start = match event.parent_block_hash {
            None => Some(Start::Sequence),
            // Nothing of it will be indexed, so there is no need to wait for the parent.
            Some(_) if matches!(refused, Some((0, _))) => Some(Start::Refused),
            Some(parent) => self.start_after(parent),
        };
        let hashes = event.block_hashes.iter().copied().map(Some);
        if let Some(start) = start {
            let run = Run { tokens, block_size: event.block_size, start, adapter: &adapter, place, refused };
            self.store_run(&run, hashes, out);
            self.store_waiting(&event.block_hashes, out);
        } else if let Some(parent) = event.parent_block_hash {
            let dropped = self.held_back.hold(Waiting {
                parent,
                hashes: hashes.collect(),
                tokens: tokens.clone(),
                block_size: event.block_size,
                adapter,
                place,
                refused,
                since: now,
            });
            self.count(EngineDrop::HeldBackFull, dropped);
        }
    }

    /// Blocks without tokens: further copies of what is held.
    fn store_known(&mut self, hashes: &[EngineHash], place: Place, out: &mut Changes) {
        out.end_sequence();
        for hash in hashes {
            match self.holdings.content(*hash) {
                Some(content) => self.store_copy(*hash, content, place, out),
                None => self.count(EngineDrop::UnknownBlock, 1),
            }
        }
    }

    fn store_copy(&mut self, hash: EngineHash, content: Content, place: Place, out: &mut Changes) {
        match self.holdings.store(hash, content, place, out) {
            StoreOutcome::Counted => {}
            StoreOutcome::Replaced => self.count(EngineDrop::HashReused, 1),
            StoreOutcome::Full => self.count(EngineDrop::HeldFull, 1),
        }
    }

    fn store_run(
        &mut self,
        run: &Run<'_>,
        hashes: impl Iterator<Item = Option<EngineHash>>,
        out: &mut Changes,
    ) {
        let (parent, mut tokens) = match run.start {
            Start::Sequence => (None, 0),
            Start::After(prefix_hash, tokens) => (Some(prefix_hash), tokens),
            Start::Refused => (None, 0),
        };
        let (refused_from, cause) = match (run.start, run.refused) {
            (_, Some((0, cause))) => (0, cause),
            (Start::Refused, _) => (0, EngineDrop::ParentRefused),
            (_, Some(refused)) => refused,
            (_, None) => (usize::MAX, EngineDrop::ParentRefused),
        };
        let size = run.block_size as usize;
        let indexed = refused_from.min(run.tokens.len() / size);
        let chain = fingerprint_chain(&run.tokens[..indexed * size], run.block_size, parent);
        if run.start == Start::Sequence {
            out.begin_sequence();
        }
        for (at, hash) in hashes.enumerate() {
            tokens = tokens.saturating_add(run.block_size.cast_signed());
            let mark = out.mark();
            if let Some(hash) = hash {
                let content = match chain.get(at) {
                    Some(prefix_hash) => Content::Indexed(Indexed {
                        adapter: run.adapter.clone(),
                        prefix_hash: *prefix_hash,
                        tokens,
                    }),
                    None => {
                        self.count(cause, 1);
                        Content::Refused
                    }
                };
                self.store_copy(hash, content, run.place, out);
            }
            // A block of which nothing is said leaves a gap in the chain.
            if out.mark() == mark {
                out.end_sequence();
            }
        }
        out.end_sequence();
    }

    /// Stores what waited for blocks that are known now, and what waited for that.
    fn store_waiting(&mut self, stored: &[EngineHash], out: &mut Changes) {
        if self.held_back.len() == 0 {
            return;
        }
        let mut parents: VecDeque<EngineHash> = stored.iter().copied().collect();
        while self.held_back.len() > 0
            && let Some(parent) = parents.pop_front()
        {
            // A parent that found no room is still unknown.
            let Some(start) = self.start_after(parent) else {
                continue;
            };
            for waiting in self.held_back.take_children(parent) {
                let run = Run {
                    tokens: &waiting.tokens,
                    block_size: waiting.block_size,
                    start,
                    adapter: &waiting.adapter,
                    place: waiting.place,
                    refused: waiting.refused,
                };
                self.store_run(&run, waiting.hashes.iter().copied(), out);
                parents.extend(waiting.hashes.iter().flatten());
            }
        }
    }

    fn start_after(&self, parent: EngineHash) -> Option<Start> {
        Some(match self.holdings.content(parent)? {
            Content::Indexed(block) => Start::After(block.prefix_hash, block.tokens),
            Content::Refused => Start::Refused,
        })
    }

    fn adapter(
        &mut self,
        event: &BlockStored<'_>,
        notices: &mut Vec<Notice>,
    ) -> Result<AdapterId, EngineDrop> {
        if let Some(name) = event.lora_name.filter(|name| !name.is_empty()) {
            if name.len() > Limits::default().id_bytes {
                return Err(EngineDrop::AdapterTooLong);
            }
            return Ok(AdapterId::from(name));
        }
        let Some(id) = event.lora_id else {
            return Ok(self.base_model.clone());
        };
        if let Some(name) = self.options.adapter_names.get(&id) {
            return Ok(name.clone());
        }
        if self.said_adapters.len() < MAX_NOTICES && self.said_adapters.insert(id) {
            notices.push(Notice::UnnamedAdapter(id));
        }
        Err(EngineDrop::UnnamedAdapter)
    }

    /// From which block of the event on the fingerprint does not tell the content, and why.
    fn refused(&self, event: &BlockStored<'_>, adapter: &AdapterId) -> Option<(usize, EngineDrop)> {
        if self.options.ignore_extra_keys {
            return None;
        }
        if event.cache_salt.is_some_and(|salt| !salt.is_empty()) {
            return Some((0, EngineDrop::CacheSalt));
        }
        let blocks = event.block_hashes.len();
        let from = event.extra_keys?.foreign_from(adapter.as_str(), blocks);
        (from < blocks).then_some((from, EngineDrop::ExtraKeys))
    }
}

/// Blocks of one event on the way into the holdings.
struct Run<'a> {
    tokens: &'a [u32],
    block_size: u32,
    start: Start,
    adapter: &'a AdapterId,
    place: Place,
    refused: Option<(usize, EngineDrop)>,
}

/// What comes before a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Sequence,
    /// A block with this prefix hash, at so many tokens.
    After(PrefixHash, i32),
    /// A block that is not indexed.
    Refused,
}
