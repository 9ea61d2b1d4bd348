//! Replays of captures: the reference ones, altered ones and broken ones.

use std::path::{Path, PathBuf};

use icache::replay::{Replay, ReplayOptions};

fn testdata(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(folder)
}

fn captures(folder: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(testdata(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    found.sort();
    found
}

fn check(capture: &Path) -> u64 {
    let options = ReplayOptions { check: true, ..ReplayOptions::default() };
    let report = Replay::run_file(capture, options, &mut |_| {}).unwrap();
    assert!(report.mismatches.is_empty(), "{:#?}", report.mismatches);
    assert_eq!((report.mismatched, report.not_comparable, report.bad_lines), (0, 0, 0));
    assert_eq!(report.checked, report.lookups);
    report.checked
}

/// Answers of another implementation; debug any difference down to its cause.
#[test]
fn reference_captures_are_answered_as_recorded() {
    let captures = captures("reference");
    assert_eq!(captures.len(), 48);
    let lookups: u64 = captures.iter().map(|capture| check(capture)).sum();
    assert_eq!(lookups, 3_842);
}

#[test]
fn the_fleet_capture_is_answered_as_recorded() {
    assert_eq!(check(&testdata("fleet/fleet.capture.jsonl")), 30);
}
