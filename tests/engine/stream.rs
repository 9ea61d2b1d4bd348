//! Gaps, replays, repetitions and restarts of one publisher's stream.

use icache::engine::{MAX_FINGERPRINTS, MAX_PARKED, MAX_PARKED_BYTES, Numbered, ReplayEnd, Step, Stream};

/// A batch whose bytes are those of `word`, or of its number where there is none.
fn batch(seq: u64, word: &str) -> Numbered<String> {
    let word = if word.is_empty() { format!("batch {seq}") } else { word.to_owned() };
    Numbered::new(seq, word)
}

/// `+3`, `lost 2`, `again`, `restart`, `ask 4`.
fn show(steps: Vec<Step<String>>) -> String {
    let words = steps.into_iter().map(|step| match step {
        Step::Apply { seq, .. } => format!("+{seq}"),
        Step::Lost(batches) => format!("lost {batches}"),
        Step::Again => "again".to_owned(),
        Step::Restarted => "restart".to_owned(),
        Step::Replay(from) => format!("ask {from}"),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Lines of what happens and what comes of it: `connect`, `live 3`, `live 3 other`, `replay 3`, `end`, `broken`.
#[track_caller]
fn check(mut stream: Stream<String>, script: &[(&str, &str)]) {
    for (line, (event, expected)) in script.iter().enumerate() {
        let mut words = event.split(' ');
        let kind = words.next().unwrap();
        let seq = words.next().map(|seq| seq.parse().unwrap()).unwrap_or_default();
        let word = words.next().unwrap_or_default();
        let mut out = Vec::new();
        match kind {
            "connect" => stream.connected(&mut out),
            "quiet" => stream.quiet(&mut out),
            "live" => stream.live_batch(batch(seq, word), &mut out),
            "replay" => stream.replayed(batch(seq, word), &mut out),
            "end" => stream.replay_over(ReplayEnd::Complete, &mut out),
            _ => stream.replay_over(ReplayEnd::Broken, &mut out),
        }
        assert_eq!(show(out), *expected, "line {line}: {event}");
    }
}

#[test]
fn a_gap_is_asked_for_once_from_the_first_missing() {
    check(
        Stream::live(),
        &[
            ("live 0", "+0"),
            ("live 3", "ask 1"),
            ("live 4", ""),
            ("replay 1", "+1"),
            ("replay 2", "+2"),
            ("end", "+3 +4"),
            ("live 5", "+5"),
            // What the replay cannot give is lost, and not asked for again.
            ("live 9", "ask 6"),
            ("replay 8", "lost 2 +8"),
            ("end", "+9"),
            ("live 12", "ask 10"),
            ("end", "lost 2 +12"),
            ("live 15", "ask 13"),
            ("broken", "lost 2 +15"),
            ("live 16", "+16"),
        ],
    );
}

#[test]
fn what_a_replay_leaves_out_comes_from_what_came_live_meanwhile() {
    check(
        Stream::live(),
        &[
            ("live 0", "+0"),
            ("live 2", "ask 1"),
            ("live 3", ""),
            ("live 4", ""),
            ("live 6", ""),
            ("replay 1", "+1"),
            ("replay 4", "+2 +3 +4"),
            ("replay 7", "again lost 1 +6 +7"),
            ("end", ""),
            ("live 8", "+8"),
        ],
    );
}

#[test]
fn a_publisher_that_contradicts_itself_is_asked_once() {
    check(
        Stream::live(),
        &[
            ("live 0", "+0"),
            ("live 2", "ask 1"),
            ("live 1 other", ""),
            ("replay 1", "+1"),
            ("end", "+2 restart ask 0"),
            ("replay 0", "+0"),
            ("replay 1", "+1"),
            ("replay 2", "+2"),
            ("end", "again"),
            ("live 3", "+3"),
            // Another process is still told from it.
            ("live 0 other", "restart +0"),
        ],
    );
}

#[test]
fn a_first_number_above_0_is_a_gap_from_0() {
    let all: Vec<String> = (0..17).map(|seq| format!("replay {seq}")).collect();
    let applied: Vec<String> = (0..17).map(|seq| format!("+{seq}")).collect();
    let mut script = vec![("live 17", "ask 0")];
    script.extend(all.iter().map(String::as_str).zip(applied.iter().map(String::as_str)));
    script.push(("end", "+17"));
    check(Stream::live(), &script);
    check(
        Stream::live(),
        &[("live 17", "ask 0"), ("replay 5", "lost 5 +5"), ("replay 6", "+6"), ("end", "lost 10 +17")],
    );
    check(Stream::live(), &[("live 17", "ask 0"), ("end", "lost 17 +17"), ("live 18", "+18")]);
}

#[test]
fn a_replay_that_overlaps_live_batches_is_applied_once() {
    check(
        Stream::live(),
        &[
            ("live 0", "+0"),
            ("live 2", "ask 1"),
            ("live 3", ""),
            ("replay 1", "+1"),
            ("replay 2", "+2"),
            ("replay 3", "+3"),
            ("end", "again again"),
            ("live 4", "+4"),
            // A replay that closed one gap says nothing of the next.
            ("live 6", "ask 5"),
            ("replay 5", "+5"),
            ("end", "+6"),
        ],
    );
    // A publisher that does not look at the start gives all it has.
    check(
        Stream::live(),
        &[
            ("live 0", "+0"),
            ("live 1", "+1"),
            ("live 3", "ask 2"),
            ("replay 0", "again"),
            ("replay 1", "again"),
            ("replay 2", "+2"),
            ("end", "+3"),
        ],
    );
}

#[test]
fn gaps_among_what_waits_are_asked_for_too() {
    check(
        Stream::live(),
        &[
            ("live 2", "ask 0"),
            ("live 5", ""),
            ("live 6", ""),
            ("replay 0", "+0"),
            ("replay 1", "+1"),
            ("end", "+2 ask 3"),
            ("live 7", ""),
            ("replay 4", "lost 1 +4"),
            ("end", "+5 +6 +7"),
        ],
    );
}

#[test]
fn a_number_that_goes_back_is_a_restart() {
    check(
        Stream::live(),
        &[
            ("connect", "ask 0"),
            ("end", ""),
            ("live 50", "ask 0"),
            ("end", "lost 50 +50"),
            ("live 0", "restart +0"),
            ("live 1", "+1"),
            // Not from 0: what the new process published before is asked for.
            ("live 2", "+2"),
            ("live 1 other", "restart ask 0"),
            ("replay 0 other", "+0"),
            ("end", "+1"),
        ],
    );
    // The same number: the same batch again, or the first one of a new process.
    check(Stream::live(), &[("live 0", "+0"), ("live 0", "again"), ("live 0 other", "restart +0")]);
    // Bytes that were published before do not hide a number that goes back.
    check(Stream::live(), &[("live 0 x", "+0"), ("live 1 x", "+1"), ("live 0 x", "restart +0")]);
    // A number that a replay gave, from another process.
    check(
        Stream::live(),
        &[
            ("connect", "ask 0"),
            ("replay 0", "+0"),
            ("replay 1", "+1"),
            ("end", ""),
            ("live 1", "again"),
            ("live 2", "+2"),
            ("connect", "ask 2"),
            ("broken", ""),
            ("live 1", "restart ask 0"),
        ],
    );
}

#[test]
fn a_new_connection_tells_whether_the_publisher_is_the_same() {
    let begun =
        [("connect", "ask 0"), ("replay 0", "+0"), ("replay 1", "+1"), ("end", ""), ("connect", "ask 1")];
    let after = |rest: &[(&'static str, &'static str)]| {
        let mut script = begun.to_vec();
        script.extend(rest);
        check(Stream::live(), &script);
    };
    // The same process, and what was published meanwhile.
    after(&[("live 3", ""), ("replay 1", ""), ("replay 2", "+2"), ("end", "+3")]);
    after(&[("replay 1", ""), ("end", ""), ("live 2", "+2")]);
    // Another one, which has come as far, or further, or not as far.
    after(&[
        ("replay 1 other", "restart ask 0"),
        ("replay 0 other", "+0"),
        ("replay 1 other", "+1"),
        ("end", ""),
    ]);
    after(&[("live 0 other", ""), ("end", "restart ask 0"), ("replay 0 other", "+0"), ("end", "again")]);
    after(&[("end", "restart ask 0"), ("end", ""), ("live 0", "+0")]);
    // One that keeps less than what was missed, or gives no answer.
    after(&[("replay 7", "lost 5 +7"), ("end", ""), ("live 8", "+8")]);
    after(&[("broken", ""), ("live 2", "+2")]);
    // The connection is lost amid a replay.
    after(&[("replay 1", ""), ("connect", "ask 1"), ("replay 1", ""), ("end", "")]);
}

#[test]
fn the_last_batches_are_asked_for_where_nothing_comes() {
    check(
        Stream::live(),
        &[
            ("quiet", "ask 0"),
            ("quiet", ""),
            ("end", ""),
            ("live 0", "+0"),
            ("quiet", "ask 0"),
            ("replay 0", ""),
            ("replay 1", "+1"),
            ("end", ""),
            // The publisher is the same, whatever it still has.
            ("quiet", "ask 1"),
            ("end", ""),
            ("live 2", "+2"),
        ],
    );
    check(Stream::recorded(), &[("live 3", "+3"), ("quiet", "")]);
}

#[test]
fn a_recorded_stream_begins_anywhere_and_asks_for_nothing() {
    check(
        Stream::recorded(),
        &[
            ("connect", ""),
            ("live 7", "+7"),
            ("live 8", "+8"),
            ("live 8", "again"),
            ("live 12", "lost 3 +12"),
            ("live 0", "restart +0"),
            ("live 1", "+1"),
            ("live 18446744073709551615", "lost 18446744073709551613 +18446744073709551615"),
        ],
    );
}

#[test]
fn what_waits_for_a_replay_is_bounded() {
    let mut stream = Stream::live();
    let mut out = Vec::new();
    for seq in 1..=MAX_PARKED as u64 {
        stream.live_batch(batch(seq, ""), &mut out);
    }
    assert_eq!(show(std::mem::take(&mut out)), "ask 0");
    stream.live_batch(batch(MAX_PARKED as u64 + 1, ""), &mut out);
    let steps = show(std::mem::take(&mut out));
    assert!(steps.starts_with("lost 1 +1 +2 "), "{}", &steps[..40]);
    assert_eq!(stream.next_seq(), MAX_PARKED as u64 + 2);

    let heavy = |seq, bytes| Numbered { seq, fingerprint: seq, bytes, payload: String::new() };
    let mut stream = Stream::live();
    stream.live_batch(heavy(1, MAX_PARKED_BYTES - 1), &mut out);
    stream.live_batch(heavy(2, 1), &mut out);
    assert_eq!(show(std::mem::take(&mut out)), "ask 0");
    stream.live_batch(heavy(3, 1), &mut out);
    assert_eq!(show(std::mem::take(&mut out)), "lost 1 +1 +2 +3");
}

#[test]
fn fingerprints_are_kept_of_the_latest_only() {
    let kept = |len: usize| {
        let mut stream = Stream::live();
        let mut out = Vec::new();
        stream.connected(&mut out);
        for seq in 0..len as u64 {
            stream.replayed(batch(seq, ""), &mut out);
        }
        stream.replay_over(ReplayEnd::Complete, &mut out);
        out.clear();
        stream.live_batch(batch(0, ""), &mut out);
        show(out)
    };
    assert_eq!(kept(MAX_FINGERPRINTS), "again");
    assert_eq!(kept(MAX_FINGERPRINTS + 1), "restart +0");
}
