//! Replays of captures: the reference ones, altered ones, broken ones; through the library and the real binary.

#[path = "server_support/shapes.rs"]
mod shapes;

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use icache::lookup::{Router, RouterConfig};
use icache::model::{Sourced, Timestamp};
use icache::policy::{Defaults, PolicySet, default_ranker};
use icache::replay::{Replay, ReplayOptions, ReplayReport, preload};
use shapes::is_documented;
use tempfile::TempDir;

const HEADER: &str = r#"{"icache":"capture","version":1}"#;

fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(path)
}

fn captures(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(testdata(folder)).expect("the folder can be read");
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    found.sort();
    found
}

fn replayed(capture: &Path, options: ReplayOptions) -> ReplayReport {
    Replay::run_file(capture, options, &mut |_| {}).expect("the capture can be replayed")
}

fn check(capture: &Path) -> u64 {
    let report = replayed(capture, ReplayOptions { check: true, ..ReplayOptions::default() });
    assert!(report.mismatches.is_empty(), "{:#?}", report.mismatches);
    assert_eq!((report.mismatched, report.not_comparable, report.bad_lines), (0, 0, 0));
    assert_eq!(report.checked, report.lookups);
    report.checked
}

/// A folder of the test's own, and a file in it.
fn written(name: &str, bytes: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a scratch folder can be made");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a scratch file can be written");
    (folder, path)
}

fn capture_of(lines: &[&str]) -> String {
    format!("{HEADER}\n{}\n", lines.join("\n"))
}

struct Ran {
    status: i32,
    out: String,
    err: String,
}

/// Runs `icache replay` in `folder`, so that outputs name files without their folder.
fn run_in(folder: &Path, args: &[&str]) -> Ran {
    let output = Command::cargo_bin("icache")
        .expect("the binary is built")
        .current_dir(folder)
        .arg("replay")
        .args(args)
        .output()
        .expect("the binary runs");
    Ran {
        status: output.status.code().expect("it ends by itself"),
        out: String::from_utf8(output.stdout).expect("output is UTF-8"),
        err: String::from_utf8(output.stderr).expect("output is UTF-8"),
    }
}

/// Runs it on one capture with these bytes.
fn run(bytes: impl AsRef<[u8]>, args: &[&str]) -> Ran {
    let (folder, _) = written("c.jsonl", bytes);
    run_in(folder.path(), &[&["c.jsonl"], args].concat())
}

/// Answers of another implementation; debug any difference down to its cause.
#[test]
fn reference_captures_are_answered_as_recorded() {
    let captures = captures("reference");
    assert_eq!(captures.len(), 48);
    let lookups: u64 = captures.iter().map(|capture| check(capture)).sum();
    assert_eq!(lookups, 3_842);
}

#[test]
fn the_fleet_capture_is_answered_as_recorded() {
    assert_eq!(check(&testdata("fleet/fleet.capture.jsonl")), 30);
}

#[test]
fn the_binary_checks_every_capture() {
    let mut args =
        vec!["--check".to_owned(), "--separate".to_owned(), "fleet/fleet.capture.jsonl".to_owned()];
    args.extend(captures("reference").iter().map(|path| path.display().to_string()));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let ran = run_in(&testdata(""), &args);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("check: all 3,872 lookups answered as expected"), "{}", ran.out);
}

#[test]
fn the_same_capture_gives_the_same_bytes() {
    for form in ["table", "json", "jsonl"] {
        let args =
            ["--separate", "reference/policy-002.jsonl", "fleet/fleet.capture.jsonl", "--check", "-o", form];
        let (once, twice) = (run_in(&testdata(""), &args), run_in(&testdata(""), &args));
        assert_eq!((once.status, once.out), (0, twice.out), "{form}");
    }
}

/// Changes one answer of a reference capture, and finds it.
#[test]
fn an_altered_answer_is_found() {
    let original = std::fs::read_to_string(testdata("reference/policy-001.jsonl")).expect("it can be read");
    for (from, to, field) in [
        (r#""score":7.8581867"#, r#""score":7.8591867"#, "score of r0: expected 7.8591866, got 7.8581867"),
        (
            r#""estimatedCacheHitProb":0.98227334"#,
            r#""estimatedCacheHitProb":0.98228334"#,
            "estimated_cache_hit_prob of r0",
        ),
        (
            r#""reasonCode":"UNKNOWN_TENANT""#,
            r#""reasonCode":"NO_HINT""#,
            "reason_code: expected NO_HINT, got UNKNOWN_TENANT",
        ),
        (
            r#""replicaScores":[{"replicaId":"r1"}]"#,
            r#""replicaScores":[{"replicaId":"r2"}]"#,
            "replicas: expected r2, got r1",
        ),
        (
            r#""replicaScores":[{"replicaId":"r1"}]"#,
            r#""replicaScores":[]"#,
            "replicas: expected none, got r1",
        ),
        (
            r#""matchedTokens":16,"replicaId":"r0""#,
            r#""matchedTokens":17,"replicaId":"r0""#,
            "matched_tokens of r0: expected 17, got 16",
        ),
        (
            r#""replicaId":"r0","score":7.8581867,"tier":"CACHE_TIER_T1""#,
            r#""replicaId":"r0","score":7.8581867,"tier":"CACHE_TIER_T2""#,
            "tier of r0: expected T2, got T1",
        ),
    ] {
        assert!(original.contains(from), "{from}");
        let line = 1 + original.lines().position(|line| line.contains(from)).expect("it is there");
        let ran = run(original.replacen(from, to, 1), &["--check"]);
        assert_eq!(ran.status, 1, "{field}");
        assert!(ran.out.contains(&format!("c.jsonl:{line}: tenant `team-")), "{}", ran.out);
        assert!(ran.out.contains(field), "{field}\n{}", ran.out);
        // Without the check it is no difference.
        assert_eq!(run(original.replacen(from, to, 1), &[]).status, 0);
    }
}

const LOOKUP: &str = r#"{"tenantId":"t","modelId":"m","hashScheme":"vllm","blockHashes":["AQI=","AwQ="],"blockTokenCounts":[64,64]}"#;
const HELD: &str = r#"{"replicaId":"r1","tenantId":"t","modelId":"m","hashScheme":"vllm","prefixes":[{"blockHashes":["AQI="],"blockTokenCounts":[64]}]}"#;

/// Two replicas, some lookups with and without expectations, a policy from half way on, things that are dropped.
fn small() -> String {
    let policy = r#"{"t":7,"kind":"policy","documents":"apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {name: p, namespace: t}\nspec: {minimumMatchedTokens: 65, affinityRouting: Disabled}\n"}"#;
    capture_of(&[
        &format!(r#"{{"t":0,"kind":"lookup","request":{LOOKUP},"expect":{{"reasonCode":"NO_HINT"}}}}"#),
        &format!(r#"{{"t":1,"kind":"report","update":{HELD}}}"#),
        r#"{"t":2,"kind":"report","update":{"replicaId":"r2","tenantId":"t","modelId":"m","prefixes":[{"prefixHash":"AQI=","tokenCount":64}]}}"#,
        r#"{"t":3,"kind":"event","event":{"type":"REPLICA_UPDATED","replicaId":"r1","tenantId":"t","modelId":"m"}}"#,
        r#"{"t":4,"kind":"new"}"#,
        &format!(
            r#"{{"t":5,"kind":"lookup","request":{LOOKUP},"expect":{{"reasonCode":"PREFIX_MATCH","replicas":["r1"]}}}}"#
        ),
        &format!(r#"{{"t":6,"kind":"lookup","request":{LOOKUP},"answer":{{"reasonCode":"TIMEOUT"}}}}"#),
        policy,
        &format!(
            r#"{{"t":8,"kind":"lookup","request":{LOOKUP},"expect":{{"reasonCode":"PREFIX_MATCH","replicas":["r2"]}}}}"#
        ),
        r#"{"t":9,"kind":"kv-batch","replica":"r3","model":"m","tenant":"t","scheme":"vllm","topic":"","seq":0,"payload":"AA=="}"#,
        &format!(r#"{{"t":1900.5,"kind":"lookup","request":{LOOKUP}}}"#),
    ])
}

#[test]
fn the_report_as_a_table() {
    let ran = run(small(), &["--check"]);
    assert_eq!(ran.status, 1);
    insta::assert_snapshot!("replay_table", ran.out);
}

#[test]
fn the_report_as_json() {
    let ran = run(small(), &["--check", "-o", "json"]);
    assert_eq!(ran.status, 1);
    let timed = run(small(), &["--check", "--timings", "-o", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&timed.out).expect("it is JSON");
    for (shape, value) in [
        ("Timeline", &shown["timeline"]),
        ("Bucket", &shown["timeline"]["buckets"][0]),
        ("Replayed index", &shown["index"]),
        ("Share", &shown["reasonCodes"][0]),
        ("Share", &shown["because"][0]),
        ("Check", &shown["check"]),
        ("Mismatch", &shown["check"]["mismatches"][0]),
    ] {
        is_documented(shape, value);
    }
    // Whoever sends to a server learns its pace; the rest of the fields are those of any replay.
    let mut whole = shown.clone();
    whole["pace"] = serde_json::Value::Null;
    is_documented("Replay", &whole);
    insta::assert_snapshot!("replay_json", ran.out);
}

#[test]
fn mismatches_shown_are_bounded_and_all_are_counted() {
    let original = std::fs::read_to_string(testdata("reference/scenario-001.jsonl")).expect("it can be read");
    let altered = original.replace(r#""reasonCode":""#, r#""reasonCode":"X"#);
    let count = |args: &[&str]| run(altered.as_bytes(), args).out.matches("c.jsonl:").count();
    assert_eq!((count(&["--check"]), count(&["--check", "--mismatches", "3"])), (10, 3));
    let lookups = original.matches(r#""kind":"lookup""#).count();
    let ran = run(altered.as_bytes(), &["--check", "--mismatches", "0"]);
    assert!(
        ran.out.contains(&format!("check: {lookups} of {lookups} lookups answered otherwise")),
        "{}",
        ran.out
    );
}

#[test]
fn an_unusable_file_ends_with_status_2_and_says_where() {
    let sweep = r#"{"t":1,"kind":"sweep"}"#;
    let policy = r#"{"t":1,"kind":"policy","documents":"kind: CachePolicy\nspec: {x: 1}\n"}"#;
    for (bytes, what) in [
        (b"".to_vec(), "`c.jsonl` is not a capture: it is empty"),
        (vec![0, 159, 146, 150], "`c.jsonl` is not a capture: it holds binary data"),
        (b"{\"icache\":\"capture\",\"version\":2}\n".to_vec(), "`c.jsonl` is a capture of version 2"),
        (capture_of(&["nonsense", sweep]).into_bytes(), "c.jsonl:2: it is no JSON"),
        ([HEADER.as_bytes(), b"\n\xff\n"].concat(), "c.jsonl:2: byte 1 is not UTF-8"),
        (capture_of(&[sweep, r#"{"t":0,"kind":"sweep"}"#]).into_bytes(), "c.jsonl:3: field `t`: "),
        (
            capture_of(&[sweep, policy]).into_bytes(),
            "c.jsonl (policy record in line 3):1:1: `apiVersion` is missing",
        ),
    ] {
        let ran = run(&bytes, &["--check"]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{what}");
        assert!(ran.err.contains(what), "{what}\n{}", ran.err);
        assert!(ran.err.contains("help: "), "{}", ran.err);
    }
    let ran = run_in(&testdata(""), &["missing.jsonl"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("cannot read `missing.jsonl`: no such file or directory"), "{}", ran.err);
}

#[test]
fn what_is_wrong_can_be_passed_over_and_is_counted() {
    let policy = r#"{"t":1,"kind":"policy","documents":"kind: CachePolicy\nspec: {x: 1}\n"}"#;
    let text = capture_of(&["nonsense", policy, r#"{"t":0,"kind":"sweep"}"#, r#"{"t":1,"kind":"sweep"}"#]);
    let ran = run(text + "{\"t\":2,\"ki", &["--skip-bad"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    for part in [
        "3 bad lines passed over",
        "warning: c.jsonl:2: it is no JSON",
        "warning: c.jsonl (policy record in line 3):1:1: `apiVersion` is missing",
        "warning: c.jsonl:4: field `t`",
        "warning: the last line was not finished and is left out: c.jsonl:6: ",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
}

#[test]
fn a_policy_given_takes_the_place_of_the_captured_ones() {
    let (folder, _) = written("c.jsonl", small());
    let policy = "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {name: o, namespace: t}\n\
                  spec: {minimumMatchedTokens: 0, routingFloorScore: \"0\", affinityRouting: Disabled}\n";
    std::fs::write(folder.path().join("p.yaml"), policy).expect("a scratch file can be written");
    let ran = run_in(folder.path(), &["c.jsonl", "--policy", "p.yaml", "-o", "jsonl"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.out.contains(r#""policiesOverridden":1"#), "{}", ran.out);
    assert!(ran.out.contains(r#"{"id":"PREFIX_MATCH","count":3,"#), "{}", ran.out);
    std::fs::write(folder.path().join("p.yaml"), "kind: CachePolicy\n")
        .expect("a scratch file can be written");
    let ran = run_in(folder.path(), &["c.jsonl", "--policy", "p.yaml"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("p.yaml:1:1: `apiVersion` is missing"), "{}", ran.err);
}

#[test]
fn a_bare_batch_is_replayed_under_the_identity_given() {
    let identity = ["--replica", "r", "--model", "m", "--tenant", "t"];
    for entry in std::fs::read_dir(testdata("kv-events")).expect("the folder can be read") {
        let name = entry.expect("the folder can be read").file_name().to_string_lossy().into_owned();
        if !name.ends_with(".msgpack") {
            continue;
        }
        let ran = run_in(&testdata("kv-events"), &[&[name.as_str()], &identity[..]].concat());
        assert_eq!(ran.status, 0, "{name}: {}", ran.err);
        assert!(ran.out.starts_with("1 capture, 1 record, from "), "{name}: {}", ran.out);
        assert!(!ran.out.contains("bad-batch"), "{name}: {}", ran.out);
    }
    let ran = run_in(&testdata("kv-events"), &["vllm-0.9.0.msgpack"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("give `--replica`, `--model` and `--tenant`"), "{}", ran.err);
    let (folder, _) = written("bad.msgpack", b"nonsense");
    let ran = run_in(folder.path(), &[&["bad.msgpack"], &identity[..]].concat());
    assert_eq!((ran.status, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("`bad.msgpack` is no engine batch: "), "{}", ran.err);
    let (folder, _) = written("really.msgpack", small());
    assert!(run_in(folder.path(), &["really.msgpack"]).out.contains("5 lookup"));
}

/// The clock sweeps until the capture says when its server did.
#[test]
fn sweeps_follow_the_clock_or_the_record() {
    let report = |lines: &[&str]| {
        let (_folder, path) = written("c.jsonl", capture_of(lines));
        replayed(&path, ReplayOptions::default())
    };
    let held = |t: &str| format!(r#"{{"t":{t},"kind":"report","update":{HELD}}}"#);
    let ping = r#"{"t":1801,"kind":"event","event":{"type":"REPLICA_UPDATED","replicaId":"r1","tenantId":"t","modelId":"m"}}"#;
    let by_clock = report(&[&held("0"), &held("59.999999"), &held("60"), &held("119"), ping]);
    assert_eq!((by_clock.sweeps, by_clock.expired, by_clock.entries_at_end), (2, 0, 1));
    let expired = report(&[&held("0"), ping]);
    assert_eq!((expired.sweeps, expired.expired, expired.entries_at_end), (1, 1, 0));
    let recorded = report(&[r#"{"t":0,"kind":"sweep"}"#, &held("0"), ping]);
    assert_eq!((recorded.sweeps, recorded.expired, recorded.entries_at_end), (1, 0, 1));
}

#[test]
fn config_and_state_are_taken_over_as_far_as_they_are_known() {
    let config = r#"{"t":1,"kind":"config","config":{"ranker":{"pressureWeight":0,"new":1},"blockSize":2,"defaultTTL":"10s","limits":{"maxEntries":5},"other":{}}}"#;
    let state = format!(r#"{{"t":20,"kind":"state","state":{{"updates":[{HELD}],"hotness":[]}}}}"#);
    let lookup = |t: u32| {
        format!(r#"{{"t":{t},"kind":"lookup","request":{LOOKUP},"expect":{{"reasonCode":"PREFIX_MATCH"}}}}"#)
    };
    let again = config.replace("\"t\":1,", "\"t\":31,");
    let other = again.replace("\"blockSize\":2", "\"blockSize\":4");
    let text = capture_of(&[config, &state, &lookup(29), &lookup(30), &again, &other]);
    let ran = run(text, &["--check"]);
    let told = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    // 10 seconds after its report the entry is dead under the recorded server's TTL.
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("check: 1 of 2 lookups answered otherwise"), "{}", ran.out);
    assert!(ran.out.contains("c.jsonl:5: tenant"), "{}", ran.out);
    assert_eq!(told.matches("all of it, since").count(), 1, "the same settings again are none: {told}");
    assert!(told.contains("c.jsonl:7: passed over of `config`: all of it"), "{told}");
    for part in ["`other`", "`ranker.new`", "`hotness`", "all of it, since it comes after other records"] {
        assert!(told.contains(&format!(": {part}")), "{part}\n{told}");
    }
}

#[test]
fn a_preload_moves_the_newest_record_to_now() {
    let router = Router::new(RouterConfig {
        index: icache::index::IndexConfig::default(),
        policies: PolicySet::empty(&Defaults::default()),
        ranker: default_ranker(),
        max_in_flight: Sourced::built_in(0),
    });
    let now = Timestamp::from_us(2_000_000_000_000_000);
    let fleet = testdata("fleet/fleet.capture.jsonl");
    let loaded = preload(&fleet, &router, now).expect("the capture can be loaded");
    assert_eq!((loaded.records, loaded.left_out, loaded.entries), (191, 30, 6_000));
    assert_eq!(loaded.shift_ns, Timestamp::from_us(1_754_611_480_003_000).age_ns(now));
    assert_eq!(router.index().sweep(now.plus_ns(25 * 60 * 1_000_000_000)).expired_lru, 0);

    // What was dead at the end of the capture is dead now.
    let old = format!(r#"{{"t":0,"kind":"report","update":{HELD}}}"#);
    let (_folder, path) = written("c.jsonl", capture_of(&[&old, r#"{"t":1800,"kind":"sweep"}"#]));
    let router = Router::new(RouterConfig {
        index: icache::index::IndexConfig::default(),
        policies: PolicySet::empty(&Defaults::default()),
        ranker: default_ranker(),
        max_in_flight: Sourced::built_in(0),
    });
    assert_eq!(preload(&path, &router, now).expect("the capture can be loaded").entries, 0);
    assert!(preload(&testdata("README.md"), &router, now).is_err());
}

#[test]
fn a_preload_tells_what_it_passed_over() {
    let now = Timestamp::from_us(2_000_000_000_000_000);
    let loaded = |text: String| {
        let (_folder, path) = written("c.jsonl", text);
        let router = Router::new(RouterConfig {
            index: icache::index::IndexConfig::default(),
            policies: PolicySet::empty(&Defaults::default()),
            ranker: default_ranker(),
            max_in_flight: Sourced::built_in(0),
        });
        preload(&path, &router, now).expect("the capture can be loaded")
    };
    let held = format!(r#"{{"t":0,"kind":"report","update":{HELD}}}"#);
    let state = r#"{"t":1,"kind":"state","state":{"updates":[],"hotness":[]}}"#;
    let new = r#"{"t":1,"kind":"new"}"#;
    assert_eq!(loaded(capture_of(&[&held])).warnings, [""; 0]);
    let told = loaded(capture_of(&[&held, state, new, new]) + "{\"t\":2,\"ki");
    assert_eq!(told.entries, 1);
    let unknown = "passed over 2 records of kind `new`, which this icache does not know";
    assert_eq!(told.warnings[0], unknown);
    assert!(told.warnings[1].starts_with("the last line was not finished and is left out: "), "{told:?}");
    assert_eq!(told.warnings[2..], ["passed over of `state`: `hotness`"]);
    assert_eq!(loaded(capture_of(&[new, new])).warnings, [unknown], "nothing else is there");
}

#[test]
fn a_capture_comes_from_standard_input_too() {
    let output = Command::cargo_bin("icache")
        .expect("the binary is built")
        .args(["replay", "-", "-o", "jsonl"])
        .write_stdin(small())
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains(r#""lookups":5"#));
}

/// The fleet capture as a recorder leaves it that rotated in the middle.
fn rotated() -> TempDir {
    let whole = std::fs::read_to_string(testdata("fleet/fleet.capture.jsonl")).expect("it can be read");
    let lines: Vec<&str> = whole.lines().collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    let folder = TempDir::new().expect("a scratch folder can be made");
    for (name, text) in
        [("a.jsonl", first.join("\n")), ("b.jsonl", [&lines[..1], second].concat().join("\n"))]
    {
        std::fs::write(folder.path().join(name), text + "\n").expect("a scratch file can be written");
    }
    folder
}

#[test]
fn rotated_captures_are_replayed_as_one() {
    let folder = rotated();
    let both = run_in(folder.path(), &["a.jsonl", "b.jsonl", "--check", "-o", "json"]);
    assert_eq!((both.status, both.err.as_str()), (0, ""));
    let whole = run_in(&testdata("fleet"), &["fleet.capture.jsonl", "--check", "-o", "json"]);
    assert_eq!(both.out, whole.out.replace("\"captures\": 1", "\"captures\": 2"));
    // On its own, the second half knows nothing of what the first half stored.
    let apart = run_in(folder.path(), &["--separate", "a.jsonl", "b.jsonl", "--check"]);
    assert_eq!(apart.status, 1, "{}", apart.out);
}

#[test]
fn captures_in_the_wrong_order_are_refused() {
    let folder = rotated();
    let ran = run_in(folder.path(), &["b.jsonl", "a.jsonl"]);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("`a.jsonl` begins "), "{}", ran.err);
    assert!(ran.err.contains(" before the end of the capture before it"), "{}", ran.err);
    assert!(ran.err.contains("--separate"), "{}", ran.err);
    assert_eq!(run_in(folder.path(), &["--separate", "b.jsonl", "a.jsonl"]).status, 0);
    assert_eq!(run_in(folder.path(), &["a.jsonl", "a.jsonl", "--separate"]).status, 0);
    assert_eq!(run_in(folder.path(), &["-", "-"]).status, 2);
}

#[test]
fn a_timeline_has_every_record_and_stays_bounded() {
    let ran = run_in(&testdata("fleet"), &["fleet.capture.jsonl", "-o", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&ran.out).expect("it is JSON");
    let buckets = shown["timeline"]["buckets"].as_array().expect("a list");
    let sum = |field: &str| buckets.iter().filter_map(|bucket| bucket[field].as_u64()).sum::<u64>();
    assert!(buckets.len() <= icache::replay::MAX_BUCKETS);
    assert_eq!((sum("records"), sum("lookups"), sum("hints"), sum("blocks")), (221, 30, 30, 7_824));
    assert_eq!((sum("askedTokens"), sum("matchedTokens")), (28_096, 21_568));
    assert_eq!(buckets[buckets.len() - 1]["entries"], 6_000);
    // 280 seconds in 512 buckets.
    assert_eq!(shown["timeline"]["bucketSeconds"], 1.024);
}

#[test]
fn a_page_that_cannot_be_written_is_told_before_the_replay() {
    let folder = TempDir::new().expect("a scratch folder can be made");
    let place = folder.path().display().to_string();
    for (html, said) in
        [(format!("{place}/none/page.html"), "in a folder that is not there"), (place, "is a folder")]
    {
        let ran = run(small(), &["--html", &html]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{html}");
        assert!(ran.err.contains(said), "{}", ran.err);
    }
}
