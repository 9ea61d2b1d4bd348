//! The log: its form and level.

use std::io::{self, IsTerminal as _};

use clap::ValueEnum;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

use super::values::level;

/// Flags of the log.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Log")]
pub(in crate::cmd) struct LogArgs {
    /// Form of the log [default: text on a terminal, else json]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// Least severe level that is logged: off, error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info", value_parser = level)]
    log_level: LevelFilter,
}

/// Form of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum LogFormat {
    /// One JSON object a line
    Json,
    /// For people
    Text,
}

impl LogArgs {
    /// Logs this program at the level asked for, and its libraries at warnings.
    pub(in crate::cmd) fn init(&self) {
        let level = self.log_level;
        let libraries = level.min(LevelFilter::WARN);
        let log = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(format!("{libraries},icache={level}")))
            .with_writer(io::stderr);
        let is_terminal = io::stderr().is_terminal();
        let format = self.log_format.unwrap_or(if is_terminal { LogFormat::Text } else { LogFormat::Json });
        // An error means that the process logs already.
        let _ = match format {
            LogFormat::Json => log.json().flatten_event(true).try_init(),
            LogFormat::Text => {
                let has_color = is_terminal && std::env::var_os("NO_COLOR").is_none();
                log.with_ansi(has_color).try_init()
            }
        };
    }
}
