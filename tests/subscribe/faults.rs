//! Engines, servers and wires that fail.

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use crate::engine::{Engine, removed, stored};
use crate::process::Process;
use crate::proxy::Proxy;
use crate::sidecar::{Gateway, Sidecar, until};

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_restarts_has_forgotten_what_it_held() {
    for layout in ["plain", "topic"] {
        let server = Process::start(&[]);
        let gateway = Gateway::of(server.grpc_addr);
        let mut engine = Engine::start(layout);
        let sidecar = Sidecar::start(engine.port, engine.replay_port, server.grpc_addr, &[]);
        engine.publish(&[stored(1, 0..4)]);
        engine.publish(&[stored(2, 0..3)]);
        gateway.until_held(&[(1, 4), (2, 3)]).await;

        // Another process, which has published less.
        let mut engine = engine.kill()();
        engine.publish(&[stored(2, 0..1)]);
        gateway.until_held(&[(1, 0), (2, 1)]).await;

        // Another one, which says nothing at all.
        let engine = engine.kill()();
        gateway.until_held(&[(1, 0), (2, 0)]).await;

        // And one that has published more before it is heard.
        let again = engine.kill();
        sidecar.until_metric("engine_connected{rank=\"0\"}", 0.0).await;
        let mut engine = again();
        for blocks in 1..=5 {
            engine.publish(&[stored(3, blocks - 1..blocks)]);
        }
        gateway.until_held(&[(1, 0), (2, 0), (3, 5)]).await;
        assert!(sidecar.metric("engine_restarts_total").await.unwrap() >= 2.0);
        assert_eq!(sidecar.dropped("lost").await, 0.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_dropped_on_the_way_is_asked_for() {
    for layout in ["plain", "topic"] {
        let server = Process::start(&[]);
        let gateway = Gateway::of(server.grpc_addr);
        let mut engine = Engine::start(layout);
        let sidecar = Sidecar::start(engine.port, engine.replay_port, server.grpc_addr, &[]);
        engine.publish(&[stored(1, 0..4)]);
        gateway.until_held(&[(1, 4)]).await;
        let first = engine.next_seq();
        let asked = engine.asked().len();

        // Not sent, but kept for a replay: among them a removal.
        engine.publish_with(&[removed(1, 2..4)], json!({"send": false}));
        engine.publish_with(&[stored(2, 0..3)], json!({"send": false}));
        engine.publish(&[stored(3, 0..1)]);
        gateway.until_held(&[(1, 2), (2, 3), (3, 1)]).await;
        assert!(engine.asked()[asked..].contains(&first), "from the first missing");
        assert_eq!(sidecar.dropped("lost").await, 0.0);

        // Neither sent nor kept: lost, and the stream goes on.
        engine.publish_with(&[stored(4, 0..3)], json!({"send": false, "buffer": false}));
        engine.publish_with(&[stored(4, 3..4)], json!({"send": false, "buffer": false}));
        engine.publish(&[stored(5, 0..2)]);
        gateway.until_held(&[(3, 1), (4, 0), (5, 2)]).await;
        engine.publish(&[stored(6, 0..2)]);
        gateway.until_held(&[(6, 2)]).await;
        assert_eq!(sidecar.dropped("lost").await, 2.0);
        let gaps = engine.asked()[asked..].iter().filter(|from| [first, first + 3].contains(from)).count();
        assert_eq!(gaps, 2, "one gap is asked for once");

        // The last batch before a silence.
        engine.publish_with(&[removed(6, 0..2)], json!({"send": false}));
        gateway.until_held(&[(5, 2), (6, 0)]).await;
        assert_eq!(sidecar.metric("engine_restarts_total").await, Some(0.0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_number_above_0_is_asked_for_from_0_and_one_that_goes_back_is_a_restart() {
    let server = Process::start(&[]);
    let gateway = Gateway::of(server.grpc_addr);
    let mut engine = Engine::start("plain");
    engine.renumber(12);
    engine.publish(&[stored(1, 0..2)]);
    engine.renumber(17);
    let sidecar = Sidecar::start(engine.port, engine.replay_port, server.grpc_addr, &[]);
    gateway.until_held(&[(1, 2)]).await;
    engine.publish(&[stored(2, 0..2)]);
    gateway.until_held(&[(1, 2), (2, 2)]).await;
    assert_eq!(engine.asked()[0], 0);
    assert_eq!(sidecar.dropped("lost").await, 12.0 + 4.0);
    engine.renumber(0);
    engine.publish(&[stored(3, 0..2)]);
    gateway.until_held(&[(1, 0), (2, 0), (3, 2)]).await;
    assert_eq!(sidecar.metric("engine_restarts_total").await, Some(1.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_restarts_is_told_everything_held() {
    let server = Process::start(&[]);
    let addr = server.grpc_addr;
    let gateway = Gateway::of(addr);
    let mut engine = Engine::start("topic");
    let sidecar = Sidecar::start(engine.port, engine.replay_port, addr, &[]);
    engine.publish(&[stored(1, 0..4), stored(2, 0..3)]);
    gateway.until_held(&[(1, 4), (2, 3)]).await;

    // At once, so that it happens between two signs of life.
    drop(server);
    let server = Process::start(&[&format!("--grpc-addr={addr}")]);
    gateway.until_held(&[(1, 4), (2, 3)]).await;

    // What changes while it is away.
    drop(server);
    sidecar.until_metric("server_connected", 0.0).await;
    engine.publish(&[removed(1, 1..4), stored(3, 0..2)]);
    sidecar.until_metric("held_blocks{replica=\"r\"}", 6.0).await;
    let _server = Process::start(&[&format!("--grpc-addr={addr}")]);
    gateway.until_held(&[(1, 1), (2, 3), (3, 2)]).await;
    assert_eq!(sidecar.dropped("lost").await, 0.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wire_to_the_server_that_is_cut_leaves_no_stale_hint() {
    let server = Process::start(&[]);
    let gateway = Gateway::of(server.grpc_addr);
    let proxy = Proxy::to(server.grpc_addr.port()).await;
    let mut engine = Engine::start("plain");
    let sidecar = Sidecar::start(engine.port, engine.replay_port, proxy.addr, &[]);
    engine.publish(&[stored(1, 0..4)]);
    gateway.until_held(&[(1, 4)]).await;
    let reports = sidecar.metric("full_reports_total{cause=\"connected\"}").await.unwrap();

    proxy.cut();
    sidecar.until_metric("server_connected", 0.0).await;
    engine.publish(&[removed(1, 3..4), stored(2, 0..2)]);
    sidecar.until_metric("held_blocks{replica=\"r\"}", 5.0).await;
    assert_eq!(gateway.blocks(1).await["r"], 4, "the server knows no better meanwhile");
    proxy.mend(server.grpc_addr.port());
    gateway.until_held(&[(1, 3), (2, 2)]).await;
    let told = sidecar.metric("full_reports_total{cause=\"connected\"}").await.unwrap();
    assert!(told > reports, "everything was told anew: {told} after {reports}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wire_to_the_engine_that_is_cut_amid_a_message_loses_nothing() {
    let server = Process::start(&[]);
    let gateway = Gateway::of(server.grpc_addr);
    let mut engine = Engine::start("plain");
    let proxy = Proxy::to(engine.port).await;
    let sidecar = Sidecar::start(proxy.addr.port(), engine.replay_port, server.grpc_addr, &[]);
    engine.publish(&[stored(1, 0..4)]);
    gateway.until_held(&[(1, 4)]).await;

    // In the middle of the payload, which is some kilobytes long.
    proxy.cut_after(200);
    engine.publish(&[stored(2, 0..8)]);
    gateway.until_held(&[(1, 4), (2, 8)]).await;
    assert!(proxy.accepted() > 1, "the wire was cut");

    proxy.cut();
    sidecar.until_metric("engine_connected{rank=\"0\"}", 0.0).await;
    engine.publish(&[removed(1, 2..4)]);
    engine.publish(&[stored(3, 0..2)]);
    proxy.mend(engine.port);
    // Without a further batch: what was missed is asked for once the wire is there again.
    gateway.until_held(&[(1, 2), (2, 8), (3, 2)]).await;
    assert_eq!((sidecar.dropped("lost").await, sidecar.dropped("bad-frame").await), (0.0, 0.0));
    assert_eq!(sidecar.metric("engine_restarts_total").await, Some(0.0));
}

/// A peer that speaks, in turn, no ZeroMQ, and ZeroMQ with a frame of 2^62 bytes.
#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_is_no_engine_costs_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut greeting = b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\0NULL".to_vec();
    greeting.resize(64, 0);
    let ready = b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03PUB".to_vec();
    let mut long = [greeting, ready, vec![0x03]].concat();
    long.extend((1_u64 << 62).to_be_bytes());
    long.extend([7; 4_096]);
    tokio::spawn(async move {
        for bytes in [b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), vec![0xff; 4_096], long].iter().cycle() {
            let Ok((mut stream, _)) = listener.accept().await else { return };
            let _ = stream.write_all(bytes).await;
        }
    });
    let server = Process::start(&[]);
    let gateway = Gateway::of(server.grpc_addr);
    let mut engine = Engine::start("plain");
    let proxy = Proxy::to(port).await;
    let _sidecar = Sidecar::start(proxy.addr.port(), engine.replay_port, server.grpc_addr, &[]);
    until("it has met the peer", async || proxy.accepted() > 3).await;
    proxy.mend(engine.port);
    engine.publish(&[stored(1, 0..4)]);
    gateway.until_held(&[(1, 4)]).await;
}
