//! What there is, before anything is judged.

use std::collections::BTreeMap;

use super::Observations;
use crate::model::{Timestamp, duration_ns};
use crate::server::ReplicaView;

/// The installation in a few numbers; what could not be asked is absent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Overview {
    /// Where gRPC was asked.
    pub url: String,
    /// Whether it says that it serves.
    pub serving: Option<bool>,
    /// Version and commit of the server.
    pub server_version: Option<(String, String)>,
    /// Version of this program.
    pub version: String,
    /// The server's clock less this machine's, in nanoseconds.
    pub skew_ns: Option<i64>,
    /// Every replica of every tenant with its age, by id.
    pub replicas: Option<Vec<ReplicaAge>>,
    /// Distinct keys.
    pub entries: Option<u64>,
    /// Lookups since the server started, by reason code.
    pub lookups: Option<BTreeMap<String, u64>>,
    /// Policies in force.
    pub policies: Option<u64>,
}

/// When a replica was last heard of.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplicaAge {
    /// Who.
    pub replica: String,
    /// Whose.
    pub tenant: String,
    /// Since its last report or event, in nanoseconds of the server's clock; `None` where the server does not say when.
    pub age_ns: Option<i64>,
    /// Keys that it holds.
    pub prefixes: u64,
}

impl ReplicaAge {
    /// How long ago `replica` was heard of at `now`, the server's time.
    pub fn of(replica: &ReplicaView, now: Timestamp) -> Self {
        Self {
            replica: replica.replica_id.clone(),
            tenant: replica.tenant.clone(),
            age_ns: age(&replica.last_update, now),
            prefixes: replica.prefix_count,
        }
    }
}

/// Nanoseconds from `at`, in RFC 3339, to `now`, never below 0; `None` for what is no time after 1970.
fn age(at: &str, now: Timestamp) -> Option<i64> {
    let at: jiff::Timestamp = at.parse().ok()?;
    let since = std::time::Duration::try_from(at.duration_since(jiff::Timestamp::UNIX_EPOCH)).ok()?;
    Some(now.as_ns().saturating_sub(duration_ns(since)).max(0))
}

impl Overview {
    /// Of what was answered.
    pub fn of(seen: &Observations) -> Self {
        let metrics = seen.metrics.as_ref().ok();
        let snapshot = seen.snapshot.as_ref().ok();
        let skew_ns = seen.skew_ns.as_ref().ok().copied();
        let lookups = metrics.map(|page| {
            let by_code = page.by_label("inferencecache_lookup_route_calls_total", "reason_code");
            by_code.into_iter().map(|(code, lookups)| (code, lookups as u64)).collect()
        });
        let build = |label| metrics.and_then(|page| page.label("inferencecache_build_info", label));
        let server_version = build("version")
            .map(|version| (version.to_owned(), build("commit").unwrap_or("unknown").to_owned()));
        Self {
            url: seen.url.clone(),
            serving: seen.serving.as_ref().ok().copied(),
            server_version,
            version: seen.version.clone(),
            skew_ns,
            replicas: replicas(seen),
            entries: snapshot.map(|snapshot| snapshot.total_prefixes),
            lookups,
            policies: metrics.and_then(|page| page.sum("inferencecache_policies")).map(|count| count as u64),
        }
    }
}

/// Every replica with its age by the server's clock, where `/snapshot` answered.
pub(super) fn replicas(seen: &Observations) -> Option<Vec<ReplicaAge>> {
    let snapshot = seen.snapshot.as_ref().ok()?;
    let skew = seen.skew_ns.as_ref().copied().unwrap_or(0);
    let now = Timestamp::from_ns(seen.now.as_ns().saturating_add(skew));
    Some(snapshot.replicas.iter().map(|replica| ReplicaAge::of(replica, now)).collect())
}
