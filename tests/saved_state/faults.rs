//! The real binary: what a restart keeps, and what happens where nothing can be saved or loaded.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::process::Process;
use super::server_support::until;
use super::{connect, lookup, metric, report, update};

const ENTRIES: &str = "inferencecache_index_replica_entries";
const FAILURES: &str = "inferencecache_state_save_failures_total";
const SUCCESS: &str = "inferencecache_state_save_success";
const SAVES: &str = "inferencecache_state_save_duration_seconds_count";

fn state_dir(folder: &Path) -> String {
    format!("--state-dir={}", folder.display())
}

fn batch(count: usize) -> Vec<(String, i32)> {
    (0..count).map(|at| (format!("hash-{at}"), 512)).collect()
}

/// Ends it; gives the exit status and the log.
async fn stopped(server: Process) -> (Option<i32>, Vec<Value>) {
    server.signal("TERM");
    tokio::task::spawn_blocking(move || server.wait())
        .await
        .map(|(status, log)| (status.code(), log))
        .unwrap()
}

fn errors(log: &[Value]) -> Vec<String> {
    let errors = log.iter().filter(|line| line["level"] == "ERROR");
    errors.map(|line| line["message"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_stop_saves_and_the_next_start_goes_on_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let flags = [state_dir(folder.path()), "--state-interval=1h".to_owned()];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let server = Process::start(&flags);
    assert!(server.log().iter().any(|line| line["message"] == "no state was saved here"));
    let client = connect(&server).await;
    let stats = icache::contract::wire::inferencecache::v1alpha1::ReplicaStats {
        cache_memory_bytes: 7,
        hit_rate: 0.5,
        client_version: "c1".to_owned(),
        ..Default::default()
    };
    let mut told = update("r1", "a", &batch(3));
    told.stats = Some(stats);
    report(&client, told).await;
    report(&client, update("r2", "a", &batch(2))).await;
    let drained = Command::new(env!("CARGO_BIN_EXE_icache"))
        .args(["drain", "r2", "--admin-url", &format!("http://{}", server.admin_addr)])
        .output()
        .unwrap();
    assert!(drained.status.success(), "{drained:?}");
    let before = lookup(&client, "a", "hash-2").await;
    let state = |client: &super::InferenceCacheClient<super::Channel>| {
        let mut client = client.clone();
        async move {
            client.get_cache_state(super::wire::GetCacheStateRequest::default()).await.unwrap().into_inner()
        }
    };
    let told = state(&client).await;
    assert_eq!(metric(&server, SAVES).await, 0.0);
    assert_eq!(stopped(server).await.0, Some(0));

    // Settings of lookups need not be those of the server that saved.
    let server = Process::start(&[&flags[..], &["--block-size=64"]].concat());
    let log = server.log();
    let loaded = log.iter().find(|line| line["message"] == "state loaded").unwrap();
    assert_eq!((&loaded["entries"], &loaded["expired"], &loaded["lost"]), (&5.into(), &0.into(), &0.into()));
    assert_eq!(metric(&server, "inferencecache_state_loaded_entries").await, 5.0);
    let client = connect(&server).await;
    let after = lookup(&client, "a", "hash-2").await;
    let names = |answer: &super::wire::LookupRouteResponse| {
        let scores = answer.replica_scores.iter();
        scores.map(|score| (score.replica_id.clone(), score.matched_tokens)).collect::<Vec<_>>()
    };
    assert_eq!(after.reason_code, "PREFIX_MATCH", "{after:?}");
    assert_eq!(names(&after), names(&before));
    assert_eq!(names(&after), [("r1".to_owned(), 512)]);
    assert_eq!(state(&client).await, told);
    assert_eq!(metric(&server, "inferencecache_drained_replicas").await, 1.0, "r2 is drained still");
    assert_eq!(stopped(server).await.0, Some(0));
}

#[tokio::test]
async fn what_a_capture_brought_is_saved_though_nothing_changes() {
    let folder = tempfile::tempdir().unwrap();
    let capture = "--preload=testdata/fleet/fleet.capture.jsonl";
    let server = Process::start(&[&state_dir(folder.path()), "--state-interval=1h", capture]);
    assert_eq!(stopped(server).await.0, Some(0));
    let server = Process::start(&[&state_dir(folder.path()), "--state-interval=1h"]);
    let loaded = server.log().into_iter().find(|line| line["message"] == "state loaded").unwrap();
    assert_eq!(loaded["entries"], 6_000);
    assert_eq!(stopped(server).await.0, Some(0));
}

#[tokio::test]
async fn what_does_not_change_is_not_saved_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start(&[&state_dir(folder.path()), "--state-interval=1ms"]);
    let client = connect(&server).await;
    report(&client, update("r1", "a", &batch(1))).await;
    until(async || metric(&server, SAVES).await, |saves| *saves > 0.0).await;
    // It was reported whole before it could be saved.
    let saves = until(
        async || (metric(&server, SAVES).await, metric(&server, SAVES).await),
        |(first, second)| first == second,
    )
    .await;
    for _ in 0..50 {
        assert_eq!(metric(&server, SAVES).await, saves.0);
    }
    assert_eq!(stopped(server).await.0, Some(0));
}

/// A process may write files of so many KiB: the system refuses more, as a full disk does.
#[tokio::test]
async fn a_full_disk_is_told_and_what_was_saved_before_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let binary = env!("CARGO_BIN_EXE_icache");
    // Units are of 512 bytes in one shell, of 1024 in another.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", binary, "serve", "--log-format=json", "--state-interval=5ms"]);
    command.args(["--grpc-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0"]);
    command.arg(state_dir(folder.path()));
    let server = Process::run(&mut command);
    let client = connect(&server).await;
    report(&client, update("r1", "a", &batch(3))).await;
    until(async || metric(&server, SAVES).await, |saves| *saves > 0.0).await;
    assert_eq!(metric(&server, SUCCESS).await, 1.0);
    report(&client, update("r2", "b", &batch(5_000))).await;
    until(async || metric(&server, FAILURES).await, |failures| *failures >= 3.0).await;
    assert_eq!(metric(&server, SUCCESS).await, 0.0);
    assert_eq!(lookup(&client, "b", "hash-4999").await.reason_code, "PREFIX_MATCH");
    let (status, log) = stopped(server).await;
    assert_eq!(status, Some(0));
    let errors = errors(&log);
    assert_eq!(errors.len(), 2, "the same trouble is told once a minute, and at the end: {errors:?}");
    assert!(errors.iter().all(|error| error.starts_with("the state cannot be saved: ")), "{errors:?}");
    assert!(!folder.path().join("index.state.tmp").exists(), "what was begun is gone");

    let server = Process::start(&[&state_dir(folder.path()), "--state-interval=1h"]);
    assert_eq!(metric(&server, ENTRIES).await, 3.0, "{:?}", server.log());
    assert_eq!(stopped(server).await.0, Some(0));
}

/// A disk of its own that is full: a small file system in memory, where this user may make one.
#[tokio::test]
async fn a_disk_without_room_is_told_and_used_again_once_there_is_some() {
    let folder = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=64k tmpfs \"$0\" && exec \"$@\"";
    let own = |rest: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", mount]).arg(folder.path()).args(rest);
        command
    };
    if !own(&["true"]).output().is_ok_and(|output| output.status.success()) {
        eprintln!("not checked: a file system of one's own cannot be mounted here");
        return;
    }
    let mut command =
        own(&[env!("CARGO_BIN_EXE_icache"), "serve", "--log-format=json", "--state-interval=5ms"]);
    command.args(["--grpc-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0"]);
    command.arg(state_dir(folder.path()));
    let server = Process::run(&mut command);
    let client = connect(&server).await;
    report(&client, update("r1", "a", &batch(3))).await;
    until(async || metric(&server, "inferencecache_state_save_timestamp_seconds").await, |at| *at > 0.0)
        .await;
    assert_eq!(metric(&server, FAILURES).await, 0.0);
    report(&client, update("r2", "b", &batch(10_000))).await;
    until(async || metric(&server, FAILURES).await, |failures| *failures >= 2.0).await;
    assert_eq!(metric(&server, SUCCESS).await, 0.0);
    assert_eq!(lookup(&client, "b", "hash-9999").await.reason_code, "PREFIX_MATCH");
    let cleared = super::wire::CacheEvent {
        r#type: super::wire::cache_event::Type::AllCleared.into(),
        replica_id: "r2".to_owned(),
        model_id: "llama".to_owned(),
        tenant_id: "b".to_owned(),
        ..Default::default()
    };
    client.clone().publish_event(cleared).await.unwrap();
    until(async || metric(&server, SUCCESS).await, |success| *success == 1.0).await;
    let (status, log) = stopped(server).await;
    assert_eq!(status, Some(0));
    let errors = errors(&log);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains("No space left on device"), "{errors:?}");
    assert!(log.iter().any(|line| line["message"] == "the state is saved again"), "{log:?}");
}

/// The binary without the powers that let root write anywhere.
fn powerless() -> Command {
    let drop = ["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"];
    let works = Command::new("setpriv").args(drop).arg("true").output().is_ok_and(|out| out.status.success());
    if !works {
        return Command::new(env!("CARGO_BIN_EXE_icache"));
    }
    let mut command = Command::new("setpriv");
    command.args(drop).arg(env!("CARGO_BIN_EXE_icache"));
    command
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_to_is_told_and_read_all_the_same() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("state");
    let server = Process::start(&[&state_dir(&folder), "--state-interval=1h"]);
    report(&connect(&server).await, update("r1", "a", &batch(3))).await;
    assert_eq!(stopped(server).await.0, Some(0));
    fs::remove_file(folder.join("lock")).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();

    let mut command = powerless();
    command.args(["serve", "--log-format=json", "--state-interval=5ms", &state_dir(&folder)]);
    command.args(["--grpc-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0"]);
    let server = Process::run(&mut command);
    assert_eq!(metric(&server, ENTRIES).await, 3.0);
    report(&connect(&server).await, update("r1", "a", &batch(9))).await;
    until(async || metric(&server, FAILURES).await, |failures| *failures >= 2.0).await;
    let (status, log) = stopped(server).await;
    assert_eq!(status, Some(0));
    assert!(errors(&log)[0].contains("ermission denied"), "{log:?}");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_folder_is_one_server_s_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let flags = [state_dir(folder.path()), "--state-interval=5ms".to_owned()];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let first = Process::start(&flags);
    report(&connect(&first).await, update("r1", "a", &batch(2))).await;
    until(async || metric(&first, SAVES).await, |saves| *saves > 0.0).await;
    let second = Process::start(&flags);
    let told = |server: &Process| errors(&server.log());
    assert!(told(&second)[0].contains("another server is saving its state in this folder"));
    assert_eq!(metric(&second, SUCCESS).await, 0.0, "before anything is to be saved");
    report(&connect(&second).await, update("r2", "a", &batch(9))).await;
    until(async || metric(&second, FAILURES).await, |failures| *failures >= 2.0).await;
    assert_eq!(metric(&second, SUCCESS).await, 0.0);
    assert_eq!(stopped(first).await.0, Some(0));
    // What it left is the second's from then on.
    until(async || metric(&second, SUCCESS).await, |succeeded| *succeeded == 1.0).await;
    assert_eq!(stopped(second).await.0, Some(0));
}

#[test]
fn a_path_that_is_no_folder_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    fs::write(&file, "x").unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_icache")).args(["serve", &state_dir(&file)]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    let what = format!("error: cannot keep the state in `{}`: it is there, and no folder\n", file.display());
    assert!(said.starts_with(&what), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "x");
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_set_aside_and_the_server_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("index.state"), "a letter to somebody else").unwrap();
    let server = Process::start(&[&state_dir(folder.path()), "--state-interval=1h"]);
    let log = server.log();
    let errors = errors(&log);
    assert_eq!(
        errors,
        ["the saved state is not used: it is no saved state of icache; it was set aside"],
        "{log:?}"
    );
    report(&connect(&server).await, update("r1", "a", &batch(2))).await;
    assert_eq!(stopped(server).await.0, Some(0));
    let kept = fs::read_to_string(folder.path().join("index.state.bad-1")).unwrap();
    assert_eq!(kept, "a letter to somebody else");
    let server = Process::start(&[&state_dir(folder.path()), "--state-interval=1h"]);
    assert_eq!(metric(&server, ENTRIES).await, 2.0);
    assert_eq!(stopped(server).await.0, Some(0));
}

#[tokio::test]
async fn what_does_not_fit_any_more_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start(&[&state_dir(folder.path()), "--state-interval=1h"]);
    report(&connect(&server).await, update("r1", "a", &batch(9))).await;
    report(&connect(&server).await, update("r2", "a", &batch(9))).await;
    assert_eq!(stopped(server).await.0, Some(0));
    for (flag, lost) in [("--max-entries=4", 14), ("--max-replica-records=1", 9)] {
        let server = Process::start(&[&state_dir(folder.path()), "--state-interval=1h", flag]);
        let log = server.log();
        let told = log.iter().find(|line| line["level"] == "WARN").unwrap();
        assert_eq!(told["message"], "saved entries do not fit the limits, caps or quotas of now", "{flag}");
        assert_eq!(told["lost"], lost, "{flag}");
        assert_eq!(metric(&server, ENTRIES).await, 18.0 - f64::from(lost), "{flag}");
        drop(server);
    }
}

/// To open a pipe is to wait for whoever opens its other end.
#[tokio::test]
async fn a_pipe_in_the_place_of_a_file_is_waited_for_by_nobody() {
    for (name, told) in [
        ("index.state", "the saved state is not used: it cannot be read: "),
        ("index.state.tmp", "the state cannot be saved: "),
        ("lock", "the state cannot be saved: "),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let made = Command::new("mkfifo").arg(folder.path().join(name)).status();
        assert!(made.is_ok_and(|status| status.success()), "`mkfifo` works");
        let server = Process::start(&[&state_dir(folder.path()), "--state-interval=1h"]);
        report(&connect(&server).await, update("r1", "a", &batch(2))).await;
        let (status, log) = stopped(server).await;
        assert_eq!(status, Some(0));
        let errors = errors(&log);
        assert!(
            errors.iter().any(|error| error.starts_with(told) && error.contains("is no file")),
            "{log:?}"
        );
    }
}
