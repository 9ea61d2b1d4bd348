//! What `icache top` shows of a running server, worked out from what its ports said now and the time before.

use std::collections::BTreeMap;

use crate::doctor::{Answer, ReplicaAge};
use crate::model::Timestamp;
use crate::policy::PolicyView;
use crate::server::SnapshotView;
use crate::telemetry::Page;

const CALLS: &str = "inferencecache_lookup_route_calls_total";
const LATENCY: &str = "inferencecache_lookup_route_latency_seconds";

/// Parts of the lookups whose latency is shown.
pub const LATENCY_SHARES: [(&str, f64); 3] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];

/// What the ports said at one time.
#[derive(Clone, Debug)]
pub struct Seen {
    /// When, by this machine's clock.
    pub at: Timestamp,
    /// The server's clock less this machine's, in nanoseconds.
    pub skew_ns: i64,
    /// The metrics page.
    pub metrics: Answer<Page>,
    /// Replicas and tenants.
    pub snapshot: Answer<SnapshotView>,
    /// Policies in force.
    pub policy: Answer<PolicyView>,
}

/// What is shown at one time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct View {
    /// Where the server is.
    pub url: String,
    /// When, by the server's clock.
    pub at: Timestamp,
    /// Version of the server.
    pub server_version: Option<String>,
    /// Lookups; absent where `/metrics` did not answer.
    pub lookups: Option<Lookups>,
    /// Sizes; absent where `/metrics` did not answer.
    pub index: Option<IndexSize>,
    /// Replicas by id; absent where `/snapshot` did not answer.
    pub replicas: Option<Vec<ReplicaRow>>,
    /// Policies; absent where `/policy` did not answer.
    pub policies: Option<Policies>,
    /// What did not answer, and why.
    pub away: Vec<(&'static str, String)>,
}

/// What was asked and answered.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lookups {
    /// Since the server started.
    pub total: u64,
    /// Since the time before; absent the first time.
    pub per_second: Option<f64>,
    /// Share of answers that name replicas, 0..1, since the time before, or since the start; absent without lookups.
    pub hint_share: Option<f64>,
    /// By reason code, most frequent first.
    pub by_code: Vec<CodeRow>,
    /// Upper bounds in seconds for [`LATENCY_SHARES`], since the time before, or since the start where there were none;
    /// infinite above the last bucket. Empty without lookups.
    pub latency: Vec<f64>,
}

/// Answers with one reason code.
#[derive(Clone, PartialEq, Debug)]
pub struct CodeRow {
    /// The code; empty for calls that ended without an answer.
    pub code: String,
    /// Since the server started.
    pub total: u64,
    /// Since the time before; absent the first time.
    pub per_second: Option<f64>,
    /// Of all since the server started, 0..1.
    pub share: f64,
}

/// How large the index is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IndexSize {
    /// Distinct keys.
    pub keys: u64,
    /// Replica entries.
    pub entries: u64,
    /// By its own count.
    pub memory_bytes: u64,
}

/// One replica of one tenant.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplicaRow {
    /// Who, and when it was last heard of.
    pub age: ReplicaAge,
    /// 0..1; absent where it reports no statistics.
    pub hit_rate: Option<f32>,
    /// 0..1; absent where it reports no statistics.
    pub pressure: Option<f32>,
}

/// Policies in force.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Policies {
    /// Tenants that have a policy or a quota of their own.
    pub namespaces: Vec<String>,
    /// Objects without effect.
    pub inert: usize,
    /// What is wrong with the files, where the last good set is kept.
    pub failed: Option<String>,
}

impl View {
    /// What to show of the server at `url`.
    pub fn of(url: &str, seen: &Seen, before: Option<&Seen>) -> Self {
        let now = Timestamp::from_ns(seen.at.as_ns().saturating_add(seen.skew_ns));
        let page = seen.metrics.as_ref().ok();
        let earlier = before.and_then(|before| Some((before.metrics.as_ref().ok()?, seconds(before, seen)?)));
        let replicas = seen.snapshot.as_ref().ok().map(|snapshot| rows(snapshot, now));
        let faults = [
            ("/metrics", seen.metrics.as_ref().err()),
            ("/snapshot", seen.snapshot.as_ref().err()),
            ("/policy", seen.policy.as_ref().err()),
        ];
        Self {
            url: url.to_owned(),
            at: now,
            server_version: page
                .and_then(|page| page.label("inferencecache_build_info", "version"))
                .map(str::to_owned),
            lookups: page.map(|page| Lookups::of(page, earlier)),
            index: page.map(|page| IndexSize {
                keys: whole(page.sum("inferencecache_index_entries")),
                entries: whole(page.sum("inferencecache_index_replica_entries")),
                memory_bytes: whole(page.sum("inferencecache_index_memory_bytes")),
            }),
            replicas,
            policies: seen.policy.as_ref().ok().map(Policies::of),
            away: faults
                .into_iter()
                .filter_map(|(source, fault)| Some((source, fault?.what.clone())))
                .collect(),
        }
    }

    /// Whether nothing at all has answered.
    pub fn is_away(&self) -> bool {
        self.lookups.is_none() && self.replicas.is_none() && self.policies.is_none()
    }
}

fn seconds(before: &Seen, seen: &Seen) -> Option<f64> {
    let ns = seen.at.as_ns().checked_sub(before.at.as_ns()).filter(|ns| *ns > 0)?;
    Some(ns as f64 / 1e9)
}

fn whole(value: Option<f64>) -> u64 {
    value.unwrap_or_default().max(0.0) as u64
}

fn rows(snapshot: &SnapshotView, now: Timestamp) -> Vec<ReplicaRow> {
    let row = |replica: &crate::server::ReplicaView| ReplicaRow {
        age: ReplicaAge::of(replica, now),
        hit_rate: replica.stats_reported.then_some(replica.hit_rate),
        pressure: replica.stats_reported.then_some(replica.pressure),
    };
    snapshot.replicas.iter().map(row).collect()
}

impl Lookups {
    fn of(page: &Page, earlier: Option<(&Page, f64)>) -> Self {
        let codes = page.by_label(CALLS, "reason_code");
        let total: f64 = codes.values().sum();
        let before: Option<(BTreeMap<String, f64>, f64)> =
            earlier.map(|(page, seconds)| (page.by_label(CALLS, "reason_code"), seconds));
        // A server that began anew counts from 0.
        let grown = |now: f64, before: f64| if before > now { now } else { now - before };
        let rate = |code: &str, now: f64| {
            let (before, seconds) = before.as_ref()?;
            Some(grown(now, before.get(code).copied().unwrap_or_default()) / seconds)
        };
        let mut by_code: Vec<CodeRow> = codes
            .iter()
            .map(|(code, lookups)| CodeRow {
                code: code.clone(),
                total: *lookups as u64,
                per_second: rate(code, *lookups),
                share: if total > 0.0 { lookups / total } else { 0.0 },
            })
            .collect();
        by_code.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.code.cmp(&b.code)));
        let hints = |page: &Page| page.sum_where(CALLS, "hint_used", "true");
        let lately = earlier.and_then(|(before, _)| {
            let asked = grown(total, before.sum(CALLS).unwrap_or_default());
            (asked > 0.0).then(|| grown(hints(page), hints(before)) / asked)
        });
        let quantiles = |before: Option<&Page>| -> Vec<f64> {
            LATENCY_SHARES.iter().filter_map(|(_, share)| page.quantile(LATENCY, *share, before)).collect()
        };
        let recent = earlier.map(|(before, _)| quantiles(Some(before))).filter(|recent| !recent.is_empty());
        Self {
            total: total as u64,
            per_second: earlier.map(|_| by_code.iter().filter_map(|row| row.per_second).sum()),
            hint_share: lately.or_else(|| (total > 0.0).then(|| hints(page) / total)),
            by_code,
            latency: recent.unwrap_or_else(|| quantiles(None)),
        }
    }
}

impl Policies {
    fn of(view: &PolicyView) -> Self {
        let failed = view.last_reload.as_ref().filter(|last| !last.succeeded);
        Self {
            namespaces: view.namespaces.iter().map(|own| own.namespace.clone()).collect(),
            inert: view.inert.len(),
            failed: failed.map(|last| last.problems.first().cloned().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::{Fault, FaultKind};
    use crate::server::ReplicaView;

    fn away<T>() -> Answer<T> {
        Err(Fault { kind: FaultKind::Unreachable, what: "gone".to_owned(), advice: String::new() })
    }

    fn seen(second: i64, page: &str) -> Seen {
        let metrics = Ok(Page::read(page));
        let at = Timestamp::from_us(second * 1_000_000);
        Seen { at, skew_ns: 0, metrics, snapshot: away(), policy: away() }
    }

    fn page(matches: u32, none: u32, fast: u32, slow: u32) -> String {
        format!(
            "{CALLS}{{reason_code=\"PREFIX_MATCH\",hint_used=\"true\"}} {matches}\n\
             {CALLS}{{reason_code=\"NO_HINT\",hint_used=\"false\"}} {none}\n\
             {LATENCY}_bucket{{le=\"0.001\"}} {fast}\n{LATENCY}_bucket{{le=\"+Inf\"}} {slow}\n"
        )
    }

    #[test]
    fn rates_are_those_since_the_time_before() {
        let (first, second) = (seen(10, &page(6, 2, 8, 8)), seen(12, &page(7, 5, 9, 12)));
        let view = View::of("u", &first, None).lookups.unwrap();
        assert_eq!((view.total, view.per_second, view.hint_share), (8, None, Some(0.75)));
        assert_eq!(view.latency, [0.001; 3]);
        let view = View::of("u", &second, Some(&first)).lookups.unwrap();
        assert_eq!((view.total, view.per_second, view.hint_share), (12, Some(2.0), Some(0.25)));
        assert_eq!(view.latency, [f64::INFINITY; 3]);
        let rows: Vec<(&str, u64, Option<f64>)> =
            view.by_code.iter().map(|row| (row.code.as_str(), row.total, row.per_second)).collect();
        assert_eq!(rows, [("PREFIX_MATCH", 7, Some(0.5)), ("NO_HINT", 5, Some(1.5))]);
    }

    #[test]
    fn a_server_that_began_anew_counts_from_nothing() {
        let (first, second) = (seen(10, &page(60, 20, 80, 80)), seen(11, &page(3, 1, 4, 4)));
        let view = View::of("u", &second, Some(&first)).lookups.unwrap();
        assert_eq!((view.per_second, view.hint_share), (Some(4.0), Some(0.75)));
    }

    #[test]
    fn what_does_not_answer_is_said() {
        let mut seen = seen(10, "x 1\n");
        seen.snapshot = Ok(SnapshotView {
            replicas: vec![ReplicaView {
                replica_id: "r".to_owned(),
                last_update: "1970-01-01T00:00:07Z".to_owned(),
                pressure: 0.5,
                ..Default::default()
            }],
            ..Default::default()
        });
        let view = View::of("u", &seen, None);
        assert_eq!(view.away, [("/policy", "gone".to_owned())]);
        assert!(!view.is_away());
        let row = &view.replicas.unwrap()[0];
        assert_eq!((row.age.age_ns, row.pressure), (Some(3_000_000_000), None), "it reports no statistics");
        seen.metrics = away();
        seen.snapshot = away();
        assert!(View::of("u", &seen, None).is_away());
    }
}
