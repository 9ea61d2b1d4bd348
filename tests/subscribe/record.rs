//! An engine's recordings, as what a sidecar would tell and as the engine's own bytes.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use icache::hash::fingerprint_chain;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engine::{Engine, SIZE, removed, stored, tokens};
use crate::sidecar::until;

/// A running `icache capture --zmq`; killed when dropped.
struct Recording {
    child: Child,
    out: PathBuf,
}

fn icache() -> Command {
    Command::new(env!("CARGO_BIN_EXE_icache"))
}

impl Recording {
    async fn start(engine: &Engine, out: &Path, more: &[&str]) -> Self {
        let child = icache()
            .args(["capture", "-o", "json", "--replica=r", "--tenant=t", "--model=m"])
            .arg(format!("--zmq=tcp://127.0.0.1:{}", engine.port))
            .arg(format!("--replay=tcp://127.0.0.1:{}", engine.replay_port))
            .arg("--out")
            .arg(out)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        until("the file is there", async || out.exists()).await;
        Self { child, out: out.to_path_buf() }
    }

    fn signal(&self, name: &str) {
        let command = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
    }

    /// Exit status, result and standard error.
    fn end(mut self, signal: &str) -> (Option<i32>, Value, String) {
        self.signal(signal);
        let (mut out, mut err) = (String::new(), String::new());
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        let status = self.child.wait().unwrap();
        (status.code(), serde_json::from_str(&out).unwrap_or_default(), err)
    }

    /// Waits until the last file has the batch before `next`, where bytes are kept.
    async fn until_seq(&self, next: u64) {
        let wanted = format!("\"seq\":{},", next - 1);
        let folder = self.out.parent().unwrap();
        let stem = self.out.file_stem().unwrap().to_str().unwrap();
        let has = |path: &Path| std::fs::read_to_string(path).unwrap_or_default().contains(&wanted);
        until(&wanted, async || {
            let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let mut own = paths.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(stem));
            own.any(|path| has(&path))
        })
        .await;
    }

    /// Waits until a lookup in the capture says so of each prompt.
    async fn until_held(&self, expected: &[(u32, usize)]) {
        until(&format!("{}: {expected:?}", self.out.display()), async || holds(&self.out, expected)).await;
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // It has ended already where the test stopped it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Blocks of a prompt that a lookup in the capture finds, by replica; none also while the file has no header yet.
fn holders(capture: &Path, prompt: u32) -> BTreeMap<String, usize> {
    let chain = fingerprint_chain(&tokens(prompt, 0..8), SIZE as u32, None);
    let hashes: Vec<String> = chain.iter().map(|hash| hex::encode(hash.as_bytes())).collect();
    let output = icache()
        .args(["lookup", "-o", "json", "--tenant=t", "--model=m", "--hash-scheme=vllm"])
        .arg(format!("--block-tokens={SIZE}"))
        .arg(format!("--blocks={}", hashes.join(",")))
        .arg("--capture")
        .arg(capture)
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let scores = answer["replicaScores"].as_array().cloned().unwrap_or_default();
    let held = |score: &Value| {
        let tokens = score["matchedTokens"].as_u64().unwrap() as usize;
        (score["replicaId"].as_str().unwrap().to_owned(), tokens / SIZE)
    };
    scores.iter().map(held).collect()
}

/// The same of the one replica `r`.
fn blocks(capture: &Path, prompt: u32) -> usize {
    let holders = holders(capture, prompt);
    assert!(holders.keys().all(|replica| replica == "r"), "{holders:?}");
    holders.get("r").copied().unwrap_or(0)
}

/// The files of a recording so far, in order.
fn files(out: &Path) -> Vec<PathBuf> {
    let name = out.file_name().unwrap().to_str().unwrap();
    let further = (2..).map(|number| out.with_file_name(name.replacen('.', &format!(".{number:05}."), 1)));
    std::iter::once(out.to_path_buf()).chain(further).take_while(|path| path.exists()).collect()
}

fn holds(capture: &Path, expected: &[(u32, usize)]) -> bool {
    expected.iter().all(|(prompt, held)| blocks(capture, *prompt) == *held)
}

fn replayed(captures: &[&Path]) -> Value {
    let Output { status, stdout, stderr } =
        icache().args(["replay", "-o", "json"]).args(captures).output().unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    serde_json::from_slice(&stdout).unwrap()
}

fn entries(captures: &[&Path]) -> u64 {
    replayed(captures)["index"]["entriesAtEnd"].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn both_forms_replay_to_what_the_engine_held() {
    let folder = TempDir::new().unwrap();
    let mut engine = Engine::start("topic");
    // Before anybody listens.
    engine.publish(&[stored(1, 0..4)]);
    let mapped = Recording::start(&engine, &folder.path().join("mapped.jsonl"), &[]).await;
    let raw = Recording::start(&engine, &folder.path().join("raw.jsonl.zst"), &["--raw"]).await;
    let both = async |expected: &[(u32, usize)]| {
        mapped.until_held(expected).await;
        raw.until_held(expected).await;
    };
    both(&[(1, 4)]).await;
    engine.publish(&[stored(2, 0..6), removed(1, 3..4)]);
    both(&[(1, 3), (2, 6)]).await;
    // Neither sent nor kept: lost. What cannot be read: counted.
    engine.publish_with(&[stored(3, 0..3)], json!({"send": false, "buffer": false}));
    engine.publish(&[stored(4, 0..2)]);
    let seq = engine.next_seq().to_be_bytes();
    engine.raw(&[b"kv-events", &seq, b"\x92\xc0"], true);
    engine.publish(&[stored(4, 2..3)]);
    both(&[(1, 3), (2, 6), (3, 0), (4, 3)]).await;

    // A restart is there before the new process says anything, and what it says comes after it.
    let mut engine = engine.kill()();
    both(&[(1, 0), (2, 0), (4, 0)]).await;
    engine.publish(&[stored(5, 0..5)]);
    engine.publish(&[stored(1, 0..2), removed(5, 4..5)]);
    both(&[(1, 2), (2, 0), (4, 0), (5, 4)]).await;

    let (mapped_out, raw_out) = (mapped.out.clone(), raw.out.clone());
    let (status, result, err) = mapped.end("INT");
    assert_eq!((status, &result["files"], &result["restarts"]), (Some(0), &json!(1), &json!(1)), "{err}");
    assert_eq!(result["dropped"], json!({"lost": 1, "bad-batch": 1}), "{result:#}");
    assert!(!err.contains("token ids") && err.contains("are lost"), "{err}");
    let (status, result, err) = raw.end("TERM");
    assert_eq!((status, &result["batches"]), (Some(0), &json!(6)), "{err}");
    assert!(err.contains("token ids"), "{err}");

    let (of_mapped, of_raw) = (replayed(&[&mapped_out]), replayed(&[&raw_out]));
    assert_eq!(of_mapped["index"]["entriesAtEnd"], json!(6));
    assert_eq!(of_raw["index"]["entriesAtEnd"], json!(6));
    assert!(of_mapped["records"].get("kv-batch").is_none(), "{of_mapped:#}");
    assert_eq!(of_mapped["events"]["all_cleared"], json!(1));
    assert_eq!(of_raw["records"]["kv-batch"], json!(7));
    let dropped = of_raw["dropped"].as_array().unwrap();
    let count =
        |cause: &str| dropped.iter().find(|one| one["cause"] == cause).map(|one| one["count"].clone());
    assert_eq!((count("lost"), count("bad-batch")), (Some(json!(1)), Some(json!(1))), "{of_raw:#}");
    // Prompts are in neither form but the raw one.
    let text = std::fs::read_to_string(&mapped_out).unwrap();
    assert!(!text.contains("tokenIds") && !text.contains("payload"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_recording_can_be_used() {
    let folder = TempDir::new().unwrap();
    let mut engine = Engine::start("plain");
    for (at, (name, more)) in
        [("a.jsonl", &[][..]), ("b.jsonl.gz", &["--raw"]), ("c.jsonl.zst", &[])].into_iter().enumerate()
    {
        let prompt = at as u32 + 1;
        let recording = Recording::start(&engine, &folder.path().join(name), more).await;
        engine.publish(&[stored(prompt, 0..3)]);
        recording.until_held(&[(1, 3), (prompt, 3)]).await;
        let out = recording.out.clone();
        assert_eq!(recording.end("KILL").0, None);
        assert!(holds(&out, &[(1, 3), (prompt, 3)]), "{name}");
        assert_eq!(entries(&[&out]), 3 * (at as u64 + 1), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_file_is_followed_by_one_that_begins_with_what_is_held() {
    let folder = TempDir::new().unwrap();
    let mut engine = Engine::start("plain");
    let more = ["--max-size=4KiB"];
    let mapped = Recording::start(&engine, &folder.path().join("mapped.jsonl"), &more).await;
    let raw =
        Recording::start(&engine, &folder.path().join("raw.jsonl"), &[&more[..], &["--raw"]].concat()).await;
    let (mapped_out, raw_out) = (mapped.out.clone(), raw.out.clone());
    let mut prompts = 0;
    while files(&mapped_out).len() < 2 || files(&raw_out).len() < 2 {
        prompts += 1;
        assert!(prompts < 1_000, "no file becomes full");
        engine.publish(&[stored(prompts, 0..3)]);
        engine.publish(&[removed(prompts, 2..3)]);
        raw.until_seq(engine.next_seq()).await;
    }
    // What the later file says refers to what the first one said.
    engine.publish(&[stored(1, 2..5), removed(2, 0..2)]);
    engine.publish(&[stored(prompts + 1, 0..1)]);
    raw.until_seq(engine.next_seq()).await;
    let (status, result, err) = mapped.end("INT");
    assert_eq!(status, Some(0), "{err}");
    let held = 2 * u64::from(prompts) + 3 - 2 + 1;
    let all = files(&mapped_out);
    assert_eq!(result["files"], json!(all.len()), "{result:#}");
    let last = all.last().unwrap();
    assert_eq!((blocks(last, 1), blocks(last, 2), entries(&[last])), (5, 0, held));
    assert_eq!(entries(&all.iter().map(PathBuf::as_path).collect::<Vec<_>>()), held);
    // Bytes go on where they ended: together they say all of it.
    let (status, result, err) = raw.end("INT");
    assert_eq!(status, Some(0), "{err}");
    let all = files(&raw_out);
    assert_eq!(result["files"], json!(all.len()), "{result:#}");
    assert_eq!(entries(&all.iter().map(PathBuf::as_path).collect::<Vec<_>>()), held);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_rank_is_recorded_and_told_of_again_in_a_further_file() {
    const RANKS: u16 = 3;
    let folder = TempDir::new().unwrap();
    let mut ranks = Engine::start_ranks("plain", RANKS);
    let more = [&format!("--dp-ranks={RANKS}")[..], "--max-size=8KiB"];
    let mapped = Recording::start(&ranks[0], &folder.path().join("mapped.jsonl"), &more).await;
    let raw_flags = [&more[..], &["--raw"]].concat();
    let raw = Recording::start(&ranks[0], &folder.path().join("raw.jsonl"), &raw_flags).await;
    let (mapped_out, raw_out) = (mapped.out.clone(), raw.out.clone());
    // Each rank has prompts of its own, the longer the higher it is.
    let prompt = |rank: usize, turn: u32| 1_000 * (rank as u32 + 1) + turn;
    let held = |rank: usize| BTreeMap::from([(format!("r-dp{rank}"), rank + 2)]);
    let mut turns = 0;
    while files(&mapped_out).len() < 3 || files(&raw_out).len() < 2 {
        turns += 1;
        assert!(turns < 300, "no file becomes full");
        for (rank, engine) in ranks.iter_mut().enumerate() {
            engine.publish(&[stored(prompt(rank, turns), 0..rank + 2)]);
            let (replica, seq) = (format!("\"r-dp{rank}\""), format!("\"seq\":{},", engine.next_seq() - 1));
            let is_last = |line: &str| line.contains(&replica) && line.contains(&seq);
            until("the batch is kept", async || {
                let texts = files(&raw_out).into_iter().map(|file| std::fs::read_to_string(file).unwrap());
                texts.into_iter().any(|text| text.lines().any(is_last))
            })
            .await;
        }
    }
    // What one rank drops, the others keep.
    ranks[1].publish(&[removed(prompt(1, 1), 0..3)]);
    for (rank, engine) in ranks.iter_mut().enumerate() {
        engine.publish(&[stored(prompt(rank, turns + 1), 0..rank + 2)]);
    }
    for rank in 0..usize::from(RANKS) {
        let newest = || files(&mapped_out).pop().unwrap();
        until("the last prompt is told of", async || {
            holders(&newest(), prompt(rank, turns + 1)) == held(rank)
        })
        .await;
    }
    until("the last batch of each is kept", async || {
        let all = files(&raw_out);
        entries(&all.iter().map(PathBuf::as_path).collect::<Vec<_>>()) == u64::from(turns + 1) * 9 - 3
    })
    .await;
    for recording in [mapped, raw] {
        let (status, result, err) = recording.end("INT");
        assert_eq!((status, &result["dropped"]), (Some(0), &json!({})), "{err}");
    }
    // The last file alone says what every rank held before it began.
    let all = files(&mapped_out);
    let last = all.last().unwrap();
    for rank in [0, 2] {
        assert_eq!(holders(last, prompt(rank, 1)), held(rank), "rank {rank}");
    }
    assert!(!holders(last, prompt(1, 1)).contains_key("r-dp1"));
    let expected = u64::from(turns + 1) * 9 - 3;
    assert_eq!(entries(&[last]), expected);
    assert_eq!(entries(&all.iter().map(PathBuf::as_path).collect::<Vec<_>>()), expected);
}

#[test]
fn an_engine_that_is_not_there_is_awaited() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("engine.jsonl");
    let output = icache()
        .args(["capture", "--zmq=tcp://127.0.0.1:1", "--replica=r", "--tenant=t", "--model=m"])
        .args(["--duration=100ms", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.starts_with("0 records recorded in 1 file"), "{said}");
    assert_eq!(replayed(&[&out])["records"], json!({}));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("engine.jsonl");
    let named = ["--replica=r", "--tenant=t", "--model=m"];
    for (flags, said) in [
        (vec!["--zmq=tcp://h:1", "--server=http://h:1"], "cannot be used with"),
        (vec!["--zmq=tcp://h:1", "--lookups=0.5"], "cannot be used with"),
        (vec!["--raw"], "--zmq"),
        (vec!["--replica=r"], "`--replica` is of an engine"),
        (vec!["--dp-ranks=2"], "`--dp-ranks` is of an engine"),
        (vec!["--zmq=tcp://h:1", "--replica=r", "--tenant=t"], "there is no `--model`"),
        ([vec!["--zmq=h:1"], named.to_vec()].concat(), "is no address of an engine"),
        ([vec!["--zmq=tcp://*:1"], named.to_vec()].concat(), "an address that an engine binds"),
    ] {
        let output = icache().args(["capture", "--out"]).arg(&out).args(&flags).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {err}");
        assert!(err.contains(said) && err.lines().count() == 2, "{flags:?}: {err}");
        assert!(!out.exists());
    }
}
