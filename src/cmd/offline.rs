//! A lookup against a recorded state, in process.

use clap::Args;

use super::CommandError;
use crate::contract::LookupRouteRequest;
use crate::explanation::Explanation;

/// A capture in place of a server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Offline")]
pub struct OfflineArgs {
    /// Replay this capture in process and look up at its last instant, without a server
    #[arg(long, value_name = "FILE", conflicts_with = "demo")]
    capture: Option<String>,
    /// The same with the built-in capture of four engines; without a request, its last recorded one
    #[arg(long)]
    demo: bool,
}

impl OfflineArgs {
    /// Whether the lookup runs in process.
    pub fn is_given(&self) -> bool {
        self.demo || self.capture.is_some()
    }

    /// Replays and looks up.
    pub fn explain(&self, _request: Option<LookupRouteRequest>) -> Result<Explanation, CommandError> {
        Err(super::UsageError::new("captures cannot be replayed yet", "ask a server").into())
    }
}
