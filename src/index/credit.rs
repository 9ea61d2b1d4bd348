//! Credit for what was delivered.

use hashbrown::HashSet;
use smallvec::SmallVec;

use super::entry::Holding;
use super::state::State;
use super::{Index, Section};
use crate::decision::{Input, Query};
use crate::model::ReplicaId;

/// Hits that an entry counts at most, so that the number of lanes to look at for a victim is bounded.
pub(super) const MAX_HITS: u32 = 255;

/// Hashes with their places in the chain.
type Hashes<'a> = SmallVec<[(&'a [u8], usize); 64]>;

impl Index {
    /// Marks the keys behind a delivered prefix match as hit, and under LFU credits one access to each entry that
    /// contributed tokens to a delivered replica.
    ///
    /// `delivered` gives each replica with the blocks of its run; the count is ignored for an exact lookup. What has
    /// gone from the index since the lookup is passed over.
    pub fn credit(&self, query: &Query<'_>, delivered: &[(&ReplicaId, u32)], counts_hits: bool) {
        if delivered.is_empty() {
            return;
        }
        let most = delivered.iter().map(|(_, blocks)| *blocks).max().unwrap_or(0) as usize;
        let mut hashes: Hashes<'_> = match query.input {
            // A block without tokens contributed nothing.
            Input::Chain { hashes, counts } => {
                let list = hashes.list();
                let run = list.iter().take(most).zip(0..);
                run.filter(|(_, at)| counts.get(*at) > 0).collect()
            }
            Input::Exact(hash) => Hashes::from_slice(&[(hash.as_bytes(), 0)]),
            Input::Nothing => return,
        };
        if !counts_hits {
            let state = self.state.read();
            let Some(partition) = partition(&state, query) else { return };
            for key in hashes.iter().filter_map(|(hash, _)| state.find_key(partition, hash)) {
                state.mark_hot(key);
            }
            return;
        }
        // A chain that names a hash twice made one access to its entry; the first place lies in the most runs.
        let mut seen = HashSet::with_capacity(hashes.len());
        hashes.retain(|(hash, _)| seen.insert(*hash));
        let mut section = self.section();
        for (hash, at) in hashes {
            let mut key = find(&section, query, hash);
            for (replica, blocks) in delivered {
                if section.is_full() {
                    section.renew();
                    key = find(&section, query, hash);
                }
                let is_in_run = matches!(query.input, Input::Exact(_)) || at < *blocks as usize;
                if let Some(key) = key.filter(|_| is_in_run) {
                    credit_entry(&mut section, key, replica);
                }
            }
            if let Some(key) = key {
                section.mark_hot(key);
            }
        }
        section.end();
    }
}

/// One access to the replica's entry of `key`, where it still has one.
fn credit_entry(section: &mut Section<'_>, key: u32, replica: &ReplicaId) {
    section.work += 1;
    let scope = section.domains[section.partitions[section.keys[key].partition].domain].scope;
    let Some(member) = section.scopes[scope].members.get(replica).copied() else { return };
    let holders = &section.keys[key].holders;
    let Ok(place) = holders.binary_search_by_key(&member, |holding| holding.member) else { return };
    let Holding { entry, last_seen_ns, .. } = holders[place];
    let hits = section.entries[entry].hits;
    if hits < MAX_HITS {
        section.relane(entry, hits + 1, last_seen_ns);
    }
}

fn find(state: &State, query: &Query<'_>, hash: &[u8]) -> Option<u32> {
    state.find_key(partition(state, query)?, hash)
}

fn partition(state: &State, query: &Query<'_>) -> Option<u32> {
    let scope = state.find_scope(query.tenant, query.model)?;
    let domain = state.scopes[scope].domains.get(query.scheme)?;
    state.domains[*domain].partitions.get(query.adapter).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{ChainCounts, ChainHashes};
    use crate::index::{IndexConfig, TenantSettings};
    use crate::model::{
        CacheEvent, EventKind, Eviction, HashList, PrefixEntry, PrefixHash, StateUpdate, Tier, Timestamp,
    };

    const START_NS: i64 = 1_000_000_000_000;

    fn now() -> Timestamp {
        Timestamp::from_ns(START_NS)
    }

    fn report(index: &Index, replica: &str, hashes: &[PrefixHash], now: Timestamp) {
        let counts = vec![16; hashes.len()];
        let prefixes = vec![PrefixEntry {
            prefix_hash: &[],
            token_count: 0,
            block_hashes: HashList::Fingerprints(hashes),
            block_token_counts: &counts,
            tier: Tier::T1,
            adapter: "",
        }];
        let update =
            StateUpdate { replica, tenant: "t", model: "m", scheme: "s", prefixes, ..StateUpdate::default() };
        assert_eq!(index.apply_update(&update, now).dropped, []);
    }

    fn query<'a>(input: &'a Input<'a>) -> Query<'a> {
        Query {
            tenant: "t",
            model: "m",
            scheme: "s",
            adapter: "",
            input,
            now: now(),
            ttl_ns: 1,
            wants_warm: false,
            wants_heard: false,
        }
    }

    fn chain(hashes: &[PrefixHash]) -> Input<'static> {
        Input::Chain { hashes: ChainHashes::Derived(hashes.to_vec()), counts: ChainCounts::Uniform(16) }
    }

    #[test]
    fn what_has_gone_is_passed_over_and_the_rest_is_hot() {
        let index = Index::new(IndexConfig::default());
        let hashes = [1, 2, 3].map(PrefixHash::new);
        report(&index, "r", &hashes, now());
        let gone = CacheEvent {
            kind: EventKind::PrefixEvicted,
            replica: "r",
            tenant: "t",
            model: "m",
            prefix_hash: hashes[1].as_bytes(),
            adapter: "",
            at: None,
        };
        assert_eq!(index.apply_event(&gone, now()).removed, 1);
        index.credit(&query(&chain(&hashes)), &[(&ReplicaId::from("r"), 3)], false);
        assert_eq!(index.cache_state("t", "m").hot_prefixes, 2);
    }

    #[test]
    fn nothing_delivered_makes_nothing_hot() {
        let index = Index::new(IndexConfig::default());
        let hash = PrefixHash::new(1);
        report(&index, "r", &[hash], now());
        index.credit(&query(&Input::Exact(crate::decision::ExactHash::Derived(hash, 16))), &[], false);
        assert_eq!(index.cache_state("t", "m").hot_prefixes, 0);
    }

    #[test]
    fn a_hash_that_a_chain_repeats_is_one_access() {
        let default_settings = TenantSettings { eviction: Eviction::Lfu, ..TenantSettings::default() };
        let index = Index::new(IndexConfig { max_entries: 2, default_settings, ..IndexConfig::default() });
        let [repeated, wanted, other] = [1, 2, 3].map(PrefixHash::new);
        report(&index, "r", &[repeated, wanted], now());
        let replica = ReplicaId::from("r");
        index.credit(&query(&chain(&[repeated; 3])), &[(&replica, 3)], true);
        for _ in 0..2 {
            index.credit(&query(&chain(&[wanted])), &[(&replica, 1)], true);
        }
        // Two hits against one: the repeated hash is the first to go.
        let later = now().plus_ns(120_000_000_000);
        report(&index, "q", &[other], later);
        let held = |hash| {
            let input = Input::Exact(crate::decision::ExactHash::Derived(hash, 16));
            !index.read(&Query { ttl_ns: i64::MAX, ..query(&input) }).holders.is_empty()
        };
        assert_eq!([repeated, wanted, other].map(held), [false, true, true]);
    }
}
