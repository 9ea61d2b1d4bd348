//! A server that is killed at random moments while it saves, over and over.

use std::collections::BTreeMap;
use std::time::Duration;

use icache::model::Timestamp;
use tokio::time::timeout;

use super::process::Process;
use super::{Entries, connect, entries, loaded, lookup, metric, report, server_support, state, update};

const CYCLES: usize = 50;
const SAVES: &str = "inferencecache_state_save_duration_seconds_count";

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// What producers reported, and how much of it a saving that has ended must have seen.
#[derive(Default)]
struct Reported {
    all: Entries,
    safe: Entries,
    batches: usize,
}

impl Reported {
    async fn batch(&mut self, client: &super::InferenceCacheClient<super::Channel>) {
        let number = self.batches;
        self.batches += 1;
        let (tenant, replica) = (format!("t{}", number % 3), format!("r{}", number % 5));
        // Above the floor of matched tokens, or a lookup would not tell them.
        let batch: Vec<(String, i32)> =
            (0..8).map(|at| (format!("h{number}-{at}"), 16 * (5 + (number % 9) as i32) + at)).collect();
        report(client, update(&replica, &tenant, &batch)).await;
        for (hash, tokens) in batch {
            self.all.insert((tenant.clone(), replica.clone(), hash), tokens);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_fifty_times_it_starts_each_time_and_tells_nothing_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let state_dir = format!("--state-dir={}", folder.path().display());
    let mut dice = Dice(0x1234_5678_9abc_def1);
    let mut reported = Reported::default();
    let mut lost = BTreeMap::new();
    for cycle in 0..CYCLES {
        let before = match cycle {
            0 => Entries::new(),
            _ => saved(folder.path(), &reported),
        };
        let server = Process::start(&[&state_dir, "--state-interval=2ms"]);
        let log = server.log();
        assert!(log.iter().all(|line| line["level"] != "ERROR"), "cycle {cycle}: {log:?}");
        assert_eq!(server_support::http_get(server.http_addr, "/readyz").await.0, 200);
        let held = metric(&server, "inferencecache_index_replica_entries").await;
        assert_eq!(held, before.len() as f64, "cycle {cycle}: what is in the file is loaded");
        *lost.entry(reported.all.len() - before.len()).or_insert(0) += 1;
        // What was lost is forgotten here, too; it was never said again.
        reported.all.clone_from(&before);
        let client = connect(&server).await;
        for ((tenant, replica, hash), tokens) in before.iter().rev().take(3) {
            let answer = lookup(&client, tenant, hash).await;
            let told: Vec<_> =
                answer.replica_scores.iter().map(|score| (&score.replica_id, score.matched_tokens)).collect();
            assert_eq!(told, [(replica, *tokens)], "cycle {cycle}: {hash}");
        }
        reported.batch(&client).await;
        let safe = reported.all.clone();
        // A saving that has begun after the report has ended once two more have; changes keep them coming.
        let count = metric(&server, SAVES).await;
        let saving = async {
            while metric(&server, SAVES).await < count + 2.0 {
                reported.batch(&client).await;
            }
        };
        timeout(Duration::from_secs(30), saving).await.expect("changes are saved");
        reported.safe = safe;
        for _ in 0..dice.below(6) {
            reported.batch(&client).await;
        }
        server.signal("KILL");
        let (status, _) = server.wait();
        assert!(!status.success());
    }
    saved(folder.path(), &reported);
    assert!(lost.keys().any(|entries| *entries > 0), "some were killed before they had saved all: {lost:?}");
}

/// What the file holds; all of it was reported, and nothing is missing that a saving has seen.
fn saved(folder: &std::path::Path, reported: &Reported) -> Entries {
    let (router, loaded) = loaded(folder, server_support::settings(), Timestamp::now());
    let held = entries(&router.index().export());
    assert_eq!(state(loaded).entries, held.len() as u64);
    for (name, tokens) in &held {
        assert_eq!(reported.all.get(name), Some(tokens), "{name:?}");
    }
    for (name, tokens) in &reported.safe {
        assert_eq!(held.get(name), Some(tokens), "{name:?} was there when it was saved");
    }
    held
}
