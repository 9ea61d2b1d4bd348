//! Numbers that table and document share.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::Timestamp;
use crate::replay::ReplayReport;

/// One of several, its count and its part of all.
#[derive(Serialize)]
pub(in crate::render) struct Share {
    pub(in crate::render) id: &'static str,
    pub(in crate::render) count: u64,
    pub(in crate::render) share: f64,
}

/// How long lookups took.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::render) struct Percentiles {
    pub(in crate::render) p50_us: f64,
    pub(in crate::render) p90_us: f64,
    pub(in crate::render) p99_us: f64,
    pub(in crate::render) p999_us: f64,
    pub(in crate::render) max_us: f64,
}

/// Most frequent first; at equal counts in the order of the registry.
fn ranked<K: Copy>(counts: &BTreeMap<K, u64>, total: u64, id: impl Fn(K) -> &'static str) -> Vec<Share> {
    let mut list: Vec<Share> = counts
        .iter()
        .map(|(key, count)| Share { id: id(*key), count: *count, share: share(*count, total) })
        .collect();
    list.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    list
}

pub(in crate::render) fn reasons(report: &ReplayReport) -> Vec<Share> {
    ranked(&report.reasons, report.lookups, |reason| reason.code())
}

pub(in crate::render) fn gates(report: &ReplayReport) -> Vec<Share> {
    ranked(&report.gates, report.lookups, |gate| gate.id())
}

pub(in crate::render) fn timings(report: &ReplayReport) -> Option<Percentiles> {
    let timings = report.timings.as_ref()?;
    Some(Percentiles {
        p50_us: timings.percentile_us(0.5)?,
        p90_us: timings.percentile_us(0.9)?,
        p99_us: timings.percentile_us(0.99)?,
        p999_us: timings.percentile_us(0.999)?,
        max_us: timings.percentile_us(1.0)?,
    })
}

/// 0..1, to a millionth; 0 of nothing.
pub(in crate::render) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    (part as f64 / whole as f64 * 1e6).round() / 1e6
}

pub(in crate::render) fn rfc3339(at: Timestamp) -> String {
    match jiff::Timestamp::from_microsecond(at.as_us()) {
        Ok(time) => time.to_string(),
        Err(_) => format!("{} us", at.as_us()),
    }
}
