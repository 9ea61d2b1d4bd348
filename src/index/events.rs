//! Events.

use super::arena::NONE;
use super::ingest::check_event;
use super::state::State;
use super::{DropCause, Index};
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
        match event.kind {
            EventKind::PrefixEvicted => EventApplied { removed: self.evict(event, now), dropped: None },
            EventKind::AllCleared => EventApplied { removed: self.clear(event, now), dropped: None },
            EventKind::ReplicaUpdated => {
                let mut section = self.section();
                let scope = section.ensure_scope(event.tenant, event.model);
                let member = section.ensure_member(scope, event.replica, now);
                section.end();
                let dropped = member.is_none().then_some(DropCause::TooManyReplicas);
                EventApplied { removed: 0, dropped }
            }
            EventKind::PrefixAdded | EventKind::Unknown => EventApplied::default(),
        }
    }

    /// Removes the replica from the hash, in each partition it has entries in: its own number, not the index's size.
    fn evict(&self, event: &CacheEvent<'_>, now: Timestamp) -> u64 {
        let mut section = self.section();
        let Some(member) = find_member(&section, event) else { return 0 };
        section.hear(member, now);
        let partitions: Vec<u32> = section.members[member].partitions.keys().copied().collect();
        let mut removed = 0;
        for partition in partitions {
            let wanted = event.adapter.is_empty()
                || section.partitions[partition]
                    .adapter
                    .as_ref()
                    .is_some_and(|id| id.as_str() == event.adapter);
            if !wanted {
                continue;
            }
            section.work += 1;
            let Some(key) = section.find_key(partition, event.prefix_hash) else { continue };
            let holders = &section.keys[key].holders;
            let Ok(place) = holders.binary_search_by_key(&member, |holding| holding.member) else { continue };
            let entry = holders[place].entry;
            section.remove_entry(entry);
            removed += 1;
        }
        section.end();
        removed
    }

    /// Removes what the replica held when the event came, and its statistics.
    fn clear(&self, event: &CacheEvent<'_>, now: Timestamp) -> u64 {
        let mut left = None;
        let mut removed = 0;
        loop {
            let mut section = self.section();
            let Some(member) = find_member(&section, event) else { return removed };
            if left.is_none() {
                section.hear(member, now);
                section.members[member].stats = None;
            }
            // Entries reported while this runs stand at the end of the list and are not counted.
            let remaining = left.get_or_insert(section.members[member].entries);
            while *remaining > 0 && !section.is_full() {
                let first = section.members[member].first;
                if first == NONE {
                    *remaining = 0;
                    break;
                }
                section.remove_entry(first);
                *remaining -= 1;
                removed += 1;
            }
            let is_done = *remaining == 0;
            section.end();
            if is_done {
                return removed;
            }
        }
    }
}

fn find_member(state: &State, event: &CacheEvent<'_>) -> Option<u32> {
    let scope = state.find_scope(event.tenant, event.model)?;
    state.scopes[scope].members.get(event.replica).copied()
}
