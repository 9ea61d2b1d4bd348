//! Requests to the ports of a running server that speak HTTP.

use std::time::Duration;

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::CommandError;
use super::connect::{AccessArgs, ConnectFault, Connector};
use super::error::{ServerError, UsageError, sentence};
use super::runtime;
use crate::doctor::FaultKind;
use crate::model::Timestamp;

/// Longest wait for the whole answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of an answer: some twenty thousand namespaces.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// What is asked of a port that speaks HTTP.
pub struct AdminRequest<'a> {
    /// GET, POST or DELETE.
    pub method: Method,
    /// Path, such as `/policy`.
    pub path: &'a str,
    /// What comes back, as errors call it: `list of policies`.
    pub answer: &'a str,
    /// Version of the answer that is understood here; none where it has none.
    pub version: Option<u32>,
    /// Of which port.
    pub port: Port,
}

/// A port that speaks HTTP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Port {
    /// Policies, snapshot and more.
    Admin,
    /// Health and metrics.
    Http,
}

impl Port {
    /// What it is called, the flag that moves it, and where it is where nobody moves it.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Admin => ("admin port", "--admin-addr", "http://127.0.0.1:8081"),
            Self::Http => ("HTTP port", "--http-addr", "http://127.0.0.1:8080"),
        }
    }
}

/// An answer, and what else came with it.
pub struct Fetched {
    /// What was answered.
    pub body: Bytes,
    /// The server's clock when it answered, in whole seconds; none where it does not say.
    pub clock: Option<Timestamp>,
}

/// Asks the server at `url`; Ctrl-C ends the wait.
pub fn ask<T: DeserializeOwned>(
    url: &str,
    access: &AccessArgs,
    request: &AdminRequest<'_>,
) -> Result<T, CommandError> {
    let runtime = runtime::single()?;
    let fetched = runtime.block_on(async {
        tokio::select! {
            answer = fetch(url, access, request) => answer,
            _ = tokio::signal::ctrl_c() => Err(CommandError::Interrupted),
        }
    })?;
    Ok(understand(url, request, &fetched.body)?)
}

/// Asks the server at `url`, and waits 10 s at most.
pub async fn fetch(
    url: &str,
    access: &AccessArgs,
    request: &AdminRequest<'_>,
) -> Result<Fetched, CommandError> {
    let asked = Asked::parse(url, access, request)?;
    match tokio::time::timeout(TIMEOUT, asked.send()).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(asked.failed(&format!("no answer within {TIMEOUT:?}")).into()),
    }
}

/// What the server at `url` said, in the shape that it should have.
pub fn understand<T: DeserializeOwned>(
    url: &str,
    request: &AdminRequest<'_>,
    body: &[u8],
) -> Result<T, ServerError> {
    if let Some(wanted) = request.version {
        let version: Version = serde_json::from_slice(body).map_err(|_| foreign(url, request))?;
        if version.version != wanted {
            let what = format!("`{url}` answers in version {} of the shape", version.version);
            let advice =
                format!("ask with an icache of the server's release; this one reads version {wanted}");
            return Err(ServerError::new(what, advice));
        }
    }
    serde_json::from_slice(body).map_err(|_| foreign(url, request))
}

/// What answers is something else.
pub fn foreign(url: &str, request: &AdminRequest<'_>) -> ServerError {
    let (port, ..) = request.port.words();
    ServerError::new(
        format!(
            "what the server at `{url}` answers to `{} {}` is no {}",
            request.method, request.path, request.answer
        ),
        format!("check that the address is that of the {port} of an icache server"),
    )
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// A server's address, checked, and what is asked of it.
struct Asked<'a> {
    url: String,
    connector: Connector,
    authorization: Option<String>,
    request: &'a AdminRequest<'a>,
}

impl<'a> Asked<'a> {
    fn parse(given: &str, access: &AccessArgs, request: &'a AdminRequest<'a>) -> Result<Self, UsageError> {
        let (port, _, usual) = request.port.words();
        let wrong = || {
            UsageError::new(
                format!("`{given}` is no URL of the {port}"),
                format!("write it as `http://HOST:PORT` or `https://HOST:PORT`, such as `{usual}`"),
            )
        };
        let uri: Uri = given.parse().map_err(|_| wrong())?;
        if uri.host().is_none_or(str::is_empty) || !["", "/", request.path].contains(&uri.path()) {
            return Err(wrong());
        }
        let is_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(wrong()),
        };
        let access = access.read(is_tls, b"http/1.1")?;
        let url = given.trim_end_matches(request.path).trim_end_matches('/').to_owned();
        let authorization = access.authorization.clone();
        Ok(Self { connector: Connector::new(&url, &uri, access), url, authorization, request })
    }

    async fn send(&self) -> Result<Fetched, ServerError> {
        let stream = self.connector.connect().await.map_err(|fault| match fault {
            ConnectFault::Unreachable(why) => self.failed(&why),
            ConnectFault::Tls(what, advice) => ServerError::new(what, advice).of(FaultKind::Tls),
        })?;
        let broke = |error: hyper::Error| match self.connector.refusal() {
            Some(refusal) => refusal.of(FaultKind::Tls),
            // Which of these it is depends on how far the two came in their misunderstanding.
            None if error.is_parse() || error.is_canceled() || error.is_incomplete_message() => self.plain(),
            None => self.failed(&sentence(&error)),
        };
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(broke)?;
        // It ends with the answer, or with the runtime.
        tokio::spawn(connection);
        let host = self.url.split_once("://").map_or(self.url.as_str(), |(_, host)| host);
        let mut request = Request::builder()
            .method(self.request.method.clone())
            .uri(self.request.path)
            .header("host", host)
            .header("accept", "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization);
        }
        let request = request.body(Empty::<Bytes>::new()).map_err(|error| self.failed(&sentence(&error)))?;
        let answer = sender.send_request(request).await.map_err(broke)?;
        let status = answer.status();
        let clock = answer.headers().get("date").and_then(|date| clock(date.to_str().ok()?));
        let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await;
        let body = body.map_err(|error| self.failed(&sentence(&error)))?.to_bytes();
        if status == StatusCode::OK { Ok(Fetched { body, clock }) } else { Err(self.answered(status, &body)) }
    }

    /// What an answer that is none means.
    fn answered(&self, status: StatusCode, body: &[u8]) -> ServerError {
        let (port, ..) = self.request.port.words();
        let (url, asked) = (&self.url, format!("`{} {}`", self.request.method, self.request.path));
        match status {
            StatusCode::UNAUTHORIZED => ServerError::new(
                format!("the server at `{url}` refuses {asked} to whoever shows none of its tokens"),
                "ask its operator for one, and give it with `--token-file`, `--token` or ICACHE_TOKEN",
            )
            .of(FaultKind::Refused),
            StatusCode::FORBIDDEN => ServerError::new(
                format!("the server at `{url}` refuses {asked} to this token"),
                "the admin port has tokens of its own: those of `--admin-token-file` of the server",
            )
            .of(FaultKind::Refused),
            StatusCode::BAD_REQUEST | StatusCode::INSUFFICIENT_STORAGE => {
                let said = String::from_utf8_lossy(body.get(..512).unwrap_or(body)).trim().to_owned();
                ServerError::new(
                    format!("the server at `{url}` refuses {asked}: {said}"),
                    "correct it, and ask again",
                )
            }
            status => ServerError::new(
                format!("the server at `{url}` answered HTTP {status} to {asked}"),
                format!("check that the address is that of the {port} of an icache server"),
            ),
        }
    }

    fn failed(&self, why: &str) -> ServerError {
        let (port, flag, _) = self.request.port.words();
        ServerError::new(
            format!("cannot reach the server at `{}`: {why}", self.url),
            format!(
                "check that it runs, and that the address is that of its {port} (`{flag}` of `icache serve`)"
            ),
        )
        .of(FaultKind::Unreachable)
    }

    fn plain(&self) -> ServerError {
        let (port, ..) = self.request.port.words();
        ServerError::new(
            format!("what is at `{}` gives no answer in HTTP", self.url),
            format!(
                "where the server has TLS, give an https:// URL; check that the address is that of its {port}"
            ),
        )
    }
}

/// The time that the header `date` tells.
fn clock(date: &str) -> Option<Timestamp> {
    let at = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date).ok()?;
    Some(Timestamp::from_ns(i64::try_from(at.as_nanosecond()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_tells_the_servers_clock() {
        assert_eq!(clock("Thu, 01 Jan 1970 00:00:07 GMT"), Some(Timestamp::from_us(7_000_000)));
        assert_eq!(clock("yesterday"), None);
    }
}
