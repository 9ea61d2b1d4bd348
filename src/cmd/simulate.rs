//! `icache simulate`: a request trace against modelled engines, under several routings.

mod kinds;
mod scenario;

use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;

use self::kinds::{Kind, Route, When};
use self::scenario::ScenarioArgs;
use super::Outcome;
use super::error::{CommandError, UsageError, sentence};
use super::exit::Exit;
use super::input;
use super::offline::{STDIN, told};
use super::policy::{in_place, refused_policy};
use super::ranking::rankers;
use super::runtime;
use crate::capture::Decompressed;
use crate::model::{Ranker, parse_duration};
use crate::policy::fields::DEFAULT_NAMESPACE;
use crate::policy::{Defaults, load_sources};
use crate::render::{self, Format, Printer, SimulationProgress};
use crate::replay::GivenPolicy;
use crate::simulate::{
    Contender, DEFAULT_WORKLOAD_REQUESTS, MAX_BLOCKS_PER_REPLICA, MAX_PREFILL_RATE, MAX_REPLICAS, MAX_RUNS,
    MAX_UTILISATION, MAX_WORKLOAD_REQUESTS, NamedPolicies, Routing, Scenario, Settings, Simulated, Trace,
    TraceError, TraceOptions, Workload, simulate,
};

/// Simulate a fleet on a request trace, and compare routings and policies side by side
///
/// Each engine is modelled: a cache of blocks that drops the least recently used, and a queue that is prefilled first come
/// first served. Requests are routed as a server would, and engines report to its index as sidecars do. The same seed gives
/// the same result on every machine.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group = clap::ArgGroup::new("traffic").required(true).args(["trace", "workload"]))]
pub struct Args {
    /// Requests, one JSON object a line: timestamp (ms), input_length, output_length (tokens) and hash_ids (one for each
    /// block of 512 tokens); plain, gzip or zstd; `-` is standard input
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// Synthetic requests, made from the seed
    #[arg(long, value_enum, value_name = "KIND")]
    workload: Option<Kind>,
    /// Synthetic requests to make [default: 6000]
    #[arg(
        long,
        value_name = "N",
        requires = "workload",
        value_parser = number(1, MAX_WORKLOAD_REQUESTS as u64)
    )]
    requests: Option<u64>,
    /// Stretch the clock of the requests until engines prefill so many percent of their time under round-robin
    #[arg(long, value_name = "PERCENT", value_parser = number(1, u64::from(MAX_UTILISATION)))]
    utilisation: Option<u64>,
    /// Pass over and count lines that cannot be used
    #[arg(long)]
    skip_bad: bool,
    /// Engines
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = number(1, MAX_REPLICAS as u64), help_heading = "Fleet")]
    replicas: u64,
    /// Blocks of 512 tokens in the cache of each engine
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        value_parser = number(1, MAX_BLOCKS_PER_REPLICA as u64),
        help_heading = "Fleet"
    )]
    blocks_per_replica: u64,
    /// Tokens that each engine prefills in a second; of a list, engines take one each in turn
    #[arg(
        long,
        value_name = "LIST",
        default_value = "10000",
        value_delimiter = ',',
        value_parser = number(1, MAX_PREFILL_RATE),
        help_heading = "Fleet"
    )]
    prefill_rate: Vec<u64>,
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// When engines say what a prompt brought into their cache
    #[arg(long, value_enum, default_value_t = When::End, value_name = "WHEN", help_heading = "Fleet")]
    publish: When,
    /// How late everything that engines say comes to the index
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = delay, help_heading = "Fleet")]
    event_delay: i64,
    /// How often a sidecar reports everything that its engine holds; 0 for never
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = refresh, help_heading = "Fleet")]
    refresh: i64,
    /// Routings to compare
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "reference,balanced,round-robin,random,least-loaded",
        value_name = "LIST",
        help_heading = "Routing"
    )]
    route: Vec<Route>,
    /// Compare this ranker with the routings that ask nobody, in place of both rankers
    #[arg(
        long,
        value_name = "RANKER",
        conflicts_with = "route",
        value_parser = rankers(),
        help_heading = "Routing"
    )]
    ranker: Option<Ranker>,
    /// Policies to route under, beside the defaults: a YAML or JSON file, or a folder of them
    #[arg(long = "policy", value_name = "PATH", help_heading = "Routing")]
    policies: Vec<String>,
    /// Whose requests they are, and the namespace of policies that name none
    #[arg(
        long,
        value_name = "ID",
        default_value = DEFAULT_NAMESPACE,
        value_parser = NonEmptyStringValueParser::new(),
        help_heading = "Routing"
    )]
    tenant: String,
    /// Requests to begin with that go round-robin, whatever the routing
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Routing")]
    warmup: u64,
    /// Of synthetic requests and of the random routing
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Routing")]
    seed: u64,
    /// Also write a page with plots over time, one file that needs no network
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,
    /// Form of the result; jsonl is the JSON document in one line
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

const EXAMPLES: &str = "\
Examples:
  icache simulate --trace conversation_trace.jsonl
      all routings on eight engines
  icache simulate --trace conversation_trace.jsonl --route reference --warmup 400 --policy policies/
      the defaults and other policies, from a fleet that is warm
  icache simulate --trace conversation_trace.jsonl --replicas 16 --event-delay 500ms --html fleet.html
      a larger fleet whose events are late, with plots over time
  icache simulate --workload hot-prefix --utilisation 60 --kill r3@60s --restart r3@120s --replica-timeout 15s
      synthetic requests, and an engine that dies and comes back";

/// Simulates and prints.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    if let Some(page) = &args.html {
        input::spare(page, args.trace.iter().chain(&args.policies).map(Path::new))?;
    }
    let (contenders, warnings) = args.contenders()?;
    let progress = SimulationProgress::new();
    let runtime = runtime::single()?;
    let work = {
        let (settings, progress) = (args.settings()?, progress.clone());
        let (traffic, skip_bad) = (args.traffic()?, args.skip_bad);
        move || work(&traffic, skip_bad, &settings, &contenders, &progress)
    };
    let done = runtime.block_on(async {
        tokio::select! {
            // The signal is listened to before the work begins.
            biased;
            _ = tokio::signal::ctrl_c() => Err(CommandError::Interrupted),
            done = async { tokio::task::spawn_blocking(work).await } => match done {
                Ok(done) => done.map_err(CommandError::from),
                Err(failed) => std::panic::resume_unwind(failed.into_panic()),
            },
        }
    });
    // Work that was interrupted ends with the process.
    runtime.shutdown_background();
    progress.clear();
    let mut result = done?;
    result.warnings.extend(warnings);
    if let Some(path) = &args.html {
        let written = render::simulated_page(&result).and_then(|page| page.write(path));
        written.map_err(|error| {
            UsageError::new(
                format!("cannot write `{}`: {}", path.display(), sentence(&error)),
                "name a file in a folder that is there and may be written to",
            )
        })?;
    }
    render::simulated(printer, args.output, &result)?;
    Ok(Exit::Done)
}

/// Where the requests come from.
enum Traffic {
    File(String),
    Made(Workload, usize, u64),
}

fn work(
    traffic: &Traffic,
    skip_bad: bool,
    settings: &Settings,
    contenders: &[Contender],
    progress: &SimulationProgress,
) -> Result<Simulated, UsageError> {
    let options = TraceOptions { skip_bad, ..TraceOptions::default() };
    let mut torn = None;
    let (name, trace) = match traffic {
        Traffic::Made(workload, requests, seed) => (workload.name(), workload.trace(*requests, *seed)),
        Traffic::File(path) => {
            let name = if path == "-" { STDIN } else { path };
            let raw = BufReader::with_capacity(1 << 16, input::open(path)?);
            let mut source = Decompressed::new(raw).map_err(|error| UsageError::unreadable(path, &error))?;
            let trace = Trace::read(name, &mut source, options).map_err(|error| match source.is_torn() {
                true => UsageError::new(
                    format!("{} ends amid compressed data", input::shown(path)),
                    "copy it again, whole; `--skip-bad` uses the requests before its end, where there are any",
                ),
                false => unusable(path, &error),
            })?;
            torn = source.is_torn().then_some(name);
            (name, trace)
        }
    };
    progress.expect(trace.requests().len() as u64 * contenders.len() as u64);
    let mut result = simulate(name, &trace, settings, contenders, &mut |done| progress.at(done));
    if let Some(name) = torn {
        result
            .warnings
            .push(format!("`{name}` ends amid compressed data; the requests before its end are used"));
    }
    Ok(result)
}

/// A trace that cannot be used, and what to do about it.
fn unusable(path: &str, error: &TraceError) -> UsageError {
    let advice = match error {
        TraceError::Io { source, .. } => return UsageError::unreadable(path, source),
        TraceError::Line { .. } => "repair the line, or pass over such lines with `--skip-bad`",
        TraceError::Empty { .. } => "give a request trace, one JSON object a line",
        TraceError::Size { .. } => "simulate a part of it, such as its first lines",
    };
    UsageError::new(told(error), advice)
}

impl Args {
    fn traffic(&self) -> Result<Traffic, UsageError> {
        match (&self.trace, self.workload) {
            // The parser lets it pass, since a trace stands in for a workload.
            (Some(_), _) if self.requests.is_some() => Err(UsageError::new(
                "`--requests` is given with `--trace`, whose requests are all used",
                "leave `--requests` out, or give `--workload` in place of `--trace`",
            )),
            (Some(path), _) => Ok(Traffic::File(path.clone())),
            (None, kind) => {
                let workload = kind.map_or(Workload::Diffuse, Workload::from);
                let requests = self.requests.map_or(DEFAULT_WORKLOAD_REQUESTS, size);
                Ok(Traffic::Made(workload, requests, self.seed))
            }
        }
    }

    fn settings(&self) -> Result<Settings, UsageError> {
        let rates = &self.prefill_rate;
        if rates.len() > size(self.replicas) {
            return Err(UsageError::new(
                format!("`--prefill-rate` names {} rates for {} engines", rates.len(), self.replicas),
                "give one rate for all, or a list of as many at most; engines take one each in turn",
            ));
        }
        let utilisation = self.utilisation.and_then(|percent| u32::try_from(percent).ok());
        let several = if rates.len() > 1 { rates.clone() } else { Vec::new() };
        Ok(Settings {
            replicas: size(self.replicas),
            blocks_per_replica: size(self.blocks_per_replica),
            prefill_rate: rates.first().copied().unwrap_or(1),
            publish: self.publish.into(),
            event_delay_ns: self.event_delay,
            refresh_ns: self.refresh,
            warmup: self.warmup,
            seed: self.seed,
            tenant: self.tenant.clone(),
            scenario: Scenario {
                prefill_rates: several,
                utilisation,
                ..self.scenario.scenario(size(self.replicas))?
            },
        })
    }

    /// The runs, and what a person should know of their policies.
    fn contenders(&self) -> Result<(Vec<Contender>, Vec<String>), UsageError> {
        let mut policies = vec![None];
        let mut warnings = Vec::new();
        for path in &self.policies {
            let (named, said) = self.policies_of(path)?;
            policies.push(Some(named));
            warnings.extend(said);
        }
        let mut contenders = Vec::new();
        for (at, route) in self.route.iter().enumerate() {
            let is_other = matches!(
                (self.ranker, route),
                (Some(Ranker::Balanced), Route::Reference) | (Some(Ranker::Reference), Route::Balanced)
            );
            if is_other || self.route[..at].contains(route) {
                continue;
            }
            let routing = Routing::from(*route);
            let under = if routing.asks() { &policies[..] } else { &[None] };
            contenders.extend(under.iter().map(|policy| Contender { routing, policy: policy.clone() }));
        }
        if contenders.len() > MAX_RUNS {
            return Err(UsageError::new(
                format!("{} runs are asked for", contenders.len()),
                format!("compare at most {MAX_RUNS} at once; give fewer policies"),
            ));
        }
        if !self.policies.is_empty() && !contenders.iter().any(|contender| contender.routing.asks()) {
            return Err(UsageError::new(
                "`--policy` is given, and no routing asks the index",
                "add `reference` or `balanced` to `--route`, or leave the policies out",
            ));
        }
        Ok((contenders, warnings))
    }

    fn policies_of(&self, path: &str) -> Result<(NamedPolicies, Vec<String>), UsageError> {
        let given = in_place(path, &self.tenant)?;
        let loaded = load_sources(given.files, Some(&given.namespace), &Defaults::default())
            .map_err(|error| refused_policy(&error))?;
        let tenants: BTreeSet<String> =
            loaded.set.iter().map(|(tenant, _)| tenant.as_str().to_owned()).collect();
        let name = if path == "-" { STDIN } else { path }.to_owned();
        let policy = GivenPolicy { name: name.clone(), tenants, is_met: false };
        let warnings = loaded.inert.into_iter().chain(policy.idle_for_tenant(&self.tenant)).collect();
        Ok((NamedPolicies { name, set: loaded.set }, warnings))
    }
}

/// A number that is bounded far below what the type holds.
fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A whole number from `least` to `most`.
pub(super) fn number(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |text| match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("write a whole number from {least} to {most}")),
    }
}

/// Longest delay and refresh, in nanoseconds: a day.
const MAX_SPAN_NS: i64 = 86_400_000_000_000;

/// A span of 0 or more, in nanoseconds.
pub(super) fn delay(text: &str) -> Result<i64, String> {
    match parse_duration(text) {
        Ok(ns) if (0..=MAX_SPAN_NS).contains(&ns) => Ok(ns),
        Ok(_) => Err("write a duration from 0 to 24h".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// A span of 0, or of a second or more, in nanoseconds.
fn refresh(text: &str) -> Result<i64, String> {
    match delay(text)? {
        ns if ns == 0 || ns >= 1_000_000_000 => Ok(ns),
        _ => Err("write 0 for no refresh, or 1s and more".to_owned()),
    }
}
