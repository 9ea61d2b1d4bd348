//! Captures replayed to a running server: the real binary on both sides.

#[path = "server_support/process.rs"]
#[allow(dead_code)]
mod process;

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::time::{Duration, Instant};

use process::Process;
use serde_json::Value;
use tempfile::TempDir;

const HEADER: &str = r#"{"icache":"capture","version":1}"#;
const HELD: &str = r#"{"replicaId":"r1","tenantId":"t","modelId":"m","hashScheme":"vllm","prefixes":[{"blockHashes":["AQI="],"blockTokenCounts":[64]}]}"#;
const EVICTED: &str =
    r#"{"type":"PREFIX_EVICTED","replicaId":"r1","tenantId":"t","modelId":"m","prefixHash":"AQI="}"#;
/// Longest wait for something that must happen.
const PATIENCE: Duration = Duration::from_secs(60);

fn report(t: f64) -> String {
    format!(r#"{{"t":{t},"kind":"report","update":{HELD}}}"#)
}

fn lookup(t: f64, expected: &str) -> String {
    format!(
        r#"{{"t":{t},"kind":"lookup","request":{{"tenantId":"t","modelId":"m","hashScheme":"vllm","blockHashes":["AQI="],"blockTokenCounts":[64]}},"expect":{{"reasonCode":"{expected}"}}}}"#
    )
}

fn capture(lines: &[String]) -> (TempDir, String) {
    let folder = TempDir::new().expect("a scratch folder");
    let path = folder.path().join("c.jsonl");
    std::fs::write(&path, format!("{HEADER}\n{}\n", lines.join("\n"))).expect("a scratch file");
    (folder, path.display().to_string())
}

fn url(server: &Process) -> String {
    format!("http://{}", server.grpc_addr)
}

fn icache(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icache"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Replays to `server` and gives the document.
fn replayed(server: &Process, status: i32, args: &[&str]) -> Value {
    let url = url(server);
    let output =
        icache(&[&["replay", "--server", &url, "-o", "json"], args].concat()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_server_answers_the_fleet_capture_as_recorded() {
    let server = Process::start(&[]);
    let fleet = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fleet/fleet.capture.jsonl");
    let shown = replayed(&server, 0, &[&fleet.display().to_string(), "--speed", "max", "--check"]);
    assert_eq!(shown["check"]["compared"], 30, "{}", shown["check"]);
    assert_eq!((&shown["lookups"], &shown["hints"]), (&Value::from(30), &Value::from(30)));
    assert_eq!(shown["index"]["blocks"], Value::Null, "a server's index is not seen");
    assert_eq!(shown["pace"]["speed"], Value::Null);
    assert!(shown["timings"]["p50Us"].as_f64().is_some_and(|us| us > 0.0), "{}", shown["timings"]);
    // What went there is there.
    let url = url(&server);
    let state =
        icache(&["state", "--server", &url, "--tenant", "team-a", "--model", "llama-3.1-8b", "-o", "json"]);
    let state: Value =
        serde_json::from_slice(&{ state }.output().expect("it runs").stdout).expect("it is JSON");
    assert!(state["totalPrefixes"].as_u64().is_some_and(|keys| keys > 0), "{state}");
}

/// Each lookup sees what stands before it and nothing of what stands behind.
#[test]
fn everything_arrives_in_order() {
    let server = Process::start(&[]);
    let mut lines = vec![lookup(0.0, "NO_HINT")];
    for t in 0..50 {
        let t = f64::from(t) * 10.0;
        lines.push(report(t));
        lines.push(lookup(t, "PREFIX_MATCH"));
        lines.push(format!(r#"{{"t":{t},"kind":"event","event":{EVICTED}}}"#));
        lines.push(lookup(t, "NO_HINT"));
    }
    let (_folder, path) = capture(&lines);
    let shown = replayed(&server, 0, &[&path, "--speed", "max", "--check"]);
    assert_eq!(
        (&shown["check"]["compared"], &shown["hints"]),
        (&Value::from(101), &Value::from(50)),
        "{shown}"
    );
    assert_eq!(shown["events"]["prefix_evicted"], 50);
}

#[test]
fn an_answer_otherwise_than_expected_ends_with_1() {
    let server = Process::start(&[]);
    let (_folder, path) = capture(&[report(1.0), lookup(1.0, "NO_HINT")]);
    let shown = replayed(&server, 1, &[&path, "--check"]);
    let mismatch = &shown["check"]["mismatches"][0];
    assert_eq!((&mismatch["expected"], &mismatch["got"]), (&"NO_HINT".into(), &"PREFIX_MATCH".into()));
    assert_eq!((&mismatch["line"], &mismatch["because"]), (&Value::from(3), &Value::Null));
}

#[test]
fn a_time_long_past_is_moved_to_now() {
    let server = Process::start(&["--default-ttl", "10m"]);
    // Half an hour old by its own clock, the other fresh; both by the capture's clock of 1970.
    let old = HELD.replace("\"r1\"", "\"old\"").replace('{', "{\"timestampUs\":\"200000000\",");
    let old = old.replacen("{\"timestampUs\":\"200000000\",\"blockHashes", "{\"blockHashes", 1);
    let fresh = HELD.replacen('{', "{\"timestampUs\":\"1999000000\",", 1);
    let lines = [
        format!(r#"{{"t":2000,"kind":"report","update":{old}}}"#),
        format!(r#"{{"t":2000,"kind":"report","update":{fresh}}}"#),
        lookup(2000.0, "PREFIX_MATCH"),
    ];
    let (_folder, path) = capture(&lines);
    let text = std::fs::read_to_string(&path).expect("it was written");
    let text = text.replace(
        r#""expect":{"reasonCode":"PREFIX_MATCH"}"#,
        r#""expect":{"reasonCode":"PREFIX_MATCH","replicas":["r1"]}"#,
    );
    std::fs::write(&path, text).expect("a scratch file");
    let shown = replayed(&server, 0, &[&path, "--speed", "max", "--check"]);
    assert_eq!(shown["check"]["compared"], 1);
}

#[test]
fn records_keep_their_distance_at_the_speed_asked_for() {
    let server = Process::start(&[]);
    let (_folder, path) = capture(&[report(100.0), report(100.2), report(104.0)]);
    let shown = replayed(&server, 0, &[&path, "--speed", "10x"]);
    let elapsed = shown["pace"]["elapsedSeconds"].as_f64().expect("it is told");
    assert!(elapsed >= 0.4, "4 seconds at 10x: {elapsed}");
    assert_eq!((&shown["pace"]["speed"], &shown["records"]["report"]), (&Value::from(10.0), &Value::from(3)));
}

#[test]
fn what_a_server_has_of_its_own_is_passed_over_with_a_warning() {
    let server = Process::start(&[]);
    let lines = [
        r#"{"t":1,"kind":"config","config":{}}"#.to_owned(),
        format!(r#"{{"t":1,"kind":"state","state":{{"updates":[{HELD}],"credits":[[1]]}}}}"#),
        r#"{"t":1,"kind":"policy","documents":""}"#.to_owned(),
        r#"{"t":1,"kind":"sweep"}"#.to_owned(),
        lookup(1.0, "PREFIX_MATCH"),
    ];
    let (_folder, path) = capture(&lines);
    let shown = replayed(&server, 0, &[&path, "--check"]);
    let warnings: Vec<_> =
        shown["warnings"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(
        warnings,
        [
            &format!("{path}:3: passed over of `state`: `credits`"),
            "passed over 1 config record: the server has settings of its own",
            "passed over 1 policy record: the server has policies of its own",
            "passed over 1 sweep record: the server sweeps by its own clock",
        ]
    );
}

/// A replay that reads what the test writes, as far as it has been written.
struct Fed {
    child: Child,
    input: ChildStdin,
}

impl Fed {
    fn start(server: &Process) -> Self {
        let url = url(server);
        let mut command = icache(&["replay", "-", "--server", &url, "--speed", "max", "--timeout", "30s"]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("it runs");
        let mut input = child.stdin.take().expect("standard input is piped");
        writeln!(input, "{HEADER}\n{}", report(1.0)).expect("it reads");
        Self { child, input }
    }

    /// Waits until the server has what was written first.
    fn wait_for_first(&self, server: &Process) {
        let url = url(server);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let state =
                icache(&["state", "--server", &url, "--tenant", "t", "--model", "m", "-o", "json"]).output();
            if text(&state.expect("it runs").stdout).contains("\"totalPrefixes\": 1") {
                return;
            }
            assert!(Instant::now() < deadline, "the first record arrives");
        }
    }

    fn end(self) -> Output {
        drop(self.input);
        self.child.wait_with_output().expect("it is ours")
    }
}

#[test]
fn a_server_that_goes_away_is_an_error_of_the_server() {
    let server = Process::start(&[]);
    let mut fed = Fed::start(&server);
    fed.wait_for_first(&server);
    server.signal("KILL");
    drop(server);
    writeln!(fed.input, "{}", report(2.0)).expect("it reads");
    let output = fed.end();
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(3), String::new()), "{said}");
    assert!(said.contains("was lost after 1 message was sent"), "{said}");
    assert!(said.contains("help: "), "{said}");
}

#[test]
fn ctrl_c_ends_it_with_130_while_it_waits_for_its_input() {
    let server = Process::start(&[]);
    let fed = Fed::start(&server);
    fed.wait_for_first(&server);
    let kill = format!("kill -INT {}", fed.child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("sh runs").success());
    let Fed { child, input } = fed;
    // Standard input stays open until it has ended.
    let output = child.wait_with_output().expect("it is ours");
    drop(input);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(130), String::new()));
}

#[test]
fn a_command_line_that_makes_no_sense_is_refused() {
    let (_folder, path) = capture(&[report(1.0)]);
    for (args, said) in [
        (&["--speed", "10x"][..], "--server"),
        (&["--timeout", "1s"], "--server"),
        (&["--server", "http://127.0.0.1:1", "--speed", "fast"], "write `1x`, `10x`"),
        (&["--server", "http://127.0.0.1:1", "--policy", "p.yaml"], "--policy"),
        (&["--server", "http://127.0.0.1:1", "--separate"], "--separate"),
        (&["--server", "ftp://127.0.0.1:1"], "no server URL"),
    ] {
        let output = icache(&[&["replay", &path], args].concat()).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(said), "{args:?}: {}", text(&output.stderr));
    }
    let output = icache(&["replay", &path, "--server", "http://127.0.0.1:1"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("cannot reach the server at `http://127.0.0.1:1`"));
}
