//! The replicas that one lookup ranks: those with entries in the domain, and those without any, in one roster.

use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::RwLock;

use super::backlog::Backlog;
use crate::decision::{Balance, Evidence, Holders, Roster, Surroundings};
use crate::model::ReplicaId;

/// Places of members in rosters that are kept by roster at most; beyond, all are made anew.
pub const MAX_ROSTER_PLACES: usize = 262_144;

/// The replicas of one roster, in its order.
#[derive(Debug)]
pub struct Members {
    pub(super) backlogs: Vec<Arc<Backlog>>,
    pub(super) by_number: HashMap<u32, u32>,
    /// Where replicas without entries are among them.
    joined: Option<Joined>,
}

/// Two rosters in one.
#[derive(Debug)]
struct Joined {
    roster: Arc<Roster>,
    /// Places of those with entries, and of those without, in the order of the rosters that they come from.
    serving: Vec<u32>,
    idle: Vec<u32>,
}

impl Joined {
    fn new(serving: &Roster, idle: &Roster) -> Self {
        let roster = Roster::new(serving.iter().chain(idle.iter()).cloned().collect());
        let places = |of: &Roster| of.iter().filter_map(|id| roster.member(id.as_str())).collect();
        Self { serving: places(serving), idle: places(idle), roster: Arc::new(roster) }
    }
}

impl Members {
    /// Those of `serving` and of `idle`, each with the backlog that `backlog` gives it.
    pub(super) fn new(
        serving: &Roster,
        idle: Option<&Roster>,
        backlog: impl FnMut(&ReplicaId) -> Arc<Backlog>,
    ) -> Self {
        let joined = idle.map(|idle| Joined::new(serving, idle));
        let roster = joined.as_ref().map_or(serving, |joined| &joined.roster);
        let backlogs: Vec<Arc<Backlog>> = roster.iter().map(backlog).collect();
        let by_number = backlogs.iter().zip(0..).map(|(backlog, place)| (backlog.number(), place)).collect();
        Self { backlogs, by_number, joined }
    }

    /// Gives `evidence` the roster of all, and says of each what `around` does.
    pub fn join(&self, evidence: &mut Evidence, around: Surroundings, wants_heard: bool) -> Balance {
        let Some(joined) = &self.joined else {
            return Balance { pressure: around.pressure, ..Balance::default() };
        };
        let place = |serving: u32| joined.serving.get(serving as usize).copied();
        // Both rosters are in the order of ids: those that stand together do so in the joined one, too.
        let mut holders = Holders::with_capacity(evidence.holders.len(), 8);
        for (common, members) in evidence.holders.groups() {
            holders.extend_alike(common, members.iter().map(|member| place(*member).unwrap_or(*member)));
        }
        evidence.holders = holders;
        let count = joined.roster.len();
        let mut balance = Balance { idle: joined.idle.len(), ..Balance::default() };
        balance.pressure = scattered(count, &joined.serving, &around.pressure, None);
        let mut heard = match wants_heard {
            true => scattered(count, &joined.serving, &evidence.heard, crate::model::Timestamp::MIN),
            false => Vec::new(),
        };
        for (at, standing) in joined.idle.iter().zip(&around.idle) {
            if let Some(place) = balance.pressure.get_mut(*at as usize) {
                *place = standing.pressure;
            }
            if let Some(place) = heard.get_mut(*at as usize) {
                *place = standing.heard;
            }
            if !standing.takes_part {
                balance.absent.push(*at);
            }
        }
        evidence.heard = heard.into();
        evidence.roster = Arc::clone(&joined.roster);
        balance
    }
}

/// A list of `count`, with each of `values` at its place and `other` elsewhere.
fn scattered<T: Copy>(count: usize, places: &[u32], values: &[T], other: T) -> Vec<T> {
    let mut all = vec![other; count];
    for (at, value) in places.iter().zip(values) {
        if let Some(place) = all.get_mut(*at as usize) {
            *place = *value;
        }
    }
    all
}

/// The members of rosters, by the addresses of the rosters; those are kept with them, so that no others can have them.
#[derive(Debug, Default)]
pub(super) struct ByRoster {
    kept: RwLock<HashMap<(usize, usize), Kept>>,
}

#[derive(Debug)]
struct Kept {
    members: Arc<Members>,
    /// Held for their addresses.
    _rosters: (Arc<Roster>, Option<Arc<Roster>>),
}

fn address(roster: &Arc<Roster>) -> usize {
    Arc::as_ptr(roster) as usize
}

impl ByRoster {
    /// The members of `serving` and `idle`, which `make` makes where they are not kept.
    pub(super) fn get(
        &self,
        serving: &Arc<Roster>,
        idle: Option<&Arc<Roster>>,
        make: impl FnOnce() -> Members,
    ) -> Arc<Members> {
        let key = (address(serving), idle.map_or(0, address));
        if let Some(kept) = self.kept.read().get(&key) {
            return Arc::clone(&kept.members);
        }
        let members = Arc::new(make());
        let mut kept = self.kept.write();
        let places: usize = kept.values().map(|kept| kept.members.backlogs.len()).sum();
        if places + members.backlogs.len() > MAX_ROSTER_PLACES {
            kept.clear();
        }
        if members.backlogs.len() <= MAX_ROSTER_PLACES {
            let rosters = (Arc::clone(serving), idle.map(Arc::clone));
            kept.insert(key, Kept { members: Arc::clone(&members), _rosters: rosters });
        }
        members
    }

    /// Forgets all of them.
    pub(super) fn clear(&self) {
        self.kept.write().clear();
    }
}
