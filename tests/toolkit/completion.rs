//! Completion scripts in the shells that are there: names of every registry, and commands and flags.

use std::path::Path;
use std::process::Command;

/// What is typed after `icache`, and what is offered for it.
const TYPED: &[(&str, &[&str])] = &[
    ("loo", &["lookup"]),
    ("explain PREFIX", &["PREFIX_MATCH"]),
    ("explain routing-fl", &["routing-floor-score"]),
    ("explain minimumMatched", &["minimumMatchedTokens"]),
    ("explain tenant-mis", &["tenant-mismatch"]),
    ("explain redundant-", &["redundant-default"]),
    ("explain inferencecache_shed", &["inferencecache_shed_total"]),
    ("explain 13", &["130"]),
    ("lookup --expect TENANT", &["TENANT_HOT"]),
    ("lookup --expect-rep", &["--expect-replica"]),
    ("policy rules unknown-f", &["unknown-field"]),
    ("policy lint --allow ttl-very", &["ttl-very-long"]),
    ("policy simu", &["simulate"]),
    ("serve --log-format j", &["json"]),
    ("completions po", &["powershell"]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What `shell` prints of `script`, line by line.
fn offered(shell: &str, script: &str) -> Vec<String> {
    let output = Command::new(shell).args(["-c", script]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('\t').next().unwrap_or_default().trim().to_owned()).collect()
}

fn is_there(shell: &str) -> bool {
    Command::new(shell).args(["-c", "exit 0"]).output().is_ok_and(|output| output.status.success())
}

#[test]
fn bash_completes_commands_flags_and_names() {
    for (typed, expected) in TYPED {
        let words: Vec<&str> = typed.split(' ').collect();
        let (last, before) = (words[words.len() - 1], words.iter().rev().nth(1).copied().unwrap_or("icache"));
        // As readline calls it: the words so far, which of them is written, and the one before it.
        let script = format!(
            "source completions/icache.bash; COMP_WORDS=(icache {typed}); COMP_CWORD={}; _icache icache '{last}' \
             '{before}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.len()
        );
        assert_eq!(offered("bash", &script), *expected, "{typed}");
    }
    let registered = offered("bash", "source completions/icache.bash; complete -p icache");
    assert!(registered[0].contains("_icache"), "{registered:?}");
}

#[test]
fn fish_completes_the_same_where_it_is_there() {
    if !is_there("fish") {
        return;
    }
    for (typed, expected) in TYPED {
        let script = format!("source completions/icache.fish; complete -C 'icache {typed}'");
        assert_eq!(offered("fish", &script), *expected, "{typed}");
    }
}

#[test]
fn zsh_takes_its_script_where_it_is_there() {
    if !is_there("zsh") {
        return;
    }
    let script =
        "fpath=(completions $fpath); autoload -U compinit && compinit -u -D && print $_comps[icache]";
    assert_eq!(offered("zsh", script), ["_icache"]);
    let text = std::fs::read_to_string(root().join("completions/_icache")).unwrap();
    for name in ["PREFIX_MATCH", "routing-floor-score", "unknown-field", "inferencecache_shed_total"] {
        assert!(text.contains(name), "{name}");
    }
}
