//! How the named levels come and go: each name is interned when something below it comes, and dropped with the last of it.

use std::sync::Arc;

use super::arena::NONE;
use super::names::{Domain, Member, Partition, Place, Scope, Stats, Tenant, name_bytes};
use super::state::State;
use super::twins::ASKED_PARTITIONS;
use crate::decision::Roster;
use crate::model::{AdapterId, HashScheme, ModelId, ReplicaId, TenantId, Timestamp};

/// Tenants whose rank by size may be out of date until a victim is looked for.
const RESIZED: usize = 4;

impl State {
    pub(super) fn ensure_scope(&mut self, tenant: &str, model: &str) -> u32 {
        let tenant = match self.tenant_by_id.get(tenant) {
            Some(tenant) => *tenant,
            None => {
                let id = TenantId::from(tenant);
                let settings = self.settings.get(&id).copied().unwrap_or(self.config.default_settings);
                self.heap_bytes += name_bytes::<Tenant>(tenant);
                let at = self.tenants.insert(Tenant { id: Some(id.clone()), settings, ..Tenant::default() });
                self.tenant_by_id.insert(id, at);
                at
            }
        };
        if let Some(scope) = self.tenants[tenant].scopes.get(model) {
            return *scope;
        }
        let id = ModelId::from(model);
        self.heap_bytes += name_bytes::<Scope>(model);
        let scope = self.scopes.insert(Scope { tenant, model: Some(id.clone()), ..Scope::default() });
        self.tenants[tenant].scopes.insert(id, scope);
        self.emptied_scopes.push(scope);
        scope
    }

    pub(super) fn ensure_partition(&mut self, scope: u32, scheme: &str, adapter: &str) -> u32 {
        let domain = match self.scopes[scope].domains.get(scheme) {
            Some(domain) => *domain,
            None => {
                let id = HashScheme::from(scheme);
                self.heap_bytes += name_bytes::<Domain>(scheme);
                let domain =
                    self.domains.insert(Domain { scope, scheme: Some(id.clone()), ..Domain::default() });
                self.scopes[scope].domains.insert(id, domain);
                domain
            }
        };
        if let Some(partition) = self.domains[domain].partitions.get(adapter) {
            return *partition;
        }
        let id = AdapterId::from(adapter);
        self.heap_bytes += name_bytes::<Partition>(adapter);
        let asked = &mut self.scopes[scope].asked;
        let has_twins = asked.len() >= ASKED_PARTITIONS;
        let partition =
            self.partitions.insert(Partition { domain, adapter: Some(id.clone()), keys: 0, has_twins });
        if !has_twins {
            asked.push(partition);
        }
        self.domains[domain].partitions.insert(id, partition);
        self.emptied_partitions.push(partition);
        partition
    }

    /// The member for `replica`; `None` where the scope or the server has as many as it may.
    pub(super) fn ensure_member(&mut self, scope: u32, replica: &str, now: Timestamp) -> Option<u32> {
        if let Some(member) = self.scopes[scope].members.get(replica) {
            let member = *member;
            self.hear(member, now);
            return Some(member);
        }
        if self.scopes[scope].members.len() >= self.config.max_replicas_per_scope
            || self.members.len() >= self.config.max_replica_records
        {
            return None;
        }
        Some(self.insert_member(scope, ReplicaId::from(replica), now))
    }

    fn insert_member(&mut self, scope: u32, id: ReplicaId, heard: Timestamp) -> u32 {
        self.heap_bytes += name_bytes::<Member>(id.as_str());
        let member =
            self.members.insert(Member { scope, replica: Some(id.clone()), heard, ..Member::default() });
        self.scopes[scope].members.insert(id, member);
        self.scopes[scope].idle.come(member);
        self.list_idle(member);
        member
    }

    /// Puts a fresh member without entries and statistics in the place of one that dropped everything. The old one keeps
    /// its entries until they are removed, and no lookup sees them any more.
    pub(super) fn supersede(&mut self, at: u32) {
        let old = &mut self.members[at];
        let (scope, heard) = (old.scope, old.heard);
        let Some(id) = old.replica.take() else { return };
        // The text went to the new member; what stays is the slot.
        self.heap_bytes -= name_bytes::<Member>(id.as_str()) - name_bytes::<Member>("");
        self.scopes[scope].serving -= 1;
        self.scopes[scope].clearing += 1;
        self.insert_member(scope, id, heard);
    }

    /// A replica was heard of.
    pub(super) fn hear(&mut self, at: u32, now: Timestamp) {
        self.members[at].is_gone = false;
        let heard = self.members[at].heard;
        if now <= heard {
            return;
        }
        self.members[at].heard = now;
        if self.idle.remove(&(heard.as_ns(), at)) {
            self.list_idle(at);
        }
    }

    /// Lists a member without entries, so that it is found when it has gone silent or its bytes are needed.
    pub(super) fn list_idle(&mut self, at: u32) {
        self.idle.insert((self.members[at].heard.as_ns(), at));
    }

    /// The member has entries from here on, or goes.
    pub(super) fn unlist_idle(&mut self, at: u32) {
        self.idle.remove(&(self.members[at].heard.as_ns(), at));
    }

    /// Gives a member other statistics, or none.
    pub(super) fn set_stats(&mut self, at: u32, stats: Option<Stats>) {
        let bytes =
            |stats: &Option<Stats>| stats.as_ref().map_or(0, |stats| stats.client_version.len() as u64);
        self.heap_bytes += bytes(&stats);
        self.heap_bytes -= bytes(&std::mem::replace(&mut self.members[at].stats, stats));
    }

    /// Forgets a member without entries.
    pub(super) fn forget_member(&mut self, at: u32) {
        self.work += 1;
        self.unlist_idle(at);
        self.set_stats(at, None);
        let Member { scope, replica, .. } = self.members.remove(at);
        self.scopes[scope].idle.go(at);
        if let Some(replica) = replica {
            self.heap_bytes -= name_bytes::<Member>(replica.as_str());
            self.scopes[scope].members.remove(&replica);
        }
        self.emptied_scopes.push(scope);
    }

    /// The domain's replicas changed.
    pub(super) fn mark_roster(&mut self, domain: u32) {
        if !std::mem::replace(&mut self.domains[domain].roster_is_dirty, true) {
            self.work += self.domains[domain].serving.len() as u64;
            self.stale_rosters.push(domain);
        }
    }

    /// Ends a write: names without anything below them go, rosters are made anew where replicas came or went, and
    /// tenants are ranked by their new sizes where many have one.
    pub(super) fn settle(&mut self) {
        while let Some(at) = self.emptied_partitions.pop() {
            self.drop_partition(at);
        }
        self.drop_emptied_scopes();
        while let Some(at) = self.stale_rosters.pop() {
            self.rebuild_roster(at);
        }
        if self.resized.len() > RESIZED {
            self.list_sizes();
        }
    }

    fn drop_partition(&mut self, at: u32) {
        if self.partitions[at].keys > 0 || self.partitions[at].adapter.is_none() {
            return;
        }
        self.work += 1;
        let Partition { domain, adapter, has_twins, .. } = self.partitions.remove(at);
        if !has_twins {
            let scope = self.domains[domain].scope;
            self.scopes[scope].asked.retain(|asked| *asked != at);
        }
        if let Some(adapter) = adapter {
            self.heap_bytes -= name_bytes::<Partition>(adapter.as_str());
            self.domains[domain].partitions.remove(&adapter);
        }
        if self.domains[domain].partitions.is_empty() {
            let Domain { scope, scheme, .. } = self.domains.remove(domain);
            if let Some(scheme) = scheme {
                self.heap_bytes -= name_bytes::<Domain>(scheme.as_str());
                self.scopes[scope].domains.remove(&scheme);
            }
            self.emptied_scopes.push(scope);
        }
    }

    pub(super) fn drop_emptied_scopes(&mut self) {
        while let Some(at) = self.emptied_scopes.pop() {
            self.drop_scope(at);
        }
    }

    fn drop_scope(&mut self, at: u32) {
        let scope = &self.scopes[at];
        if scope.model.is_none() || !scope.domains.is_empty() || !scope.members.is_empty() {
            return;
        }
        self.work += 1;
        let Scope { tenant, model, .. } = self.scopes.remove(at);
        if let Some(model) = model {
            self.heap_bytes -= name_bytes::<Scope>(model.as_str());
            self.tenants[tenant].scopes.remove(&model);
        }
        if self.tenants[tenant].scopes.is_empty() {
            self.list_sizes();
            self.list_due(tenant, None);
            if let Some(id) = self.tenants.remove(tenant).id {
                self.heap_bytes -= name_bytes::<Tenant>(id.as_str());
                self.tenant_by_id.remove(&id);
            }
        }
    }

    fn rebuild_roster(&mut self, at: u32) {
        self.domains[at].roster_is_dirty = false;
        let mut serving: Vec<(ReplicaId, u32)> = self.domains[at]
            .serving
            .keys()
            .filter_map(|member| Some((self.members[*member].replica.clone()?, *member)))
            .collect();
        serving.sort_unstable();
        let domain = &mut self.domains[at];
        domain.by_place = serving.iter().map(|(_, member)| *member).collect();
        domain.take_seats();
        domain.roster = Arc::new(Roster::new(serving.into_iter().map(|(replica, _)| replica).collect()));
    }
}

impl Domain {
    /// Gives each member of the new roster its place, and a seat to those who had none.
    fn take_seats(&mut self) {
        let before = std::mem::take(&mut self.places);
        let of = |member: u32| before.binary_search_by_key(&member, |place| place.member).ok();
        let mut taken = vec![false; self.place_of_seat.len().max(self.by_place.len())];
        for at in self.by_place.iter().filter_map(|member| of(*member)) {
            taken[before[at].seat as usize] = true;
        }
        let mut free = taken.iter().zip(0..).filter(|(taken, _)| !**taken).map(|(_, seat)| seat);
        let mut place_of_seat = vec![NONE; taken.len()];
        for (member, place) in self.by_place.iter().zip(0..) {
            let held = of(*member).map(|at| before[at].seat);
            let Some(seat) = held.or_else(|| free.next()) else { continue };
            place_of_seat[seat as usize] = place;
            self.places.push(Place { member: *member, place, seat });
        }
        self.places.sort_unstable();
        self.place_of_seat = place_of_seat;
        self.epoch += 1;
    }
}
