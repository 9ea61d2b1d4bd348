//! Where keys and holds lie: segments of up to 64 keys in the order in which they were reported.
//!
//! A chain lies in consecutive slots, so that a lookup compares hashes one after the other and asks the table only where
//! a chain begins or leaves what is stored. What neighbours share is stored once: a *group* is what one owner holds of one
//! segment, as far as tier, hits and order are the same. The owner of a group is a member, or [`NONE`]: that group holds
//! the times at which anybody reported the keys.

use parking_lot::Mutex;

use super::arena::NONE;
use crate::model::{HashList, PrefixHash, Tier};

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
pub(super) fn slots_of(mut mask: u64) -> impl DoubleEndedIterator<Item = u32> {
    std::iter::from_fn(move || {
        let slot = mask.trailing_zeros();
        mask &= mask.checked_sub(1)?;
        Some(slot)
    })
    .collect::<smallvec::SmallVec<[u32; SLOTS]>>()
    .into_iter()
}

/// What a lookup reads of a group, in three words: two segments with the same holders are told by comparing memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hold(pub(super) [u64; 3]);

const VARIED: u64 = 1 << 40;

impl Hold {
    pub(super) fn new(owner: u32, tier: Tier, mask: u64, at_ns: i64) -> Self {
        Self([u64::from(owner) | (tier as u64) << 32, mask, at_ns as u64])
    }

    pub(super) fn owner(self) -> u32 {
        self.0[0] as u32
    }

    pub(super) fn tier(self) -> Tier {
        match self.0[0] >> 32 & 3 {
            0 => Tier::T1,
            1 => Tier::T2,
            2 => Tier::T3,
            _ => Tier::Unknown,
        }
    }

    /// Slots held.
    pub(super) fn mask(self) -> u64 {
        self.0[1]
    }

    /// The one time of all slots; where times vary, the oldest that the group ever had.
    pub(super) fn at_ns(self) -> i64 {
        self.0[2] as i64
    }

    /// Whether each slot has a time of its own.
    pub(super) fn is_varied(self) -> bool {
        self.0[0] & VARIED != 0
    }

    pub(super) fn with_mask(self, mask: u64) -> Self {
        Self([self.0[0], mask, self.0[2]])
    }

    pub(super) fn varied(self) -> Self {
        Self([self.0[0] | VARIED, self.0[1], self.0[2]])
    }
}

/// What writes need of a group.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) segment: u32,
    pub(super) owner: u32,
    /// The owner's other groups.
    pub(super) previous_of_owner: u32,
    pub(super) next_of_owner: u32,
    /// Tokens of the prefix up to slot `first`, and what each further slot adds.
    pub(super) tokens: i32,
    pub(super) step: i32,
    /// When slot `first` arrived at its place in the order, in a count of arrivals; each slot further on is one later.
    /// Of a backward group, when slot `last` did; each slot further down is one later.
    pub(super) arrival: u64,
    /// Delivered hits, halved at each sweep; counted under LFU only.
    pub(super) hits: u8,
    pub(super) first: u8,
    pub(super) last: u8,
    pub(super) is_backward: bool,
    pub(super) extras: Option<Box<Extras>>,
}

/// What does not follow from the first slot; by slot, from `first` on. An empty list says that it does.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras {
    /// Times and arrivals after those of the first slot. Times never fall from slot to slot.
    pub(super) later: Vec<Later>,
    pub(super) tokens: Vec<i32>,
}

/// How much later than the first slot another one is; six bytes, since there is one for each slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Later {
    ns: [u16; 2],
    arrivals: u16,
}

impl Later {
    pub(super) fn new(ns: u32, arrivals: u16) -> Self {
        Self { ns: [ns as u16, (ns >> 16) as u16], arrivals }
    }

    pub(super) fn ns(self) -> u32 {
        u32::from(self.ns[0]) | u32::from(self.ns[1]) << 16
    }
}

impl Default for Group {
    fn default() -> Self {
        Self {
            segment: NONE,
            owner: NONE,
            previous_of_owner: NONE,
            next_of_owner: NONE,
            tokens: 0,
            step: 0,
            arrival: 0,
            hits: 0,
            first: 0,
            last: 0,
            is_backward: false,
            extras: None,
        }
    }
}

impl Group {
    fn later(&self, slot: u32) -> Option<Later> {
        let extras = self.extras.as_deref()?;
        extras.later.get(slot as usize - self.first as usize).copied()
    }

    pub(super) fn tokens_of(&self, slot: u32) -> i32 {
        let at = slot as usize - self.first as usize;
        let listed = self.extras.as_deref().and_then(|extras| extras.tokens.get(at));
        listed.copied().unwrap_or_else(|| self.tokens.wrapping_add(self.step.wrapping_mul(at as i32)))
    }

    pub(super) fn at_ns(&self, hold: Hold, slot: u32) -> i64 {
        hold.at_ns() + self.later(slot).map_or(0, |later| i64::from(later.ns()))
    }

    pub(super) fn arrival_of(&self, slot: u32) -> u64 {
        match self.later(slot) {
            Some(later) => self.arrival + u64::from(later.arrivals),
            None if self.is_backward => self.arrival + (u64::from(self.last) - u64::from(slot)),
            None => self.arrival + (u64::from(slot) - u64::from(self.first)),
        }
    }

    /// The slot that goes first, of those in `hold`: the oldest, and of one time the latest to arrive.
    pub(super) fn victim(&self, hold: Hold) -> u32 {
        let mask = hold.mask();
        if self.is_backward {
            return mask.trailing_zeros();
        }
        if !hold.is_varied() {
            return mask.ilog2();
        }
        let oldest = self.at_ns(hold, mask.trailing_zeros());
        let of_time = slots_of(mask).take_while(|slot| self.at_ns(hold, *slot) == oldest);
        of_time.last().unwrap_or(0)
    }

    /// Its place in the order: the time of what goes first, and when one of that time arrived. No arrivals of another
    /// group lie between those of one group and one time.
    pub(super) fn place(&self, hold: Hold) -> (i64, u64) {
        if !hold.is_varied() {
            return (hold.at_ns(), self.arrival);
        }
        let first = hold.mask().trailing_zeros();
        (self.at_ns(hold, first), self.arrival_of(first))
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> u64 {
        let Some(extras) = &self.extras else { return 0 };
        (size_of::<Extras>()
            + extras.later.capacity() * size_of::<Later>()
            + extras.tokens.capacity() * size_of::<i32>()) as u64
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

#[derive(Debug)]
pub(super) struct Segment {
    /// [`NONE`] where the position is free.
    pub(super) partition: u32,
    /// The key that followed the last slot in a report: a guess.
    pub(super) next: u32,
    pub(super) hashes: Hashes,
    /// Slots whose key is held by somebody.
    pub(super) present: u64,
    /// Groups by owner, those of one owner by creation; the times of the keys last.
    pub(super) holds: Vec<[u64; 3]>,
    /// The groups' positions, in the same order.
    pub(super) ids: Vec<u32>,
    /// How many of them are times of keys.
    pub(super) ages: u16,
    /// Marked by lookups while others read.
    pub(super) heat: Mutex<Heat>,
}

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
            holds: Vec::new(),
            ids: Vec::new(),
            ages: 0,
            heat: Mutex::default(),
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
        let most = there.min(self.len() - slot as usize).min(hashes.len() - at);
        let run = match (&self.hashes, hashes) {
            (Hashes::Words(words), HashList::Fingerprints(list)) => {
                in_common(&words[slot as usize..][..most], &list[at..][..most])
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
        (hashes + self.holds.capacity() * size_of::<[u64; 3]>() + self.ids.capacity() * size_of::<u32>()) as u64
    }
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

/// Length of the common start of two lists of one length.
fn in_common(stored: &[PrefixHash], asked: &[PrefixHash]) -> usize {
    const STEP: usize = 8;
    let mut same = 0;
    // Whole steps first, without a branch for each hash.
    for (stored, asked) in stored.chunks_exact(STEP).zip(asked.chunks_exact(STEP)) {
        let apart = stored.iter().zip(asked).fold(0, |apart, (a, b)| apart | (a.value() ^ b.value()));
        if apart != 0 {
            break;
        }
        same += STEP;
    }
    let rest = stored[same..].iter().zip(&asked[same..]);
    same + rest.take_while(|(a, b)| a == b).count()
}
