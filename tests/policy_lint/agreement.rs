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
            valid &= require != "yes" && chain != "yes" && !(require == "true" && chain == "false");
            let mut switches = Vec::new();
            for (field, value) in [("requireChain", require), ("enableChainMatching", chain)] {
                if !value.is_empty() {
                    switches.push(format!("{field}: {value}"));
                }
            }
            let strategy = format!("strategy: {{{}}}", switches.join(", "));
            let lines = written.iter().map(|(field, value, _)| format!("{field}: {value}")).chain([strategy]);
            let lines: Vec<String> = lines.collect();
            let spec = match style {
                0 => format!("spec: {{{}}}", lines.join(", ")),
                1 => format!("spec:\n  {}", lines.join("\n  ")),
                _ => format!("x-base: &base {{{}}}\nspec: {{<<: *base}}", lines.join(", ")),
            };
            valid &= style != 2;
            let head = "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy";
            (format!("{head}\nmetadata: {{name: {name}, namespace: a}}\n{spec}\n"), valid)
        },
    )
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
