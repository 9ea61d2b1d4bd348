//! What the balanced ranker reads beside the evidence: members without entries, who was heard of, and pressure.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::Index;
use super::names::Member;
use super::state::State;
use crate::decision::{Evidence, Query, Roster, Standing, Surroundings};

/// The members of a (tenant, model) that have no entries at all. Their list is made by the first lookup that wants it
/// after one came or went, so that nobody pays for it under another ranker, and a lookup takes it as it is.
#[derive(Debug, Default)]
pub(super) struct Idle {
    members: BTreeSet<u32>,
    list: OnceLock<List>,
}

#[derive(Debug)]
struct List {
    roster: Arc<Roster>,
    /// The members in the order of the roster.
    by_place: Vec<u32>,
}

impl Idle {
    /// A member has no entries any more, or not yet.
    pub(super) fn come(&mut self, member: u32) {
        self.members.insert(member);
        self.list.take();
    }

    /// A member has its first entry, or goes.
    pub(super) fn go(&mut self, member: u32) {
        if self.members.remove(&member) {
            self.list.take();
        }
    }

    fn list(&self, state: &State) -> &List {
        self.list.get_or_init(|| {
            let named = self.members.iter().filter_map(|member| {
                let id = state.members[*member].replica.clone()?;
                Some((id, *member))
            });
            let mut named: Vec<_> = named.collect();
            named.sort_unstable();
            let by_place = named.iter().map(|(_, member)| *member).collect();
            let ids = named.into_iter().map(|(id, _)| id).collect();
            List { roster: Arc::new(Roster::new(ids)), by_place }
        })
    }
}

impl Index {
    /// What [`Self::read`] tells, and at the same instant what the balanced ranker needs beside it: the members of
    /// (tenant, model) without entries, of whom those take part that were heard of within `max_idle_ns` and have not said
    /// since that they dropped everything. Costs the replicas of the domain, and those without entries.
    pub fn read_balanced(&self, query: &Query<'_>, max_idle_ns: i64) -> (Evidence, Surroundings) {
        let state = self.read_state();
        let evidence = state.evidence(query);
        let mut around = Surroundings::default();
        let Some(scope) = state.find_scope(query.tenant, query.model) else { return (evidence, around) };
        let scope = &state.scopes[scope];
        let pressure = |member: &Member| {
            let seen = member.stats.as_ref()?.seen;
            Some((seen.pressure, seen.reported_at))
        };
        if scope.has_stats
            && let Some(domain) = scope.domains.get(query.scheme)
        {
            let members = state.domains[*domain].by_place.iter();
            around.pressure = members.map(|member| pressure(&state.members[*member])).collect();
        }
        if !scope.idle.members.is_empty() {
            let list = scope.idle.list(&state);
            around.idle_roster = Some(Arc::clone(&list.roster));
            let standing = |member: &u32| {
                let member = &state.members[*member];
                Standing {
                    takes_part: !member.is_gone && member.heard.age_ns(query.now) < max_idle_ns,
                    heard: member.heard,
                    pressure: pressure(member),
                }
            };
            around.idle = list.by_place.iter().map(standing).collect();
        }
        (evidence, around)
    }
}
