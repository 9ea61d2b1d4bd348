//! What a report does: keys that are not there come to a segment, and the replica's hold on each is added or renewed.

use smallvec::SmallVec;

use super::arena::NONE;
use super::regroup::{Kind, Tokens};
use super::segment::{MAX_SEGMENTS, SLOTS, Segment, key_in, place_of, slots_of, span};
use super::state::{Path, State};
use super::twins::Twins;
use crate::model::{HashList, Tier};

/// Blocks below which a chain shares a segment with others of its replica.
const SHORT: usize = SLOTS / 4;

/// Blocks to store: a part of a chain that fits into one segment.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    pub(super) hashes: HashList<'a>,
    /// Place of the first block in `hashes`.
    pub(super) at: usize,
    /// Tokens of the prefix up to and including each block from there; at most as many blocks are stored.
    pub(super) tokens: &'a [i32],
    pub(super) tier: Tier,
    pub(super) at_ns: i64,
}

impl State {
    /// A report named `next` behind `key`.
    fn link(&mut self, key: u32, next: u32) {
        let (segment, slot) = place_of(key);
        let Some(held) = self.segments.get(segment) else { return };
        if slot as usize + 1 == held.len() {
            self.segments[segment].next = next;
        }
    }

    /// Whether `blocks` more fit within all bounds for certain.
    pub(super) fn has_room(&self, tenant: u32, blocks: usize) -> bool {
        let (blocks, tenant) = (blocks as u64, &self.tenants[tenant]);
        // What a block takes at most when nothing is shared, and what its segment and a list of holders may grow by.
        const BLOCK_BYTES: u64 = 512;
        const LIST_BYTES: u64 = 1 << 20;
        let bytes = self.memory_bytes().saturating_add(blocks * BLOCK_BYTES + LIST_BYTES);
        self.entries + blocks <= self.config.max_entries
            && tenant.keys + blocks <= tenant.settings.max_keys
            && bytes <= self.config.max_memory_bytes
            && self.segments.len() + 1 < MAX_SEGMENTS
    }

    /// Adds or refreshes as many of `blocks` as lie in one segment. The newest time wins tokens and tier; at equal times
    /// the later arrival. `last` is the key of the block before; gives how many were taken, and the last one's key.
    pub(super) fn store(&mut self, path: Path, member: u32, blocks: Blocks<'_>, last: u32) -> (usize, u32) {
        let hash = blocks.hashes.get(blocks.at);
        let guess = self.guess_after(last);
        let found = if self.is_key(guess, path.partition, hash) {
            Some(guess)
        } else {
            self.find_key(path.partition, hash)
        };
        let (segment, slot, count) = match found {
            Some(key) => {
                let (segment, slot) = place_of(key);
                let run = self.segments[segment].run(slot, blocks.hashes, blocks.at);
                (segment, slot, run.min(blocks.tokens.len() as u32))
            }
            None => self.add_keys(path, member, blocks, last),
        };
        self.work += u64::from(count);
        let mut tokens = [0; SLOTS];
        tokens[slot as usize..][..count as usize].copy_from_slice(&blocks.tokens[..count as usize]);
        self.link(last, key_in(segment, slot));
        let mask = span(slot, count);
        self.tell_times(path, segment, mask, blocks.at_ns);
        self.hold(path, member, segment, mask, blocks, &tokens);
        (count as usize, key_in(segment, slot + count - 1))
    }

    /// Adds the keys of leading blocks that are not there, the first of which is not; where they stand.
    fn add_keys(&mut self, path: Path, member: u32, blocks: Blocks<'_>, last: u32) -> (u32, u32, u32) {
        let hash = blocks.hashes.get(blocks.at);
        let left = blocks.tokens.len();
        let open = self.open_segment(path, member, blocks, last);
        let segment =
            open.unwrap_or_else(|| self.segments.insert(Segment::new(path.partition, hash, left.min(SLOTS))));
        self.members[member].open = segment;
        let before = if open.is_some() { self.segments[segment].heap_bytes() } else { 0 };
        let slot = self.segments[segment].len() as u32;
        let coder = self.table.coder();
        let hash = |at: usize| blocks.hashes.get(blocks.at + at);
        let code = |at: usize| coder.code(path.partition, hash(at));
        let codes: SmallVec<[u64; SLOTS]> = (0..left).map(code).collect();
        self.table.touch(&codes);
        let is_new = |(at, code): &(usize, &u64)| {
            *at == 0 || self.find_coded(path.partition, hash(*at), **code).is_none()
        };
        let new = codes.iter().enumerate().take_while(is_new).count();
        let (mut count, mut seen) = (0, [0_u64; 16]);
        for (at, code) in codes.iter().enumerate().take(new) {
            let hash = hash(at);
            // A chain may name a hash twice: the table is asked again where something like it was added just now.
            let (word, bit) = ((code >> 6) as usize % seen.len(), 1 << (code % 64));
            let was_seen = seen[word] & bit != 0;
            seen[word] |= bit;
            let is_known = was_seen && self.find_coded(path.partition, hash, *code).is_some();
            if is_known || !self.segments[segment].admits(hash) {
                break;
            }
            let key = key_in(segment, self.segments[segment].push(hash));
            self.table.insert(*code, key);
            count += 1;
        }
        self.heap_bytes = self.heap_bytes + self.segments[segment].heap_bytes() - before;
        self.count_keys(path, segment, slot, count);
        (segment, slot, count)
    }

    /// The member's latest segment, where new keys go there: right behind the block before, or behind others where what
    /// comes is short.
    fn open_segment(&self, path: Path, member: u32, blocks: Blocks<'_>, last: u32) -> Option<u32> {
        let open = self.members[member].open;
        let held = self.segments.get(open)?;
        let (behind, slot) = place_of(last);
        let follows = last != NONE && behind == open && held.len() == slot as usize + 1;
        let admits = held.partition == path.partition && held.admits(blocks.hashes.get(blocks.at));
        // By what is left of the chain, however little of it comes at a time.
        let is_short = blocks.hashes.len() - blocks.at < SHORT;
        (admits && (follows || is_short)).then_some(open)
    }

    fn count_keys(&mut self, path: Path, segment: u32, slot: u32, count: u32) {
        let keys = u64::from(count);
        self.keys += keys;
        self.partitions[path.partition].keys += keys;
        self.domains[path.domain].keys += keys;
        self.scopes[path.scope].keys += keys;
        self.tenants[path.tenant].keys += keys;
        if self.partitions[path.partition].has_twins {
            for slot in slot..slot + count {
                let hash = self.segments[segment].hash(slot);
                self.twins.insert(path.scope, hash, key_in(segment, slot));
                self.heap_bytes += Twins::KEY_BYTES;
            }
        }
    }

    /// The keys of `mask` were reported at `at_ns`.
    fn tell_times(&mut self, path: Path, segment: u32, mask: u64, at_ns: i64) {
        let mut told = 0;
        let mut stale = 0;
        for at in self.segments[segment].of_owner(NONE).rev() {
            let older = self.older(segment, at, mask, at_ns);
            told |= self.segments[segment].hold(at).mask() & mask;
            if older != 0 {
                stale |= older;
                self.take(path.tenant, segment, at, older);
            }
        }
        let due = stale | mask & !told;
        if due != 0 {
            let kind = Kind { owner: NONE, tier: Tier::T1, hits: 0, at_ns };
            self.put(path.tenant, segment, due, kind, &[0; SLOTS]);
        }
    }

    /// Slots of `mask` whose time in the group at `at` lies before `at_ns`.
    fn older(&self, segment: u32, at: usize, mask: u64, at_ns: i64) -> u64 {
        self.slots_where(segment, at, mask, |held_ns| held_ns < at_ns)
    }

    /// The member holds the slots of `mask` since `blocks.at_ns`.
    fn hold(
        &mut self,
        path: Path,
        member: u32,
        segment: u32,
        mask: u64,
        blocks: Blocks<'_>,
        tokens: &Tokens,
    ) {
        let Blocks { tier, at_ns, .. } = blocks;
        let mut held = 0;
        let mut moved: SmallVec<[(u8, u64); 2]> = SmallVec::new();
        let mut retold: SmallVec<[(u32, u64); 2]> = SmallVec::new();
        for at in self.segments[segment].of_owner(member).rev() {
            let (hold, id) = (self.segments[segment].hold(at), self.segments[segment].ids[at]);
            let part = hold.mask() & mask;
            if part == 0 {
                continue;
            }
            held |= part;
            let same = self.slots_where(segment, at, mask, |held_ns| held_ns == at_ns);
            let group = &self.groups[id];
            let is_told =
                |slot: &u32| hold.tier() == tier && group.tokens_of(*slot) == tokens[*slot as usize];
            let changed =
                slots_of(same).filter(|slot| !is_told(slot)).fold(0, |mask, slot| mask | 1_u64 << slot);
            if changed != 0 {
                retold.push((id, changed));
            }
            let older = self.older(segment, at, mask, at_ns);
            if older != 0 {
                let hits = group.hits;
                match moved.iter_mut().find(|(of, _)| *of == hits) {
                    Some((_, mask)) => *mask |= older,
                    None => moved.push((hits, older)),
                }
                self.work += u64::from(older.count_ones());
                self.take(path.tenant, segment, at, older);
            }
        }
        for (id, changed) in retold {
            self.retell(path.tenant, id, changed, tier, tokens);
        }
        let new = mask & !held;
        if new != 0 {
            match moved.iter_mut().find(|(of, _)| *of == 0) {
                Some((_, mask)) => *mask |= new,
                None => moved.push((0, new)),
            }
        }
        for (hits, mask) in moved {
            self.put(path.tenant, segment, mask, Kind { owner: member, tier, hits, at_ns }, tokens);
        }
        if new != 0 {
            self.count_entries(path, member, u64::from(new.count_ones()), at_ns);
        }
    }

    fn count_entries(&mut self, path: Path, member: u32, count: u64, at_ns: i64) {
        self.entries += count;
        let is_first = self.members[member].entries == 0;
        if is_first {
            self.unlist_idle(member);
        }
        self.members[member].entries += count;
        let serving = self.domains[path.domain].serving.entry(member).or_insert(0);
        *serving += count;
        if *serving == count {
            self.mark_roster(path.domain);
        }
        self.scopes[path.scope].entries += count;
        self.scopes[path.scope].serving += u64::from(is_first);
        if is_first {
            self.scopes[path.scope].idle.go(member);
        }
        self.tenants[path.tenant].entries += count;
        self.mark_resized(path.tenant);
        let due_ns = at_ns.saturating_add(self.tenants[path.tenant].settings.ttl_ns);
        if self.tenants[path.tenant].due_ns.is_none_or(|listed| due_ns < listed) {
            self.list_due(path.tenant, Some(due_ns));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::index::{BLOCKS_PER_SECTION, Index, IndexConfig, SHORT_STEP};
    use crate::model::{HashList, PrefixEntry, PrefixHash, StateUpdate, Tier, Timestamp};

    fn report(index: &Index, replica: &str, chain: &[PrefixHash]) {
        let counts = vec![16; chain.len()];
        let prefixes = vec![PrefixEntry {
            prefix_hash: &[],
            token_count: 0,
            block_hashes: HashList::Fingerprints(chain),
            block_token_counts: &counts,
            tier: Tier::T1,
            adapter: "",
        }];
        let (tenant, model, scheme) = ("t", "m", "s");
        let update = StateUpdate { replica, tenant, model, scheme, prefixes, ..StateUpdate::default() };
        index.apply_update(&update, Timestamp::from_ns(1));
    }

    #[test]
    fn each_block_of_a_chain_leads_to_the_next_one() {
        let chain: Vec<PrefixHash> = (1..=1_000).map(PrefixHash::new).collect();
        for contended in [false, true] {
            let index = Index::new(IndexConfig::default());
            for replica in ["r1", "r2"] {
                if contended {
                    index.state.contend();
                }
                report(&index, replica, &chain);
            }
            let state = index.read_state();
            let key = |at: usize| state.find_key(0, chain[at].as_bytes());
            for at in 1..chain.len() {
                let next = key(at - 1).map(|key| state.guess_after(key));
                assert_eq!((next, next.is_some()), (key(at), true), "behind block {at}");
            }
        }
    }

    #[test]
    fn what_is_removed_goes_in_short_steps_where_lookups_waited() {
        let index = Index::new(IndexConfig::default());
        assert_eq!(index.section().left(), BLOCKS_PER_SECTION);
        index.state.contend();
        assert_eq!(index.section().left(), SHORT_STEP);
    }

    #[test]
    fn a_chain_in_short_steps_lies_as_one_in_long_ones() {
        // Heads of a length that one step takes, or several; those of few blocks lie together, others by themselves.
        for (length, segments) in [(15, 1), (16, 4), (19, 4), (64, 4), (70, 8)] {
            for contended in [false, true] {
                let index = Index::new(IndexConfig::default());
                for head in 0..4 {
                    if contended {
                        index.state.contend();
                    }
                    let chain: Vec<PrefixHash> =
                        (0..length).map(|at| PrefixHash::new(1_000 * head + at)).collect();
                    report(&index, "r1", &chain);
                }
                let found = index.read_state().segments.len();
                assert_eq!(found, segments, "{length} blocks, contended: {contended}");
            }
        }
    }
}
