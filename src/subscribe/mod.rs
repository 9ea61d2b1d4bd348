//! The sidecar beside an engine: its published events to what a server is told.
//!
//! From one end to the other, each usable alone: [`Connections`] receives the batches of publishers in order, gaps
//! closed; [`Follower`] decodes them and follows what each replica holds; [`Outbox`] keeps what the server has yet to
//! hear; [`run`] is the sidecar that joins them with a server. A recorder needs the first, or the first two with
//! [`crate::engine::feed`].

mod connection;
mod follow;
mod frames;
mod http;
mod link;
mod metrics;
mod outbox;
mod scrape;
mod seldom;
mod sidecar;
mod sockets;

pub use connection::{ConnectError, Connections, MAX_TOPIC_BYTES, MAX_WAITING_BATCHES, Received};
pub use follow::{Fleet, FollowCounts, Followed, Follower, MAX_REPLICAS, Replica};
pub use link::{Dial, Dialed, Dialing, Wire};
pub use metrics::METRICS;
pub use outbox::{Addition, BATCH_WAIT, Load, MAX_WAITING_CHANGES, Outbox, REFRESH_GAP};
pub use scrape::{EngineStats, MAX_PAGE_BYTES, Page, Wanted};
pub use sidecar::{FAREWELL, LIVENESS, SCRAPE, SidecarConfig, run};
pub use sockets::{MAX_FRAME_BYTES, MAX_WAITING_MESSAGES, Publisher};
