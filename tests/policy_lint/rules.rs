//! Every rule: its examples, its places, and where it keeps silent.

use icache::policy::lint::{LintOptions, Rule, Severity};
use icache::policy::{SourceText, lint};

use super::{HEAD, found, found_with, has, places};

/// Where the failing example of a rule fails.
const PLACES: &[(&str, usize, usize)] = &[
    ("syntax", 6, 7),
    ("duplicate-key", 9, 3),
    ("unknown-field", 7, 3),
    ("wrong-type", 7, 25),
    ("wrong-case-or-enum", 7, 13),
    ("out-of-range", 7, 24),
    ("bad-duration", 7, 16),
    ("non-positive-ttl", 7, 16),
    ("bad-floor-score", 7, 22),
    ("require-chain-without-matching", 8, 19),
    ("duplicate-policy-in-namespace", 12, 9),
    ("duplicate-tenant", 12, 9),
    ("reserved-tenant", 7, 13),
    ("missing-required", 6, 1),
    ("bad-api-version", 1, 13),
    ("bad-name", 5, 14),
    ("crypto-not-empty", 9, 5),
    ("zero-timeout-is-no-timeout", 7, 20),
    ("both-floors-off", 8, 22),
    ("matched-floor-above-prefix-gate", 7, 24),
    ("matched-floor-not-block-aligned", 7, 25),
    ("floor-below-one-block", 7, 25),
    ("ttl-below-sweep", 7, 16),
    ("ttl-very-long", 7, 16),
    ("lfu-with-short-ttl", 8, 16),
    ("chain-off-affinity-on", 8, 26),
    ("tenant-hot-dead", 9, 22),
    ("floor-hides-single-replica", 7, 22),
    ("quota-zero-admits-nothing", 9, 22),
    ("policy-without-namespace", 3, 1),
    ("require-chain-blocks-tokens", 8, 19),
    ("redundant-default", 7, 25),
];

#[test]
fn failing_examples_fail_at_their_place_and_passing_ones_pass() {
    let ids: Vec<&str> = PLACES.iter().map(|(id, ..)| *id).collect();
    let registry: Vec<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    assert_eq!(ids, registry);
    for (rule, expected) in Rule::ALL.iter().zip(PLACES) {
        let (fails, passes) = (rule.failing_example(), rule.passing_example());
        assert!(!fails.is_empty() && !passes.is_empty(), "{}", rule.id());
        let of_rule: Vec<_> =
            places(fails, &found(fails)).into_iter().filter(|(id, ..)| *id == rule.id()).collect();
        assert_eq!(of_rule, [*expected]);
        let passing = found(passes);
        assert!(!has(&passing, *rule), "{}", rule.id());
        assert!(
            passing.iter().all(|diagnostic| diagnostic.rule.severity() == Severity::Info),
            "{}: {passing:?}",
            rule.id()
        );
    }
}

#[test]
fn every_page_says_why() {
    for rule in Rule::ALL {
        let doc = rule.info().doc;
        assert!(doc.starts_with("## Why\n\n"), "{}", rule.id());
        assert!(doc.contains("## Fails") && doc.contains("## Passes"), "{}", rule.id());
        assert!(!rule.info().summary.ends_with('.'), "{}", rule.id());
    }
}

/// Rules that find something in the spec (of a CachePolicy, or a CacheTenant where it begins with `tenantID`).
#[test]
fn rules_keep_to_their_borders() {
    for (spec, ids) in [
        ("minimumMatchedTokens: 16", &[][..]),
        ("minimumMatchedTokens: 15", &["floor-below-one-block"]),
        ("minimumMatchedTokens: 17", &["matched-floor-not-block-aligned"]),
        ("minimumMatchedTokens: 0", &[]),
        ("minimumMatchedTokens: 2147483647", &["matched-floor-not-block-aligned"]),
        ("minimumMatchedTokens: 2147483648", &["out-of-range"]),
        ("minimumMatchedTokens: 999999999999999999999999999999999999999999", &["out-of-range"]),
        ("minimumMatchedTokens: -0", &[]),
        ("minimumPrefixTokens: 63", &["matched-floor-above-prefix-gate"]),
        ("minimumPrefixTokens: 64", &[]),
        ("minimumPrefixTokens: 0", &[]),
        ("minimumPrefixTokens: ~", &[]),
        ("evictionTTL: 60s", &[]),
        ("evictionTTL: 59s", &["ttl-below-sweep"]),
        ("evictionTTL: 24h", &[]),
        ("evictionTTL: 24h1ns", &["ttl-very-long"]),
        ("evictionTTL: 0", &["wrong-type"]),
        ("evictionTTL: '0'", &["non-positive-ttl"]),
        ("evictionTTL: ''", &["bad-duration"]),
        ("{evictionTTL: 5m, eviction: LFU}", &[]),
        ("{evictionTTL: 299s, eviction: LFU}", &["lfu-with-short-ttl"]),
        ("{evictionTTL: 299s, eviction: LRU}", &["redundant-default"]),
        ("eviction: LRU ", &["redundant-default"]),
        ("eviction: 'LRU '", &["wrong-case-or-enum"]),
        ("eviction: FIFO", &["wrong-case-or-enum"]),
        ("routingFloorScore: '0.100'", &["redundant-default"]),
        ("routingFloorScore: '1048576'", &[]),
        ("routingFloorScore: '1048577'", &["floor-hides-single-replica"]),
        ("{routingFloorScore: '1048577', minimumPrefixTokens: 2000000}", &[]),
        ("routingFloorScore: [1]", &["bad-floor-score"]),
        ("routingFloorScore: +1", &["bad-floor-score"]),
        ("{routingFloorScore: '0', minimumMatchedTokens: 0}", &["both-floors-off"]),
        ("{routingFloorScore: '0.0', minimumMatchedTokens: 16}", &[]),
        ("affinityRouting: no", &["wrong-case-or-enum"]),
        ("affinityRouting: false", &["wrong-type"]),
        ("strategy: {enableTenantHot: yes}", &["wrong-type"]),
        ("strategy: {enableTenantHot: True}", &["redundant-default"]),
        ("strategy: [requireChain]", &["wrong-type"]),
        ("strategy: {requireChain: true, enableTenantHot: false}", &["require-chain-blocks-tokens"]),
        ("tenantID: a", &[]),
        ("tenantID: 5", &["wrong-type"]),
        ("{tenantID: a, crypto: ~}", &[]),
        ("{tenantID: a, crypto: {}}", &[]),
        ("{tenantID: a, crypto: none}", &["wrong-type"]),
        ("{tenantID: a, quota: {maxIndexEntries: 9223372036854775807}}", &[]),
        ("{tenantID: a, quota: {maxIndexEntries: 9223372036854775808}}", &["out-of-range"]),
        ("{tenantID: a, quota: {maxIndexEntry: 1}}", &["unknown-field"]),
        ("{tenantID: a, isolationMode: Strict}", &["wrong-case-or-enum"]),
    ] {
        let kind = if spec.contains("tenantID") { "CacheTenant" } else { "CachePolicy" };
        let spec = if spec.starts_with('{') { spec.to_owned() } else { format!("{{{spec}}}") };
        let text = format!("{}spec: {spec}\n", HEAD.replace("CachePolicy", kind));
        let found = found(&text);
        let found: Vec<&str> = found.iter().map(|diagnostic| diagnostic.rule.id()).collect();
        assert_eq!(found, ids, "{spec}");
    }
}

#[test]
fn heads_are_checked() {
    for (from, to, expected) in [
        ("kind: CachePolicy", "kind: cachepolicy", Some(("wrong-case-or-enum", 2, 7))),
        ("kind: CachePolicy", "kind: ''", Some(("missing-required", 2, 1))),
        ("kind: CachePolicy", "kind: 5", Some(("wrong-type", 2, 7))),
        ("kind: CachePolicy\n", "", Some(("missing-required", 1, 1))),
        ("kind: CachePolicy", "kind: CacheBackend", None),
        ("apiVersion: inferencecache.io/v1alpha1\n", "", Some(("missing-required", 1, 1))),
        ("inferencecache.io/v1alpha1", "''", Some(("bad-api-version", 1, 13))),
        ("inferencecache.io/v1alpha1", "1", Some(("wrong-type", 1, 13))),
        ("name: p", "name: P", Some(("bad-name", 4, 9))),
        ("name: p", "name: a.b-c", None),
        ("name: p", "name: a..b", Some(("bad-name", 4, 9))),
        ("name: p", "name: ''", Some(("missing-required", 4, 9))),
        ("name: p", "name: 5", Some(("wrong-type", 4, 9))),
        ("  name: p\n", "", Some(("missing-required", 3, 1))),
        ("namespace: team-a", "namespace: team.a", Some(("bad-name", 5, 14))),
        ("namespace: team-a", "namespace: ''", Some(("policy-without-namespace", 3, 1))),
        ("namespace: team-a", "nameSpace: team-a", Some(("unknown-field", 5, 3))),
        ("namespace: team-a", "namespace: team-a\n  labels: {A: 5}", None),
    ] {
        let text = HEAD.replacen(from, to, 1);
        let found = places(&text, &found(&text));
        match expected {
            Some(expected) => assert!(found.contains(&expected), "{text}: {found:?}"),
            None => assert_eq!(found, [], "{text}"),
        }
    }
    let longest = format!("name: {}", "a".repeat(253));
    assert_eq!(found(&HEAD.replacen("name: p", &longest, 1)), []);
    assert!(has(&found(&HEAD.replacen("name: p", &(longest + "a"), 1)), Rule::BadName));
}

#[test]
fn options_move_the_rules_that_need_them() {
    let text = format!("{HEAD}spec: {{minimumMatchedTokens: 48, evictionTTL: 90s}}\n");
    assert_eq!(found(&text), []);
    let ids = |options: &LintOptions| -> Vec<&str> {
        found_with(&text, options).iter().map(|diagnostic| diagnostic.rule.id()).collect()
    };
    let with = |block_size, sweep_s: i64| LintOptions {
        block_size,
        sweep_interval_ns: sweep_s * 1_000_000_000,
        ..LintOptions::default()
    };
    assert_eq!(ids(&with(32, 60)), ["matched-floor-not-block-aligned"]);
    assert_eq!(ids(&with(64, 60)), ["floor-below-one-block"]);
    assert_eq!(ids(&with(16, 120)), ["ttl-below-sweep"]);
    let no_namespace = HEAD.replace("  namespace: team-a\n", "");
    assert!(has(&found(&no_namespace), Rule::PolicyWithoutNamespace));
    let options = LintOptions { namespace: Some("team-a".to_owned()), ..LintOptions::default() };
    assert_eq!(found_with(&no_namespace, &options), []);
}

/// Duplicates across files, each with the place of the object that counts.
#[test]
fn duplicates_are_found_across_files() {
    let policy = |name: &str| HEAD.replacen("name: p", &format!("name: {name}"), 1);
    let sources = [
        SourceText::new("b.yaml", policy("b")),
        SourceText::new("a.yaml", policy("a10") + "---\n" + &policy("a2")),
    ];
    let report = lint::lint(&sources, &LintOptions::default());
    let found: Vec<_> = report
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let (name, place) = diagnostic.place(&sources);
            let related = &diagnostic.related[0];
            let (winner, at) = lint::place(&related.site, &sources);
            (diagnostic.rule.id(), name, place.line, winner, at.line)
        })
        .collect();
    let id = "duplicate-policy-in-namespace";
    assert_eq!(found, [(id, "b.yaml", 4, "a.yaml", 4), (id, "a.yaml", 10, "a.yaml", 4)]);
    assert_eq!((report.policies, report.tenants), (3, 0));
}

#[test]
fn comments_and_options_allow_what_servers_take() {
    let spec = |lines: &str| format!("{HEAD}spec:\n{lines}");
    for (lines, ids) in [
        ("  evictionTTL: 48h # icache: allow ttl-very-long\n", &[][..]),
        ("  # icache: allow ttl-very-long\n  evictionTTL: 48h\n", &[]),
        ("  # icache: allow ttl-very-long\n\n  # for batch jobs\n  evictionTTL: 48h\n", &[]),
        ("  # icache: allow ttl-below-sweep, ttl-very-long\n  evictionTTL: 48h\n", &[]),
        ("  evictionTTL: 48h # icache: allow ttl-below-sweep\n", &["ttl-very-long"]),
        ("  lookupTimeoutMs: 5 # icache: allow ttl-very-long\n  evictionTTL: 48h\n", &["ttl-very-long"]),
        ("  evictionTTL: 48h\n  # icache: allow ttl-very-long\n", &["ttl-very-long"]),
        ("  evictionTTL: '48h # icache: allow ttl-very-long'\n", &["bad-duration"]),
        ("  evictionTTL: 1d # icache: allow bad-duration\n", &["bad-duration"]),
    ] {
        let text = spec(lines);
        let found = found(&text);
        let found: Vec<&str> = found.iter().map(|diagnostic| diagnostic.rule.id()).collect();
        assert_eq!(found, ids, "{lines}");
    }
    let refused = found(&spec("  evictionTTL: 1d # icache: allow bad-duration\n"));
    assert!(refused[0].help.ends_with("no comment allows it, since a server refuses it"));
    let long = spec("  evictionTTL: 48h\n");
    let options = LintOptions { allow: vec![Rule::TtlVeryLong], ..LintOptions::default() };
    let report = lint::lint(&[SourceText::new("p", &*long)], &options);
    assert_eq!((report.diagnostics.len(), report.allowed), (0, 1));
}
