//! Lint and the loader agree on what a server takes; and both agree with what was generated.

use icache::policy::lint::{LintOptions, Rule, Severity, lint};
use icache::policy::{Defaults, SourceText, load_policies};
use proptest::prelude::*;

fn loads(text: &str) -> bool {
    load_policies("p.yaml", text, &Defaults::default()).is_ok()
}

/// Whether lint finds an error that a server would not take.
fn is_refused(text: &str) -> bool {
    let report = lint(&[SourceText::new("p.yaml", text)], &LintOptions::default());
    report.diagnostics.iter().any(|diagnostic| diagnostic.rule.is_enforced())
}

#[test]
fn what_a_rule_calls_an_error_does_not_load() {
    for rule in Rule::ALL {
        let is_inert = matches!(rule, Rule::DuplicatePolicyInNamespace | Rule::DuplicateTenant);
        let is_refused = rule.severity() == Severity::Error && !is_inert;
        assert_eq!(loads(rule.failing_example()), !is_refused, "{}", rule.id());
        assert_eq!(rule.is_enforced(), is_refused);
        assert!(loads(rule.passing_example()), "{}", rule.id());
    }
}

/// A field of the spec as written, and whether that is valid.
type Field = (&'static str, &'static str, bool);

const FIELDS: &[&[Field]] = &[
    &[
        ("eviction", "LRU", true),
        ("eviction", "'LFU'", true),
        ("eviction", "lfu", false),
        ("eviction", "1", false),
        ("eviction", "", true),
    ],
    &[
        ("evictionTTL", "5m", true),
        ("evictionTTL", "\"1h30m\"", true),
        ("evictionTTL", "1.5h", true),
        ("evictionTTL", "0s", false),
        ("evictionTTL", "1d", false),
        ("evictionTTL", "300", false),
        ("evictionTTL", "~", true),
    ],
    &[
        ("minimumPrefixTokens", "0", true),
        ("minimumPrefixTokens", "2147483647", true),
        ("minimumPrefixTokens", "2147483648", false),
        ("minimumPrefixTokens", "-1", false),
        ("minimumPrefixTokens", "1.0", false),
        ("minimumPrefixTokens", "\"1\"", false),
    ],
    &[("minimumMatchedTokens", "0x40", true), ("minimumMatchedTokens", "many", false)],
    &[
        ("routingFloorScore", "\"0\"", true),
        ("routingFloorScore", "'12345678.123456'", true),
        ("routingFloorScore", "0.1", false),
        ("routingFloorScore", "\"1e3\"", false),
        ("routingFloorScore", "\"-1\"", false),
        ("routingFloorScore", "[]", false),
    ],
    &[("lookupTimeoutMs", "5", true), ("lookupTimeoutMs", "5ms", false)],
    &[("affinityRouting", "Disabled", true), ("affinityRouting", "false", false)],
    &[("minimumTokens", "5", false), ("EvictionTTL", "5m", false), ("\"\"", "5", false)],
];

const SWITCHES: [&str; 5] = ["", "true", "false", "~", "yes"];

/// A policy with some fields, in block or flow style; and whether it is valid.
fn policy() -> impl Strategy<Value = (String, bool)> {
    let fields: Vec<_> =
        FIELDS.iter().map(|field| prop::option::weighted(0.4, prop::sample::select(*field))).collect();
    let switch = || prop::sample::select(&SWITCHES[..]);
    let names =
        prop::sample::select(&[("p", true), ("a.b", true), ("P", false), ("5", false), ("''", false)][..]);
    (fields, switch(), switch(), names, 0..3_usize).prop_map(
        |(fields, require, chain, (name, name_fits), style)| {
            let written: Vec<Field> = fields.into_iter().flatten().collect();
            let mut valid = name_fits && written.iter().all(|(.., fits)| *fits);
            valid &= switches_fit(require, chain);
            let mut switches = Vec::new();
            for (field, value) in [("requireChain", require), ("enableChainMatching", chain)] {
                if !value.is_empty() {
                    switches.push(format!("{field}: {value}"));
                }
            }
            let strategy = format!("strategy: {{{}}}", switches.join(", "));
            let lines = written.iter().map(|(field, value, _)| format!("{field}: {value}")).chain([strategy]);
            let lines: Vec<String> = lines.collect();
            if style == 2 && written.iter().any(|(field, ..)| *field == "lookupTimeoutMs") {
                // The object's own field wins over a merged one, and what loses is not read.
                let mut rest = written.iter().filter(|(field, ..)| *field != "lookupTimeoutMs");
                valid = name_fits && switches_fit(require, chain) && rest.all(|(.., fits)| *fits);
            }
            (laid_out(style, name, &lines), valid)
        },
    )
}

fn switches_fit(require: &str, chain: &str) -> bool {
    require != "yes" && chain != "yes" && !(require == "true" && chain == "false")
}

/// The fields in flow style, in block style, or merged from a place that nobody reads.
fn laid_out(style: usize, name: &str, lines: &[String]) -> String {
    let (base, spec) = match style {
        0 => (String::new(), format!("spec: {{{}}}", lines.join(", "))),
        1 => (String::new(), format!("spec:\n  {}", lines.join("\n  "))),
        _ => (
            format!(", annotations: &base {{{}}}", lines.join(", ")),
            "spec:\n  <<: *base\n  lookupTimeoutMs: 7".to_owned(),
        ),
    };
    let head = "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy";
    format!("{head}\nmetadata: {{name: {name}, namespace: a{base}}}\n{spec}\n")
}

/// Pieces of YAML in any order: most of it is nonsense.
fn pieces() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "apiVersion: inferencecache.io/v1alpha1\n",
        "kind: CachePolicy\n",
        "kind: CacheTenant\n",
        "kind: List\nitems:\n- ",
        "metadata: {name: p, namespace: a}\n",
        "metadata:\n  name: p\n",
        "spec:\n",
        "spec: {tenantID: t}\n",
        "  evictionTTL: 5m\n",
        "  eviction: &a LFU\n",
        "  affinityRouting: *a\n",
        "  <<: *a\n",
        "  strategy:\n    requireChain: true\n",
        "  - [",
        "]}",
        "{",
        "\"",
        "'é",
        "|\n",
        "\t",
        "\r",
        "\u{feff}",
        "---\n",
        "...\n",
        "# icache: allow syntax\n",
        ": ",
        "? ",
        "!!int ",
        "%YAML 1.1\n",
        "\0",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_policies_are_judged_alike((text, valid) in policy()) {
        prop_assert_eq!(loads(&text), valid, "{}", text);
        prop_assert_eq!(is_refused(&text), !valid, "{}", text);
    }

    #[test]
    fn nonsense_is_judged_alike(text in pieces()) {
        prop_assert_eq!(loads(&text), !is_refused(&text), "{}", text);
    }

    /// Whatever is found has a place in the text, and can be shown.
    #[test]
    fn places_lie_in_the_text(text in pieces()) {
        let sources = [SourceText::new("p.yaml", &*text)];
        for found in lint(&sources, &LintOptions::default()).diagnostics {
            prop_assert!(text.is_char_boundary(found.site.start) && text.is_char_boundary(found.site.end));
            prop_assert!(found.site.start <= found.site.end);
        }
    }
}

/// The defaults that the registry of fields shows are those that a server resolves to.
#[test]
fn written_defaults_change_nothing() {
    let (mut top, mut strategy) = (String::new(), String::from("  strategy:\n"));
    for field in icache::policy::fields::cache_policy() {
        let Some(default) = field.default else { continue };
        let value = match field.kind {
            icache::policy::fields::FieldKind::Decimal => format!("\"{default}\""),
            _ => default.to_owned(),
        };
        match field.parent() {
            "spec" => top.push_str(&format!("  {}: {value}\n", field.name())),
            _ => strategy.push_str(&format!("    {}: {value}\n", field.name())),
        }
    }
    let text = format!("{}spec:\n{top}{strategy}", super::HEAD);
    let loaded = load_policies("p.yaml", &text, &Defaults::default()).expect("defaults are valid");
    let (written, default) = (loaded.set.policy_of("team-a"), loaded.set.default_policy());
    assert_eq!(written.eviction.value, default.eviction.value);
    assert_eq!(written.minimum_matched_tokens.value, default.minimum_matched_tokens.value);
    assert_eq!(written.routing_floor_score.value, default.routing_floor_score.value);
    assert_eq!(written.enable_chain_matching.value, default.enable_chain_matching.value);
    assert_eq!(written.require_chain.value, default.require_chain.value);
    assert_eq!(written.enable_tenant_hot.value, default.enable_tenant_hot.value);
    assert_eq!(written.affinity_routing.value, default.affinity_routing.value);
    let found = super::found(&text);
    assert_eq!(found.len(), 7, "{found:?}");
    assert!(found.iter().all(|found| found.rule == Rule::RedundantDefault), "{found:?}");
}
