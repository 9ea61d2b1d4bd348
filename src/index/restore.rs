//! What an export says beyond what updates bring back: credits, and the order of the keys.

use super::Index;
use super::arena::NONE;
use super::regroup::Kind;
use super::segment::{SLOTS, key_in, place_of, span};
use super::state::State;
use crate::model::{HashList, StateUpdate, Tier, Timestamp};

impl Index {
    /// Gives the entries of `update` that are held these hits, one by one; those without are passed over.
    pub fn restore_hits(&self, update: &StateUpdate<'_>, hits: &[u32]) {
        let mut section = self.section();
        for (entry, hits) in update.prefixes.iter().zip(hits).filter(|(_, hits)| **hits > 0) {
            if section.is_full() {
                section.renew();
            }
            let adapter = if entry.adapter.is_empty() { update.adapter } else { entry.adapter };
            let names = [update.tenant, update.model, update.scheme, adapter];
            let Some(key) = find_key(&section, names, entry.prefix_hash) else { continue };
            let Some(scope) = section.find_scope(update.tenant, update.model) else { continue };
            let Some(member) = section.scopes[scope].members.get(update.replica).copied() else { continue };
            let (segment, slot) = place_of(key);
            let Some(at) = section.held_at(segment, slot, member) else { continue };
            let tenant = section.scopes[scope].tenant;
            let hits = u8::try_from(*hits).unwrap_or(super::credit::MAX_HITS);
            section.relane(tenant, segment, at, 1 << slot, hits);
        }
        section.end();
    }

    /// Puts these keys of one partition at the end of those that were last reported at `reported_at`, one by one.
    pub fn restore_keys(&self, names: [&str; 4], reported_at: Timestamp, hashes: HashList<'_>) {
        let at_ns = reported_at.as_ns();
        let mut section = self.section();
        let mut partition = find_partition(&section, names);
        let (mut at, mut last) = (0, NONE);
        while at < hashes.len() {
            if section.is_full() {
                section.renew();
                (partition, last) = (find_partition(&section, names), NONE);
            }
            let Some(partition) = partition else { break };
            // What was told together mostly lies together.
            let run = |key| {
                section.run_at(key, partition, hashes, at).map(|(_, segment, slot, run)| (segment, slot, run))
            };
            let guessed = run(section.guess_after(last));
            let found = guessed.or_else(|| run(section.find_key(partition, hashes.get(at))?));
            let Some((segment, slot, run)) = found else {
                section.work += 1;
                (at, last) = (at + 1, NONE);
                continue;
            };
            let count = u64::from(run).min(section.left()) as u32;
            section.work += u64::from(count);
            section.reorder_keys(segment, span(slot, count), at_ns);
            (at, last) = (at + count as usize, key_in(segment, slot + count - 1));
        }
        section.end();
    }
}

impl State {
    /// The group of `owner` that holds the slot.
    fn held_at(&self, segment: u32, slot: u32, owner: u32) -> Option<usize> {
        let held = &self.segments[segment];
        held.of_owner(owner).find(|at| held.hold(*at).mask() >> slot & 1 == 1)
    }

    /// Moves keys to their places for `reported_at_ns`, after those of the same time.
    fn reorder_keys(&mut self, segment: u32, mask: u64, reported_at_ns: i64) {
        let tenant = self.path_of(self.segments[segment].partition).tenant;
        let mut taken = 0;
        for at in self.segments[segment].of_owner(NONE).rev() {
            let part = self.segments[segment].hold(at).mask() & mask;
            if part != 0 {
                taken |= part;
                self.take(tenant, segment, at, part);
            }
        }
        if taken != 0 {
            let kind = Kind { owner: NONE, tier: Tier::T1, hits: 0, at_ns: reported_at_ns };
            self.put(tenant, segment, taken, kind, &[0; SLOTS]);
        }
    }
}

fn find_partition(state: &State, [tenant, model, scheme, adapter]: [&str; 4]) -> Option<u32> {
    let scope = state.find_scope(tenant, model)?;
    let domain = state.scopes[scope].domains.get(scheme)?;
    state.domains[*domain].partitions.get(adapter).copied()
}

fn find_key(state: &State, names: [&str; 4], hash: &[u8]) -> Option<u32> {
    state.find_key(find_partition(state, names)?, hash)
}
