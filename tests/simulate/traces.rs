//! Traces: what is read, what is refused and how it is said, the bounds, and the trace in `testdata`.

use std::io::BufReader;

use icache::simulate::{
    MAX_BAD_LINES, MAX_REQUESTS, MAX_TRACE_BLOCKS, MAX_TRACE_LINE_BYTES, Trace, TraceOptions,
};

use super::{all, read, settings};

const SKIP_BAD: TraceOptions =
    TraceOptions { skip_bad: true, max_requests: MAX_REQUESTS, max_blocks: MAX_TRACE_BLOCKS };

const GOOD: &str = r#"{"timestamp":7,"input_length":513,"output_length":1,"hash_ids":[1,2]}"#;

fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn bad_lines_name_file_line_and_field() {
    let long =
        format!(r#"{{"timestamp":8,"input_length":1,"hash_ids":[{}]}}"#, " ".repeat(MAX_TRACE_LINE_BYTES));
    let ids = vec!["1"; 131_073].join(",");
    let many = format!(r#"{{"timestamp":8,"input_length":67109376,"hash_ids":[{ids}]}}"#);
    for (line, said) in [
        ("{", "it is no JSON"),
        ("[8,1,1,[1]]", "it is a list; a request is an object"),
        ("7", "expected"),
        (r#"{"input_length":1,"hash_ids":[1]}"#, "missing field `timestamp`"),
        (r#"{"timestamp":8,"hash_ids":[1]}"#, "missing field `input_length`"),
        (r#"{"timestamp":8,"input_length":1}"#, "missing field `hash_ids`"),
        (r#"{"timestamp":"8","input_length":1,"hash_ids":[1]}"#, "field `timestamp`"),
        (
            r#"{"timestamp":-1,"input_length":1,"hash_ids":[1]}"#,
            "field `timestamp`: `-1` is not within a week",
        ),
        (r#"{"timestamp":604800001,"input_length":1,"hash_ids":[1]}"#, "is not within a week"),
        (r#"{"timestamp":6.9,"input_length":1,"hash_ids":[1]}"#, "field `timestamp`: `6.9` lies before"),
        (
            r#"{"timestamp":8,"input_length":0,"hash_ids":[]}"#,
            "field `input_length`: a prompt has at least one token",
        ),
        (
            r#"{"timestamp":8,"input_length":-3,"hash_ids":[1]}"#,
            "field `input_length`: `-3` is no number that fits",
        ),
        (r#"{"timestamp":8,"input_length":1,"hash_ids":[1,2]}"#, "field `hash_ids`: 2 ids for 1 tokens"),
        (r#"{"timestamp":8,"input_length":513,"hash_ids":[1]}"#, "field `hash_ids`: 1 id for 513 tokens"),
        (
            r#"{"timestamp":8,"input_length":513,"hash_ids":[1,-1]}"#,
            "field `hash_ids[1]`: `-1` is no number that fits",
        ),
        (r#"{"timestamp":8,"input_length":1,"hash_ids":[4294967296]}"#, "field `hash_ids[0]`"),
        (&long, "the line is longer than 2097152 bytes"),
        (&many, "field `hash_ids`: 131073 blocks; a request has 131072 at most"),
    ] {
        let error = refused(&format!("{GOOD}\n\n{line}\n"));
        assert!(error.starts_with("t.jsonl:3: ") && error.contains(said), "{said}: {error}");
        let names = ["u32", "u64", "f64", "TraceLine"];
        assert!(!names.iter().any(|name| error.contains(name)), "{error}");
    }
    let error = Trace::read("t.jsonl", &b"\xff\xfe\n"[..], TraceOptions::default()).unwrap_err().to_string();
    assert_eq!(error, "t.jsonl:1: it is no UTF-8 text");
}

#[test]
fn what_is_read() {
    // A mark at the start, Windows line ends, fields of others, a last line without an end; one id more is the bound.
    let ids = vec!["1"; 131_072].join(",");
    let text = format!(
        "\u{feff}{GOOD}\r\n{{\"timestamp\":7.5,\"input_length\":1,\"hash_ids\":[9],\"round\":3}}\n\
         {{\"timestamp\":604800000,\"input_length\":67108864,\"hash_ids\":[{ids}]}}"
    );
    let trace = read(&text).unwrap();
    let [first, second, third] = trace.requests() else { panic!("three requests") };
    assert_eq!((first.at_ns, first.tokens, first.full_blocks()), (7_000_000, 513, 1));
    assert_eq!((second.at_ns, trace.chain(second).len(), trace.blocks(second).len()), (7_500_000, 0, 1));
    assert_eq!((trace.longest(), trace.chain(third).len()), (131_072, 131_072));
    // A chain is the content fingerprint of the ids, one a block.
    assert_eq!(trace.chain(first), &icache::hash::fingerprint_chain(&[1, 2], 1, None)[..1]);
    assert_eq!(trace.block(trace.blocks(first)[1]).unwrap().1, 1024);
}

#[test]
fn bad_lines_can_be_passed_over() {
    let text = format!("{}{GOOD}\nnonsense\n", "{}\n".repeat(MAX_BAD_LINES));
    let trace = Trace::read("t.jsonl", text.as_bytes(), SKIP_BAD).unwrap();
    assert_eq!((trace.requests().len(), trace.bad_lines), (1, MAX_BAD_LINES as u64 + 1));
    assert_eq!(trace.first_bad.len(), MAX_BAD_LINES);
    let warnings = all(&trace, &settings(1, 1), &[]).warnings;
    assert_eq!(warnings[0], "t.jsonl:1: missing field `timestamp` (column 2)");
    assert_eq!(warnings[MAX_BAD_LINES], "and 1 more lines that were passed over");
}

#[test]
fn a_trace_without_a_request_is_none() {
    for text in ["", "\n\n"] {
        assert_eq!(refused(text), "`t.jsonl` holds no request");
    }
    let error = Trace::read("t.jsonl", &b"x\n"[..], SKIP_BAD).unwrap_err().to_string();
    assert_eq!(error, "`t.jsonl` holds no request; 1 line that cannot be used was passed over");
}

#[test]
fn requests_and_blocks_are_bounded() {
    let line = r#"{"timestamp":0,"input_length":513,"hash_ids":[1,2]}"#;
    for (max_requests, max_blocks, lines, said) in [
        (3, 6, 3, None),
        (3, 9, 4, Some("`t.jsonl` holds more than 3 requests")),
        (9, 5, 3, Some("`t.jsonl` holds more than 5 blocks in all")),
    ] {
        let options = TraceOptions { max_requests, max_blocks, skip_bad: true };
        let text = format!("{line}\n").repeat(lines);
        let error = Trace::read("t.jsonl", text.as_bytes(), options).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), said);
    }
    let options = TraceOptions::default();
    assert_eq!((options.max_requests, options.max_blocks), (MAX_REQUESTS, MAX_TRACE_BLOCKS));
}

/// The published trace: its size, and the shares that caches without a choice of engine would reach.
#[test]
fn conversation_trace() {
    let file = std::fs::File::open("testdata/traces/conversation_trace.jsonl").unwrap();
    let trace =
        Trace::read("conversation_trace.jsonl", BufReader::new(file), TraceOptions::default()).unwrap();
    assert_eq!((trace.requests().len(), trace.tokens()), (12_031, 144_793_823));
    assert_eq!(trace.distinct_blocks(), 182_790);
    let marks = all(&trace, &settings(8, 10_000), &[]).reachable;
    let share = |part: u64, whole: u64| (part as f64 / whole as f64 * 1e4).round() / 1e4;
    assert_eq!(share(marks.ideal_blocks, marks.asked_blocks), 0.3664);
    assert_eq!(share(marks.ideal_tokens, marks.asked_tokens), 0.3734);
    assert_eq!(share(marks.pooled_tokens, marks.asked_tokens), 0.3698);
}
