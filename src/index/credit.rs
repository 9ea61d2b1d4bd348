//! Credit for what was delivered.

use smallvec::SmallVec;

use super::state::State;
use super::{Index, Section};
use crate::decision::{Input, Query};
use crate::model::ReplicaId;

impl Index {
    /// Marks the keys behind a delivered prefix match as hit, and under LFU credits one access to each entry that
    /// contributed tokens to a delivered replica.
    ///
    /// `delivered` gives each replica with the blocks of its run; the count is ignored for an exact lookup. What has
    /// gone from the index since the lookup is passed over.
    pub fn credit(&self, query: &Query<'_>, delivered: &[(&ReplicaId, u32)], counts_hits: bool) {
        let most = delivered.iter().map(|(_, blocks)| *blocks).max().unwrap_or(0) as usize;
        let hashes: SmallVec<[&[u8]; 64]> = match query.input {
            Input::Chain { hashes, .. } => hashes.list().iter().take(most).collect(),
            Input::Exact(hash) => SmallVec::from_slice(&[hash.as_bytes()]),
            Input::Nothing => return,
        };
        if !counts_hits {
            let state = self.state.read();
            let Some(partition) = partition(&state, query) else { return };
            for key in hashes.iter().map_while(|hash| state.find_key(partition, hash)) {
                state.mark_hot(key);
            }
            return;
        }
        let mut at = 0;
        while at < hashes.len() {
            let mut section = self.section();
            while at < hashes.len() && !section.is_full() {
                credit_block(&mut section, query, hashes[at], at, delivered);
                at += 1;
            }
            section.end();
        }
    }
}

fn credit_block(
    section: &mut Section<'_>,
    query: &Query<'_>,
    hash: &[u8],
    at: usize,
    delivered: &[(&ReplicaId, u32)],
) {
    let Some(partition) = partition(section, query) else { return };
    let Some(key) = section.find_key(partition, hash) else { return };
    section.mark_hot(key);
    let is_exact = matches!(query.input, Input::Exact(_));
    let scope = section.domains[section.partitions[partition].domain].scope;
    for (replica, blocks) in delivered {
        if !is_exact && at >= *blocks as usize {
            continue;
        }
        let Some(member) = section.scopes[scope].members.get(*replica).copied() else { continue };
        let holders = &section.keys[key].holders;
        let Ok(place) = holders.binary_search_by_key(&member, |holding| holding.member) else { continue };
        let entry = holders[place].entry;
        let (hits, last_seen_ns) = (section.entries[entry].hits, section.entries[entry].last_seen_ns);
        section.relane(entry, hits.saturating_add(1), last_seen_ns);
    }
}

fn partition(state: &State, query: &Query<'_>) -> Option<u32> {
    let scope = state.find_scope(query.tenant, query.model)?;
    let domain = state.scopes[scope].domains.get(query.scheme)?;
    state.domains[*domain].partitions.get(query.adapter).copied()
}
