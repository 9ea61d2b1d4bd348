//! What the command line refuses, and how it says so: values, files, servers, with the real binary.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const KEYS: [&str; 6] = ["--tenant", "t", "--model", "m", "--hash-scheme", "s"];

fn icache(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icache"));
    command.args(args).stdin(Stdio::null());
    for name in ["ICACHE_SERVER", "NO_COLOR", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"] {
        command.env_remove(name);
    }
    command
}

/// An error: its status, two lines that name nothing of the program's insides, and `parts` in them.
fn says(output: &Output, status: i32, args: &[&str], parts: &[&str]) {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(status), "{args:?}: {text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{args:?}: {text}");
    assert!(lines[0].starts_with("error: ") && lines[1].starts_with("help: "), "{args:?}: {text}");
    for inside in ["(os error", "u32", "i32", "untagged", "struct ", "target type", "found in string", "..1"]
    {
        assert!(!text.contains(inside), "{args:?}: `{inside}` in {text}");
    }
    for part in parts {
        assert!(text.contains(part), "{args:?}: no `{part}` in {text}");
    }
}

fn fails(args: &[&str], status: i32, parts: &[&str]) {
    says(&icache(args).output().unwrap(), status, args, parts);
}

/// Runs a command with `input` on its standard input.
fn fed(args: &[&str], input: &[u8]) -> Output {
    let mut command = icache(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn values_that_do_not_fit_name_their_flag() {
    let report = ["report", "--replica", "r"];
    let share = "a number from 0 to 1";
    let rows: &[(&[&str], &[&str], &[&str])] = &[
        (&report, &["--hit-rate", "NaN"], &["--hit-rate", share]),
        (&report, &["--hit-rate", "inf"], &["--hit-rate", share]),
        (&report, &["--hit-rate", "-0.5"], &["--hit-rate", share]),
        (&report, &["--pressure", "1e300"], &["--pressure", share]),
        (&report, &["--memory-bytes", "-1"], &["--memory-bytes", "of 0 or more"]),
        (&report, &["--t2-hit-tokens", "x"], &["--t2-hit-tokens", "a whole number"]),
        (&report, &["--timestamp-us", "-1"], &["--timestamp-us", "of 1 or more"]),
        (&report, &["--prefix-hash", "ab", "--prefix-tokens", "-1"], &["--prefix-tokens", "-1"]),
        (&report, &["--blocks", "ab", "--block-tokens", "-1"], &["--block-tokens", "-1"]),
        (
            &report,
            &["--blocks", "ab,cd", "--block-token-counts", "1"],
            &["--block-token-counts", "1 of the 2 counts"],
        ),
        (&report, &["--block-tokens", "16"], &["without the blocks"]),
        (&report, &["--blocks", "ab", "--block-tokens", "9", "--block-size", "9"], &["--block-size"]),
        (&report, &["--hit-rate", "1", "--tier", "T2"], &["--tier"]),
        (&report, &["--hit-rate", "1", "--prefix-tokens", "2"], &["--prefix-tokens"]),
        (&report, &["--block-size", "4294967296"], &["--block-size", "from 1 to 4294967295"]),
        (&["report", "--replica", ""], &["--hit-rate", "1"], &["`--replica` is empty"]),
        (&["lookup"], &[], &["describes no prompt", "--tokens", "--request"]),
        (&["lookup"], &["--prefix-tokens", "16"], &["describes no prompt"]),
        (&["lookup"], &["--block-tokens", "16"], &["without the blocks"]),
        (&["lookup"], &["--tokens", "-"], &["standard input", "it is empty"]),
        (&["lookup"], &["--token-ids", "1,-1"], &["--token-ids", "`-1`"]),
        (&["lookup"], &["--prefix-hash", "ab", "--ttft-ms", "99999999999"], &["--ttft-ms", "a whole number"]),
        (&["lookup"], &["--prefix-hash", "ab", "--timeout", "-5s"], &["--timeout", "longer than 0"]),
    ];
    for (command, flags, parts) in rows {
        fails(&[*command, &KEYS, *flags].concat(), 2, parts);
    }
    let long = "x".repeat(513);
    fails(
        &["report", "--replica", &long, "--tenant", "t", "--model", "m", "--hit-rate", "1"],
        2,
        &["--replica", "512"],
    );
}

#[test]
fn values_of_the_server_name_their_flag() {
    for (flag, value, part) in [
        ("--max-entries", "0", "a whole number of 1 or more"),
        ("--max-streams", "0", "from 1 to 4294967295"),
        ("--max-in-flight", "x", "a whole number"),
        ("--metrics-max-series", "-1", "a whole number"),
        ("--block-size", "4097", "from 1 to 4096"),
        ("--slo-tight-ttft-ms", "-1", "from 0 to 2147483647"),
        ("--pressure-weight", "-1", "0 or more"),
        ("--tenant-hot-min-hit-rate", "1.5", "from 0 to 1"),
        ("--replica-timeout", "-5s", "cannot be negative"),
        ("--max-memory", "1", "1MiB"),
        ("--log-level", "", "`info`"),
    ] {
        fails(&["serve", flag, value], 2, &[flag, part]);
    }
    fails(&["serve", "--preload", "-"], 2, &["--preload", "standard input"]);
}

#[test]
fn flags_without_effect_are_refused() {
    let event = ["event", "--replica", "r", "--tenant", "t", "--model", "m", "--type"];
    for (args, parts) in [
        (&["lookup", "--demo", "--server", "x"][..], &["--demo", "--server"][..]),
        (&["lookup", "--demo", "--timeout", "1s"], &["--demo", "--timeout"]),
        (&["lookup", "--capture", "c", "--server", "x"], &["--capture", "--server"]),
        (&["lookup", "--demo", "--expect", ""], &["--expect"]),
        (&["lookup", "--demo", "--expect-replica", ""], &["--expect-replica"]),
        (&[&event[..], &["all-cleared", "--prefix-hash", "ab"]].concat(), &["--prefix-hash"]),
        (&[&event[..], &["replica-updated", "--adapter", "a"]].concat(), &["--adapter"]),
        (&["replay", "testdata/fleet/fleet.capture.jsonl", "--replica", "r"], &["--replica", "bare batch"]),
        (&["help", "bogus"], &["`bogus`", "`icache --help`"]),
    ] {
        fails(args, 2, parts);
    }
}

#[test]
fn messages_in_files_are_checked_like_flags() {
    let lookup: &[&str] = &["lookup", "--request", "-"];
    let report: &[&str] = &["report", "--update", "-"];
    let event: &[&str] = &["event", "--event", "-"];
    let tokens: &[&str] = &["lookup", "--tenant", "t", "--tokens", "-"];
    for (args, input, parts) in [
        (lookup, r#"{"tokenIds":[-1]}"#, &["LookupRouteRequest", "field `tokenIds[0]`", "`-1`"][..]),
        (lookup, r#"{"tokenIds":[4294967296]}"#, &["field `tokenIds[0]`"]),
        (lookup, r#"{"blockTokenCounts":[1.5]}"#, &["field `blockTokenCounts[0]`"]),
        (lookup, r#"{"blockHashes":["!!"]}"#, &["field `blockHashes[0]`", "no base64"]),
        (lookup, "[]", &["standard input", "expected an object"]),
        (lookup, "", &["standard input", "no JSON"]),
        (tokens, r#"[1,"x"]"#, &["item 2", "`\"x\"`"]),
        (tokens, "[]", &["it is empty"]),
        (&["replay", "-"], "", &["error: standard input is not a capture"]),
        (report, "", &["standard input holds no CacheStateUpdate"]),
        (report, "{}", &["CacheStateUpdate 1 of standard input", "field `replicaId`"]),
        (
            report,
            r#"{"replicaId":"r","tenantId":"t","modelId":"m","stats":{"hitRate":"NaN"}}"#,
            &["field `stats.hitRate`", "from 0 to 1"],
        ),
        (event, "", &["standard input holds no CacheEvent"]),
        (event, "{}", &["field `type`"]),
        (
            event,
            r#"{"type":"PREFIX_EVICTED","replicaId":"r","tenantId":"t","modelId":"m"}"#,
            &["field `prefixHash`", "nothing was sent"],
        ),
    ] {
        says(&fed(args, input.as_bytes()), 2, args, parts);
    }
    let request =
        b"\xef\xbb\xbf{\"tenantId\":\"t\",\"modelId\":\"m\",\"hashScheme\":\"s\",\"prefixHash\":\"AQ==\"}";
    let marked = fed(&["lookup", "--demo", "--request", "-"], request);
    assert_eq!(marked.status.code(), Some(0), "{}", String::from_utf8_lossy(&marked.stderr));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    fails(&["report", "--update", path], 2, &[path, "is a directory"]);
    fails(&["replay", path], 2, &[path, "is a directory"]);
    let latin = folder.path().join("latin.yaml");
    std::fs::write(&latin, b"# \xe9\n").unwrap();
    let latin = latin.to_str().unwrap();
    fails(
        &["replay", "testdata/fleet/fleet.capture.jsonl", "--policy", latin],
        2,
        &[latin, "byte 2", "UTF-8"],
    );
}

#[test]
fn server_urls_are_checked() {
    for url in [
        "http://127.0.0.1:99999",
        "http://127.0.0.1:abc",
        "http://127.0.0.1:",
        "http://",
        "127.0.0.1:0",
        "http://h:1/p",
    ] {
        fails(
            &["state", "--server", url],
            2,
            &[&format!("`--server {url}` is no server URL"), "http://HOST:PORT"],
        );
    }
    let output = icache(&["state"]).env("ICACHE_SERVER", "").output().unwrap();
    says(&output, 2, &["state"], &["ICACHE_SERVER", "no server URL"]);
}

#[test]
fn a_stream_waits_for_its_author_and_not_for_the_server() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let update = br#"{"replicaId":"r","tenantId":"t","modelId":"m","stats":{"hitRate":1}}"#;
    let args = ["report", "--update", "-", "--server", &url, "--timeout", "100ms"];
    says(&fed(&args, update), 3, &args, &[&url, "did not answer within 100ms", "--timeout"]);
}

/// Reads until the head of a call has come: the preface of HTTP/2, then frames up to the first of type HEADERS.
fn read_request(socket: &mut impl std::io::Read) {
    socket.read_exact(&mut [0; 24]).unwrap();
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).unwrap();
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        socket.read_exact(&mut vec![0; length]).unwrap();
        if head[3] == 1 {
            return;
        }
    }
}

#[test]
fn what_is_no_grpc_server_is_called_so() {
    let http = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", http.local_addr().unwrap());
    let answers = std::thread::spawn(move || {
        let (mut socket, _) = http.accept().unwrap();
        read_request(&mut socket);
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").unwrap();
        // The caller hangs up.
        std::io::copy(&mut socket, &mut std::io::sink()).unwrap_or_default()
    });
    fails(&["state", "--server", &url], 3, &[&url, "does not look like a gRPC server"]);
    answers.join().unwrap();
}

#[test]
fn a_check_of_nothing_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.jsonl");
    std::fs::write(&path, "{\"icache\":\"capture\",\"version\":1}\n").unwrap();
    fails(&["replay", "--check", path.to_str().unwrap()], 1, &["nothing was checked", "expect"]);
}

fn policy(folder: &Path, metadata: &str) -> String {
    let path = folder.join("p.yaml");
    let text = format!("apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {metadata}\n");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn policies_that_hold_for_nobody_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let capture = "testdata/fleet/fleet.capture.jsonl";
    for (metadata, warning) in [
        ("{name: p, namespace: team-a}", None),
        ("{name: p}", Some("they apply to `default`")),
        ("{name: p, namespace: team-b}", Some("they apply to `team-b`")),
    ] {
        let path = policy(folder.path(), metadata);
        for args in [&["replay", capture, "--policy", &path][..], &["lookup", "--demo", "--policy", &path]] {
            let output = icache(args).output().unwrap();
            let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert_eq!(output.status.code(), Some(0), "{text}");
            assert_eq!(
                text.contains("warning: no object of "),
                warning.is_some(),
                "{args:?} {metadata}: {text}"
            );
            assert!(text.contains(warning.unwrap_or_default()), "{text}");
        }
    }
    std::fs::write(folder.path().join("p.yaml"), "").unwrap();
    let path = folder.path().join("p.yaml");
    let output = icache(&["lookup", "--demo", "--policy", path.to_str().unwrap()]).output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("holds no CachePolicy"));
}

#[test]
fn colour_and_width_are_as_asked() {
    let colored = icache(&["--color", "always", "bogus"]).output().unwrap();
    assert!(colored.stderr.contains(&0x1b));
    assert!(!icache(&["--color=never", "bogus"]).output().unwrap().stderr.contains(&0x1b));
    let output = icache(&["explain", "resolve-input"]).env("COLUMNS", "50").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 50), "{text}");
    assert!(text.contains("\n  1. ") && text.contains("\n  2. "), "{text}");
}
