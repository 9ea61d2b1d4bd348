//! From settings to what the server is made of.

use std::path::Path;

use super::Args;
use super::settings::effective;
use crate::cmd::error::sentence;
use crate::cmd::{CommandError, ServerError, UsageError};
use crate::index::IndexConfig;
use crate::lookup::RouterConfig;
use crate::model::RankerKnobs;
use crate::policy::{Defaults, PolicySet};
use crate::server::{ServerConfig, StartError};

/// What holds where no policy says otherwise.
pub(super) fn defaults(args: &Args) -> Defaults {
    Defaults { ttl_ns: args.origins.sourced("default-ttl", args.default_ttl) }
}

/// Index, policies and ranking.
pub(super) fn router_config(args: &Args, policies: PolicySet) -> RouterConfig {
    let origins = &args.origins;
    let index = args.limits.of_index(IndexConfig::default());
    RouterConfig {
        index: IndexConfig {
            max_entries: args.max_entries,
            max_memory_bytes: args.max_memory.unwrap_or(index.max_memory_bytes),
            ..index
        },
        policies,
        ranker: RankerKnobs {
            block_size: origins.sourced("block-size", args.block_size),
            replica_timeout_ns: origins.sourced("replica-timeout", args.replica_timeout),
            pressure_weight: origins.sourced("pressure-weight", args.pressure_weight),
            slo_tight_ttft_ms: origins.sourced("slo-tight-ttft-ms", args.slo_tight_ttft_ms),
            slo_tight_bias: origins.sourced("slo-tight-bias", args.slo_tight_bias),
            tenant_hot_max_age_ns: origins.sourced("tenant-hot-max-age", args.tenant_hot_max_age),
            tenant_hot_min_hit_rate: origins.sourced("tenant-hot-min-hit-rate", args.tenant_hot_min_hit_rate),
            ranker: origins.sourced("ranker", args.ranking.ranker),
            in_flight_ttl_ns: origins.sourced("in-flight-ttl", args.ranking.in_flight_ttl),
            prefill_rate: origins.sourced("prefill-rate", args.ranking.prefill_rate),
            load_hint_code: origins.sourced("load-hint-code", args.ranking.load_hint_code),
        },
        max_in_flight: origins.sourced("max-in-flight", args.max_in_flight),
    }
}

/// The server around them.
pub(super) fn server_config(args: &Args) -> ServerConfig {
    ServerConfig {
        grpc_addr: args.grpc_addr,
        http_addr: args.http_addr,
        admin_addr: args.admin_addr,
        max_message_bytes: usize::try_from(args.max_message_size).unwrap_or(usize::MAX),
        max_streams: args.max_streams,
        max_connections: args.max_connections,
        state: args.state.folder(),
        traces: args.traces.config(),
        metrics_max_series: args.metrics_max_series,
        sweep_interval: args.sweep_interval,
        drain_timeout: args.drain_timeout,
        tls: args.security.tls(),
        admin_token_file: args.security.admin_token_file.clone(),
        auth_file: args.security.auth_file.clone(),
        effective: effective(args),
        ..ServerConfig::default()
    }
}

/// Why the server does not start, and what to do.
pub(super) fn start_error(args: &Args, error: StartError) -> CommandError {
    let what = match &error {
        StartError::Bind { addr, source, .. } => format!("cannot listen on `{addr}`: {}", sentence(source)),
        StartError::Watch(source) => format!("cannot watch the policies: {}", sentence(source)),
        StartError::Credentials { .. } | StartError::Traces { .. } | StartError::Reflection(_) => {
            error.to_string()
        }
    };
    let advice = match &error {
        StartError::Bind { flag, .. } => {
            format!(
                "stop what listens there, or choose another address with `{flag}`; port 0 takes a free one"
            )
        }
        StartError::Credentials { flag, path, .. } => {
            let flag = flag_of(args, path).unwrap_or(flag);
            return UsageError::new(what, format!("correct the file, or give another with `{flag}`")).into();
        }
        StartError::Traces { .. } => {
            return UsageError::new(
                what,
                "give the collector's address with `--otlp-endpoint http://HOST:4317`",
            )
            .into();
        }
        StartError::Watch(_) => "check the limits on threads".to_owned(),
        StartError::Reflection(_) => "this build is broken; build it again".to_owned(),
    };
    ServerError::new(what, advice).into()
}

/// The flag that names a file of TLS.
fn flag_of(args: &Args, path: &Path) -> Option<&'static str> {
    let security = &args.security;
    let files = [
        ("--tls-key", &security.tls_key),
        ("--tls-cert", &security.tls_cert),
        ("--tls-client-ca", &security.tls_client_ca),
    ];
    files.into_iter().find(|(_, file)| file.as_deref() == Some(path)).map(|(flag, _)| flag)
}
