//! What is taken of an update: everything that is checked before the index is touched.

use crate::model::{CacheEvent, Limits, PROBE_TENANT, PrefixEntry, ReplicaStats, StateUpdate};

macro_rules! drop_causes {
    ($($variant:ident $label:literal $doc:literal;)*) => {
        /// Why a part of an update was dropped.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum DropCause {
            $(#[doc = $doc] $variant,)*
        }

        impl DropCause {
            /// Every cause.
            pub const ALL: &'static [DropCause] = &[$(DropCause::$variant,)*];

            /// Label in `inferencecache_ingest_dropped_total{cause}`.
            pub fn label(self) -> &'static str {
                match self { $(DropCause::$variant => $label,)* }
            }

            /// What happened, as a sentence.
            pub fn sentence(self) -> &'static str {
                match self { $(DropCause::$variant => $doc,)* }
            }
        }
    };
}

drop_causes! {
    ReservedTenant "reserved_tenant" "the tenant is reserved for health probes";
    MissingKey "missing_key" "replica_id, tenant_id or model_id is empty";
    LongId "long_id" "an id is over its limit of bytes";
    MissingScheme "missing_scheme" "hash_scheme is empty, so the prefixes cannot be told from those of other engines";
    ListsDisagree "lists_disagree" "block_hashes and block_token_counts differ in length";
    TooManyBlocks "too_many_blocks" "an entry, or the update up to it, has more blocks than one may have";
    EmptyHash "empty_hash" "a hash is empty";
    LongHash "long_hash" "a hash is over its limit of bytes";
    LongVersion "long_version" "client_version is over its limit of bytes";
    NegativeCount "negative_count" "a token count is negative";
    TooManyReplicas "too_many_replicas" "there are as many replicas as the index takes";
}

/// Why the update as a whole is dropped, if it is.
pub(super) fn check_update(update: &StateUpdate<'_>, limits: &Limits) -> Result<(), DropCause> {
    check_names(update.replica, update.tenant, update.model, limits)?;
    let long = [update.scheme, update.adapter].iter().any(|id| id.len() > limits.id_bytes);
    if long { Err(DropCause::LongId) } else { Ok(()) }
}

/// Why the event is dropped, if it is.
pub(super) fn check_event(event: &CacheEvent<'_>, limits: &Limits) -> Result<(), DropCause> {
    check_names(event.replica, event.tenant, event.model, limits)?;
    if event.prefix_hash.len() > limits.hash_bytes {
        Err(DropCause::LongHash)
    } else if event.adapter.len() > limits.id_bytes {
        Err(DropCause::LongId)
    } else {
        Ok(())
    }
}

/// The names that every update and event must have.
fn check_names(replica: &str, tenant: &str, model: &str, limits: &Limits) -> Result<(), DropCause> {
    let names = [replica, tenant, model];
    if tenant == PROBE_TENANT {
        Err(DropCause::ReservedTenant)
    } else if names.iter().any(|name| name.is_empty()) {
        Err(DropCause::MissingKey)
    } else if names.iter().any(|name| name.len() > limits.id_bytes) {
        Err(DropCause::LongId)
    } else {
        Ok(())
    }
}

/// Why an entry is dropped whole, if it is.
pub(super) fn check_entry(entry: &PrefixEntry<'_>, limits: &Limits) -> Result<(), DropCause> {
    let (hashes, counts) = (entry.block_hashes, entry.block_token_counts);
    if hashes.len() != counts.len() {
        Err(DropCause::ListsDisagree)
    } else if hashes.len() > limits.request_blocks {
        Err(DropCause::TooManyBlocks)
    } else if hashes.is_empty() && entry.prefix_hash.is_empty() || hashes.lengths().0 == 0 {
        Err(DropCause::EmptyHash)
    } else if entry.prefix_hash.len() > limits.hash_bytes || hashes.lengths().1 > limits.hash_bytes {
        Err(DropCause::LongHash)
    } else if entry.token_count < 0 || counts.iter().fold(0, |signs, count| signs | count) < 0 {
        Err(DropCause::NegativeCount)
    } else if entry.adapter.len() > limits.id_bytes {
        Err(DropCause::LongId)
    } else {
        Ok(())
    }
}

/// A rate as the index keeps it: NaN and infinities are 0, everything else within 0..1.
pub(super) fn clean_rate(rate: f32) -> f32 {
    if rate.is_finite() { rate.clamp(0.0, 1.0) } else { 0.0 }
}

/// The client version as the index keeps it: one over the limit is left out.
pub(super) fn clean_version<'a>(stats: &ReplicaStats<'a>, limits: &Limits) -> &'a str {
    if stats.client_version.len() > limits.id_bytes { "" } else { stats.client_version }
}
