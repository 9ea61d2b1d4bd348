//! Files that mean harm: a clear error, in bounded memory and time.

use icache::policy::lint::{LintOptions, Rule, lint};
use icache::policy::{Defaults, MAX_POLICY_BYTES, SourceText, load_policies};

use super::HEAD;

/// The only finding, as its sentence; the loader refuses the text too.
fn only_error(text: &str) -> String {
    let found = lint(&[SourceText::new("p.yaml", text)], &LintOptions::default()).diagnostics;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].rule, Rule::Syntax);
    assert!(load_policies("p.yaml", text, &Defaults::default()).is_err());
    found[0].what.clone()
}

#[test]
fn aliases_that_multiply() {
    let mut laughs = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    let mut merges = String::from("m0: &m0 {a: 1, b: 2}\n");
    for level in 1..30 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        laughs.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        let merged = vec![format!("*m{}", level - 1); 9].join(", ");
        merges.push_str(&format!("m{level}: &m{level} {{k{level}: 1, <<: [{merged}]}}\n"));
    }
    for text in [laughs, merges] {
        assert!(only_error(&text).starts_with("the text has more than 500000 values"));
    }
    let mut chain = String::from("a0: &a0 [x]\n");
    for level in 1..20_000 {
        chain.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    assert!(only_error(&chain).starts_with("the document nests more than 64 levels deep"));
}

#[test]
fn nesting() {
    let flow = "[".repeat(100_000);
    let maps = "{a: ".repeat(100_000);
    let block: String = (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let lists = "- ".repeat(100_000);
    for text in [flow, maps, block, lists] {
        let what = only_error(&text);
        assert!(what.contains("nest") || what.contains("depth") || what.contains("recursion"), "{what}");
    }
    let fits = format!("kind: Other\ndeep: {}1{}", "[".repeat(60), "]".repeat(60));
    assert!(lint(&[SourceText::new("p", fits)], &LintOptions::default()).diagnostics.is_empty());
}

#[test]
fn size() {
    let at_limit = format!("{HEAD}#{}", " ".repeat(MAX_POLICY_BYTES - HEAD.len() - 1));
    assert!(lint(&[SourceText::new("p", &*at_limit)], &LintOptions::default()).diagnostics.is_empty());
    assert_eq!(only_error(&(at_limit + " ")), "the text has more than 4 MiB");
    assert!(
        only_error(&"[],".repeat(MAX_POLICY_BYTES / 3 - 1).replacen('[', "[[", 1))
            .starts_with("the text has more")
    );
}

#[test]
fn no_text() {
    let of = |bytes: &[u8]| {
        let found = lint(&[SourceText::from_bytes("p", bytes.to_vec())], &LintOptions::default()).diagnostics;
        assert_eq!(found.iter().map(|found| found.rule).collect::<Vec<_>>(), [Rule::Syntax], "{bytes:?}");
        found[0].what.clone()
    };
    assert_eq!(of(b"\x7fELF\x02\x01\x01\xff\0"), "the file is no UTF-8 text: byte 7 is 0xff");
    assert_eq!(of(b"\xff\xfek\0i\0"), "the file is UTF-16 text");
    assert!(of(&[0; 4096]).starts_with("no valid YAML: "));
    assert!(of(b"kind: \0CachePolicy").starts_with("no valid YAML: "));
    assert!(of(b"a: \x1b[31mred").starts_with("no valid YAML: "));
}

/// Findings are bounded, and long keys, words and comments cost no more than they are long.
#[test]
fn many_and_long() {
    let unknown: String = (0..200_000).map(|at| format!(" k{at}: 1\n")).collect();
    let duplicates = " eviction: LRU\n".repeat(100_000);
    let policies = format!("{HEAD}---\n").repeat(20_000);
    for text in [format!("{HEAD}spec:\n{unknown}"), format!("{HEAD}spec:\n{duplicates}"), policies] {
        let found = lint(&[SourceText::new("p", text)], &LintOptions::default()).diagnostics;
        assert!((900..=20_100).contains(&found.len()), "{} with {:?}", found.len(), found.first());
    }
    let long = "x".repeat(600_000);
    let comments = "# nothing\n".repeat(100_000);
    let text = format!(
        "{comments}{HEAD}spec:\n  ? {long}\n  : 1\n  eviction: {long}\n  evictionTTL: {long}\n  routingFloorScore: {long}\n"
    );
    let found = lint(&[SourceText::new("p", text)], &LintOptions::default()).diagnostics;
    assert!(found.len() >= 3, "{found:?}");
    assert!(found.iter().all(|found| found.what.len() < 300), "{found:?}");
}

/// However many findings are allowed, the one that is not is reported; however many comments stand above a line, they are
/// read once.
#[test]
fn many_allowed_findings_and_comments() {
    let policy = |namespace: usize, comment: &str| {
        format!(
            "---\napiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {{name: p, namespace: n{namespace}}}\n\
             spec: {{lookupTimeoutMs: 0}}{comment}\n"
        )
    };
    let allow = " # icache: allow zero-timeout-is-no-timeout, redundant-default";
    let mut text: String = (0..1_500).map(|at| policy(at, allow)).collect();
    text.push_str(&policy(1_500, ""));
    let found = lint(&[SourceText::new("p.yaml", text)], &LintOptions::default()).diagnostics;
    assert!(found.iter().any(|diagnostic| diagnostic.rule == Rule::ZeroTimeoutIsNoTimeout), "{found:?}");

    let comments = "  # icache: allow zero-timeout-is-no-timeout\n".repeat(50_000);
    let text = format!("{HEAD}spec:\n{comments}  lookupTimeoutMs: 0\n");
    let found = lint(&[SourceText::new("p.yaml", text)], &LintOptions::default()).diagnostics;
    assert!(!found.iter().any(|diagnostic| diagnostic.rule == Rule::ZeroTimeoutIsNoTimeout), "{found:?}");
}

/// More findings of one rule than are kept: the last one says so.
#[test]
fn what_is_not_listed_is_said() {
    let text: String = (0..20_001).map(|at| format!("k{at}: 1\n")).collect();
    let found =
        lint(&[SourceText::new("p.yaml", format!("{HEAD}{text}"))], &LintOptions::default()).diagnostics;
    assert_eq!(found.len(), 20_000);
    assert!(
        found[19_999].help.ends_with("; further findings of this rule are not listed"),
        "{:?}",
        found[19_999]
    );
}
