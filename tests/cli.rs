//! The command line with the real binary: help, usage, exit statuses, what stands on which stream.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "server_support/shapes.rs"]
mod shapes;

use shapes::is_documented;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

/// The program, with nothing of the caller's environment that changes its output.
fn icache(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icache"));
    command.args(args).stdin(Stdio::null());
    for name in ["ICACHE_SERVER", "NO_COLOR", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"] {
        command.env_remove(name);
    }
    command
}

fn run(args: &[&str]) -> Output {
    icache(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// An error: its status, nothing but two lines on standard error, and `parts` in them.
fn fails(args: &[&str], status: i32, parts: &[&str]) {
    let output = run(args);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{args:?}: {text}");
    assert!(lines[0].starts_with("error: ") && lines[1].starts_with("help: "), "{args:?}: {text}");
    for part in parts {
        assert!(text.contains(part), "{args:?}: no `{part}` in {text}");
    }
}

fn json(args: &[&str]) -> serde_json::Value {
    let output = run(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// An address that refuses connections.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[test]
fn every_command_has_help_with_examples() {
    let commands = icache::generate::man_pages().unwrap();
    assert!(commands.len() > 5);
    for (page, _) in commands {
        let name = page.trim_end_matches(".1").to_owned();
        let mut args: Vec<&str> = name.split('-').skip(1).collect();
        args.push("--help");
        let output = run(&args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        let text = stdout(&output);
        assert!(text.contains("Usage: icache") && text.contains("Examples:"), "{args:?}: {text}");
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn usage_errors_name_the_flag_and_the_way_out() {
    let usage: &[(&[&str], &[&str])] = &[
        (&[], &["no command", "icache --help"]),
        (&["lokup"], &["`lokup`", "`lookup`"]),
        (&["lookup", "--tenat", "t"], &["`--tenat`", "`--tenant`", "icache lookup --help"]),
        (&["lookup"], &["no request", "--tenant", "--demo"]),
        (&["lookup", "--block", "xyz!"], &["`xyz!`", "--block", "hex digits, or base64"]),
        (&["lookup", "--blocks", "ab,cd"], &["token counts", "--block-tokens"]),
        (&["lookup", "--tokens", "no/such/file"], &["`no/such/file`", "no such file"]),
        (&["lookup", "--request", "no/such/file"], &["`no/such/file`", "no such file"]),
        (&["lookup", "--request", "x.json", "--tenant", "t"], &["`--request`"]),
        (&["lookup", "--demo", "--expect", "PREFIX_MACH"], &["`--expect PREFIX_MACH`", "`PREFIX_MATCH`"]),
        (
            &["lookup", "--demo", "--expect", "WHATEVER_ELSE"],
            &["`--expect WHATEVER_ELSE`", "codes are PREFIX_MATCH"],
        ),
        (
            &["lookup", "--capture", "no/such/file", "--tenant", "t", "--prefix-hash", "ab"],
            &["`no/such/file`", "no such file"],
        ),
        (&["lookup", "--capture", "x", "--demo"], &["--capture", "--demo"]),
        (
            &["lookup", "--policy", "p.yaml", "--tenant", "t", "--prefix-hash", "ab"],
            &["`--policy`", "capture"],
        ),
        (&["lookup", "--timeout", "5", "--tenant", "t"], &["--timeout", "unit"]),
        (
            &["lookup", "--server", "ftp://x", "--tenant", "t", "--prefix-hash", "ab"],
            &["`--server ftp://x`", "http://HOST:PORT"],
        ),
        (
            &["lookup", "--server", "https://x", "--ca", "no/ca", "--tenant", "t", "--prefix-hash", "ab"],
            &["`no/ca`", "no such file"],
        ),
        (&["lookup", "--demo", "-o", "yaml"], &["`yaml`", "--output", "json"]),
        (
            &["report", "--replica", "r", "--tenant", "t", "--model", "m"],
            &["nothing to report", "--hit-rate"],
        ),
        (&["report", "--replica", "r", "--hit-rate", "1"], &["--tenant"]),
        (
            &[
                "report",
                "--replica",
                "r",
                "--tenant",
                "t",
                "--model",
                "m",
                "--prefix-hash",
                "ab",
                "--prefix-tokens",
                "1",
            ],
            &["--hash-scheme"],
        ),
        (&["report", "--tenant", "t"], &["--replica"]),
        (&["report", "--update", "x", "--replica", "r"], &["`--update`"]),
        (&["event", "--type", "all-cleared"], &["--replica", "--tenant", "--model"]),
        (
            &["event", "--type", "prefix-evicted", "--replica", "r", "--tenant", "t", "--model", "m"],
            &["--prefix-hash"],
        ),
        (&["completions", "tcsh"], &["`tcsh`", "bash"]),
        (
            &["explain", "prefix_match"],
            &["`prefix_match`", "`icache explain PREFIX_MATCH`", "`icache explain prefix-match`"],
        ),
        (&["explain", "routing-flor-score"], &["`icache explain routing-floor-score`"]),
        (&["explain", "minimumMatchedToken"], &["`icache explain minimumMatchedTokens`"]),
        (&["explain", "zzz"], &["`zzz`", "lists all names"]),
    ];
    for (args, parts) in usage {
        fails(args, 2, parts);
    }
}

#[test]
fn a_server_that_is_down_is_named() {
    let url = nobody();
    for command in [
        &["lookup", "--tenant", "t", "--prefix-hash", "ab"][..],
        &["lookup", "--tenant", "t", "--prefix-hash", "ab", "--explain"],
        &["state"],
        &["report", "--replica", "r", "--tenant", "t", "--model", "m", "--hit-rate", "1"],
        &["event", "--type", "all-cleared", "--replica", "r", "--tenant", "t", "--model", "m"],
    ] {
        let args = [command, &["--server", &url]].concat();
        fails(&args, 3, &[&url, "connection refused", "icache serve", "--server", "ICACHE_SERVER"]);
    }
    let output = icache(&["state"]).env("ICACHE_SERVER", &url).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains(&url));
}

#[test]
fn a_server_that_does_not_answer_runs_into_the_deadline() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    fails(
        &["lookup", "--tenant", "t", "--prefix-hash", "ab", "--server", &url, "--timeout", "100ms"],
        3,
        &[&url, "100ms", "--timeout"],
    );
}

#[test]
fn ctrl_c_ends_a_call_with_130() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let child =
        icache(&["state", "--server", &url]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Once the client speaks, it listens for Ctrl-C.
    let (mut socket, _) = silent.accept().unwrap();
    socket.read_exact(&mut [0; 3]).unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
}

#[test]
fn the_demo_is_explained() {
    let output = run(&["lookup", "--demo", "--explain"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(output.stderr.is_empty());
    let text = stdout(&output);
    assert!(text.contains("\nPREFIX_MATCH: "), "{text}");
    for part in [
        "team-a / llama-3.1-8b / vllm: chain of 56 blocks, 896 tokens",
        "vllm-3 holds 896 of 896 tokens",
        "score 0: all 4 replicas hold these 64 tokens, so they distinguish nobody",
        "✓ prefix-match",
        "✓ minimum-matched-tokens",
        "● answer",
        "evictionTTL = 30m",
        "vllm-3",
        "Candidates",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let ascii = icache(&["lookup", "--demo", "--explain"]).env("LC_ALL", "C").output().unwrap();
    assert!(ascii.stdout.is_ascii());
}

#[test]
fn the_demo_as_json() {
    let answer = json(&["lookup", "--demo", "-o", "json"]);
    assert_eq!(answer["version"], 1);
    assert_eq!(answer["reasonCode"], "PREFIX_MATCH");
    assert_eq!(answer["replicaScores"][0]["replicaId"], "vllm-3");
    assert_eq!(answer["replicaScores"][0]["tier"], "T1");
    let explained = json(&["lookup", "--demo", "--explain", "-o", "jsonl"]);
    assert_eq!(explained["answer"], answer);
    assert_eq!(explained["because"], "prefix-match");
    assert_eq!(explained["steps"].as_array().unwrap().len(), 23);
    assert_eq!(explained["candidates"].as_array().unwrap().len(), 4);
}

#[test]
fn a_replay_says_that_it_sheds_no_load() {
    let text = stdout(&run(&["lookup", "--demo", "--explain"]));
    assert!(text.contains("MaxInFlight = 0 from replay"), "{text}");
}

#[test]
fn a_request_by_flags_against_the_demo() {
    let output = run(&[
        "lookup",
        "--demo",
        "--explain",
        "--tenant",
        "team-b",
        "--model",
        "m",
        "--hash-scheme",
        "vllm",
        "--prefix-hash",
        "ab",
    ]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    assert!(text.contains("\nUNKNOWN_TENANT: ") && text.contains("the nearest known is `team-a`"), "{text}");
}

#[test]
fn a_lookup_on_a_capture_tells_what_was_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.jsonl");
    let text = "{\"icache\":\"capture\",\"version\":1}\n{\"t\":1,\"kind\":\"new\"}\n{\"t\":2,\"ki";
    std::fs::write(&path, text).unwrap();
    let keys = ["--tenant", "t", "--model", "m", "--hash-scheme", "s", "--prefix-hash", "0102"];
    let output = run(&[&["lookup", "--capture", path.to_str().unwrap()], &keys[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(text.contains("warning: passed over 1 record of kind `new`"), "{text}");
    assert!(text.contains("warning: the last line was not finished and is left out: "), "{text}");
}

#[test]
fn a_request_on_standard_input() {
    let mut child = icache(&["lookup", "--demo", "--request", "-", "-o", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let request =
        br#"{"tenantId": "team-a", "modelId": "llama-3.1-70b", "hashScheme": "vllm", "prefixHash": "AQID"}"#;
    child.stdin.take().unwrap().write_all(request).unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["reasonCode"], "UNKNOWN_MODEL");
}

#[test]
fn expectations_decide_the_exit_status() {
    let met = run(&["lookup", "--demo", "--expect", "TENANT_HOT,PREFIX_MATCH", "--expect-replica", "vllm-3"]);
    assert_eq!(met.status.code(), Some(0), "{}", stderr(&met));
    fails(
        &["lookup", "--demo", "--expect", "NO_HINT,TIMEOUT"],
        1,
        &["expected NO_HINT or TIMEOUT, got PREFIX_MATCH", "--explain"],
    );
    fails(
        &["lookup", "--demo", "--expect-replica", "vllm-0"],
        1,
        &["expected replica `vllm-0` first, got `vllm-3`"],
    );
    let unmet = run(&["lookup", "--demo", "--expect", "NO_HINT", "-o", "json"]);
    assert!(
        serde_json::from_slice::<serde_json::Value>(&unmet.stdout).is_ok(),
        "the answer is shown all the same"
    );
}

#[test]
fn a_policy_of_the_callers_own_on_the_demo() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.yaml");
    let policy = "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {name: p, namespace: team-a}\n\
                  spec: {strategy: {requireChain: true}}\n";
    std::fs::write(&path, policy).unwrap();
    let output = run(&["lookup", "--demo", "--explain", "--policy", path.to_str().unwrap()]);
    let text = stdout(&output);
    assert!(text.contains("\nPOLICY_REQUIRES_CHAIN: "), "{text}{}", stderr(&output));
    assert!(text.contains("strategy.requireChain = true"), "{text}");
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let has_color = |args: &[&str]| run(args).stdout.contains(&0x1b);
    assert!(!has_color(&["lookup", "--demo"]));
    assert!(!has_color(&["--color", "never", "lookup", "--demo"]));
    assert!(has_color(&["lookup", "--demo", "--color", "always"]));
}

#[test]
fn the_registry_is_explained() {
    let gate = stdout(&run(&["explain", "routing-floor-score"]));
    for part in ["routing-floor-score (gate)", "leads to", "routingFloorScore", "Checks", "Tune"] {
        assert!(gate.contains(part), "no `{part}` in {gate}");
    }
    assert!(!gate.contains("##"), "{gate}");
    let knob = stdout(&run(&["explain", "--pressure-weight"]));
    assert!(knob.contains("PressureWeight (server setting)") && knob.contains("prefix-match"), "{knob}");
    let code = json(&["explain", "UNKNOWN_MODEL", "-o", "json"]);
    assert_eq!((&code["version"], &code["kind"]), (&1.into(), &"reason".into()));
    assert_eq!(code["gates"], serde_json::json!(["unknown-model"]));
    let all = json(&["explain", "-o", "json"]);
    assert!(all["entries"].as_array().unwrap().len() > 50);
    let listing = stdout(&run(&["explain"]));
    assert!(listing.lines().all(|line| line.chars().count() <= 80), "{listing}");
    assert!(listing.find("deadline").unwrap() < listing.find("contract-keys").unwrap());
}

#[test]
fn json_is_as_documented() {
    is_documented("Answer", &json(&["lookup", "--demo", "-o", "json"]));
    let explained = json(&["lookup", "--demo", "--explain", "-o", "json"]);
    is_documented("Explanation", &explained);
    is_documented("Answer", &explained["answer"]);
    is_documented("Ranked replica", &explained["answer"]["replicaScores"][0]);
    is_documented("Step", &explained["steps"][0]);
    is_documented("Candidate", &explained["candidates"][0]);
    let unknown = json(&[
        "lookup",
        "--demo",
        "--explain",
        "-o",
        "json",
        "--tenant",
        "t",
        "--model",
        "m",
        "--hash-scheme",
        "s",
        "--prefix-hash",
        "ab",
    ]);
    is_documented("Finding", &unknown["findings"][0]);
    is_documented("Reason code", &json(&["explain", "NO_HINT", "-o", "json"]));
    is_documented("Gate", &json(&["explain", "answer", "-o", "json"]));
    is_documented("Knob", &json(&["explain", "evictionTTL", "-o", "json"]));
    is_documented("Cause", &json(&["explain", "novel", "-o", "json"]));
    is_documented("Check of the doctor", &json(&["explain", "clock-skew", "-o", "json"]));
    is_documented("Explained lint rule", &json(&["explain", "unknown-field", "-o", "json"]));
    is_documented("Metric", &json(&["explain", "inferencecache_shed_total", "-o", "json"]));
    is_documented("Exit status", &json(&["explain", "130", "-o", "json"]));
    is_documented("Registry", &json(&["explain", "-o", "json"]));
}

#[test]
fn completions_and_pages() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(stdout(&run(&["completions", shell])).contains("expect-replica"), "{shell}");
    }
    assert!(stdout(&run(&["man"])).contains(".TH icache"));
    let folder = tempfile::tempdir().unwrap();
    let output = run(&["man", "--dir", folder.path().join("man1").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(folder.path().join("man1/icache-lookup.1").is_file());
}
