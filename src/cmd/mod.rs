//! The command line: one file a command, each with its arguments and what runs.

mod admin;
mod bench;
mod capture;
mod check;
mod client;
mod completions;
mod connect;
mod doctor;
mod drain;
mod engine;
mod error;
mod event;
mod exit;
mod expect;
mod explain;
mod generate;
mod input;
mod lookup;
mod man;
mod names;
mod offline;
mod policy;
mod ranking;
mod replay;
mod report;
mod request;
mod runtime;
mod serve;
mod simulate;
mod state;
mod subscribe;
mod survey;
mod top;
mod watch;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub use drain::DrainState;
pub use error::{CommandError, ServerError, UsageError};
pub use exit::{Exit, ExitInfo};
pub use serve::{Setting, settings};

use crate::render::{self, ColorWhen, Printer};

/// Cache-aware routing of LLM inference: who holds which prompt prefix, and why.
#[derive(Debug, Parser)]
#[command(name = "icache", version, propagate_version = true, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    /// When to use colour; NO_COLOR switches `auto` off
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        help_heading = "Global options"
    )]
    color: ColorWhen,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  icache lookup --demo --explain       a lookup on built-in data, explained gate by gate
  icache explain PREFIX_MATCH          what an answer means and what a gateway does with it
  icache state --server http://127.0.0.1:9090

Exit status: 0 done, 1 negative answer, 2 usage, 3 server unreachable or answered with an error, 130 Ctrl-C";

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<serve::Given>),
    Subscribe(Box<subscribe::Args>),
    Lookup(Box<lookup::Args>),
    Explain(explain::Args),
    Capture(capture::Args),
    Replay(replay::Args),
    Simulate(Box<simulate::Args>),
    Bench(Box<bench::Args>),
    Policy(policy::Args),
    Doctor(Box<doctor::Args>),
    Top(Box<top::Args>),
    Drain(drain::Args),
    State(state::Args),
    Report(Box<report::Args>),
    Event(event::Args),
    Completions(completions::Args),
    Man(man::Args),
    Generate(generate::Args),
}

/// What `--version` says: version, commit and build.
const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (commit ", env!("ICACHE_COMMIT"), "; ", env!("ICACHE_BUILD"), ")");

/// What runs a command: prints its result and says how it ended.
type Outcome = Result<Exit, CommandError>;

impl Command {
    fn run(&self, printer: &mut Printer) -> Outcome {
        match self {
            Self::Serve(given) => serve::run(given, printer),
            Self::Subscribe(args) => subscribe::run(args),
            Self::Lookup(args) => lookup::run(args, printer),
            Self::Explain(args) => explain::run(args, printer),
            Self::Capture(args) => capture::run(args, printer),
            Self::Replay(args) => replay::run(args, printer),
            Self::Simulate(args) => simulate::run(args, printer),
            Self::Bench(args) => bench::run(args, printer),
            Self::Policy(args) => policy::run(args, printer),
            Self::Doctor(args) => doctor::run(args, printer),
            Self::Top(args) => top::run(args, printer),
            Self::Drain(args) => drain::run(args, printer),
            Self::State(args) => state::run(args, printer),
            Self::Report(args) => report::run(args, printer),
            Self::Event(args) => event::run(args, printer),
            Self::Completions(args) => completions::run(args, printer),
            Self::Man(args) => man::run(args, printer),
            Self::Generate(args) => generate::run(args, printer),
        }
    }
}

/// The definition of the whole command line, for completions and man pages.
pub fn definition() -> clap::Command {
    Cli::command().mut_subcommands(|command| command.mut_args(with_negative_values))
}

/// A value below 0 is a value, so that what is said of it is what the flag takes.
fn with_negative_values(arg: clap::Arg) -> clap::Arg {
    if arg.get_long().is_none() || !arg.get_action().takes_values() {
        return arg;
    }
    let has_unit = |name: &clap::builder::Str| matches!(name.as_str(), "DURATION" | "SIZE");
    if arg.get_value_names().is_some_and(|names| names.iter().any(has_unit)) {
        return arg.allow_hyphen_values(true);
    }
    arg.allow_negative_numbers(true)
}

/// Parses `args`, runs the command and says how it ended. Errors are on standard error when this returns.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match parse(&args) {
        Ok(cli) => cli,
        Err(exit) => return exit,
    };
    let mut printer = Printer::stdout(cli.color);
    let outcome = cli.command.run(&mut printer);
    let flushed = printer.flush();
    match outcome.and_then(|exit| flushed.map(|()| exit).map_err(CommandError::from)) {
        Ok(exit) => exit,
        Err(CommandError::Interrupted) => Exit::Interrupted,
        Err(error) => fail(&error, cli.color),
    }
}

fn parse(args: &[OsString]) -> Result<Cli, Exit> {
    let color = asked_color(args);
    // One program has one version, under its own name.
    let definition = definition().version(VERSION).mut_subcommands(|command| command.display_name("icache"));
    let mut definition = definition.color(match color {
        ColorWhen::Auto => clap::ColorChoice::Auto,
        ColorWhen::Always => clap::ColorChoice::Always,
        ColorWhen::Never => clap::ColorChoice::Never,
    });
    let parsed = definition.try_get_matches_from_mut(args).and_then(|found| Cli::from_arg_matches(&found));
    parsed.map_err(|error| {
        if !error.use_stderr() {
            // Help into a closed pipe is no error.
            let _ = error.print();
            return Exit::Done;
        }
        let command = named_command(&definition, args);
        let error = match error.kind() {
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => UsageError::new(
                "no command was given",
                format!("`{command} --help` lists the commands, with examples"),
            ),
            ErrorKind::InvalidUtf8 => {
                let wrong = args.iter().find(|arg| arg.to_str().is_none());
                let shown = wrong.map(|arg| arg.to_string_lossy()).unwrap_or_default();
                UsageError::new(
                    format!("the argument `{shown}` is no UTF-8 text"),
                    "write it in UTF-8; what UTF-8 cannot hold can be given in a file",
                )
            }
            _ => UsageError::from_parser(&error, &command),
        };
        fail(&error.into(), color)
    })
}

/// What `--color` says, as far as that can be told of arguments that may be wrong.
fn asked_color(args: &[OsString]) -> ColorWhen {
    let texts: Vec<&str> =
        args.iter().filter_map(|arg| arg.to_str()).take_while(|arg| *arg != "--").collect();
    let value_at = |at: usize| match texts[at].strip_prefix("--color")? {
        "" => texts.get(at + 1).copied(),
        rest => rest.strip_prefix('='),
    };
    let said = (0..texts.len()).find_map(value_at);
    said.and_then(|said| <ColorWhen as clap::ValueEnum>::from_str(said, false).ok()).unwrap_or_default()
}

/// The command that the arguments name, as far as they do.
fn named_command(definition: &clap::Command, args: &[OsString]) -> String {
    let mut name = "icache".to_owned();
    let mut command = definition;
    for arg in args.iter().skip(1).filter_map(|arg| arg.to_str()).filter(|arg| *arg != "help") {
        if let Some(below) = command.find_subcommand(arg) {
            name.push_str(&format!(" {}", below.get_name()));
            command = below;
        }
    }
    name
}

fn fail(error: &CommandError, color: ColorWhen) -> Exit {
    // Nowhere is left to report that standard error is gone.
    let _ = render::error(&mut Printer::stderr(color), error);
    error.exit()
}
