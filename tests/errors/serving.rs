//! What keeps a server from starting.

use super::authority::Authority;
use super::look;
use super::world::World;

fn world() -> World {
    let mut world = World::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    world.name("TAKEN", taken.local_addr().unwrap());
    // It is held to the end of the process.
    std::mem::forget(taken);
    world.name(
        "FREE",
        "--grpc-addr 127.0.0.1:0 --http-addr 127.0.0.1:0 --admin-addr 127.0.0.1:0 --log-level off",
    );
    let authority = Authority::new("ours");
    let (one, other) = (authority.server(&["127.0.0.1"]), authority.server(&["127.0.0.1"]));
    world.file("tls.crt", &one.cert).file("tls.key", &one.key).file("other.key", &other.key);
    world.file("empty", "").file("plain.txt", "hello\n").file("folder/x", "").file("latin.txt", b"\xe9\n");
    world.large("large", (1 << 20) + 1);
    for (name, text) in [
        ("unknown", "max-entrees = 5\n"),
        ("range", "\nblock-size = 0\n"),
        ("list", "block-size = [1, 2]\n"),
        ("table", "[index]\nmax-entries = 5\n"),
        ("twice", "block-size = 1\nblock-size = 2\n"),
        ("syntax", "block-size =\n"),
        ("action", "print-config = true\n"),
    ] {
        world.file(&format!("{name}.toml"), text);
    }
    let digest = "0".repeat(64);
    let caller = |rest: &str| format!("version = 1\n[[caller]]\nname = \"a\"\n{rest}");
    world.file("syntax.callers", "version =\n").file("version.callers", "version = 2\n");
    world.file(
        "roles.callers",
        caller(&format!("token-sha256 = [\"{digest}\"]\nroles = [\"king\"]\ntenants = [\"t\"]\n")),
    );
    world
        .file("digest.callers", caller("token-sha256 = [\"ab\"]\nroles = [\"lookup\"]\ntenants = [\"t\"]\n"));
    world.file("nothing.callers", caller("roles = [\"lookup\"]\ntenants = [\"t\"]\n"));
    world.file("field.callers", caller("tokens = []\n"));
    world.file("short.tokens", "abc\n");
    world.file("bad.yaml", "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {name: a}\nspec: {minimumMatchTokens: 1}\n");
    world.file("worse/a.yaml", "a: [1,\n").file("worse/b.yaml", "b: [1,\n");
    world.file("newer.jsonl", "{\"icache\":\"capture\",\"version\":2}\n");
    world
}

#[test]
fn settings() {
    let lines = [
        "serve more",
        "serve --grpc-addr localhost",
        "serve --ranker best",
        "serve --otlp-endpoint http://127.0.0.1:99999",
        "serve --prefill-rate 0",
        "serve --in-flight-ttl 0x",
        "serve --load-hint-code none",
        "serve --grpc-addr 127.0.0.1",
        "serve --max-entries 0",
        "serve --max-memory 1",
        "serve --max-memory 5parsecs",
        "serve --max-streams 0",
        "serve --max-connections 0",
        "serve --max-in-flight x",
        "serve --metrics-max-series -1",
        "serve --max-message-size 5GiB",
        "serve --max-message-size 0B",
        "serve --max-blocks 0",
        "serve --max-hash-bytes 0",
        "serve --max-id-bytes 0",
        "serve --block-size 4097",
        "serve --slo-tight-ttft-ms -1",
        "serve --slo-tight-bias inf",
        "serve --pressure-weight -1",
        "serve --tenant-hot-min-hit-rate 1.5",
        "serve --replica-timeout -5s",
        "serve --default-ttl 0s",
        "serve --sweep-interval 0s",
        "serve --state-interval 0s",
        "serve --log-level ''",
        "serve --log-format xml",
        "serve --namespace ''",
        "serve --preload -",
        "serve --insecure-plaintext=maybe",
        "serve -o json",
        "serve --config none.toml",
        "serve --config folder",
        "serve --config latin.txt",
        "serve --config large",
        "serve --config unknown.toml",
        "serve --config range.toml",
        "serve --config list.toml",
        "serve --config table.toml",
        "serve --config twice.toml",
        "serve --config syntax.toml",
        "serve --config action.toml",
        "ICACHE_BLOCK_SIZE=0 serve",
        "ICACHE_INSECURE_PLAINTEXT=maybe serve",
        "serve --print-config > /dev/full",
    ];
    look("serve_settings", &world(), &lines);
}

#[test]
fn files_and_ports() {
    let lines = [
        "serve $FREE --tls-cert tls.crt",
        "serve $FREE --tls-key tls.key",
        "serve $FREE --tls-client-ca tls.crt",
        "serve --grpc-addr 0.0.0.0:0",
        "serve --admin-addr 0.0.0.0:0",
        "serve $FREE --tls-cert none.crt --tls-key tls.key",
        "serve $FREE --tls-cert plain.txt --tls-key tls.key",
        "serve $FREE --tls-cert tls.crt --tls-key plain.txt",
        "serve $FREE --tls-cert tls.crt --tls-key other.key",
        "serve $FREE --tls-cert tls.crt --tls-key tls.key --tls-client-ca plain.txt",
        "serve $FREE --tls-cert large --tls-key tls.key",
        "serve $FREE --admin-token-file none.tokens",
        "serve $FREE --admin-token-file empty",
        "serve $FREE --admin-token-file short.tokens",
        "serve $FREE --admin-token-file latin.txt",
        "serve $FREE --auth-file none.callers",
        "serve $FREE --auth-file empty",
        "serve $FREE --auth-file syntax.callers",
        "serve $FREE --auth-file version.callers",
        "serve $FREE --auth-file roles.callers",
        "serve $FREE --auth-file digest.callers",
        "serve $FREE --auth-file nothing.callers",
        "serve $FREE --auth-file field.callers",
        "serve $FREE --policy none.yaml",
        "serve $FREE --policy bad.yaml",
        "serve $FREE --policy worse",
        "serve $FREE --preload none.jsonl",
        "serve $FREE --preload plain.txt",
        "serve $FREE --preload newer.jsonl",
        "serve $FREE --state-dir plain.txt",
        "serve $FREE --ready-file none/ready.json",
        "serve --grpc-addr $TAKEN --http-addr 127.0.0.1:0 --admin-addr 127.0.0.1:0 --log-level off",
        "serve --http-addr $TAKEN --grpc-addr 127.0.0.1:0 --admin-addr 127.0.0.1:0 --log-level off",
        "serve --admin-addr $TAKEN --grpc-addr 127.0.0.1:0 --http-addr 127.0.0.1:0 --log-level off",
    ];
    look("serve_files_and_ports", &world(), &lines);
}
