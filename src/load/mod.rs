//! How busy each replica is, as far as delivered hints and reports tell: what the balanced ranker needs beside the index.
//!
//! All of it is estimate. It moves the order of replicas and nothing else: what a replica holds is what the index says.
//! Every part is bounded, and ages out by itself where hints are lost or ignored and where replicas go.

mod backlog;
mod claims;
mod members;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashMap;
use parking_lot::{Mutex, RwLock};

use self::backlog::Backlog;
use self::claims::{Claims, Keys};
use self::members::ByRoster;
use crate::decision::{Load, Query, Roster};
use crate::model::{CacheEvent, EventKind, RankerKnobs, ReplicaId, StateUpdate, Timestamp};

pub use backlog::MAX_HINTS_PER_REPLICA;
pub use claims::MAX_CLAIMS;
pub use members::{MAX_ROSTER_PLACES, Members};

/// Replicas whose load is kept at most; the load of further ones counts as none.
pub const MAX_LOADS: usize = 65_536;
/// Replicas that come before those without a hint for long are looked for and forgotten.
const CLEAN_AFTER: usize = 1_024;
/// A replica that got no hint for so long is forgotten, in nanoseconds.
const FORGET_AFTER_NS: i64 = 30 * 60 * 1_000_000_000;

/// The load of every replica that hints were delivered to.
pub struct Loads {
    in_flight_ttl_ns: i64,
    prefill_rate: f32,
    by_name: RwLock<HashMap<ReplicaId, Arc<Backlog>>>,
    by_roster: ByRoster,
    /// Replicas that came since the last cleaning.
    came: Mutex<usize>,
    next_number: AtomicU32,
    keys: Keys,
    claims: Claims,
}

/// A hint that is delivered: to whom, and what it brings.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// Position in the roster.
    pub member: u32,
    /// Blocks of the chain that the replica is known to hold.
    pub held_blocks: u32,
    /// Tokens that it has to prefill.
    pub uncached_tokens: f32,
}

impl Loads {
    /// No load at all.
    pub fn new(knobs: &RankerKnobs) -> Self {
        Self {
            in_flight_ttl_ns: knobs.in_flight_ttl_ns.value,
            prefill_rate: knobs.prefill_rate.value.max(1) as f32,
            by_name: RwLock::default(),
            by_roster: ByRoster::default(),
            came: Mutex::new(0),
            next_number: AtomicU32::new(0),
            keys: Keys::default(),
            claims: Claims::default(),
        }
    }

    /// The members of the rosters of those with entries and of those without.
    pub fn members(&self, serving: &Arc<Roster>, idle: Option<&Arc<Roster>>, now: Timestamp) -> Arc<Members> {
        let make = || Members::new(serving, idle.map(|idle| &**idle), |replica| self.backlog(replica, now));
        self.by_roster.get(serving, idle, make)
    }

    fn backlog(&self, replica: &ReplicaId, now: Timestamp) -> Arc<Backlog> {
        if let Some(backlog) = self.by_name.read().get(replica) {
            return Arc::clone(backlog);
        }
        let fresh = || {
            let number = self.next_number.fetch_add(1, Ordering::Relaxed);
            Arc::new(Backlog::new(number, self.prefill_rate, now))
        };
        let mut names = self.by_name.write();
        let mut came = self.came.lock();
        *came += 1;
        if *came > CLEAN_AFTER || names.len() >= MAX_LOADS {
            *came = 0;
            self.by_roster.clear();
            names.retain(|_, backlog| backlog.hinted_at().age_ns(now) < FORGET_AFTER_NS);
        }
        if names.len() >= MAX_LOADS && !names.contains_key(replica) {
            return fresh();
        }
        Arc::clone(names.entry(replica.clone()).or_insert_with(fresh))
    }

    /// What each member has before it, and how much of `query`'s prefix it is about to hold.
    pub fn loads(&self, query: &Query<'_>, members: &Members, now: Timestamp) -> Vec<Load> {
        let mut loads: Vec<Load> = members.backlogs.iter().map(|backlog| backlog.load(now)).collect();
        if self.claims.is_empty() {
            return loads;
        }
        let Some(chain) = self.keys.of_query(query) else { return loads };
        for at in claims::checkpoints(chain.len()) {
            self.claims.visit(chain.key(at), now, |number| {
                if let Some(place) = members.by_number.get(&number)
                    && let Some(load) = loads.get_mut(*place as usize)
                {
                    load.provisional_tokens = load.provisional_tokens.max(chain.tokens(at + 1));
                }
            });
        }
        loads
    }

    /// A hint is on its way: its replica has that much more to do, and will hold the chain.
    pub fn deliver(&self, query: &Query<'_>, members: &Members, hint: Delivered, now: Timestamp) {
        let Some(backlog) = members.backlogs.get(hint.member as usize) else { return };
        let chain = self.keys.of_query(query);
        let keys = chain.map_or_else(Default::default, |chain| {
            let fresh = claims::checkpoints(chain.len()).filter(|at| *at >= hint.held_blocks as usize);
            fresh.map(|at| chain.key(at)).collect()
        });
        let added = backlog.add(keys, hint.uncached_tokens, self.in_flight_ttl_ns, now);
        if let Some((sequence, expires)) = added {
            backlog.with_keys(sequence, |keys| self.claims.add(keys, backlog.number(), expires, now));
        }
    }

    /// What a report says is held: the prefills that brought it are done.
    pub fn reported(&self, update: &StateUpdate<'_>, now: Timestamp) {
        if update.prefixes.is_empty() {
            return;
        }
        let Some(backlog) = self.by_name.read().get(update.replica).map(Arc::clone) else { return };
        if backlog.is_idle() {
            return;
        }
        let at = update.at.filter(|at| (0..self.in_flight_ttl_ns).contains(&at.age_ns(now))).unwrap_or(now);
        let reported = update.prefixes.iter().flat_map(|entry| self.keys.of_entry(update, entry));
        let done = backlog.confirm(reported, at);
        self.claims.remove(&done, backlog.number());
    }

    /// A replica that dropped everything has nothing before it either.
    pub fn happened(&self, event: &CacheEvent<'_>, now: Timestamp) {
        if event.kind != EventKind::AllCleared {
            return;
        }
        let Some(backlog) = self.by_name.read().get(event.replica).map(Arc::clone) else { return };
        self.claims.remove(&backlog.clear(now), backlog.number());
    }

    /// Replicas, delivered hints and claims that are kept.
    pub fn kept(&self) -> (usize, usize, usize) {
        let names = self.by_name.read();
        (names.len(), names.values().map(|backlog| backlog.hints()).sum(), self.claims.len())
    }
}
