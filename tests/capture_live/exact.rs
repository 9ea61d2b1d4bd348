//! Under writers, readers, sweeps, evictions and changes of policy, a replay gives the very answers.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::*;

/// A server with so little room that something goes at nearly every report.
fn start(folder: &Path) -> Process {
    let policies = folder.join("policies.yaml");
    std::fs::write(&policies, traffic::POLICIES).unwrap();
    Process::start(&[
        "--max-entries=260",
        "--sweep-interval=70ms",
        "--replica-timeout=2s",
        "--policy",
        policies.to_str().unwrap(),
    ])
}

/// What a replay of the capture comes to, once it is known to have no mismatch.
fn checked(capture: &Path, least: u64) -> Value {
    let (status, replay) = replayed(capture);
    assert_eq!(replay["check"]["mismatched"], 0, "{:#}", replay["check"]);
    assert_eq!(status, Some(0));
    assert!(replay["check"]["compared"].as_u64().unwrap() >= least, "{replay:#}");
    assert_eq!(replay["warnings"], serde_json::json!([]));
    replay
}

/// Waits until so many lookups are in the capture: what is under way to a recorder that is stopped is in no file.
async fn settled(capture: &Path, least: u64) {
    let compared = async || replayed(capture).1["check"]["compared"].as_u64();
    until(compared, |compared| *compared >= Some(least)).await;
}

fn count(replay: &Value, pointer: &str) -> u64 {
    replay.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn from_an_empty_server_on() {
    let folder = TempDir::new().unwrap();
    let server = start(folder.path());
    let out = folder.path().join("live.jsonl.zst");
    let recorder = Recorder::start(server.grpc_addr, &out, &[]).await;
    let traffic = Traffic::new(server.grpc_addr, server.admin_addr, 1);
    traffic.run(1_500).await;
    settled(&out, 3_000).await;
    let (recorded, err) = recorder.stop();
    assert_eq!((&recorded["missed"], &recorded["interruptions"], err.as_str()), (&0.into(), &0.into(), ""));
    let replay = checked(&out, 3_000);
    for pointer in
        ["/index/evictedCap", "/index/evictedQuotaKeys", "/index/expired", "/index/sweeps", "/hints"]
    {
        assert!(count(&replay, pointer) > 0, "{pointer}: {replay:#}");
    }
    for kind in ["report", "event", "lookup", "policy", "sweep", "config", "state"] {
        assert!(count(&replay, &format!("/records/{kind}")) > 0, "{kind}: {replay:#}");
    }
    let again = replayed(&out).1;
    assert_eq!(replay.to_string(), again.to_string(), "two replays give the same bytes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn from_the_middle_on() {
    let folder = TempDir::new().unwrap();
    let server = start(folder.path());
    let traffic = Traffic::new(server.grpc_addr, server.admin_addr, 2);
    traffic.run(200).await;
    let busy = traffic.clone();
    let running = tokio::spawn(async move { busy.run(500).await });
    let mut captures = Vec::new();
    for at in 0..3 {
        let out = folder.path().join(format!("{at}.jsonl"));
        let before = traffic.lookups.load(std::sync::atomic::Ordering::Relaxed);
        captures.push((Recorder::start(server.grpc_addr, &out, &[]).await, out));
        let lookups = || async { traffic.lookups.load(std::sync::atomic::Ordering::Relaxed) };
        until(lookups, |now| *now > before + 100 || running.is_finished()).await;
    }
    running.await.unwrap();
    traffic.run(50).await;
    for (recorder, out) in captures {
        settled(&out, 100).await;
        recorder.stop();
        let replay = checked(&out, 100);
        assert!(count(&replay, "/records/state") > 1, "{replay:#}");
        assert!(count(&replay, "/index/evictedCap") > 0, "{replay:#}");
    }
}

/// While a large state is read, lookups are answered, and the credits that they owe are given afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn from_a_large_state_on() {
    let folder = TempDir::new().unwrap();
    let policies = folder.path().join("policies.yaml");
    std::fs::write(&policies, traffic::POLICIES).unwrap();
    // Room for what is there and no more: from here on the least used go, which credits decide.
    let entries = 40_000;
    let most = format!("--max-entries={}", entries + 500);
    let server = Process::start(&[&most, "--policy", policies.to_str().unwrap(), "--sweep-interval=300ms"]);
    let traffic = Traffic::new(server.grpc_addr, server.admin_addr, 7);
    traffic.fill("lfu", entries).await;
    let busy = traffic.clone();
    let running = tokio::spawn(async move { busy.run(700).await });
    let lookups = || async { traffic.lookups.load(std::sync::atomic::Ordering::Relaxed) };
    until(lookups, |lookups| *lookups > 50).await;
    let out = folder.path().join("live.jsonl.zst");
    let recorder = Recorder::start(server.grpc_addr, &out, &[]).await;
    running.await.unwrap();
    traffic.run(150).await;
    settled(&out, 500).await;
    recorder.stop();
    let replay = checked(&out, 500);
    assert!(count(&replay, "/index/evictedCap") > 0, "{replay:#}");
}

/// Observers that come at once, while another goes, get a state each that fits what follows.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_begin_while_another_leaves() {
    let folder = TempDir::new().unwrap();
    let server = start(folder.path());
    let traffic = Traffic::new(server.grpc_addr, server.admin_addr, 11);
    traffic.run(100).await;
    let lookups = || async { traffic.lookups.load(std::sync::atomic::Ordering::Relaxed) };
    let mut captures = Vec::new();
    for round in 0..3 {
        let path = |name: &str| folder.path().join(format!("{round}-{name}.jsonl"));
        let busy = traffic.clone();
        let running = tokio::spawn(async move { busy.run(300).await });
        let leaver = Recorder::start(server.grpc_addr, &path("leaves"), &[]).await;
        let before = lookups().await;
        until(lookups, |now| *now > before + 50 || running.is_finished()).await;
        leaver.signal("INT");
        let (one, other) = (path("one"), path("other"));
        let (first, second) = tokio::join!(
            Recorder::start(server.grpc_addr, &one, &[]),
            Recorder::start(server.grpc_addr, &other, &[]),
        );
        assert_eq!(leaver.wait().0.code(), Some(0));
        captures.push((path("leaves"), 0));
        running.await.unwrap();
        traffic.run(30).await;
        for (recorder, out) in [(first, one), (second, other)] {
            settled(&out, 60).await;
            recorder.stop();
            captures.push((out, 60));
        }
    }
    for (capture, least) in captures {
        checked(&capture, least);
    }
}

/// Files that are rotated hand over without a gap, and each begins with a state of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_file_of_a_rotation_is_a_capture_by_itself() {
    let folder = TempDir::new().unwrap();
    let server = start(folder.path());
    let out = folder.path().join("live.jsonl.gz");
    let recorder = Recorder::start(server.grpc_addr, &out, &["--max-size=6kB"]).await;
    let traffic = Traffic::new(server.grpc_addr, server.admin_addr, 3);
    traffic.run(500).await;
    let (recorded, err) = recorder.stop();
    assert_eq!((&recorded["interruptions"], err.as_str()), (&0.into(), ""));
    let files = recorded["files"].as_u64().unwrap();
    assert!(files > 2, "{recorded}");
    let mut lookups = 0;
    for number in 1..=files {
        let name =
            if number == 1 { "live.jsonl.gz".to_owned() } else { format!("live.{number:05}.jsonl.gz") };
        let (status, replay) = replayed(&folder.path().join(&name));
        assert_eq!(replay["check"]["mismatched"], 0, "{name}: {:#}", replay["check"]);
        assert!(status == Some(0) || number == files, "the last may have nothing to check");
        lookups += replay["lookups"].as_u64().unwrap();
    }
    // What was under way to the recorder when it was stopped is in no file.
    let asked = traffic.lookups.load(std::sync::atomic::Ordering::Relaxed);
    assert!(lookups <= asked && lookups > asked / 2, "{lookups} of {asked}");
}
