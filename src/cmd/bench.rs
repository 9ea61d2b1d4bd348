//! `icache bench`: load against a server, and how it answers.

mod pace;
mod run;
mod stream;
mod target;
mod unary;

use std::path::PathBuf;
use std::time::Duration;

use super::client::ServerArgs;
use super::error::{CommandError, UnmetError, UsageError, sentence};
use super::exit::Exit;
use super::runtime;
use super::{Outcome, input, replay};
use crate::bench::{BenchReport, Loop, Mix, Shape, Workload};
use crate::model::parse_duration;
use crate::render::{self, Format, Printer};

use run::{Ended, Plan, Until};
use target::Identity;

/// Load a server with lookups, and measure how it answers
///
/// First the state that will be asked for is reported, under a tenant and model of its own; at the end it is removed.
/// Every answer is compared with what was loaded. Latencies count from when a lookup was due: with `--rate`, one that had to
/// wait for earlier ones has waited.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Lookups in flight, all connections together: the next is asked when one is answered [default: 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_IN_FLIGHT), conflicts_with = "rate")]
    in_flight: Option<u32>,
    /// Lookups a second, whether earlier ones are answered or not; up to 1000000, with up to 1024 in flight
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: Option<f64>,
    /// Connections to the server
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    connections: u32,
    /// Ask through the stream of the FastLookup service
    #[arg(long)]
    fast: bool,
    /// How long to measure, 20m at most [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = length, conflicts_with = "requests")]
    duration: Option<Duration>,
    /// Lookups to measure, in place of a duration
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    requests: Option<u64>,
    /// How long to ask before anything counts, 20m at most; 0s is not at all
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = warm_up)]
    warm_up: Duration,
    /// Also ask this server, in slices that take turns, and say how the two compare
    #[arg(long, value_name = "URL")]
    against: Option<String>,
    #[command(flatten)]
    load: LoadArgs,
    #[command(flatten)]
    server: ServerArgs,
    /// Also write the result as a page to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,
    /// Form of the result; jsonl is the JSON document in one line
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Load")]
struct LoadArgs {
    /// Blocks of a chain, of 16 tokens each
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=131_072))]
    blocks: u32,
    /// Part of each chain that is one of four heads, which every replica holds; from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.3, value_parser = input::share)]
    shared_head: f32,
    /// Distinct chains that are loaded, each held by 1, 2 or 4 replicas; times --blocks 4194304 at most
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=4_194_304))]
    chains: u32,
    /// Replicas that hold them
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    replicas: u32,
    /// Weights of what is asked: chains held in full, that diverge behind the head, of which the head is held, and of
    /// which nothing is; a kind that the chains are too short for becomes the next one
    #[arg(long, value_name = "KIND=N,...", default_value_t = Shown(Mix::USUAL), value_parser = mix)]
    mix: Shown,
    /// The same seed makes the same load
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Tenant that the state is loaded under; what its replicas `bench-0`, `bench-1` and so on hold is removed
    #[arg(long, value_name = "ID", default_value = OWN, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    tenant: String,
    /// Model that the state is loaded under
    #[arg(long, value_name = "ID", default_value = OWN, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    model: String,
}

/// Tenant, model and hash scheme that are not anybody's.
const OWN: &str = "icache-bench";

/// Lookups in flight at most.
const MAX_IN_FLIGHT: i64 = 4_096;
/// Lookups in flight where nobody says.
const IN_FLIGHT: u32 = 16;
/// The loaded state lives half an hour where no policy says otherwise.
const MAX_LENGTH: Duration = Duration::from_secs(20 * 60);
/// Slices of each server where two are compared.
const SLICES: u32 = 10;

const EXAMPLES: &str = "\
Examples:
  icache bench
      16 lookups in flight on one connection, for ten seconds
  icache bench --fast --connections 4 --in-flight 64
      over four streams
  icache bench --rate 5000 --duration 1m --blocks 512 --html bench.html
      5,000 lookups a second, come what may
  icache bench --server http://new:9090 --against http://old:9090
      two servers in turn, and the ratios of their rates and latencies
  icache bench --mix full=1 --requests 100000 -o json";

/// A mix as the help shows it.
#[derive(Clone, Copy, Debug)]
struct Shown(Mix);

impl std::fmt::Display for Shown {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0.text())
    }
}

fn mix(text: &str) -> Result<Shown, String> {
    Mix::parse(text).map(Shown).map_err(|error| error.to_string())
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.001..=1e6).contains(&rate) => Ok(rate),
        _ => Err("write lookups a second, from 0.001 to 1000000".to_owned()),
    }
}

fn length(text: &str) -> Result<Duration, String> {
    match warm_up(text)? {
        Duration::ZERO => Err("a measurement is longer than 0".to_owned()),
        length => Ok(length),
    }
}

fn warm_up(text: &str) -> Result<Duration, String> {
    let ns = parse_duration(text).map_err(|error| error.to_string())?;
    let length = u64::try_from(ns).map(Duration::from_nanos).ok().filter(|length| *length <= MAX_LENGTH);
    length.ok_or_else(|| "it is 20m at most, and not below 0".to_owned())
}

/// Loads, asks, prints.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    if let Some(path) = &args.html {
        replay::check_place(path)?;
    }
    let plan = args.plan()?;
    let servers: Vec<ServerArgs> =
        [Some(args.server.clone()), args.against.as_ref().map(|url| args.server.for_other("--against", url))]
            .into_iter()
            .flatten()
            .collect();
    servers.iter().try_for_each(|server| server.way().map(drop))?;
    let runtime = runtime::many()?;
    let ran = runtime.block_on(run::run(&servers, plan));
    // A server that does not answer must not keep us.
    runtime.shutdown_background();
    let (report, ended) = ran?;
    if let Some(path) = &args.html {
        write_page(path, &report)?;
    }
    render::bench(printer, args.output, &report)?;
    finish(&report, ended)
}

/// How it ended: the server's fault first, then answers that are wrong.
fn finish(report: &BenchReport, ended: Ended) -> Outcome {
    match ended {
        Ended::Lost(error) => return Err(error),
        Ended::Interrupted => return Ok(Exit::Interrupted),
        Ended::Done => {}
    }
    let wrong = report.wrong();
    if wrong == 0 {
        return Ok(Exit::Done);
    }
    let first =
        report.servers.iter().find_map(|server| server.tally.first_wrong.as_deref()).unwrap_or_default();
    Err(UnmetError::new(
        format!("{wrong} of {} answers contradict what was loaded, the first with {first}", report.answers()),
        "check that nothing else uses this tenant and model, and that no cap, quota or short time to live removes what \
         was loaded; else it is a fault of the server",
    )
    .into())
}

fn write_page(path: &std::path::Path, report: &BenchReport) -> Result<(), CommandError> {
    render::bench_page(report).and_then(|page| page.write(path)).map_err(|error| {
        UsageError::new(
            format!("cannot write `{}`: {}", path.display(), sentence(&error)),
            "name a file that can be written with `--html`",
        )
        .into()
    })
}

impl Args {
    fn plan(&self) -> Result<Plan, UsageError> {
        let load = &self.load;
        let workload = Workload::new(Shape {
            blocks: load.blocks,
            shared_head: load.shared_head,
            chains: load.chains,
            replicas: load.replicas,
            mix: load.mix.0,
            seed: load.seed,
        });
        let workload = workload.map_err(|error| {
            UsageError::new(
                error.to_string(),
                "load fewer chains with `--chains`, or shorter ones with `--blocks`",
            )
        })?;
        let in_flight = self.in_flight.unwrap_or(IN_FLIGHT.max(self.connections));
        if self.rate.is_none() && in_flight < self.connections {
            return Err(UsageError::new(
                format!(
                    "`--in-flight {in_flight}` leaves some of `--connections {}` without any",
                    self.connections
                ),
                "give at least one in flight for each connection",
            ));
        }
        Ok(Plan {
            workload,
            identity: Identity {
                tenant: load.tenant.clone(),
                model: load.model.clone(),
                scheme: OWN.to_owned(),
            },
            pace: self.rate.map_or(Loop::Closed(in_flight), Loop::Open),
            connections: self.connections,
            is_fast: self.fast,
            until: match self.requests {
                Some(requests) => Until::Requests(requests),
                None => Until::Elapsed(self.duration.unwrap_or(Duration::from_secs(10))),
            },
            warm_up: self.warm_up,
            slices: if self.against.is_some() { SLICES } else { 1 },
        })
    }
}
