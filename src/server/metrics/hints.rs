//! Where hints send requests: how many to each replica, and how unevenly of late.
//!
//! A ranking that follows the cache can end with one replica that gets everything, since who gets nothing holds nothing.
//! Nothing else on the page tells: every lookup has a hint, and it matches.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hashbrown::HashMap;
use parking_lot::Mutex;
use prometheus::{Gauge, GaugeVec, IntCounterVec, Opts, Registry};

use super::build::{built, counter};
use super::{Metric, Metrics};
use crate::decision::Decision;
use crate::model::{ReplicaId, Timestamp};
use crate::server::series::Series;

/// Hints of a model below which their distribution says nothing.
const TELLING: u64 = 20;
/// Nanoseconds of one part of what is looked back on.
const PART_NS: i64 = 30_000_000_000;
/// Parts that are looked back on, the running one included: five minutes.
const PARTS: i64 = 10;
/// Pairs of model and replica in one part at most; the hints of further ones are not looked back on.
const MAX_PAIRS: usize = 16_384;

/// What is shown of hints.
pub(super) struct HintMetrics {
    total: IntCounterVec,
    concentration: Gauge,
    replicas: Series,
    recent: Mutex<Recent>,
}

/// Hints of the last five minutes.
#[derive(Debug, Default)]
struct Recent {
    parts: VecDeque<Part>,
}

#[derive(Debug, Default)]
struct Part {
    number: i64,
    by_model: HashMap<Box<str>, HashMap<ReplicaId, u64>>,
    pairs: usize,
}

impl Recent {
    fn count(&mut self, model: &str, replica: &ReplicaId, now: Timestamp) {
        let number = now.as_ns() / PART_NS;
        if self.parts.back().is_none_or(|part| part.number < number) {
            self.parts.push_back(Part { number, ..Part::default() });
            self.forget_before(number - PARTS + 1);
        }
        // A clock that goes back counts into the last part.
        let Some(part) = self.parts.back_mut() else { return };
        let known = part.by_model.get_mut(model).and_then(|replicas| replicas.get_mut(replica));
        if let Some(count) = known {
            *count += 1;
        } else if part.pairs < MAX_PAIRS {
            part.pairs += 1;
            part.by_model.entry(model.into()).or_default().insert(replica.clone(), 1);
        }
    }

    fn forget_before(&mut self, number: i64) {
        while self.parts.front().is_some_and(|part| part.number < number) {
            self.parts.pop_front();
        }
    }

    /// The largest number of hints of a replica over the mean of the replicas of its model, which are those that were
    /// hinted and those of `live`; of the model where that is highest. 0 where no model has enough hints.
    fn concentration(&mut self, live: &BTreeMap<String, BTreeSet<ReplicaId>>, now: Timestamp) -> f64 {
        self.forget_before(now.as_ns() / PART_NS - PARTS + 1);
        let mut sums: BTreeMap<&str, BTreeMap<&ReplicaId, u64>> = BTreeMap::new();
        for (model, replicas) in self.parts.iter().flat_map(|part| &part.by_model) {
            let of_model = sums.entry(model).or_default();
            replicas.iter().for_each(|(replica, hints)| *of_model.entry(replica).or_default() += hints);
        }
        let of_model = sums.iter().filter_map(|(model, hints)| {
            let all: u64 = hints.values().sum();
            let most = hints.values().max().filter(|_| all >= TELLING)?;
            let unhinted = live
                .get(*model)
                .map_or(0, |live| live.iter().filter(|replica| !hints.contains_key(replica)).count());
            Some(*most as f64 * (hints.len() + unhinted) as f64 / all as f64)
        });
        of_model.fold(0.0, f64::max)
    }
}

impl HintMetrics {
    /// At most `max_series` replicas have a counter of their own.
    pub(super) fn new(registry: &Registry, max_series: usize) -> Self {
        let info = Metric::HintConcentration.info();
        let gauge = built(registry, GaugeVec::new(Opts::new(info.name, info.help), info.labels));
        Self {
            total: counter(registry, Metric::Hints),
            concentration: gauge.with_label_values::<&str>(&[]),
            replicas: Series::new(max_series),
            recent: Mutex::default(),
        }
    }
}

impl Metrics {
    /// The replica that an answer tells the gateway to use.
    pub(super) fn observe_hint(&self, model: &str, decision: &Decision, now: Timestamp) {
        let Some(first) = decision.hints().next() else { return };
        let hints = &self.hints;
        hints.replicas.admit(first.replica.as_str());
        hints.total.with_label_values(&[hints.replicas.label(first.replica.as_str())]).inc();
        hints.recent.lock().count(model, first.replica, now);
    }

    /// Sets what is read off the hints of late; `live` are the replicas of each model that live.
    pub(super) fn set_concentration(&self, live: &BTreeMap<String, BTreeSet<ReplicaId>>, now: Timestamp) {
        self.hints.concentration.set(self.hints.recent.lock().concentration(live, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_ns(1_754_611_200_000_000_000 + seconds * 1_000_000_000)
    }

    fn live(model: &str, replicas: &[&str]) -> BTreeMap<String, BTreeSet<ReplicaId>> {
        [(model.to_owned(), replicas.iter().map(|id| ReplicaId::from(*id)).collect())].into()
    }

    fn hints(recent: &mut Recent, model: &str, replica: &str, count: u64, now: Timestamp) {
        (0..count).for_each(|_| recent.count(model, &ReplicaId::from(replica), now));
    }

    #[test]
    fn the_largest_share_over_the_mean_of_the_model_where_it_is_highest() {
        let mut recent = Recent::default();
        hints(&mut recent, "m", "a", 19, at(0));
        assert_eq!(recent.concentration(&live("m", &["a", "b", "c", "d"]), at(1)), 0.0, "too few to tell");
        hints(&mut recent, "m", "a", 1, at(1));
        // Those that live and get nothing count as much as those that get something.
        assert_eq!(recent.concentration(&live("m", &["a", "b", "c", "d"]), at(1)), 4.0);
        assert_eq!(recent.concentration(&live("n", &["a", "b", "c", "d"]), at(1)), 1.0);
        hints(&mut recent, "m", "b", 20, at(2));
        assert_eq!(recent.concentration(&live("m", &["a", "b", "c", "d"]), at(2)), 2.0);
        hints(&mut recent, "n", "x", 60, at(3));
        hints(&mut recent, "n", "y", 20, at(3));
        assert_eq!(recent.concentration(&live("n", &["z"]), at(3)), 60.0 * 3.0 / 80.0);
    }

    #[test]
    fn what_is_older_than_five_minutes_does_not_count() {
        let mut recent = Recent::default();
        hints(&mut recent, "m", "a", 20, at(0));
        hints(&mut recent, "m", "b", 20, at(60));
        let live = live("m", &["a", "b"]);
        assert_eq!(recent.concentration(&live, at(260)), 1.0);
        assert_eq!(recent.concentration(&live, at(330)), 2.0, "only `b` is left");
        assert_eq!(recent.concentration(&live, at(400)), 0.0);
        assert_eq!(recent.parts.len(), 0);
    }

    #[test]
    fn pairs_over_the_bound_are_not_looked_back_on() {
        let mut recent = Recent::default();
        for number in 0..=MAX_PAIRS {
            hints(&mut recent, "m", &format!("r{number}"), 1, at(0));
        }
        assert_eq!((recent.parts[0].pairs, recent.parts[0].by_model["m"].len()), (MAX_PAIRS, MAX_PAIRS));
        hints(&mut recent, "m", "r0", 1, at(0));
        assert_eq!(recent.parts[0].by_model["m"][&ReplicaId::from("r0")], 2);
    }
}
