//! The sockets to one publisher, with their limits.

use std::time::Duration;

use zmq::{Context, Socket, SocketType};

/// Bytes of one frame; a peer that announces more is disconnected before anything is allocated. Payloads have a
/// smaller limit, so that one over it costs one batch and not the connection.
pub const MAX_FRAME_BYTES: usize = 2 * crate::engine::MAX_PAYLOAD_BYTES;
/// Messages of one socket that wait to be read at most; further ones wait at the engine.
pub const MAX_WAITING_MESSAGES: i32 = 64;
/// A peer that is silent is asked for a sign of life this often, and given up after three times as long.
const HEARTBEAT_MS: i32 = 5_000;
/// Wait before the first attempt to connect again, and the longest one.
const RECONNECT_MS: (i32, i32) = (100, 2_000);
/// Longest wait for a connection, and for its handshake.
const CONNECT_MS: i32 = 5_000;

/// `ZMQ_EVENT_HANDSHAKE_SUCCEEDED` and `ZMQ_EVENT_DISCONNECTED` of libzmq's socket monitor.
pub(super) const EVENT_CONNECTED: u16 = zmq::SocketEvent::HANDSHAKE_SUCCEEDED as u16;
pub(super) const EVENT_DISCONNECTED: u16 = zmq::SocketEvent::DISCONNECTED as u16;

/// One publisher.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Publisher {
    /// Where it publishes, as `tcp://HOST:PORT`.
    pub endpoint: String,
    /// Where it answers replays; `None` where it does not.
    pub replay: Option<String>,
    /// Only topics that begin with this are taken; empty takes all.
    pub topic: String,
    /// How long a replay may be silent before it is given up.
    pub replay_timeout: Duration,
}

/// A subscription, and what tells whether it is connected.
pub(super) struct Sockets {
    pub(super) subscriber: Socket,
    pub(super) monitor: Socket,
}

impl Sockets {
    /// `number` is another one each time, since the monitor of an earlier socket may still be there.
    pub(super) fn open(context: &Context, publisher: &Publisher, number: u64) -> zmq::Result<Self> {
        let name = format!("inproc://monitor-{number}");
        let subscriber = socket(context, SocketType::SUB)?;
        subscriber.set_heartbeat_ivl(HEARTBEAT_MS)?;
        subscriber.set_heartbeat_timeout(3 * HEARTBEAT_MS)?;
        subscriber.set_subscribe(publisher.topic.as_bytes())?;
        subscriber.monitor(&name, i32::from(EVENT_CONNECTED | EVENT_DISCONNECTED))?;
        let monitor = context.socket(SocketType::PAIR)?;
        monitor.connect(&name)?;
        subscriber.connect(&publisher.endpoint)?;
        Ok(Self { subscriber, monitor })
    }
}

fn socket(context: &Context, kind: SocketType) -> zmq::Result<Socket> {
    let socket = context.socket(kind)?;
    socket.set_ipv6(true)?;
    socket.set_linger(0)?;
    socket.set_maxmsgsize(MAX_FRAME_BYTES as i64)?;
    socket.set_rcvhwm(MAX_WAITING_MESSAGES)?;
    socket.set_reconnect_ivl(RECONNECT_MS.0)?;
    socket.set_reconnect_ivl_max(RECONNECT_MS.1)?;
    socket.set_connect_timeout(CONNECT_MS)?;
    socket.set_handshake_ivl(CONNECT_MS)?;
    Ok(socket)
}

/// Where replays are asked for.
pub(super) fn dealer(context: &Context, endpoint: &str) -> zmq::Result<Socket> {
    let dealer = socket(context, SocketType::DEALER)?;
    dealer.connect(endpoint)?;
    Ok(dealer)
}
