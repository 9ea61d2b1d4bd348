//! Flags of the saved state.

use std::path::PathBuf;
use std::time::Duration;

use super::super::UsageError;
use super::super::error::no_folder;
use super::values::positive_span;
use crate::server::StateFolder;

/// Where the state is kept over a restart, and how often it is saved.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct StateArgs {
    /// Folder that the index is saved in when the server stops and every --state-interval, and loaded from when it
    /// starts; without it nothing is saved
    #[arg(long, value_name = "FOLDER", help_heading = "Saved state")]
    state_dir: Option<PathBuf>,
    /// Time between two savings while the index changes: what is lost at most where the server is killed
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = positive_span, help_heading = "Saved state")]
    state_interval: Duration,
}

impl StateArgs {
    /// Makes the folder where it is not there. A server that is told to keep its state and cannot must not seem to.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        let Some(path) = &self.state_dir else { return Ok(()) };
        std::fs::create_dir_all(path).map_err(|error| {
            UsageError::new(
                format!("cannot keep the state in `{}`: {}", path.display(), no_folder(&error)),
                "give `--state-dir` a folder that is there or can be made",
            )
        })
    }

    /// The folder and the interval, where state is saved.
    pub(super) fn folder(&self) -> Option<(StateFolder, Duration)> {
        self.state_dir.as_ref().map(|path| (StateFolder::new(path), self.state_interval))
    }
}
