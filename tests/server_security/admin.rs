//! The admin port: tokens, and what it tells and takes.

use assert_cmd::Command;
use icache::contract::wire::icache::v1alpha1::explain_client::ExplainClient;
use icache::contract::wire::icache::v1alpha1::gate_step::Outcome;
use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tonic::transport::Channel;

use super::authority::put;
use super::process::Process;
use super::{ask, http, metric, until, update};

async fn connect(server: &Process) -> Channel {
    Channel::from_shared(format!("http://{}", server.grpc_addr)).unwrap().connect().await.unwrap()
}

const PROBE: &str = r#"{"backend":"b1","model":"llama","hashScheme":"vllm"}"#;

#[tokio::test]
async fn every_endpoint_asks_for_a_token_and_counts_it() {
    let folder = TempDir::new().unwrap();
    let tokens = put(folder.path(), "tokens", "# ours\nfirst-token-0123456789\n");
    let digest = hex::encode(Sha256::digest("token-of-a-caller"));
    let callers = format!(
        "version = 1\n[[caller]]\nname = \"a\"\ntoken-sha256 = [\"{digest}\"]\nroles = [\"lookup\"]\ntenants = [\"a\"]\n"
    );
    let callers = put(folder.path(), "callers.toml", &callers);
    let server = Process::start(&[
        "--admin-token-file",
        tokens.to_str().unwrap(),
        "--auth-file",
        callers.to_str().unwrap(),
    ]);
    let addr = server.admin_addr;
    let endpoints = [
        ("GET", "/policy", "", "policy"),
        ("GET", "/snapshot", "", "snapshot"),
        ("GET", "/config", "", "config"),
        ("GET", "/drain/r1", "", "drain"),
        ("POST", "/probe", PROBE, "probe"),
    ];
    for (method, path, body, name) in endpoints {
        for (token, status) in [
            (Some("first-token-0123456789"), 200),
            (None, 401),
            (Some("first-token-012345678"), 401),
            (Some("token-of-a-caller"), 403),
        ] {
            let (answered, head, told) = http(addr, method, path, token, body).await;
            assert_eq!(answered, status, "{method} {path} with {token:?}: {told}");
            assert_eq!(head.to_lowercase().contains("www-authenticate: bearer"), status == 401, "{head}");
        }
        for (result, count) in [("ok", 1.0), ("unauth", 2.0), ("forbidden", 1.0), ("error", 0.0)] {
            let series = format!("inferencecache_{name}_auth_total{{result=\"{result}\"}}");
            assert_eq!(metric(server.http_addr, &series).await, count, "{series}");
        }
    }
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(http(server.http_addr, "GET", path, None, "").await.0, 200, "{path}");
    }
    // A refused request changes nothing.
    let push = r#"{"version":7,"policies":[],"tenants":[]}"#;
    assert_eq!(http(addr, "POST", "/policy", None, push).await.0, 401);
    assert_eq!(http(addr, "POST", "/drain/r1", None, "").await.0, 401);

    put(folder.path(), "tokens", "second-token-0123456789\n");
    let ask = |token: &'static str| async move { http(addr, "GET", "/policy", Some(token), "").await.0 };
    until(|| ask("second-token-0123456789"), |status| *status == 200).await;
    assert_eq!(ask("first-token-0123456789").await, 401);
    put(folder.path(), "tokens", "");
    let reload = "inferencecache_credentials_reload_success{kind=\"admin-tokens\"}";
    until(|| metric(server.http_addr, reload), |value| *value == 0.0).await;
    assert_eq!(ask("second-token-0123456789").await, 200, "an empty file keeps those before");
    assert!(!format!("{:?}", server.log()).contains("-token-0123456789"), "a token is in the log");
}

#[tokio::test]
async fn config_is_told_without_what_files_hold() {
    let folder = TempDir::new().unwrap();
    let tokens = put(folder.path(), "tokens", "first-token-0123456789\n");
    let file = put(folder.path(), "icache.toml", "block-size = 32\n");
    let server =
        Process::start(&["--config", file.to_str().unwrap(), "--admin-token-file", tokens.to_str().unwrap()]);
    let (_, _, body) = http(server.admin_addr, "GET", "/config", Some("first-token-0123456789"), "").await;
    assert!(!body.contains("first-token"));
    let told: Value = serde_json::from_str(&body).unwrap();
    let of = |key: &str| {
        told["settings"].as_array().unwrap().iter().find(|own| own["key"] == key).unwrap().clone()
    };
    assert_eq!(told["version"], 1);
    let place = format!("file {}:1", file.display());
    assert_eq!((&of("block-size")["value"], &of("block-size")["source"]), (&json!(32), &json!(place)));
    assert_eq!(of("admin-token-file")["value"], json!(tokens.to_str().unwrap()));
    assert_eq!(of("tls-cert")["value"], Value::Null);
    assert_eq!(of("max-entries")["source"], "default");
}

#[tokio::test]
async fn a_drained_replica_is_in_no_answer_until_that_is_undone() {
    let server = Process::start(&[]);
    let channel = connect(&server).await;
    let mut contract = InferenceCacheClient::new(channel.clone());
    let updates = ["ns/r 1", "r2", "r3"].map(|replica| update("a", replica, b"hash"));
    let updates = updates.into_iter().take(2).chain([update("a", "r3", b"other")]);
    contract.report_cache_state(tokio_stream::iter(updates.collect::<Vec<_>>())).await.unwrap();
    let url = format!("http://{}", server.admin_addr);
    let drain = |more: &[&str]| {
        let args = [&["drain", "ns/r 1", "--admin-url", &url, "-o", "json"], more].concat();
        let output = Command::cargo_bin("icache").unwrap().args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let mut found = async || {
        let answer = contract.lookup_route(ask("a", b"hash")).await.unwrap().into_inner();
        let mut names: Vec<_> = answer.replica_scores.into_iter().map(|score| score.replica_id).collect();
        names.sort();
        names
    };
    assert_eq!(found().await, ["ns/r 1", "r2"]);
    assert_eq!(drain(&["--show"]), json!({"version": 1, "replicaId": "ns/r 1", "drained": false}));
    let drained = drain(&[]);
    assert_eq!((&drained["drained"], &drained["replicaId"]), (&json!(true), &json!("ns/r 1")));
    assert!(drained["since"].as_str().unwrap() < drained["until"].as_str().unwrap());
    assert_eq!(found().await, ["r2"]);
    assert_eq!(drain(&["--show"]), drained);
    assert_eq!(metric(server.http_addr, "inferencecache_drained_replicas").await, 1.0);

    let explained = ExplainClient::new(channel).explain_route(ask("a", b"hash")).await.unwrap().into_inner();
    let step = explained.steps.iter().find(|step| step.gate == "replica-timeout").unwrap();
    assert_eq!((step.outcome(), step.cause.as_str()), (Outcome::Filtered, "drained"));
    let by: Vec<_> =
        explained.candidates.iter().map(|one| (one.replica_id.as_str(), one.filtered_by.as_str())).collect();
    assert!(by.contains(&("ns/r 1", "replica-timeout")) && by.contains(&("r2", "")), "{by:?}");

    // What it holds stays.
    let (_, _, snapshot) = http(server.admin_addr, "GET", "/snapshot", None, "").await;
    assert!(snapshot.contains("\"replicaId\":\"ns/r 1\""));
    assert_eq!(drain(&["--undo"])["drained"], json!(false));
    assert_eq!(found().await, ["ns/r 1", "r2"]);
    let (status, _, told) =
        http(server.admin_addr, "POST", &format!("/drain/{}", "x".repeat(513)), None, "").await;
    assert_eq!((status, told.contains("512 bytes")), (400, true));
    assert_eq!(
        http(server.admin_addr, "POST", &format!("/drain/{}", "x".repeat(512)), None, "").await.0,
        200
    );
    let (_, _, listed) = http(server.admin_addr, "GET", "/drain", None, "").await;
    assert_eq!(serde_json::from_str::<Value>(&listed).unwrap()["drained"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn affinity_passes_a_drained_replica_over() {
    let server = Process::start(&[]);
    let mut contract = InferenceCacheClient::new(connect(&server).await);
    let updates = [update("a", "r1", b"one"), update("a", "r2", b"two")];
    contract.report_cache_state(tokio_stream::iter(updates)).await.unwrap();
    let mut pick = async || {
        let answer = contract.lookup_route(ask("a", b"novel")).await.unwrap().into_inner();
        assert_eq!(answer.reason_code, "AFFINITY_HINT");
        answer.replica_scores[0].replica_id.clone()
    };
    let first = pick().await;
    http(server.admin_addr, "POST", &format!("/drain/{first}"), None, "").await;
    assert_ne!(pick().await, first);
}

#[tokio::test]
async fn the_snapshot_has_the_fields_that_controllers_decode() {
    let server = Process::start(&[]);
    let mut contract = InferenceCacheClient::new(connect(&server).await);
    let stats = wire::ReplicaStats {
        cache_memory_bytes: 1_000,
        hit_rate: 0.5,
        pressure: 0.25,
        t2_hit_tokens: 7,
        ..Default::default()
    };
    let updates = [
        wire::CacheStateUpdate { stats: Some(stats), ..update("b", "r2", b"one") },
        update("a", "r1", b"one"),
        update("a", "r1", b"two"),
    ];
    contract.report_cache_state(tokio_stream::iter(updates)).await.unwrap();
    let event = wire::CacheEvent {
        r#type: wire::cache_event::Type::ReplicaUpdated.into(),
        replica_id: "r1".to_owned(),
        model_id: "llama".to_owned(),
        tenant_id: "a".to_owned(),
        ..Default::default()
    };
    contract.publish_event(event).await.unwrap();
    let (_, head, body) = http(server.admin_addr, "GET", "/snapshot", None, "").await;
    assert!(head.to_lowercase().contains("content-type: application/json"));
    let mut told: Value = serde_json::from_str(&body).unwrap();
    let mut times = Vec::new();
    for replica in told["replicas"].as_array_mut().unwrap() {
        for field in ["lastUpdate", "lastEventAt"] {
            times.push(replica.as_object_mut().unwrap().remove(field).unwrap().as_str().unwrap().to_owned());
        }
    }
    assert_eq!(
        told,
        json!({
            "replicas": [
                {"replicaId": "r1", "tenant": "a", "cacheMemoryBytes": 0, "hitRate": 0.0, "pressure": 0.0, "prefixCount": 2},
                {"replicaId": "r2", "tenant": "b", "cacheMemoryBytes": 1000, "hitRate": 0.5, "pressure": 0.25,
                 "prefixCount": 1, "statsReported": true, "t2HitTokens": 7},
            ],
            "tenants": [
                {"tenantId": "a", "indexEntries": 2, "hitRate": 0.0, "memoryUsed": 0},
                {"tenantId": "b", "indexEntries": 1, "hitRate": 0.5, "hitRateReported": true, "memoryUsed": 0},
            ],
            "totalPrefixes": 3,
            "hotPrefixes": 0,
        })
    );
    assert_eq!(times[3], "0001-01-01T00:00:00Z", "r2 has published nothing");
    for time in &times[..3] {
        assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
    }
}

#[tokio::test]
async fn a_probe_goes_round_and_leaves_nothing_behind() {
    let server = Process::start(&[]);
    let addr = server.admin_addr;
    let probe = async |body: &str| http(addr, "POST", "/probe", None, body).await;
    let (status, _, body) = probe(PROBE).await;
    assert_eq!(status, 200, "{body}");
    let told: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        told,
        json!({"backend": "b1", "ingest": "ok", "routing": "ok", "t2": "skipped", "errors": []})
    );
    let long =
        json!({"backend": "b1", "model": "m".repeat(513), "hashScheme": "vllm", "backendType": "vllm"});
    let (status, _, body) = probe(&long.to_string()).await;
    let told: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (status, &told["ingest"], &told["routing"]),
        (200, &json!("failed"), &json!("skipped")),
        "{body}"
    );
    assert_eq!(told["errors"][0]["stage"], "ingest");
    for (body, says) in [
        ("{", "no probe"),
        (r#"{"backend":"b","model":"m"}"#, "hashScheme"),
        (r#"{"backend":"b","model":"m","hashScheme":""}"#, "`hashScheme` is empty"),
        (r#"{"backend":"b","model":"m","hashScheme":"v","more":1}"#, "more"),
    ] {
        let (status, _, told) = probe(body).await;
        assert_eq!(status, 400, "{body}");
        assert!(told.contains(says), "{body}: {told}");
    }
    assert_eq!(probe(&" ".repeat((16 << 10) + 1)).await.0, 413);
    let (status, head, _) = http(addr, "GET", "/probe", None, "").await;
    assert_eq!((status, head.to_lowercase().contains("allow: post")), (405, true), "{head}");
    let (_, _, snapshot) = http(addr, "GET", "/snapshot", None, "").await;
    let empty = json!({"replicas": [], "tenants": [], "totalPrefixes": 0, "hotPrefixes": 0});
    assert_eq!(serde_json::from_str::<Value>(&snapshot).unwrap(), empty);
    assert_eq!(metric(server.http_addr, "inferencecache_index_replica_entries").await, 0.0);
    let (_, _, page) = http(server.http_addr, "GET", "/metrics", None, "").await;
    assert!(!page.contains("model=\"llama\""), "no series is left of it");
}
