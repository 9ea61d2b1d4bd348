//! Metrics: one table of what there is, and the observations that fill it.

mod build;
mod hints;
mod policies;
mod sample;
mod security;
mod sizes;
mod state;
mod traces;
mod zeroes;

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use prometheus::{HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Registry, TextEncoder};

pub(super) use self::sample::Sample;
pub(super) use self::security::{AuthResult, Credentials, Denial, Endpoint, TlsFailure};
pub(super) use self::traces::SpanLoss;

use self::build::{algorithm, counter, gauge, histogram, register_process};
use self::hints::HintMetrics;
use self::policies::PolicyGauges;
use self::sample::sample;
use self::security::SecurityMetrics;
pub(super) use self::sizes::Sizes;
use self::state::StateMetrics;
use self::traces::TraceMetrics;
use super::connections::Port;
use super::door::Arrival;
use super::series::Series;
use crate::decision::{Cause, Decision, GateId, Reason};
use crate::index::{Applied, DropCause, EventApplied, Swept};
use crate::model::{EventKind, Eviction, StateUpdate, Timestamp};

/// Kind of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricKind {
    /// Only grows.
    Counter,
    /// A value at an instant.
    Gauge,
    /// A distribution.
    Histogram,
}

/// One metric.
#[derive(Debug)]
pub struct MetricInfo {
    /// Name on the page.
    pub name: &'static str,
    /// Kind.
    pub kind: MetricKind,
    /// Label names.
    pub labels: &'static [&'static str],
    /// One line.
    pub help: &'static str,
}

macro_rules! metrics {
    ($($variant:ident $name:literal $kind:ident $labels:expr, $help:literal;)*) => {
        /// A metric of the server.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Metric {
            $(#[doc = $help] $variant,)*
        }

        /// Every metric, in the order of [`Metric`].
        pub static METRICS: &[MetricInfo] = &[$(MetricInfo {
            name: concat!("inferencecache_", $name),
            kind: MetricKind::$kind,
            labels: &$labels,
            help: $help,
        },)*];
    };
}

metrics! {
    ServerUp "server_up" Gauge [],
        "1 while serving";
    BuildInfo "build_info" Gauge ["version", "commit"],
        "1; the labels say what is running";
    IndexEntries "index_entries" Gauge ["model"],
        "distinct keys; 0 once a model has drained";
    IndexReplicaEntries "index_replica_entries" Gauge [],
        "replica entries: a key counts once for each replica that holds it";
    IndexMemoryBytes "index_memory_bytes" Gauge [],
        "bytes of the index, by its own count";
    IndexReplicas "index_replicas" Gauge ["model"],
        "replicas with at least one entry";
    IndexSilentReplicas "index_silent_replicas" Gauge ["model"],
        "of these, the replicas not heard of for longer than --replica-timeout, or than 30 s where that is off";
    LookupRouteCalls "lookup_route_calls_total" Counter ["model", "reason_code", "hint_used"],
        "LookupRoute calls and lookups of FastLookup streams; hint_used is true where the answer names replicas";
    LookupRouteLatency "lookup_route_latency_seconds" Histogram ["model"],
        "time from the arrival of a LookupRoute call, or of a request of a FastLookup stream, to its answer";
    Shed "shed_total" Counter [],
        "lookups answered NO_HINT because too many were in flight";
    OverLimit "over_limit_total" Counter [],
        "lookups answered NO_HINT because an id, hash or list of the request was over its limit";
    IngestBlocks "ingest_blocks_total" Counter [],
        "blocks stored or refreshed";
    IngestDropped "ingest_dropped_total" Counter ["cause"],
        "updates, prefix entries and events dropped";
    Events "events_total" Counter ["type"],
        "events published to this server";
    TenantEvictions "tenant_evictions_total" Counter ["tenant_id", "reason"],
        "distinct keys evicted for the quota of their tenant";
    IndexEvictions "index_evictions_total" Counter ["algorithm", "reason"],
        "replica entries evicted: over the cap, or at the end of their time to live";
    ObserverMissed "observer_missed_total" Counter ["feed"],
        "events, rounds of metrics and records that observers missed because they read too slowly";
    PolicyReloadSuccess "policy_reload_success" Gauge [],
        "1 where what the policy files say is in force, 0 where the last good set is kept in its place";
    PolicyReloadTimestamp "policy_reload_timestamp_seconds" Gauge [],
        "when policies were last put in force, from files or by a push, in seconds since 1970";
    Policies "policies" Gauge [],
        "policies in force, those of files and those pushed";
    MessageTooLarge "message_too_large_total" Counter [],
        "calls answered RESOURCE_EXHAUSTED because a message was over its limit";
    DrainedReplicas "drained_replicas" Gauge [],
        "replicas that get no hints because they are drained";
    GrpcTlsEnabled "server_grpc_tls_enabled" Gauge [],
        "1 where gRPC speaks TLS";
    CertificateExpiry "tls_certificate_expiry_timestamp_seconds" Gauge [],
        "when the certificate in force ends, in seconds since 1970";
    CredentialsReloadSuccess "credentials_reload_success" Gauge ["kind"],
        "1 where what the files say is in force, 0 where what they said before is kept in its place";
    TlsFailures "tls_failures_total" Counter ["cause"],
        "TLS handshakes that failed";
    GrpcDenied "grpc_denied_total" Counter ["result"],
        "gRPC calls refused: the caller is not known, or may not do this";
    SnapshotAuth "snapshot_auth_total" Counter ["result"],
        "requests for /snapshot, by how the access was judged";
    PolicyAuth "policy_auth_total" Counter ["result"],
        "requests for /policy, by how the access was judged";
    ProbeAuth "probe_auth_total" Counter ["result"],
        "requests for /probe, by how the access was judged";
    ConfigAuth "config_auth_total" Counter ["result"],
        "requests for /config, by how the access was judged";
    DrainAuth "drain_auth_total" Counter ["result"],
        "requests for /drain, by how the access was judged";
    TraceSpansSent "trace_spans_sent_total" Counter [],
        "spans of calls that the collector of --otlp-endpoint took";
    TraceSpansDropped "trace_spans_dropped_total" Counter ["cause"],
        "spans of calls that were dropped: the queue was full, or the collector did not take them";
    StateSaveDuration "state_save_duration_seconds" Histogram [],
        "time that saving the state took, from reading it to having it on the disk";
    StateSaveSuccess "state_save_success" Gauge [],
        "1 where the state was saved the last time that it was to be, 0 where that failed";
    StateSaveTimestamp "state_save_timestamp_seconds" Gauge [],
        "when the state that is saved was read, in seconds since 1970; 0 where there is none";
    StateSaveFailures "state_save_failures_total" Counter [],
        "times that the state could not be saved";
    StateLoadedEntries "state_loaded_entries" Gauge [],
        "replica entries that the index held after the state was loaded at the start";
    Connections "connections" Gauge ["port"],
        "connections that are open";
    ConnectionsRefused "connections_refused_total" Counter ["port"],
        "connections closed at once because --max-connections were open on that port";
    UnknownAuth "unknown_auth_total" Counter ["result"],
        "requests for /unknown, by how the access was judged";
    Hints "hints_total" Counter ["replica"],
        "answers whose first replica is this one";
    HintConcentration "hint_concentration" Gauge [],
        "most hints of a replica over the mean of the live replicas of its model, in the last five minutes, of the model where that is highest; 1 is even, 0 is too few hints to tell";
}

impl Metric {
    /// The table's entry.
    pub fn info(self) -> &'static MetricInfo {
        &METRICS[self as usize]
    }
}

/// Seconds.
const LATENCY_BUCKETS: [f64; 13] =
    [10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3];

const EVENT_KINDS: [EventKind; 5] = [
    EventKind::PrefixAdded,
    EventKind::PrefixEvicted,
    EventKind::ReplicaUpdated,
    EventKind::AllCleared,
    EventKind::Unknown,
];

/// The values.
pub(super) struct Metrics {
    registry: Registry,
    models: Series,
    tenants: Series,
    index_entries: IntGaugeVec,
    index_replica_entries: IntGaugeVec,
    index_memory_bytes: IntGaugeVec,
    index_replicas: IntGaugeVec,
    index_silent_replicas: IntGaugeVec,
    lookup_route_calls: IntCounterVec,
    lookup_route_latency: HistogramVec,
    shed: IntCounterVec,
    over_limit: IntCounterVec,
    ingest_blocks: IntCounterVec,
    ingest_dropped: IntCounterVec,
    events: IntCounterVec,
    tenant_evictions: IntCounterVec,
    index_evictions: IntCounterVec,
    observer_missed: IntCounterVec,
    policies: PolicyGauges,
    security: SecurityMetrics,
    state: StateMetrics,
    traces: TraceMetrics,
    connections: IntGaugeVec,
    connections_refused: IntCounterVec,
    message_too_large: IntCounterVec,
    drained_replicas: IntGaugeVec,
    hints: HintMetrics,
    /// Held while the gauges are set and read, so that two readers do not mix.
    reading: Mutex<()>,
}

impl Metrics {
    /// All at zero; at most `max_series` models and as many tenants are told apart.
    pub(super) fn new(max_series: usize) -> Self {
        let registry = Registry::new();
        let metrics = Self {
            models: Series::new(max_series),
            tenants: Series::new(max_series),
            index_entries: gauge(&registry, Metric::IndexEntries),
            index_replica_entries: gauge(&registry, Metric::IndexReplicaEntries),
            index_memory_bytes: gauge(&registry, Metric::IndexMemoryBytes),
            index_replicas: gauge(&registry, Metric::IndexReplicas),
            index_silent_replicas: gauge(&registry, Metric::IndexSilentReplicas),
            lookup_route_calls: counter(&registry, Metric::LookupRouteCalls),
            lookup_route_latency: histogram(&registry, Metric::LookupRouteLatency),
            shed: counter(&registry, Metric::Shed),
            over_limit: counter(&registry, Metric::OverLimit),
            ingest_blocks: counter(&registry, Metric::IngestBlocks),
            ingest_dropped: counter(&registry, Metric::IngestDropped),
            events: counter(&registry, Metric::Events),
            tenant_evictions: counter(&registry, Metric::TenantEvictions),
            index_evictions: counter(&registry, Metric::IndexEvictions),
            observer_missed: counter(&registry, Metric::ObserverMissed),
            policies: PolicyGauges::new(&registry),
            security: SecurityMetrics::new(&registry),
            state: StateMetrics::new(&registry),
            traces: TraceMetrics::new(&registry),
            connections: gauge(&registry, Metric::Connections),
            connections_refused: counter(&registry, Metric::ConnectionsRefused),
            message_too_large: counter(&registry, Metric::MessageTooLarge),
            drained_replicas: gauge(&registry, Metric::DrainedReplicas),
            hints: HintMetrics::new(&registry, max_series),
            reading: Mutex::new(()),
            registry,
        };
        register_process(&metrics.registry);
        gauge(&metrics.registry, Metric::ServerUp).with_label_values::<&str>(&[]).set(1);
        gauge(&metrics.registry, Metric::BuildInfo)
            .with_label_values(&[env!("CARGO_PKG_VERSION"), env!("ICACHE_COMMIT")])
            .set(1);
        metrics.show_zeroes();
        metrics
    }

    /// Lets these models label metrics.
    pub(super) fn admit_models<'a>(&self, models: impl IntoIterator<Item = &'a String>) {
        for model in models {
            self.models.admit(model);
        }
    }

    /// What became of an update; `dropped` counts its parts that were dropped anywhere.
    pub(super) fn observe_update(
        &self,
        update: &StateUpdate<'_>,
        applied: &Applied,
        dropped: &BTreeMap<DropCause, u64>,
    ) {
        if applied.blocks > 0 {
            self.models.admit(update.model);
            self.ingest_blocks.with_label_values::<&str>(&[]).inc_by(applied.blocks);
        }
        for (cause, count) in dropped {
            self.ingest_dropped.with_label_values(&[cause.label()]).inc_by(*count);
        }
        let evicted = &applied.evicted;
        self.observe_evictions(Eviction::Lru, "cap", evicted.cap_lru);
        self.observe_evictions(Eviction::Lfu, "cap", evicted.cap_lfu);
        self.observe_quota_evictions(update.tenant, evicted.quota_keys);
    }

    /// Distinct keys that went for the quota of their tenant.
    pub(super) fn observe_quota_evictions(&self, tenant: &str, keys: u64) {
        if keys > 0 {
            self.tenants.admit(tenant);
            self.tenant_evictions
                .with_label_values(&[self.tenants.label(tenant), "over_entries"])
                .inc_by(keys);
        }
    }

    /// What became of an event.
    pub(super) fn observe_event(&self, kind: EventKind, applied: &EventApplied) {
        self.events.with_label_values(&[kind.label()]).inc();
        if let Some(cause) = applied.dropped {
            self.ingest_dropped.with_label_values(&[cause.label()]).inc();
        }
    }

    /// An observer of `feed` was too slow for so many items.
    pub(super) fn observe_missed(&self, feed: &str, items: u64) {
        self.observer_missed.with_label_values(&[feed]).inc_by(items);
    }

    /// What a sweep removed.
    pub(super) fn observe_sweep(&self, swept: &Swept) {
        self.observe_evictions(Eviction::Lru, "ttl", swept.expired_lru);
        self.observe_evictions(Eviction::Lfu, "ttl", swept.expired_lfu);
    }

    fn observe_evictions(&self, eviction: Eviction, reason: &str, entries: u64) {
        if entries > 0 {
            self.index_evictions.with_label_values(&[algorithm(eviction), reason]).inc_by(entries);
        }
    }

    /// A message was over its limit.
    pub(super) fn observe_large_message(&self) {
        self.message_too_large.with_label_values::<&str>(&[]).inc();
    }

    /// Open connections of a port, to count up and down.
    pub(super) fn connections(&self, port: Port) -> IntGauge {
        self.connections.with_label_values(&[port.label()])
    }

    /// A connection was closed at once because there were too many.
    pub(super) fn observe_refused_connection(&self, port: Port) {
        self.connections_refused.with_label_values(&[port.label()]).inc();
    }

    /// This many replicas are drained.
    pub(super) fn observe_drained(&self, replicas: usize) {
        self.drained_replicas.with_label_values::<&str>(&[]).set(whole(replicas as u64));
    }

    /// The page in the classic text format.
    pub(super) fn render(&self, sizes: &Sizes) -> String {
        let _reading = self.reading.lock();
        self.set_gauges(sizes);
        TextEncoder::new().encode_to_string(&self.registry.gather()).unwrap_or_else(|error| {
            tracing::error!(%error, "the metrics page could not be written");
            String::new()
        })
    }

    /// All samples of the metrics named, or of all. A histogram gives its buckets, sum and count.
    pub(super) fn samples(&self, sizes: &Sizes, names: Option<&[&str]>) -> Vec<Sample> {
        let _reading = self.reading.lock();
        self.set_gauges(sizes);
        let mut samples = Vec::new();
        for family in self.registry.gather() {
            let name = family.name();
            if names.is_some_and(|names| !names.contains(&name)) {
                continue;
            }
            for metric in family.get_metric() {
                let labels: Vec<(String, String)> = metric
                    .get_label()
                    .iter()
                    .map(|label| (label.name().to_owned(), label.value().to_owned()))
                    .collect();
                sample(name, family.get_field_type(), metric, &labels, &mut samples);
            }
        }
        samples
    }
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// One LookupRoute call, counted once when it ends, however it ends.
pub(super) struct LookupRecord<'a> {
    metrics: &'a Arc<Metrics>,
    model: &'a str,
    arrival: &'a Arrival,
    /// Reason, and whether the answer names replicas; none where the call ended without an answer.
    answer: Option<(Reason, bool)>,
}

impl<'a> LookupRecord<'a> {
    pub(super) fn new(metrics: &'a Arc<Metrics>, model: &'a str, arrival: &'a Arrival) -> Self {
        Self { metrics, model, arrival, answer: None }
    }

    /// The answer that the call gets.
    pub(super) fn decide(&mut self, decision: &Decision) {
        self.answer = Some((decision.reason, decision.hints().next().is_some()));
        self.metrics.observe_hint(self.model, decision, Timestamp::now());
        if let Some(traced) = self.arrival.traced() {
            traced.decide(self.metrics.models.label(self.model), decision);
        }
        let is_over = |cause| matches!(cause, Some(Cause::TooManyTokens | Cause::PromptTooLong));
        match decision.decided_by {
            GateId::LoadShed => self.metrics.shed.with_label_values::<&str>(&[]).inc(),
            GateId::OverLimit => self.metrics.over_limit.with_label_values::<&str>(&[]).inc(),
            // The lists that are tokens or text are looked at where the input is chosen.
            GateId::ResolveInput if decision.steps.iter().any(|step| is_over(step.cause)) => {
                self.metrics.over_limit.with_label_values::<&str>(&[]).inc();
            }
            _ => {}
        }
    }
}

impl Drop for LookupRecord<'_> {
    fn drop(&mut self) {
        let model = self.metrics.models.label(self.model);
        let (code, has_hints) = self.answer.map_or(("", false), |(reason, hints)| (reason.code(), hints));
        let hint_used = if has_hints { "true" } else { "false" };
        self.metrics.lookup_route_calls.with_label_values(&[model, code, hint_used]).inc();
        let seconds = self.arrival.elapsed().as_secs_f64();
        self.metrics.lookup_route_latency.with_label_values(&[model]).observe(seconds);
    }
}
