//! `icache policy show`, `diff` and `simulate` with the real binary, on `testdata/policies`.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "server_support/shapes.rs"]
mod shapes;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

use icache::policy::{Defaults, PolicyView, load_policies, view};
use serde_json::{Value, json};
use shapes::is_documented;

const BEFORE: &str = "testdata/policies/before.yaml";
const AFTER: &str = "testdata/policies/after.yaml";
const CAPTURE: &str = "testdata/fleet/fleet.capture.jsonl";

fn icache(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icache"));
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    for name in ["NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"] {
        command.env_remove(name);
    }
    command
}

fn run(args: &[&str]) -> Output {
    icache(args).output().unwrap()
}

/// What a command prints that ends with `status` and says nothing on standard error.
fn prints(args: &[&str], status: i32) -> String {
    let output = run(args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), errors.as_str()), (Some(status), ""), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json_of(args: &[&str], status: i32) -> Value {
    serde_json::from_str(&prints(args, status)).unwrap()
}

/// A command ends with `status`, prints nothing, and says `parts`.
fn fails(args: &[&str], status: i32, parts: &[&str]) {
    let output = run(args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{args:?}: {errors}");
    assert!(output.stdout.is_empty(), "{args:?}");
    for part in parts {
        assert!(errors.contains(part), "{args:?}: no `{part}` in {errors}");
    }
}

#[test]
fn golden_output() {
    insta::assert_snapshot!("show", prints(&["policy", "show", BEFORE], 0));
    insta::assert_snapshot!("show_json", prints(&["policy", "show", AFTER, "-o", "json"], 0));
    insta::assert_snapshot!("diff", prints(&["policy", "diff", BEFORE, AFTER], 1));
    insta::assert_snapshot!("diff_json", prints(&["policy", "diff", BEFORE, AFTER, "-o", "json"], 1));
    let simulate = ["policy", "simulate", "--policy", BEFORE, "--policy", AFTER, CAPTURE];
    insta::assert_snapshot!("simulate", prints(&simulate, 0));
    insta::assert_snapshot!("simulate_json", prints(&[&simulate[..], &["-o", "json"]].concat(), 0));
}

/// The document of a file that is read from standard input.
fn shown(text: &str, args: &[&str]) -> Value {
    let mut child = icache(&[&["policy", "show", "-", "-o", "jsonl"], args].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn knob<'a>(knobs: &'a Value, name: &str) -> &'a Value {
    knobs["knobs"].as_array().unwrap().iter().find(|knob| knob["name"] == name).unwrap()
}

const NAMELESS: &str = "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {name: p}\n\
                        spec: {lookupTimeoutMs: 5}\n";

#[test]
fn a_namespace_that_is_left_out_is_the_one_that_is_given() {
    let document = shown(NAMELESS, &[]);
    assert_eq!(document["namespaces"][0]["namespace"], "default");
    let document = shown(NAMELESS, &["--namespace", "team-x"]);
    assert_eq!(document["namespaces"][0]["namespace"], "team-x");
    let set = knob(&document["namespaces"][0], "lookupTimeoutMs");
    let source = "CachePolicy team-x/p (standard input:4)";
    assert_eq!(set, &json!({"name": "lookupTimeoutMs", "value": 5, "source": source}));
}

#[test]
fn the_servers_own_time_to_live_is_a_default_with_a_source() {
    let document = shown(NAMELESS, &["--default-ttl", "90m"]);
    let ttl = json!({"name": "evictionTTL", "value": "1h30m", "source": "flag --default-ttl"});
    assert_eq!(knob(&document["namespaces"][0], "evictionTTL"), &ttl);
    assert_eq!(knob(&document["default"], "evictionTTL"), &ttl);
}

#[test]
fn one_tenant_alone_has_the_defaults_where_it_has_no_policy() {
    let document = json_of(&["policy", "show", BEFORE, "--tenant", "team-z", "-o", "json"], 0);
    assert_eq!(document["namespaces"].as_array().unwrap().len(), 1);
    assert_eq!(document["namespaces"][0]["namespace"], "team-z");
    assert_eq!(document["namespaces"][0]["knobs"], document["default"]["knobs"]);
}

#[test]
fn a_folder_is_one_set() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.yaml"), NAMELESS.replace("name: p", "name: z")).unwrap();
    std::fs::write(folder.path().join("b.yaml"), NAMELESS.replace("5", "7")).unwrap();
    let document = json_of(&["policy", "show", folder.path().to_str().unwrap(), "-o", "json"], 0);
    // `p` of the second file sorts before `z` of the first.
    assert_eq!(knob(&document["namespaces"][0], "lookupTimeoutMs")["value"], 7);
    assert_eq!(document["inert"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_written_otherwise_and_means_the_same_is_no_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("same.yaml");
    // Another name, another spelling of the duration, a default written out, and a policy that only says defaults.
    let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: inferencecache.io/v1alpha1\n  kind: CachePolicy\n  \
                metadata: {name: renamed, namespace: team-a}\n  spec: {evictionTTL: 0.5h, minimumMatchedTokens: 128, \
                eviction: LRU}\n- apiVersion: inferencecache.io/v1alpha1\n  kind: CachePolicy\n  metadata: {name: b, \
                namespace: team-b}\n  spec: {eviction: LFU}\n- apiVersion: inferencecache.io/v1alpha1\n  kind: \
                CachePolicy\n  metadata: {name: d, namespace: team-d}\n  spec: {routingFloorScore: \"0.10\"}\n- \
                apiVersion: inferencecache.io/v1alpha1\n  kind: CacheTenant\n  metadata: {name: t}\n  spec: {tenantID: \
                team-a, quota: {maxIndexEntries: 20000}}\n";
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(prints(&["policy", "diff", BEFORE, path], 0), "nothing changes in effect\n");
    let document = json_of(&["policy", "diff", BEFORE, path, "-o", "json"], 0);
    assert_eq!(document, json!({"version": 1, "namespaces": [], "default": []}));
}

#[test]
fn one_policy_is_compared_with_the_capture_and_replaces_its_records() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("own.capture.jsonl");
    let fleet = std::fs::read_to_string(CAPTURE).unwrap();
    let (header, records) = fleet.split_once('\n').unwrap();
    let own = json!({
        "t": 1_754_611_200.0_f64,
        "kind": "policy",
        "documents": std::fs::read_to_string(AFTER).unwrap(),
    });
    std::fs::write(&capture, format!("{header}\n{own}\n{records}")).unwrap();
    let capture = capture.to_str().unwrap();
    let compared = json_of(&["policy", "simulate", "--policy", BEFORE, capture, "-o", "json"], 0);
    let both =
        json_of(&["policy", "simulate", "--policy", AFTER, "--policy", BEFORE, CAPTURE, "-o", "json"], 0);
    let [ours, theirs] = [&compared, &both].map(|document| document["policies"].as_array().unwrap());
    assert_eq!(ours[0]["name"], "as captured");
    for field in
        ["reasonCodes", "because", "matchedTokens", "hints", "evictedQuotaKeys", "moves", "differences"]
    {
        assert_eq!(ours[0][field], theirs[0][field], "{field}");
        assert_eq!(ours[1][field], theirs[1][field], "{field}");
    }
    assert_ne!(ours[0]["reasonCodes"], ours[1]["reasonCodes"]);
}

#[test]
fn simulated_counts_are_those_of_replay() {
    let compared =
        json_of(&["policy", "simulate", "--policy", BEFORE, "--policy", AFTER, CAPTURE, "-o", "json"], 0);
    for (at, policy) in [BEFORE, AFTER].into_iter().enumerate() {
        let alone = json_of(&["replay", CAPTURE, "--policy", policy, "-o", "json"], 0);
        for field in ["reasonCodes", "because", "hints", "hintShare", "matchedTokens", "matchedShare"] {
            assert_eq!(compared["policies"][at][field], alone[field], "{field} of {policy}");
        }
    }
    let second = &compared["policies"][1];
    let moved: u64 =
        second["moves"].as_array().unwrap().iter().map(|step| step["count"].as_u64().unwrap()).sum();
    assert_eq!(second["differences"], moved + second["otherReplica"].as_u64().unwrap());
}

#[test]
fn several_captures_add_up() {
    let twice = ["policy", "simulate", "--policy", BEFORE, CAPTURE, CAPTURE, "-o", "json"];
    let document = json_of(&twice, 0);
    assert_eq!((&document["captures"], &document["lookups"]), (&json!(2), &json!(60)));
}

#[test]
fn offline_commands_name_file_and_line() {
    // The inert policy is a warning on standard error.
    let output = run(&["lookup", "--demo", "--explain", "--policy", BEFORE, "-o", "json"]);
    let explained: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sources: Vec<&str> = explained["steps"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|step| step["knobs"].as_array().unwrap())
        .filter_map(|knob| knob["source"].as_str())
        .filter(|source| *source != "default")
        .collect();
    assert!(sources.contains(&"CachePolicy team-a/chat (testdata/policies/before.yaml:8)"), "{sources:?}");
    assert!(sources.contains(&"CachePolicy team-a/chat (testdata/policies/before.yaml:9)"), "{sources:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.yaml");
    std::fs::write(&path, NAMELESS.replace("5", "-5")).unwrap();
    let path = path.to_str().unwrap();
    for command in [
        &["lookup", "--demo", "--policy", path][..],
        &["replay", CAPTURE, "--policy", path],
        &["policy", "show", path],
        &["policy", "diff", BEFORE, path],
        &["policy", "simulate", "--policy", path, CAPTURE],
    ] {
        fails(command, 2, &["bad.yaml:4", "`spec.lookupTimeoutMs`", "`icache policy lint`"]);
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    fails(&["policy"], 2, &["no command"]);
    fails(&["policy", "show"], 2, &["PATH", "`icache policy show --help`"]);
    fails(&["policy", "show", BEFORE, "--namespace", ""], 2, &["--namespace"]);
    fails(&["policy", "diff", "-", "-"], 2, &["standard input"]);
    fails(&["policy", "show", "no/such/file"], 2, &["`no/such/file`", "no such file"]);
    fails(&["policy", "show", BEFORE, "--admin-url", "http://127.0.0.1:1"], 2, &["--admin-url"]);
    fails(&["policy", "show", "--admin-url", "ftp://x"], 2, &["`ftp://x`", "http://HOST:PORT"]);
    fails(&["policy", "show", "--admin-url", "https://x", "--ca", "no/ca"], 2, &["`no/ca`"]);
    fails(&["policy", "simulate", CAPTURE], 2, &["--policy"]);
    fails(&["policy", "simulate", "--policy", BEFORE, "no/such/file"], 2, &["`no/such/file`"]);
    fails(&["policy", "simulate", "--policy", BEFORE, BEFORE], 2, &["capture"]);
    let many: Vec<&str> = std::iter::repeat_n(["--policy", BEFORE], 9).flatten().collect();
    fails(&[&["policy", "simulate", CAPTURE], &many[..]].concat(), 2, &["9 sets", "at most 8"]);
}

/// Answers one request on a free port with `answer`; the URL, and what was asked.
fn server(answer: String) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut asked = String::new();
        let mut reader = BufReader::new(&mut socket);
        while !asked.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut asked).unwrap() > 0, "{asked}");
        }
        socket.write_all(answer.as_bytes()).unwrap();
        asked
    });
    (url, served)
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn view_of(path: &str) -> PolicyView {
    let text = std::fs::read_to_string(path).unwrap();
    let loaded = load_policies(path, &text, &Defaults::default()).unwrap();
    view(&loaded.set, &loaded.inert)
}

#[test]
fn a_running_server_is_asked() {
    let (url, served) = server(ok(&serde_json::to_string(&view_of(BEFORE)).unwrap()));
    let shown = prints(&["policy", "show", "--admin-url", &url], 0);
    assert_eq!(shown, prints(&["policy", "show", BEFORE], 0));
    let asked = served.join().unwrap();
    assert!(asked.starts_with("GET /policy HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains(&format!("host: {}\r\n", url.trim_start_matches("http://"))), "{asked}");

    let (url, served) = server(ok(&serde_json::to_string(&view_of(BEFORE)).unwrap()));
    assert_eq!(prints(&["policy", "diff", &url, AFTER], 1), prints(&["policy", "diff", BEFORE, AFTER], 1));
    served.join().unwrap();
}

#[test]
fn a_server_that_answers_otherwise_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    fails(&["policy", "show", "--admin-url", &nobody], 3, &[&nobody, "connection refused", "--admin-addr"]);
    let mut newer = serde_json::to_value(view_of(BEFORE)).unwrap();
    newer["version"] = json!(2);
    for (answer, parts) in [
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned(), &["404", "admin port"][..]),
        ("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n".to_owned(), &["refuses", "operator"]),
        (ok("<html>"), &["no list of policies"]),
        (ok(&newer.to_string()), &["version 2", "version 1"]),
        ("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{}".to_owned(), &["cannot reach"]),
        (String::new(), &["gives no answer in HTTP"]),
    ] {
        let (url, served) = server(answer);
        fails(&["policy", "show", "--admin-url", &url], 3, &[&[url.as_str()][..], parts].concat());
        served.join().unwrap();
    }
}

#[test]
fn ctrl_c_ends_the_wait_for_a_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let child = icache(&["policy", "show", "--admin-url", &url]).stderr(Stdio::piped()).spawn().unwrap();
    // Once the client speaks, it listens for Ctrl-C.
    let (mut socket, _) = listener.accept().unwrap();
    socket.read_exact(&mut [0; 3]).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn json_is_as_documented() {
    let shown = json_of(&["policy", "show", BEFORE, "-o", "json"], 0);
    is_documented("Policies", &shown);
    is_documented("Effective knob", &shown["default"]["knobs"][0]);
    let changes = json_of(&["policy", "diff", BEFORE, AFTER, "-o", "json"], 1);
    is_documented("Policy changes", &changes);
    is_documented("Changed namespace", &changes["namespaces"][0]);
    let simulated = json_of(&["policy", "simulate", "--policy", BEFORE, CAPTURE, "-o", "json"], 0);
    is_documented("Simulation", &simulated);
    is_documented("Simulated policies", &simulated["policies"][0]);
}
