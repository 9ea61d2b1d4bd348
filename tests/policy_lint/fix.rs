//! `--fix` changes what has but one right form, and nothing else.

use icache::policy::SourceText;
use icache::policy::lint::{LintOptions, fixed};

use super::HEAD;

fn fix(text: &str) -> Option<String> {
    let fixed = fixed(&SourceText::new("p.yaml", text), &LintOptions::default());
    fixed.map(|(source, _)| source.text().to_owned())
}

#[test]
fn safe_fixes_keep_all_else() {
    for (before, after) in [
        ("eviction: lfu   # why", "eviction: LFU   # why"),
        ("eviction: 'lfu'", "eviction: 'LFU'"),
        ("eviction: \"Lfu\"", "eviction: \"LFU\""),
        ("evictionTtl:   5m", "evictionTTL:   5m"),
        ("\"EVICTIONTTL\": 5m", "\"evictionTTL\": 5m"),
        ("routingFloorScore: 0.25 #é", "routingFloorScore: \"0.25\" #é"),
        ("lookupTimeoutMs: '5'", "lookupTimeoutMs: 5"),
        ("strategy: {RequireChain: \"true\"}", "strategy: {requireChain: true}"),
        ("affinityrouting: disabled", "affinityRouting: Disabled"),
    ] {
        for line_end in ["\n", "\r\n"] {
            let text = |line: &str| format!("\u{feff}{HEAD}spec:\n  {line}\n\n\n").replace('\n', line_end);
            let once = fix(&text(before));
            assert_eq!(once.as_deref(), Some(&*text(after)), "{before}");
            assert_eq!(fix(&text(after)), None, "{after}");
        }
    }
}

#[test]
fn what_has_more_than_one_right_form_stays() {
    for line in [
        "eviction: FIFO",
        "eviction: \"l\\u0066u\"",
        "eviction: |\n    lfu",
        "minimumMatchTokens: 5",
        "routingFloorScore: .5",
        "routingFloorScore: 1e1",
        "lookupTimeoutMs: '010'",
        "lookupTimeoutMs: '-5'",
        "strategy: {requireChain: yes}",
        "evictionTTL: 30",
        // Both are there: which one is meant, nobody can tell.
        "{evictionTTL: 5m, evictionTtl: 10m}",
        // What an alias repeats is used elsewhere too.
        "{eviction: &e lfu, affinityRouting: *e}",
        "minimumMatchedTokens: 64",
    ] {
        let text = if line.starts_with('{') {
            format!("{HEAD}spec: {line}\n")
        } else {
            format!("{HEAD}spec:\n  {line}\n")
        };
        assert_eq!(fix(&text), None, "{line}");
    }
}

#[test]
fn one_fix_may_bring_the_next_to_light() {
    let text = "apiVersion: inferencecache.io/v1alpha1\nkind: cachetenant\nmetadata: {Name: a}\nspec: {tenantId: a, \
                quota: {maxindexentries: \"5\"}}\n";
    let fixed = fix(text).expect("there is something to fix");
    assert_eq!(
        fixed,
        "apiVersion: inferencecache.io/v1alpha1\nkind: CacheTenant\nmetadata: {name: a}\nspec: {tenantID: a, quota: \
         {maxIndexEntries: 5}}\n"
    );
    assert_eq!(fix(&fixed), None);
}
