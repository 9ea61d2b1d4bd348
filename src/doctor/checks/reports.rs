//! Whether engines tell what they hold.

use super::{count, counted, listed, one};
use crate::doctor::overview::replicas;
use crate::doctor::registry::Found;
use crate::doctor::{Observations, ReplicaAge};
use crate::model::{format_duration, parse_duration};

/// A replica not heard of for longer is silent where the server has no `--replica-timeout`, in nanoseconds: six signs of
/// life of the sidecar.
const SILENT_AFTER_NS: i64 = 30_000_000_000;

const SECOND_NS: i64 = 1_000_000_000;

pub fn nothing_reported(seen: &Observations) -> Found {
    match &seen.snapshot {
        Ok(snapshot) if snapshot.replicas.is_empty() => one(
            "no replica has reported anything".to_owned(),
            "run `icache subscribe` beside every engine, and look at its log and its /metrics; \
             `icache report` sends something by hand",
        ),
        _ => Found::new(),
    }
}

/// After how long a replica is silent.
fn silent_after(seen: &Observations) -> i64 {
    let timeout = seen.setting("replica-timeout").and_then(|value| parse_duration(value.as_str()?).ok());
    timeout.filter(|timeout| *timeout > 0).unwrap_or(SILENT_AFTER_NS)
}

/// Replicas that are silent, longest first, and how many there are in all.
fn silent(seen: &Observations) -> (Vec<ReplicaAge>, usize) {
    let after = silent_after(seen);
    let Some(all) = replicas(seen) else { return (Vec::new(), 0) };
    let number = all.len();
    let mut silent: Vec<ReplicaAge> =
        all.into_iter().filter(|replica| replica.age_ns.is_some_and(|age| age > after)).collect();
    silent.sort_by_key(|replica| std::cmp::Reverse(replica.age_ns));
    (silent, number)
}

fn shown(age_ns: Option<i64>) -> String {
    format_duration(age_ns.unwrap_or_default() / SECOND_NS * SECOND_NS)
}

pub fn all_silent(seen: &Observations) -> Found {
    let (silent, all) = silent(seen);
    let Some(last) = silent.last().filter(|_| silent.len() == all) else { return Found::new() };
    one(
        format!(
            "none of {} has been heard of for {}; the last one was `{}`",
            counted(all as u64, "replica"),
            shown(last.age_ns),
            last.replica
        ),
        "check that the sidecars run and reach the server: their logs say so, and `icache_subscribe_server_connected` of their \
         /metrics is 1 where they do",
    )
}

pub fn replica_silent(seen: &Observations) -> Found {
    let (silent, all) = silent(seen);
    if silent.is_empty() || silent.len() == all {
        return Found::new();
    }
    let longest = silent.first().map(|replica| shown(replica.age_ns)).unwrap_or_default();
    one(
        format!(
            "{} of {} have not been heard of for more than {}, the longest for {longest}: {}",
            silent.len(),
            counted(all as u64, "replica"),
            format_duration(silent_after(seen)),
            listed(silent.iter().map(|replica| replica.replica.as_str()))
        ),
        "look at the engines and their sidecars; what is gone for good leaves with its time to live, or at once with \
         `icache event --type all-cleared`",
    )
}

pub fn no_statistics(seen: &Observations) -> Found {
    let Ok(snapshot) = &seen.snapshot else { return Found::new() };
    let without: Vec<&str> = snapshot
        .replicas
        .iter()
        .filter(|replica| !replica.stats_reported)
        .map(|replica| replica.replica_id.as_str())
        .collect();
    if without.is_empty() {
        return Found::new();
    }
    one(
        format!(
            "{} of {} report no statistics: {}",
            without.len(),
            counted(snapshot.replicas.len() as u64, "replica"),
            listed(without.into_iter())
        ),
        "give the sidecar the engine's metrics with `--metrics-url`; without them pressure does not count, and no \
         TENANT_HOT hint is given",
    )
}

pub fn reports_dropped(seen: &Observations) -> Found {
    let Ok(page) = &seen.metrics else { return Found::new() };
    let dropped = count(page, "inferencecache_ingest_dropped_total");
    if dropped == 0 {
        return Found::new();
    }
    let by_cause = page.by_label("inferencecache_ingest_dropped_total", "cause");
    let causes: Vec<&str> =
        by_cause.iter().filter(|(_, dropped)| **dropped > 0.0).map(|(cause, _)| cause.as_str()).collect();
    one(
        format!(
            "{} of reports and events were dropped since the server started: {}",
            counted(dropped, "part"),
            listed(causes.into_iter())
        ),
        "the server's log names the replica and the cause, once a minute for each",
    )
}

pub fn replicas_drained(seen: &Observations) -> Found {
    let Ok(page) = &seen.metrics else { return Found::new() };
    let drained = count(page, "inferencecache_drained_replicas");
    if drained == 0 {
        return Found::new();
    }
    one(
        match drained {
            1 => "1 replica is drained and gets no hints".to_owned(),
            drained => format!("{drained} replicas are drained and get no hints"),
        },
        "`icache drain REPLICA --undo` lets one have hints again; after a day it has them anyway",
    )
}
