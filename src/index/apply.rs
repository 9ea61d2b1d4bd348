//! State updates.

use bytes::Bytes;
use smallvec::SmallVec;

use super::arena::NONE;
use super::ingest::{check_entry, check_update, clean_rate, clean_version};
use super::names::Stats;
use super::state::{Path, State};
use super::store::Blocks;
use super::{BLOCKS_PER_SECTION, DropCause, EvictionCounts, Index, SHORT_STEP, Section, not_later};
use crate::decision::StatsSeen;
use crate::model::{HashList, PrefixEntry, ReplicaStats, StateUpdate, Timestamp};

/// What became of an update.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Applied {
    /// Blocks stored or refreshed.
    pub blocks: u64,
    /// What was dropped, in the order it was met: the whole update, a prefix entry, or all prefixes of it.
    pub dropped: Vec<DropCause>,
    /// What had to go for it.
    pub evicted: EvictionCounts,
}

impl Index {
    /// Applies a delta that arrived at `now`.
    ///
    /// Each block is one step: a lookup beside it may see the head of a chain before its tail, never the reverse.
    pub fn apply_update(&self, update: &StateUpdate<'_>, now: Timestamp) -> Applied {
        let mut applied = Applied::default();
        if let Err(cause) = check_update(update, &self.limits) {
            applied.dropped.push(cause);
            return applied;
        }
        let at = not_later(update.at, now);
        if update.stats.is_some_and(|stats| stats.client_version.len() > self.limits.id_bytes) {
            applied.dropped.push(DropCause::LongVersion);
        }
        // Everything is checked before the first section begins: lookups never wait for it.
        let mut flaws = Vec::new();
        let sound = self.sound_entries(update, &mut flaws);
        let mut section = self.section();
        let Some(owner) = self.apply_member(&mut section, update, at, now) else {
            section.end();
            applied.dropped.push(DropCause::TooManyReplicas);
            return applied;
        };
        applied.dropped.append(&mut flaws);
        let (section, owner) = (Some(section), Some(owner));
        let mut writer = Writer { index: self, update, at, now, section, owner, target: None };
        for run in sound.chunk_by(|a, b| is_one_run(a, b)) {
            match run {
                [entry] => writer.store(entry, &mut applied),
                run => writer.store_run(run, &mut applied),
            }
        }
        writer.end();
        applied
    }

    /// The entries that can be stored; why each of the others cannot.
    fn sound_entries<'a, 'b>(
        &self,
        update: &'a StateUpdate<'b>,
        dropped: &mut Vec<DropCause>,
    ) -> Vec<&'a PrefixEntry<'b>> {
        if update.scheme.is_empty() {
            dropped.extend(update.prefixes.iter().map(|_| DropCause::MissingScheme));
            return Vec::new();
        }
        let mut blocks_left = self.limits.request_blocks;
        let sound = update.prefixes.iter().filter(|entry| {
            let blocks = entry.block_hashes.len().max(1);
            let checked = check_entry(entry, &self.limits).and_then(|()| {
                blocks_left.checked_sub(blocks).ok_or(DropCause::TooManyBlocks).map(|left| blocks_left = left)
            });
            dropped.extend(checked.err());
            checked.is_ok()
        });
        sound.collect()
    }

    /// Liveness and statistics; scope and member, where the index takes the replica.
    fn apply_member(
        &self,
        section: &mut Section<'_>,
        update: &StateUpdate<'_>,
        at: Timestamp,
        now: Timestamp,
    ) -> Option<(u32, u32)> {
        section.work += 1;
        let scope = section.ensure_scope(update.tenant, update.model);
        let member = section.ensure_member(scope, update.replica, now)?;
        if let Some(stats) = &update.stats {
            let stats = clean(stats, at, &self.limits);
            let held = &section.members[member].stats;
            if held.as_ref().is_none_or(|held| held.seen.reported_at <= at) {
                section.set_stats(member, Some(stats));
                section.scopes[scope].has_stats = true;
            }
        }
        section.forget_idle(member);
        Some((scope, member))
    }
}

fn clean(stats: &ReplicaStats<'_>, at: Timestamp, limits: &crate::model::Limits) -> Stats {
    Stats {
        seen: StatsSeen {
            hit_rate: clean_rate(stats.hit_rate),
            pressure: clean_rate(stats.pressure),
            reported_at: at,
        },
        cache_memory_bytes: stats.cache_memory_bytes,
        client_version: Box::from(clean_version(stats, limits)),
        t2_hit_tokens: stats.t2_hit_tokens,
        t2_query_tokens: stats.t2_query_tokens,
    }
}

/// Blocks that are stored in one step, before lookups that wait are looked after.
const STEP: usize = 32;

/// Stores the blocks of one update in bounded critical sections.
struct Writer<'a> {
    index: &'a Index,
    update: &'a StateUpdate<'a>,
    at: Timestamp,
    now: Timestamp,
    section: Option<Section<'a>>,
    /// Scope and member, where the running section has looked them up.
    owner: Option<(u32, u32)>,
    /// Partition and member of the running section, for the adapter they were looked up for.
    target: Option<(&'a str, Path, u32)>,
}

impl<'a> Writer<'a> {
    /// A chain gives one key a block, with the cumulative token count; a hash beside it is one key more.
    fn store(&mut self, entry: &PrefixEntry<'a>, applied: &mut Applied) {
        let adapter = if entry.adapter.is_empty() { self.update.adapter } else { entry.adapter };
        let (mut sum, mut at, mut last) = (0_i32, 0, NONE);
        while at < entry.block_hashes.len() {
            let mut tokens: SmallVec<[i32; STEP]> = SmallVec::new();
            tokens.extend(entry.block_token_counts[at..].iter().take(self.step()).scan(sum, |sum, count| {
                *sum = sum.saturating_add(*count);
                Some(*sum)
            }));
            let (tier, at_ns) = (entry.tier, self.at.as_ns());
            let blocks = Blocks { hashes: entry.block_hashes, at, tokens: &tokens, tier, at_ns };
            let (taken, key) = self.store_blocks(adapter, blocks, last, applied);
            sum = tokens[taken - 1];
            (at, last) = (at + taken, key);
        }
        if !entry.prefix_hash.is_empty() {
            let hash = [Bytes::copy_from_slice(entry.prefix_hash)];
            let (tokens, tier, at_ns) = (&[entry.token_count], entry.tier, self.at.as_ns());
            let blocks = Blocks { hashes: HashList::Wire(&hash), at: 0, tokens, tier, at_ns };
            self.store_blocks(adapter, blocks, NONE, applied);
        }
    }

    /// The same for entries of a hash each, as [`is_one_run`] says: several are one step, as blocks of a chain are.
    fn store_run(&mut self, run: &[&PrefixEntry<'a>], applied: &mut Applied) {
        let Some(first) = run.first() else { return };
        let adapter = if first.adapter.is_empty() { self.update.adapter } else { first.adapter };
        let bytes: Vec<u8> = run.iter().flat_map(|entry| entry.prefix_hash).copied().collect();
        let tokens: Vec<i32> = run.iter().map(|entry| entry.token_count).collect();
        let hashes = HashList::Flat { bytes: &bytes, width: first.prefix_hash.len() };
        let (tier, at_ns) = (first.tier, self.at.as_ns());
        let (mut at, mut last) = (0, NONE);
        while at < run.len() {
            let tokens = &tokens[at..run.len().min(at + self.step())];
            let blocks = Blocks { hashes, at, tokens, tier, at_ns };
            let (taken, key) = self.store_blocks(adapter, blocks, last, applied);
            (at, last) = (at + taken, key);
        }
    }

    /// Blocks to store in one step.
    fn step(&self) -> usize {
        if self.index.state.is_contended() { SHORT_STEP as usize } else { STEP }
    }

    /// Stores leading blocks behind the key `last`; how many, and the key of the last one.
    fn store_blocks(
        &mut self,
        adapter: &'a str,
        blocks: Blocks<'_>,
        last: u32,
        applied: &mut Applied,
    ) -> (usize, u32) {
        let (update, now) = (self.update, self.now);
        let mut section = self.section.take().unwrap_or_else(|| self.index.section());
        let target = match self.target {
            Some((held, path, member)) if held == adapter => Some((path, member)),
            _ => locate(&mut section, update, self.owner, adapter, now),
        };
        let Some((path, member)) = target else {
            applied.dropped.push(DropCause::TooManyReplicas);
            (self.owner, self.target) = (None, None);
            section.end();
            return (1, NONE);
        };
        self.target = Some((adapter, path, member));
        // A refreshed block counts twice, once for its place in the order.
        let left = (BLOCKS_PER_SECTION.saturating_sub(section.work - section.start) / 2).max(1) as usize;
        let most = blocks.tokens.len().min(left);
        let most = if section.has_room(path.tenant, most) { most } else { 1 };
        let (taken, key) =
            section.store(path, member, Blocks { tokens: &blocks.tokens[..most], ..blocks }, last);
        applied.blocks += taken as u64;
        // One key over at most, unless the quota was lowered just now: then others are at it, and this does its share.
        let until = section.work + BLOCKS_PER_SECTION;
        applied.evicted.quota_keys += section.enforce_quota(path.tenant, until);
        section.enforce_caps(member, now, &mut applied.evicted);
        if section.is_full() {
            // What was looked up may be gone when the next section begins.
            (self.owner, self.target) = (None, None);
            section.end();
        } else {
            self.section = Some(section);
        }
        (taken, key)
    }

    fn end(self) {
        if let Some(section) = self.section {
            section.end();
        }
    }
}

/// Whether two entries that follow one another are of one hash each, and differ by hash and tokens only.
fn is_one_run(one: &PrefixEntry<'_>, next: &PrefixEntry<'_>) -> bool {
    let is_single = |entry: &PrefixEntry<'_>| entry.block_hashes.is_empty() && !entry.prefix_hash.is_empty();
    is_single(one)
        && is_single(next)
        && one.prefix_hash.len() == next.prefix_hash.len()
        && (one.tier, one.adapter) == (next.tier, next.adapter)
}

/// Where blocks of `adapter` go: their partition and its levels, and the member; `owner` is scope and member where known.
fn locate(
    state: &mut State,
    update: &StateUpdate<'_>,
    owner: Option<(u32, u32)>,
    adapter: &str,
    now: Timestamp,
) -> Option<(Path, u32)> {
    let (scope, member) = match owner {
        Some(owner) => owner,
        None => {
            let scope = state.ensure_scope(update.tenant, update.model);
            (scope, state.ensure_member(scope, update.replica, now)?)
        }
    };
    let partition = state.ensure_partition(scope, update.scheme, adapter);
    Some((state.path_of(partition), member))
}
