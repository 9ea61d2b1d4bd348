//! `icache bench` against real servers: its counts add up, its answers are checked, and it ends well however it ends.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "server_support/shapes.rs"]
mod shapes;

#[path = "server_support/process.rs"]
#[allow(dead_code)]
mod process;

use std::io::Read as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use process::Process;
use serde_json::Value;
use shapes::is_documented;

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icache"));
    command.arg("bench").args(args).stdin(Stdio::null()).env_remove("ICACHE_SERVER").env_remove("LC_ALL");
    command
}

fn run(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

/// Standard output and standard error of a run that ends with `status`.
fn ended(output: &Output, status: i32) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{out}{err}");
    (out, err)
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&ended(&run(&[args, &["-o", "json"]].concat()), 0).0).unwrap()
}

fn url(server: &Process) -> String {
    format!("http://{}", server.grpc_addr)
}

/// Keys that a server holds.
fn prefixes(server: &Process) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_icache"))
        .args(["state", "-o", "json", "--server", &url(server)])
        .output()
        .unwrap();
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["totalPrefixes"].clone()
}

fn sum(counts: &Value) -> u64 {
    counts.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum()
}

const SMALL: [&str; 6] =
    ["--warm-up=0s", "--chains=50", "--replicas=8", "--blocks=20", "--seed=7", "--timeout=60s"];

#[test]
fn counts_add_up_through_both_doors() {
    let server = Process::start(&[]);
    let url = url(&server);
    for extra in [&["--connections=3", "--in-flight=7"][..], &["--fast", "--connections=3", "--in-flight=7"]]
    {
        let report = json(&[&["--server", &url, "--requests=1000"], extra, &SMALL].concat());
        is_documented("Bench", &report);
        assert_eq!((&report["inFlight"], &report["connections"]), (&7.into(), &3.into()));
        assert_eq!((&report["comparison"], &report["partial"]), (&Value::Null, &false.into()));
        let found = &report["servers"][0];
        is_documented("Bench server", found);
        assert_eq!(found["answers"], 1_000, "{extra:?}");
        assert_eq!((sum(&found["reasonCodes"]), sum(&found["kinds"])), (1_000, 1_000));
        assert_eq!((&found["wrong"], &found["failed"], &found["unsent"]), (&0.into(), &0.into(), &0.into()));
        // Full and diverging chains match; of the other two every replica holds as much as any other.
        let (kinds, codes) = (&found["kinds"], &found["reasonCodes"]);
        let both = |one: &str, other: &str| kinds[one].as_u64().unwrap() + kinds[other].as_u64().unwrap();
        assert_eq!(codes["PREFIX_MATCH"], both("full", "diverge"), "{found}");
        assert_eq!(codes["AFFINITY_HINT"], both("head", "miss"), "{found}");
        let at = |name: &str| found[name].as_f64().unwrap();
        let percentiles = ["p50Us", "p75Us", "p90Us", "p99Us", "p999Us", "p9999Us", "maxUs"].map(at);
        assert!(percentiles[0] > 0.0 && percentiles.is_sorted(), "{percentiles:?}");
        assert!((at("rate") * at("seconds") - 1_000.0).abs() < 0.001);
        assert_eq!(prefixes(&server), 0, "nothing is left behind");
    }
}

#[test]
fn the_same_seed_asks_the_same() {
    let server = Process::start(&[]);
    let url = url(&server);
    let kinds = |seed: &'static str| {
        let flags = ["--server", &url, "--requests=200", "--chains=50", "--warm-up=0s", "--blocks=20", seed];
        json(&flags)["servers"][0]["kinds"].clone()
    };
    assert_eq!(kinds("--seed=1"), kinds("--seed=1"));
    assert_ne!(kinds("--seed=1"), kinds("--seed=2"));
}

#[test]
fn a_rate_is_kept_and_latency_counts_from_when_a_lookup_was_due() {
    let server = Process::start(&[]);
    let url = url(&server);
    for fast in [&[][..], &["--fast"]] {
        let report = json(&[&["--server", &url, "--rate=500", "--requests=150"], fast, &SMALL].concat());
        assert_eq!((&report["rate"], &report["inFlight"]), (&500.0.into(), &Value::Null));
        let found = &report["servers"][0];
        assert_eq!(found["answers"], 150);
        // The last one is due 298 ms after the first.
        let seconds = found["seconds"].as_f64().unwrap();
        assert!(seconds >= 0.298, "{seconds}");
    }
    // More than any machine answers: what waits in front of the door is waiting all the same.
    let report = json(&[&["--server", &url, "--rate=1000000", "--duration=300ms"], &SMALL[..]].concat());
    let found = &report["servers"][0];
    assert!(found["unsent"].as_u64().unwrap() > 0, "{found}");
    assert!(found["maxUs"].as_f64().unwrap() > 100_000.0, "{found}");
}

#[test]
fn tables_fit_the_screen_and_pages_stand_alone() {
    let server = Process::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("bench.html");
    let url = url(&server);
    let flags = ["--server", &url, "--requests=300", "--html", page.to_str().unwrap()];
    let (out, err) = ended(&run(&[&flags[..], &SMALL].concat()), 0);
    assert_eq!(err, "");
    for part in [
        "LookupRoute, 16 in flight, 1 connection",
        "300 answers",
        "p99.9",
        "  up to ",
        "PREFIX_MATCH",
        "diverge",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    assert!(!out.contains('\u{1b}'), "no colour in a pipe");
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("Latency") && html.contains(&url) && !html.contains("<script src"), "{html}");
}

#[test]
fn two_servers_are_compared_in_turn() {
    let (one, other) = (Process::start(&[]), Process::start(&[]));
    let (first, second) = (url(&one), url(&other));
    let flags = ["--server", &first, "--against", &second, "--requests=205"];
    let report = json(&[&flags[..], &SMALL].concat());
    for (at, url) in [(0, &first), (1, &second)] {
        let found = &report["servers"][at];
        assert_eq!((&found["url"], &found["answers"]), (&url.as_str().into(), &205.into()));
    }
    let comparison = &report["comparison"];
    is_documented("Bench comparison", comparison);
    assert_eq!(comparison["pairs"], 10);
    for name in ["rate", "p50", "p99"] {
        let ratio = &comparison[name];
        let at = |name: &str| ratio[name].as_f64().unwrap();
        assert!(0.0 < at("min") && at("min") <= at("median") && at("median") <= at("max"), "{comparison}");
    }
    let (out, _) = ended(&run(&[&flags[..], &SMALL].concat()), 0);
    assert!(out.contains("10 slices in turn") && out.contains("answers a second"), "{out}");
    assert_eq!((prefixes(&one), prefixes(&other)), (0.into(), 0.into()));
}

/// A server that holds less than it is told answers otherwise.
#[test]
fn wrong_answers_are_counted() {
    let server = Process::start(&["--max-entries=100"]);
    let url = url(&server);
    let output = run(&[&["--server", &url, "--requests=300", "-o", "json"], &SMALL[..]].concat());
    let (out, err) = ended(&output, 1);
    let report: Value = serde_json::from_str(&out).unwrap();
    let found = &report["servers"][0];
    let wrong = found["wrong"].as_u64().unwrap();
    assert!(wrong > 0 && found["answers"] == 300, "{found}");
    assert!(err.contains(&format!("{wrong} of 300 answers contradict what was loaded")), "{err}");
    assert!(err.contains("\nhelp: "), "{err}");
}

#[test]
fn what_cannot_be_run_is_refused() {
    for (flags, said) in [
        (&["--in-flight=0"][..], "from 1 to 4096"),
        (&["--in-flight=4097"], "from 1 to 4096"),
        (&["--connections=257"], "from 1 to 256"),
        (&["--connections=8", "--in-flight=7"], "leaves some of `--connections 8` without any"),
        (&["--rate=0"], "from 0.001 to 1000000"),
        (&["--rate=NaN"], "from 0.001 to 1000000"),
        (&["--rate=1e7"], "from 0.001 to 1000000"),
        (&["--rate=5", "--in-flight=5"], "cannot be used with"),
        (&["--duration=5s", "--requests=5"], "cannot be used with"),
        (&["--duration=0s"], "longer than 0"),
        (&["--duration=20m1s"], "20m at most"),
        (&["--warm-up=-1s"], "not below 0"),
        (&["--warm-up=5"], "--warm-up"),
        (&["--requests=0"], "from 1 to 1000000000"),
        (&["--blocks=0"], "from 1 to 131072"),
        (&["--blocks=131073"], "from 1 to 131072"),
        (&["--blocks=131072", "--chains=33"], "4325376 blocks"),
        (&["--replicas=1025"], "from 1 to 1024"),
        (&["--shared-head=1.1"], "from 0 to 1"),
        (&["--mix=full"], "KIND=WEIGHT"),
        (&["--mix=full=0"], "every weight is 0"),
        (&["--tenant="], "--tenant"),
        (&["--against=https://x y"], "`--against https://x y`"),
        (&["--against=ftp://x"], "`--against ftp://x` is no server URL"),
        (&["--html=/"], "is a folder"),
    ] {
        let (out, err) = ended(&run(&[&["--server=http://127.0.0.1:1"], flags].concat()), 2);
        assert!(out.is_empty() && err.contains(said), "{flags:?}: {err}");
        assert_eq!(err.lines().count(), 2, "{err}");
    }
}

#[test]
fn a_server_that_is_not_there_is_said_to_be() {
    let (out, err) = ended(&run(&["--server=http://127.0.0.1:1"]), 3);
    assert!(out.is_empty() && err.contains("http://127.0.0.1:1"), "{err}");
}

/// Starts a run that would take long, and waits until it asks.
fn long_run(server: &Process, extra: &[&str]) -> Child {
    let url = url(server);
    let flags = [&["--server", &url, "--duration=20m", "-o", "json"], extra, &SMALL].concat();
    let child = command(&flags).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    await_lookups(server);
    child
}

/// Waits until a server has been asked some.
fn await_lookups(server: &Process) {
    let calls =
        || metric(server, "inferencecache_lookup_route_latency_seconds_count{model=\"icache-bench\"}");
    let deadline = Instant::now() + Duration::from_secs(60);
    while calls().is_none_or(|calls| calls < 200.0) {
        assert!(Instant::now() < deadline, "the bench asks");
        std::thread::yield_now();
    }
}

fn metric(server: &Process, series: &str) -> Option<f64> {
    use std::io::Write as _;
    let mut stream = std::net::TcpStream::connect(server.http_addr).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn a_server_that_dies_leaves_what_was_measured() {
    for extra in [&[][..], &["--fast"], &["--rate=2000"], &["--fast", "--rate=2000"]] {
        let server = Process::start(&[]);
        let child = long_run(&server, extra);
        server.signal("KILL");
        let (out, err) = ended(&child.wait_with_output().unwrap(), 3);
        let report: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(report["partial"], true);
        let found = &report["servers"][0];
        assert!(found["answers"].as_u64().unwrap() > 0, "{extra:?}: {found}");
        assert_eq!(sum(&found["errors"]), found["failed"].as_u64().unwrap());
        assert!(found["failed"].as_u64().unwrap() > 0, "{extra:?}: {found}");
        assert_eq!(err.lines().count(), 2, "{extra:?}: {err}");
    }
}

#[test]
fn ctrl_c_shows_what_there_is_and_takes_the_load_away() {
    for extra in [&[][..], &["--fast"]] {
        let server = Process::start(&[]);
        let child = long_run(&server, extra);
        let interrupt = format!("kill -INT {}", child.id());
        assert!(Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
        let (out, err) = ended(&child.wait_with_output().unwrap(), 130);
        let report: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&report["partial"], err.as_str()), (&true.into(), ""));
        let found = &report["servers"][0];
        assert!(found["answers"].as_u64().unwrap() > 0);
        assert_eq!(found["wrong"], 0);
        assert_eq!(prefixes(&server), 0, "{extra:?}");
    }
}
