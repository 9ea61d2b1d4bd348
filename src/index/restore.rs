//! What an export says beyond what updates bring back: credits, and the order of the keys.

use super::Index;
use super::arena::NONE;
use super::regroup::Kind;
use super::segment::{SLOTS, place_of};
use super::state::State;
use crate::model::{StateUpdate, Timestamp};

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
    pub fn restore_keys<'a>(
        &self,
        [tenant, model, scheme, adapter]: [&str; 4],
        reported_at: Timestamp,
        hashes: impl Iterator<Item = &'a [u8]>,
    ) {
        let at_ns = reported_at.as_ns();
        let mut section = self.section();
        for hash in hashes {
            if section.is_full() {
                section.renew();
            }
            section.work += 1;
            let Some(key) = find_key(&section, [tenant, model, scheme, adapter], hash) else { continue };
            section.reorder_key(key, at_ns);
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

    /// Moves a key to its place for `reported_at_ns`, after those of the same time.
    fn reorder_key(&mut self, key: u32, reported_at_ns: i64) {
        let (segment, slot) = place_of(key);
        let Some(at) = self.held_at(segment, slot, NONE) else { return };
        let tenant = self.path_of(self.segments[segment].partition).tenant;
        let tier = self.segments[segment].hold(at).tier();
        self.take(tenant, segment, at, 1 << slot);
        let kind = Kind { owner: NONE, tier, hits: 0, at_ns: reported_at_ns };
        self.put(tenant, segment, 1 << slot, kind, &[0; SLOTS]);
    }
}

fn find_key(state: &State, [tenant, model, scheme, adapter]: [&str; 4], hash: &[u8]) -> Option<u32> {
    let scope = state.find_scope(tenant, model)?;
    let domain = state.scopes[scope].domains.get(scheme)?;
    let partition = state.domains[*domain].partitions.get(adapter)?;
    state.find_key(*partition, hash)
}
