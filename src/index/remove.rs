//! How entries go, and keys with the last of them; and which keys are hot.

use super::arena::NONE;
use super::names::{Member, name_bytes};
use super::segment::{key_in, slots_of};
use super::state::{Path, State};
use super::twins::Twins;

impl State {
    /// Removes the entries of a member's group at the slots of `part`, and the keys that nobody else holds; how many
    /// keys went.
    pub(super) fn remove_entries(&mut self, id: u32, part: u64) -> u64 {
        let (segment, at) = self.locate(id);
        let member = self.groups[id].owner;
        let count = u64::from(part.count_ones());
        self.work += count;
        let path = self.path_of(self.segments[segment].partition);
        self.take(path.tenant, segment, at, part);
        self.entries -= count;
        self.uncount_member(member, count);
        let serving = &mut self.domains[path.domain].serving;
        if let Some(left) = serving.get_mut(&member) {
            *left -= count;
            if *left == 0 {
                serving.remove(&member);
                self.mark_roster(path.domain);
            }
        }
        self.scopes[path.scope].entries -= count;
        self.tenants[path.tenant].entries -= count;
        self.mark_resized(path.tenant);
        let held = &self.segments[segment];
        let left = slots_of(part).filter(|slot| !held.is_held(*slot)).fold(0, |mask, slot| mask | 1 << slot);
        if left != 0 {
            self.remove_keys(path, segment, left);
        }
        u64::from(left.count_ones())
    }

    fn uncount_member(&mut self, member: u32, count: u64) {
        let owner = &mut self.members[member];
        owner.entries -= count;
        if owner.entries > 0 {
            return;
        }
        if owner.replica.is_none() {
            let scope = owner.scope;
            self.scopes[scope].clearing -= 1;
            self.heap_bytes -= name_bytes::<Member>("");
            self.members.remove(member);
            return;
        }
        let scope = owner.scope;
        self.scopes[scope].serving -= 1;
        self.scopes[scope].idle.come(member);
        self.list_idle(member);
    }

    /// Removes keys that nobody holds.
    fn remove_keys(&mut self, path: Path, segment: u32, mask: u64) {
        let coder = self.table.coder();
        for slot in slots_of(mask) {
            let hash = self.segments[segment].hash(slot);
            self.table.remove(coder.code(path.partition, hash), key_in(segment, slot));
            if self.partitions[path.partition].has_twins {
                self.twins.remove(path.scope, hash, key_in(segment, slot));
                self.heap_bytes -= Twins::KEY_BYTES;
            }
        }
        for at in self.segments[segment].of_owner(NONE).rev() {
            let part = self.segments[segment].hold(at).mask() & mask;
            if part != 0 {
                self.take(path.tenant, segment, at, part);
            }
        }
        self.cool(path.scope, segment, mask);
        let keys = u64::from(mask.count_ones());
        self.keys -= keys;
        self.partitions[path.partition].keys -= keys;
        self.domains[path.domain].keys -= keys;
        self.scopes[path.scope].keys -= keys;
        self.tenants[path.tenant].keys -= keys;
        if self.partitions[path.partition].keys == 0 {
            self.emptied_partitions.push(path.partition);
        }
        let held = &mut self.segments[segment];
        held.present &= !mask;
        if held.present == 0 {
            self.heap_bytes -= held.heap_bytes();
            self.segments.release(segment);
        }
    }

    /// Keys that go are hot no longer.
    fn cool(&mut self, scope: u32, segment: u32, mask: u64) {
        let heat = self.segments[segment].heat.get_mut();
        let (now, before) = (mask & heat.now, mask & heat.before & !heat.now);
        let epoch = heat.epoch;
        heat.now &= !mask;
        heat.before &= !mask;
        let hot = &self.scopes[scope].hot;
        hot.shift(epoch, 0, now.count_ones(), self.epoch);
        hot.shift(epoch.saturating_sub(1), 0, before.count_ones(), self.epoch);
    }

    /// Records a delivered hit on the keys of `mask`; needs no exclusive access.
    pub(super) fn mark_hot(&self, scope: u32, segment: u32, mask: u64) {
        let held = &self.segments[segment];
        let mask = mask & held.present;
        let mut heat = held.heat.lock();
        if heat.epoch != self.epoch {
            heat.before = if heat.epoch + 1 == self.epoch { heat.now } else { 0 };
            heat.now = 0;
            heat.epoch = self.epoch;
        }
        let new = mask & !heat.now;
        heat.now |= new;
        let warm = new & heat.before;
        let hot = &self.scopes[scope].hot;
        hot.shift(self.epoch - 1, self.epoch, warm.count_ones(), self.epoch);
        hot.shift(0, self.epoch, (new & !warm).count_ones(), self.epoch);
    }
}
