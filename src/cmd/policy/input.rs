//! Policies that a command line names: files, folders, standard input.

use std::time::Duration;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::files;
use crate::cmd::error::UsageError;
use crate::cmd::input;
use crate::model::{Source, Sourced, duration_ns};
use crate::policy::fields::DEFAULT_NAMESPACE;
use crate::policy::{Defaults, LoadedPolicies, PolicyError, load_sources};
use crate::replay::PolicyOverride;

/// How files of policies are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Policies")]
pub struct PolicyInput {
    /// Namespace of objects that name none
    #[arg(
        long,
        value_name = "NAME",
        default_value = DEFAULT_NAMESPACE,
        value_parser = NonEmptyStringValueParser::new()
    )]
    namespace: String,
    /// `--default-ttl` of the server that they are for
    #[arg(long, value_name = "DURATION", value_parser = input::span)]
    default_ttl: Option<Duration>,
}

impl PolicyInput {
    /// The effective policies of files and folders; `-` is standard input.
    pub fn load(&self, paths: &[String]) -> Result<LoadedPolicies, UsageError> {
        let defaults = match self.default_ttl {
            Some(ttl) => Defaults { ttl_ns: Sourced::new(duration_ns(ttl), Source::Flag("--default-ttl")) },
            None => Defaults::default(),
        };
        load_sources(files::sources(paths)?, Some(&self.namespace), &defaults)
            .map_err(|error| refused_policy(&error))
    }
}

/// The policies of a path in place of captured ones; objects that name no namespace are in `namespace`.
pub fn in_place(path: &str, namespace: &str) -> Result<PolicyOverride, UsageError> {
    Ok(PolicyOverride { files: files::sources(&[path.to_owned()])?, namespace: namespace.to_owned() })
}

/// Policies that cannot be used, and what to do about it.
pub fn refused_policy(error: &PolicyError) -> UsageError {
    UsageError::new(error.headline(), "`icache policy lint` shows every problem, with what to write")
}
