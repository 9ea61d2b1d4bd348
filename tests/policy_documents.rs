//! CachePolicy and CacheTenant documents: what they come to, and what is said of those that are wrong.

use icache::model::{Eviction, Sourced};
use icache::policy::{Defaults, LoadedPolicies, PolicyError, load_policies};

const FILE: &str = "p.yaml";

fn load(text: &str) -> Result<LoadedPolicies, PolicyError> {
    load_policies(FILE, text, &Defaults::default())
}

fn loaded(text: &str) -> LoadedPolicies {
    load(text).expect("the documents are valid")
}

fn policy(spec: &str) -> String {
    format!(
        "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {{name: p, namespace: team-a}}\n{spec}\n"
    )
}

fn tenant(name: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: inferencecache.io/v1alpha1\nkind: CacheTenant\nmetadata: {{name: {name}, namespace: ops}}\n\
         spec: {spec}\n"
    )
}

/// A value with the text of its source.
fn shown<T: std::fmt::Debug>(value: &Sourced<T>) -> String {
    format!("{:?} from {}", value.value, value.source)
}

#[test]
fn every_field_is_read_and_says_where_it_came_from() {
    let text = policy(
        "spec:\n  eviction: LFU\n  evictionTTL: 1h30m\n  minimumPrefixTokens: 0\n  minimumMatchedTokens: 0\n  \
         routingFloorScore: \"0\"\n  lookupTimeoutMs: 5\n  affinityRouting: Disabled\n  strategy:\n    \
         enableChainMatching: true\n    requireChain: true\n    enableTenantHot: false",
    ) + &tenant(
        "a",
        "{tenantID: team-a, isolationMode: Fairness, quota: {maxIndexEntries: 7}, crypto: {}}",
    );
    let loaded = loaded(&text);
    assert_eq!((loaded.policies, loaded.tenants, loaded.other_kinds), (1, 1, 0));
    let policy = loaded.set.policy_of("team-a");
    assert_eq!(policy.eviction.value, Eviction::Lfu);
    let written = |line: u32| format!("CachePolicy team-a/p (p.yaml:{line})");
    for (value, expected) in [
        (shown(&policy.ttl_ns), format!("5400000000000 from {}", written(6))),
        (shown(&policy.minimum_prefix_tokens), format!("0 from {}", written(7))),
        (shown(&policy.minimum_matched_tokens), format!("0 from {}", written(8))),
        (shown(&policy.routing_floor_score), format!("0.0 from {}", written(9))),
        (shown(&policy.lookup_timeout_ms), format!("5 from {}", written(10))),
        (shown(&policy.affinity_routing), format!("false from {}", written(11))),
        (shown(&policy.enable_chain_matching), format!("true from {}", written(13))),
        (shown(&policy.require_chain), format!("true from {}", written(14))),
        (shown(&policy.enable_tenant_hot), format!("false from {}", written(15))),
        (shown(&policy.max_index_entries), "7 from CacheTenant ops/a (p.yaml:20)".to_owned()),
    ] {
        assert_eq!(value, expected);
    }
}

#[test]
fn what_is_not_written_is_the_default() {
    for spec in ["", "spec:", "spec: {}", "spec: {evictionTTL: , strategy: }", "spec: {strategy: {}}"] {
        let loaded = loaded(&policy(spec));
        let policy = loaded.set.policy_of("team-a");
        assert_eq!(policy, loaded.set.default_policy(), "{spec}");
        assert_eq!((policy.minimum_matched_tokens.value, policy.routing_floor_score.value), (64, 0.1));
    }
    let nothing = loaded("");
    assert_eq!((nothing.policies, nothing.set.iter().count()), (0, 0));
}

#[test]
fn a_tenant_without_a_policy_has_its_quota_and_the_defaults() {
    let loaded = loaded(&tenant("a", "{tenantID: t, quota: {maxIndexEntries: 0}}"));
    let policy = loaded.set.policy_of("t");
    assert_eq!(policy.max_index_entries.value, 0);
    assert_eq!(policy.minimum_matched_tokens, Sourced::built_in(64));
    assert_eq!(loaded.set.default_policy().max_index_entries.value, u64::MAX);
}

#[test]
fn a_missing_namespace_is_default_and_other_kinds_are_counted() {
    let text = "
apiVersion: v1
kind: ConfigMap
data: {a: [1, {b: 2}]}
---
apiVersion: inferencecache.io/v1alpha1
kind: CachePolicy
metadata:
  name: p
  labels: {app: x}
  resourceVersion: '7'
spec: {minimumMatchedTokens: 3}
status: {conditions: []}
---
# nothing here
---
kind: Deployment
";
    let loaded = loaded(text);
    assert_eq!((loaded.policies, loaded.other_kinds), (1, 2));
    assert_eq!(loaded.set.policy_of("default").minimum_matched_tokens.value, 3);
}

#[test]
fn lists_and_json_are_read() {
    let item = |name: &str, tokens: u32| {
        format!(
            r#"{{"apiVersion":"inferencecache.io/v1alpha1","kind":"CachePolicy","metadata":{{"name":"p","namespace":"{name}"}},"spec":{{"minimumMatchedTokens":{tokens}}}}}"#
        )
    };
    let list = format!(
        "{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"metadata\":{{}},\"items\":[\n{},\n{},\n{{\"kind\":\"Pod\"}}]}}",
        item("a", 1),
        item("b", 2)
    );
    let loaded = loaded(&list);
    assert_eq!((loaded.policies, loaded.other_kinds), (2, 1));
    assert_eq!(loaded.set.policy_of("b").minimum_matched_tokens.value, 2);
    assert_eq!(
        loaded.set.policy_of("b").minimum_matched_tokens.source.to_string(),
        "CachePolicy b/p (p.yaml:3)"
    );
}

#[test]
fn of_several_objects_the_first_by_bytes_counts() {
    let one = |name: &str, tokens: u32| {
        format!(
            "---\napiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {{name: {name}, namespace: n}}\n\
             spec: {{minimumMatchedTokens: {tokens}}}\n"
        )
    };
    let loaded = loaded(
        &(one("b", 1)
            + &one("a10", 2)
            + &one("a2", 3)
            + &tenant("z", "{tenantID: n, quota: {maxIndexEntries: 1}}")
            + &tenant("y", "{tenantID: n, quota: {maxIndexEntries: 2}}")),
    );
    let policy = loaded.set.policy_of("n");
    assert_eq!((policy.minimum_matched_tokens.value, policy.max_index_entries.value), (2, 2));
    assert_eq!((loaded.policies, loaded.tenants), (1, 1));
    assert_eq!(
        loaded.inert,
        [
            "CachePolicy n/a2 (p.yaml:12) has no effect: CachePolicy n/a10 (p.yaml:7) comes first",
            "CachePolicy n/b (p.yaml:2) has no effect: CachePolicy n/a10 (p.yaml:7) comes first",
            "CacheTenant ops/z (p.yaml:17) has no effect: CacheTenant ops/y (p.yaml:22) comes first",
        ]
    );
}

#[test]
fn a_wrong_spec_is_an_error_that_names_field_and_line() {
    let max = i64::from(i32::MAX);
    for (spec, error) in [
        ("spec: {eviction: lru}", "18: `spec.eviction` is `lru`; write `LRU`: case matters"),
        (
            "spec: {evictionTTL: 0s}",
            "21: `spec.evictionTTL` is `0s`; write a duration above 0, as in `30m`; leave the field out for the server's default",
        ),
        (
            "spec: {evictionTTL: -1s}",
            "21: `spec.evictionTTL` is `-1s`; write a duration above 0, as in `30m`; leave the field out for the server's default",
        ),
        (
            "spec: {evictionTTL: 30}",
            "21: `spec.evictionTTL` is the number `30`; write a duration with its unit, as in `30m`",
        ),
        (
            "spec: {evictionTTL: 1d}",
            "21: `spec.evictionTTL` is no duration: `1d` has a number without a known unit; units are `ns`, `us`, `ms`, \
             `s`, `m`, `h`",
        ),
        (
            "spec: {minimumPrefixTokens: -1}",
            &format!("29: `spec.minimumPrefixTokens` is -1; write a number from 0 to {max}"),
        ),
        (
            "spec: {minimumMatchedTokens: 2147483648}",
            &format!("30: `spec.minimumMatchedTokens` is 2147483648; write a number from 0 to {max}"),
        ),
        (
            "spec: {lookupTimeoutMs: \"5\"}",
            "25: `spec.lookupTimeoutMs` is the text `5`; write a whole number without quotes",
        ),
        (
            "spec: {lookupTimeoutMs: 1.5}",
            "25: `spec.lookupTimeoutMs` is the number `1.5`; write a whole number without quotes",
        ),
        (
            "spec: {routingFloorScore: 0.1}",
            "27: `spec.routingFloorScore` is the number `0.1`; write a decimal in quotes, as in \"0.1\"",
        ),
        (
            "spec: {affinityRouting: true}",
            "25: `spec.affinityRouting` is the boolean `true`; write `Enabled` or `Disabled`",
        ),
        (
            "spec: {affinityRouting: enabled}",
            "25: `spec.affinityRouting` is `enabled`; write `Enabled`: case matters",
        ),
        (
            "spec: {strategy: {requireChain: 1}}",
            "33: `spec.strategy.requireChain` is the number `1`; write `true` or `false`",
        ),
        (
            "spec: {strategy: {requireChain: true, enableChainMatching: false}}",
            "33: `spec.strategy.requireChain` is true and `enableChainMatching` is false: every lookup would be refused; \
             change one of them",
        ),
        (
            "spec: {minimumMatchTokens: 3}",
            "8: unknown field `spec.minimumMatchTokens`; did you mean `spec.minimumMatchedTokens`?",
        ),
        (
            "spec: {strategy: {nonsense: 3}}",
            "19: unknown field `spec.strategy.nonsense`; known here: enableChainMatching, requireChain, enableTenantHot",
        ),
        ("spec: []", "1: `spec` is a list; write an object with fields"),
        ("spek: {}", "1: unknown field `spek`; did you mean `spec`?"),
    ] {
        let found = load(&policy(spec)).expect_err(spec);
        assert_eq!(found.to_string(), format!("p.yaml:4:{error}"), "{spec}");
    }
}

#[test]
fn floor_scores_follow_their_pattern() {
    for (text, is_valid) in [
        ("0", true),
        ("0.1", true),
        ("12345678.123456", true),
        ("0.000000", true),
        ("123456789", false),
        ("0.1234567", false),
        ("01", false),
        (".5", false),
        ("1.", false),
        ("-1", false),
        ("+1", false),
        ("1e3", false),
        ("", false),
        ("inf", false),
        ("1 ", false),
        ("\u{663}", false),
    ] {
        let found = load(&policy(&format!("spec: {{routingFloorScore: \"{text}\"}}")));
        assert_eq!(found.is_ok(), is_valid, "{text}");
    }
}

#[test]
fn a_wrong_tenant_is_an_error() {
    for (spec, error) in [
        ("{}", "5:1: `spec.tenantID` is missing; write the tenant_id of the wire"),
        ("{tenantID: \"\"}", "5:18: `spec.tenantID` is empty; write the tenant_id of the wire"),
        (
            "{tenantID: inferencecache.io/probe}",
            "5:18: `spec.tenantID` is `inferencecache.io/probe`, which is reserved for health probes; write the tenant_id \
             of the wire",
        ),
        (
            "{tenantID: t, isolationMode: fairness}",
            "5:36: `spec.isolationMode` is `fairness`; write `Fairness`: case matters",
        ),
        (
            "{tenantID: t, quota: {maxIndexEntries: -1}}",
            "5:46: `spec.quota.maxIndexEntries` is -1; write a number from 0 to 9223372036854775807",
        ),
        (
            "{tenantID: t, crypto: {key: x}}",
            "5:30: `spec.crypto.key` is written, and `crypto` is reserved; nothing may stand here; leave `crypto` out",
        ),
    ] {
        let found = load(&tenant("a", spec)).expect_err(spec);
        assert_eq!(found.to_string(), format!("p.yaml:{error}"), "{spec}");
    }
}

#[test]
fn a_wrong_document_is_an_error() {
    let long = format!("{}1{}", "[".repeat(1_000), "]".repeat(1_000));
    for (text, error) in [
        ("5", "1:1: a document is the number `5`; write an object with fields"),
        ("\nspec: {}", "2:1: `kind` is missing; write `CachePolicy` or `CacheTenant`"),
        (
            "kind: CachePolicy\nmetadata: {name: a}",
            "1:1: `apiVersion` is missing; write `inferencecache.io/v1alpha1`",
        ),
        (
            "kind: CachePolicy\napiVersion: inferencecache.io/v1\nmetadata: {name: a}",
            "2:13: `apiVersion` is `inferencecache.io/v1`; write `inferencecache.io/v1alpha1`",
        ),
        (
            "kind: CachePolicy\napiVersion: inferencecache.io/v1alpha1",
            "1:1: `metadata` is missing; write `metadata: {name: ..., namespace: ...}`",
        ),
        (
            "kind: CachePolicy\napiVersion: inferencecache.io/v1alpha1\nmetadata: {}",
            "3:1: `metadata.name` is missing; give the object a name",
        ),
        (
            "kind: CachePolicy\napiVersion: inferencecache.io/v1alpha1\nmetadata: {name: a, namepsace: b}",
            "3:21: unknown field `metadata.namepsace`; did you mean `metadata.namespace`?",
        ),
        (
            "kind: List\nitems:\n- kind: List\n",
            "3:9: `items[0].kind` is `List` within a list; write its items into the outer one",
        ),
        ("kind: List\nitems: 5", "2:8: `items` is the number `5`; write a list"),
    ] {
        let found = load(text).expect_err(text);
        assert_eq!(found.to_string(), format!("p.yaml:{error}"), "{text}");
    }
    for (text, place) in [("a: [1", (1, 4)), ("a: b: c", (1, 5)), ("a: &x [*x]", (1, 8)), (&*long, (1, 65))] {
        let found = load(text).expect_err(text);
        let problem = found.problems().next().expect("an error has a problem");
        assert!(problem.what.contains("no valid YAML: "), "{text}: {found}");
        assert_eq!((problem.place.line, problem.place.column), place, "{text}: {found}");
    }
}

#[test]
fn every_problem_is_in_the_error() {
    let text = "a: 1\na: 2\n---\nkind: [\n---\n".to_owned()
        + &policy("spec: {eviction: lru, evictionTTL: 0s, routingFloorScore: 1}")
        + &tenant("A", "{tenantID: t, quota: {maxIndexEntries: x}}");
    let found = load(&text).expect_err("nothing in it is right");
    let lines: Vec<String> =
        found.to_string().lines().map(|line| line[..11.min(line.len())].to_owned()).collect();
    assert_eq!(
        lines,
        [
            "p.yaml:1:1:",
            "p.yaml:2:1:",
            "p.yaml:4:7:",
            "p.yaml:9:18",
            "p.yaml:9:36",
            "p.yaml:9:59",
            "p.yaml:13:1",
            "p.yaml:14:4",
        ],
        "{found}"
    );
}
