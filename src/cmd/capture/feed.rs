//! The connection to a server that is observed.

use std::time::Duration;

use tonic::{Code, Status, Streaming};

use crate::cmd::client::{Client, ServerArgs, Way};
use crate::cmd::error::{CommandError, ServerError, UsageError};
use crate::contract::wire::icache::v1alpha1 as wire;

/// Bytes of one record: the largest update that a server may take, and an answer.
const MAX_RECORD_BYTES: usize = 1 << 30;

/// A stream window, so that a busy server need not wait for every 64 KiB to be acknowledged.
const WINDOW: u32 = 8 << 20;

/// Longest wait for a server that has gone to say so.
const SILENCE: Duration = Duration::from_secs(20);

/// Whom to observe.
pub(super) struct Feed {
    way: Way,
    lookups: f32,
}

/// Records of one server, from a state of its own on.
pub(super) struct Records {
    stream: Streaming<wire::Record>,
    /// Read ahead, since it says where the state is of.
    first: Option<wire::Record>,
    /// Place of the state in the order of records.
    pub(super) sequence: u64,
}

impl Feed {
    pub(super) fn new(server: &ServerArgs, lookups: f32) -> Result<Self, UsageError> {
        let way = server.way()?.with(|endpoint| {
            endpoint
                .initial_stream_window_size(WINDOW)
                .initial_connection_window_size(WINDOW)
                .http2_keep_alive_interval(SILENCE / 2)
                .keep_alive_timeout(SILENCE / 2)
                .keep_alive_while_idle(true)
        });
        Ok(Self { way, lookups })
    }

    pub(super) fn url(&self) -> &str {
        self.way.url()
    }

    /// Connects anew, and waits for the first record.
    pub(super) async fn open(&self) -> Result<Records, CommandError> {
        let client = self.way.connect().await?;
        let request = wire::ObserveRequest { lookups: Some(f64::from(self.lookups)) };
        let opened = client.observe(MAX_RECORD_BYTES).observe(client.lasting(request)).await;
        let opened = opened.map_err(|status| self.refused(&client, &status))?;
        let mut stream = opened.into_inner();
        match stream.message().await {
            Ok(Some(first)) => Ok(Records { stream, sequence: first.sequence, first: Some(first) }),
            Ok(None) => {
                Err(self.refused(&client, &Status::unavailable("it stopped before it sent anything")))
            }
            Err(status) => Err(self.refused(&client, &status)),
        }
    }

    fn refused(&self, client: &Client, status: &Status) -> CommandError {
        let url = self.way.url();
        let (said, advice) = match status.code() {
            Code::Unimplemented => (
                "cannot be observed: it has no observer feed".to_owned(),
                "check that it is an icache server of this version, and that the address is that of its gRPC port",
            ),
            Code::Unauthenticated | Code::PermissionDenied => return client.failed(status),
            // What is wrong is the connection, or what answers there.
            _ if std::error::Error::source(status).is_some() => return client.failed(status),
            _ => (
                format!("cannot be observed: {}", status.message().trim_end_matches('.')),
                "check the server's log, and try again",
            ),
        };
        ServerError::new(format!("the server at `{url}` {said}"), advice).into()
    }
}

impl Records {
    /// The next record; `None` where the server ended the feed. Safe to drop while it waits.
    pub(super) async fn next(&mut self) -> Result<Option<wire::Record>, Status> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.stream.message().await,
        }
    }
}
