//! Bodies of pushes: what each field comes to in each version, and what is said of those that are refused.

use icache::model::{Eviction, ResolvedPolicy};
use icache::policy::{
    Defaults, PUSH_VERSIONS, PolicySet, PolicySources, PushedPolicies, decode_push, load_policies,
};

fn pushed(body: &str) -> PushedPolicies {
    decode_push(body.as_bytes()).unwrap_or_else(|error| panic!("{body}: {error}"))
}

/// The policies in force once `body` is pushed to a server without files.
fn in_force(body: &str) -> PolicySet {
    let mut sources = PolicySources::of_set(PolicySet::empty(&Defaults::default()));
    sources.set_pushed(pushed(body));
    sources.effective()
}

fn body(version: i64, fields: &str) -> String {
    let comma = if fields.is_empty() { "" } else { ", " };
    format!(r#"{{"version": {version}, "policies": [{{"namespace": "team-a"{comma}{fields}}}]}}"#)
}

type Knob = fn(&ResolvedPolicy) -> String;

fn shown<T: std::fmt::Debug>(value: &icache::model::Sourced<T>, version: i64) -> String {
    let source = value.source.to_string();
    let expected = format!("pushed policy of team-a (version {version})");
    let source = if source == expected { "pushed" } else { source.as_str() };
    format!("{:?} {source}", value.value)
}

/// A field: how it is written, the value then, the value where it is absent, and how to read it.
type Row<'a> = (&'a str, &'a str, &'a str, &'a dyn Fn(&ResolvedPolicy) -> String);

#[test]
fn every_field_in_every_version_with_and_without() {
    for version in PUSH_VERSIONS {
        let absent_floor = if version == 3 { "64 default" } else { "0 pushed" };
        let rows: &[Row<'_>] = &[
            (r#""evictionTTL": 90000000000"#, "90000000000 pushed", "1800000000000 default", &|policy| {
                shown(&policy.ttl_ns, version)
            }),
            (r#""minimumPrefixTokens": 128"#, "128 pushed", "0 default", &|policy| {
                shown(&policy.minimum_prefix_tokens, version)
            }),
            (r#""minimumMatchedTokens": 32"#, "32 pushed", absent_floor, &|policy| {
                shown(&policy.minimum_matched_tokens, version)
            }),
            (r#""minimumMatchedTokens": 0"#, absent_floor, absent_floor, &|policy| {
                shown(&policy.minimum_matched_tokens, version)
            }),
            (r#""routingFloorScore": 0.25"#, "0.25 pushed", "0.1 default", &|policy| {
                shown(&policy.routing_floor_score, version)
            }),
            (r#""routingFloorScore": 0"#, "0.0 pushed", "0.1 default", &|policy| {
                shown(&policy.routing_floor_score, version)
            }),
            (r#""lookupTimeoutMs": 5"#, "5 pushed", "0 default", &|policy| {
                shown(&policy.lookup_timeout_ms, version)
            }),
            (r#""affinityRouting": false"#, "false pushed", "true default", &|policy| {
                shown(&policy.affinity_routing, version)
            }),
            (r#""eviction": "lfu""#, "Lfu pushed", "Lru default", &|policy| shown(&policy.eviction, version)),
            (r#""eviction": "lru""#, "Lru pushed", "Lru default", &|policy| shown(&policy.eviction, version)),
            (r#""strategy": {"enableChainMatching": false}"#, "false pushed", "true default", &|policy| {
                shown(&policy.enable_chain_matching, version)
            }),
            (r#""strategy": {"requireChain": true}"#, "true pushed", "false default", &|policy| {
                shown(&policy.require_chain, version)
            }),
            (r#""strategy": {"enableTenantHot": false}"#, "false pushed", "true default", &|policy| {
                shown(&policy.enable_tenant_hot, version)
            }),
        ];
        let without = in_force(&body(version, ""));
        for (field, value, absent, knob) in rows {
            let with = in_force(&body(version, field));
            assert_eq!(knob(with.policy_of("team-a")), *value, "version {version}, {field}");
            assert_eq!(knob(without.policy_of("team-a")), *absent, "version {version} without {field}");
        }
        // What a sender with empty values writes is what it leaves out.
        let empty = r#""evictionTTL": 0, "minimumPrefixTokens": null, "minimumMatchedTokens": null,
            "routingFloorScore": null, "lookupTimeoutMs": null, "affinityRouting": null, "eviction": "", "strategy": null"#;
        assert_eq!(in_force(&body(version, empty)).policy_of("team-a"), without.policy_of("team-a"));
        // Other tenants are as if nothing were pushed, the floor included.
        assert_eq!(without.policy_of("other").minimum_matched_tokens.value, 64);
    }
}

#[test]
fn quotas_of_tenants() {
    for version in PUSH_VERSIONS {
        for (entry, expected) in [
            (r#"{"tenantID": "t", "maxIndexEntries": 7, "isolationMode": "Fairness"}"#, 7),
            (r#"{"tenantID": "t", "maxIndexEntries": 0}"#, 0),
            (r#"{"tenantID": "t", "maxIndexEntries": -1}"#, 0),
            (r#"{"tenantID": "t", "isolationMode": ""}"#, u64::MAX),
            (r#"{"tenantID": "t", "maxIndexEntries": null}"#, u64::MAX),
        ] {
            let set = in_force(&format!(r#"{{"version": {version}, "tenants": [{entry}]}}"#));
            let quota = &set.policy_of("t").max_index_entries;
            assert_eq!(quota.value, expected, "version {version}: {entry}");
            let source = if expected == u64::MAX {
                "default".to_owned()
            } else {
                format!("pushed tenant t (version {version})")
            };
            assert_eq!(quota.source.to_string(), source);
        }
    }
}

#[test]
fn bodies_with_nothing_in_them_are_taken() {
    for body in [
        r#"{"version": 7}"#,
        r#"{"version": 3, "policies": null, "tenants": null}"#,
        r#" {"version":5,"policies":[]} "#,
    ] {
        let pushed = pushed(body);
        assert!(pushed.policies.is_empty() && pushed.quotas.is_empty() && pushed.inert.is_empty(), "{body}");
    }
}

#[test]
fn entries_without_a_name_are_skipped_and_reported() {
    let pushed = pushed(
        r#"{"version": 7, "policies": [{"eviction": "lfu"}, {"namespace": ""}, {"namespace": "a"}, {"namespace": null}],
            "tenants": [{"maxIndexEntries": 1}, {"tenantID": "t"}]}"#,
    );
    assert_eq!(pushed.policies.keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(pushed.quotas.keys().collect::<Vec<_>>(), ["t"]);
    let reported: Vec<_> =
        pushed.inert.iter().map(|sentence| sentence.split('`').nth(1).unwrap_or_default()).collect();
    assert_eq!(reported, ["policies[0]", "policies[1]", "policies[3]", "tenants[0]"]);
}

#[test]
fn of_two_entries_for_one_name_the_later_counts() {
    let pushed = pushed(
        r#"{"version": 7, "policies": [{"namespace": "a", "eviction": "lru"}, {"namespace": "a", "eviction": "lfu"}],
            "tenants": [{"tenantID": "t", "maxIndexEntries": 1}, {"tenantID": "t", "maxIndexEntries": 2}]}"#,
    );
    assert_eq!(pushed.policies["a"].eviction, Some(Eviction::Lfu));
    assert_eq!(pushed.quotas["t"], Some(2));
    assert_eq!(pushed.inert.len(), 2, "{:?}", pushed.inert);
}

#[test]
fn what_is_refused_names_the_field() {
    let policy = |fields: &str| body(7, fields);
    let tenant = |fields: &str| format!(r#"{{"version": 7, "tenants": [{{"tenantID": "t", {fields}}}]}}"#);
    for (body, parts) in [
        (String::new(), &["EOF"][..]),
        ("{".to_owned(), &["EOF"]),
        ("[]".to_owned(), &["an object"]),
        ("null".to_owned(), &["an object"]),
        (r#"{"version": 7} x"#.to_owned(), &["trailing"]),
        (r#"{"policies": []}"#.to_owned(), &["`version` is missing", "3 to 7"]),
        (r#"{"version": null}"#.to_owned(), &["`version` is missing", "3 to 7"]),
        (r#"{"version": "7"}"#.to_owned(), &["`version`", "a whole number"]),
        (r#"{"version": 2}"#.to_owned(), &["`version` is 2", "3 to 7"]),
        (r#"{"version": -1}"#.to_owned(), &["`version` is -1", "3 to 7"]),
        (r#"{"version": 8}"#.to_owned(), &["`version` is 8", "3 to 7"]),
        (
            r#"{"version": 8, "policies": [{"namespace": "a", "prefetch": true}]}"#.to_owned(),
            &["`version` is 8", "3 to 7", "policies[0].prefetch", "unknown field"],
        ),
        (r#"{"version": 7, "version": 7}"#.to_owned(), &["duplicate field", "version"]),
        (r#"{"version": 7, "quotas": []}"#.to_owned(), &["unknown field", "quotas"]),
        (r#"{"version": 7, "policies": {}}"#.to_owned(), &["`policies`", "sequence"]),
        (r#"{"version": 7, "policies": [7]}"#.to_owned(), &["`policies[0]`", "an object"]),
        (
            r#"{"version": 7, "policies": [["zz", null, 5, 6, 0.2, 7, true, "lfu", null]]}"#.to_owned(),
            &["`policies[0]`", "a list stands where an object belongs"],
        ),
        (
            r#"{"version": 7, "tenants": [["zz", 5, "Fairness"]]}"#.to_owned(),
            &["`tenants[0]`", "a list stands"],
        ),
        (policy(r#""strategy": [true, false, true]"#), &["`policies[0].strategy`", "a list stands"]),
        (policy(r#""evictionTtl": 1"#), &["policies[0]", "unknown field", "evictionTtl"]),
        (
            policy(r#""strategy": {"tenantHot": true}"#),
            &["policies[0].strategy", "unknown field", "tenantHot"],
        ),
        (policy(r#""evictionTTL": -1"#), &["`policies[0].evictionTTL` is -1"]),
        (policy(r#""evictionTTL": "30m""#), &["`policies[0].evictionTTL`", "a whole number"]),
        (policy(r#""minimumPrefixTokens": -1"#), &["`policies[0].minimumPrefixTokens` is -1"]),
        (policy(r#""minimumPrefixTokens": 2147483648"#), &["`policies[0].minimumPrefixTokens`", "32 bits"]),
        (policy(r#""minimumPrefixTokens": 1.5"#), &["`policies[0].minimumPrefixTokens`", "32 bits"]),
        (policy(r#""minimumMatchedTokens": -1"#), &["`policies[0].minimumMatchedTokens` is -1"]),
        (policy(r#""lookupTimeoutMs": -1"#), &["`policies[0].lookupTimeoutMs` is -1"]),
        (policy(r#""routingFloorScore": -0.1"#), &["`policies[0].routingFloorScore` is -0.1"]),
        (policy(r#""routingFloorScore": 1e39"#), &["`policies[0].routingFloorScore`"]),
        (policy(r#""routingFloorScore": "0.1""#), &["`policies[0].routingFloorScore`", "a number"]),
        (policy(r#""affinityRouting": "Enabled""#), &["`policies[0].affinityRouting`", "boolean"]),
        (policy(r#""eviction": "LRU""#), &["`policies[0].eviction` is `LRU`", "`lru` or `lfu`"]),
        (
            policy(r#""strategy": {"requireChain": true, "enableChainMatching": false}"#),
            &["`policies[0].strategy.requireChain`", "enableChainMatching"],
        ),
        (
            r#"{"version": 7, "policies": [{"namespace": "inferencecache.io/probe"}]}"#.to_owned(),
            &["`policies[0].namespace`", "reserved"],
        ),
        (
            r#"{"version": 7, "tenants": [{"tenantID": "inferencecache.io/probe"}]}"#.to_owned(),
            &["`tenants[0].tenantID`", "reserved"],
        ),
        (tenant(r#""isolationMode": "Strict""#), &["`tenants[0].isolationMode` is `Strict`", "`Fairness`"]),
        (tenant(r#""maxIndexEntries": 1.5"#), &["`tenants[0].maxIndexEntries`", "a whole number"]),
        (tenant(r#""quota": 1"#), &["tenants[0]", "unknown field", "quota"]),
    ] {
        let error = decode_push(body.as_bytes()).expect_err(&body).to_string();
        for part in parts {
            assert!(error.contains(part), "{body}: `{error}` does not say {part}");
        }
        for name in ["i32", "i64", "f64", "struct ", "Option"] {
            assert!(!error.contains(name), "{body}: {error}");
        }
    }
    assert!(decode_push(b"{\"version\": 7, \"policies\": [{\"namespace\": \"\xff\"}]}").is_err());
}

const FILES: &str = "\
apiVersion: inferencecache.io/v1alpha1
kind: CachePolicy
metadata: {name: p, namespace: team-a}
spec: {minimumPrefixTokens: 10, evictionTTL: 1m}
---
apiVersion: inferencecache.io/v1alpha1
kind: CachePolicy
metadata: {name: p, namespace: team-b}
spec: {minimumPrefixTokens: 20}
---
apiVersion: inferencecache.io/v1alpha1
kind: CacheTenant
metadata: {name: a, namespace: ops}
spec: {tenantID: team-a, quota: {maxIndexEntries: 5}}
";

fn sources() -> PolicySources {
    PolicySources::new(load_policies("p.yaml", FILES, &Defaults::default()).expect("the files are valid"))
}

/// Prefix gate, time to live in seconds and quota of a tenant, each with its source.
fn told(set: &PolicySet, tenant: &str) -> String {
    let policy = set.policy_of(tenant);
    let told: [Knob; 3] = [
        |policy| format!("{} {}", policy.minimum_prefix_tokens.value, policy.minimum_prefix_tokens.source),
        |policy| format!("{} {}", policy.ttl_ns.value / 1_000_000_000, policy.ttl_ns.source),
        |policy| format!("{} {}", policy.max_index_entries.value, policy.max_index_entries.source),
    ];
    told.map(|knob| knob(policy)).join("; ")
}

const QUOTA_OF_FILE: &str = "5 CacheTenant ops/a (p.yaml:14)";

#[test]
fn a_pushed_policy_takes_the_place_of_a_files_and_leaves_its_quota() {
    let mut sources = sources();
    let of_file =
        format!("10 CachePolicy team-a/p (p.yaml:4); 60 CachePolicy team-a/p (p.yaml:4); {QUOTA_OF_FILE}");
    assert_eq!(told(&sources.effective(), "team-a"), of_file);
    assert_eq!((sources.policies(), sources.inert().len()), (2, 0));

    sources.set_pushed(pushed(
        r#"{"version": 6, "policies": [{"namespace": "team-a", "minimumPrefixTokens": 3}]}"#,
    ));
    let set = sources.effective();
    let expected = format!("3 pushed policy of team-a (version 6); 1800 default; {QUOTA_OF_FILE}");
    assert_eq!(told(&set, "team-a"), expected, "fields of the two are not mixed");
    assert_eq!(set.policy_of("team-b").minimum_prefix_tokens.value, 20);
    assert_eq!(sources.policies(), 2);
    let inert = sources.inert();
    assert_eq!(
        inert,
        ["CachePolicy team-a/p (p.yaml:1) has no effect: pushed policy of team-a (version 6) comes first"]
    );
    assert_eq!(sources.view(&set).inert, inert);

    sources.set_pushed(pushed(r#"{"version": 7, "policies": [{"namespace": "team-c"}]}"#));
    assert_eq!(told(&sources.effective(), "team-a"), of_file, "a push replaces the whole pushed set");
    assert_eq!(sources.policies(), 3);
}

#[test]
fn a_pushed_tenant_takes_the_place_of_a_files_quota() {
    let mut sources = sources();
    for (quota, expected) in [
        (r#""maxIndexEntries": 9"#, "9 pushed tenant team-a (version 7)"),
        (r#""isolationMode": "Fairness""#, "18446744073709551615 default"),
    ] {
        sources.set_pushed(pushed(&format!(
            r#"{{"version": 7, "tenants": [{{"tenantID": "team-a", {quota}}}]}}"#
        )));
        let told = told(&sources.effective(), "team-a");
        assert!(told.starts_with("10 CachePolicy") && told.ends_with(expected), "{told}");
        assert_eq!(
            sources.inert(),
            ["CacheTenant ops/a (p.yaml:11) has no effect: pushed tenant team-a (version 7) comes first"]
        );
    }
}

#[test]
fn files_change_under_what_is_pushed() {
    let mut sources = sources();
    sources.set_pushed(pushed(
        r#"{"version": 7, "policies": [{"namespace": "team-a", "minimumPrefixTokens": 3}]}"#,
    ));
    sources.set_files(load_policies("p.yaml", "", &Defaults::default()).expect("nothing is valid"));
    let set = sources.effective();
    assert_eq!(set.policy_of("team-a").minimum_prefix_tokens.value, 3);
    assert_eq!(set.policy_of("team-b"), set.default_policy());
    assert_eq!((sources.policies(), sources.inert().len()), (1, 0));
}
