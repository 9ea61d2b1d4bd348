//! Whether gateways and engines speak of the same things.

use super::{count, counted, listed, one};
use crate::decision::Reason;
use crate::doctor::Observations;
use crate::doctor::registry::Found;
use crate::server::UnknownKey;
use crate::telemetry::Page;

/// Lookups of a model from which on it means something that none of them matched.
const TELLING: f64 = 20.0;

/// Share of TIMEOUT that is worth a warning.
const LATE_SHARE: f64 = 0.01;

const CALLS: &str = "inferencecache_lookup_route_calls_total";

pub fn no_lookups(seen: &Observations) -> Found {
    match &seen.metrics {
        Ok(page) if count(page, CALLS) == 0 => one(
            "no gateway has asked anything since the server started".to_owned(),
            "point a gateway at it, or try `icache lookup`",
        ),
        _ => Found::new(),
    }
}

pub fn tenant_mismatch(seen: &Observations) -> Found {
    mismatches(seen, Reason::UnknownTenant, "tenant_id", |_| String::new())
}

pub fn model_mismatch(seen: &Observations) -> Found {
    let within = |key: &UnknownKey| format!(" of tenant `{}`", key.tenant_id);
    mismatches(seen, Reason::UnknownModel, "model_id", within)
}

pub fn hash_scheme_mismatch(seen: &Observations) -> Found {
    let within = |key: &UnknownKey| format!(" of tenant `{}` and model `{}`", key.tenant_id, key.model_id);
    mismatches(seen, Reason::UnknownHashScheme, "hash_scheme", within)
}

/// One finding for each name that is asked for in vain, the most asked first; rows that differ in other keys are one.
fn mismatches(
    seen: &Observations,
    reason: Reason,
    field: &str,
    within: impl Fn(&UnknownKey) -> String,
) -> Found {
    let Ok(unknown) = &seen.unknown else { return Found::new() };
    let mut found: Vec<(&UnknownKey, String, u64)> = Vec::new();
    for key in unknown.keys.iter().filter(|key| key.reason_code == reason.code()) {
        let place = within(key);
        match found.iter_mut().find(|(known, at, _)| known.asked() == key.asked() && *at == place) {
            Some((_, _, lookups)) => *lookups += key.lookups,
            None => found.push((key, place, key.lookups)),
        }
    }
    let shown = found.iter().map(|(key, place, lookups)| {
        let near = match (&key.nearest, &key.difference) {
            (Some(name), Some(difference)) => format!("; the nearest known is `{name}`: {difference}"),
            _ => String::new(),
        };
        let known = match key.known.is_empty() {
            true => "none".to_owned(),
            false => listed(key.known.iter().map(String::as_str)),
        };
        let asked = counted(*lookups, "lookup");
        (
            format!("{asked} asked for {field} `{}`{place}, which no replica reports{near}", key.asked()),
            format!("make gateway and sidecar use the same {field}; known: {known}"),
        )
    });
    shown.collect()
}

pub fn prompts_never_match(seen: &Observations) -> Found {
    let Ok(page) = &seen.metrics else { return Found::new() };
    let calls = page.by_labels(CALLS, "model", "reason_code");
    let of = |model: &str, reason: Reason| {
        calls.get(&(model.to_owned(), reason.code().to_owned())).copied().unwrap_or_default()
    };
    let entries = page.by_label("inferencecache_index_entries", "model");
    let block = seen.setting("block-size").and_then(serde_json::Value::as_u64);
    let suspects = entries.iter().filter(|(_, entries)| **entries > 0.0).filter_map(|(model, _)| {
        let unmatched: f64 = [Reason::NoHint, Reason::TenantHot, Reason::AffinityHint, Reason::LoadHint]
            .into_iter()
            .map(|reason| of(model, reason))
            .sum();
        (unmatched >= TELLING && of(model, Reason::PrefixMatch) == 0.0).then_some((model, unmatched as u64))
    });
    let advice = |model: &str| {
        let block = block.map(|block| format!(", which is {block} tokens here")).unwrap_or_default();
        format!(
            "ask for a prompt that was served lately with `icache lookup --model {model} --explain`; compare tokenizer, \
             chat template, hash seed (PYTHONHASHSEED) and block size{block} of gateway and engine"
        )
    };
    suspects
        .map(|(model, lookups)| {
            (
                format!(
                    "none of {} for model `{model}` found its prefix, though replicas hold entries for it",
                    counted(lookups, "lookup")
                ),
                advice(model),
            )
        })
        .collect()
}

pub fn lookups_late(seen: &Observations) -> Found {
    let Ok(page) = &seen.metrics else { return Found::new() };
    let late = page.sum_where(CALLS, "reason_code", Reason::Timeout.code());
    let all = page.sum(CALLS).unwrap_or_default();
    if late == 0.0 || late / all <= LATE_SHARE {
        return Found::new();
    }
    one(
        format!(
            "{} of {} were answered TIMEOUT ({:.1} %)",
            late as u64,
            counted(all as u64, "lookup"),
            100.0 * late / all
        ),
        "look at the load of server and gateway; give lookups a deadline of some milliseconds, and lookupTimeoutMs of \
         the policy no less",
    )
}

/// A counter of lookups that were answered without being looked up.
fn turned_away(page: &Page, name: &str, why: &str, advice: &str) -> Found {
    match count(page, name) {
        0 => Found::new(),
        lookups => one(format!("{} since the server started: {why}", counted(lookups, "lookup")), advice),
    }
}

pub fn lookups_shed(seen: &Observations) -> Found {
    let Ok(page) = &seen.metrics else { return Found::new() };
    turned_away(
        page,
        "inferencecache_shed_total",
        "answered NO_HINT because too many were in flight",
        "give the server more cores, use a FastLookup stream, or raise `--max-in-flight`",
    )
}

pub fn lookups_over_limit(seen: &Observations) -> Found {
    let Ok(page) = &seen.metrics else { return Found::new() };
    turned_away(
        page,
        "inferencecache_over_limit_total",
        "answered NO_HINT because an id, a hash or a list is over its limit",
        "send less, or raise the limits of the server: `--max-blocks`, `--max-id-bytes`, `--max-hash-bytes`",
    )
}
