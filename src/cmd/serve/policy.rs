//! The policy files that a server starts with.

use std::path::PathBuf;

use super::super::UsageError;
use crate::policy::{Defaults, FileProblem, LoadedFiles, PolicyFiles};

/// Flags of policy files.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Policies")]
pub(super) struct PolicyArgs {
    /// File or folder of CachePolicies and CacheTenants (.yaml, .yml, .json); watched, and reloaded whole; repeatable
    #[arg(long = "policy", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Namespace of objects that name none
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    namespace: String,
}

impl PolicyArgs {
    /// Loads the files; `None` where no path is given.
    pub(super) fn load(&self, defaults: &Defaults) -> Result<Option<LoadedFiles>, UsageError> {
        if self.paths.is_empty() {
            return Ok(None);
        }
        let files = PolicyFiles {
            paths: self.paths.clone(),
            namespace: self.namespace.clone(),
            defaults: defaults.clone(),
        };
        let found = LoadedFiles::load(files).map_err(|problems| unusable(&problems))?;
        let loaded = &found.loaded;
        tracing::info!(
            policies = loaded.policies,
            tenants = loaded.tenants,
            other_kinds = loaded.other_kinds,
            "policy files loaded"
        );
        for sentence in &loaded.inert {
            tracing::warn!("{sentence}");
        }
        Ok(Some(found))
    }
}

/// The first problem is the error; where there are more, the log has all of them.
fn unusable(problems: &[FileProblem]) -> UsageError {
    let Some((first, others)) = problems.split_first() else {
        return UsageError::new("the policies cannot be used", "check the paths given with `--policy`");
    };
    if !others.is_empty() {
        for problem in problems {
            tracing::error!("{problem}");
        }
    }
    let more = match others.len() {
        0 => String::new(),
        more => format!(" (and {more} more, which the log names)"),
    };
    let what = format!("the policies cannot be used: {first}{more}");
    UsageError::new(
        what,
        "correct the files, and start again; `icache policy lint` shows every problem, with what to write",
    )
}
