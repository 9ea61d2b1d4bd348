//! Which metrics and labels a PromQL expression names. promtool says whether it is PromQL at all.

use std::collections::{BTreeMap, BTreeSet};

use icache::server::{METRICS, MetricInfo, MetricKind};
use icache::subscribe;

/// Metrics with the labels that select or match on them, and all labels that group or join.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Names {
    pub metrics: BTreeMap<String, BTreeSet<String>>,
    pub grouping: BTreeSet<String>,
}

/// Words that are followed by a list of labels.
const GROUPING: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];

/// Labels that Prometheus gives each target.
const OF_TARGETS: [&str; 2] = ["job", "instance"];

/// How names of ours begin: those of the server, and those of the engine sidecar.
const PREFIXES: [&str; 2] = ["inferencecache_", "icache_subscribe_"];

/// Every metric of ours.
fn all() -> impl Iterator<Item = &'static MetricInfo> {
    METRICS.iter().chain(subscribe::METRICS)
}

/// Metrics that Prometheus makes itself.
const OF_PROMETHEUS: [&str; 1] = ["up"];

/// The names in `expression`.
pub fn names(expression: &str) -> Names {
    let mut found = Names::default();
    let mut rest = expression;
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '"') {
        rest = &rest[at..];
        if let Some(quoted) = rest.strip_prefix('"') {
            rest = quoted.split_once('"').map_or("", |(_, rest)| rest);
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        let next = after.trim_start();
        if GROUPING.contains(&word) {
            if let Some((list, after)) = next.strip_prefix('(').and_then(|list| list.split_once(')')) {
                found.grouping.extend(list.split(',').map(|label| label.trim().to_owned()));
                rest = after;
            }
        } else if word == "up" || PREFIXES.iter().any(|prefix| word.starts_with(prefix)) {
            let labels = found.metrics.entry(word.to_owned()).or_default();
            if let Some((selector, after)) = selector(next) {
                labels.extend(selector_labels(selector));
                rest = after;
            }
        }
    }
    found
}

/// What stands between the braces that `text` begins with, and what follows them.
fn selector(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('{')?;
    let mut is_quoted = false;
    let end = inside.find(|c: char| {
        is_quoted ^= c == '"';
        c == '}' && !is_quoted
    })?;
    Some((&inside[..end], &inside[end + 1..]))
}

/// The labels of `a="x", b=~"y,z"`.
fn selector_labels(selector: &str) -> Vec<String> {
    let outside = selector.split('"').step_by(2);
    outside
        .map(|part| part.trim_matches([',', ' ', '=', '~', '!']).to_owned())
        .filter(|label| !label.is_empty())
        .collect()
}

/// The labels of a metric as it stands on the page; none where there is no such metric.
fn labels_of(name: &str) -> Option<Vec<&'static str>> {
    if OF_PROMETHEUS.contains(&name) {
        return Some(Vec::new());
    }
    if let Some(metric) = all().find(|metric| metric.name == name) {
        // The name alone of a histogram has no series.
        return (metric.kind != MetricKind::Histogram).then(|| metric.labels.to_vec());
    }
    let parts = [("_bucket", Some("le")), ("_sum", None), ("_count", None)];
    parts.into_iter().find_map(|(suffix, label)| {
        let base = name.strip_suffix(suffix)?;
        let of_base = |metric: &&MetricInfo| metric.name == base && metric.kind == MetricKind::Histogram;
        let metric = all().find(of_base)?;
        Some(metric.labels.iter().copied().chain(label).collect())
    })
}

/// Whether there is such a metric, or such a part of a histogram.
pub fn is_metric(name: &str) -> bool {
    labels_of(name).is_some() || all().any(|metric| metric.name == name)
}

/// Fails where `expression` names a metric or a label that is not there.
pub fn check(place: &str, expression: &str) {
    let names = names(expression);
    assert!(!names.metrics.is_empty(), "{place}: no metric in {expression}");
    let mut of_all = BTreeSet::from(OF_TARGETS);
    for (name, used) in &names.metrics {
        let Some(labels) = labels_of(name) else { panic!("{place}: there is no metric `{name}`") };
        for label in used {
            let is_there = labels.contains(&label.as_str()) || OF_TARGETS.contains(&label.as_str());
            assert!(is_there, "{place}: `{name}` has no label `{label}`");
        }
        of_all.extend(labels);
    }
    for label in &names.grouping {
        assert!(of_all.contains(label.as_str()), "{place}: nothing in it has a label `{label}`");
    }
}

#[test]
fn names_are_found_in_expressions() {
    let found = names(
        r#"sum by (job, model) (rate(inferencecache_a_total{x=~"b|c", y!="sum by (z) inferencecache_no{q}"}[5m]))
           / on (job) group_left (v) inferencecache_b > 0 or up{job="icache"} == 0"#,
    );
    let of = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect::<BTreeSet<_>>();
    let expected =
        [("inferencecache_a_total", of(&["x", "y"])), ("inferencecache_b", of(&[])), ("up", of(&["job"]))];
    assert_eq!(found.metrics, expected.map(|(name, labels)| (name.to_owned(), labels)).into());
    assert_eq!(found.grouping, of(&["job", "model", "v"]));
}

#[test]
fn what_is_not_there_is_found() {
    check("here", r#"inferencecache_lookup_route_latency_seconds_bucket{model="m", le="0.1"}"#);
    for wrong in [
        "inferencecache_index_entrees",
        "inferencecache_lookup_route_latency_seconds",
        r#"inferencecache_index_entries{tenant="t"}"#,
        r#"inferencecache_lookup_route_latency_seconds_sum{le="1"}"#,
        "sum by (tenant_id) (inferencecache_index_entries)",
        "vector(1)",
    ] {
        assert!(std::panic::catch_unwind(|| check("here", wrong)).is_err(), "{wrong}");
    }
}
