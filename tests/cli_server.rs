//! The commands that talk to a server, against the real one: what one pushes, the others see.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "server_support/shapes.rs"]
mod shapes;

use shapes::is_documented;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Output, Stdio};
use std::thread;

/// A server on free ports; it ends with the test.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(flags: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_icache"))
            .args([
                "serve",
                "--grpc-addr",
                "127.0.0.1:0",
                "--http-addr",
                "127.0.0.1:0",
                "--admin-addr",
                "127.0.0.1:0",
                "--log-format",
                "json",
            ])
            .args(flags)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut url = None;
        while url.is_none() {
            let mut line = String::new();
            assert!(log.read_line(&mut line).unwrap() > 0, "the server ended before it served");
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            url = line["grpc_addr"].as_str().map(|addr| format!("http://{addr}"));
        }
        // Nobody reads the rest, and a full pipe would stop the server.
        thread::spawn(move || log.lines().count());
        Self { child, url: url.unwrap() }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_icache"));
        command.args(args).stdin(Stdio::null()).env("ICACHE_SERVER", &self.url).env_remove("LC_ALL");
        command
    }

    /// Runs a command that ends with `status`; what it printed.
    fn run(&self, status: i32, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        checked(&output, status, args)
    }

    fn json(&self, args: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.run(0, &[args, &["-o", "json"]].concat())).unwrap()
    }

    /// Runs a command with `input` on its standard input.
    fn feed(&self, status: i32, args: &[&str], input: &str) -> String {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        checked(&child.wait_with_output().unwrap(), status, args)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Standard output, then standard error.
fn checked(output: &Output, status: i32, args: &[&str]) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(output.status.code(), Some(status), "{args:?}: {text}");
    text
}

const KEYS: [&str; 6] = ["--tenant", "team-a", "--model", "llama", "--hash-scheme", "vllm"];

fn tokens(count: u32) -> String {
    (1..=count).map(|token| token.to_string()).collect::<Vec<_>>().join(",")
}

#[test]
fn what_is_reported_is_found_and_explained_and_evicted() {
    let server = Server::start(&[]);
    let with_keys = |args: &[&'static str]| [args, &KEYS].concat();
    let long = tokens(128);
    let report = [&with_keys(&["report", "--replica", "r1", "--token-ids"])[..4], &[&long], &KEYS].concat();
    assert_eq!(server.run(0, &report), "accepted: 1 update\n");
    server.run(
        0,
        &[&["report", "--replica", "r2", "--block", "6gb8caXubog=", "--block-tokens", "16"][..], &KEYS]
            .concat(),
    );
    server.run(
        0,
        &[
            "report",
            "--replica",
            "r1",
            "--tenant",
            "team-a",
            "--model",
            "llama",
            "--hit-rate",
            "0.75",
            "--pressure",
            "0.5",
        ],
    );

    let state = server.json(&["state", "--tenant", "team-a"]);
    assert_eq!(
        (&state["version"], &state["totalPrefixes"]),
        (&1.into(), &8.into()),
        "block 1 is the same for both"
    );
    is_documented("State", &state);
    is_documented("Replica statistics", &state["replicas"][0]);
    assert_eq!(state["replicas"][0]["replicaId"], "r1");
    assert_eq!(state["replicas"][0]["hitRate"], 0.75);
    assert!(server.run(0, &["state"]).contains("8 prefixes, 0 of them hot"));

    let lookup = [&["lookup", "--token-ids", &long][..], &KEYS].concat();
    let answer = server.json(&lookup);
    assert_eq!(answer["reasonCode"], "PREFIX_MATCH");
    assert_eq!(answer["replicaScores"][0]["replicaId"], "r1");
    assert_eq!(answer["replicaScores"][0]["matchedTokens"], 128);
    assert_eq!(answer["replicaScores"].as_array().unwrap().len(), 1, "16 tokens are below the floor");
    let explained = server.json(&[&lookup[..], &["--explain"]].concat());
    assert_eq!(explained["answer"]["replicaScores"][0]["replicaId"], "r1");
    assert_eq!(explained["candidates"][1]["filteredBy"], "minimum-matched-tokens");
    let text = server.run(0, &[&lookup[..], &["--explain"]].concat());
    assert!(text.contains("▼ minimum-matched-tokens") && text.contains("0.5"), "{text}");

    let evict =
        ["event", "--type", "all-cleared", "--replica", "r1", "--tenant", "team-a", "--model", "llama"];
    let ack = server.json(&evict);
    is_documented("Acknowledgement", &ack);
    assert_eq!(ack["accepted"], true);
    server.run(0, &[&lookup[..], &["--expect", "AFFINITY_HINT", "--expect-replica", "r2"]].concat());
    let unmet = server.run(1, &[&lookup[..], &["--expect", "PREFIX_MATCH"]].concat());
    assert!(unmet.contains("expected PREFIX_MATCH, got AFFINITY_HINT"), "{unmet}");
    let evict = ["event", "--type", "prefix-evicted", "--prefix-hash", "ea06fc71a5ee6e88", "--replica", "r2"];
    server.run(0, &[&evict[..], &KEYS[..4]].concat());
    server.run(0, &[&lookup[..], &["--expect", "NO_HINT"]].concat());
}

#[test]
fn updates_and_events_as_json() {
    let server = Server::start(&[]);
    let update = |replica: &str, hash: &str| {
        format!(
            r#"{{"replicaId":"{replica}","tenantId":"t","modelId":"m","hashScheme":"s","prefixes":[{{"prefixHash":"{hash}","tokenCount":100}}]}}"#
        )
    };
    let two = format!("{}\n{}\n", update("r1", "AQID"), update("r2", "AQIE"));
    assert_eq!(server.feed(0, &["report", "--update", "-"], &two), "accepted: 2 updates\n");
    let keys = ["--tenant", "t", "--model", "m", "--hash-scheme", "s", "--prefix-hash"];
    server.run(0, &[&["lookup", "--expect-replica", "r2"][..], &keys, &["hex:010204"]].concat());

    let torn = format!("{} {{\"replicaId\":", update("r3", "AQIF"));
    let text = server.feed(2, &["report", "--update", "-"], &torn);
    assert!(
        text.contains("CacheStateUpdate 2 of standard input") && text.contains("the one before it was sent"),
        "{text}"
    );
    server.run(0, &[&["lookup", "--expect-replica", "r3"][..], &keys, &["hex:010205"]].concat());

    let events = r#"{"type":"ALL_CLEARED","replicaId":"r1","tenantId":"t","modelId":"m"}
        {"type":"ALL_CLEARED","replicaId":"r2","tenantId":"t","modelId":"m"}"#;
    assert_eq!(server.feed(0, &["event", "--event", "-"], events), "accepted: 2 events\n");
    assert_eq!(server.json(&["state"])["totalPrefixes"], 1);
    // Nobody has reported statistics: no line, and a word why.
    let lines = server.command(&["state", "-o", "jsonl"]).output().unwrap();
    assert!(lines.status.success() && lines.stdout.is_empty());
    let said = String::from_utf8_lossy(&lines.stderr).into_owned();
    assert!(said.contains("no replica has reported statistics"), "{said}");
    let text = server.feed(2, &["event", "--event", "-"], r#"{"kind":"x"}"#);
    assert!(text.contains("CacheEvent") && text.contains("`kind`"), "{text}");
    let text = server.feed(2, &["lookup", "--request", "-"], r#"{"tenant":"x"}"#);
    assert!(text.contains("LookupRouteRequest") && text.contains("`tenant`"), "{text}");
}

#[test]
fn a_server_that_answers_with_an_error() {
    let server = Server::start(&["--max-message-size", "64KiB"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.json");
    std::fs::write(&path, format!("[{}]", tokens(65_536))).unwrap();
    let lookup = [&["lookup", "--tokens", path.to_str().unwrap()][..], &KEYS].concat();
    let text = server.run(3, &lookup);
    assert!(text.contains("RESOURCE_EXHAUSTED") && text.contains("limits the size"), "{text}");
}

#[test]
fn a_server_can_start_with_a_capture() {
    let server = Server::start(&["--preload", "testdata/fleet/fleet.capture.jsonl"]);
    assert!(
        server.json(&["state", "--tenant", "team-a"])["totalPrefixes"]
            .as_u64()
            .is_some_and(|keys| keys > 1_000)
    );
    let capture = std::fs::read_to_string("testdata/fleet/fleet.capture.jsonl").unwrap();
    let last = capture.lines().rfind(|line| line.contains(r#""kind":"lookup""#)).unwrap();
    let record: serde_json::Value = serde_json::from_str(last).unwrap();
    let lookup = ["lookup", "--request", "-", "--expect", "PREFIX_MATCH", "--expect-replica", "vllm-3"];
    server.feed(0, &lookup, &record["request"].to_string());
}

#[test]
fn a_server_that_dies_in_a_stream_is_told_with_what_was_sent() {
    let mut server = Server::start(&[]);
    let args = ["report", "--update", "-"];
    let mut command = server.command(&args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let update = r#"{"replicaId":"r1","tenantId":"t","modelId":"m","hashScheme":"s","prefixes":[{"prefixHash":"AQID","tokenCount":100}]}"#;
    let mut input = child.stdin.take().unwrap();
    // A parser knows that an object is whole only once something follows it.
    input.write_all(format!("{update}\n{update}\n").as_bytes()).unwrap();
    while server.json(&["state"])["totalPrefixes"] != 1 {
        thread::yield_now();
    }
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let text = checked(&child.wait_with_output().unwrap(), 3, &args);
    assert!(text.contains("was lost after") && text.contains("how many were applied is unknown"), "{text}");
    drop(input);
}
