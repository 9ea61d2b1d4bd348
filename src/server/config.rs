//! What a server is told to be, and why one does not start.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use super::config_view::ConfigView;
use super::saved::StateFolder;
use super::tls::TlsFiles;
use super::traces::TraceConfig;

/// Settings of the server itself; those of index and ranking are in the router.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Where the gRPC services listen; port 0 takes a free one.
    pub grpc_addr: SocketAddr,
    /// Where health and metrics are served over HTTP; port 0 takes a free one.
    pub http_addr: SocketAddr,
    /// Where policies are read and pushed over HTTP; port 0 takes a free one.
    pub admin_addr: SocketAddr,
    /// Certificates, where gRPC and the admin port speak TLS.
    pub tls: Option<TlsFiles>,
    /// Tokens of the admin port; without them it asks for none.
    pub admin_token_file: Option<PathBuf>,
    /// Callers that gRPC admits; without it everybody.
    pub auth_file: Option<PathBuf>,
    /// What `GET /config` tells.
    pub effective: ConfigView,
    /// Bytes of one message; a larger one is answered RESOURCE_EXHAUSTED.
    pub max_message_bytes: usize,
    /// Concurrent streams of one connection.
    pub max_streams: u32,
    /// Connections of one port at a time; a further one is closed at once.
    pub max_connections: usize,
    /// Time that a connection has to begin, and the head of an HTTP request to come.
    pub head_wait: Duration,
    /// Where the state is saved, and the time between two savings; without it none is.
    pub state: Option<(StateFolder, Duration)>,
    /// Where spans of calls are sent; without it none are made.
    pub traces: Option<TraceConfig>,
    /// Model and tenant names that label metrics; further ones are labelled `other`.
    pub metrics_max_series: usize,
    /// Time that the message of a lookup may take to come; after it the call is not in flight until it comes.
    pub message_wait: Duration,
    /// Time between two sweeps.
    pub sweep_interval: Duration,
    /// Time that calls in flight have to finish once the server stops.
    pub drain_timeout: Duration,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            grpc_addr: SocketAddr::from(([127, 0, 0, 1], 9090)),
            http_addr: SocketAddr::from(([127, 0, 0, 1], 8080)),
            admin_addr: SocketAddr::from(([127, 0, 0, 1], 8081)),
            tls: None,
            admin_token_file: None,
            auth_file: None,
            effective: ConfigView::default(),
            max_message_bytes: 16 << 20,
            max_streams: 1_024,
            max_connections: 10_240,
            head_wait: Duration::from_secs(30),
            state: None,
            traces: None,
            metrics_max_series: 1_000,
            message_wait: Duration::from_secs(1),
            sweep_interval: Duration::from_secs(60),
            drain_timeout: Duration::from_secs(10),
        }
    }
}

/// Why a server did not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// An address cannot be listened on.
    #[error("cannot listen on `{addr}`: {source}")]
    Bind {
        /// The flag that sets the address.
        flag: &'static str,
        /// The address.
        addr: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of certificates, tokens or callers cannot be used.
    #[error("`{}`: {why}", path.display())]
    Credentials {
        /// The flag that names the file.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Spans cannot be sent where they should.
    #[error("cannot send traces to `{endpoint}`: {why}")]
    Traces {
        /// The collector.
        endpoint: String,
        /// What is wrong with it.
        why: String,
    },
    /// Policy files cannot be watched.
    #[error("cannot watch the policy files: {0}")]
    Watch(std::io::Error),
    /// The descriptors that reflection serves are broken.
    #[error("cannot serve reflection: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}
