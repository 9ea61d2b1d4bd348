//! `icache doctor`: whether an installation works, and what to do where it does not.

use super::exit::Exit;
use super::runtime;
use super::survey::PortArgs;
use super::{CommandError, Outcome};
use crate::doctor::diagnose;
use crate::policy::lint::Severity;
use crate::render::{self, Format, Printer};

/// Say whether an installation works, and what to do where it does not
///
/// Asks the gRPC port, the HTTP port and the admin port of a server, changes nothing, and judges what they answer. What a
/// port that does not answer would have told is listed as not checked.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    ports: PortArgs,
    /// Form of the result; jsonl is one finding a line
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

const EXAMPLES: &str = "\
Examples:
  icache doctor
  icache doctor --server https://icache:9090 --ca ca.pem --token-file token --admin-token-file admin-token
  icache explain tenant-mismatch
      what a finding means, and what to do

Exit status: 0 where no finding is an error, 1 where one is, 3 where the gRPC port does not answer";

/// Asks, judges and prints.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let ports = args.ports.ports()?;
    let runtime = runtime::single()?;
    let seen = runtime.block_on(async {
        tokio::select! {
            seen = ports.observe() => seen,
            _ = tokio::signal::ctrl_c() => Err(CommandError::Interrupted),
        }
    })?;
    let diagnosis = diagnose(&seen);
    render::diagnosis(printer, args.output, &diagnosis)?;
    Ok(match diagnosis.count(Severity::Error) {
        _ if diagnosis.is_unreachable() => Exit::Server,
        0 => Exit::Done,
        _ => Exit::Negative,
    })
}
