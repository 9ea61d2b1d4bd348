//! The report as a JSON document.

use std::collections::BTreeMap;

use serde::Serialize;

use super::shares::{Percentiles, Share, gates, reasons, rfc3339, share, timings};
use crate::model::Timestamp;
use crate::render::JSON_VERSION;
use crate::replay::{Bucket, Mismatch, Pace, ReplayReport, Timeline};

/// The document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReplayJson<'a> {
    version: u32,
    captures: u64,
    /// RFC 3339.
    first_record: Option<String>,
    last_record: Option<String>,
    records: &'a BTreeMap<&'static str, u64>,
    unknown_kinds: &'a BTreeMap<String, u64>,
    unknown_records: u64,
    bad_lines: u64,
    torn_captures: u64,
    policies_overridden: u64,
    index: Option<IndexJson>,
    events: &'a BTreeMap<&'static str, u64>,
    dropped: Vec<DroppedJson>,
    engine_restarts: u64,
    engine_duplicates: u64,
    lookups: u64,
    hints: u64,
    hint_share: f64,
    asked_tokens: u64,
    matched_tokens: u64,
    matched_share: f64,
    reason_codes: Vec<Share>,
    because: Vec<Share>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<CheckJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timings: Option<Percentiles>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pace: Option<PaceJson>,
    timeline: TimelineJson,
    warnings: &'a [String],
    more_warnings: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct IndexJson {
    blocks: u64,
    removed: u64,
    sweeps: u64,
    expired: u64,
    evicted_cap: u64,
    evicted_quota_keys: u64,
    entries_at_end: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PaceJson {
    speed: Option<f64>,
    elapsed_seconds: f64,
    greatest_lag_seconds: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TimelineJson {
    bucket_seconds: f64,
    buckets: Vec<BucketJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BucketJson {
    begin: String,
    records: u64,
    lookups: u64,
    hints: u64,
    asked_tokens: u64,
    matched_tokens: u64,
    reason_codes: BTreeMap<&'static str, u64>,
    mismatched: u64,
    blocks: u64,
    dropped: u64,
    entries: Option<u64>,
}

#[derive(Serialize)]
struct DroppedJson {
    by: &'static str,
    cause: &'static str,
    count: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckJson<'a> {
    compared: u64,
    mismatched: u64,
    not_comparable: u64,
    mismatches: Vec<MismatchJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MismatchJson<'a> {
    file: &'a str,
    line: u64,
    tenant_id: &'a str,
    model_id: &'a str,
    hash_scheme: &'a str,
    adapter_id: &'a str,
    field: &'a str,
    expected: &'a str,
    got: &'a str,
    expected_answer: &'a str,
    got_answer: &'a str,
    because: Option<&'static str>,
}

impl<'a> ReplayJson<'a> {
    pub(super) fn new(report: &'a ReplayReport, is_check: bool) -> Self {
        let dropped =
            report.dropped.iter().map(|((by, cause), count)| DroppedJson { by, cause, count: *count });
        Self {
            version: JSON_VERSION,
            captures: report.files,
            first_record: report.span.map(|(first, _)| rfc3339(first)),
            last_record: report.span.map(|(_, last)| rfc3339(last)),
            records: &report.records,
            unknown_kinds: &report.unknown_kinds,
            unknown_records: report.unknown_records,
            bad_lines: report.bad_lines,
            torn_captures: report.torn,
            policies_overridden: report.policies_overridden,
            index: report.pace.is_none().then_some(IndexJson {
                blocks: report.blocks,
                removed: report.removed,
                sweeps: report.sweeps,
                expired: report.expired,
                evicted_cap: report.evicted_cap,
                evicted_quota_keys: report.evicted_quota_keys,
                entries_at_end: report.entries_at_end,
            }),
            events: &report.events,
            dropped: dropped.collect(),
            engine_restarts: report.engine_restarts,
            engine_duplicates: report.engine_duplicates,
            lookups: report.lookups,
            hints: report.hints,
            hint_share: share(report.hints, report.lookups),
            asked_tokens: report.asked_tokens,
            matched_tokens: report.matched_tokens,
            matched_share: share(report.matched_tokens, report.asked_tokens),
            reason_codes: reasons(report),
            because: gates(report),
            check: is_check.then(|| CheckJson {
                compared: report.checked,
                mismatched: report.mismatched,
                not_comparable: report.not_comparable,
                mismatches: report.mismatches.iter().map(MismatchJson::from).collect(),
            }),
            timings: timings(report),
            pace: report.pace.as_ref().map(PaceJson::from),
            timeline: TimelineJson::from(&report.timeline),
            warnings: &report.warnings,
            more_warnings: report.more_warnings,
        }
    }
}

impl From<&Pace> for PaceJson {
    fn from(pace: &Pace) -> Self {
        Self {
            speed: pace.speed,
            elapsed_seconds: pace.elapsed.as_secs_f64(),
            greatest_lag_seconds: pace.greatest_lag.as_secs_f64(),
        }
    }
}

impl From<&Timeline> for TimelineJson {
    fn from(timeline: &Timeline) -> Self {
        let bucket = |(begin, bucket): (Timestamp, &Bucket)| BucketJson {
            begin: rfc3339(begin),
            records: bucket.records,
            lookups: bucket.lookups,
            hints: bucket.hints,
            asked_tokens: bucket.asked_tokens,
            matched_tokens: bucket.matched_tokens,
            reason_codes: bucket.reasons.iter().map(|(reason, count)| (reason.code(), *count)).collect(),
            mismatched: bucket.mismatched,
            blocks: bucket.blocks,
            dropped: bucket.dropped,
            entries: bucket.entries,
        };
        Self {
            bucket_seconds: timeline.width_ns() as f64 / 1e9,
            buckets: timeline.buckets().map(bucket).collect(),
        }
    }
}

impl<'a> From<&'a Mismatch> for MismatchJson<'a> {
    fn from(mismatch: &'a Mismatch) -> Self {
        let [tenant_id, model_id, hash_scheme, adapter_id] = &mismatch.keys;
        Self {
            file: &mismatch.file,
            line: mismatch.line,
            tenant_id,
            model_id,
            hash_scheme,
            adapter_id,
            field: &mismatch.difference.field,
            expected: &mismatch.difference.expected,
            got: &mismatch.difference.got,
            expected_answer: &mismatch.expected,
            got_answer: &mismatch.got,
            because: mismatch.because,
        }
    }
}
