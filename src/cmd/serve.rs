//! `icache serve`: the server.

mod build;
mod exposure;
mod file;
mod limits;
pub(super) mod log;
mod policy;
pub(super) mod ready;
mod security;
mod settings;
mod state;
mod traces;
pub(super) mod values;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use self::limits::LimitArgs;
use self::log::LogArgs;
use self::policy::PolicyArgs;
use self::security::SecurityArgs;
use self::settings::Origins;
use self::state::StateArgs;
use self::traces::TraceArgs;
use self::values::{
    address, capture, count, factor, index_size, message_size, ns, positive_ns, positive_span, span,
};
use super::error::sentence;
use super::input::share;
use super::ranking::{ServedRankingArgs, help_of};
use super::{CommandError, Exit, ServerError, offline, runtime};
use crate::decision::Knob;
use crate::lookup::Router;
use crate::model::Timestamp;
use crate::policy::{LoadedFiles, PolicySet};
use crate::render::{self, Format, Printer};
use crate::replay::preload;
use crate::server::start;

pub use self::settings::{Given, Setting, settings};

/// Hold the index and answer lookups
///
/// Serves the inferencecache.v1alpha1 contract, the explain service, gRPC health and reflection on one address, health
/// and metrics over HTTP on another, and what operators and controllers manage on a third. Durations are written as in
/// `30m` or `1h30m`, sizes as in `512MiB`.
///
/// Every setting is a flag, an environment variable (`--grpc-addr` is ICACHE_GRPC_ADDR) and a key of the file that
/// `--config` names (`grpc-addr`); a flag goes over a variable, a variable over the file. Whatever is reachable from other
/// machines needs TLS on `--grpc-addr` and a token on `--admin-addr`, or a word that it is meant to do without.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// TOML file of settings; its keys are the flags below without their dashes
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    config: Option<PathBuf>,
    /// Print the effective configuration with the source of each value, as a file for `--config`, and serve nothing
    #[arg(long, help_heading = "Configuration")]
    print_config: bool,
    /// Form of --print-config; table is TOML
    #[arg(
        short,
        long,
        value_enum,
        default_value_t,
        value_name = "FORM",
        requires = "print_config",
        help_heading = "Configuration"
    )]
    output: Format,

    /// Address of the gRPC services; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9090", value_parser = address)]
    grpc_addr: SocketAddr,
    /// Address of /healthz, /readyz and /metrics, always in plaintext; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = address)]
    http_addr: SocketAddr,
    /// Address of /policy, /snapshot, /probe, /drain, /unknown and /config, for operators and controllers; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8081", value_parser = address)]
    admin_addr: SocketAddr,
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
    security: SecurityArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    state: StateArgs,

    /// Replica entries of the index; over it the oldest or least used go
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "Index")]
    max_entries: u64,
    /// Memory of the index; over it the oldest or least used go; without it there is no bound
    #[arg(long, value_name = "SIZE", value_parser = index_size, help_heading = "Index")]
    max_memory: Option<u64>,
    /// Time between two sweeps of what has reached its time to live
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = positive_span, help_heading = "Index")]
    sweep_interval: Duration,
    /// How long an entry lives after its last report, where the policy does not say
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = positive_ns, help_heading = "Index")]
    default_ttl: i64,

    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..=4096),
        default_value = Knob::BlockSize.info().default, help = help_of(Knob::BlockSize), help_heading = "Ranking")]
    block_size: u32,
    #[arg(long, value_name = "DURATION", value_parser = ns, default_value = Knob::ReplicaTimeout.info().default,
        help = help_of(Knob::ReplicaTimeout), help_heading = "Ranking")]
    replica_timeout: i64,
    #[arg(long, value_name = "WEIGHT", value_parser = factor, default_value = Knob::PressureWeight.info().default,
        help = help_of(Knob::PressureWeight), help_heading = "Ranking")]
    pressure_weight: f32,
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(i32).range(0..),
        default_value = Knob::SloTightTtftMs.info().default, help = help_of(Knob::SloTightTtftMs),
        help_heading = "Ranking")]
    slo_tight_ttft_ms: i32,
    #[arg(long, value_name = "BIAS", value_parser = factor, default_value = Knob::SloTightBias.info().default,
        help = help_of(Knob::SloTightBias), help_heading = "Ranking")]
    slo_tight_bias: f32,
    #[arg(long, value_name = "DURATION", value_parser = ns, default_value = Knob::TenantHotMaxAge.info().default,
        help = help_of(Knob::TenantHotMaxAge), help_heading = "Ranking")]
    tenant_hot_max_age: i64,
    #[arg(long, value_name = "RATE", value_parser = share, default_value = Knob::TenantHotMinHitRate.info().default,
        help = help_of(Knob::TenantHotMinHitRate), help_heading = "Ranking")]
    tenant_hot_min_hit_rate: f32,
    #[command(flatten)]
    ranking: ServedRankingArgs,

    #[arg(long, value_name = "N", default_value = Knob::MaxInFlight.info().default,
        help = help_of(Knob::MaxInFlight), help_heading = "Limits")]
    max_in_flight: u64,
    /// Size of one message; a larger one is answered RESOURCE_EXHAUSTED
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = message_size, help_heading = "Limits")]
    max_message_size: u64,
    #[command(flatten)]
    limits: LimitArgs,
    /// Concurrent streams of one connection
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "Limits")]
    max_streams: u32,
    /// Connections of one port at a time; a further one is closed at once
    #[arg(long, value_name = "N", default_value_t = 10_240, value_parser = count(1_048_576), help_heading = "Limits")]
    max_connections: usize,
    /// Model and tenant names that label metrics; further ones are labelled `other`
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Limits")]
    metrics_max_series: usize,

    #[command(flatten)]
    traces: TraceArgs,
    #[command(flatten)]
    log: LogArgs,
    /// Which layer gave what.
    #[arg(skip)]
    origins: Origins,
}

const EXAMPLES: &str = "\
Examples:
  icache serve
  icache serve --grpc-addr 127.0.0.1:0 --http-addr 127.0.0.1:0 --ready-file /tmp/icache.json
  icache serve --preload testdata/fleet/fleet.capture.jsonl
  icache serve --policy policies/ --admin-addr 127.0.0.1:8081
  icache serve --max-memory 512MiB --default-ttl 1h --replica-timeout 30s
  icache serve --ranker balanced --prefill-rate 12000 --replica-timeout 30s
  icache serve --grpc-addr 0.0.0.0:9090 --tls-cert tls.crt --tls-key tls.key --auth-file callers.toml
  icache serve --state-dir /var/lib/icache --state-interval 30s
  icache serve --config icache.toml --print-config";

/// Serves until a signal stops it.
pub fn run(given: &Given, printer: &mut Printer) -> Result<Exit, CommandError> {
    let args = &given.resolve()?;
    exposure::refuse(args)?;
    if args.print_config {
        render::config(printer, args.output, &settings::effective(args))?;
        return Ok(Exit::Done);
    }
    args.log.init();
    if let Some(path) = &args.ready_file {
        ready::forget(path)?;
    }
    args.state.check()?;
    let defaults = build::defaults(args);
    let files = args.policy.load(&defaults)?;
    let policies =
        files.as_ref().map_or_else(|| PolicySet::empty(&defaults), |files| files.loaded.set.clone());
    let router = Arc::new(Router::new(build::router_config(args, policies)));
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
    let runtime = runtime::many()?;
    let ended = runtime.block_on(serve(args, router, files));
    // What is left now has had its drain timeout.
    runtime.shutdown_background();
    ended
}

async fn serve(args: &Args, router: Arc<Router>, files: Option<LoadedFiles>) -> Result<Exit, CommandError> {
    let mut signals = Signals::new()?;
    let mut running = start(build::server_config(args), router, files)
        .await
        .map_err(|error| build::start_error(args, error))?;
    if let Some(path) = &args.ready_file {
        ready::write(path, &running)?;
    }
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        grpc_addr = %running.grpc_addr(),
        http_addr = %running.http_addr(),
        admin_addr = %running.admin_addr(),
        tls = args.security.tls_posture(),
        grpc_auth = args.security.has_access_control(),
        admin_auth = args.security.has_admin_tokens(),
        "serving"
    );
    exposure::warn(args);
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

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::{FromArgMatches as _, Parser};

    use super::*;
    use crate::model::{Source, Sourced};

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        given: Given,
    }

    /// Flags, variables and file resolved.
    pub(super) fn resolved(flags: &[&str], variables: &[(&str, &str)]) -> Result<Args, CommandError> {
        let cli = <Cli as clap::CommandFactory>::command().try_get_matches_from([&["serve"], flags].concat());
        let given = cli.and_then(|matches| Cli::from_arg_matches(&matches));
        let given =
            given.map_err(|error| super::super::UsageError::from_parser(&error, "icache serve"))?.given;
        let set = |name: &str| {
            variables.iter().find(|(own, _)| *own == name).map(|(_, value)| OsString::from(value))
        };
        Ok(given.resolve_with(&set)?)
    }

    fn parsed(args: &[&str]) -> Result<Args, CommandError> {
        resolved(args, &[])
    }

    #[test]
    fn what_is_given_says_that_it_was() {
        let flags = ["--pressure-weight", "0.5", "--default-ttl", "1h", "--max-in-flight", "0"];
        let args = resolved(&flags, &[("ICACHE_BLOCK_SIZE", "32"), ("ICACHE_PRESSURE_WEIGHT", "9")]).unwrap();
        let config = build::router_config(&args, PolicySet::empty(&build::defaults(&args)));
        let ranker = &config.ranker;
        let by = |text: &str| Source::Setting(text.into());
        assert_eq!(ranker.pressure_weight, Sourced::new(0.5, by("flag --pressure-weight")));
        assert_eq!(ranker.block_size, Sourced::new(32, by("variable ICACHE_BLOCK_SIZE")));
        assert_eq!(ranker.slo_tight_ttft_ms, Sourced::built_in(200));
        assert_eq!(config.max_in_flight, Sourced::new(0, by("flag --max-in-flight")));
        let ttl_ns = &config.policies.default_policy().ttl_ns;
        assert_eq!(*ttl_ns, Sourced::new(3_600_000_000_000, by("flag --default-ttl")));
    }

    /// The registry of knobs and the settings of a router that was told nothing are one and the same.
    #[test]
    fn nothing_given_is_what_is_built_in() {
        let args = parsed(&[]).unwrap();
        let config = build::router_config(&args, PolicySet::empty(&build::defaults(&args)));
        let index = crate::index::IndexConfig::default();
        assert_eq!(config.ranker, crate::policy::default_ranker());
        assert_eq!(config.max_in_flight, Sourced::built_in(4_096));
        assert_eq!(config.index.max_entries, index.max_entries);
        assert_eq!(config.index.max_memory_bytes, index.max_memory_bytes);
        assert_eq!(config.index.limits.request_blocks, index.limits.request_blocks);
        assert_eq!(config.policies.default_policy().ttl_ns, crate::policy::Defaults::default().ttl_ns);
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
            ("--otlp-endpoint", "collector:4317"),
            ("--otlp-endpoint", "https://collector"),
            ("--otlp-endpoint", "http://"),
            ("--otlp-endpoint", "http://user:secret@collector"),
            ("--trace-share", "2"),
            ("--log-level", "loud"),
        ] {
            assert!(parsed(&[&format!("{flag}={value}")]).is_err(), "{flag} {value}");
        }
        assert!(
            parsed(&["--block-size", "1", "--max-memory", "512MiB", "--tenant-hot-max-age", "0"]).is_ok()
        );
    }
}
