//! The capture format: what is written reads back, and what is wrong is said with file, line and field.

use icache::capture::{
    Body, CaptureError, Config, Expectation, Header, KvBatch, Lookup, ReadOptions, Reader, Record, State,
    Writer,
};
use icache::contract::{CacheEvent, CacheStateUpdate, LookupRouteRequest, LookupRouteResponse, from_json};
use icache::model::Timestamp;

const HEADER: &str = r#"{"icache":"capture","version":1,"created":"2025-08-08T00:00:00Z","source":"a test"}"#;
const SWEEP: &str = r#"{"t":10,"kind":"sweep"}"#;

fn read(bytes: &[u8], skip_bad: bool) -> Result<(Vec<Record>, icache::capture::Notes), CaptureError> {
    let mut reader = Reader::new("c.jsonl", bytes, ReadOptions { skip_bad })?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        records.push(record);
    }
    Ok((records, reader.notes().clone()))
}

/// The error of a capture with one line after the header and a good line after that.
fn error_of(line: &[u8]) -> String {
    let text = [HEADER.as_bytes(), line, SWEEP.as_bytes(), b""].join(&b'\n');
    read(&text, false).expect_err("the line is bad").to_string()
}

fn message<T: serde::de::DeserializeOwned>(json: &str) -> T {
    from_json(json).expect("the message is valid")
}

fn bodies() -> Vec<Body> {
    let request: LookupRouteRequest = message(
        r#"{"tenantId":"t","modelId":"m","hashScheme":"vllm","blockHashes":["AQI="],"blockTokenCounts":[16],"slo":{"ttftMs":50}}"#,
    );
    let answer: LookupRouteResponse = message(
        r#"{"reasonCode":"PREFIX_MATCH","replicaScores":[{"replicaId":"r","score":0.1,"matchedTokens":16,"tier":"CACHE_TIER_T2"}]}"#,
    );
    let update: CacheStateUpdate = message(
        r#"{"replicaId":"r","modelId":"m","tenantId":"t","hashScheme":"vllm","timestampUs":"1754611200000001","prefixes":[{"prefixHash":"AQI=","tokenCount":16}]}"#,
    );
    let event: CacheEvent = message(r#"{"type":"PREFIX_EVICTED","replicaId":"r","prefixHash":"AQI="}"#);
    let mut config =
        Config { block_size: Some(32), default_ttl: Some("10m".to_owned()), ..Config::default() };
    config.ranker.pressure_weight = Some(0.5);
    vec![
        Body::Config(config),
        Body::State(State { updates: vec![update.clone()], ..State::default() }),
        Body::Policy("kind: CachePolicy\n---\n\"x\"\n".to_owned()),
        Body::KvBatch(KvBatch {
            replica: "r".to_owned(),
            model: "m".to_owned(),
            tenant: "t".to_owned(),
            scheme: "vllm".to_owned(),
            topic: "kv-events".to_owned(),
            seq: Some(u64::MAX),
            payload: vec![0, 255, 10, 13],
        }),
        Body::Report(update),
        Body::Event(event),
        Body::Lookup(Box::new(Lookup { request: request.clone(), answer: Some(answer), expect: None })),
        Body::Lookup(Box::new(Lookup {
            request,
            answer: None,
            expect: Some(Expectation { reason_code: "NO_HINT".to_owned(), replicas: Some(Vec::new()) }),
        })),
        Body::Sweep,
    ]
}

#[test]
fn what_is_written_reads_back() {
    let header =
        Header { created: "2025-08-08T00:00:00Z".to_owned(), source: "a \"test\"\nof two lines".to_owned() };
    let mut writer = Writer::create(Vec::new(), &header).expect("memory can be written");
    let start = 1_754_611_200_000_001;
    for (at, body) in (start..).zip(bodies()) {
        writer.append(Timestamp::from_us(at), &body).expect("memory can be written");
    }
    writer.flush().expect("memory can be flushed");
    let written = writer.into_inner();
    let reader =
        Reader::new("c.jsonl", written.as_slice(), ReadOptions::default()).expect("the header is good");
    assert_eq!(*reader.header(), header);
    let (records, notes) = read(&written, false).expect("the capture is good");
    let expected: Vec<Record> = bodies()
        .into_iter()
        .zip(0..)
        .map(|(body, n)| Record { line: n + 2, at: Timestamp::from_us(start + n as i64), body })
        .collect();
    assert_eq!(records, expected);
    assert_eq!(notes, icache::capture::Notes::default());
}

#[test]
fn a_bad_line_is_named_with_its_field() {
    let report = |update: &str| format!(r#"{{"t":1,"kind":"report","update":{update}}}"#);
    for (line, what) in [
        ("{}".to_owned(), "missing field `t` (column 2)"),
        (r#"{"t":1}"#.to_owned(), "missing field `kind` (column 7)"),
        (
            r#"{"t":"1","kind":"sweep"}"#.to_owned(),
            "field `t`: `\"1\"` is no time; write decimal Unix seconds",
        ),
        (r#"{"t":1e40,"kind":"sweep"}"#.to_owned(), "field `t`: `1e40` is no time; write decimal Unix seconds"),
        (r#"{"t":1,"kind":5}"#.to_owned(), "field `kind`: invalid type: integer `5`, expected a string (column 15)"),
        ("[1, \"sweep\"]".to_owned(), "it is a list; a record is an object"),
        ("}".to_owned(), "it is no JSON: expected value (column 1)"),
        (r#"{"t":1,"kind":"report"}"#.to_owned(), "missing field `update` (column 23)"),
        (report("5"), "field `update`: invalid type: integer `5`, expected an object (column 33)"),
        (report(r#"{"replica":"r"}"#), "field `update.replica`: unknown field `replica`; did you mean `replicaId`?"),
        (
            report(r#"{"prefixes":[{},{"tokenCount":"x"}]}"#),
            "field `update.prefixes[1].tokenCount`: ",
        ),
        (report(r#"{"prefixes":[{"prefixHash":"*"}]}"#), "field `update.prefixes[0].prefixHash`: "),
        (
            r#"{"t":1,"kind":"kv-batch","replica":"r","model":"m","tenant":"t","scheme":"s","payload":"*"}"#.to_owned(),
            "field `payload`: `\"*\"` is no base64",
        ),
        (
            r#"{"t":1,"kind":"kv-batch","replica":"r","model":"m","tenant":"t","scheme":"s","seq":-1,"payload":""}"#
                .to_owned(),
            "field `seq`: `-1` is no number that fits this field",
        ),
        (
            r#"{"t":1,"kind":"lookup","request":{},"expect":{"reasoncode":"NO_HINT"}}"#.to_owned(),
            "field `expect.reasoncode`: unknown field `reasoncode`; did you mean `reasonCode`?",
        ),
        (r#"{"t":1,"kind":"policy","documents":{}}"#.to_owned(), "field `documents`: invalid type: object, expected a string"),
    ] {
        let error = error_of(line.as_bytes());
        assert!(error.starts_with(&format!("c.jsonl:2: {what}")), "{line}\n{error}");
    }
    assert_eq!(error_of(b"{\"t\":1,\"kind\":\"\xff\"}"), "c.jsonl:2: byte 16 is not UTF-8");
}

#[test]
fn bad_lines_can_be_passed_over() {
    let text = format!("{HEADER}\n{SWEEP}\n}}\n{{}}\n\n\r\n{SWEEP}\r\n");
    let (records, notes) = read(text.as_bytes(), true).expect("bad lines are passed over");
    let lines: Vec<u64> = records.iter().map(|record| record.line).collect();
    assert_eq!(lines, [2, 7]);
    assert_eq!((notes.bad_lines, notes.first_bad.len()), (2, 2));
    assert!(notes.first_bad[1].starts_with("c.jsonl:4: missing field `t`"), "{:?}", notes.first_bad);
}

#[test]
fn a_torn_last_line_is_left_out_and_said() {
    let whole = r#"{"t":11,"kind":"report","update":{"replicaId":"é"}}"#;
    for end in 1..whole.len() {
        let mut text = format!("{HEADER}\n{SWEEP}\n").into_bytes();
        text.extend_from_slice(&whole.as_bytes()[..end]);
        let (records, notes) = read(&text, false).unwrap_or_else(|error| panic!("{end}: {error}"));
        assert_eq!((records.len(), notes.bad_lines), (1, 0), "{end}");
        assert!(notes.torn.is_some_and(|torn| torn.starts_with("c.jsonl:3: ")), "{end}");
    }
    let (records, notes) =
        read(format!("{HEADER}\n{SWEEP}\n{whole}").as_bytes(), false).expect("it is whole");
    assert_eq!((records.len(), notes.torn), (2, None));
}

/// A line without a newline that is whole JSON was not torn: what is wrong with it was written so.
#[test]
fn a_bad_last_line_that_is_whole_is_an_error() {
    let error = read(format!("{HEADER}\n{{\"t\":1}}").as_bytes(), false).expect_err("it has no kind");
    assert!(error.to_string().starts_with("c.jsonl:2: missing field `kind`"), "{error}");
}

#[test]
fn time_must_not_go_back() {
    let at = |seconds: &str| format!(r#"{{"t":{seconds},"kind":"sweep"}}"#);
    let text = |times: &[&str]| {
        let lines: Vec<String> = times.iter().map(|time| at(time)).collect();
        format!("{HEADER}\n{}\n", lines.join("\n"))
    };
    let (records, _) =
        read(text(&["1.5", "1.500000", "1.500001"]).as_bytes(), false).expect("time stands or runs");
    assert_eq!(records.len(), 3);
    let back = text(&["1.5", "1.499999", "1.6"]);
    assert_eq!(
        read(back.as_bytes(), false).expect_err("time goes back").to_string(),
        "c.jsonl:3: field `t`: the record is 1us older than the one in line 2; records stand in the order of their times"
    );
    let (records, notes) = read(back.as_bytes(), true).expect("it is passed over");
    assert_eq!((records.len(), notes.bad_lines), (2, 1));
    // An unknown kind has its place in time, too.
    let unknown = format!("{HEADER}\n{{\"t\":5,\"kind\":\"new\"}}\n{}\n", at("4"));
    assert!(read(unknown.as_bytes(), false).is_err());
}

#[test]
fn unknown_kinds_are_counted() {
    let text =
        format!("{HEADER}\n{{\"t\":1,\"kind\":\"new\",\"x\":[1]}}\n{{\"t\":1,\"kind\":\"new\"}}\n{SWEEP}\n");
    let (records, notes) = read(text.as_bytes(), false).expect("unknown kinds are passed over");
    assert_eq!((records.len(), notes.unknown), (1, 2));
    assert_eq!(notes.unknown_kinds.get("new"), Some(&2));
}

#[test]
fn names_of_unknown_kinds_are_bounded() {
    let many: String = (0..1_000).map(|n| format!("{{\"t\":1,\"kind\":\"k{n}\"}}\n")).collect();
    let (_, notes) =
        read(format!("{HEADER}\n{many}").as_bytes(), false).expect("unknown kinds are passed over");
    assert_eq!((notes.unknown, notes.unknown_kinds.len()), (1_000, icache::capture::MAX_NOTES));
}

#[test]
fn what_is_no_capture_is_refused() {
    let begin = "; a capture begins with {\"icache\":\"capture\",\"version\":1}";
    for (bytes, why) in [
        (&b""[..], "it is empty; a capture begins with a header line".to_owned()),
        (b"hello\nworld", format!("its first line is `hello`{begin}")),
        (
            b"{\"t\":1,\"kind\":\"sweep\"}\n",
            format!("its first line is `{{\"t\":1,\"kind\":\"sweep\"}}`{begin}"),
        ),
        (
            b"{\"icache\":\"trace\",\"version\":1}",
            format!("its first line is `{{\"icache\":\"trace\",\"version\":1}}`{begin}"),
        ),
        (b"\x00\x01\x02", format!("it holds binary data{begin}")),
        (b"\xff\xfe{}", format!("it holds binary data{begin}")),
        (b"\x1f\x8b\x08\x00", "its compressed data ends before the first line does".to_owned()),
        (b"\x28\xb5\x2f\xfd", "its compressed data ends before the first line does".to_owned()),
        (b"{\"icache\":\"capture\",\"version\":0}", "its header names no version that ever was".to_owned()),
        (b"{\"icache\":\"capture\"}", "its header names no version that ever was".to_owned()),
    ] {
        let error = read(bytes, true).expect_err("it is no capture");
        assert_eq!(error.to_string(), format!("`c.jsonl` is not a capture: {why}"));
    }
    let error = read(b"{\"icache\":\"capture\",\"version\":2}\n", true).expect_err("it is too new");
    assert_eq!(error.to_string(), "`c.jsonl` is a capture of version 2 and this icache reads version 1");
    assert!(read(format!("\u{feff}{HEADER}\n{SWEEP}").as_bytes(), false).is_ok());
}
