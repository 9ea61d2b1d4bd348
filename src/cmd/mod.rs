//! The command line: one file a command, each with its arguments and what runs.

mod error;
mod exit;
mod serve;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

pub use error::{CommandError, ServerError, UsageError};
pub use exit::Exit;

/// Cache-aware routing of LLM inference: who holds which prompt prefix, and why.
#[derive(Debug, Parser)]
#[command(name = "icache", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<serve::Args>),
}

/// Parses `args`, runs the command and says how it ended.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Result<Exit, CommandError> {
    match Cli::parse_from(args).command {
        Command::Serve(args) => serve::run(&args),
    }
}
