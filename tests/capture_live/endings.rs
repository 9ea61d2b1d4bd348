//! How recordings end, and what is left when they end badly.

use tempfile::TempDir;

use crate::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_recorder_leaves_a_file_that_can_be_used() {
    for name in ["live.jsonl.zst", "live.jsonl.gz", "live.jsonl"] {
        let folder = TempDir::new().unwrap();
        let server = Process::start(&["--sweep-interval=50ms"]);
        let out = folder.path().join(name);
        let recorder = Recorder::start(server.grpc_addr, &out, &[]).await;
        let traffic = Traffic::new(server.grpc_addr, server.admin_addr, 4);
        traffic.run(60).await;
        // Flushed twice a second: what was recorded so far gets there with no further record.
        let checked = || async {
            let (_, replay) = replayed(&out);
            replay["check"]["compared"].as_u64().unwrap()
        };
        until(checked, |compared| *compared > 50).await;
        recorder.signal("KILL");
        assert_eq!(recorder.wait().0.code(), None);
        let (status, replay) = replayed(&out);
        assert_eq!((status, &replay["check"]["mismatched"]), (Some(0), &0.into()), "{replay:#}");
        let torn = u64::from(name != "live.jsonl");
        assert!(replay["tornCaptures"].as_u64().unwrap() >= torn, "{name}: {replay:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_of_the_server_begins_a_further_file() {
    let folder = TempDir::new().unwrap();
    let server = Process::start(&[]);
    let addr = server.grpc_addr;
    let out = folder.path().join("live.jsonl");
    let recorder = Recorder::start(addr, &out, &[]).await;
    Traffic::new(addr, server.admin_addr, 5).run(30).await;
    drop(server);
    let address = format!("--grpc-addr={addr}");
    let server = Process::start(&[&address]);
    let second = folder.path().join("live.00002.jsonl");
    until(async || second.exists(), |is_there| *is_there).await;
    Traffic::new(addr, server.admin_addr, 6).run(30).await;
    recorder.signal("TERM");
    let (status, out_text, err) = recorder.wait();
    assert_eq!(status.code(), Some(0), "{err}");
    let recorded: serde_json::Value = serde_json::from_str(&out_text).unwrap();
    assert_eq!((&recorded["files"], &recorded["interruptions"]), (&2.into(), &1.into()));
    assert!(err.contains("the connection to the server was lost"), "{err}");
    for file in [&out, &second] {
        let (status, replay) = replayed(file);
        assert_eq!((status, &replay["check"]["mismatched"]), (Some(0), &0.into()), "{replay:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_stops_after_its_time_and_writes_over_nothing() {
    let folder = TempDir::new().unwrap();
    let server = Process::start(&[]);
    let out = folder.path().join("live.jsonl");
    let recorder = Recorder::start(server.grpc_addr, &out, &["--duration=100ms"]).await;
    let (status, recorded, err) = recorder.wait();
    assert_eq!((status.code(), err.as_str()), (Some(0), ""));
    assert!(recorded.contains("\"files\": 1"), "{recorded}");
    let before = std::fs::read(&out).unwrap();
    let (status, _, err) = Recorder::start(server.grpc_addr, &out, &[]).await.wait();
    assert_eq!(status.code(), Some(2));
    assert!(err.contains("is there already, and is not written over"), "{err}");
    assert_eq!(std::fs::read(&out).unwrap(), before);
}

#[test]
fn a_server_that_is_not_there_leaves_no_file() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("live.jsonl");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_icache"))
        .args(["capture", "--server", "http://127.0.0.1:1", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot reach the server"));
    assert!(!out.exists());
}
