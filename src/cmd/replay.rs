//! `icache replay`: captures in process, on a clock of their own, or to a running server.

mod input;
mod server;

use std::path::{Path, PathBuf};

use self::input::{IdentityArgs, Input, no_batch, open};
use self::server::Speed;
use super::client::ServerArgs;
use super::error::{UnmetError, UsageError};
use super::exit::Exit;
use super::input::spare;
use super::offline::STDIN;
use super::policy::in_place;
use super::ranking::RankingArgs;
use super::{CommandError, Outcome};
use crate::policy::fields::DEFAULT_NAMESPACE;
use crate::render::{self, Format, PageContext, Printer, Progress};
use crate::replay::{GivenPolicy, Replay, ReplayOptions, ReplayReport};

pub use self::input::unusable;

/// Replay captures in process or to a server: what was answered, why, and whether it is what was recorded
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("server", |arg| arg.help("Send it all to this server in place of replaying in process")))]
#[command(mut_arg("timeout", |arg| arg.help("Deadline of a call, such as `250ms` [default: 10s]").requires("server")))]
pub struct Args {
    /// Captures that continue each other, in order; `-` is standard input; `.msgpack` is one bare engine batch
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Replay each file into an empty index of its own, and add up what came of them
    #[arg(long, conflicts_with = "server")]
    separate: bool,
    /// Compare each lookup with its recorded answer or expectation; any difference ends with exit status 1
    #[arg(long)]
    check: bool,
    /// Mismatches shown in full
    #[arg(long, default_value_t = 10, value_name = "N", requires = "check")]
    mismatches: usize,
    /// Policies that hold in place of the captured ones: a YAML or JSON file, or a folder of them
    #[arg(long, value_name = "PATH", conflicts_with = "server")]
    policy: Option<String>,
    /// Pass over and count lines that cannot be used
    #[arg(long)]
    skip_bad: bool,
    #[command(flatten)]
    ranking: RankingArgs,
    #[command(flatten)]
    server: ServerArgs,
    /// How much faster than recorded: `1x`, `10x`, or `max` for as fast as the server answers [default: 1x]
    #[arg(long, value_name = "SPEED", requires = "server", help_heading = "Server")]
    speed: Option<Speed>,
    #[command(flatten)]
    identity: IdentityArgs,
    /// Also say how long lookups took on this machine; a server's answers are timed in any case
    #[arg(long, help_heading = "Output")]
    timings: bool,
    /// Also write a page with plots over time, in one file that needs no network
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,
    /// Form of the result; jsonl is the JSON document in one line
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

const EXAMPLES: &str = "\
Examples:
  icache replay testdata/fleet/fleet.capture.jsonl
  icache replay fleet.capture.jsonl --html fleet.html
  icache replay --check --separate testdata/reference/*.jsonl
  icache replay fleet.capture.jsonl --policy policies.yaml -o json
  icache replay fleet.capture.jsonl --server http://127.0.0.1:9090 --speed 10x --check
  icache replay batch.msgpack --replica vllm-0 --model llama-3.1-8b --tenant team-a";

/// Replays and prints.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    if let Some(path) = &args.html {
        check_place(path)?;
        spare(path, args.files.iter().map(PathBuf::as_path).chain(args.policy.iter().map(Path::new)))?;
    }
    if let Some(flag) = args.ranking.given().filter(|_| args.server.is_given()) {
        return Err(UsageError::new(
            format!("`{flag}` is given with `--server`"),
            "a server has its own ranker; replay in process to try another",
        )
        .into());
    }
    let mut report = if args.server.is_given() {
        server::run(args, input::look_at(&args.files, &args.identity)?)?
    } else {
        args.in_process()?
    };
    if let Some(idle) = report.policy.as_ref().and_then(GivenPolicy::idle) {
        report.warn(idle);
    }
    if let Some(path) = &args.html {
        args.write_page(path, &report)?;
    }
    if !args.timings && report.pace.is_none() {
        report.timings = None;
    }
    render::replay(printer, args.output, &report, args.check)?;
    if args.check && report.checked == 0 {
        return Err(UnmetError::new(
            "nothing was checked: no lookup has an answer or expectation that can be compared",
            "record answers in the capture, or write an `expect` beside its lookups",
        )
        .into());
    }
    Ok(if report.mismatched == 0 { Exit::Done } else { Exit::Negative })
}

/// Says before a long run that its page cannot be written.
pub(super) fn check_place(path: &Path) -> Result<(), UsageError> {
    let shown = path.display();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() || path.file_name().is_none() {
        return Err(UsageError::new(
            format!("`--html {shown}` is a folder"),
            "name the file that the page is to be written to",
        ));
    }
    if !folder.is_dir() {
        return Err(UsageError::new(
            format!("`--html {shown}` lies in a folder that is not there"),
            "make the folder first, or name another place",
        ));
    }
    Ok(())
}

impl Args {
    fn options(&self) -> Result<ReplayOptions, CommandError> {
        let policy = self.policy.as_deref().map(|path| in_place(path, DEFAULT_NAMESPACE)).transpose()?;
        Ok(ReplayOptions {
            policy,
            ranking: self.ranking.overrides(),
            check: self.check,
            mismatches: self.mismatches,
            skip_bad: self.skip_bad,
            timings: self.timings || self.html.is_some(),
        })
    }

    fn in_process(&self) -> Result<ReplayReport, CommandError> {
        let options = self.options()?;
        let sizes = input::look_at(&self.files, &self.identity)?;
        let mut progress = Progress::over(sizes.iter().sum());
        let mut sum: Option<ReplayReport> = None;
        let mut replay: Option<Replay> = None;
        for (file, size) in self.files.iter().zip(sizes) {
            let name = if file == Path::new("-") { STDIN.to_owned() } else { file.display().to_string() };
            progress.begin(&name);
            let current = match replay.as_mut() {
                Some(current) => {
                    current.next_file(&name);
                    current
                }
                None => replay.insert(Replay::new(&name, options.clone()).map_err(unusable)?),
            };
            match open(file, &self.identity, self.skip_bad)? {
                Input::Capture(mut reader) => {
                    current.run(&mut reader, &mut |bytes| progress.at(bytes)).map_err(unusable)?;
                }
                Input::Bare(payload, identity) => {
                    current.apply_bare(payload, &identity).map_err(|error| no_batch(&name, &error))?;
                }
            }
            progress.end(size);
            if self.separate {
                self.add(&mut sum, replay.take());
            }
        }
        self.add(&mut sum, replay);
        Ok(sum.unwrap_or_default())
    }

    fn add(&self, sum: &mut Option<ReplayReport>, replay: Option<Replay>) {
        let Some(replay) = replay else { return };
        sum.get_or_insert_default().add(replay.finish(), self.mismatches);
    }

    fn write_page(&self, path: &Path, report: &ReplayReport) -> Result<(), CommandError> {
        let names: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        let first =
            self.files.first().and_then(|file| file.file_name()).unwrap_or_default().to_string_lossy();
        let title = match names.len() {
            0 | 1 => format!("Replay of {first}"),
            files => format!("Replay of {first} and {} more", files - 1),
        };
        let made_by = format!("icache replay {}", names.join(" "));
        let context = PageContext { title: &title, made_by: &made_by, is_check: self.check };
        render::replay_page(report, context).and_then(|page| page.write(path)).map_err(|error| {
            UsageError::new(
                format!("cannot write `{}`: {}", path.display(), super::error::sentence(&error)),
                "name a file that can be written with `--html`",
            )
            .into()
        })
    }
}
