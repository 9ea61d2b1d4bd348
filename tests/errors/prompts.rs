//! What describes a prompt or a replica: lookup, report and event.

use super::look;
use super::world::World;

/// Files that hold what no message is.
fn world() -> World {
    let world = World::new();
    world
        .file("empty", "")
        .file("plain.txt", "hello\n")
        .file("latin.txt", b"tenant \xe9\n")
        .file("folder/x", "");
    world.large("large", (64 << 20) + 1);
    world.file("list.json", "[1]").file("cut.json", "{\"tenantId\":").file("tokens.json", "[1,\"x\"]");
    world.file("wrong.json", r#"{"tenantIdd":"t"}"#).file("negative.json", r#"{"tokenIds":[-1]}"#);
    world.file("base64.json", r#"{"blockHashes":["!!"]}"#);
    world.file("update.json", r#"{"replicaId":"r","tenantId":"t","modelId":"m","stats":{"hitRate":2}}"#);
    world.file("nobody.json", "{}");
    world.file("event.json", r#"{"type":"PREFIX_EVICTED","replicaId":"r","tenantId":"t","modelId":"m"}"#);
    world.file("kind.json", r#"{"type":"BURNT","replicaId":"r","tenantId":"t","modelId":"m"}"#);
    world.file("line.jsonl", "{\"icache\":\"capture\",\"version\":1}\nwhat\n{\"t\":1,\"kind\":\"sweep\"}\n");
    world.file("header.jsonl", "{\"icache\":\"capture\",\"version\":1}\n");
    world
}

#[test]
fn lookup() {
    let lines = [
        "lookup",
        "lookup $KEYS",
        "lookup $KEYS --prefix-hash 0a --ranker balanced",
        "lookup --demo --ranker best",
        "lookup $KEYS --prefix-tokens 16",
        "lookup $KEYS --block 'xyz!'",
        "lookup $KEYS --block ''",
        "lookup $KEYS --blocks ab,cd",
        "lookup $KEYS --blocks ab --block ab --block-tokens 16",
        "lookup $KEYS --block-tokens 16",
        "lookup $KEYS --blocks ab --block-tokens x",
        "lookup $KEYS --tokens none.json",
        "lookup $KEYS --tokens folder",
        "lookup $KEYS --tokens empty",
        "lookup $KEYS --tokens tokens.json",
        "lookup $KEYS --tokens plain.txt",
        "lookup $KEYS --tokens latin.txt",
        "lookup $KEYS --tokens large",
        "lookup $KEYS --tokens - < empty",
        "lookup $KEYS --token-ids 1,-1",
        "lookup $KEYS --token-ids 4294967296",
        "lookup $KEYS --prefix-hash ab --ttft-ms 99999999999",
        "lookup --request none.json",
        "lookup --request list.json",
        "lookup --request cut.json",
        "lookup --request wrong.json",
        "lookup --request negative.json",
        "lookup --request base64.json",
        "lookup --request latin.txt",
        "lookup --request - < empty",
        "lookup --request nobody.json --tenant t",
        "lookup --demo --expect ''",
        "lookup --demo --expect PREFIX_MACH",
        "lookup --demo --expect SOMETHING_ELSE",
        "lookup --demo --expect-replica ''",
        "lookup --demo --expect NO_HINT,TIMEOUT",
        "lookup --demo --expect-replica vllm-0",
        "lookup --demo --expect NO_HINT --expect-replica vllm-9",
        "lookup --demo --server http://127.0.0.1:1",
        "lookup --demo --timeout 1s",
        "lookup --demo --capture header.jsonl",
        "lookup --demo --policy none.yaml",
        "lookup --policy plain.txt $KEYS --prefix-hash ab",
        "lookup $KEYS --prefix-hash ab --capture line.jsonl",
        "lookup $KEYS --prefix-hash ab --capture plain.txt",
        "lookup --capture none.jsonl",
        "lookup --capture plain.txt",
        "lookup --capture header.jsonl",
        "lookup --capture header.jsonl --server http://127.0.0.1:1",
        "lookup --demo > /dev/full",
    ];
    look("lookup", &world(), &lines);
}

#[test]
fn report() {
    let mut world = world();
    world.name("LONG", "x".repeat(513));
    let lines = [
        "report",
        "report --replica r",
        "report $WHO",
        "report --replica r --hit-rate 1",
        "report --replica r --tenant t --hit-rate 1",
        "report --replica '' --tenant t --model m --hit-rate 1",
        "report --replica $LONG --tenant t --model m --hit-rate 1",
        "report $WHO --hit-rate NaN",
        "report $WHO --pressure 1e300",
        "report $WHO --hit-rate -0.5",
        "report $WHO --memory-bytes -1",
        "report $WHO --t2-hit-tokens x",
        "report $WHO --timestamp-us 0",
        "report $WHO --prefix-hash ab",
        "report $WHO --prefix-hash ab --prefix-tokens 16",
        "report $WHO --hash-scheme s --prefix-hash ab --prefix-tokens -1",
        "report $WHO --hash-scheme s --blocks ab --block-tokens -1",
        "report $WHO --hash-scheme s --blocks ab,cd --block-token-counts 1",
        "report $WHO --hash-scheme s --block-tokens 16",
        "report $WHO --hash-scheme s --token-ids 1,2",
        "report $WHO --hash-scheme s --token-ids 1,2 --block-size 0",
        "report $WHO --hash-scheme s --blocks ab --block-tokens 9 --block-size 9",
        "report $WHO --hit-rate 1 --tier T2",
        "report $WHO --hit-rate 1 --tier T4",
        "report $WHO --hit-rate 1 --prefix-tokens 2",
        "report --update none.json",
        "report --update folder",
        "report --update - < empty",
        "report --update plain.txt",
        "report --update nobody.json",
        "report --update update.json",
        "report --update update.json --replica r",
        "report --update large",
    ];
    look("report", &world, &lines);
}

#[test]
fn event() {
    let lines = [
        "event",
        "event --type all-cleared",
        "event --type burnt $WHO",
        "event --type prefix-evicted $WHO",
        "event --type all-cleared $WHO --prefix-hash ab",
        "event --type replica-updated $WHO --adapter a",
        "event --type all-cleared --replica '' --tenant t --model m",
        "event --type all-cleared $WHO --timestamp-us 0",
        "event --event none.json",
        "event --event - < empty",
        "event --event nobody.json",
        "event --event event.json",
        "event --event kind.json",
        "event --event event.json --replica r",
    ];
    look("event", &world(), &lines);
}
