//! `icache serve`: the server.

mod limits;
pub(super) mod log;
mod policy;
pub(super) mod ready;
pub(super) mod values;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::limits::LimitArgs;
use self::log::LogArgs;
use self::policy::PolicyArgs;
use self::values::{
    address, capture, factor, index_size, message_size, ns, positive_ns, positive_span, span,
};
use super::error::sentence;
use super::input::share;
use super::ranking::{RankingArgs, help_of, set};
use super::{CommandError, Exit, ServerError, UsageError, offline};
use crate::decision::Knob;
use crate::index::IndexConfig;
use crate::lookup::{Router, RouterConfig};
use crate::model::{RankerKnobs, Sourced, Timestamp};
use crate::policy::{Defaults, LoadedFiles, PolicySet, default_ranker};
use crate::replay::preload;
use crate::server::{ServerConfig, StartError, start};

/// Hold the index and answer lookups
///
/// Serves the inferencecache.v1alpha1 contract, the explain service, gRPC health and reflection on one address, health
/// and metrics over HTTP on another, and policies for controllers on a third. Durations are written as in `30m` or `1h30m`, sizes as in `512MiB`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Address of the gRPC services; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9090", value_parser = address)]
    grpc_addr: SocketAddr,
    /// Address of /healthz, /readyz and /metrics; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = address)]
    http_addr: SocketAddr,
    /// Address of /policy, where controllers read and push policies; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8081", value_parser = address)]
    admin_addr: SocketAddr,
    /// Let --grpc-addr be reachable from other machines without TLS
    #[arg(long)]
    insecure_plaintext: bool,
    /// Let --admin-addr be reachable from other machines without a token
    #[arg(long)]
    insecure_disable_auth: bool,
    /// Write the bound addresses as JSON to this file once ready
    #[arg(long, value_name = "PATH")]
    ready_file: Option<PathBuf>,
    /// Start with what this capture holds, as if its last record were of now; for trying things out
    #[arg(long, value_name = "CAPTURE", value_parser = capture)]
    preload: Option<PathBuf>,
    /// Time that calls in flight have to finish when the server stops
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = span)]
    drain_timeout: Duration,
    #[command(flatten)]
    policy: PolicyArgs,

    /// Replica entries of the index; over it the oldest or least used go [default: 1000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Index")]
    max_entries: Option<u64>,
    /// Memory of the index; over it the oldest or least used go [default: no bound]
    #[arg(long, value_name = "SIZE", value_parser = index_size, help_heading = "Index")]
    max_memory: Option<u64>,
    /// Time between two sweeps of what has reached its time to live
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = positive_span, help_heading = "Index")]
    sweep_interval: Duration,
    /// How long an entry lives after its last report, where the policy does not say [default: 30m]
    #[arg(long, value_name = "DURATION", value_parser = positive_ns, help_heading = "Index")]
    default_ttl: Option<i64>,

    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..=4096),
        help = help_of(Knob::BlockSize), help_heading = "Ranking")]
    block_size: Option<u32>,
    #[arg(long, value_name = "DURATION", value_parser = ns, help = help_of(Knob::ReplicaTimeout),
        help_heading = "Ranking")]
    replica_timeout: Option<i64>,
    #[arg(long, value_name = "WEIGHT", value_parser = factor, help = help_of(Knob::PressureWeight),
        help_heading = "Ranking")]
    pressure_weight: Option<f32>,
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(i32).range(0..),
        help = help_of(Knob::SloTightTtftMs), help_heading = "Ranking")]
    slo_tight_ttft_ms: Option<i32>,
    #[arg(long, value_name = "BIAS", value_parser = factor, help = help_of(Knob::SloTightBias),
        help_heading = "Ranking")]
    slo_tight_bias: Option<f32>,
    #[arg(long, value_name = "DURATION", value_parser = ns, help = help_of(Knob::TenantHotMaxAge),
        help_heading = "Ranking")]
    tenant_hot_max_age: Option<i64>,
    #[arg(long, value_name = "RATE", value_parser = share, help = help_of(Knob::TenantHotMinHitRate),
        help_heading = "Ranking")]
    tenant_hot_min_hit_rate: Option<f32>,
    #[command(flatten)]
    ranking: RankingArgs,

    #[arg(long, value_name = "N", help = help_of(Knob::MaxInFlight), help_heading = "Limits")]
    max_in_flight: Option<u64>,
    /// Size of one message; a larger one is answered RESOURCE_EXHAUSTED
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = message_size, help_heading = "Limits")]
    max_message_size: u64,
    #[command(flatten)]
    limits: LimitArgs,
    /// Concurrent streams of one connection
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "Limits")]
    max_streams: u32,
    /// Model and tenant names that label metrics; further ones are labelled `other`
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Limits")]
    metrics_max_series: usize,

    #[command(flatten)]
    log: LogArgs,
}

const EXAMPLES: &str = "\
Examples:
  icache serve
  icache serve --grpc-addr 127.0.0.1:0 --http-addr 127.0.0.1:0 --ready-file /tmp/icache.json
  icache serve --preload testdata/fleet/fleet.capture.jsonl
  icache serve --policy policies/ --admin-addr 127.0.0.1:8081
  icache serve --ranker balanced --prefill-rate 12000 --replica-timeout 30s
  icache serve --max-memory 512MiB --default-ttl 1h --replica-timeout 30s";

/// Serves until a signal stops it.
pub fn run(args: &Args) -> Result<Exit, CommandError> {
    refuse_exposure(args)?;
    args.log.init();
    if let Some(path) = &args.ready_file {
        ready::forget(path)?;
    }
    let defaults = defaults(args);
    let files = args.policy.load(&defaults)?;
    let policies =
        files.as_ref().map_or_else(|| PolicySet::empty(&defaults), |files| files.loaded.set.clone());
    let router = Arc::new(Router::new(router_config(args, policies)));
    if let Some(path) = &args.preload {
        let loaded = preload(path, &router, Timestamp::now()).map_err(offline::unusable)?;
        for warning in &loaded.warnings {
            tracing::warn!("--preload: {warning}");
        }
        tracing::info!(
            records = loaded.records,
            dropped = loaded.dropped,
            entries = loaded.entries,
            "capture loaded"
        );
    }
    let runtime = Runtime::new().map_err(|error| {
        ServerError::new(
            format!("cannot start the async runtime: {}", sentence(&error)),
            "check the limits on threads",
        )
    })?;
    let ended = runtime.block_on(serve(args, router, files));
    // What is left now has had its drain timeout.
    runtime.shutdown_background();
    ended
}

async fn serve(args: &Args, router: Arc<Router>, files: Option<LoadedFiles>) -> Result<Exit, CommandError> {
    let mut signals = Signals::new()?;
    let mut running = start(server_config(args), router, files).await.map_err(start_error)?;
    if let Some(path) = &args.ready_file {
        ready::write(path, &running)?;
    }
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        grpc_addr = %running.grpc_addr(),
        http_addr = %running.http_addr(),
        admin_addr = %running.admin_addr(),
        tls = false,
        admin_auth = false,
        "serving"
    );
    tokio::select! {
        name = signals.next() => {
            tracing::info!(signal = name, "stopping; a second signal ends at once");
            if let Some(path) = &args.ready_file {
                ready::forget(path)?;
            }
        }
        why = running.failed() => {
            return Err(ServerError::new(why, "the log says more; start it again").into());
        }
    }
    tokio::select! {
        all_finished = running.stop() => match all_finished {
            true => tracing::info!("stopped"),
            false => tracing::warn!("stopped; calls that were still in flight after the drain timeout were cut"),
        },
        name = signals.next() => tracing::warn!(signal = name, "ended at once"),
    }
    Ok(Exit::Done)
}

/// The signals that stop a server.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(super) fn new() -> Result<Self, CommandError> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                ServerError::new(
                    format!("cannot listen for signals: {}", sentence(&error)),
                    "check the system's limits",
                )
            })
        };
        Ok(Self { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// Health and metrics over HTTP may be reached from anywhere; gRPC carries tenants' state, and the admin port their
/// policies.
fn refuse_exposure(args: &Args) -> Result<(), UsageError> {
    let refuse = |flag: &str, addr: SocketAddr, without: &str, allow: &str| {
        Err(UsageError::new(
            format!("`{flag} {addr}` is reachable from other machines, and without {without}"),
            format!("listen on a loopback address, or say so with `{allow}`"),
        ))
    };
    let is_exposed = |addr: SocketAddr| !addr.ip().to_canonical().is_loopback();
    if !args.insecure_plaintext && is_exposed(args.grpc_addr) {
        return refuse("--grpc-addr", args.grpc_addr, "TLS", "--insecure-plaintext");
    }
    if !args.insecure_disable_auth && is_exposed(args.admin_addr) {
        return refuse("--admin-addr", args.admin_addr, "a token", "--insecure-disable-auth");
    }
    Ok(())
}

fn start_error(error: StartError) -> ServerError {
    let advice = match &error {
        StartError::Bind { flag, .. } => {
            format!(
                "stop what listens there, or choose another address with `{flag}`; port 0 takes a free one"
            )
        }
        StartError::Watch(_) => "check the limits on threads".to_owned(),
        StartError::Reflection(_) => "this build is broken; build it again".to_owned(),
    };
    let what = match &error {
        StartError::Bind { addr, source, .. } => format!("cannot listen on `{addr}`: {}", sentence(source)),
        StartError::Watch(source) => format!("cannot watch the policies: {}", sentence(source)),
        StartError::Reflection(_) => error.to_string(),
    };
    ServerError::new(what, advice)
}

fn server_config(args: &Args) -> ServerConfig {
    ServerConfig {
        grpc_addr: args.grpc_addr,
        http_addr: args.http_addr,
        admin_addr: args.admin_addr,
        max_message_bytes: usize::try_from(args.max_message_size).unwrap_or(usize::MAX),
        max_streams: args.max_streams,
        metrics_max_series: args.metrics_max_series,
        sweep_interval: args.sweep_interval,
        drain_timeout: args.drain_timeout,
        ..ServerConfig::default()
    }
}

/// What holds where no policy says otherwise.
fn defaults(args: &Args) -> Defaults {
    let mut defaults = Defaults::default();
    set(&mut defaults.ttl_ns, args.default_ttl, "--default-ttl");
    defaults
}

fn router_config(args: &Args, policies: PolicySet) -> RouterConfig {
    let mut ranker: RankerKnobs = default_ranker();
    set(&mut ranker.block_size, args.block_size, "--block-size");
    set(&mut ranker.replica_timeout_ns, args.replica_timeout, "--replica-timeout");
    set(&mut ranker.pressure_weight, args.pressure_weight, "--pressure-weight");
    set(&mut ranker.slo_tight_ttft_ms, args.slo_tight_ttft_ms, "--slo-tight-ttft-ms");
    set(&mut ranker.slo_tight_bias, args.slo_tight_bias, "--slo-tight-bias");
    set(&mut ranker.tenant_hot_max_age_ns, args.tenant_hot_max_age, "--tenant-hot-max-age");
    set(&mut ranker.tenant_hot_min_hit_rate, args.tenant_hot_min_hit_rate, "--tenant-hot-min-hit-rate");
    args.ranking.apply(&mut ranker);
    let mut max_in_flight = Sourced::built_in(DEFAULT_MAX_IN_FLIGHT);
    set(&mut max_in_flight, args.max_in_flight, "--max-in-flight");
    let index = args.limits.of_index(IndexConfig::default());
    RouterConfig {
        index: IndexConfig {
            max_entries: args.max_entries.unwrap_or(index.max_entries),
            max_memory_bytes: args.max_memory.unwrap_or(index.max_memory_bytes),
            ..index
        },
        policies,
        ranker,
        max_in_flight,
    }
}

const DEFAULT_MAX_IN_FLIGHT: u64 = 4_096;

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::model::Source;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn parsed(args: &[&str]) -> Result<Args, clap::Error> {
        Cli::try_parse_from([&["serve"], args].concat()).map(|cli| cli.args)
    }

    #[test]
    fn what_is_given_says_that_it_was() {
        let args = parsed(&["--pressure-weight", "0.5", "--default-ttl", "1h", "--max-in-flight", "0"]);
        let args = args.unwrap();
        let config = router_config(&args, PolicySet::empty(&defaults(&args)));
        let ranker = &config.ranker;
        assert_eq!(ranker.pressure_weight, Sourced::new(0.5, Source::Flag("--pressure-weight")));
        assert_eq!(ranker.block_size, Sourced::built_in(16));
        assert_eq!(config.max_in_flight, Sourced::new(0, Source::Flag("--max-in-flight")));
        let ttl_ns = &config.policies.default_policy().ttl_ns;
        assert_eq!(*ttl_ns, Sourced::new(3_600_000_000_000, Source::Flag("--default-ttl")));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for (flag, value) in [
            ("--ranker", "best"),
            ("--prefill-rate", "0"),
            ("--load-hint-code", "LOAD_HINT"),
            ("--block-size", "0"),
            ("--block-size", "4097"),
            ("--pressure-weight", "-1"),
            ("--pressure-weight", "NaN"),
            ("--slo-tight-bias", "inf"),
            ("--slo-tight-ttft-ms", "-1"),
            ("--tenant-hot-max-age", "-1s"),
            ("--tenant-hot-min-hit-rate", "x"),
            ("--tenant-hot-min-hit-rate", "1.5"),
            ("--max-memory", "1"),
            ("--log-level", ""),
            ("--log-level", "7"),
            ("--replica-timeout", "30"),
            ("--default-ttl", "0s"),
            ("--sweep-interval", "0"),
            ("--drain-timeout", "-1s"),
            ("--max-entries", "0"),
            ("--max-memory", "0"),
            ("--max-message-size", "5GiB"),
            ("--max-streams", "0"),
            ("--grpc-addr", "localhost:9090"),
            ("--log-format", "xml"),
            ("--log-level", "loud"),
        ] {
            assert!(parsed(&[&format!("{flag}={value}")]).is_err(), "{flag} {value}");
        }
        assert!(
            parsed(&["--block-size", "1", "--max-memory", "512MiB", "--tenant-hot-max-age", "0"]).is_ok()
        );
    }

    #[test]
    fn only_loopback_is_plain_unless_told_so() {
        for (args, is_refused) in [
            (&["--grpc-addr=127.0.0.1:0"][..], false),
            (&["--grpc-addr=127.9.9.9:0"], false),
            (&["--grpc-addr=[::1]:0"], false),
            (&["--grpc-addr=[::ffff:127.0.0.1]:0"], false),
            (&["--grpc-addr=0.0.0.0:0"], true),
            (&["--grpc-addr=[::]:0"], true),
            (&["--grpc-addr=10.0.0.1:9090"], true),
            (&["--grpc-addr=0.0.0.0:0", "--insecure-plaintext"], false),
            (&["--grpc-addr=0.0.0.0:0", "--insecure-disable-auth"], true),
            (&["--admin-addr=[::1]:0"], false),
            (&["--admin-addr=0.0.0.0:0"], true),
            (&["--admin-addr=0.0.0.0:0", "--insecure-plaintext"], true),
            (&["--admin-addr=0.0.0.0:0", "--insecure-disable-auth"], false),
        ] {
            assert_eq!(refuse_exposure(&parsed(args).unwrap()).is_err(), is_refused, "{args:?}");
        }
    }
}
