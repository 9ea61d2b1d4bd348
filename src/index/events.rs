//! Events.

use super::ingest::check_event;
use super::segment::{lowest, place_of};
use super::state::State;
use super::{DropCause, Index, Section};
use crate::model::{CacheEvent, EventKind, Timestamp};

/// What became of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventApplied {
    /// Entries removed.
    pub removed: u64,
    /// Why the event was dropped, if it was.
    pub dropped: Option<DropCause>,
}

impl Index {
    /// Applies an event that arrived at `now`.
    pub fn apply_event(&self, event: &CacheEvent<'_>, now: Timestamp) -> EventApplied {
        if let Err(cause) = check_event(event, &self.limits) {
            return EventApplied { removed: 0, dropped: Some(cause) };
        }
        let applied = match event.kind {
            EventKind::PrefixEvicted => EventApplied { removed: self.evict(event), dropped: None },
            EventKind::AllCleared => EventApplied { removed: self.clear(event), dropped: None },
            EventKind::ReplicaUpdated => {
                let mut section = self.section();
                let scope = section.ensure_scope(event.tenant, event.model);
                let member = section.ensure_member(scope, event.replica, now);
                if let Some(member) = member {
                    section.forget_idle(member);
                }
                section.end();
                let dropped = member.is_none().then_some(DropCause::TooManyReplicas);
                EventApplied { removed: 0, dropped }
            }
            EventKind::PrefixAdded | EventKind::Unknown => EventApplied::default(),
        };
        if event.kind != EventKind::Unknown {
            self.note_event(event, now);
        }
        applied
    }

    /// Remembers when the replica's last event came; of one that is not known, nothing.
    fn note_event(&self, event: &CacheEvent<'_>, now: Timestamp) {
        let mut state = self.state.write();
        if let Some(member) = find_member(&state, event) {
            state.members[member].last_event = Some(now);
        }
    }

    /// Removes the replica from the hash in one partition or in all. Costs the partitions of the scope that are asked
    /// one by one, a constant number, and the keys of that very hash in the others.
    fn evict(&self, event: &CacheEvent<'_>) -> u64 {
        let mut section = self.section();
        let Some(member) = find_member(&section, event) else { return 0 };
        let scope = section.members[member].scope;
        let mut removed = 0;
        for partition in section.scopes[scope].asked.clone() {
            section.work += 1;
            if let Some(key) = section.find_key(partition, event.prefix_hash) {
                removed += drop_hold(&mut section, key, member, event.adapter);
            }
        }
        // From the end, since a key that goes is replaced by the last of the list.
        let mut left = section.twins.of(scope, event.prefix_hash).len();
        while left > 0 {
            if section.is_full() {
                section.renew();
            }
            let Some(member) = find_member(&section, event) else { break };
            let twins = section.twins.of(section.members[member].scope, event.prefix_hash);
            left = (left - 1).min(twins.len());
            let Some(key) = twins.get(left).copied() else { continue };
            section.work += 1;
            removed += drop_hold(&mut section, key, member, event.adapter);
        }
        section.end();
        removed
    }

    /// Removes what the replica held when the event came, and its statistics: from lookups at once, from memory in
    /// bounded sections. What it reports meanwhile stays.
    fn clear(&self, event: &CacheEvent<'_>) -> u64 {
        let mut section = self.section();
        let Some(member) = find_member(&section, event) else { return 0 };
        section.set_stats(member, None);
        let held = section.members[member].entries;
        if held > 0 {
            section.supersede(member);
        }
        if let Some(member) = find_member(&section, event) {
            section.members[member].is_gone = true;
        }
        let removed = remove_all(&mut section, member);
        section.end();
        removed
    }
}

/// Removes the entries of a superseded member, in as many sections as it takes; how many went.
fn remove_all(section: &mut Section<'_>, member: u32) -> u64 {
    let mut removed = 0;
    // A sweep or an eviction between two sections may take the last entry, and the position with it.
    while section.members[member].replica.is_none() && section.members[member].entries > 0 {
        if section.is_full() {
            section.renew();
            continue;
        }
        let first = section.members[member].first;
        let (segment, at) = section.locate(first);
        let part = lowest(section.segments[segment].hold(at).mask(), section.left());
        section.remove_entries(first, part);
        removed += u64::from(part.count_ones());
    }
    removed
}

/// Removes the member's entry of `key`, where it has one and `adapter` admits it; how many went.
fn drop_hold(state: &mut State, key: u32, member: u32, adapter: &str) -> u64 {
    let (segment, slot) = place_of(key);
    let held = &state.segments[segment];
    let is_wanted = adapter.is_empty()
        || state.partitions[held.partition].adapter.as_ref().is_some_and(|id| id.as_str() == adapter);
    let mut of_owner = held.of_owner(member);
    match of_owner.find(|at| held.hold(*at).mask() >> slot & 1 == 1) {
        Some(at) if is_wanted => {
            let group = held.ids[at];
            state.remove_entries(group, 1 << slot);
            1
        }
        _ => 0,
    }
}

fn find_member(state: &State, event: &CacheEvent<'_>) -> Option<u32> {
    let scope = state.find_scope(event.tenant, event.model)?;
    state.scopes[scope].members.get(event.replica).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{ExactHash, Input, Query};
    use crate::index::IndexConfig;
    use crate::model::{HashList, PrefixEntry, StateUpdate, Tier, Timestamp};

    const NOW: Timestamp = Timestamp::from_ns(1_000_000_000_000);

    fn report(index: &Index, hash: &[u8]) {
        let entry = PrefixEntry {
            prefix_hash: hash,
            token_count: 16,
            block_hashes: HashList::EMPTY,
            block_token_counts: &[],
            tier: Tier::T1,
            adapter: "",
        };
        let (tenant, model, scheme) = ("t", "m", "s");
        let prefixes = vec![entry];
        let update = StateUpdate { replica: "r", tenant, model, scheme, prefixes, ..StateUpdate::default() };
        assert_eq!(index.apply_update(&update, NOW).dropped, []);
    }

    fn is_held(index: &Index, hash: &[u8]) -> bool {
        let input = Input::Exact(ExactHash::Given(hash));
        let query = Query {
            tenant: "t",
            model: "m",
            scheme: "s",
            adapter: "",
            input: &input,
            now: NOW,
            ttl_ns: i64::MAX,
            wants_warm: false,
            wants_heard: false,
        };
        !index.read(&query).holders.is_empty()
    }

    /// Between two sections of a clearing: what was held is out of sight, what comes meanwhile is in sight and stays.
    #[test]
    fn a_report_amid_a_clearing_stays() {
        let index = Index::new(IndexConfig::default());
        let event = CacheEvent {
            kind: EventKind::AllCleared,
            replica: "r",
            tenant: "t",
            model: "m",
            prefix_hash: &[],
            adapter: "",
            at: None,
        };
        report(&index, b"old");
        report(&index, b"both");
        let mut section = index.section();
        let member = find_member(&section, &event).expect("it has reported");
        section.supersede(member);
        section.end();
        assert_eq!([&b"old"[..], b"both"].map(|hash| is_held(&index, hash)), [false, false]);
        report(&index, b"both");
        report(&index, b"new");
        let mut section = index.section();
        assert_eq!(remove_all(&mut section, member), 2);
        section.end();
        assert_eq!([&b"old"[..], b"both", b"new"].map(|hash| is_held(&index, hash)), [false, true, true]);
        assert_eq!(index.entries(), 2);
        assert_eq!(index.apply_event(&event, NOW).removed, 2);
        assert_eq!((index.entries(), index.gauges().replicas_by_model.get("m")), (0, Some(&0)));
    }
}
