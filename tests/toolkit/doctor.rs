//! `icache doctor` against real servers.

use std::net::TcpListener;

use serde_json::Value;

use crate::process::Process;
use crate::{ask, icache, is_documented, look_up, with_report};

fn diagnosis(server: &Process, status: i32) -> Value {
    let output = ask(server, &["doctor", "-o", "json"]);
    assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_documented("Diagnosis", &value);
    value
}

fn ids(diagnosis: &Value) -> Vec<&str> {
    let findings = diagnosis["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["id"].as_str().unwrap()).collect()
}

#[test]
fn an_empty_server_has_had_no_reports() {
    let server = Process::start(&[]);
    let diagnosis = diagnosis(&server, 1);
    assert_eq!(ids(&diagnosis), ["nothing-reported", "no-lookups", "no-policies"]);
    assert_eq!((&diagnosis["errors"], &diagnosis["infos"]), (&1.into(), &2.into()));
    assert_eq!(diagnosis["server"]["serving"], true);
    assert_eq!(diagnosis["notChecked"].as_array().unwrap().len(), 0, "{diagnosis}");
    is_documented("Finding of a check", &diagnosis["findings"][0]);
}

#[test]
fn a_fleet_that_works_passes() {
    let server = with_report(&[]);
    look_up(&server, "team-a", "vllm");
    let diagnosis = diagnosis(&server, 0);
    assert_eq!(ids(&diagnosis), ["no-policies"], "{diagnosis}");
    assert_eq!(diagnosis["lookups"]["PREFIX_MATCH"], 1);
    assert_eq!(diagnosis["replicas"][0]["replicaId"], "vllm-0");
    assert!(diagnosis["replicas"][0]["ageSeconds"].as_f64().unwrap() < 60.0);
}

#[test]
fn keys_that_differ_are_named_with_the_difference() {
    let server = with_report(&[]);
    look_up(&server, "Team-A", "vllm");
    look_up(&server, "Team-A", "vllm");
    look_up(&server, "team-a", "vllm-v1");
    let output = ask(&server, &["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    for part in [
        "error[tenant-mismatch]: 2 lookups asked for tenant_id `Team-A`, which no replica reports; the nearest known is \
         `team-a`: only upper and lower case differ",
        "error[hash-scheme-mismatch]: 1 lookup asked for hash_scheme `vllm-v1` of tenant `team-a` and model `llama`, which \
         no replica reports; the nearest known is `vllm`: it has `-v1` too much at the end",
        "= note: `icache explain tenant-mismatch` says more",
        "2 errors, 1 note;",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn a_key_that_is_reported_by_now_is_no_finding() {
    let server = with_report(&[]);
    look_up(&server, "team-b", "vllm");
    assert!(ids(&diagnosis(&server, 1)).contains(&"tenant-mismatch"));
    let keys = ["--tenant", "team-b", "--model", "llama", "--hash-scheme", "vllm"];
    let what = ["--blocks", "0a", "--block-tokens", "64"];
    crate::grpc(&server, &[&["report", "--replica", "r"][..], &keys, &what].concat());
    assert_eq!(ids(&diagnosis(&server, 0)), ["no-statistics", "no-policies"]);
}

#[test]
fn two_policies_of_one_namespace_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        let text = format!(
            "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {{name: {name}, namespace: team-a}}\n\
             spec: {{minimumMatchedTokens: 128}}\n"
        );
        std::fs::write(folder.path().join(format!("{name}.yaml")), text).unwrap();
    }
    let server = with_report(&["--policy", folder.path().to_str().unwrap()]);
    look_up(&server, "team-a", "vllm");
    let diagnosis = diagnosis(&server, 0);
    assert_eq!(ids(&diagnosis), ["policy-inert"], "{diagnosis}");
}

#[test]
fn without_a_server_it_says_so_and_what_was_not_checked() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{nobody}");
    let output = icache(&["doctor", "-o", "json", "--server", &url, "--http-url", &url, "--admin-url", &url]);
    let output = { output }.output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let diagnosis: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(ids(&diagnosis), ["server-unreachable"]);
    let sources: Vec<&str> = diagnosis["notChecked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|left| left["source"].as_str().unwrap())
        .collect();
    assert_eq!(sources, ["gRPC", "/metrics", "clock", "/snapshot", "/unknown", "/policy"]);
}

#[test]
fn what_the_admin_port_hides_is_not_checked() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "a-token-of-some-length-0123456789\n").unwrap();
    let server = with_report(&["--admin-token-file", tokens.to_str().unwrap()]);
    let hidden = diagnosis(&server, 0);
    let left = hidden["notChecked"].as_array().unwrap();
    assert!(left.iter().all(|left| left["source"] != "/metrics" && left["source"] != "clock"), "{hidden}");
    assert!(left.iter().any(|left| left["source"] == "/snapshot"), "{hidden}");
    let shown = ask(&server, &["doctor", "-o", "json", "--admin-token-file", tokens.to_str().unwrap()]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["notChecked"].as_array().unwrap().len(), 0, "{shown}");
}

#[test]
fn a_token_that_is_not_known_is_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let callers = folder.path().join("callers.toml");
    let digest = "0".repeat(64);
    let text = format!(
        "version = 1\n[[caller]]\nname = \"gateway\"\ntoken-sha256 = [\"{digest}\"]\nroles = [\"lookup\"]\ntenants = [\"*\"]\n"
    );
    std::fs::write(&callers, text).unwrap();
    let server = Process::start(&["--auth-file", callers.to_str().unwrap()]);
    let diagnosis = diagnosis(&server, 1);
    assert!(ids(&diagnosis).contains(&"access-refused"), "{diagnosis}");
    assert!(!ids(&diagnosis).contains(&"server-unreachable"));
}
