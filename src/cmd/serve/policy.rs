//! The policy files that a server starts with.

use std::path::PathBuf;

use super::super::UsageError;
use crate::policy::{Defaults, LoadedFiles, PolicyFiles};

/// Problems that an error names; the rest are counted.
const MAX_PROBLEMS: usize = 20;

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
        let found = LoadedFiles::load(files).map_err(|problems| {
            let mut what = "the policies cannot be used".to_owned();
            for problem in problems.iter().take(MAX_PROBLEMS) {
                what.push_str(&format!("\n  {problem}"));
            }
            if problems.len() > MAX_PROBLEMS {
                what.push_str(&format!("\n  and {} more", problems.len() - MAX_PROBLEMS));
            }
            UsageError::new(what, "correct them, and start again; `icache policy lint` says more")
        })?;
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
