//! `icache simulate` with the real binary.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::shapes::is_documented;
use super::text;

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icache"));
    command.arg("simulate").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in ["NO_COLOR", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"] {
        command.env_remove(name);
    }
    command
}

/// Runs on a trace given as standard input.
fn run(trace: impl AsRef<[u8]>, args: &[&str]) -> Output {
    let mut child = command(&[&["--trace", "-"], args].concat()).spawn().unwrap();
    // A command line that is refused reads nothing.
    let _ = child.stdin.take().unwrap().write_all(trace.as_ref());
    child.wait_with_output().unwrap()
}

fn json_of(trace: &str, args: &[&str]) -> (Value, Vec<u8>) {
    let output = run(trace, &[args, &["-o", "json"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), errors.as_ref()), (Some(0), ""), "{args:?}");
    (serde_json::from_slice(&output.stdout).unwrap(), output.stdout)
}

/// Two lines on standard error with `parts` in them, and status 2.
fn fails(trace: &str, args: &[&str], parts: &[&str]) {
    let output = run(trace, args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {errors}");
    let lines: Vec<&str> = errors.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("error: ") && lines[1].starts_with("help: "),
        "{args:?}: {errors}"
    );
    assert!(output.stdout.is_empty());
    for part in parts {
        assert!(errors.contains(part), "{args:?}: no `{part}` in {errors}");
    }
}

fn small() -> String {
    text(&[
        (0, 1024, &[1, 2]),
        (0, 1024, &[1, 3]),
        (1_000, 1024, &[1, 2]),
        (5_000, 1024, &[1, 2]),
        (9_000, 700, &[1, 9]),
    ])
}

const FLEET: [&str; 6] = ["--replicas", "2", "--blocks-per-replica", "4", "--prefill-rate", "512"];

/// A policy in a folder of its own.
fn policy(spec: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.yaml");
    let text = format!(
        "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {{name: p}}\nspec: {{{spec}}}\n"
    );
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn golden_output() {
    let table = |args: &[&str]| {
        let output = run(small(), &[&FLEET[..], args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    insta::assert_snapshot!("table", table(&[]));
    let (folder, path) = policy("minimumMatchedTokens: 1024, affinityRouting: Disabled");
    let compared = table(&["--policy", &path, "--publish", "start", "--warmup", "1", "--event-delay", "5ms"]);
    insta::assert_snapshot!("policies", compared.replace(folder.path().to_str().unwrap(), "folder"));
}

#[test]
fn json_is_as_documented() {
    let (shown, _) = json_of(&small(), &FLEET);
    let run = &shown["runs"][0];
    for (shape, value) in [
        ("Fleet simulation", &shown),
        ("Simulated fleet", &shown["fleet"]),
        ("Marks", &shown["reachable"]),
        ("Run", run),
        ("Times", &run["ttft"]),
        ("Answers", &run["answers"]),
        ("Share", &run["answers"]["reasonCodes"][0]),
        ("Gate's share", &run["answers"]["because"][0]),
        ("Simulated index", &run["index"]),
        ("Simulated engine", &run["engines"][0]),
        ("Window", &run["windows"][0]),
        ("Times", &run["windows"][0]["ttft"]),
    ] {
        is_documented(shape, value);
    }
    // The figures that `fleets` reckons by hand.
    let round_robin = &shown["runs"][2];
    assert_eq!(
        json!([round_robin["foundTokens"], round_robin["prefilledTokens"], round_robin["missedTokens"]]),
        json!([2048, 2748, 1024])
    );
    assert_eq!(round_robin["ttft"], json!({"meanMs":1273.4375,"p50Ms":1000.0,"p99Ms":2000.0,"maxMs":2000.0}));
    assert_eq!(json!([round_robin["spread"], round_robin["utilisation"]]), json!([1.117904, 0.286489]));
    assert_eq!(round_robin["answers"], Value::Null);
    assert_eq!(
        shown["reachable"],
        json!({"idealShare":0.640534,"idealBlockShare":0.6,"pooledShare":0.640534})
    );
    assert_eq!(run["windows"][0]["reasonCodes"], json!({"NO_HINT":2}));
}

#[test]
fn a_run_is_the_same_to_the_last_byte() {
    let (shown, first) = json_of(&small(), &FLEET);
    assert_eq!(first, json_of(&small(), &FLEET).1);
    let line = run(small(), &[&FLEET[..], &["-o", "jsonl"]].concat()).stdout;
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    assert_eq!(serde_json::from_slice::<Value>(&line).unwrap(), shown);
    let names: Vec<&Value> = shown["runs"].as_array().unwrap().iter().map(|run| &run["routing"]).collect();
    assert_eq!(names, ["reference", "balanced", "round-robin", "random", "least-loaded"]);
    let loads = |seed: &str| {
        let (shown, _) = json_of(&small(), &["--replicas", "9", "--route", "random", "--seed", seed]);
        shown["runs"][0]["engines"].clone()
    };
    assert_eq!(loads("1"), loads("1"));
    assert_ne!(loads("1"), loads("2"));
}

#[test]
fn policies_are_compared_with_the_defaults() {
    let (_folder, path) = policy("minimumMatchedTokens: 1024, affinityRouting: Disabled");
    let route = ["--route", "least-loaded,reference,reference", "--policy", &path];
    let args = [&FLEET[..], &route].concat();
    let (shown, _) = json_of(&small(), &args);
    let named: Vec<Value> = shown["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| json!([run["routing"], run["policy"], run["answers"]["hints"]]))
        .collect();
    assert_eq!(
        named,
        [json!(["least-loaded", null, null]), json!(["reference", null, 2]), json!(["reference", path, 1])]
    );
    assert_eq!(shown["warnings"], json!([]));
    // Under another tenant a policy of namespace `default` has no effect, unless it names none.
    let (shown, _) = json_of(&small(), &[&args[..], &["--tenant", "team-a"]].concat());
    assert_eq!(shown["warnings"], json!([]));
    let (_folder, path) = policy("minimumMatchedTokens: 1024");
    let text = std::fs::read_to_string(&path).unwrap().replace("name: p", "name: p, namespace: team-b");
    std::fs::write(&path, text).unwrap();
    let (shown, _) = json_of(&small(), &[&FLEET[..], &["--policy", &path]].concat());
    let warning = shown["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains("applies to the request's tenant `default`: they apply to `team-b`"),
        "{warning}"
    );
}

#[test]
fn what_cannot_be_simulated() {
    let good = small();
    fails(&good, &["--replicas", "0"], &["--replicas", "from 1 to 1024"]);
    fails(&good, &["--replicas", "1025"], &["--replicas", "from 1 to 1024"]);
    fails(&good, &["--blocks-per-replica", "4194305"], &["from 1 to 4194304"]);
    fails(&good, &["--prefill-rate", "-1"], &["--prefill-rate", "from 1 to 1000000000"]);
    fails(&good, &["--event-delay", "25h"], &["--event-delay", "from 0 to 24h"]);
    fails(&good, &["--event-delay", "5"], &["--event-delay", "unit"]);
    fails(&good, &["--refresh", "999ms"], &["--refresh", "0 for no refresh, or 1s and more"]);
    fails(&good, &["--route", "fastest"], &["`fastest`", "round-robin"]);
    fails(&good, &["--tenant", ""], &["--tenant"]);
    fails(&good, &["--policy", "no/such/file"], &["no/such/file"]);
    let (_folder, path) = policy("minimumMatchedTokens: -1");
    fails(&good, &["--policy", &path], &["policy.yaml:4", "icache policy lint"]);
    let (_folder, path) = policy("minimumMatchedTokens: 1");
    fails(&good, &["--policy", &path, "--route", "random"], &["no routing asks the index", "`reference`"]);
    let many: Vec<&str> = std::iter::repeat_n(["--policy", path.as_str()], 16).flatten().collect();
    fails(&good, &[&many[..], &["--route", "reference"]].concat(), &["17 runs", "16 at once"]);
    fails(&good, &["--html", "no/such/folder/page.html"], &["cannot write", "no/such/folder/page.html"]);
    fails("nonsense\n", &[], &["standard input:1: it is no JSON", "--skip-bad"]);
    fails("", &[], &["standard input holds no request"]);
    let output = command(&["--trace", "no/such/file"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot read `no/such/file`"));
}

#[test]
fn bad_lines_are_passed_over_on_demand() {
    let (shown, _) = json_of(&format!("nonsense\n{}", small()), &[&FLEET[..], &["--skip-bad"]].concat());
    assert_eq!(shown["requests"], 5);
    assert!(shown["warnings"][0].as_str().unwrap().starts_with("standard input:1: it is no JSON"));
}

#[test]
fn compressed_traces_are_told_by_their_content() {
    let plain = run(small(), &[&FLEET[..], &["-o", "json"]].concat()).stdout;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(small().as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(small().as_bytes(), 3).unwrap();
    for bytes in [&gzip, &zstd] {
        let output = run(bytes, &[&FLEET[..], &["-o", "json"]].concat());
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert!(output.stdout == plain, "the same result");
    }
    // Of data that ends too early what came before is used, and said to be.
    let output = run(&gzip[..gzip.len() - 4], &[&FLEET[..], &["-o", "json"]].concat());
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["requests"], 5);
    assert_eq!(
        shown["warnings"][0],
        "`standard input` ends amid compressed data; the requests before its end are used"
    );
    // Data that is not what it says to be.
    let mut broken = zstd;
    broken[8..].fill(0xff);
    let output = run(&broken, &FLEET);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("data corruption"), "{said}");
}

#[test]
fn a_page_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let (shown, _) = json_of(&small(), &[&FLEET[..], &["--html", path.to_str().unwrap()]].concat());
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.starts_with("<!doctype html>"));
    for part in
        ["Tokens found", "Mean wait", "Longest waits", "engine-1", "AFFINITY_HINT", "routing-floor-score"]
    {
        assert!(page.contains(part), "no `{part}` in the page");
    }
    // The document behind it is in it.
    let (_, data) = page.split_once(r#"id="data">"#).unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    assert_eq!(serde_json::from_str::<Value>(data.trim()).unwrap(), shown);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_130() {
    let mut child = command(&["--trace", "-"]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // More than a pipe holds: once it is written, the command reads, and listens to the signal.
    let line = text(&[(0, 512, &[1])]);
    input.write_all(line.repeat(10_000).as_bytes()).unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    // Standard input stays open: it is the signal that ends the command.
    let status = child.wait().unwrap();
    drop(input);
    assert_eq!(status.code(), Some(130));
}

/// A fleet that is dead answers nothing, which is no short wait.
#[test]
fn requests_that_no_engine_answers_are_told() {
    let args = ["--workload", "diffuse", "--requests", "5", "--replicas", "1", "--kill", "r0@0s"];
    let output = command(&[&args[..], &["--route", "round-robin"]].concat()).output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    let row: Vec<&str> =
        table.lines().find(|line| line.contains("round-robin")).unwrap().split_whitespace().collect();
    assert_eq!(row, ["round-robin", "-", "-", "-", "-", "-", "-", "5"], "{table}");
    assert!(table.contains("lost: requests given up since no engine was alive"), "{table}");
}

#[test]
fn a_fault_that_no_request_meets_is_told() {
    let args = ["--workload", "diffuse", "--requests", "5", "--replicas", "2", "--route", "round-robin"];
    let output = command(&[&args[..], &["--kill", "r1@1h", "--restart", "r1@0s"]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let table = String::from_utf8(output.stdout).unwrap();
    let told: Vec<&str> = table.lines().filter(|line| line.contains("changes nothing")).collect();
    assert_eq!(told.len(), 1, "{table}");
    assert!(told[0].contains("`--kill r1@1h` changes nothing: the last request comes "), "{table}");
}
