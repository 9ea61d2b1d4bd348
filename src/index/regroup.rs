//! How slots come to groups and leave them, with all orders kept in step.

use smallvec::SmallVec;

use super::arena::NONE;
use super::group::{Group, Hold, Later};
use super::order::{Order, PLACE_BYTES};
use super::segment::{SLOTS, lowest, slots_of};
use super::state::State;
use crate::model::Tier;

/// Bytes of a group beside the lists of its segment and its own.
pub(super) const GROUP_BYTES: u64 = size_of::<Group>() as u64 + PLACE_BYTES;

/// Slots at most that give a time each to a group of one time, rather than make a group of their own.
const FEW: u32 = 4;

/// What the slots of a group have in common.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) owner: u32,
    pub(super) tier: Tier,
    pub(super) hits: u8,
    pub(super) at_ns: i64,
}

/// Tokens by slot.
pub(super) type Tokens = [i32; SLOTS];

impl State {
    fn change_order(&mut self, tenant: u32, owner: u32, hits: u8, change: impl FnOnce(&mut Order)) {
        let tenant = &mut self.tenants[tenant];
        if owner == NONE {
            return change(&mut tenant.keys_by_age);
        }
        let lane = tenant.lanes.entry(u32::from(hits)).or_default();
        change(lane);
        if hits > 0 && lane.is_empty() {
            tenant.lanes.remove(&u32::from(hits));
        }
    }

    fn arrivals(&mut self, owner: u32) -> &mut u64 {
        if owner == NONE { &mut self.key_arrivals } else { &mut self.entry_arrivals }
    }

    /// Where the group stands in its segment.
    pub(super) fn locate(&self, id: u32) -> (u32, usize) {
        let Group { segment, owner, .. } = self.groups[id];
        let held = &self.segments[segment];
        let mut of_owner = held.of_owner(owner);
        (segment, of_owner.find(|at| held.ids[*at] == id).unwrap_or(0))
    }

    /// Takes `part` from the group at `at` of `segment`; whether the group went with it.
    pub(super) fn take(&mut self, tenant: u32, segment: u32, at: usize, part: u64) -> bool {
        let id = self.segments[segment].ids[at];
        let hold = self.segments[segment].hold(at);
        let (owner, hits) = (hold.owner(), self.groups[id].hits);
        let before = self.groups[id].place(hold);
        let left = hold.with_mask(hold.mask() & !part);
        if left.mask() == 0 {
            self.change_order(tenant, owner, hits, |order| order.remove(before, id));
            self.drop_group(segment, at);
            return true;
        }
        if owner != NONE {
            self.drop_crowd(segment);
        }
        self.segments[segment].holds[at] = left.0;
        self.replace(tenant, id, before, left);
        false
    }

    /// Puts the group in its place, where that is another one than `before`.
    fn replace(&mut self, tenant: u32, id: u32, before: (i64, u64), hold: Hold) {
        let group = &self.groups[id];
        let (after, owner, hits) = (group.place(hold), group.owner, group.hits);
        if after != before {
            self.change_order(tenant, owner, hits, |order| {
                order.remove(before, id);
                order.insert(after, id);
            });
        }
    }

    fn drop_group(&mut self, segment: u32, at: usize) {
        if self.segments[segment].hold(at).owner() != NONE {
            self.drop_crowd(segment);
        }
        let held = &mut self.segments[segment];
        let id = held.ids[at];
        self.heap_bytes -= held.heap_bytes();
        held.remove_hold(at);
        self.heap_bytes += held.heap_bytes();
        let group = self.groups.release(id);
        self.heap_bytes -= GROUP_BYTES + group.heap_bytes();
        if group.owner == NONE {
            return;
        }
        match group.previous_of_owner {
            NONE => self.members[group.owner].first = group.next_of_owner,
            previous => self.groups[previous].next_of_owner = group.next_of_owner,
        }
        match group.next_of_owner {
            NONE => self.members[group.owner].last = group.previous_of_owner,
            next => self.groups[next].previous_of_owner = group.previous_of_owner,
        }
    }

    fn add_group(&mut self, tenant: u32, hold: Hold, group: Group) {
        let (owner, segment, hits) = (group.owner, group.segment, group.hits);
        let place = group.place(hold);
        let last = if owner == NONE { NONE } else { self.members[owner].last };
        self.heap_bytes += GROUP_BYTES + group.heap_bytes();
        let id = self.groups.insert(Group { previous_of_owner: last, next_of_owner: NONE, ..group });
        if owner != NONE {
            self.drop_crowd(segment);
            match last {
                NONE => self.members[owner].first = id,
                last => self.groups[last].next_of_owner = id,
            }
            self.members[owner].last = id;
        }
        let held = &mut self.segments[segment];
        let at = held.of_owner(owner).end;
        self.heap_bytes -= held.heap_bytes();
        held.insert_hold(at, hold, id);
        self.heap_bytes += held.heap_bytes();
        self.change_order(tenant, owner, hits, |order| order.insert(place, id));
    }

    /// Gives the slots of `mask`, which the owner does not hold, to the owner: the latest to arrive, in their order.
    pub(super) fn put(&mut self, tenant: u32, segment: u32, mask: u64, kind: Kind, tokens: &Tokens) {
        if self.join(tenant, segment, mask, kind, tokens) {
            return;
        }
        let (first, last) = (mask.trailing_zeros(), mask.ilog2());
        let next = self.arrivals(kind.owner);
        let arrival = *next;
        *next += u64::from(last - first) + 1;
        let mut group = Group {
            segment,
            owner: kind.owner,
            tokens: tokens[first as usize],
            arrival,
            hits: kind.hits,
            first: first as u8,
            last: first as u8,
            ..Group::default()
        };
        add_tokens(&mut group, mask, tokens);
        group.last = last as u8;
        self.add_group(tenant, Hold::new(kind.owner, kind.tier, mask, kind.at_ns), group);
    }

    /// Adds the slots to the owner's latest group of the segment, where that keeps its order.
    fn join(&mut self, tenant: u32, segment: u32, mask: u64, kind: Kind, tokens: &Tokens) -> bool {
        let next = *self.arrivals(kind.owner);
        let held = &self.segments[segment];
        let of_owner = held.of_owner(kind.owner);
        let Some(at) = of_owner.last() else { return false };
        let (hold, id) = (held.hold(at), held.ids[at]);
        let group = &mut self.groups[id];
        let from = mask.trailing_zeros();
        if group.hits != kind.hits
            || hold.tier() != kind.tier
            || group.is_backward
            || from <= u32::from(group.last)
        {
            return false;
        }
        let last = u32::from(group.last);
        let last_ns = group.at_ns(hold, last);
        // Nothing may have arrived in between: what is of one time and one group leaves one after the other.
        let is_same = kind.at_ns == last_ns && next == group.arrival_of(last) + 1;
        let is_later = kind.at_ns > last_ns
            && kind.hits == 0
            && mask.count_ones() <= FEW
            && (hold.is_varied() || last - u32::from(group.first) < 2 * FEW);
        let later_ns = u32::try_from(kind.at_ns.saturating_sub(hold.at_ns()));
        let later = u16::try_from(next + SLOTS as u64 - group.arrival);
        let must_vary = is_later || hold.is_varied();
        if !(is_same || is_later) || must_vary && (later_ns.is_err() || later.is_err()) {
            return false;
        }
        let before = group.place(hold);
        self.heap_bytes -= group.heap_bytes();
        let mut joined = hold.with_mask(hold.mask() | mask);
        if must_vary {
            vary(group, mask, later_ns.unwrap_or(0), next);
            joined = joined.varied();
        }
        add_tokens(group, mask, tokens);
        group.last = mask.ilog2() as u8;
        self.heap_bytes += group.heap_bytes();
        let arrived = group.arrival_of(u32::from(group.last)) + 1;
        if kind.owner != NONE {
            self.drop_crowd(segment);
        }
        self.segments[segment].holds[at] = joined.0;
        self.replace(tenant, id, before, joined);
        *self.arrivals(kind.owner) = arrived;
        true
    }

    /// Gives the slots of `part`, which are of the group, other tokens and another tier, and leaves them in their place.
    pub(super) fn retell(&mut self, tenant: u32, id: u32, part: u64, tier: Tier, tokens: &Tokens) {
        let (segment, at) = self.locate(id);
        let hold = self.segments[segment].hold(at);
        let whole = self.groups[id].clone();
        self.take(tenant, segment, at, hold.mask());
        // What lay around a slot must not lie around it as one group: the order between them would be lost.
        let mut pieces: SmallVec<[(u64, bool); 4]> = SmallVec::new();
        let mut rest = hold.mask();
        for slot in slots_of(part) {
            let below = rest & ((1 << slot) - 1);
            pieces.extend([(below, false), (1 << slot, true)]);
            rest &= !(below | 1 << slot);
        }
        pieces.push((rest, false));
        for (mask, is_changed) in pieces.into_iter().filter(|(mask, _)| *mask != 0) {
            if !is_changed {
                self.add_group(tenant, hold.with_mask(mask), whole.clone());
                continue;
            }
            let slot = mask.trailing_zeros();
            let group = Group {
                tokens: tokens[slot as usize],
                step: 0,
                arrival: whole.arrival_of(slot),
                first: slot as u8,
                last: slot as u8,
                is_backward: false,
                extras: None,
                ..whole.clone()
            };
            let changed = Hold::new(hold.owner(), tier, mask, whole.at_ns(hold, slot));
            self.add_group(tenant, changed, group);
        }
    }

    /// Moves what goes first of a group of one time to other hits, as the latest to arrive: what went first arrives first.
    /// At most `most` entries; how many.
    pub(super) fn turn(&mut self, tenant: u32, id: u32, hits: u8, most: u64) -> u64 {
        let (segment, at) = self.locate(id);
        let hold = self.segments[segment].hold(at);
        let mut group = self.groups[id].clone();
        let part = match group.is_backward {
            true => lowest(hold.mask(), most),
            false => lowest(hold.mask().reverse_bits(), most).reverse_bits(),
        };
        self.take(tenant, segment, at, part);
        group.arrival = self.entry_arrivals;
        self.entry_arrivals += u64::from(group.last - group.first) + 1;
        group.hits = hits;
        group.is_backward = !group.is_backward;
        self.add_group(tenant, hold.with_mask(part), group);
        u64::from(part.count_ones())
    }
}

/// Gives each slot a time, those of `mask` the one `later_ns` after the first.
fn vary(group: &mut Group, mask: u64, later_ns: u32, next: u64) {
    let (first, last) = (u32::from(group.first), u32::from(group.last));
    let extras = group.extras.get_or_insert_default();
    if extras.later.is_empty() {
        reserve(&mut extras.later, (last - first + 1) as usize);
        extras.later.extend((0..=last - first).map(|at| Later::new(0, at as u16)));
    }
    let until = mask.ilog2();
    reserve(&mut extras.later, (until - first + 1) as usize);
    let base = (next - group.arrival) as u16;
    let from = mask.trailing_zeros();
    for slot in first + extras.later.len() as u32..=until {
        extras.later.push(Later::new(later_ns, base + slot.saturating_sub(from) as u16));
    }
}

/// Takes up the tokens of the slots of `mask`, all above `last` or from it on.
fn add_tokens(group: &mut Group, mask: u64, tokens: &Tokens) {
    let first = u32::from(group.first);
    let is_listed = group.extras.as_ref().is_some_and(|extras| !extras.tokens.is_empty());
    if !is_listed {
        if group.first == group.last {
            let next = mask & !(1 << first);
            if next != 0 {
                let slot = next.trailing_zeros();
                let gain = tokens[slot as usize].wrapping_sub(group.tokens);
                group.step = gain / (slot - first) as i32;
            }
        }
        if slots_of(mask).all(|slot| group.tokens_of(slot) == tokens[slot as usize]) {
            return;
        }
    }
    let known: SmallVec<[i32; SLOTS]> =
        (first..=u32::from(group.last)).map(|slot| group.tokens_of(slot)).collect();
    let listed = &mut group.extras.get_or_insert_default().tokens;
    if listed.is_empty() {
        reserve(listed, known.len());
        listed.extend(known);
    }
    let until = mask.ilog2();
    reserve(listed, (until - first + 1) as usize);
    for slot in first + listed.len() as u32..=until {
        listed.push(tokens[slot as usize]);
    }
}

/// Room for `wanted` items: what is there is doubled, up to a segment's worth.
fn reserve<T>(items: &mut Vec<T>, wanted: usize) {
    if wanted > items.capacity() {
        let room = (items.capacity() * 2).clamp(wanted, SLOTS.max(wanted));
        items.reserve_exact(room - items.len());
    }
}
