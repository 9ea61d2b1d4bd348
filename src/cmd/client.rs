//! Calls to a server, and what went wrong with them.

use std::future::Future;
use std::time::Duration;

use clap::Args;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

use super::error::{CommandError, ServerError, UsageError};
use super::input;
use crate::contract::wire;

/// Which server is asked.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub struct ServerArgs {
    /// Server to ask
    #[arg(
        long,
        value_name = "URL",
        env = "ICACHE_SERVER",
        default_value = "http://127.0.0.1:9090",
        hide_env_values = true
    )]
    server: String,
    /// Deadline of the call, such as `250ms` or `5s`; the server is told, and answers in time or not at all
    #[arg(long, value_name = "DURATION", value_parser = input::span)]
    timeout: Option<Duration>,
}

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// A connected server.
pub struct Client {
    channel: Channel,
    url: String,
    timeout: Option<Duration>,
}

type Contract = wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient<Channel>;
type Explain = wire::icache::v1alpha1::explain_client::ExplainClient<Channel>;

impl ServerArgs {
    /// Connects, runs `call` and waits for it; Ctrl-C ends the wait.
    pub fn run<T, F>(&self, call: impl FnOnce(Client) -> F) -> Result<T, CommandError>
    where
        F: Future<Output = Result<T, CommandError>>,
    {
        let (endpoint, url) = self.endpoint()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let work = async {
                let channel = endpoint.connect().await.map_err(|error| unreachable(&url, &error))?;
                call(Client { channel, url, timeout: self.timeout }).await
            };
            tokio::select! {
                done = work => done,
                _ = tokio::signal::ctrl_c() => Err(CommandError::Interrupted),
            }
        })
    }

    fn endpoint(&self) -> Result<(Endpoint, String), UsageError> {
        let given = self.server.trim_end_matches('/');
        if given.starts_with("https://") {
            return Err(UsageError::new(
                format!("`--server {given}` asks for TLS, which this version does not speak as a client"),
                "give an http:// URL, or put a TLS proxy in between",
            ));
        }
        let url = if given.contains("://") { given.to_owned() } else { format!("http://{given}") };
        let wrong = || {
            UsageError::new(
                format!("`--server {given}` is no server URL"),
                "write it as `http://HOST:PORT`, such as `http://127.0.0.1:9090`",
            )
        };
        let endpoint = Endpoint::from_shared(url.clone()).map_err(|_| wrong())?;
        if endpoint.uri().scheme_str() != Some("http") || endpoint.uri().host().is_none_or(str::is_empty) {
            return Err(wrong());
        }
        Ok((endpoint.connect_timeout(CONNECT.min(self.timeout.unwrap_or(CONNECT))), url))
    }
}

/// Bytes of one answer: an explanation of a large fleet is larger than the library's default of 4 MiB.
const MAX_ANSWER_BYTES: usize = 64 << 20;

impl Client {
    /// The shared contract.
    pub fn contract(&self) -> Contract {
        Contract::new(self.channel.clone()).max_decoding_message_size(MAX_ANSWER_BYTES)
    }

    /// The explain service.
    pub fn explain(&self) -> Explain {
        Explain::new(self.channel.clone()).max_decoding_message_size(MAX_ANSWER_BYTES)
    }

    /// A message with the deadline of the call.
    pub fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(timeout) = self.timeout {
            request.set_timeout(timeout);
        }
        request
    }

    /// What a status means to the caller.
    pub fn failed(&self, status: &Status) -> CommandError {
        let url = &self.url;
        let text = status.message().trim_end_matches('.');
        let said = if text.is_empty() { String::new() } else { format!(": {text}") };
        if let (Some(timeout), Code::DeadlineExceeded | Code::Cancelled) = (self.timeout, status.code()) {
            return ServerError::new(
                format!("the server at `{url}` did not answer within {timeout:?}"),
                "give it longer with `--timeout`, or look at its load",
            )
            .into();
        }
        let advice = match status.code() {
            Code::Unimplemented => "check that the address is that of an icache server's gRPC port",
            Code::Unauthenticated | Code::PermissionDenied => {
                "the server restricts access; ask its operator for a token that may do this"
            }
            Code::ResourceExhausted => "send less at once: the server limits the size of a message",
            Code::Unavailable => "check that the server still runs, and try again",
            _ => "the server's log says more",
        };
        let code = format!("{:?}", status.code());
        ServerError::new(format!("the server at `{url}` answered {code}{said}"), advice).into()
    }
}

fn unreachable(url: &str, error: &tonic::transport::Error) -> ServerError {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    ServerError::new(
        format!("cannot reach the server at `{url}`: {}", super::error::sentence(&cause)),
        "start one with `icache serve`, or name another with `--server` or ICACHE_SERVER",
    )
}
