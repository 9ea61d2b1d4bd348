//! Whether caps and quotas take away what would be of use, and whether what is held outlives a restart.

use super::{count, counted, listed, one};
use crate::doctor::Observations;
use crate::doctor::registry::Found;

/// Share of the cap from which on the index is nearly full.
const NEAR: f64 = 0.9;

pub fn cap_bites(seen: &Observations) -> Found {
    let Ok(page) = &seen.metrics else { return Found::new() };
    let evicted = page.sum_where("inferencecache_index_evictions_total", "reason", "cap") as u64;
    if evicted == 0 {
        return Found::new();
    }
    one(
        format!("{evicted} replica entries were evicted before their time because the index was full"),
        "raise `--max-entries` or `--max-memory` of the server, shorten evictionTTL, or give tenants quotas",
    )
}

pub fn cap_near(seen: &Observations) -> Found {
    let Ok(page) = &seen.metrics else { return Found::new() };
    let entries = count(page, "inferencecache_index_replica_entries");
    let Some(cap) = seen.setting("max-entries").and_then(serde_json::Value::as_u64) else {
        return Found::new();
    };
    if (entries as f64) <= NEAR * cap as f64 {
        return Found::new();
    }
    one(
        format!("the index holds {entries} of at most {cap} replica entries"),
        "raise `--max-entries` of the server before entries go that are still of use",
    )
}

pub fn quota_bites(seen: &Observations) -> Found {
    let Ok(page) = &seen.metrics else { return Found::new() };
    let evicted = count(page, "inferencecache_tenant_evictions_total");
    if evicted == 0 {
        return Found::new();
    }
    let by_tenant = page.by_label("inferencecache_tenant_evictions_total", "tenant_id");
    let tenants: Vec<&str> =
        by_tenant.iter().filter(|(_, keys)| **keys > 0.0).map(|(tenant, _)| tenant.as_str()).collect();
    one(
        format!(
            "{} evicted because of a quota, for {}",
            if evicted == 1 { "1 key was".to_owned() } else { format!("{} were", counted(evicted, "key")) },
            listed(tenants.into_iter())
        ),
        "raise quota.maxIndexEntries of the tenant's CacheTenant, where the tenant should hold more",
    )
}

pub fn state_not_saved(seen: &Observations) -> Found {
    let Ok(page) = &seen.metrics else { return Found::new() };
    if page.sum("inferencecache_state_save_success").is_none_or(|success| success > 0.0) {
        return Found::new();
    }
    let failures = count(page, "inferencecache_state_save_failures_total");
    one(
        format!(
            "the state could not be saved the last time; {} since the server started",
            counted(failures, "failure")
        ),
        "the server's log says why: a full disk, a folder that cannot be written, or one that another server saves in",
    )
}
