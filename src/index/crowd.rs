//! What many replicas hold alike: a system prompt is held by the whole fleet, and a lookup should not ask for each
//! replica what is the same for all.
//!
//! A *crowd* is the list of a segment's holders as lookups want it: those of one mask, time and tier are a *band*, in the
//! order of their replica ids. It says nothing that the groups do not say. A lookup makes it, any write to the groups
//! drops it.

use std::sync::Arc;

use smallvec::SmallVec;

use super::group::Hold;
use super::names::{Domain, Place};
use super::segment::Segment;
use super::state::State;
use crate::model::Tier;

/// Groups of a segment below which each is looked at by itself.
pub(super) const FEW: usize = 8;
/// Holders that leave the bands between two segments at most; where more do, all are looked at by themselves.
const MAX_LEAVERS: usize = 16;

/// Holders of which the same is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Band {
    pub(super) mask: u64,
    pub(super) at_ns: i64,
    pub(super) tier: Tier,
    /// Where the band ends in the list of holders.
    pub(super) until: u32,
}

/// The holders of a segment, band by band.
#[derive(PartialEq, Debug)]
pub(super) struct Crowd {
    pub(super) bands: Box<[Band]>,
    /// Member and seat of each holder.
    pub(super) members: Box<[u32]>,
    pub(super) seats: Box<[u32]>,
    /// The place of each in the roster of `epoch`, so that a lookup does not ask for it seat by seat while that roster holds.
    places: Box<[u32]>,
    epoch: u64,
    /// Members with their places in those lists, by member.
    by_member: Box<[(u32, u32)]>,
    /// Holders with several groups, or one whose slots have times of their own: each is a matter by itself.
    pub(super) single: Box<[Place]>,
}

impl Crowd {
    fn of(segment: &Segment, domain: &Domain) -> Option<Crowd> {
        let held = segment.held();
        let mut found = Vec::with_capacity(held.len());
        let mut single = Vec::new();
        let mut places = domain.places.iter();
        for groups in held.chunk_by(|a, b| Hold(*a).owner() == Hold(*b).owner()) {
            let hold = Hold(groups[0]);
            // Whoever serves the domain no more is seen by no lookup.
            let place = places.by_ref().find(|place| place.member >= hold.owner())?;
            if place.member != hold.owner() {
                return None;
            }
            if groups.len() > 1 || hold.is_varied() {
                single.push(*place);
            } else {
                found.push((std::cmp::Reverse(hold.at_ns()), hold.tier(), hold.mask(), place.place, place));
            }
        }
        if found.len() < FEW || single.len() > found.len() / 4 {
            return None;
        }
        found.sort_unstable_by_key(|(at, tier, mask, place, _)| (*at, *tier, *mask, *place));
        let mut bands: Vec<Band> = Vec::new();
        for (holder, until) in found.iter().zip(1..) {
            let (at, tier, mask, ..) = *holder;
            let band = Band { mask, at_ns: at.0, tier, until };
            match bands.last_mut() {
                Some(last) if *last == (Band { until: last.until, ..band }) => last.until = until,
                _ => bands.push(band),
            }
        }
        let seats = found.iter().map(|(.., place)| place.seat).collect();
        let members: Box<[u32]> = found.iter().map(|(.., place)| place.member).collect();
        let mut by_member: Box<[(u32, u32)]> = members.iter().copied().zip(0..).collect();
        by_member.sort_unstable();
        let places = found.iter().map(|(.., place)| place.place).collect();
        let (bands, single) = (bands.into(), single.into());
        Some(Crowd { bands, members, seats, places, epoch: domain.epoch, by_member, single })
    }

    fn bytes(&self) -> u64 {
        let holders = self.members.len() * (3 * size_of::<u32>() + size_of::<(u32, u32)>());
        let single = self.single.len() * size_of::<Place>();
        (size_of::<Self>() + holders + single + self.bands.len() * size_of::<Band>()) as u64
    }

    /// The place of each holder in the roster, in the order of the lists; `None` where another roster came since.
    pub(super) fn places(&self, domain: &Domain) -> Option<&[u32]> {
        (self.epoch == domain.epoch).then_some(&self.places)
    }

    /// The holders of band `at`, as places in the lists.
    pub(super) fn holders(&self, at: usize) -> std::ops::Range<usize> {
        let from = at.checked_sub(1).map_or(0, |before| self.bands[before].until);
        from as usize..self.bands[at].until as usize
    }

    /// Band and place in the lists of `member`.
    pub(super) fn find(&self, member: u32) -> Option<(usize, usize)> {
        let found = self.by_member.binary_search_by_key(&member, |(member, _)| *member).ok()?;
        let place = self.by_member[found].1;
        Some((self.bands.partition_point(|band| band.until <= place), place as usize))
    }

    /// The holders of this crowd that are single in `next`, as places in the lists, where all others are in the same bands
    /// of both, though with other masks, times and tiers; `None` where they are not, or where more than [`MAX_LEAVERS`] leave.
    pub(super) fn leavers(&self, next: &Crowd) -> Option<SmallVec<[u32; 4]>> {
        if self.bands.len() != next.bands.len() {
            return None;
        }
        if self.members == next.members {
            let mut ends = self.bands.iter().zip(&next.bands);
            return ends.all(|(a, b)| a.until == b.until).then(SmallVec::new);
        }
        let (mut left, mut others) = (SmallVec::new(), next.members.iter());
        let mut ends = self.bands.iter().zip(&next.bands);
        let mut other = others.next();
        for (member, at) in self.members.iter().zip(0_u32..) {
            if other == Some(member) {
                other = others.next();
            } else if left.len() < MAX_LEAVERS && next.single.iter().any(|single| single.member == *member) {
                left.push(at);
            } else {
                return None;
            }
        }
        let gone = |until: u32| left.iter().filter(|at| **at < until).count() as u32;
        (other.is_none() && ends.all(|(a, b)| a.until - gone(a.until) == b.until)).then_some(left)
    }
}

impl State {
    /// The segment's crowd, where it has one; made at the second lookup since the last change, so that a segment that
    /// changes all the time is not sorted all the time.
    /// Where it says what `before` says, the crowd of the segment before, it is that one.
    pub(super) fn crowd<'a>(
        &self,
        segment: &'a Segment,
        domain: &Domain,
        before: Option<&Arc<Crowd>>,
    ) -> Option<&'a Arc<Crowd>> {
        use std::sync::atomic::Ordering::Relaxed;
        if segment.held().len() < FEW {
            return None;
        }
        if let Some(crowd) = segment.crowd.get() {
            return crowd.as_ref();
        }
        if !segment.was_read.load(Relaxed) {
            segment.was_read.store(true, Relaxed);
            return None;
        }
        let made = segment.crowd.get_or_init(|| {
            let made = Crowd::of(segment, domain)?;
            if let Some(before) = before.filter(|before| ***before == made) {
                return Some(Arc::clone(before));
            }
            self.crowd_bytes.fetch_add(made.bytes(), Relaxed);
            Some(Arc::new(made))
        });
        made.as_ref()
    }

    /// The groups of members change: the segment's crowd goes.
    pub(super) fn drop_crowd(&mut self, segment: u32) {
        let held = &mut self.segments[segment];
        *held.was_read.get_mut() = false;
        if let Some(Some(crowd)) = held.crowd.take()
            && let Some(crowd) = Arc::into_inner(crowd)
        {
            *self.crowd_bytes.get_mut() -= crowd.bytes();
        }
    }
}
