//! A server under everything at once, for as long as it is asked to be: producers that restart, readers of both doors,
//! policies that flip, state that is saved, and a scrape every second. No call may fail and no answer be wrong; and once
//! warm, nothing may grow.
//!
//! Without more it runs for some seconds, which shows that it works. `ICACHE_SOAK_SECONDS=1200` is the soak of
//! docs/operations.md; it writes a row of its table every two minutes.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]
#![allow(clippy::print_stderr, reason = "the table is read while it runs")]

#[path = "../server_support/process.rs"]
#[allow(dead_code)]
mod process;
#[path = "../server_support/mod.rs"]
#[allow(dead_code)]
mod server_support;

mod load;
mod watch;

use std::time::Duration;

use load::Fleet;
use process::Process;
use watch::Watch;

/// What says how many seconds it takes.
const SECONDS: &str = "ICACHE_SOAK_SECONDS";
/// Seconds where nothing does.
const SHORT: u64 = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_fails_and_nothing_grows() {
    let seconds = std::env::var(SECONDS).map_or(SHORT, |text| text.parse().expect("a number of seconds"));
    let length = Duration::from_secs(seconds);
    let folder = tempfile::tempdir().unwrap();
    let policies = folder.path().join("policies");
    std::fs::create_dir(&policies).unwrap();
    load::flip(&policies, 0);
    let server = Process::start(&[
        &format!("--policy={}", policies.display()),
        &format!("--state-dir={}", folder.path().join("state").display()),
        "--state-interval=10s",
        "--sweep-interval=5s",
        "--default-ttl=60s",
        "--replica-timeout=5s",
        "--max-entries=100000",
        "--max-memory=64MiB",
        "--metrics-max-series=50",
    ]);
    let mut fleet = Fleet::start(&server, &policies).await;
    let watch = Watch::over(&server, &mut fleet, length).await;
    let told = fleet.stop().await;
    eprintln!("{told:?}");
    assert!(told.looked_up > 0 && told.hinted > 0 && told.reports > 0, "{told:?}");
    assert!(told.restarts > 0 && told.flips > 0, "{told:?}");
    watch.judge(length);
    server.signal("TERM");
    let (status, log) = tokio::task::spawn_blocking(move || server.wait()).await.unwrap();
    assert_eq!(status.code(), Some(0));
    let errors: Vec<_> = log.iter().filter(|line| line["level"] == "ERROR").collect();
    assert!(errors.is_empty(), "{errors:?}");
}
