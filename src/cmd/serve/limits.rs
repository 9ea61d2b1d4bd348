//! Flags that bound what callers can make the server hold.

use super::values::count;
use crate::index::IndexConfig;
use crate::model::Limits;

/// Limits on requests, updates and replicas; what is not given is as built in.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct LimitArgs {
    /// Blocks in one request or update; a request over it is answered NO_HINT, and of an update the entries beyond
    /// are dropped [default: 131072]
    #[arg(long, value_name = "N", value_parser = count(16_777_216), help_heading = "Limits")]
    max_blocks: Option<usize>,
    /// Bytes of one hash; a request over it is answered NO_HINT, a prefix entry or event is dropped [default: 64]
    #[arg(long, value_name = "BYTES", value_parser = count(4_096), help_heading = "Limits")]
    max_hash_bytes: Option<usize>,
    /// Bytes of a replica, tenant, model, hash scheme or adapter id; a request over it is answered NO_HINT, an update
    /// or event is dropped [default: 512]
    #[arg(long, value_name = "BYTES", value_parser = count(65_536), help_heading = "Limits")]
    max_id_bytes: Option<usize>,
    /// Replicas of one tenant and model; what further ones report is dropped [default: 16384]
    #[arg(long, value_name = "N", value_parser = count(1_048_576), help_heading = "Limits")]
    max_replicas: Option<usize>,
    /// Replicas of all tenants and models, those without entries included; what further ones report is dropped
    /// [default: 65536]
    #[arg(long, value_name = "N", value_parser = count(16_777_216), help_heading = "Limits")]
    max_replica_records: Option<usize>,
}

impl LimitArgs {
    /// The bounds of `index` with what was given in their place.
    pub(super) fn of_index(self, index: IndexConfig) -> IndexConfig {
        let limits = index.limits;
        IndexConfig {
            max_replicas_per_scope: self.max_replicas.unwrap_or(index.max_replicas_per_scope),
            max_replica_records: self.max_replica_records.unwrap_or(index.max_replica_records),
            limits: Limits {
                request_blocks: self.max_blocks.unwrap_or(limits.request_blocks),
                hash_bytes: self.max_hash_bytes.unwrap_or(limits.hash_bytes),
                id_bytes: self.max_id_bytes.unwrap_or(limits.id_bytes),
                ..limits
            },
            ..index
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        limits: LimitArgs,
    }

    #[test]
    fn help_of_limits_names_the_built_in_values() {
        let help = Cli::command().render_long_help().to_string().replace(char::is_whitespace, "");
        let index = IndexConfig::default();
        for (flag, value) in [
            ("max-blocks", index.limits.request_blocks),
            ("max-hash-bytes", index.limits.hash_bytes),
            ("max-id-bytes", index.limits.id_bytes),
            ("max-replicas", index.max_replicas_per_scope),
            ("max-replica-records", index.max_replica_records),
        ] {
            let (_, rest) = help.split_once(&format!("--{flag}<")).unwrap();
            let told = rest.split_once("[default:").unwrap().1;
            assert!(told.starts_with(&format!("{value}]")), "{flag}: {told}");
        }
    }

    #[test]
    fn limits_have_bounds_of_their_own() {
        for (flag, most) in [
            ("--max-blocks", 16_777_216),
            ("--max-hash-bytes", 4_096),
            ("--max-id-bytes", 65_536),
            ("--max-replicas", 1_048_576),
            ("--max-replica-records", 16_777_216_u64),
        ] {
            let parsed = |value: String| Cli::try_parse_from(["serve".to_owned(), format!("{flag}={value}")]);
            for value in ["1".to_owned(), most.to_string()] {
                assert!(parsed(value.clone()).is_ok(), "{flag} {value}");
            }
            for value in ["0".to_owned(), (most + 1).to_string(), "-1".to_owned(), "many".to_owned()] {
                let error = parsed(value.clone()).unwrap_err().to_string();
                assert!(error.contains(&format!("from 1 to {most}")), "{flag} {value}: {error}");
            }
        }
    }
}
