//! Replicas that are about to go: they get no hints until that is undone, or for a day.

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use thiserror::Error;

use crate::decision::Roster;
use crate::model::{ReplicaId, Timestamp};

/// How long a replica stays drained, in nanoseconds: what was forgotten must not keep a name from hints for ever.
pub const DRAIN_NS: i64 = 24 * 3_600 * 1_000_000_000;

/// Replicas that are drained at the same time.
pub const MAX_DRAINED: usize = 4_096;

/// A drained replica.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drained {
    /// Which.
    pub replica: ReplicaId,
    /// Since when.
    pub since: Timestamp,
    /// It gets hints again from here on.
    pub until: Timestamp,
}

/// There are as many drained replicas as there may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{MAX_DRAINED} replicas are drained already; undo some of them")]
pub struct TooManyDrained;

/// The drained replicas, by id. Reading them takes no lock.
#[derive(Debug, Default)]
pub struct Drains {
    list: ArcSwap<Vec<Drained>>,
    writing: Mutex<()>,
}

impl Drains {
    /// Drains `replica` from `now` on. One that is drained already is so for another day.
    pub fn drain(&self, replica: &str, now: Timestamp) -> Result<Drained, TooManyDrained> {
        let _writing = self.writing.lock();
        let mut list = self.all(now);
        let until = Timestamp::from_ns(now.as_ns().saturating_add(DRAIN_NS));
        let place = place(&list, replica);
        let at = match place {
            Ok(at) => at,
            Err(_) if list.len() >= MAX_DRAINED => return Err(TooManyDrained),
            Err(at) => {
                list.insert(at, Drained { replica: ReplicaId::from(replica), since: now, until });
                at
            }
        };
        list[at].until = until;
        let drained = list[at].clone();
        self.list.store(Arc::new(list));
        Ok(drained)
    }

    /// Drains what was drained before a restart, each until its own time, which is a day from `now` at most. Those over
    /// the bound are left out.
    pub fn restore(&self, drained: Vec<Drained>, now: Timestamp) {
        let _writing = self.writing.lock();
        let mut list = self.all(now);
        let last = Timestamp::from_ns(now.as_ns().saturating_add(DRAIN_NS));
        for one in drained {
            let one = Drained { until: one.until.min(last), ..one };
            if now >= one.until || list.len() >= MAX_DRAINED {
                continue;
            }
            if let Err(at) = place(&list, one.replica.as_str()) {
                list.insert(at, one);
            }
        }
        self.list.store(Arc::new(list));
    }

    /// Lets `replica` have hints again; whether it was drained.
    pub fn undo(&self, replica: &str, now: Timestamp) -> bool {
        let _writing = self.writing.lock();
        let mut list = self.all(now);
        let found = place(&list, replica).map(|at| list.remove(at));
        self.list.store(Arc::new(list));
        found.is_ok()
    }

    /// What holds for `replica`, where it is drained.
    pub fn get(&self, replica: &str, now: Timestamp) -> Option<Drained> {
        let list = self.list.load();
        let found = place(&list, replica).ok().and_then(|at| list.get(at))?;
        (now < found.until).then(|| found.clone())
    }

    /// All that are drained at `now`, by id.
    pub fn all(&self, now: Timestamp) -> Vec<Drained> {
        self.list.load().iter().filter(|drained| now < drained.until).cloned().collect()
    }

    /// Their places in `roster`, ascending; none where there are none, which costs nothing.
    pub(super) fn among(&self, roster: &Roster, now: Timestamp) -> Option<Vec<u32>> {
        let list = self.list.load();
        if list.is_empty() {
            return None;
        }
        let members = list.iter().filter(|drained| now < drained.until);
        Some(members.filter_map(|drained| roster.member(drained.replica.as_str())).collect())
    }
}

fn place(list: &[Drained], replica: &str) -> Result<usize, usize> {
    list.binary_search_by(|drained| drained.replica.as_str().cmp(replica))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_ns(hours * 3_600 * 1_000_000_000)
    }

    #[test]
    fn a_replica_is_drained_until_undone_or_for_a_day() {
        let drains = Drains::default();
        for replica in ["b", "a", "c"] {
            drains.drain(replica, at(0)).unwrap();
        }
        assert!(drains.undo("c", at(1)) && !drains.undo("c", at(1)));
        let renewed = drains.drain("b", at(10)).unwrap();
        assert_eq!((renewed.since, renewed.until), (at(0), at(34)));
        let names =
            |now| drains.all(now).iter().map(|one| one.replica.as_str().to_owned()).collect::<Vec<_>>();
        assert_eq!(names(at(23)), ["a", "b"]);
        assert_eq!(names(at(24)), ["b"]);
        assert!(drains.get("a", at(24)).is_none() && drains.get("b", at(33)).is_some());
        let roster = Roster::new(["a", "b", "d"].map(ReplicaId::from).to_vec());
        assert_eq!(drains.among(&roster, at(23)), Some(vec![0, 1]));
        assert_eq!(drains.among(&roster, at(24)), Some(vec![1]));
        assert_eq!(Drains::default().among(&roster, at(0)), None);
    }

    #[test]
    fn what_was_drained_before_is_so_until_its_own_time() {
        let saved = |name: &str, until| Drained { replica: ReplicaId::from(name), since: at(0), until };
        let drains = Drains::default();
        drains.drain("b", at(1)).unwrap();
        let before = vec![saved("b", at(5)), saved("a", at(20)), saved("c", at(1)), saved("d", at(999))];
        drains.restore(before, at(1));
        let held: Vec<_> = drains.all(at(1)).iter().map(|one| (one.replica.to_string(), one.until)).collect();
        assert_eq!(held, [("a".to_owned(), at(20)), ("b".to_owned(), at(25)), ("d".to_owned(), at(25))]);
        let many = (0..=MAX_DRAINED).map(|number| saved(&format!("r{number}"), at(9))).collect();
        drains.restore(many, at(2));
        assert_eq!(drains.all(at(2)).len(), MAX_DRAINED);
    }

    #[test]
    fn the_list_is_bounded_and_forgets_what_is_over() {
        let drains = Drains::default();
        for number in 0..MAX_DRAINED {
            drains.drain(&format!("r{number}"), at(0)).unwrap();
        }
        assert_eq!(drains.drain("one-more", at(1)), Err(TooManyDrained));
        assert!(drains.drain("r7", at(1)).is_ok());
        assert!(drains.drain("one-more", at(24)).is_ok());
        assert_eq!(drains.all(at(24)).len(), 2);
    }
}
