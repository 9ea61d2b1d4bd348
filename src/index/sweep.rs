//! The sweep: what has reached its time to live goes, hits are halved, silent replicas are forgotten.

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
    /// Sweeps at `now`, in bounded critical sections. Costs what it removes and halves.
    pub fn sweep(&self, now: Timestamp) -> Swept {
        let mut swept = Swept::default();
        let (tenants, epoch) = {
            let mut section = self.section();
            section.epoch += 1;
            let tenants: Vec<u32> = section.tenant_by_id.values().copied().collect();
            (tenants, section.epoch)
        };
        for tenant in tenants {
            loop {
                let mut section = self.section();
                expire(&mut section, tenant, now, &mut swept);
                if !section.is_full() {
                    halve(&mut section, tenant, epoch);
                }
                let is_done = !section.is_full();
                section.end();
                if is_done {
                    break;
                }
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
                section.work += 1;
                section.retire_idle(member, cutoff_ns);
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

fn expire(section: &mut Section<'_>, tenant: u32, now: Timestamp, swept: &mut Swept) {
    while !section.is_full() {
        let holder = &section.tenants[tenant];
        let settings = holder.settings;
        let oldest = holder.lanes.values().filter_map(super::order::Order::oldest).min_by_key(|(at, _)| *at);
        let Some((at_ns, entry)) = oldest else { return };
        if Timestamp::from_ns(at_ns).age_ns(now) < settings.ttl_ns {
            return;
        }
        section.remove_entry(entry);
        match settings.eviction {
            Eviction::Lru => swept.expired_lru += 1,
            Eviction::Lfu => swept.expired_lfu += 1,
        }
    }
}

/// Halves the hits of every entry that has any. Lanes are taken in ascending order, and an entry of lane `n` goes to
/// lane `n / 2`, which was taken before: none is halved twice.
fn halve(section: &mut Section<'_>, tenant: u32, epoch: u32) {
    if section.tenants[tenant].halved_epoch == epoch {
        return;
    }
    while !section.is_full() {
        let from = section.tenants[tenant].halving_from.max(1);
        let next = section.tenants[tenant]
            .lanes
            .range(from..)
            .find_map(|(hits, lane)| Some((*hits, lane.oldest()?)));
        let Some((hits, (at_ns, entry))) = next else {
            section.tenants[tenant].halved_epoch = epoch;
            section.tenants[tenant].halving_from = 0;
            return;
        };
        section.tenants[tenant].halving_from = hits;
        section.relane(entry, hits / 2, at_ns);
    }
}
