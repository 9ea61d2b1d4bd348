//! Captures as files: compressed or not, whole or torn, in one piece or in several.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use std::io::Write as _;
use std::path::{Path, PathBuf};

use icache::capture::{
    Body, Compression, MAX_LINE_BYTES, ReadOptions, Reader, Recorded, Recorder, RecorderOptions, State,
};
use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::model::Timestamp;
use icache::replay::{Replay, ReplayOptions};
use tempfile::TempDir;

const FORMS: [(Compression, &str); 3] =
    [(Compression::None, "c.jsonl"), (Compression::Gzip, "c.jsonl.gz"), (Compression::Zstd, "c.jsonl.zst")];

fn compressed(how: Compression, bytes: &[u8]) -> Vec<u8> {
    match how {
        Compression::None => bytes.to_vec(),
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Zstd => zstd::encode_all(bytes, 3).unwrap(),
    }
}

fn fleet() -> (PathBuf, Vec<u8>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fleet/fleet.capture.jsonl");
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes)
}

struct Seen {
    bodies: Vec<Body>,
    torn: Option<String>,
    bytes: u64,
}

fn read(bytes: &[u8]) -> Result<Seen, String> {
    let mut reader = Reader::new("c", bytes, ReadOptions::default()).map_err(|error| error.to_string())?;
    let mut bodies = Vec::new();
    while let Some(record) = reader.next_record().map_err(|error| error.to_string())? {
        bodies.push(record.body);
    }
    Ok(Seen { bodies, torn: reader.notes().torn.clone(), bytes: reader.bytes_read() })
}

#[test]
fn compression_is_told_by_content_and_progress_by_bytes_of_the_file() {
    let folder = TempDir::new().unwrap();
    let (plain, bytes) = fleet();
    let options = ReplayOptions { check: true, ..ReplayOptions::default() };
    let expected = Replay::run_file(&plain, options.clone(), &mut |_| {}).unwrap();
    for (how, _) in FORMS {
        let path = folder.path().join("any-name");
        let packed = compressed(how, &bytes);
        std::fs::write(&path, &packed).unwrap();
        let mut last = 0;
        let mut progress = |at: u64| {
            assert!(at >= last);
            last = at;
        };
        let report = Replay::run_file(&path, options.clone(), &mut progress).unwrap();
        assert_eq!((report.checked, report.mismatched), (expected.checked, 0), "{how:?}");
        // The trailer of a member is read after the last record.
        let length = packed.len() as u64;
        assert!((length - 32..=length).contains(&last), "{how:?}: {last} of {length}");
    }
}

#[test]
fn several_frames_and_members_are_one_capture() {
    let (_, bytes) = fleet();
    let whole = read(&bytes).unwrap().bodies;
    let middle = bytes.len() / 2;
    for (how, _) in &FORMS[1..] {
        let mut parts = compressed(*how, &bytes[..middle]);
        parts.extend(compressed(*how, b""));
        parts.extend(compressed(*how, &bytes[middle..]));
        let seen = read(&parts).unwrap();
        assert_eq!((seen.bodies.len(), seen.torn), (whole.len(), None), "{how:?}");
        assert_eq!(seen.bytes, parts.len() as u64);
    }
}

#[test]
fn what_comes_before_a_torn_end_is_used() {
    let (_, bytes) = fleet();
    let lines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    let bytes = &bytes[..=lines.take_while(|at| *at < 60_000).last().unwrap()];
    let whole = read(bytes).unwrap().bodies;
    for (how, _) in &FORMS[1..] {
        // A frame of its own now and then, as a recorder leaves it that flushes.
        let packed: Vec<u8> = bytes.chunks(5_000).flat_map(|chunk| compressed(*how, chunk)).collect();
        let mut fewest = whole.len();
        for cut in (packed.len() / 2..packed.len()).step_by(397) {
            let seen = read(&packed[..cut]).unwrap();
            assert_eq!(seen.bodies[..], whole[..seen.bodies.len()], "{how:?} at {cut}");
            assert!(seen.bodies.len() == whole.len() || seen.torn.is_some(), "{how:?} at {cut}");
            fewest = fewest.min(seen.bodies.len());
        }
        assert!(fewest > whole.len() / 4, "{how:?}: {fewest} of {}", whole.len());
    }
}

#[test]
fn what_is_broken_in_the_middle_is_an_error() {
    let (_, bytes) = fleet();
    for (how, _) in &FORMS[1..] {
        let mut packed = compressed(*how, &bytes);
        let middle = packed.len() / 2;
        packed[middle..middle + 64].fill(0x55);
        let error = read(&packed).err().unwrap();
        assert!(error.starts_with("`c` cannot be read: ") || error.starts_with("c:"), "{how:?}: {error}");
    }
}

/// Few bytes that come to many: the bound on a line holds, and the next line is whole.
#[test]
fn a_bomb_is_bounded_by_the_line() {
    let head = b"{\"icache\":\"capture\",\"version\":1}\n";
    for (how, _) in &FORMS[1..] {
        let mut packed = compressed(*how, head);
        packed.extend(compressed(*how, &vec![b'x'; MAX_LINE_BYTES + 1]));
        packed.extend(compressed(*how, b"\n{\"t\":1,\"kind\":\"sweep\"}\n"));
        assert!(packed.len() < 200_000);
        let error = read(&packed).err().unwrap();
        assert_eq!(error, format!("c:2: the line is longer than {MAX_LINE_BYTES} bytes"));
        let mut reader = Reader::new("c", &packed[..], ReadOptions { skip_bad: true }).unwrap();
        assert_eq!(reader.next_record().unwrap().unwrap().body, Body::Sweep);
    }
}

fn recorder(folder: &TempDir, name: &str, compression: Compression, max_bytes: Option<u64>) -> Recorder {
    let path = folder.path().join(name);
    Recorder::create(RecorderOptions { path, compression, max_bytes, source: "a test".to_owned() })
        .unwrap_or_else(|(path, error)| panic!("{}: {error}", path.display()))
}

#[test]
fn what_is_flushed_can_be_read_while_the_recorder_goes_on() {
    for (how, name) in FORMS {
        assert_eq!(Compression::of_name(Path::new(name)), how);
        let folder = TempDir::new().unwrap();
        let mut recorder = recorder(&folder, name, how, None);
        for at in 0..50 {
            recorder.append(Timestamp::from_us(at), &Body::Sweep).unwrap();
        }
        recorder.flush().unwrap();
        let path = folder.path().join(name);
        assert_eq!(read(&std::fs::read(&path).unwrap()).unwrap().bodies.len(), 50, "{how:?}");
        // A step back of the clock is no reason for a file that nobody can read.
        recorder.append(Timestamp::from_us(3), &Body::Sweep).unwrap();
        let recorded = recorder.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(recorded, Recorded { files: 1, records: 51, bytes: bytes.len() as u64 });
        let seen = read(&bytes).unwrap();
        assert_eq!((seen.bodies.len(), seen.torn), (51, None), "{how:?}");
    }
}

#[test]
fn files_are_full_at_their_size_and_never_written_over() {
    let folder = TempDir::new().unwrap();
    let mut recorder = recorder(&folder, "c.jsonl", Compression::None, Some(1_000));
    let until_full = |recorder: &mut Recorder| {
        let mut records = 0;
        while !recorder.is_full() {
            recorder.append(Timestamp::from_us(records), &Body::Sweep).unwrap();
            recorder.flush().unwrap();
            records += 1;
        }
        std::fs::metadata(recorder.path()).unwrap().len()
    };
    let least_over = (1_000..1_040).contains(&until_full(&mut recorder));
    assert!(least_over);
    // Twice the state at least.
    recorder.rotate().unwrap_or_else(|(_, error)| panic!("{error}"));
    let state = State { updates: vec![update(2, 40)], ..State::default() };
    recorder.append(Timestamp::from_us(0), &Body::State(state)).unwrap();
    recorder.flush().unwrap();
    let begun = std::fs::metadata(recorder.path()).unwrap().len();
    assert!(begun > 1_000);
    assert!((2 * begun..2 * begun + 40).contains(&until_full(&mut recorder)));
    assert_eq!(recorder.path(), folder.path().join("c.00002.jsonl"));
    std::fs::write(folder.path().join("c.00003.jsonl"), "precious").unwrap();
    let (path, error) = recorder.rotate().unwrap_err();
    assert_eq!(
        (path.as_path(), error.kind()),
        (&*folder.path().join("c.00003.jsonl"), std::io::ErrorKind::AlreadyExists)
    );
    assert_eq!(std::fs::read(path).unwrap(), b"precious");
}

fn update(tier: i32, prefixes: usize) -> wire::CacheStateUpdate {
    let entry = wire::PrefixEntry { prefix_hash: "hash".into(), token_count: 16, tier, ..Default::default() };
    let (replica_id, hash_scheme) = ("r".to_owned(), "s".to_owned());
    wire::CacheStateUpdate { replica_id, hash_scheme, prefixes: vec![entry; prefixes], ..Default::default() }
}

#[test]
fn tiers_without_a_name_are_kept_as_numbers() {
    let mut mixed = update(2, 3);
    mixed.prefixes[1].tier = i32::MIN;
    mixed.prefixes[2].tier = 9;
    let state = State {
        updates: vec![update(1, 1), mixed.clone()],
        heard_us: vec![5, 6],
        credits: vec![vec![3], vec![]],
        ..State::default()
    };
    let mut writer = icache::capture::Writer::create(
        Vec::new(),
        &icache::capture::Header { created: String::new(), source: String::new() },
    )
    .unwrap();
    for body in [Body::Report(mixed), Body::State(state)] {
        writer.append(Timestamp::from_us(7), &body).unwrap();
        let bytes = writer.get_ref().clone();
        assert_eq!(read(&bytes).unwrap().bodies.last(), Some(&body), "{}", String::from_utf8_lossy(&bytes));
    }
    let wrong = "{\"icache\":\"capture\",\"version\":1}\n{\"t\":1,\"kind\":\"report\",\"update\":{\"prefixes\":[{\"tier\":9,\"tokenCount\":true}]}}\n";
    let error = read(wrong.as_bytes()).err().unwrap();
    assert!(error.contains("`true` is no number"), "{error}");
}
