//! What a server would drop or alter of an update or event: refused here, where somebody reads the error.

use crate::contract::wire::inferencecache::v1alpha1::cache_event::Type;
use crate::contract::wire::inferencecache::v1alpha1::{PrefixEntry, ReplicaStats};
use crate::contract::{CacheEvent, CacheStateUpdate};
use crate::model::{Limits, PROBE_TENANT};

/// What is wrong, and in which field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The field's path in proto3 JSON.
    pub field: String,
    /// What is wrong with it, and what it should be.
    pub what: String,
}

type Checked = Result<(), Fault>;

/// Checks an update.
pub fn update(update: &CacheStateUpdate) -> Checked {
    let limits = Limits::default();
    names(&update.replica_id, &update.tenant_id, &update.model_id, &limits)?;
    within("hashScheme", update.hash_scheme.len(), limits.id_bytes)?;
    within("adapterId", update.adapter_id.len(), limits.id_bytes)?;
    not_negative("timestampUs", update.timestamp_us)?;
    if !update.prefixes.is_empty() && update.hash_scheme.is_empty() {
        return fault("hashScheme", "is missing, and prefixes without one are dropped; name their scheme");
    }
    for (at, prefix) in update.prefixes.iter().enumerate() {
        entry(&format!("prefixes[{at}]."), prefix, &limits)?;
    }
    update.stats.as_ref().map_or(Ok(()), |given| stats(given, &limits))
}

/// Checks an event.
pub fn event(event: &CacheEvent) -> Checked {
    let limits = Limits::default();
    let kind = Type::try_from(event.r#type).unwrap_or(Type::Unspecified);
    if kind == Type::Unspecified {
        return fault(
            "type",
            "is missing; write PREFIX_EVICTED, ALL_CLEARED, REPLICA_UPDATED or PREFIX_ADDED",
        );
    }
    names(&event.replica_id, &event.tenant_id, &event.model_id, &limits)?;
    not_negative("timestampUs", event.timestamp_us)?;
    within("adapterId", event.adapter_id.len(), limits.id_bytes)?;
    within("prefixHash", event.prefix_hash.len(), limits.hash_bytes)?;
    if kind == Type::PrefixEvicted && event.prefix_hash.is_empty() {
        return fault("prefixHash", "is missing; name the evicted hash, or clear all with ALL_CLEARED");
    }
    Ok(())
}

fn names(replica: &str, tenant: &str, model: &str, limits: &Limits) -> Checked {
    for (field, name) in [("replicaId", replica), ("tenantId", tenant), ("modelId", model)] {
        if name.is_empty() {
            return fault(field, "is empty; state is kept by replica, tenant and model");
        }
        within(field, name.len(), limits.id_bytes)?;
    }
    if tenant == PROBE_TENANT {
        return fault("tenantId", "is reserved for health probes; name another tenant");
    }
    Ok(())
}

fn entry(path: &str, entry: &PrefixEntry, limits: &Limits) -> Checked {
    let field = |name: &str| format!("{path}{name}");
    let (hashes, counts) = (&entry.block_hashes, &entry.block_token_counts);
    if hashes.len() != counts.len() {
        let what = format!(
            "has {} of the {} counts of its block hashes; give one for each",
            counts.len(),
            hashes.len()
        );
        return fault(field("blockTokenCounts"), what);
    }
    if hashes.len() > limits.request_blocks {
        let what = format!("has {} blocks; an entry has {} at most", hashes.len(), limits.request_blocks);
        return fault(field("blockHashes"), what);
    }
    if hashes.is_empty() && entry.prefix_hash.is_empty() {
        return fault(field("prefixHash"), "is empty, and so are the block hashes; name what is held");
    }
    for (at, hash) in hashes.iter().enumerate() {
        let path = format!("{path}blockHashes[{at}]");
        if hash.is_empty() {
            return fault(path, "is empty; give its bytes");
        }
        within(path, hash.len(), limits.hash_bytes)?;
    }
    for (at, count) in counts.iter().enumerate() {
        not_negative(format!("{path}blockTokenCounts[{at}]"), (*count).into())?;
    }
    within(field("prefixHash"), entry.prefix_hash.len(), limits.hash_bytes)?;
    not_negative(field("tokenCount"), entry.token_count.into())?;
    within(field("adapterId"), entry.adapter_id.len(), limits.id_bytes)
}

fn stats(stats: &ReplicaStats, limits: &Limits) -> Checked {
    for (field, share) in [("stats.hitRate", stats.hit_rate), ("stats.pressure", stats.pressure)] {
        if !(0.0..=1.0).contains(&share) {
            return fault(field, format!("is {share}; a share is a number from 0 to 1"));
        }
    }
    not_negative("stats.cacheMemoryBytes", stats.cache_memory_bytes)?;
    not_negative("stats.t2HitTokens", stats.t2_hit_tokens)?;
    not_negative("stats.t2QueryTokens", stats.t2_query_tokens)?;
    within("stats.clientVersion", stats.client_version.len(), limits.id_bytes)
}

fn fault(field: impl Into<String>, what: impl Into<String>) -> Checked {
    Err(Fault { field: field.into(), what: what.into() })
}

fn within(field: impl Into<String>, bytes: usize, most: usize) -> Checked {
    if bytes <= most { Ok(()) } else { fault(field, format!("has {bytes} bytes; {most} are the most")) }
}

fn not_negative(field: impl Into<String>, number: i64) -> Checked {
    if number >= 0 { Ok(()) } else { fault(field, format!("is {number}; write a number of 0 or more")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::from_json;

    const KEYS: &str = r#""replicaId":"r","tenantId":"t","modelId":"m""#;

    #[test]
    fn updates_that_a_server_would_drop_or_alter() {
        let long = "x".repeat(513);
        for (rest, field) in [
            ("", ""),
            (r#","stats":{"hitRate":1,"pressure":0}"#, ""),
            (r#","hashScheme":"s","prefixes":[{"prefixHash":"AQID"}]"#, ""),
            (r#","prefixes":[{"prefixHash":"AQID"}]"#, "hashScheme"),
            (r#","hashScheme":"s","prefixes":[{}]"#, "prefixes[0].prefixHash"),
            (r#","hashScheme":"s","prefixes":[{"blockHashes":["AQ=="]}]"#, "prefixes[0].blockTokenCounts"),
            (
                r#","hashScheme":"s","prefixes":[{"prefixHash":"AQ=="},{"blockHashes":["AQ==",""],"blockTokenCounts":[1,1]}]"#,
                "prefixes[1].blockHashes[1]",
            ),
            (
                r#","hashScheme":"s","prefixes":[{"blockHashes":["AQ=="],"blockTokenCounts":[-1]}]"#,
                "prefixes[0].blockTokenCounts[0]",
            ),
            (
                r#","hashScheme":"s","prefixes":[{"prefixHash":"AQ==","tokenCount":-1}]"#,
                "prefixes[0].tokenCount",
            ),
            (r#","stats":{"hitRate":1.5}"#, "stats.hitRate"),
            (r#","stats":{"hitRate":"NaN"}"#, "stats.hitRate"),
            (r#","stats":{"pressure":"Infinity"}"#, "stats.pressure"),
            (r#","stats":{"cacheMemoryBytes":-1}"#, "stats.cacheMemoryBytes"),
            (r#","stats":{"t2HitTokens":-1}"#, "stats.t2HitTokens"),
            (r#","timestampUs":-1"#, "timestampUs"),
            (&format!(r#","adapterId":"{long}""#), "adapterId"),
        ] {
            let message: CacheStateUpdate = from_json(&format!("{{{KEYS}{rest}}}")).unwrap();
            let found = update(&message).err().map(|fault| fault.field).unwrap_or_default();
            assert_eq!(found, field, "{rest}");
        }
        for (text, field) in [
            ("{}", "replicaId"),
            (r#"{"replicaId":"r"}"#, "tenantId"),
            (r#"{"replicaId":"r","tenantId":"inferencecache.io/probe","modelId":"m"}"#, "tenantId"),
            (&format!(r#"{{"replicaId":"{long}"}}"#), "replicaId"),
        ] {
            assert_eq!(update(&from_json(text).unwrap()).unwrap_err().field, field, "{text}");
        }
    }

    #[test]
    fn events_that_change_nothing() {
        for (text, field) in [
            ("{}".to_owned(), "type"),
            (r#"{"type":"ALL_CLEARED"}"#.to_owned(), "replicaId"),
            (format!(r#"{{"type":"ALL_CLEARED",{KEYS}}}"#), ""),
            (format!(r#"{{"type":"PREFIX_EVICTED",{KEYS}}}"#), "prefixHash"),
            (format!(r#"{{"type":"PREFIX_EVICTED",{KEYS},"prefixHash":"AQ=="}}"#), ""),
        ] {
            let found = event(&from_json(&text).unwrap()).err().map(|fault| fault.field).unwrap_or_default();
            assert_eq!(found, field, "{text}");
        }
    }
}
