//! Flags of traces.

use super::super::input::share;
use super::values::collector;
use crate::server::TraceConfig;

/// Whether calls are traced, and which.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Traces")]
pub(super) struct TraceArgs {
    /// Collector that spans of calls are sent to by OTLP over gRPC, as an http:// URL; without it none are made.
    /// OTEL_EXPORTER_OTLP_ENDPOINT counts where nothing else says one
    #[arg(long, value_name = "URL", value_parser = collector)]
    otlp_endpoint: Option<String>,
    /// Share of the calls that are traced, 0 to 1; a call that brings a `traceparent` is traced where that says so
    #[arg(long, value_name = "SHARE", default_value = "1", value_parser = share)]
    trace_share: f32,
}

impl TraceArgs {
    /// Where spans go, where calls are traced.
    pub(super) fn config(&self) -> Option<TraceConfig> {
        let endpoint = self.otlp_endpoint.clone()?;
        Some(TraceConfig { endpoint, share: f64::from(self.trace_share) })
    }
}
