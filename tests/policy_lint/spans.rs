//! Places are exact in every way to write YAML.

use icache::policy::SourceText;
use icache::policy::lint::{LintOptions, lint};

/// Checks that the first finding in `text` covers exactly what stands between `«` and `»`.
fn check(rule: &str, text: &str) {
    let start = text.find('«').expect("a case marks where it begins");
    let plain = text.replacen('«', "", 1);
    let end = plain.find('»').expect("a case marks where it ends");
    let plain = plain.replacen('»', "", 1);
    let sources = [SourceText::new("p.yaml", &*plain)];
    let found = lint(&sources, &LintOptions::default()).diagnostics;
    let first = found.iter().find(|diagnostic| diagnostic.rule.id() == rule);
    let first = first.unwrap_or_else(|| panic!("no {rule} in {plain:?}: {found:?}"));
    assert_eq!((first.site.start, first.site.end), (start, end), "{plain:?}: {first:?}");
}

const HEAD: &str =
    "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {name: p, namespace: a}\n";

#[test]
fn values_and_keys() {
    for (rule, spec) in [
        ("wrong-case-or-enum", "spec: {eviction: «lfu», lookupTimeoutMs: 5}\n"),
        ("wrong-case-or-enum", "spec: {eviction: «lfu»}"),
        ("wrong-case-or-enum", "spec: {eviction: «\"lfu\"» }"),
        ("wrong-case-or-enum", "spec: {\"eviction\" : «'lfu'»}"),
        ("wrong-case-or-enum", "spec:\n  eviction: «\"l\\u0066u\"» # LFU\n"),
        ("wrong-case-or-enum", "spec:\n    eviction:\n      «lfu»\n    lookupTimeoutMs: 5\n"),
        ("wrong-case-or-enum", "spec:\n  eviction: «lfu\n    or so»\n  lookupTimeoutMs: 5\n"),
        ("wrong-case-or-enum", "spec:\n  eviction: |\n    «lfu»\n\n  lookupTimeoutMs: 5\n"),
        ("wrong-case-or-enum", "spec:\n  eviction: >-\n    «lfu»\n"),
        ("wrong-case-or-enum", "spec:\n  ? eviction\n  : «lfu»\n"),
        ("wrong-case-or-enum", "spec:\n  eviction: !!str «lfu»\n"),
        ("wrong-case-or-enum", "spec:\n  eviction: &e «lfu»\n"),
        ("wrong-case-or-enum", "spec:\n  eviction:\t«lfu»\t# tabs\n"),
        ("unknown-field", "spec: {«evict»: LRU}"),
        ("unknown-field", "spec:\n  «\"évict\"»: LRU\n"),
        ("unknown-field", "spec:\n  ? «evict»\n  : LRU\n"),
        ("unknown-field", "spec:\n  é: 1\n"),
        ("out-of-range", "spec:\n  minimumPrefixTokens: «-1»\n"),
        ("wrong-type", "spec:\n  «strategy»:\n    - requireChain\n"),
        ("wrong-type", "«spec»: []\n"),
        ("duplicate-key", "spec:\n  lookupTimeoutMs: 5\n  «lookupTimeoutMs»: 6\n"),
        ("syntax", "spec:\n  eviction: [LRU\n  lookupTimeoutMs: 5\n"),
    ] {
        if !spec.contains('«') {
            continue;
        }
        for line_end in ["\n", "\r\n"] {
            check(rule, &format!("{HEAD}{spec}").replace('\n', line_end));
        }
        check(rule, &format!("\u{feff}{HEAD}{spec}"));
        check(rule, &format!("# é\n--- # ü\nkind: Pod\n...\n---\n{HEAD}{spec}"));
        let item = format!("{HEAD}{spec}").replace('\n', "\n  ");
        check(rule, &format!("kind: List\napiVersion: v1\nitems:\n- {}\n", item.trim_end()));
    }
}

#[test]
fn json_is_yaml() {
    check(
        "bad-floor-score",
        "{\"apiVersion\":\"inferencecache.io/v1alpha1\",\"kind\":\"CachePolicy\",\n\t\"metadata\":{\"name\":\"p\",\
         \"namespace\":\"a\"},\"spec\":{\"routingFloorScore\":«0.5»}}",
    );
}

/// An alias is wrong where it stands, and the value it stands for is named.
#[test]
fn aliases_and_merges() {
    let text = format!("{HEAD}spec:\n  eviction: &e LFU\n  affinityRouting: «*e»\n");
    check("wrong-case-or-enum", &text);
    let plain = text.replace(['«', '»'], "");
    let sources = [SourceText::new("p.yaml", &*plain)];
    let found = lint(&sources, &LintOptions::default()).diagnostics;
    assert_eq!(sources[0].slice(&found[0].related[0].site.span()), "LFU");
    // What is merged stands where it is written, once, however often it is merged.
    let base = format!("{HEAD}spec: &base\n  minimumPrefixTokens: «-1»\n---\n{HEAD}spec: {{}}\n");
    check("out-of-range", &base);
    let shared = "kind: List\nitems:\n- &first\n  apiVersion: inferencecache.io/v1alpha1\n  kind: CachePolicy\n  \
                  metadata: {name: a, namespace: a}\n  spec: &spec\n    minimumPrefixTokens: «-1»\n- <<: *first\n  \
                  metadata: {name: b, namespace: b}\n  spec:\n    <<: *spec\n    evictionTTL: 5m\n";
    check("out-of-range", shared);
    let plain = shared.replace(['«', '»'], "");
    let sources = [SourceText::new("p.yaml", &*plain)];
    let report = lint(&sources, &LintOptions::default());
    assert_eq!((report.diagnostics.len(), report.policies), (1, 2), "{:?}", report.diagnostics);
}

#[test]
fn columns_are_characters() {
    let text = format!("\u{feff}{}", HEAD.replace("name: p", "labels: {é: '😀ü'}, name: P"));
    let sources = [SourceText::new("p.yaml", &*text)];
    let found = lint(&sources, &LintOptions::default()).diagnostics;
    let place = found[0].place(&sources).1;
    let before = "metadata: {labels: {é: '😀ü'}, name: ";
    assert_eq!((found[0].rule.id(), place.line, place.column), ("bad-name", 3, before.chars().count() + 1));
}
