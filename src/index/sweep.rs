//! The sweep: what has reached its time to live goes, hits are halved, silent replicas are forgotten.

use std::ops::Bound;

use super::segment::lowest;
use super::{Index, Section};
use crate::model::{Eviction, Timestamp};

/// What a sweep did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Swept {
    /// Entries of LRU tenants that reached their time to live.
    pub expired_lru: u64,
    /// Entries of LFU tenants that reached their time to live.
    pub expired_lfu: u64,
    /// Replicas without entries that had not been heard of for a time to live.
    pub replicas: u64,
}

impl Index {
    /// Sweeps at `now`, in bounded critical sections. Costs what it removes and halves, not what it keeps.
    pub fn sweep(&self, now: Timestamp) -> Swept {
        let mut swept = Swept::default();
        let (mut credited, epoch) = {
            let mut section = self.section();
            section.epoch += 1;
            (std::mem::take(&mut section.credited), section.epoch)
        };
        loop {
            let mut section = self.section();
            while let Some((due_ns, tenant)) = section.due.first().copied() {
                if due_ns > now.as_ns() || due_ns == i64::MAX || section.is_full() {
                    break;
                }
                expire(&mut section, tenant, now, &mut swept);
            }
            while let Some(tenant) = credited.last().copied() {
                if section.is_full() {
                    break;
                }
                if halve(&mut section, tenant, epoch) {
                    credited.pop();
                }
            }
            let is_done = !section.is_full();
            section.end();
            if is_done {
                break;
            }
        }
        swept.replicas = self.forget_silent(now);
        swept
    }

    fn forget_silent(&self, now: Timestamp) -> u64 {
        let mut forgotten = 0;
        loop {
            let mut section = self.section();
            let before = section.members.len();
            let cutoff_ns = now.as_ns().saturating_sub(section.config.forget_replica_after_ns);
            while let Some((since, member)) = section.idle.first().copied() {
                if since > cutoff_ns || section.is_full() {
                    break;
                }
                section.forget_member(member);
            }
            forgotten += (before - section.members.len()) as u64;
            let is_done = !section.is_full();
            section.end();
            if is_done {
                return forgotten;
            }
        }
    }
}

/// Removes what has expired of the tenant, lane by lane, and lists it for when the next of its entries does.
fn expire(section: &mut Section<'_>, tenant: u32, now: Timestamp, swept: &mut Swept) {
    section.work += 1;
    let settings = section.tenants[tenant].settings;
    let mut from = Bound::Unbounded;
    let mut oldest_kept: Option<i64> = None;
    loop {
        let mut lanes = section.tenants[tenant].lanes.range((from, Bound::Unbounded));
        let Some((hits, oldest)) = lanes.next().map(|(hits, lane)| (*hits, lane.oldest())) else { break };
        match oldest {
            Some((at_ns, group)) if Timestamp::from_ns(at_ns).age_ns(now) >= settings.ttl_ns => {
                let is_expired = |at_ns: i64| Timestamp::from_ns(at_ns).age_ns(now) >= settings.ttl_ns;
                let (segment, at) = section.locate(group);
                let part = lowest(section.slots_where(segment, at, u64::MAX, is_expired), section.left());
                section.remove_entries(group, part);
                let count = u64::from(part.count_ones());
                match settings.eviction {
                    Eviction::Lru => swept.expired_lru += count,
                    Eviction::Lfu => swept.expired_lfu += count,
                }
                if section.is_full() {
                    return;
                }
            }
            kept => {
                oldest_kept = kept.map(|(at_ns, _)| at_ns).into_iter().chain(oldest_kept).min();
                from = Bound::Excluded(hits);
            }
        }
    }
    section.list_due(tenant, oldest_kept.map(|at_ns| at_ns.saturating_add(settings.ttl_ns)));
}

/// Halves the hits of every entry that has any; whether it came to the end. Lanes are taken in ascending order, and an
/// entry of lane `n` goes to lane `n / 2`, which was taken before: none is halved twice.
fn halve(section: &mut Section<'_>, tenant: u32, epoch: u32) -> bool {
    section.work += 1;
    if section.tenants[tenant].halved_epoch == epoch {
        return true;
    }
    while !section.is_full() {
        let from = section.tenants[tenant].halving_from.max(1);
        let next = section.tenants[tenant]
            .lanes
            .range(from..)
            .find_map(|(hits, lane)| Some((*hits, lane.oldest()?)));
        let Some((hits, (_, group))) = next else {
            let holder = &mut section.tenants[tenant];
            holder.halved_epoch = epoch;
            holder.halving_from = 0;
            holder.is_credited = holder.lanes.range(1..).next().is_some();
            if holder.is_credited {
                section.credited.push(tenant);
            }
            return true;
        };
        section.tenants[tenant].halving_from = hits;
        let left = section.left();
        section.work += section.turn(tenant, group, (hits / 2) as u8, left);
        section.mark_credited(tenant, (hits / 2) as u8);
    }
    false
}
