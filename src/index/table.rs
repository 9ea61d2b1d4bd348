//! The hash table over all keys. It holds positions and marks; hashes lie in the segments.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::RandomState;

use super::arena::NONE;

/// Sub-tables: growing one moves few keys.
const SHARDS: usize = 4096;
/// Keys of a line of memory, which is what a look at the table reads.
const PLACES: usize = 10;

/// A sub-table grows by a quarter when it is filled beyond this share, in hundredths.
const FULL: usize = 85;
/// It shrinks when it is filled less than this, and then to [`FITTED`].
const SPARSE: usize = 65;
const FITTED: usize = 75;

/// Bytes of the table that one key takes, on average over the sizes of the sub-tables.
pub(super) const KEY_BYTES: u64 = 8;

/// Positions of keys by the codes of their hashes.
///
/// A sub-table is a list of lines. A key has a home line by sixteen bits of its code, and goes to the next one with a
/// free place where that is full; each line counts the keys that went past it, so that most looks end at the first. Those
/// sixteen bits stand beside the position: growing a sub-table reads no key.
#[derive(Debug)]
pub(super) struct Table {
    shards: Vec<Shard>,
    coder: Coder,
}

#[derive(Debug, Default)]
struct Shard {
    lines: Vec<Line>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line {
    keys: [u32; PLACES],
    marks: [u16; PLACES],
    /// Places in use: the first ones.
    used: u8,
    /// Keys that found this line full; a count that reached its end stays there.
    passed: u8,
}

const _: () = assert!(size_of::<Line>() == 64);

/// What makes hashes of keys into codes.
#[derive(Clone, Debug)]
pub(super) struct Coder(RandomState);

impl Coder {
    pub(super) fn code(&self, partition: u32, hash: &[u8]) -> u64 {
        let mut hasher = self.0.build_hasher();
        match <[u8; 8]>::try_from(hash) {
            Ok(word) => {
                hasher.write_u64(u64::from_le_bytes(word));
                hasher.write_u32(partition);
            }
            Err(_) => {
                hasher.write_u32(partition);
                hasher.write(hash);
            }
        }
        hasher.finish()
    }
}

impl Line {
    const EMPTY: Line = Line { keys: [NONE; PLACES], marks: [0; PLACES], used: 0, passed: 0 };

    /// The places in use that have this mark, as a set.
    fn marked(&self, mark: u16) -> u32 {
        let equal = (0..PLACES).fold(0, |set, at| set | u32::from(self.marks[at] == mark) << at);
        equal & ((1 << self.used) - 1)
    }
}

impl Shard {
    fn home(&self, mark: u16) -> usize {
        (usize::from(mark) * self.lines.len()) >> 16
    }

    fn next(&self, line: usize) -> usize {
        if line + 1 == self.lines.len() { 0 } else { line + 1 }
    }

    /// Line and place of the key that `is` it.
    fn find(&self, mark: u16, mut is: impl FnMut(&u32) -> bool) -> Option<(usize, usize)> {
        let mut at = self.home(mark);
        for _ in 0..self.lines.len() {
            let line = &self.lines[at];
            let mut marked = line.marked(mark);
            while marked != 0 {
                let place = marked.trailing_zeros() as usize;
                if is(&line.keys[place]) {
                    return Some((at, place));
                }
                marked &= marked - 1;
            }
            if line.passed == 0 {
                return None;
            }
            at = self.next(at);
        }
        None
    }

    /// Puts a key into the first line from its home on that has a place; there is one.
    fn put(&mut self, mark: u16, key: u32) {
        let mut at = self.home(mark);
        loop {
            let next = self.next(at);
            let line = &mut self.lines[at];
            let used = usize::from(line.used);
            if used < PLACES {
                (line.keys[used], line.marks[used]) = (key, mark);
                line.used += 1;
                return;
            }
            line.passed = line.passed.saturating_add(1);
            at = next;
        }
    }

    fn take(&mut self, mark: u16, (line, place): (usize, usize)) {
        let held = &mut self.lines[line];
        let last = usize::from(held.used) - 1;
        (held.keys[place], held.marks[place]) = (held.keys[last], held.marks[last]);
        held.used -= 1;
        let mut at = self.home(mark);
        while at != line {
            let next = self.next(at);
            let passed = &mut self.lines[at].passed;
            *passed -= u8::from(*passed < u8::MAX);
            at = next;
        }
        self.len -= 1;
    }

    /// Places everything anew in so many lines.
    fn resize(&mut self, lines: usize) {
        let mut fresh = Vec::new();
        fresh.reserve_exact(lines);
        fresh.resize(lines, Line::EMPTY);
        for line in std::mem::replace(&mut self.lines, fresh) {
            for at in 0..usize::from(line.used) {
                self.put(line.marks[at], line.keys[at]);
            }
        }
    }
}

impl Default for Table {
    fn default() -> Self {
        Self {
            shards: std::iter::repeat_with(Shard::default).take(SHARDS).collect(),
            coder: Coder(RandomState::default()),
        }
    }
}

/// Sub-table and mark of a code.
fn split(code: u64) -> (usize, u16) {
    ((code >> 32) as usize % SHARDS, code as u16)
}

impl Table {
    pub(super) fn coder(&self) -> Coder {
        self.coder.clone()
    }

    pub(super) fn code(&self, partition: u32, hash: &[u8]) -> u64 {
        self.coder.code(partition, hash)
    }

    /// Reads what looks at `codes` begin with: no look waits for another, so that their memory comes together.
    pub(super) fn touch(&self, codes: &[u64]) {
        let used = |code: &u64| {
            let (shard, mark) = split(*code);
            let shard = &self.shards[shard];
            shard.lines.get(shard.home(mark)).map_or(0, |line| line.used)
        };
        // Of use to nobody, which the compiler must not find out.
        std::hint::black_box(codes.iter().fold(0, |all, code| all ^ used(code)));
    }

    pub(super) fn find(&self, code: u64, is: impl FnMut(&u32) -> bool) -> Option<u32> {
        let (shard, mark) = split(code);
        let shard = &self.shards[shard];
        shard.find(mark, is).map(|(line, place)| shard.lines[line].keys[place])
    }

    /// Adds a key that is not there.
    pub(super) fn insert(&mut self, code: u64, key: u32) {
        let (shard, mark) = split(code);
        let shard = &mut self.shards[shard];
        let lines = shard.lines.len();
        if (shard.len + 1) * 100 > lines * PLACES * FULL {
            shard.resize(lines + (lines / 4).max(1));
        }
        shard.put(mark, key);
        shard.len += 1;
    }

    /// Takes a key out.
    pub(super) fn remove(&mut self, code: u64, key: u32) {
        let (shard, mark) = split(code);
        let shard = &mut self.shards[shard];
        let Some(found) = shard.find(mark, |held| *held == key) else { return };
        shard.take(mark, found);
        let lines = shard.lines.len();
        let fitted = (shard.len * 100).div_ceil(PLACES * FITTED);
        if shard.len * 100 < lines * PLACES * SPARSE && fitted < lines {
            shard.resize(fitted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SplitMix64 of one value.
    fn mixed(value: u64) -> u64 {
        let mut mixed = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Codes of keys 0 to `count`, all in one of `shards` sub-tables and with one of `marks` marks.
    fn codes(count: u32, shards: u64, marks: u64) -> Vec<u64> {
        (0..u64::from(count)).map(|key| ((mixed(key) % shards) << 32) | (mixed(!key) % marks)).collect()
    }

    fn lines(table: &Table) -> usize {
        table.shards.iter().map(|shard| shard.lines.len()).sum()
    }

    #[test]
    fn a_table_holds_what_came_and_did_not_go() {
        // Marks that all differ, marks of few lines, and one mark for all, whose keys fill line after line.
        for (shards, marks) in [(4_096, 65_536), (3, 65_536), (3, 5), (1, 1)] {
            let codes = codes(3_000, shards, marks);
            let mut table = Table::default();
            let find = |table: &Table, key: u32| table.find(codes[key as usize], |held| *held == key);
            for key in 0..3_000 {
                assert_eq!(find(&table, key), None);
                table.insert(codes[key as usize], key);
                assert_eq!(find(&table, key), Some(key));
            }
            for key in (0..3_000).filter(|key| key % 3 != 0) {
                table.remove(codes[key as usize], key);
            }
            table.remove(codes[1], 1);
            for key in 0..3_000 {
                assert_eq!(find(&table, key), (key % 3 == 0).then_some(key), "{shards} {marks}");
            }
            for key in (0..3_000).filter(|key| key % 3 == 0) {
                table.remove(codes[key as usize], key);
            }
            assert_eq!(lines(&table), 0);
        }
    }

    #[test]
    fn rounds_of_coming_and_going_take_no_more_lines() {
        let mut table = Table::default();
        let mut most = Vec::new();
        for round in 0..30_u64 {
            let codes: Vec<u64> = (0..40_000).map(|key| mixed(round << 32 | key)).collect();
            (0..).zip(&codes).for_each(|(key, code)| table.insert(*code, key));
            most.push(lines(&table));
            (0..).zip(&codes).skip(4_000).for_each(|(key, code)| table.remove(*code, key));
            let (left, least) = (lines(&table), 4_000 / PLACES);
            assert!(left >= least && left <= SHARDS, "{left} lines for 4,000 keys");
            (0..).zip(&codes).take(4_000).for_each(|(key, code)| table.remove(*code, key));
        }
        assert_eq!(lines(&table), 0);
        let (least, most) = (most.iter().min(), most.iter().max());
        assert!(most <= least.map(|least| least + least / 20).as_ref(), "{least:?} to {most:?} lines");
    }
}
