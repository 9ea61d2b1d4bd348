//! Where keys and holds lie: segments of up to 64 keys in the order in which they were reported.
//!
//! A chain lies in consecutive slots, so that a lookup compares hashes one after the other and asks the table only where
//! a chain begins or leaves what is stored. What neighbours share is stored once: a *group* is what one owner holds of one
//! segment, as far as tier, hits and order are the same. The owner of a group is a member, or [`NONE`]: that group holds
//! the times at which anybody reported the keys.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::arena::NONE;
use super::crowd::Crowd;
use super::group::Hold;
use crate::model::{HashList, PrefixHash};

/// Keys of a segment at most; a set of them is one word.
pub(super) const SLOTS: usize = 64;
const SLOT_BITS: u32 = 6;
/// Segments at most: the position of a key has 32 bits, and one value stands for none.
pub(super) const MAX_SEGMENTS: usize = (1 << (32 - SLOT_BITS)) - 1;

/// Position of the key in `slot` of `segment`.
pub(super) fn key_in(segment: u32, slot: u32) -> u32 {
    segment << SLOT_BITS | slot
}

/// Segment and slot of a key.
pub(super) fn place_of(key: u32) -> (u32, u32) {
    (key >> SLOT_BITS, key & (SLOTS as u32 - 1))
}

/// The slots from `slot` on, `count` of them; 1 to 64.
pub(super) fn span(slot: u32, count: u32) -> u64 {
    (u64::MAX >> (SLOTS as u32 - count)) << slot
}

/// The lowest slots of a set, `most` of them.
pub(super) fn lowest(mask: u64, most: u64) -> u64 {
    let mut rest = mask;
    for _ in 0..most.min(SLOTS as u64) {
        rest &= rest.saturating_sub(1);
    }
    mask & !rest
}

/// The slots of a set, lowest first.
pub(super) fn slots_of(mask: u64) -> Slots {
    Slots(mask)
}

pub(super) struct Slots(u64);

impl Iterator for Slots {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let slot = self.0.trailing_zeros();
        self.0 &= self.0.checked_sub(1)?;
        Some(slot)
    }
}

impl DoubleEndedIterator for Slots {
    fn next_back(&mut self) -> Option<u32> {
        let slot = self.0.checked_ilog2()?;
        self.0 ^= 1 << slot;
        Some(slot)
    }
}

/// Hashes of one segment: all of one length. Engines' hashes are nearly always 8 bytes.
#[derive(Debug)]
pub(super) enum Hashes {
    Words(Vec<PrefixHash>),
    Bytes { width: u8, bytes: Vec<u8> },
}

/// Sweep epochs of delivered hits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heat {
    pub(super) epoch: u32,
    /// Slots hit in `epoch`.
    pub(super) now: u64,
    /// Slots hit in the epoch before it.
    pub(super) before: u64,
}

/// In the order in which a lookup reads it: two lines of memory, and what only writes need behind them.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Segment {
    /// [`NONE`] where the position is free.
    pub(super) partition: u32,
    /// The key that followed the last slot in a report: a guess.
    pub(super) next: u32,
    /// Slots whose key is held by somebody.
    pub(super) present: u64,
    pub(super) hashes: Hashes,
    /// Its holders as lookups want them, where a lookup has made that since their last change.
    pub(super) crowd: OnceLock<Option<Arc<Crowd>>>,
    /// Groups by owner, those of one owner by creation; the times of the keys last.
    pub(super) holds: SmallVec<[[u64; 3]; 2]>,
    /// How many of them are times of keys.
    pub(super) ages: u16,
    /// Whether a lookup came by since the crowd went.
    pub(super) was_read: AtomicBool,
    /// The groups' positions, in the same order.
    pub(super) ids: SmallVec<[u32; 2]>,
    /// Marked by lookups while others read.
    pub(super) heat: Mutex<Heat>,
}

const _: () = assert!(size_of::<Segment>() == 192 && std::mem::offset_of!(Segment, holds) == 64);

impl Default for Segment {
    fn default() -> Self {
        Self::new(NONE, &[0; 8], 0)
    }
}

impl Segment {
    /// An empty one for hashes as long as `hash`, with room for `count`.
    pub(super) fn new(partition: u32, hash: &[u8], count: usize) -> Self {
        let hashes = match hash.len() {
            8 => Hashes::Words(Vec::with_capacity(count)),
            width => Hashes::Bytes { width: width as u8, bytes: Vec::with_capacity(width * count) },
        };
        Self {
            partition,
            next: NONE,
            hashes,
            present: 0,
            holds: SmallVec::new(),
            ids: SmallVec::new(),
            ages: 0,
            heat: Mutex::default(),
            crowd: OnceLock::new(),
            was_read: AtomicBool::new(false),
        }
    }

    /// Slots used, those of keys that went included.
    pub(super) fn len(&self) -> usize {
        match &self.hashes {
            Hashes::Words(words) => words.len(),
            Hashes::Bytes { width, bytes } => bytes.len() / *width as usize,
        }
    }

    /// Whether a hash can be added.
    pub(super) fn admits(&self, hash: &[u8]) -> bool {
        let width = match &self.hashes {
            Hashes::Words(_) => 8,
            Hashes::Bytes { width, .. } => *width as usize,
        };
        hash.len() == width && self.len() < SLOTS
    }

    /// Adds a hash and returns its slot.
    pub(super) fn push(&mut self, hash: &[u8]) -> u32 {
        let slot = self.len();
        match &mut self.hashes {
            Hashes::Words(words) => {
                reserve(words, 1, SLOTS);
                words.extend(word(hash));
            }
            Hashes::Bytes { width, bytes } => {
                reserve(bytes, hash.len(), SLOTS * *width as usize);
                bytes.extend_from_slice(hash);
            }
        }
        self.present |= 1 << slot;
        slot as u32
    }

    pub(super) fn hash(&self, slot: u32) -> &[u8] {
        match &self.hashes {
            Hashes::Words(words) => words[slot as usize].as_bytes(),
            Hashes::Bytes { width, bytes } => {
                let width = *width as usize;
                &bytes[slot as usize * width..][..width]
            }
        }
    }

    /// Whether the key of `slot` is there and has this hash.
    pub(super) fn has(&self, slot: u32, hash: &[u8]) -> bool {
        if self.present >> slot & 1 == 0 {
            return false;
        }
        match &self.hashes {
            Hashes::Words(words) => word(hash) == Some(words[slot as usize]),
            Hashes::Bytes { .. } => self.hash(slot) == hash,
        }
    }

    /// How many keys from `slot` on are there and have the hashes from `at` on.
    pub(super) fn run(&self, slot: u32, hashes: HashList<'_>, at: usize) -> u32 {
        let there = (self.present >> slot).trailing_ones() as usize;
        let most = there.min(hashes.len() - at);
        if most == 0 {
            return 0;
        }
        let run = match (&self.hashes, hashes) {
            (Hashes::Words(words), HashList::Fingerprints(list)) => in_common(
                PrefixHash::bytes_of(&words[slot as usize..][..most]),
                PrefixHash::bytes_of(&list[at..][..most]),
            ),
            (Hashes::Words(words), HashList::Flat { bytes, width: 8 }) => {
                // The last may be shorter, and is none of them then.
                let asked = bytes.as_chunks::<8>().0.get(at..).unwrap_or_default();
                let most = most.min(asked.len());
                in_common(PrefixHash::bytes_of(&words[slot as usize..][..most]), asked[..most].as_flattened())
            }
            (Hashes::Words(words), HashList::Wire(list)) => {
                let stored = words[slot as usize..][..most].iter();
                stored.zip(&list[at..]).take_while(|(stored, asked)| stored.as_bytes() == &asked[..]).count()
            }
            _ => (0..most).take_while(|step| self.has(slot + *step as u32, hashes.get(at + step))).count(),
        };
        run as u32
    }

    pub(super) fn hold(&self, at: usize) -> Hold {
        Hold(self.holds[at])
    }

    /// Groups of members, the times of the keys left out.
    pub(super) fn held(&self) -> &[[u64; 3]] {
        &self.holds[..self.holds.len() - self.ages as usize]
    }

    /// Where the groups of `owner` stand.
    pub(super) fn of_owner(&self, owner: u32) -> std::ops::Range<usize> {
        let start = if owner == NONE {
            self.held().len()
        } else {
            self.held().partition_point(|hold| Hold(*hold).owner() < owner)
        };
        let same = self.holds[start..].iter().take_while(|hold| Hold(**hold).owner() == owner);
        start..start + same.count()
    }

    /// Whether any member holds the key of `slot`.
    pub(super) fn is_held(&self, slot: u32) -> bool {
        self.held().iter().any(|hold| hold[1] >> slot & 1 == 1)
    }

    pub(super) fn insert_hold(&mut self, at: usize, hold: Hold, id: u32) {
        if self.holds.len() == self.holds.capacity() {
            let more = (self.holds.len() / 4).max(2);
            self.holds.reserve_exact(more);
            self.ids.reserve_exact(more);
        }
        self.ages += u16::from(hold.owner() == NONE);
        self.holds.insert(at, hold.0);
        self.ids.insert(at, id);
    }

    pub(super) fn remove_hold(&mut self, at: usize) {
        self.ages -= u16::from(self.hold(at).owner() == NONE);
        self.holds.remove(at);
        self.ids.remove(at);
        if self.holds.len() * 2 + 8 < self.holds.capacity() {
            self.holds.shrink_to_fit();
            self.ids.shrink_to_fit();
        }
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> u64 {
        let hashes = match &self.hashes {
            Hashes::Words(words) => words.capacity() * size_of::<PrefixHash>(),
            Hashes::Bytes { bytes, .. } => bytes.capacity(),
        };
        (hashes + spilled(&self.holds) + spilled(&self.ids)) as u64
    }
}

/// Bytes on the heap of a list that is short in most segments.
fn spilled<A: smallvec::Array>(items: &SmallVec<A>) -> usize {
    if items.spilled() { items.capacity() * size_of::<A::Item>() } else { 0 }
}

/// Room for `more` items: what is there is doubled, up to `most`.
fn reserve<T>(items: &mut Vec<T>, more: usize, most: usize) {
    if items.len() + more > items.capacity() {
        let wanted = (items.capacity() * 2).clamp(items.len() + more, most.max(items.len() + more));
        items.reserve_exact(wanted - items.len());
    }
}

fn word(hash: &[u8]) -> Option<PrefixHash> {
    Some(PrefixHash::new(u64::from_be_bytes(hash.try_into().ok()?)))
}

/// How many hashes two lists of one length have in common from the start; 8 bytes each.
fn in_common(stored: &[u8], asked: &[u8]) -> usize {
    // Mostly all are the same, which takes one comparison of memory.
    if stored == asked {
        return stored.len() / size_of::<PrefixHash>();
    }
    let (stored, asked) = (stored.as_chunks::<8>().0, asked.as_chunks::<8>().0);
    stored.iter().zip(asked).take_while(|(stored, asked)| stored == asked).count()
}
