//! The sidecar's own metrics: one table of what there is, and the values.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use prometheus::core::Collector;
use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder};

use super::follow::{FollowCounts, Replica};
use crate::engine::EngineDrop;
use crate::server::{MetricInfo, MetricKind};

macro_rules! metrics {
    ($($field:ident $kind:ident $labels:expr, $help:literal;)*) => {
        /// Every metric of `icache subscribe`.
        pub static METRICS: &[MetricInfo] = &[$(MetricInfo {
            name: concat!("icache_subscribe_", stringify!($field)),
            kind: MetricKind::$kind,
            labels: &$labels,
            help: $help,
        },)*];
    };
}

metrics! {
    build_info Gauge ["version"],
        "1; the label says what is running";
    engine_connected Gauge ["rank"],
        "1 while the connection to the publisher of this rank is there";
    server_connected Gauge [],
        "1 while the connection to the server is there";
    synced Gauge [],
        "1 while the server knows what is held, up to the changes that wait";
    batches_total Counter [],
        "batches that were read";
    dropped_total Counter ["cause"],
        "messages, batches, events and blocks that were passed over, by cause";
    repeated_batches_total Counter [],
        "batches that came again, and were left out";
    replays_total Counter [],
        "replays that were asked of the engine";
    engine_restarts_total Counter [],
        "publishers that began anew";
    held_blocks Gauge ["replica"],
        "blocks that the replica holds, those left out of the index included";
    held_back_blocks Gauge ["replica"],
        "blocks that wait for their parent";
    waiting_changes Gauge [],
        "changes that wait to be sent to the server";
    reported_blocks_total Counter [],
        "blocks sent to the server, at first and again";
    removed_blocks_total Counter [],
        "removals sent to the server";
    full_reports_total Counter ["cause"],
        "times that everything held was told anew: a new connection, too many changes that waited, a new rank";
    server_losses_total Counter [],
        "connections to the server that were lost, and attempts that failed";
    scrapes_total Counter ["result"],
        "scrapes of the engine's metrics: ok, failed, empty";
}

/// Why everything held is told anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FullReport {
    Connected,
    TooManyChanges,
    NewRank,
}

impl FullReport {
    const ALL: [Self; 3] = [Self::Connected, Self::TooManyChanges, Self::NewRank];

    fn label(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::TooManyChanges => "too-many-changes",
            Self::NewRank => "new-rank",
        }
    }
}

/// The values.
pub(super) struct Metrics {
    registry: Registry,
    engine_connected: IntGaugeVec,
    server_connected: IntGaugeVec,
    synced: IntGaugeVec,
    batches: IntCounterVec,
    dropped: IntCounterVec,
    repeated_batches: IntCounterVec,
    replays: IntCounterVec,
    engine_restarts: IntCounterVec,
    held_blocks: IntGaugeVec,
    held_back_blocks: IntGaugeVec,
    waiting_changes: IntGaugeVec,
    reported_blocks: IntCounterVec,
    removed_blocks: IntCounterVec,
    full_reports: IntCounterVec,
    server_losses: IntCounterVec,
    scrapes: IntCounterVec,
    /// What the counters of the follower were when they were observed last.
    followed: Mutex<Option<FollowCounts>>,
    is_ready: AtomicBool,
}

const NONE: &[&str] = &[];

impl Metrics {
    /// All at zero.
    pub(super) fn new(publishers: usize) -> Self {
        let registry = Registry::new();
        let metrics = Self {
            engine_connected: gauge(&registry, "engine_connected"),
            server_connected: gauge(&registry, "server_connected"),
            synced: gauge(&registry, "synced"),
            batches: counter(&registry, "batches_total"),
            dropped: counter(&registry, "dropped_total"),
            repeated_batches: counter(&registry, "repeated_batches_total"),
            replays: counter(&registry, "replays_total"),
            engine_restarts: counter(&registry, "engine_restarts_total"),
            held_blocks: gauge(&registry, "held_blocks"),
            held_back_blocks: gauge(&registry, "held_back_blocks"),
            waiting_changes: gauge(&registry, "waiting_changes"),
            reported_blocks: counter(&registry, "reported_blocks_total"),
            removed_blocks: counter(&registry, "removed_blocks_total"),
            full_reports: counter(&registry, "full_reports_total"),
            server_losses: counter(&registry, "server_losses_total"),
            scrapes: counter(&registry, "scrapes_total"),
            followed: Mutex::new(None),
            is_ready: AtomicBool::new(false),
            registry,
        };
        gauge(&metrics.registry, "build_info").with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        (0..publishers).for_each(|rank| metrics.observe_engine(rank, false));
        metrics.show_zeroes();
        metrics
    }

    /// Series whose labels are known from the start are there from the start: a rate needs its zero.
    fn show_zeroes(&self) {
        for counter in [
            &self.batches,
            &self.repeated_batches,
            &self.replays,
            &self.engine_restarts,
            &self.reported_blocks,
            &self.removed_blocks,
            &self.server_losses,
        ] {
            counter.with_label_values(NONE);
        }
        for gauge in [&self.server_connected, &self.synced, &self.waiting_changes] {
            gauge.with_label_values(NONE);
        }
        for cause in EngineDrop::ALL {
            self.dropped.with_label_values(&[cause.label()]);
        }
        for cause in FullReport::ALL {
            self.full_reports.with_label_values(&[cause.label()]);
        }
        for result in ["ok", "failed", "empty"] {
            self.scrapes.with_label_values(&[result]);
        }
    }

    pub(super) fn observe_engine(&self, rank: usize, is_connected: bool) {
        self.engine_connected.with_label_values(&[rank.to_string()]).set(is_connected.into());
    }

    pub(super) fn observe_server(&self, is_connected: bool) {
        self.server_connected.with_label_values(NONE).set(is_connected.into());
        if !is_connected {
            self.server_losses.with_label_values(NONE).inc();
        }
    }

    pub(super) fn observe_full_report(&self, cause: FullReport) {
        self.full_reports.with_label_values(&[cause.label()]).inc();
    }

    pub(super) fn observe_sent(&self, blocks: usize, removals: usize) {
        self.reported_blocks.with_label_values(NONE).inc_by(blocks as u64);
        self.removed_blocks.with_label_values(NONE).inc_by(removals as u64);
    }

    pub(super) fn observe_scrape(&self, result: &str) {
        self.scrapes.with_label_values(&[result]).inc();
    }

    /// What is followed, and how far the server knows of it.
    pub(super) fn observe_state(
        &self,
        counts: FollowCounts,
        replicas: &[Replica],
        waiting: usize,
        synced: bool,
    ) {
        let mut followed = self.followed.lock();
        let before = followed.as_ref();
        let grow = |counter: &IntCounterVec, label: &[&str], count: u64, before: u64| {
            counter.with_label_values(label).inc_by(count.saturating_sub(before));
        };
        let was = |count: fn(&FollowCounts) -> u64| before.map_or(0, count);
        grow(&self.batches, NONE, counts.batches, was(|counts| counts.batches));
        grow(&self.repeated_batches, NONE, counts.repetitions, was(|counts| counts.repetitions));
        grow(&self.replays, NONE, counts.replays, was(|counts| counts.replays));
        grow(&self.engine_restarts, NONE, counts.restarts, was(|counts| counts.restarts));
        for (cause, count) in counts.drops.iter() {
            let before = before.map_or(0, |counts| counts.drops.get(cause));
            grow(&self.dropped, &[cause.label()], count, before);
        }
        *followed = Some(counts);
        for replica in replicas {
            let counts = replica.mapper.counts();
            let label = &[replica.identity.replica.as_str()];
            self.held_blocks.with_label_values(label).set(whole(counts.held_blocks));
            self.held_back_blocks.with_label_values(label).set(whole(counts.held_back_blocks));
        }
        self.waiting_changes.with_label_values(NONE).set(whole(waiting));
        self.synced.with_label_values(NONE).set(synced.into());
    }

    pub(super) fn set_ready(&self, is_ready: bool) {
        self.is_ready.store(is_ready, Ordering::Relaxed);
    }

    pub(super) fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Relaxed)
    }

    /// The page in the classic text format.
    pub(super) fn render(&self) -> String {
        TextEncoder::new().encode_to_string(&self.registry.gather()).unwrap_or_else(|error| {
            tracing::error!(%error, "the metrics page could not be written");
            String::new()
        })
    }
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn options(name: &str) -> (Opts, &'static [&'static str]) {
    let is_named = |info: &&MetricInfo| info.name.strip_prefix("icache_subscribe_") == Some(name);
    let info = METRICS.iter().find(is_named).expect("the table has every metric");
    (Opts::new(info.name, info.help), info.labels)
}

fn gauge(registry: &Registry, name: &str) -> IntGaugeVec {
    let (options, labels) = options(name);
    built(registry, IntGaugeVec::new(options, labels))
}

fn counter(registry: &Registry, name: &str) -> IntCounterVec {
    let (options, labels) = options(name);
    built(registry, IntCounterVec::new(options, labels))
}

/// Registers what the table describes; a fault of the table shows in every test that starts a sidecar.
fn built<M: Collector + Clone + 'static>(registry: &Registry, metric: prometheus::Result<M>) -> M {
    let metric = metric.expect("the table has valid names and labels");
    registry.register(Box::new(metric.clone())).expect("the table has each name once");
    metric
}
