//! Servers that are away, silent, something else, or that refuse: every command that asks one.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener};

use super::authority::Authority;
use super::look;
use super::process::Process;
use super::world::World;

/// Answers every connection with `answer`, to the end of the process.
fn answering(answer: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut asked = [0; 4096];
                // Whoever hangs up early has what it wants.
                let _ = socket.read(&mut asked);
                let _ = socket.write_all(answer.as_bytes());
                // An end of ours before the caller has read would take the answer with it.
                let _ = socket.shutdown(Shutdown::Write);
                let _ = std::io::copy(&mut socket, &mut std::io::sink());
            });
        }
    });
    addr
}

/// A port that is connected to, and where nobody says a word.
fn silent() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    // It is held to the end of the process.
    std::mem::forget(listener);
    addr
}

#[test]
fn nobody_there() {
    let world = World::new();
    world.file("header.jsonl", "{\"icache\":\"capture\",\"version\":1}\n{\"t\":1,\"kind\":\"report\",\"update\":{\"replicaId\":\"r\",\"tenantId\":\"t\",\"modelId\":\"m\"}}\n");
    let lines = [
        "state --server http://127.0.0.1:1",
        "ICACHE_SERVER=http://127.0.0.1:1 state",
        "lookup $KEYS --prefix-hash ab --server http://127.0.0.1:1",
        "lookup $KEYS --prefix-hash ab --server http://127.0.0.1:1 --explain",
        "report $WHO --hit-rate 1 --server http://127.0.0.1:1",
        "event --type all-cleared $WHO --server http://127.0.0.1:1",
        "capture --out c.jsonl --server http://127.0.0.1:1",
        "replay header.jsonl --server http://127.0.0.1:1",
        "bench --server http://127.0.0.1:1 --requests 1",
        "drain r --admin-url http://127.0.0.1:1",
        "ICACHE_ADMIN_URL=http://127.0.0.1:1 drain r",
        "policy show --admin-url http://127.0.0.1:1",
        "top --once --server http://127.0.0.1:1 --http-url http://127.0.0.1:1 --admin-url http://127.0.0.1:1",
        "state --server http://icache.invalid:9090",
    ];
    look("nobody_there", &world, &lines);
}

#[test]
fn addresses() {
    let world = World::new();
    world.file("plain.txt", "hello\n").file("empty", "").large("large", (1 << 20) + 1);
    let authority = Authority::new("ours");
    let (one, other) = (authority.server(&["127.0.0.1"]), authority.server(&["127.0.0.1"]));
    world.file("one.crt", &one.cert).file("other.key", &other.key);
    world.file("broken.pem", "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n");
    let lines = [
        "state --server http://127.0.0.1:99999",
        "state --server http://127.0.0.1:abc",
        "state --server http://",
        "state --server 127.0.0.1:0",
        "state --server http://h:1/p",
        "state --server ftp://h:1",
        "ICACHE_SERVER= state",
        "ICACHE_SERVER=%FF state",
        "drain r --admin-url ftp://h",
        "drain ''",
        "drain",
        "drain r --undo --show",
        "bench --against nowhere:x --server http://127.0.0.1:1",
        "bench --rate 0",
        "bench --rate 1 --in-flight 2",
        "bench --in-flight 1 --connections 2",
        "bench --in-flight 0",
        "bench --duration 0s",
        "bench --duration 1h",
        "bench --duration 1s --requests 1",
        "bench --warm-up -1s",
        "bench --blocks 0",
        "bench --chains 4194304 --blocks 2",
        "bench --mix full",
        "bench --mix full=1,full=2",
        "bench --mix full=0",
        "bench --html none/page.html --server http://127.0.0.1:1",
        "bench --tenant ''",
        "top --interval 5ms",
        "top -o json",
        "top --http-url ftp://h --once",
        "doctor --admin-url h",
        "state --server https://127.0.0.1:1 --ca none.pem",
        "state --server https://127.0.0.1:1 --ca plain.txt",
        "state --server https://127.0.0.1:1 --ca large",
        "state --server https://127.0.0.1:1 --cert plain.txt",
        "state --server https://127.0.0.1:1 --cert plain.txt --key plain.txt",
        "state --server https://127.0.0.1:1 --cert one.crt --key plain.txt",
        "state --server https://127.0.0.1:1 --cert one.crt --key other.key",
        "state --server https://127.0.0.1:1 --ca broken.pem",
        "ICACHE_CERT=plain.txt state --server https://127.0.0.1:1",
        "state --token-file none",
        "state --token-file empty",
        "state --token ''",
        "state --token a --token-file empty",
    ];
    look("addresses", &world, &lines);
}

#[test]
fn something_else_there() {
    let mut world = World::new();
    world.name("SILENT", silent());
    world.name("HTTP", answering("HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nhi\n"));
    world.name("NOISE", answering("220 mail.example ESMTP\r\n"));
    let missing = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    world.name("MISSING", answering(missing));
    let newer = "HTTP/1.1 200 OK\r\ncontent-length: 13\r\nconnection: close\r\n\r\n{\"version\":9}";
    world.name("NEWER", answering(newer));
    let lines = [
        "state --server http://$SILENT --timeout 100ms",
        "lookup $KEYS --prefix-hash ab --server http://$SILENT --timeout 100ms",
        "report $WHO --hit-rate 1 --server http://$SILENT --timeout 100ms",
        "event --type all-cleared $WHO --server http://$SILENT --timeout 100ms",
        "state --server http://$HTTP",
        "state --server http://$NOISE",
        "state --server https://$HTTP",
        "drain r --admin-url http://$HTTP",
        "drain r --admin-url http://$NOISE",
        "drain r --admin-url https://$HTTP",
        "drain r --admin-url http://$MISSING",
        "drain r --admin-url http://$NEWER",
        "policy show --admin-url http://$NEWER",
        "policy show --admin-url http://$HTTP",
        "policy diff http://$HTTP http://$HTTP",
    ];
    look("something_else_there", &world, &lines);
}

#[test]
fn refusals() {
    let mut world = World::new();
    let digest = "0".repeat(64);
    world.file(
        "callers.toml",
        format!("version = 1\n[[caller]]\nname = \"a\"\ntoken-sha256 = [\"{digest}\"]\nroles = [\"lookup\"]\ntenants = [\"*\"]\n"),
    );
    world
        .file("tokens", "a-token-of-some-length-0123456789\n")
        .file("other-token", "another-token-0123456789\n");
    let path = |name: &str| world.path().join(name).to_str().unwrap().to_owned();
    let guarded =
        Process::start(&["--auth-file", &path("callers.toml"), "--admin-token-file", &path("tokens")]);
    let narrow = Process::start(&["--max-message-size", "1KiB"]);
    world.file("update.json", format!("{{\"replicaId\":\"r\",\"tenantId\":\"t\",\"modelId\":\"m\",\"hashScheme\":\"s\",\"prefixes\":[{{\"blockHashes\":[{}\"qw==\"],\"blockTokenCounts\":[{}1]}}]}}", "\"qw==\",".repeat(600), "1,".repeat(600)));
    world.name("GUARDED_GRPC", guarded.grpc_addr);
    world.name("GUARDED_ADMIN", guarded.admin_addr);
    world.name("NARROW", narrow.grpc_addr);
    let lines = [
        "state --server http://$GUARDED_GRPC",
        "state --server http://$GUARDED_GRPC --token-file other-token",
        "lookup $KEYS --prefix-hash ab --server http://$GUARDED_GRPC --expect NO_HINT",
        "report $WHO --hit-rate 1 --server http://$GUARDED_GRPC",
        "capture --out c.jsonl --server http://$GUARDED_GRPC",
        "drain r --admin-url http://$GUARDED_ADMIN",
        "drain r --admin-url http://$GUARDED_ADMIN --token-file other-token",
        "policy show --admin-url http://$GUARDED_ADMIN",
        "report --update update.json --server http://$NARROW",
        "policy show --admin-url http://$NARROW",
        "bench --server http://$GUARDED_GRPC --requests 1",
        "top --once --server http://$GUARDED_GRPC --http-url http://127.0.0.1:1 --admin-url http://127.0.0.1:1",
    ];
    look("refusals", &world, &lines);
}

#[test]
fn certificates() {
    let mut world = World::new();
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    world.file("ours.pem", &ours.pem).file("theirs.pem", &theirs.pem);
    let client = theirs.client("spiffe://somebody");
    world.file("client.crt", &client.cert).file("client.key", &client.key);
    let mut servers = Vec::new();
    for (name, signed) in [
        ("GOOD", ours.server(&["127.0.0.1"])),
        ("EXPIRED", ours.expired()),
        ("MISNAMED", ours.server(&["icache.example"])),
        ("MUTUAL", ours.server(&["127.0.0.1"])),
    ] {
        world.file(&format!("{name}.crt"), &signed.cert).file(&format!("{name}.key"), &signed.key);
        let path = |file: &str| world.path().join(file).to_str().unwrap().to_owned();
        let (cert, key, ca) = (path(&format!("{name}.crt")), path(&format!("{name}.key")), path("ours.pem"));
        let mut args = vec!["--tls-cert", &cert, "--tls-key", &key];
        if name == "MUTUAL" {
            args.extend(["--tls-client-ca", &ca]);
        }
        let server = Process::start(&args);
        world.name(name, server.grpc_addr);
        world.name(&format!("{name}_ADMIN"), server.admin_addr);
        servers.push(server);
    }
    let plain = Process::start(&[]);
    world.name("PLAIN", plain.grpc_addr);
    let lines = [
        "state --server https://$GOOD --ca theirs.pem",
        "state --server https://$EXPIRED --ca ours.pem",
        "state --server https://$MISNAMED --ca ours.pem",
        "state --server https://$MUTUAL --ca ours.pem",
        "state --server https://$MUTUAL --ca ours.pem --cert client.crt --key client.key",
        "state --server http://$GOOD",
        "state --server https://$PLAIN --ca ours.pem",
        "policy show --admin-url https://$GOOD_ADMIN --ca theirs.pem",
        "drain r --admin-url http://$GOOD_ADMIN",
        "drain r --admin-url https://$MUTUAL_ADMIN --ca ours.pem",
    ];
    look("certificates", &world, &lines);
}
