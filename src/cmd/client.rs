//! Calls to a server, and what went wrong with them.

use std::future::Future;
use std::time::Duration;

use clap::Args;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Code, Request, Status};

use super::connect::{AccessArgs, ConnectFault, Connector};
use super::error::{CommandError, ServerError, UsageError};
use super::input;
use super::runtime;
use crate::contract::{code_name, wire};
use crate::doctor::FaultKind;
use crate::model::format_duration;

/// Which server is asked.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Server")]
pub struct ServerArgs {
    /// Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = input::span)]
    timeout: Option<Duration>,
    /// The flag that named it, for errors
    #[arg(skip = "--server")]
    flag: &'static str,
    #[command(flatten)]
    access: AccessArgs,
}

/// Environment variable that names the server.
const VARIABLE: &str = "ICACHE_SERVER";
/// The server where nobody names one.
const LOCAL: &str = "http://127.0.0.1:9090";
/// Longest wait for an answer: a caller who does not say must not hang on a server that never answers.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// A connected server; a clone shares the connection.
#[derive(Clone)]
pub struct Client {
    channel: Channel,
    url: String,
    timeout: Duration,
    authorization: Option<MetadataValue<Ascii>>,
    connector: Connector,
}

type Contract = wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient<Channel>;
type Fast = wire::icache::v1alpha1::fast_lookup_client::FastLookupClient<Channel>;
type Health = tonic_health::pb::health_client::HealthClient<Channel>;
type Observe = wire::icache::v1alpha1::observe_client::ObserveClient<Channel>;
type Explain = wire::icache::v1alpha1::explain_client::ExplainClient<Channel>;

impl ServerArgs {
    /// The server that `server` names, or the usual one.
    pub fn of(server: Option<String>, access: AccessArgs) -> Self {
        Self { server, timeout: None, flag: "--server", access }
    }

    /// Connects, runs `call` and waits for it; Ctrl-C ends the wait.
    pub fn run<T, F>(&self, call: impl FnOnce(Client) -> F) -> Result<T, CommandError>
    where
        F: Future<Output = Result<T, CommandError>>,
    {
        let way = self.way()?;
        let runtime = runtime::single()?;
        runtime.block_on(async {
            let work = async { call(way.connect().await?).await };
            tokio::select! {
                done = work => done,
                _ = tokio::signal::ctrl_c() => Err(CommandError::Interrupted),
            }
        })
    }

    /// The same for another server, which `flag` names.
    pub fn for_other(&self, flag: &'static str, url: &str) -> Self {
        Self { server: Some(url.to_owned()), flag, ..self.clone() }
    }

    /// How the server is reached. An error is one that no attempt would find otherwise: a URL that is none, or files for
    /// TLS or of a token that cannot be used.
    pub fn way(&self) -> Result<Way, UsageError> {
        let (endpoint, url) = self.endpoint()?;
        let way = Way { endpoint, url, access: self.access.clone(), timeout: self.patience() };
        way.open()?;
        Ok(way)
    }

    /// Whether the command line names a server.
    pub fn is_given(&self) -> bool {
        self.server.is_some()
    }

    /// Where it is, and its URL.
    fn endpoint(&self) -> Result<(Endpoint, String), UsageError> {
        let (given, named) = self.named()?;
        let wrong = || {
            UsageError::new(
                format!("{named} is no server URL"),
                format!("write it as `http://HOST:PORT` or `https://HOST:PORT`, such as `{LOCAL}`"),
            )
        };
        let text = if given.contains("://") { given } else { format!("http://{given}") };
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let url = server_url(&uri).ok_or_else(wrong)?;
        let endpoint = Endpoint::from_shared(url.clone()).map_err(|_| wrong())?;
        Ok((endpoint.connect_timeout(CONNECT.min(self.timeout.unwrap_or(CONNECT))), url))
    }

    /// Who calls, and whom it trusts.
    pub fn access(&self) -> &AccessArgs {
        &self.access
    }

    /// Longest wait for an answer.
    pub fn patience(&self) -> Duration {
        self.timeout.unwrap_or(PATIENCE)
    }

    /// The server as it was given, and by what, for errors.
    fn named(&self) -> Result<(String, String), UsageError> {
        if let Some(given) = &self.server {
            return Ok((given.clone(), format!("`{} {given}`", self.flag)));
        }
        match std::env::var(VARIABLE) {
            Ok(given) => Ok((given.clone(), format!("`{given}` in the environment variable {VARIABLE}"))),
            Err(std::env::VarError::NotPresent) => Ok((LOCAL.to_owned(), format!("`{LOCAL}`"))),
            Err(std::env::VarError::NotUnicode(_)) => Err(UsageError::new(
                format!("the environment variable {VARIABLE} is no UTF-8 text"),
                "unset it, or name the server with `--server`",
            )),
        }
    }
}

/// The way to a server: where it is, and what is shown to it.
#[derive(Clone)]
pub struct Way {
    endpoint: Endpoint,
    url: String,
    access: AccessArgs,
    timeout: Duration,
}

impl Way {
    /// With the endpoint as `set` sets it.
    pub fn with(mut self, set: impl FnOnce(Endpoint) -> Endpoint) -> Self {
        self.endpoint = set(self.endpoint);
        self
    }

    /// Where it leads, for errors and logs.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The server did not answer in time.
    pub fn late(&self) -> ServerError {
        late(&self.url, self.timeout)
    }

    /// The endpoint, without a connector.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// What connects, and the token that goes with calls. Certificates and token are read now, so that whoever connects
    /// again does so with the present ones.
    pub fn open(&self) -> Result<(Connector, Option<MetadataValue<Ascii>>), UsageError> {
        let access = self.access.read(self.url.starts_with("https:"), b"h2")?;
        let authorization = access.authorization.as_deref().and_then(sensitive);
        Ok((Connector::new(&self.url, self.endpoint.uri(), access), authorization))
    }

    /// A connection of its own. Whoever waits for it looks after Ctrl-C.
    pub async fn connect(&self) -> Result<Client, CommandError> {
        let (connector, authorization) = self.open()?;
        let channel = self.endpoint.connect_with_connector(connector.clone()).await;
        let channel = channel.map_err(|error| unreachable(&connector, &self.url, &error))?;
        Ok(Client { channel, url: self.url.clone(), timeout: self.timeout, authorization, connector })
    }
}

/// The URL that calls go to: a host and a port that exists, and nothing that calls would leave out.
fn server_url(uri: &Uri) -> Option<String> {
    let authority = uri.authority()?;
    let port = authority.as_str().strip_prefix(authority.host())?;
    let has_port = match port.strip_prefix(':') {
        Some(_) => authority.port_u16().is_some_and(|port| port > 0),
        None => port.is_empty(),
    };
    let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme))?;
    let is_whole = uri.query().is_none() && uri.path() == "/";
    (is_whole && has_port && !authority.host().is_empty()).then(|| format!("{scheme}://{authority}"))
}

/// Bytes of one answer: an explanation of a large fleet is larger than the library's default of 4 MiB.
const MAX_ANSWER_BYTES: usize = 64 << 20;

impl Client {
    /// The shared contract.
    pub fn contract(&self) -> Contract {
        Contract::new(self.channel.clone()).max_decoding_message_size(MAX_ANSWER_BYTES)
    }

    /// The stream of lookups.
    pub fn fast(&self) -> Fast {
        Fast::new(self.channel.clone()).max_decoding_message_size(MAX_ANSWER_BYTES)
    }

    /// The observer feed, whose records are up to `most_bytes` long.
    pub fn observe(&self, most_bytes: usize) -> Observe {
        Observe::new(self.channel.clone()).max_decoding_message_size(most_bytes)
    }

    /// Where the server is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What the server says of its health.
    pub fn health(&self) -> Health {
        Health::new(self.channel.clone())
    }

    /// The explain service.
    pub fn explain(&self) -> Explain {
        Explain::new(self.channel.clone()).max_decoding_message_size(MAX_ANSWER_BYTES)
    }

    /// A message with the deadline of the call, which the server is told, and the token of the caller.
    pub fn request<T>(&self, message: T) -> Request<T> {
        let mut request = self.lasting(message);
        request.set_timeout(self.timeout);
        request
    }

    /// A message without a deadline, for a stream that lasts.
    pub fn lasting<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(authorization) = &self.authorization {
            request.metadata_mut().insert("authorization", authorization.clone());
        }
        request
    }

    /// Longest wait for an answer.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The server did not answer in time.
    pub fn late(&self) -> CommandError {
        late(&self.url, self.timeout).into()
    }

    /// What a status means to the caller.
    pub fn failed(&self, status: &Status) -> CommandError {
        let url = &self.url;
        if let Some(refusal) = self.connector.refusal() {
            return refusal.of(FaultKind::Tls).into();
        }
        if matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled) {
            return self.late();
        }
        if is_foreign(status) {
            return ServerError::new(
                format!("what answers at `{url}` does not look like a gRPC server"),
                "check that the address is that of an icache server's gRPC port, not of its HTTP port; where it has TLS, give an https:// URL",
            )
            .into();
        }
        if status.code() == Code::Unknown && std::error::Error::source(status).is_some() {
            return ServerError::new(
                format!("the connection to the server at `{url}` broke before it answered"),
                "check that the server still runs, and that the address is that of its gRPC port; where it has TLS, give an https:// URL",
            )
            .into();
        }
        let text = status.message().trim_start_matches("Error, ").trim_end_matches('.');
        let said = if text.is_empty() { String::new() } else { format!(": {text}") };
        let advice = match status.code() {
            Code::Unimplemented => "check that the address is that of an icache server's gRPC port",
            Code::Unauthenticated | Code::PermissionDenied => {
                "the server restricts access; give a token that may do this with `--token-file`, or a certificate with `--cert` and `--key`"
            }
            Code::ResourceExhausted => "send less at once: the server limits the size of a message",
            Code::Unavailable => "check that the server still runs, and try again",
            _ => "the server's log says more",
        };
        let code = code_name(status.code());
        let fault = match status.code() {
            Code::Unauthenticated => FaultKind::Refused,
            _ => FaultKind::Other,
        };
        ServerError::new(format!("the server at `{url}` answered {code}{said}"), advice).of(fault).into()
    }

    /// What a status means amid messages of which `sent` have left; `what` names one of them.
    pub fn failed_after(&self, status: &Status, sent: u64, what: &str) -> CommandError {
        let is_cut = status.code() == Code::Unavailable || std::error::Error::source(status).is_some();
        if sent == 0 || !is_cut || is_foreign(status) {
            return self.failed(status);
        }
        let sent = if sent == 1 { format!("1 {what} was sent") } else { format!("{sent} {what}s were sent") };
        ServerError::new(
            format!(
                "the connection to the server at `{}` was lost after {sent}; how many were applied is unknown",
                self.url
            ),
            "check that the server still runs, and send them again: what is held is refreshed",
        )
        .into()
    }
}

fn late(url: &str, timeout: Duration) -> ServerError {
    let timeout = format_duration(i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX));
    ServerError::new(
        format!("the server at `{url}` did not answer within {timeout}"),
        "give it longer with `--timeout`, look at its load, and check that this is an icache server's gRPC port",
    )
}

/// Whether what answered speaks something else: HTTP without gRPC, or no HTTP/2 at all.
fn is_foreign(status: &Status) -> bool {
    if status.message().contains("grpc-status header missing") {
        return true;
    }
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        let text = error.to_string();
        // Frames that are none: the words of the HTTP/2 library for a peer that speaks otherwise.
        if ["invalid size", "FRAME_SIZE_ERROR", "unspecific protocol error", "PROTOCOL_ERROR"]
            .iter()
            .any(|sign| text.contains(sign))
        {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The header of a token, which no log shows.
fn sensitive(authorization: &str) -> Option<MetadataValue<Ascii>> {
    let mut value: MetadataValue<Ascii> = authorization.parse().ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// A server that does not listen, or not to us.
fn unreachable(connector: &Connector, url: &str, error: &tonic::transport::Error) -> ServerError {
    let mut fault: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = fault {
        if let Some(ConnectFault::Tls(what, advice)) = error.downcast_ref() {
            return ServerError::new(what.as_str(), advice.as_str()).of(FaultKind::Tls);
        }
        fault = error.source();
    }
    if let Some(refusal) = connector.refusal() {
        return refusal.of(FaultKind::Tls);
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    ServerError::new(
        format!("cannot reach the server at `{url}`: {}", super::error::sentence(&cause)),
        "start one with `icache serve`, or name another with `--server` or ICACHE_SERVER",
    )
    .of(FaultKind::Unreachable)
}
