//! The result as a JSON document.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::format_duration;
use crate::render::JSON_VERSION;
use crate::render::replay::shares::{Share, share};
use crate::simulate::{BLOCK_TOKENS, Fault, FaultKind, IndexTally, Load, Run, Simulated, Times, Window};

/// The document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SimulatedJson<'a> {
    version: u32,
    trace: &'a str,
    requests: u64,
    asked_tokens: u64,
    fleet: FleetJson<'a>,
    reachable: ReachableJson,
    runs: Vec<RunJson<'a>>,
    warnings: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FleetJson<'a> {
    replicas: usize,
    blocks_per_replica: usize,
    block_tokens: u32,
    prefill_rate: u64,
    prefill_rates: &'a [u64],
    gateways: usize,
    servers: usize,
    split_reports: bool,
    faults: Vec<FaultJson>,
    replica_timeout: String,
    utilisation_percent: Option<u32>,
    publish: &'static str,
    event_delay: String,
    refresh: String,
    warmup: u64,
    seed: u64,
    tenant: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FaultJson {
    engine: usize,
    at: String,
    kind: &'static str,
}

impl From<&Fault> for FaultJson {
    fn from(fault: &Fault) -> Self {
        let kind = match fault.kind {
            FaultKind::Kill => "kill",
            FaultKind::Restart => "restart",
        };
        Self { engine: fault.replica, at: format_duration(fault.at_ns), kind }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReachableJson {
    ideal_share: f64,
    ideal_block_share: f64,
    pooled_share: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunJson<'a> {
    routing: &'static str,
    policy: Option<&'a str>,
    found_tokens: u64,
    found_share: f64,
    prefilled_tokens: u64,
    missed_tokens: u64,
    retried: u64,
    lost: u64,
    spread: f64,
    utilisation: f64,
    ttft: TimesJson,
    answers: Option<AnswersJson>,
    index: Option<IndexJson>,
    engines: Vec<EngineJson<'a>>,
    windows: Vec<WindowJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TimesJson {
    mean_ms: f64,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AnswersJson {
    lookups: u64,
    hints: u64,
    reason_codes: Vec<Share>,
    because: Vec<GateJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GateJson {
    id: &'static str,
    count: u64,
    share: f64,
    asked_tokens: u64,
    found_tokens: u64,
    missed_tokens: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct IndexJson {
    blocks: u64,
    removed: u64,
    expired: u64,
    evicted_cap: u64,
    evicted_quota_keys: u64,
    entries_at_end: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EngineJson<'a> {
    replica_id: &'a str,
    requests: u64,
    asked_tokens: u64,
    found_tokens: u64,
    prefilled_tokens: u64,
    busy_ms: f64,
    wait_ms: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WindowJson {
    from_ms: f64,
    requests: u64,
    asked_tokens: u64,
    found_tokens: u64,
    ttft: TimesJson,
    reason_codes: BTreeMap<&'static str, u64>,
    prefilled_tokens: Vec<u64>,
}

impl<'a> SimulatedJson<'a> {
    pub(super) fn new(result: &'a Simulated) -> Self {
        let settings = &result.settings;
        let reachable = &result.reachable;
        Self {
            version: JSON_VERSION,
            trace: &result.trace,
            requests: result.requests,
            asked_tokens: reachable.asked_tokens,
            fleet: FleetJson {
                replicas: settings.replicas,
                blocks_per_replica: settings.blocks_per_replica,
                block_tokens: BLOCK_TOKENS,
                prefill_rate: settings.prefill_rate,
                prefill_rates: &settings.scenario.prefill_rates,
                gateways: settings.scenario.gateways,
                servers: settings.scenario.servers,
                split_reports: settings.scenario.split_reports,
                faults: settings.scenario.faults.iter().map(FaultJson::from).collect(),
                replica_timeout: format_duration(settings.scenario.replica_timeout_ns),
                utilisation_percent: settings.scenario.utilisation,
                publish: settings.publish.name(),
                event_delay: format_duration(settings.event_delay_ns),
                refresh: format_duration(settings.refresh_ns),
                warmup: settings.warmup,
                seed: settings.seed,
                tenant: &settings.tenant,
            },
            reachable: ReachableJson {
                ideal_share: share(reachable.ideal_tokens, reachable.asked_tokens),
                ideal_block_share: share(reachable.ideal_blocks, reachable.asked_blocks),
                pooled_share: share(reachable.pooled_tokens, reachable.asked_tokens),
            },
            runs: result.runs.iter().map(RunJson::from).collect(),
            warnings: &result.warnings,
        }
    }
}

impl<'a> From<&'a Run> for RunJson<'a> {
    fn from(run: &'a Run) -> Self {
        Self {
            routing: run.routing.name(),
            policy: run.policy.as_deref(),
            found_tokens: run.total.found_tokens,
            found_share: share(run.total.found_tokens, run.total.asked_tokens),
            prefilled_tokens: run.total.prefilled_tokens(),
            missed_tokens: run.missed_tokens,
            retried: run.retried,
            lost: run.lost,
            spread: millionths(run.spread()),
            utilisation: millionths(run.utilisation()),
            ttft: TimesJson::from(&run.ttft),
            answers: run.index.map(|_| AnswersJson::new(run)),
            index: run.index.map(IndexJson::from),
            engines: run.engines.iter().map(EngineJson::from).collect(),
            windows: run.windows.iter().map(WindowJson::from).collect(),
        }
    }
}

impl From<&Times> for TimesJson {
    fn from(times: &Times) -> Self {
        let percentile = |percent| times.percentile_ns(percent) as f64 / 1e6;
        Self {
            mean_ms: millionths(times.mean_ns() / 1e6),
            p50_ms: percentile(50),
            p99_ms: percentile(99),
            max_ms: percentile(100),
        }
    }
}

impl AnswersJson {
    fn new(run: &Run) -> Self {
        let lookups = run.reasons.values().sum();
        let mut reason_codes: Vec<Share> = run
            .reasons
            .iter()
            .map(|(reason, count)| Share { id: reason.code(), count: *count, share: share(*count, lookups) })
            .collect();
        reason_codes.sort_by_key(|entry| std::cmp::Reverse(entry.count));
        let mut because: Vec<GateJson> = run
            .gates
            .iter()
            .map(|(gate, of)| GateJson {
                id: gate.id(),
                count: of.share.requests,
                share: share(of.share.requests, lookups),
                asked_tokens: of.share.asked_tokens,
                found_tokens: of.share.found_tokens,
                missed_tokens: of.missed_tokens,
            })
            .collect();
        because.sort_by_key(|entry| std::cmp::Reverse(entry.count));
        Self { lookups, hints: run.hints, reason_codes, because }
    }
}

impl From<IndexTally> for IndexJson {
    fn from(index: IndexTally) -> Self {
        Self {
            blocks: index.stored_blocks,
            removed: index.removed,
            expired: index.expired,
            evicted_cap: index.evicted_cap,
            evicted_quota_keys: index.evicted_quota_keys,
            entries_at_end: index.entries_at_end,
        }
    }
}

impl<'a> From<&'a Load> for EngineJson<'a> {
    fn from(engine: &'a Load) -> Self {
        Self {
            replica_id: &engine.name,
            requests: engine.share.requests,
            asked_tokens: engine.share.asked_tokens,
            found_tokens: engine.share.found_tokens,
            prefilled_tokens: engine.share.prefilled_tokens(),
            busy_ms: engine.busy_ns as f64 / 1e6,
            wait_ms: engine.wait_ns as f64 / 1e6,
        }
    }
}

impl From<&Window> for WindowJson {
    fn from(window: &Window) -> Self {
        Self {
            from_ms: window.from_ns as f64 / 1e6,
            requests: window.share.requests,
            asked_tokens: window.share.asked_tokens,
            found_tokens: window.share.found_tokens,
            ttft: TimesJson::from(&window.ttft),
            reason_codes: window.reasons.iter().map(|(reason, count)| (reason.code(), *count)).collect(),
            prefilled_tokens: window.prefilled_tokens.clone(),
        }
    }
}

/// To a millionth: what lies beyond is noise of the division.
fn millionths(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
