//! `icache subscribe`: the sidecar beside an engine.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use serde::Serialize;
use tokio::net::TcpListener;

use super::client::{ServerArgs, Way};
use super::engine::{EngineArgs, Followed, unconnected};
use super::error::sentence;
use super::serve::log::LogArgs;
use super::serve::values::{address as socket_address, positive_span};
use super::serve::{Signals, ready};
use super::{CommandError, Exit, ServerError, UsageError, runtime};
use crate::subscribe::{Dial, Dialed, SidecarConfig};

/// Tell a server what an engine's cache holds, from the events that the engine publishes
///
/// Runs beside a vLLM or SGLang engine: subscribes to its KV cache events over ZeroMQ, maps them to content fingerprints, and
/// keeps a server told of them, whatever restarts. Token ids never leave this process. docs/subscribe.md says more.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("replica", |arg| arg.required(true)), mut_arg("tenant", |arg| arg.required(true)))]
#[command(mut_arg("model", |arg| arg.required(true)))]
pub struct Args {
    /// Where the engine publishes, as tcp://HOST:PORT; rank N at the port N higher
    #[arg(
        long,
        value_name = "ENDPOINT",
        env = "ICACHE_ENGINE",
        default_value = "tcp://127.0.0.1:5557",
        help_heading = "Engine"
    )]
    engine: String,
    /// The engine's metrics page, scraped every 10 s for hit rate and pressure, such as http://127.0.0.1:8000/metrics
    #[arg(long, value_name = "URL", env = "ICACHE_METRICS_URL", value_parser = metrics_url, help_heading = "Engine")]
    metrics_url: Option<Uri>,
    #[command(flatten)]
    follow: EngineArgs,

    /// Time in which everything held is told again, spread evenly, so that it does not age out of the index
    #[arg(long, value_name = "DURATION", env = "ICACHE_REFRESH", default_value = "10m", value_parser = positive_span,
        help_heading = "Reports")]
    refresh: Duration,
    /// At the end, leave with the server what it knows of the engine, and do not have it dropped
    #[arg(long, env = "ICACHE_KEEP_ON_EXIT", help_heading = "Reports")]
    keep_on_exit: bool,
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
    let runtime = runtime::many()?;
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
        replica = %config.fleet.engine.replica,
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
    ended.map_err(|error| unconnected("--engine", &error))?;
    tracing::info!("stopped");
    Ok(Exit::Done)
}

fn config(args: &Args) -> Result<SidecarConfig, UsageError> {
    let way = args.server.way()?;
    let Followed { publishers, fleet, mapper } = args.follow.follow("--engine", &args.engine)?;
    Ok(SidecarConfig {
        fleet,
        publishers,
        mapper,
        server: way.endpoint().clone(),
        server_url: way.url().to_owned(),
        dial: dial(way),
        patience: args.server.patience(),
        refresh: args.refresh,
        metrics_url: args.metrics_url.clone(),
        clears_at_end: !args.keep_on_exit,
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

/// A metrics page.
fn metrics_url(text: &str) -> Result<Uri, String> {
    if text.starts_with("https://") {
        return Err("it asks for TLS, which this version does not speak as a client".to_owned());
    }
    let uri: Option<Uri> = text.parse().ok();
    let uri =
        uri.filter(|uri| uri.scheme_str() == Some("http") && uri.host().is_some_and(|host| !host.is_empty()));
    uri.ok_or_else(|| "write it as `http://HOST:PORT/metrics`".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::model::PROBE_TENANT;

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
        for (flag, value, is_taken) in [
            ("--tenant", PROBE_TENANT, false),
            ("--replica", "", false),
            ("--replica", &"x".repeat(499), true),
            ("--replica", &"x".repeat(500), false),
        ] {
            let mut all = vec!["subscribe".to_owned(), format!("{flag}={value}")];
            let others = ["--replica", "--tenant", "--model"].into_iter().filter(|other| *other != flag);
            all.extend(others.map(|other| format!("{other}=x")));
            assert_eq!(Cli::try_parse_from(all).is_ok(), is_taken, "{flag} {value}");
        }
        let names = parsed(&["--adapter-names=1=sql, 2=law"]).unwrap().mapper.adapter_names;
        assert_eq!(names[&2].as_str(), "law");
    }
}
