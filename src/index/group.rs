//! A group: what one owner holds of one segment, as far as tier, hits and order are the same.

use super::arena::NONE;
use super::segment::slots_of;
use crate::model::Tier;

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
    /// group lie between those of one group and one time, so which of them does not matter; but it must be one that is
    /// still there, since what is told anew amid a group leaves two that began as one.
    pub(super) fn place(&self, hold: Hold) -> (i64, u64) {
        let slot = match self.is_backward {
            true => hold.mask().ilog2(),
            false => hold.mask().trailing_zeros(),
        };
        (self.at_ns(hold, slot), self.arrival_of(slot))
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> u64 {
        let Some(extras) = &self.extras else { return 0 };
        (size_of::<Extras>()
            + extras.later.capacity() * size_of::<Later>()
            + extras.tokens.capacity() * size_of::<i32>()) as u64
    }
}
