//! The admin port.

use std::process::Command;

use crate::*;

const MIB: usize = 1 << 20;

#[tokio::test]
async fn a_push_replaces_the_whole_pushed_set() {
    let served = Served::start(&[]).await;
    served.report("p", Duration::ZERO).await;
    assert_eq!(served.reason("p").await, MATCH);
    assert!(served.shown().await.get("lastReload").is_none(), "there are no files");
    for method in ["POST", "PUT"] {
        let body = pushed(r#""minimumMatchedTokens": 101, "affinityRouting": false"#);
        let (status, _, _) = send(served.server.admin_addr, method, "/policy", body.as_bytes()).await;
        assert_eq!(status, 204);
        assert_eq!(served.reason("p").await, HIDDEN, "{method}");
        let source = "pushed policy of team-a (version 7)".to_owned();
        assert_eq!(served.knob("minimumMatchedTokens").await, (101.into(), source));
        assert_eq!(served.metric("policies").await, Some(1.0));
        assert_eq!(
            served.shown().await["pushed"],
            serde_json::json!({"version": 7, "policies": 1, "tenants": 0})
        );
        served.push(r#"{"version": 4, "policies": [], "tenants": []}"#).await;
        assert_eq!(served.reason("p").await, MATCH, "{method}");
        assert_eq!(served.metric("policies").await, Some(0.0));
    }
}

#[tokio::test]
async fn what_is_refused_changes_nothing() {
    let served = Served::start(&[]).await;
    served.report("p", Duration::ZERO).await;
    served.push(&pushed(r#""minimumMatchedTokens": 101, "affinityRouting": false"#)).await;
    let before = served.shown().await;
    let room = MIB - r#"{"version": 7, "policies": []}"#.len();
    let padded =
        |spaces: usize| format!(r#"{{"version": 7, {}"policies": []}}"#, " ".repeat(spaces)).into_bytes();
    assert_eq!(padded(room).len(), MIB);
    for (body, status, part) in [
        (b"{".to_vec(), 400, "EOF"),
        (b"".to_vec(), 400, "EOF"),
        (b"\xff".to_vec(), 400, "expected value"),
        (br#"{"version": 8, "policies": []}"#.to_vec(), 400, "`version` is 8"),
        (br#"{"version": 2}"#.to_vec(), 400, "`version` is 2"),
        (br#"{"version": 7, "policies": [], "extra": 1}"#.to_vec(), 400, "`extra`"),
        (
            br#"{"version": 7, "policies": [{"namespace": "team-b"}, {"namespace": 7}]}"#.to_vec(),
            400,
            "policies[1].namespace",
        ),
        (padded(room + 1), 413, "1048576 bytes"),
    ] {
        for method in ["POST", "PUT"] {
            let (got, _, text) = send(served.server.admin_addr, method, "/policy", &body).await;
            assert_eq!(got, status, "{text}");
            assert!(text.contains(part) && text.contains("nothing was changed"), "{text}");
        }
        assert_eq!(served.shown().await, before);
        assert_eq!(served.reason("p").await, HIDDEN);
    }
    let (status, _, text) = send(served.server.admin_addr, "POST", "/policy", &padded(room)).await;
    assert_eq!((status, text.as_str()), (204, ""), "a body of 1 MiB is taken");
    assert_eq!(served.reason("p").await, MATCH);
}

#[tokio::test]
async fn other_methods_and_paths() {
    let served = Served::start(&[]).await;
    for method in ["DELETE", "PATCH", "OPTIONS"] {
        let (status, head, _) = send(served.server.admin_addr, method, "/policy", b"{}").await;
        assert_eq!(status, 405, "{method}");
        let allow = head.lines().find_map(|line| line.strip_prefix("allow: ")).unwrap();
        let mut allowed: Vec<&str> = allow.split(',').map(str::trim).collect();
        allowed.sort_unstable();
        assert_eq!(allowed, ["get", "head", "post", "put"], "{method}");
    }
    let (status, head, _) = send(served.server.admin_addr, "GET", "/policy", b"").await;
    assert_eq!(status, 200);
    assert!(head.contains("content-type: application/json"), "{head}");
    assert_eq!(send(served.server.admin_addr, "GET", "/nothing", b"").await.0, 404);
    assert_eq!(http_get(served.server.http_addr, "/policy").await.0, 404, "only the admin port has it");
}

#[tokio::test]
async fn a_pushed_policy_wins_over_a_files_while_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.yaml");
    fs::write(&path, showing() + &quota(5)).unwrap();
    let served = Served::under(&path).await;
    served.push(&pushed(r#""minimumMatchedTokens": 101, "affinityRouting": false"#)).await;
    assert_eq!(served.reason("p").await, HIDDEN);
    assert_eq!(served.knob("quota.maxIndexEntries").await.0, 5, "a policy leaves the quota of files");
    let inert = served.shown().await["inert"].to_string();
    assert!(
        inert.contains("team-a/shows") && inert.contains("pushed policy of team-a (version 7)"),
        "{inert}"
    );

    // The file changes underneath: what it says of other fields is not mixed in.
    replace(&path, &(policy("shows", "minimumMatchedTokens: 0, eviction: LFU") + &quota(4)));
    let quota_now = || async { served.knob("quota.maxIndexEntries").await.0 };
    server_support::until(quota_now, |most| *most == 4).await;
    assert_eq!(served.reason("p").await, HIDDEN);
    assert_eq!(served.knob("eviction").await, ("LRU".into(), "default".to_owned()));

    // An invalid file does not stand in the way of a push.
    fs::write(&path, "kind: [").unwrap();
    served.reloads(false).await;
    let tenant = r#"{"version": 7, "tenants": [{"tenantID": "team-a", "maxIndexEntries": 2}]}"#;
    served.push(tenant).await;
    assert_eq!(served.reason("p").await, MATCH, "the last good set of files holds again");
    assert_eq!(
        served.knob("quota.maxIndexEntries").await,
        (2.into(), "pushed tenant team-a (version 7)".to_owned())
    );
    assert_eq!(served.metric("policy_reload_success").await, Some(0.0), "a push is no reload of files");
}

#[tokio::test]
async fn an_explained_lookup_names_object_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.yaml");
    fs::write(&path, format!("# a comment\n{}", showing())).unwrap();
    let served = Served::under(&path).await;
    let explained = |format: &'static str| {
        let output = Command::new(env!("CARGO_BIN_EXE_icache"))
            .args([
                "lookup",
                "--explain",
                "-o",
                format,
                "--server",
                &format!("http://{}", served.server.grpc_addr),
            ])
            .args([
                "--tenant",
                "team-a",
                "--model",
                "llama",
                "--hash-scheme",
                "vllm",
                "--prefix-hash",
                "hex:70",
            ])
            .env("COLUMNS", "1000")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let source = format!("CachePolicy team-a/shows ({}:5)", path.display());
    let json = explained("json");
    assert!(json.contains("PREFIX_MATCH") && json.contains(&source), "{json}");
    let in_lines = explained("table").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(in_lines.contains(&source), "{in_lines}");
    served.push(&pushed(r#""minimumMatchedTokens": 7"#)).await;
    let json = explained("json");
    assert!(json.contains("pushed policy of team-a (version 7)") && !json.contains("shows"), "{json}");
}
