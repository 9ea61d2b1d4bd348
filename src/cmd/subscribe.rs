//! `icache subscribe`: the sidecar beside an engine.

mod address;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use self::address::{metrics_url, publishers};
use super::client::{ServerArgs, Way};
use super::error::sentence;
use super::serve::log::LogArgs;
use super::serve::values::{address as socket_address, count, positive_span};
use super::serve::{Signals, ready};
use super::{CommandError, Exit, ServerError, UsageError};
use crate::engine::{Identity, MapperOptions};
use crate::model::{AdapterId, HashScheme, Limits, ModelId, PROBE_TENANT, ReplicaId, TenantId};
use crate::subscribe::{Dial, Dialed, Fleet, MAX_REPLICAS, SidecarConfig};

/// Tell a server what an engine's cache holds, from the events that the engine publishes
///
/// Runs beside a vLLM or SGLang engine: subscribes to its KV cache events over ZeroMQ, maps them to content fingerprints, and
/// keeps a server told of them, whatever restarts. Token ids never leave this process. docs/subscribe.md says more.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Replica id under which the engine is reported; with ranks, `-dp<rank>` is put behind it
    #[arg(long, value_name = "ID", env = "ICACHE_REPLICA", value_parser = id)]
    replica: String,
    /// Tenant that the engine serves
    #[arg(long, value_name = "ID", env = "ICACHE_TENANT", value_parser = tenant)]
    tenant: String,
    /// Model that the engine serves, as gateways call it
    #[arg(long, value_name = "ID", env = "ICACHE_MODEL", value_parser = id)]
    model: String,
    /// Hash scheme under which gateways look the fingerprints up
    #[arg(long, value_name = "NAME", env = "ICACHE_HASH_SCHEME", default_value = "vllm", value_parser = id)]
    hash_scheme: String,

    /// Where the engine publishes, as tcp://HOST:PORT; rank N at the port N higher
    #[arg(
        long,
        value_name = "ENDPOINT",
        env = "ICACHE_ENGINE",
        default_value = "tcp://127.0.0.1:5557",
        help_heading = "Engine"
    )]
    engine: String,
    /// Where the engine answers replays, rank N at the port N higher; `none` where it does not [default: port 5558 of
    /// the engine's host; with several ranks none]
    #[arg(long, value_name = "ENDPOINT", env = "ICACHE_REPLAY", help_heading = "Engine")]
    replay: Option<String>,
    /// Take only topics that begin with this
    #[arg(long, value_name = "PREFIX", env = "ICACHE_TOPIC", default_value = "", help_heading = "Engine")]
    topic: String,
    /// Data-parallel ranks of the engine, each with a publisher of its own [default: one publisher without ranks]
    #[arg(long, value_name = "N", env = "ICACHE_DP_RANKS", value_parser = count(MAX_REPLICAS), help_heading = "Engine")]
    dp_ranks: Option<usize>,
    /// How long a replay may be silent before it is given up
    #[arg(long, value_name = "DURATION", env = "ICACHE_REPLAY_TIMEOUT", default_value = "3s",
        value_parser = positive_span, help_heading = "Engine")]
    replay_timeout: Duration,
    /// The engine's metrics page, scraped every 10 s for hit rate and pressure, such as http://127.0.0.1:8000/metrics
    #[arg(long, value_name = "URL", env = "ICACHE_METRICS_URL", value_parser = metrics_url, help_heading = "Engine")]
    metrics_url: Option<Uri>,

    /// Names of adapters that the engine gives by number only; blocks of others are left out
    #[arg(long, value_name = "ID=NAME,...", env = "ICACHE_ADAPTER_NAMES", value_parser = adapter_name,
        value_delimiter = ',', help_heading = "Mapping")]
    adapter_names: Vec<(i64, AdapterId)>,
    /// What to do with blocks whose content is not in their tokens alone (images, cache salts)
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        env = "ICACHE_EXTRA_KEYS",
        default_value_t,
        help_heading = "Mapping"
    )]
    extra_keys: ExtraKeys,
    /// Take blocks that leave the GPU to be kept in an offload pool (T2) that says nothing itself
    #[arg(long, env = "ICACHE_L2_RETAINS", help_heading = "Mapping")]
    l2_retains: bool,
    /// Blocks followed of each replica at most, at 151 bytes each or less; further ones are left out [default: 4194304]
    #[arg(long, value_name = "N", env = "ICACHE_MAX_HELD_BLOCKS", value_parser = count(1 << 30), help_heading = "Mapping")]
    max_held_blocks: Option<usize>,

    /// Time in which everything held is told again, spread evenly, so that it does not age out of the index
    #[arg(long, value_name = "DURATION", env = "ICACHE_REFRESH", default_value = "10m", value_parser = positive_span,
        help_heading = "Reports")]
    refresh: Duration,
    /// Address of /healthz, /readyz and /metrics; port 0 takes a free one
    #[arg(long, value_name = "ADDR", env = "ICACHE_HTTP_ADDR", default_value = "127.0.0.1:8082",
        value_parser = socket_address, help_heading = "Reports")]
    http_addr: SocketAddr,
    /// Write the bound address as JSON to this file once it is served
    #[arg(long, value_name = "PATH", env = "ICACHE_READY_FILE", help_heading = "Reports")]
    ready_file: Option<PathBuf>,

    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    log: LogArgs,
}

const EXAMPLES: &str = "\
Examples:
  icache subscribe --replica vllm-0 --tenant team-a --model llama-3.1-8b \\
      --engine tcp://127.0.0.1:5557 --replay tcp://127.0.0.1:5558 \\
      --metrics-url http://127.0.0.1:8000/metrics --server http://icache:9090
  icache subscribe --replica vllm-0 --tenant team-a --model llama-3.1-8b \\
      --dp-ranks 8 --engine tcp://127.0.0.1:5557 --replay tcp://127.0.0.1:5657
  icache subscribe --replica vllm-0 --tenant team-a --model llama-3.1-8b \\
      --adapter-names 1=sql-lora,2=law-lora";

/// What to do with blocks that the fingerprint cannot tell apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum ExtraKeys {
    /// Leave them out, with what follows them
    #[default]
    Refuse,
    /// Index them by their tokens all the same
    Ignore,
}

/// What the ready file holds.
#[derive(Serialize)]
struct Ready {
    version: u32,
    http_addr: SocketAddr,
}

/// Follows the engine until a signal stops it.
pub fn run(args: &Args) -> Result<Exit, CommandError> {
    args.log.init();
    if let Some(path) = &args.ready_file {
        ready::forget(path)?;
    }
    let config = config(args)?;
    let runtime = Runtime::new().map_err(|error| {
        ServerError::new(
            format!("cannot start the async runtime: {}", sentence(&error)),
            "check the limits on threads",
        )
    })?;
    let ended = runtime.block_on(follow(args, config));
    runtime.shutdown_background();
    ended
}

async fn follow(args: &Args, config: SidecarConfig) -> Result<Exit, CommandError> {
    let mut signals = Signals::new()?;
    let cannot_listen = |error: std::io::Error| {
        ServerError::new(
            format!("cannot listen on `{}`: {}", args.http_addr, sentence(&error)),
            "stop what listens there, or choose another address with `--http-addr`; port 0 takes a free one",
        )
    };
    let listener = TcpListener::bind(args.http_addr).await.map_err(cannot_listen)?;
    let http_addr = listener.local_addr().map_err(cannot_listen)?;
    if let Some(path) = &args.ready_file {
        ready::write_json(path, &Ready { version: 1, http_addr })?;
    }
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        %http_addr,
        replica = args.replica,
        engine = config.publishers[0].endpoint,
        replay = config.publishers[0].replay.as_deref().unwrap_or("none"),
        ranks = config.publishers.len(),
        server = config.server_url,
        "following"
    );
    let stop = async {
        let name = signals.next().await;
        tracing::info!(signal = name, "stopping");
    };
    let ended = crate::subscribe::run(config, listener, stop).await;
    if let Some(path) = &args.ready_file {
        ready::forget(path)?;
    }
    ended.map_err(|error| {
        UsageError::new(
            format!("cannot connect to `{}`: {}", error.endpoint, sentence(&error.source)),
            "write the engine's address as `tcp://HOST:PORT`, with `--engine` and `--replay`",
        )
    })?;
    tracing::info!("stopped");
    Ok(Exit::Done)
}

fn config(args: &Args) -> Result<SidecarConfig, UsageError> {
    let way = args.server.way()?;
    let publishers = publishers(args)?;
    let mut mapper = MapperOptions {
        adapter_names: args.adapter_names.iter().cloned().collect(),
        ignore_extra_keys: args.extra_keys == ExtraKeys::Ignore,
        l2_retains: args.l2_retains,
        ..MapperOptions::default()
    };
    mapper.max_held_blocks = args.max_held_blocks.unwrap_or(mapper.max_held_blocks);
    Ok(SidecarConfig {
        fleet: Fleet {
            engine: Identity {
                replica: ReplicaId::from(args.replica.as_str()),
                tenant: TenantId::from(args.tenant.as_str()),
                model: ModelId::from(args.model.as_str()),
                scheme: HashScheme::from(args.hash_scheme.as_str()),
            },
            publishers: publishers.len(),
            is_ranked: args.dp_ranks.is_some(),
        },
        publishers,
        mapper,
        server: way.endpoint().clone(),
        server_url: way.url().to_owned(),
        dial: dial(way),
        patience: args.server.patience(),
        refresh: args.refresh,
        metrics_url: args.metrics_url.clone(),
    })
}

/// Connects with the certificates and the token that are there by then.
fn dial(way: Way) -> Dial {
    Arc::new(move || {
        let way = way.clone();
        Box::pin(async move {
            let (connector, authorization) = way.open().map_err(|error| error.to_string())?;
            match connector.connect().await {
                Ok(wire) => Ok(Dialed { wire: Box::new(wire), authorization }),
                Err(fault) => Err(fault.to_string()),
            }
        })
    })
}

/// Bytes that `-dp<rank>` can take.
const RANK_BYTES: usize = "-dp4294967295".len();

/// An id that the server takes.
fn id(text: &str) -> Result<String, String> {
    let most = Limits::default().id_bytes - RANK_BYTES;
    match text.len() {
        0 => Err("it is empty".to_owned()),
        len if len > most => Err(format!("it has {len} bytes, and {most} are allowed")),
        _ => Ok(text.to_owned()),
    }
}

fn tenant(text: &str) -> Result<String, String> {
    match text {
        PROBE_TENANT => Err("this tenant is reserved, and the server drops what names it".to_owned()),
        other => id(other),
    }
}

/// `ID=NAME`.
fn adapter_name(text: &str) -> Result<(i64, AdapterId), String> {
    let wrong = || "write a number and a name, as in `1=sql-lora`".to_owned();
    let (number, name) = text.split_once('=').ok_or_else(wrong)?;
    let number = number.trim().parse().map_err(|_| wrong())?;
    Ok((number, AdapterId::from(id(name.trim())?.as_str())))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn parsed(args: &[&str]) -> Result<SidecarConfig, String> {
        let all = ["subscribe", "--replica=r", "--tenant=t", "--model=m"].iter().chain(args);
        let cli = Cli::try_parse_from(all).map_err(|error| error.to_string())?;
        config(&cli.args).map_err(|error| error.to_string())
    }

    fn endpoints(args: &[&str]) -> Vec<String> {
        let publishers = parsed(args).unwrap().publishers.into_iter();
        publishers.map(|one| format!("{} {}", one.endpoint, one.replay.unwrap_or_default())).collect()
    }

    #[test]
    fn ranks_have_ports_one_after_the_other() {
        assert_eq!(endpoints(&[]), ["tcp://127.0.0.1:5557 tcp://127.0.0.1:5558"]);
        assert_eq!(
            endpoints(&["--engine=tcp://[::1]:7", "--dp-ranks=1"]),
            ["tcp://[::1]:7 tcp://[::1]:5558"]
        );
        assert_eq!(endpoints(&["--replay=none"]), ["tcp://127.0.0.1:5557 "]);
        let two = endpoints(&["--dp-ranks=2", "--replay=tcp://e:6000"]);
        assert_eq!(two, ["tcp://127.0.0.1:5557 tcp://e:6000", "tcp://127.0.0.1:5558 tcp://e:6001"]);
        assert_eq!(endpoints(&["--dp-ranks=2"])[1], "tcp://127.0.0.1:5558 ");
        assert_eq!(endpoints(&["--engine=ipc:///tmp/kv"]), ["ipc:///tmp/kv "]);
    }

    #[test]
    fn addresses_that_cannot_be_used_are_refused() {
        for (args, said) in [
            (&["--engine=tcp://*:5557"][..], "binds"),
            (&["--engine=127.0.0.1:5557"], "no address"),
            (&["--engine=tcp://h:0"], "no address"),
            (&["--engine=tcp://h:65535", "--dp-ranks=2"], "beyond 65535"),
            (&["--engine=ipc:///tmp/kv", "--dp-ranks=2"], "no port"),
            (&["--replay=x"], "no address"),
            (&["--dp-ranks=3", "--replay=tcp://127.0.0.1:5558"], "both"),
            (&["--dp-ranks=0"], "from 1 to 1024"),
            (&["--metrics-url=https://h/metrics"], "TLS"),
            (&["--metrics-url=h:8000"], "http://"),
            (&["--adapter-names=a=b"], "1=sql-lora"),
            (&["--adapter-names=1="], "empty"),
            (&["--tenant=inferencecache.io/probe"], "cannot be used multiple times"),
            (&["--refresh=0s"], "above 0"),
        ] {
            let error = parsed(args).err().unwrap();
            assert!(error.contains(said), "{args:?}: {error}");
        }
        assert!(tenant(PROBE_TENANT).is_err() && id("").is_err());
        assert!(id(&"x".repeat(499)).is_ok() && id(&"x".repeat(500)).is_err());
        let names = parsed(&["--adapter-names=1=sql, 2=law"]).unwrap().mapper.adapter_names;
        assert_eq!(names[&2].as_str(), "law");
    }
}
