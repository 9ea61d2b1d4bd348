//! Captures, traces and engines: replay, capture, subscribe and simulate.

use std::io::Write as _;

use super::look;
use super::world::World;

const HEADER: &str = "{\"icache\":\"capture\",\"version\":1}\n";

fn world() -> World {
    let world = World::new();
    world
        .file("empty", "")
        .file("plain.txt", "hello\n")
        .file("folder/x", "")
        .file("batch.msgpack", [0x93, 0xc0]);
    world.file("there.jsonl", "").file("nul.jsonl", b"\0\0\0\n").file("header.jsonl", HEADER);
    world.file("newer.jsonl", "{\"icache\":\"capture\",\"version\":2}\n");
    world.file("never.jsonl", "{\"icache\":\"capture\",\"version\":0}\n");
    for (name, lines) in [
        ("no-json", "what\n"),
        ("no-object", "[1]\n"),
        ("no-time", "{\"kind\":\"sweep\"}\n"),
        ("bad-time", "{\"t\":\"soon\",\"kind\":\"sweep\"}\n"),
        ("bad-field", "{\"t\":1,\"kind\":\"lookup\",\"request\":{\"tenantId\":7}}\n"),
        ("unknown-field", "{\"t\":1,\"kind\":\"lookup\",\"request\":{\"tenant\":\"t\"}}\n"),
        ("bad-hash", "{\"t\":1,\"kind\":\"report\",\"update\":{\"prefixes\":[{\"prefixHash\":\"!\"}]}}\n"),
        ("bad-expect", "{\"t\":1,\"kind\":\"lookup\",\"request\":{},\"expect\":{\"reasonCode\":1}}\n"),
        ("back", "{\"t\":2,\"kind\":\"sweep\"}\n{\"t\":1,\"kind\":\"sweep\"}\n"),
        ("bad-policy", "{\"t\":1,\"kind\":\"policy\",\"documents\":[\"kind: CachePolicy\"]}\n"),
        ("late", "{\"t\":9,\"kind\":\"sweep\"}\n"),
        ("early", "{\"t\":1,\"kind\":\"sweep\"}\n"),
    ] {
        // What is not the last line is not unfinished either.
        let end = if lines.contains("\"t\":9") || lines.contains("sweep\"}\n") {
            ""
        } else {
            "{\"t\":9,\"kind\":\"sweep\"}\n"
        };
        world.file(&format!("{name}.jsonl"), format!("{HEADER}{lines}{end}"));
    }
    world.file(
        "latin.jsonl",
        [HEADER.as_bytes(), b"{\"t\":1,\"kind\":\"\xe9\"}\n{\"t\":2,\"kind\":\"sweep\"}\n"].concat(),
    );
    world.file("bad.yaml", "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {name: a}\nspec: {minimumMatchTokens: 1}\n");
    world
}

#[test]
fn replay() {
    let lines = [
        "replay",
        "replay none.jsonl",
        "replay none.jsonl --ranker best",
        "replay header.jsonl --html header.jsonl",
        "replay none.jsonl --server http://127.0.0.1:1 --ranker balanced",
        "replay folder",
        "replay empty",
        "replay plain.txt",
        "replay nul.jsonl",
        "replay newer.jsonl",
        "replay never.jsonl",
        "replay - - < header.jsonl",
        "replay - < empty",
        "replay no-json.jsonl",
        "replay no-object.jsonl",
        "replay no-time.jsonl",
        "replay bad-time.jsonl",
        "replay bad-field.jsonl",
        "replay unknown-field.jsonl",
        "replay bad-hash.jsonl",
        "replay bad-expect.jsonl",
        "replay back.jsonl",
        "replay bad-policy.jsonl",
        "replay latin.jsonl",
        "replay late.jsonl early.jsonl",
        "replay --check header.jsonl",
        "replay header.jsonl --replica r",
        "replay header.jsonl --hash-scheme s",
        "replay batch.msgpack",
        "replay batch.msgpack $WHO",
        "replay header.jsonl --mismatches x",
        "replay header.jsonl --mismatches 3",
        "replay header.jsonl --policy none.yaml",
        "replay header.jsonl --policy bad.yaml",
        "replay header.jsonl --policy folder",
        "replay header.jsonl --html folder",
        "replay header.jsonl --html none/page.html",
        "replay header.jsonl --speed 10x",
        "replay header.jsonl --speed fast --server http://127.0.0.1:1",
        "replay header.jsonl --separate --server http://127.0.0.1:1",
        "replay header.jsonl --policy bad.yaml --server http://127.0.0.1:1",
        "replay header.jsonl --timeout 1s",
        "replay header.jsonl --server http://127.0.0.1:1",
        "replay header.jsonl > /dev/full",
    ];
    look("replay", &world(), &lines);
}

#[test]
fn capture() {
    let lines = [
        "capture",
        "capture --out there.jsonl --zmq tcp://127.0.0.1:1 $WHO",
        "capture --out none/c.jsonl --zmq tcp://127.0.0.1:1 $WHO",
        "capture --out c.jsonl --lookups 2",
        "capture --out c.jsonl --max-size 1",
        "capture --out c.jsonl --max-size 5parsecs",
        "capture --out c.jsonl --max-size ''",
        "capture --out c.jsonl --compress lzma",
        "capture --out c.jsonl --duration 0s",
        "capture --out c.jsonl --raw",
        "capture --out c.jsonl --zmq tcp://127.0.0.1:1",
        "capture --out c.jsonl --zmq tcp://127.0.0.1:1 --replica r",
        "capture --out c.jsonl --zmq tcp://127.0.0.1:1 --replica r --tenant t",
        "capture --out c.jsonl --zmq tcp://127.0.0.1:1 $WHO --server http://127.0.0.1:1",
        "capture --out c.jsonl --zmq tcp://127.0.0.1:1 $WHO --lookups 0.5",
        "capture --out c.jsonl --replica r",
        "capture --out c.jsonl --hash-scheme vllm",
        "capture --out c.jsonl --topic kv",
        "capture --out c.jsonl --replay-timeout 1s",
        "capture --out c.jsonl --extra-keys ignore",
        "capture --out c.jsonl --l2-retains",
        "capture --out c.jsonl --dp-ranks 2",
        "ICACHE_REPLICA=r capture --out c.jsonl --replica r --server http://127.0.0.1:1",
        "ICACHE_REPLICA=r capture --out c.jsonl --server http://127.0.0.1:1",
        "capture --out c.jsonl --zmq 127.0.0.1:5557 $WHO",
    ];
    look("capture", &world(), &lines);
}

#[test]
fn subscribe() {
    let mut world = world();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    world.name("TAKEN", taken.local_addr().unwrap());
    world.name("LONG", "x".repeat(513));
    let lines = [
        "subscribe",
        "subscribe --replica r --tenant t",
        "subscribe --replica '' --tenant t --model m",
        "subscribe --replica $LONG --tenant t --model m",
        "subscribe --replica r --tenant inferencecache.io/probe --model m",
        "subscribe $WHO --engine 127.0.0.1",
        "subscribe $WHO --engine tcp://",
        "subscribe $WHO --engine tcp://127.0.0.1",
        "subscribe $WHO --engine tcp://127.0.0.1:x",
        "subscribe $WHO --engine tcp://127.0.0.1:0",
        "subscribe $WHO --engine tcp://*:5557",
        "subscribe $WHO --engine http://127.0.0.1:5557",
        "subscribe $WHO --engine ipc:///tmp/engine --dp-ranks 2",
        "subscribe $WHO --engine tcp://127.0.0.1:65535 --dp-ranks 2",
        "subscribe $WHO --replay 5558",
        "subscribe $WHO --dp-ranks 8 --replay tcp://127.0.0.1:5558",
        "subscribe $WHO --dp-ranks 0",
        "subscribe $WHO --max-held-blocks 0",
        "subscribe $WHO --replay-timeout 0s",
        "subscribe $WHO --adapter-names one",
        "subscribe $WHO --adapter-names one=1",
        "subscribe $WHO --adapter-names 1=",
        "subscribe $WHO --extra-keys maybe",
        "subscribe $WHO --metrics-url https://127.0.0.1/metrics",
        "subscribe $WHO --metrics-url metrics",
        "subscribe $WHO --refresh 0s",
        "subscribe $WHO --http-addr localhost",
        "subscribe $WHO --http-addr $TAKEN --log-level off",
        "subscribe $WHO --ready-file none/ready.json --http-addr 127.0.0.1:0 --log-level off",
        "subscribe $WHO --log-level loud",
        "subscribe $WHO --log-format xml",
        "subscribe $WHO --server nowhere:x",
        "ICACHE_DP_RANKS=many subscribe $WHO",
    ];
    look("subscribe", &world, &lines);
}

#[test]
fn simulate() {
    let mut world = world();
    world.name("FIFTY", "--policy good.yaml ".repeat(50).trim());
    let line =
        |fields: &str| format!("{{\"timestamp\":0,\"input_length\":512,\"hash_ids\":[1]}}\n{{{fields}}}\n");
    for (name, fields) in [
        ("missing", r#""timestamp":0,"input_length":5"#),
        ("wrong", r#""timestamp":"soon","input_length":5,"hash_ids":[1]"#),
        ("negative", r#""timestamp":0,"input_length":-5,"hash_ids":[1]"#),
        ("large-id", r#""timestamp":0,"input_length":5,"hash_ids":[4294967296]"#),
        ("too-late", r#""timestamp":1e12,"input_length":5,"hash_ids":[1]"#),
        ("tokenless", r#""timestamp":0,"input_length":0,"hash_ids":[]"#),
        ("blockless", r#""timestamp":0,"input_length":513,"hash_ids":[1]"#),
        ("unfinished", r#""timestamp":0"#),
    ] {
        world.file(&format!("{name}.trace"), line(fields));
    }
    world.file("cut.trace", "{\"timestamp\":0,\n").file("list.trace", "[1]\n").file("latin.trace", b"\xe9\n");
    let backwards = "{\"timestamp\":2,\"input_length\":1,\"hash_ids\":[1]}\n{\"timestamp\":1,\"input_length\":1,\"hash_ids\":[1]}\n";
    world.file("back.trace", backwards);
    world.file("good.trace", line(r#""timestamp":1,"input_length":5,"hash_ids":[1]"#));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(line(r#""timestamp":1,"input_length":5,"hash_ids":[1]"#).as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    world.file("torn.gz", &packed[..packed.len() - 12]);
    world.file("good.yaml", "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {name: a, namespace: default}\nspec: {}\n");
    world.file("long.trace", [vec![b'x'; (2 << 20) + 1], b"\n".to_vec()].concat());
    let lines = [
        "simulate",
        "simulate --trace none.trace",
        "simulate --trace folder",
        "simulate --trace empty",
        "simulate --trace - < empty",
        "simulate --trace list.trace --skip-bad",
        "simulate --trace list.trace",
        "simulate --trace cut.trace",
        "simulate --trace latin.trace",
        "simulate --trace long.trace",
        "simulate --trace plain.txt",
        "simulate --trace missing.trace",
        "simulate --trace wrong.trace",
        "simulate --trace negative.trace",
        "simulate --trace large-id.trace",
        "simulate --trace too-late.trace",
        "simulate --trace tokenless.trace",
        "simulate --trace blockless.trace",
        "simulate --trace unfinished.trace",
        "simulate --trace back.trace",
        "simulate --trace good.trace --replicas 0",
        "simulate --trace good.trace --blocks-per-replica x",
        "simulate --trace good.trace --prefill-rate -1",
        "simulate --trace good.trace --publish later",
        "simulate --trace good.trace --event-delay 25h",
        "simulate --trace good.trace --refresh 5ms",
        "simulate --trace good.trace --route nearest",
        "simulate --trace good.trace --tenant ''",
        "simulate --trace good.trace --warmup x",
        "simulate --trace good.trace --policy none.yaml",
        "simulate --trace good.trace --policy bad.yaml",
        "simulate --trace good.trace --policy good.yaml --route random",
        "simulate --trace good.trace $FIFTY",
        "simulate --trace good.trace --html none/page.html",
        "simulate --trace good.trace --html folder",
        "simulate --trace good.trace > /dev/full",
        "simulate --trace good.trace --html good.trace",
        "simulate --trace good.trace --policy good.yaml --html ./good.yaml",
        "simulate --trace torn.gz",
        "simulate --trace good.trace --workload burst",
        "simulate --trace good.trace --requests 5",
        "simulate --trace good.trace --prefill-rate 1,,2",
        "simulate --trace good.trace --replicas 1 --prefill-rate 1,2",
        "simulate --trace good.trace --utilisation 201",
        "simulate --trace good.trace --ranker balanced --route random",
        "simulate --trace good.trace --split-reports",
        "simulate --trace good.trace --kill r3",
        "simulate --trace good.trace --kill r9@5s",
        "simulate --trace good.trace --restart r3@x",
        "simulate --workload none",
        "simulate --workload burst --requests 200001",
        "simulate --workload burst --servers 65",
    ];
    look("simulate", &world, &lines);
}
