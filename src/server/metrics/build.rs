//! What the table of metrics describes, made and registered.

use prometheus::core::Collector;
use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Registry};

use super::{LATENCY_BUCKETS, Metric};
use crate::model::Eviction;

pub(super) fn gauge(registry: &Registry, metric: Metric) -> IntGaugeVec {
    let info = metric.info();
    built(registry, IntGaugeVec::new(Opts::new(info.name, info.help), info.labels))
}

pub(super) fn counter(registry: &Registry, metric: Metric) -> IntCounterVec {
    let info = metric.info();
    built(registry, IntCounterVec::new(Opts::new(info.name, info.help), info.labels))
}

pub(super) fn histogram(registry: &Registry, metric: Metric) -> HistogramVec {
    let info = metric.info();
    let options = HistogramOpts::new(info.name, info.help).buckets(LATENCY_BUCKETS.to_vec());
    built(registry, HistogramVec::new(options, info.labels))
}

/// Processor time, memory, files and threads of the process, where the system tells.
pub(super) fn register_process(registry: &Registry) {
    #[cfg(target_os = "linux")]
    if let Err(error) =
        registry.register(Box::new(prometheus::process_collector::ProcessCollector::for_self()))
    {
        tracing::warn!(%error, "metrics of the process are left out");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = registry;
}

/// Registers what the table describes; a fault of the table shows in every test that starts a server.
pub(super) fn built<M: Collector + Clone + 'static>(registry: &Registry, metric: prometheus::Result<M>) -> M {
    let metric = metric.expect("the table has valid names and labels");
    registry.register(Box::new(metric.clone())).expect("the table has each name once");
    metric
}

/// Label of an order of victims.
pub(super) fn algorithm(eviction: Eviction) -> &'static str {
    match eviction {
        Eviction::Lru => "lru",
        Eviction::Lfu => "lfu",
    }
}
