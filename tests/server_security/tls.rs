//! TLS: what clients are told, certificates that change under load, and clients that must present one.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assert_cmd::Command;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::authority::{Authority, Signed, bytes, channel, put, secure, shown};
use super::process::Process;
use super::{ask, http, metric, until, update};

/// A server with TLS; its certificate lies in the folder as `tls.crt` and `tls.key`.
fn serve(folder: &Path, signed: &Signed, more: &[&str]) -> Process {
    let (cert, key) = (put(folder, "tls.crt", &signed.cert), put(folder, "tls.key", &signed.key));
    let args = ["--tls-cert", cert.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    Process::start(&[&args, more].concat())
}

/// Exit status and standard error of a client command.
fn client(args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::cargo_bin("icache").unwrap();
    for name in ["ICACHE_SERVER", "ICACHE_CA", "ICACHE_TOKEN"] {
        command.env_remove(name);
    }
    let output = command.args(args).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[tokio::test]
async fn clients_are_told_what_is_wrong() {
    let folder = TempDir::new().unwrap();
    let (authority, other) = (Authority::new("ours"), Authority::new("other"));
    let ca = put(folder.path(), "ca.pem", &authority.pem);
    let other_ca = put(folder.path(), "other.pem", &other.pem);
    let (ca, other_ca) = (ca.to_str().unwrap(), other_ca.to_str().unwrap());
    let server = serve(folder.path(), &authority.server(&["127.0.0.1"]), &[]);
    let elsewhere = TempDir::new().unwrap();
    let expired = serve(elsewhere.path(), &authority.expired(), &[]);
    let foreign = TempDir::new().unwrap();
    let misnamed = serve(foreign.path(), &authority.server(&["icache.example"]), &[]);
    let plain = Process::start(&[]);

    let url = |scheme: &str, server: &Process| format!("{scheme}://{}", server.grpc_addr);
    let admin = |scheme: &str, server: &Process| format!("{scheme}://{}", server.admin_addr);
    assert_eq!(client(&["state", "--server", &url("https", &server), "--ca", ca]), (Some(0), String::new()));
    let shown = client(&["policy", "show", "--admin-url", &admin("https", &server), "--ca", ca]);
    assert_eq!(shown, (Some(0), String::new()));
    for (server, scheme, ca, says) in [
        (&server, "https", other_ca, "is of an authority that is not trusted here"),
        (&expired, "https", ca, "has expired"),
        (&misnamed, "https", ca, "is not for the name `127.0.0.1`"),
        (&plain, "https", ca, "does not speak TLS"),
        (&server, "http", ca, "give an https:// URL"),
    ] {
        for args in [
            ["state", "--server", &url(scheme, server), "--ca", ca].to_vec(),
            ["policy", "show", "--admin-url", &admin(scheme, server), "--ca", ca].to_vec(),
        ] {
            let (status, said) = client(&args);
            assert_eq!(status, Some(3), "{args:?}: {said}");
            assert!(said.contains(says) && said.contains("help: "), "{args:?}: {said}");
        }
    }
    // Without `--ca` the system's authorities count, and none of them is ours.
    let (status, said) = client(&["state", "--server", &url("https", &server)]);
    assert_eq!(status, Some(3));
    assert!(said.contains("not trusted here"), "{said}");
    let (status, said) = client(&["state", "--server", &url("https", &server), "--ca", "/nowhere"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("cannot read `/nowhere`"), "{said}");

    assert_eq!(metric(server.http_addr, "inferencecache_server_grpc_tls_enabled").await, 1.0);
    assert_eq!(metric(plain.http_addr, "inferencecache_server_grpc_tls_enabled").await, 0.0);
    assert!(metric(server.http_addr, "inferencecache_tls_failures_total{cause=\"plaintext\"}").await >= 2.0);
    let line = server.log().into_iter().find(|line| line["message"] == "serving").unwrap();
    assert_eq!((line["tls"].as_str(), line["admin_auth"].as_bool()), (Some("on"), Some(false)));
}

/// TLS 1.1 is not spoken: an offer of it alone is refused with an alert.
#[tokio::test]
async fn tls_below_1_2_is_refused() {
    let folder = TempDir::new().unwrap();
    let server = serve(folder.path(), &Authority::new("ours").server(&["127.0.0.1"]), &[]);
    let mut hello = vec![22, 3, 1, 0, 45, 1, 0, 0, 41, 3, 2];
    hello.extend([7; 32]);
    hello.extend([0, 0, 2, 0, 47, 1, 0]);
    let mut stream = tokio::net::TcpStream::connect(server.grpc_addr).await.unwrap();
    stream.write_all(&hello).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    // An alert that is fatal: 40 is a failed handshake, 70 the version of the protocol.
    assert_eq!((answer[0], answer[5]), (21, 2), "{answer:?}");
    assert!([40, 70].contains(&answer[6]), "{answer:?}");
}

#[tokio::test]
async fn a_certificate_is_replaced_under_load_and_a_broken_one_is_not() {
    let folder = TempDir::new().unwrap();
    let authority = Authority::new("ours");
    let first = authority.server(&["127.0.0.1"]);
    let server = serve(folder.path(), &first, &[]);
    let addr = server.grpc_addr;
    let mut contract = InferenceCacheClient::new(channel(addr, &authority.pem, None).await);
    contract.report_cache_state(tokio_stream::iter([update("a", "r1", b"hash")])).await.unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let load = tokio::spawn({
        let is_over = Arc::clone(&is_over);
        async move {
            let mut calls = 0_u64;
            while !is_over.load(Ordering::Relaxed) {
                let answer =
                    contract.lookup_route(ask("a", b"hash")).await.expect("no call fails").into_inner();
                assert_eq!(answer.replica_scores[0].replica_id, "r1");
                calls += 1;
            }
            calls
        }
    });
    assert_eq!(shown(addr, &authority.pem).await, Some(bytes(&first)));

    let second = authority.server(&["127.0.0.1"]);
    put(folder.path(), "tls.key", &second.key);
    put(folder.path(), "tls.crt", &second.cert);
    until(|| shown(addr, &authority.pem), |shown| *shown == Some(bytes(&second))).await;
    let reload = "inferencecache_credentials_reload_success{kind=\"tls\"}";
    until(|| metric(server.http_addr, reload), |value| *value == 1.0).await;

    put(folder.path(), "tls.crt", "-----BEGIN CERTIFICATE-----\nbroken\n");
    until(|| metric(server.http_addr, reload), |value| *value == 0.0).await;
    assert_eq!(shown(addr, &authority.pem).await, Some(bytes(&second)), "the old one stays");
    let told = server.log().into_iter().find(|line| line["kind"] == "tls" && line["level"] == "ERROR");
    let told = told.expect("a broken certificate is told")["message"].as_str().unwrap().to_owned();
    assert!(told.contains("tls.crt`: ") && told.ends_with("what was in force before is kept"), "{told}");

    // As Kubernetes replaces a secret: the names are links, and what they lead through is swapped.
    let third = authority.server(&["127.0.0.1"]);
    std::fs::create_dir(folder.path().join("..3")).unwrap();
    put(&folder.path().join("..3"), "tls.crt", &third.cert);
    put(&folder.path().join("..3"), "tls.key", &third.key);
    for name in ["tls.crt", "tls.key"] {
        std::fs::remove_file(folder.path().join(name)).unwrap();
        std::os::unix::fs::symlink(Path::new("..3").join(name), folder.path().join(name)).unwrap();
    }
    until(|| shown(addr, &authority.pem), |shown| *shown == Some(bytes(&third))).await;
    until(|| metric(server.http_addr, reload), |value| *value == 1.0).await;
    is_over.store(true, Ordering::Relaxed);
    assert!(load.await.expect("the connection outlived every change") > 0);
}

#[tokio::test]
async fn clients_must_present_a_certificate_where_it_is_asked_for() {
    let folder = TempDir::new().unwrap();
    let (authority, clients, other) =
        (Authority::new("ours"), Authority::new("clients"), Authority::new("other"));
    let ca = put(folder.path(), "ca.pem", &authority.pem);
    let client_ca = put(folder.path(), "clients.pem", &clients.pem);
    let more = ["--tls-client-ca", client_ca.to_str().unwrap()];
    let server = serve(folder.path(), &authority.server(&["127.0.0.1"]), &more);
    let write = |name: &str, signed: &Signed| {
        let cert = put(folder.path(), &format!("{name}.crt"), &signed.cert);
        let key = put(folder.path(), &format!("{name}.key"), &signed.key);
        (cert.to_str().unwrap().to_owned(), key.to_str().unwrap().to_owned())
    };
    let (good, good_key) = write("good", &clients.client("spiffe://test/gateway"));
    let (bad, bad_key) = write("bad", &other.client("spiffe://test/gateway"));
    let (url, admin) = (format!("https://{}", server.grpc_addr), format!("https://{}", server.admin_addr));
    let ca = ca.to_str().unwrap();
    for base in [
        ["state", "--server", &url, "--ca", ca].to_vec(),
        ["drain", "r", "--admin-url", &admin, "--ca", ca].to_vec(),
    ] {
        let with = |more: &[&str]| client(&[&base, more].concat());
        assert_eq!(with(&["--cert", &good, "--key", &good_key]), (Some(0), String::new()), "{base:?}");
        let (status, said) = with(&[]);
        assert_eq!(status, Some(3), "{said}");
        assert!(said.contains("asks for a certificate, and none was presented"), "{base:?}: {said}");
        let (status, said) = with(&["--cert", &bad, "--key", &bad_key]);
        assert_eq!(status, Some(3), "{said}");
        assert!(said.contains("refused the connection: unknown CA"), "{base:?}: {said}");
    }
    // Health and metrics are in plaintext, and ask for nothing.
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(http(server.http_addr, "GET", path, None, "").await.0, 200);
    }
    let line = server.log().into_iter().find(|line| line["message"] == "serving").unwrap();
    assert_eq!(line["tls"], "mutual");
    assert!(secure(server.grpc_addr, &other.pem, None, b"h2").await.is_err());
}

/// Each call that is begun before the signal ends well; those after it are told that nobody is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_under_load_fails_no_call_in_flight() {
    let folder = TempDir::new().unwrap();
    let authority = Authority::new("ours");
    let server = serve(folder.path(), &authority.server(&["127.0.0.1"]), &[]);
    let mut contract = InferenceCacheClient::new(channel(server.grpc_addr, &authority.pem, None).await);
    contract.report_cache_state(tokio_stream::iter([update("a", "r1", b"hash")])).await.unwrap();
    drop(contract);
    let (stopping, stopped) = tokio::sync::watch::channel(false);
    let (answered, mut answers) = tokio::sync::mpsc::unbounded_channel();
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let mut contract = InferenceCacheClient::new(channel(server.grpc_addr, &authority.pem, None).await);
        let (stopped, answered) = (stopped.clone(), answered.clone());
        callers.spawn(async move {
            loop {
                let is_before = !*stopped.borrow();
                match contract.lookup_route(ask("a", b"hash")).await {
                    Ok(answer) => assert_eq!(answer.into_inner().reason_code, "PREFIX_MATCH"),
                    // What could not connect any more was never in flight.
                    Err(status) if is_before && !format!("{status:?}").contains("ConnectError") => {
                        panic!("a call failed: {status:?}")
                    }
                    Err(_) => return,
                }
                answered.send(()).unwrap();
            }
        });
    }
    for _ in 0..200 {
        answers.recv().await.unwrap();
    }
    server.signal("TERM");
    stopping.send(true).unwrap();
    while let Some(ended) = callers.join_next().await {
        ended.unwrap();
    }
    let (status, log) = tokio::task::spawn_blocking(move || server.wait()).await.unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(log.last().unwrap()["message"], "stopped", "{log:?}");
}
