//! Where the copies of one block are, in few bytes: most blocks have copies at one place only.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use smallvec::SmallVec;

use crate::model::{EngineHash, Tier};

use super::holdings::MAX_PLACES_PER_BLOCK;
use super::place::Place;

/// Copies at one place, by the number of the place; the count saturates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Copies {
    place: u16,
    count: u32,
}

/// A block's copies: at one place here, at several in [`Places`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Whereabouts {
    count: u32,
    place: u16,
    /// Whether the copies are in [`Places`], and not here.
    is_spread: bool,
}

/// The places of one replica, and the copies of blocks that have several. Numbers of places are 16 bits.
#[derive(Debug, Default)]
pub(super) struct Places {
    list: Vec<Place>,
    numbers: HashMap<Place, u16, RandomState>,
    spread: HashMap<EngineHash, SmallVec<[Copies; 3]>, RandomState>,
}

impl Places {
    /// One more copy of `hash` at `place`; whether it is counted.
    pub(super) fn add(&mut self, hash: EngineHash, at: &mut Whereabouts, place: Place) -> bool {
        let Some(place) = self.number(place) else {
            return false;
        };
        if !at.is_spread {
            if at.count == 0 || at.place == place {
                *at = Whereabouts { count: at.count.saturating_add(1), place, is_spread: false };
                return true;
            }
            let here = Copies { place: at.place, count: at.count };
            self.spread.insert(hash, SmallVec::from_iter([here]));
            *at = Whereabouts { is_spread: true, ..Whereabouts::default() };
        }
        let copies = self.spread.entry(hash).or_default();
        match copies.iter().position(|copies| copies.place == place) {
            Some(position) => copies[position].count = copies[position].count.saturating_add(1),
            None if copies.len() == MAX_PLACES_PER_BLOCK => return false,
            None => copies.push(Copies { place, count: 1 }),
        }
        true
    }

    /// One copy less of `hash` at `place`; whether there was one.
    pub(super) fn remove(&mut self, hash: EngineHash, at: &mut Whereabouts, place: Place) -> bool {
        let Some(place) = self.numbers.get(&place).copied() else {
            return false;
        };
        if !at.is_spread {
            let is_here = at.count > 0 && at.place == place;
            at.count -= u32::from(is_here);
            return is_here;
        }
        let Some(copies) = self.spread.get_mut(&hash) else {
            return false;
        };
        let Some(position) = copies.iter().position(|copies| copies.place == place) else {
            return false;
        };
        copies[position].count -= 1;
        if copies[position].count == 0 {
            copies.remove(position);
        }
        if let [last] = copies[..] {
            *at = Whereabouts { count: last.count, place: last.place, is_spread: false };
            self.spread.remove(&hash);
        }
        true
    }

    /// The hottest place of its copies.
    pub(super) fn tier(&self, hash: EngineHash, at: Whereabouts) -> Option<Tier> {
        let tier = |place: u16| self.list.get(usize::from(place)).map(|place| place.tier);
        if !at.is_spread {
            return tier(at.place).filter(|_| at.count > 0);
        }
        self.spread.get(&hash)?.iter().filter_map(|copies| tier(copies.place)).min()
    }

    /// Every copy of `hash` is gone.
    pub(super) fn forget(&mut self, hash: EngineHash, at: &mut Whereabouts) {
        if at.is_spread {
            self.spread.remove(&hash);
        }
        *at = Whereabouts::default();
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn number(&mut self, place: Place) -> Option<u16> {
        if let Some(number) = self.numbers.get(&place) {
            return Some(*number);
        }
        let number = u16::try_from(self.list.len()).ok()?;
        self.list.push(place);
        self.numbers.insert(place, number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(group: u32) -> Place {
        Place { medium: 0, tier: Tier::T1, group }
    }

    #[test]
    fn copies_come_back_from_several_places_to_one() {
        let mut places = Places::default();
        let mut at = Whereabouts::default();
        let hash = EngineHash::from_unsigned(1);
        let cold = Place { medium: 5, tier: Tier::T2, group: 0 };
        assert_eq!(places.tier(hash, at), None);
        assert!(places.add(hash, &mut at, cold) && places.add(hash, &mut at, place(1)));
        assert_eq!((places.tier(hash, at), places.spread.len()), (Some(Tier::T1), 1));
        assert!(!places.remove(hash, &mut at, place(2)));
        assert!(places.remove(hash, &mut at, place(1)) && !places.remove(hash, &mut at, place(1)));
        assert_eq!((places.tier(hash, at), places.spread.len()), (Some(Tier::T2), 0));
        assert!(places.remove(hash, &mut at, cold) && !places.remove(hash, &mut at, cold));
        assert_eq!(places.tier(hash, at), None);
    }

    #[test]
    fn places_are_numbered_with_16_bits() {
        let mut places = Places::default();
        let hash = EngineHash::from_unsigned(1);
        for group in 0..=u32::from(u16::MAX) {
            assert!(places.add(hash, &mut Whereabouts::default(), place(group)));
        }
        assert!(!places.add(hash, &mut Whereabouts::default(), place(u32::from(u16::MAX) + 1)));
        assert!(places.add(hash, &mut Whereabouts::default(), place(7)));
    }
}
