//! `icache completions`: completion scripts for shells.

use clap_complete::Shell;

use super::Outcome;
use super::exit::Exit;
use crate::generate;
use crate::render::Printer;

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  icache completions bash > ~/.local/share/bash-completion/completions/icache
  icache completions zsh > ~/.zfunc/_icache
  icache completions fish > ~/.config/fish/completions/icache.fish";

/// Prints the script.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    printer.raw(&generate::completion(args.shell))?;
    Ok(Exit::Done)
}
