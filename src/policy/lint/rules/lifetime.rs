//! Rules about how long entries live.

use crate::model::{Eviction, format_duration};
use crate::policy::lint::finding::Findings;
use crate::policy::lint::input::Input;

const TTL: &str = "spec.evictionTTL";
const DAY_NS: i64 = 24 * 3_600 * 1_000_000_000;
/// Sweeps that an entry should live through before its count tells it from another.
const SWEEPS_TO_COUNT: i64 = 5;

/// `ttl-below-sweep`.
pub(in crate::policy::lint) fn ttl_below_sweep(input: &Input<'_>, findings: &mut Findings<'_>) {
    let sweep = input.options.sweep_interval_ns;
    for item in input.policies() {
        let (Some(ttl), Some(entry)) = (item.policy().ttl_ns, item.get(TTL)) else { continue };
        if ttl < sweep {
            let (ttl, sweep) = (format_duration(ttl), format_duration(sweep));
            let what = format!(
                "entries expire after {ttl} and take up memory until the next sweep, up to {sweep} later"
            );
            let help = format!("write at least `{sweep}`, or sweep more often with `serve --sweep-interval`");
            findings.push(findings.of(item, entry, what, help));
        }
    }
}

/// `ttl-very-long`.
pub(in crate::policy::lint) fn ttl_very_long(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in input.policies() {
        let (Some(ttl), Some(entry)) = (item.policy().ttl_ns, item.get(TTL)) else { continue };
        if ttl > DAY_NS {
            let what = format!(
                "entries live {} after their last report; engines evict far sooner",
                format_duration(ttl)
            );
            findings.push(findings.of(
                item,
                entry,
                what,
                "write at most `24h`, so that hints follow what engines hold",
            ));
        }
    }
}

/// `lfu-with-short-ttl`.
pub(in crate::policy::lint) fn lfu_with_short_ttl(input: &Input<'_>, findings: &mut Findings<'_>) {
    let least = input.options.sweep_interval_ns.saturating_mul(SWEEPS_TO_COUNT);
    for item in input.policies() {
        let policy = item.policy();
        let (Some(ttl), Some(entry)) = (policy.ttl_ns, item.get(TTL)) else { continue };
        if policy.eviction != Some(Eviction::Lfu) || ttl >= least {
            continue;
        }
        let what = format!(
            "entries expire after {}, before their access counts can tell them apart, so LFU picks as LRU would",
            format_duration(ttl)
        );
        let help = format!("write at least `{}`, or `eviction: LRU`", format_duration(least));
        let mut finding = findings.of(item, entry, what, help);
        if let Some(eviction) = item.get("spec.eviction") {
            finding = finding.related(item.site(eviction), "the victim order");
        }
        findings.push(finding);
    }
}
