//! Flags that bound what callers can make the server hold.

use super::values::count;
use crate::index::IndexConfig;
use crate::model::Limits;

/// Limits on requests, updates and replicas; each has its own bounds.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct LimitArgs {
    /// Blocks in one request or update; a request over it is answered NO_HINT, and of an update the entries beyond
    /// are dropped
    #[arg(long, value_name = "N", default_value_t = IndexConfig::default().limits.request_blocks, value_parser = count(16_777_216),
        help_heading = "Limits")]
    max_blocks: usize,
    /// Bytes of one hash; a request over it is answered NO_HINT, a prefix entry or event is dropped
    #[arg(long, value_name = "BYTES", default_value_t = IndexConfig::default().limits.hash_bytes, value_parser = count(4_096),
        help_heading = "Limits")]
    max_hash_bytes: usize,
    /// Bytes of a replica, tenant, model, hash scheme or adapter id; a request over it is answered NO_HINT, an update
    /// or event is dropped
    #[arg(long, value_name = "BYTES", default_value_t = IndexConfig::default().limits.id_bytes, value_parser = count(65_536),
        help_heading = "Limits")]
    max_id_bytes: usize,
    /// Replicas of one tenant and model; what further ones report is dropped
    #[arg(long, value_name = "N", default_value_t = IndexConfig::default().max_replicas_per_scope, value_parser = count(1_048_576),
        help_heading = "Limits")]
    max_replicas: usize,
    /// Replicas of all tenants and models, those without entries included; what further ones report is dropped
    #[arg(long, value_name = "N", default_value_t = IndexConfig::default().max_replica_records, value_parser = count(16_777_216),
        help_heading = "Limits")]
    max_replica_records: usize,
}

impl LimitArgs {
    /// The bounds of `index` with what was given in their place.
    pub(super) fn of_index(self, index: IndexConfig) -> IndexConfig {
        let limits = index.limits;
        IndexConfig {
            max_replicas_per_scope: self.max_replicas,
            max_replica_records: self.max_replica_records,
            limits: Limits {
                request_blocks: self.max_blocks,
                hash_bytes: self.max_hash_bytes,
                id_bytes: self.max_id_bytes,
                ..limits
            },
            ..index
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        limits: LimitArgs,
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
