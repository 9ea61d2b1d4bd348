//! Who goes when there is too much: over the cap, over a quota; and when the sweep has to look at whom.

use std::cmp::Reverse;

use super::order::Order;
use super::segment::MAX_SEGMENTS;
use super::state::State;
use super::{EvictionCounts, LFU_GRACE_NS};
use crate::model::{Eviction, Timestamp};

impl State {
    /// Removes entries until the index is within its caps; the member `writing` stays.
    pub(super) fn enforce_caps(&mut self, writing: u32, now: Timestamp, evicted: &mut EvictionCounts) {
        loop {
            self.forget_idle(writing);
            let is_within = self.entries <= self.config.max_entries
                && self.memory_bytes() <= self.config.max_memory_bytes
                && self.segments.len() < MAX_SEGMENTS;
            if is_within {
                return;
            }
            let Some((victim, eviction)) = self.victim(now) else { return };
            let slot = self.victim_of(victim);
            self.remove_entries(victim, 1 << slot);
            match eviction {
                Eviction::Lru => evicted.cap_lru += 1,
                Eviction::Lfu => evicted.cap_lfu += 1,
            }
        }
    }

    /// Where the index is over its bytes, replicas without entries go before entries do: those that have not been heard of
    /// for longest first, and never `writing`, whose report this is.
    pub(super) fn forget_idle(&mut self, writing: u32) {
        while self.memory_bytes() > self.config.max_memory_bytes {
            let Some((_, idle)) = self.idle.iter().find(|(_, at)| *at != writing).copied() else { return };
            self.forget_member(idle);
            self.drop_emptied_scopes();
        }
    }

    /// The slot of a group that goes first.
    pub(super) fn victim_of(&self, group: u32) -> u32 {
        let (segment, at) = self.locate(group);
        self.groups[group].victim(self.segments[segment].hold(at))
    }

    /// The group whose first entry goes next: from the tenant with most entries, in that tenant's order.
    fn victim(&mut self, now: Timestamp) -> Option<(u32, Eviction)> {
        self.list_sizes();
        let (_, _, tenant) = self.by_size.last()?;
        let tenant = &self.tenants[*tenant];
        let eviction = tenant.settings.eviction;
        let mut seen = 0;
        let lanes = tenant.lanes.values().inspect(|_| seen += 1).filter_map(Order::oldest);
        let victim = match eviction {
            Eviction::Lru => lanes.min_by_key(|(at_ns, _)| *at_ns),
            Eviction::Lfu => {
                let is_old = |at_ns: i64| now.as_ns().saturating_sub(at_ns) >= LFU_GRACE_NS;
                let mut lanes = lanes.peekable();
                let youngest_choice = lanes.peek().copied();
                lanes.find(|(at_ns, _)| is_old(*at_ns)).or(youngest_choice)
            }
        };
        self.work += seen;
        victim.map(|(_, group)| (group, eviction))
    }

    pub(super) fn list_sizes(&mut self) {
        while let Some(at) = self.resized.pop() {
            self.work += 1;
            let tenant = &mut self.tenants[at];
            tenant.size_is_dirty = false;
            let Some(id) = tenant.id.clone() else { continue };
            let (old, new) = (tenant.listed_entries, tenant.entries);
            tenant.listed_entries = new;
            if old > 0 {
                self.by_size.remove(&(old, Reverse(id.clone()), at));
            }
            if new > 0 {
                self.by_size.insert((new, Reverse(id), at));
            }
        }
    }

    /// Removes the tenant's oldest keys until it is within its quota or `work` has reached `until`; how many went.
    pub(super) fn enforce_quota(&mut self, tenant: u32, until: u64) -> u64 {
        let mut removed = 0;
        while self.work < until && self.is_over_quota(tenant) {
            let Some((_, oldest)) = self.tenants[tenant].keys_by_age.oldest() else { break };
            let (segment, slot) = (self.groups[oldest].segment, self.victim_of(oldest));
            let held = &self.segments[segment];
            let Some(at) = held.held().iter().rposition(|hold| hold[1] >> slot & 1 == 1) else { break };
            let holder = held.ids[at];
            removed += self.remove_entries(holder, 1 << slot);
        }
        removed
    }

    /// Gives the tenant what the settings in force say of it.
    pub(super) fn renew_settings(&mut self, at: u32) {
        let Some(id) = &self.tenants[at].id else { return };
        let settings = self.settings.get(id).copied().unwrap_or(self.config.default_settings);
        let old = std::mem::replace(&mut self.tenants[at].settings, settings);
        if old.ttl_ns != settings.ttl_ns && self.tenants[at].entries > 0 {
            // The oldest entry is not looked for here: the next sweep finds the true time.
            self.list_due(at, Some(i64::MIN));
        }
    }

    pub(super) fn is_over_quota(&self, tenant: u32) -> bool {
        self.tenants[tenant].keys > self.tenants[tenant].settings.max_keys
    }

    /// Lists the tenant for the sweep at or after `due_ns`, or for none.
    pub(super) fn list_due(&mut self, tenant: u32, due_ns: Option<i64>) {
        if let Some(listed) = std::mem::replace(&mut self.tenants[tenant].due_ns, due_ns) {
            self.due.remove(&(listed, tenant));
        }
        if let Some(due_ns) = due_ns {
            self.due.insert((due_ns, tenant));
        }
    }

    /// The tenant has another number of entries.
    pub(super) fn mark_resized(&mut self, tenant: u32) {
        if !std::mem::replace(&mut self.tenants[tenant].size_is_dirty, true) {
            self.resized.push(tenant);
        }
    }
}
