//! Requests to the admin port of a running server.

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

/// Longest wait for the whole answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of an answer: some twenty thousand namespaces.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// What is asked of an admin port.
pub struct AdminRequest<'a> {
    /// GET, POST or DELETE.
    pub method: Method,
    /// Path, such as `/policy`.
    pub path: &'a str,
    /// What comes back, as errors call it: `list of policies`.
    pub answer: &'a str,
    /// Version of the answer that is understood here.
    pub version: u32,
}

/// Asks the server at `url`; Ctrl-C ends the wait.
pub fn ask<T: DeserializeOwned>(
    url: &str,
    access: &AccessArgs,
    request: &AdminRequest<'_>,
) -> Result<T, CommandError> {
    let asked = Asked::parse(url, access, request)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let body = runtime.block_on(async {
        tokio::select! {
            answer = tokio::time::timeout(TIMEOUT, asked.send()) => match answer {
                Ok(answer) => answer.map_err(CommandError::from),
                Err(_) => Err(asked.failed(&format!("no answer within {TIMEOUT:?}")).into()),
            },
            _ = tokio::signal::ctrl_c() => Err(CommandError::Interrupted),
        }
    })?;
    let version: Version = serde_json::from_slice(&body).map_err(|_| asked.foreign())?;
    if version.version != request.version {
        let what = format!("`{}` answers in version {} of the shape", asked.url, version.version);
        let advice =
            format!("ask with an icache of the server's release; this one reads version {}", request.version);
        return Err(ServerError::new(what, advice).into());
    }
    Ok(serde_json::from_slice(&body).map_err(|_| asked.foreign())?)
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
        let wrong = || {
            UsageError::new(
                format!("`{given}` is no URL of an admin port"),
                "write it as `http://HOST:PORT` or `https://HOST:PORT`, such as `http://127.0.0.1:8081`",
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

    async fn send(&self) -> Result<Bytes, ServerError> {
        let stream = self.connector.connect().await.map_err(|fault| match fault {
            ConnectFault::Unreachable(why) => self.failed(&why),
            ConnectFault::Tls(what, advice) => ServerError::new(what, advice),
        })?;
        let broke = |error: hyper::Error| match self.connector.refusal() {
            Some(refusal) => refusal,
            None if error.is_parse() => self.plain(),
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
        let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await;
        let body = body.map_err(|error| self.failed(&sentence(&error)))?.to_bytes();
        if status == StatusCode::OK { Ok(body) } else { Err(self.answered(status, &body)) }
    }

    /// What an answer that is none means.
    fn answered(&self, status: StatusCode, body: &[u8]) -> ServerError {
        let (url, asked) = (&self.url, format!("`{} {}`", self.request.method, self.request.path));
        match status {
            StatusCode::UNAUTHORIZED => ServerError::new(
                format!("the server at `{url}` refuses {asked} to whoever shows none of its tokens"),
                "ask its operator for one, and give it with `--token-file`, `--token` or ICACHE_TOKEN",
            ),
            StatusCode::FORBIDDEN => ServerError::new(
                format!("the server at `{url}` refuses {asked} to this token"),
                "the admin port has tokens of its own: those of `--admin-token-file` of the server",
            ),
            StatusCode::BAD_REQUEST | StatusCode::INSUFFICIENT_STORAGE => {
                let said = String::from_utf8_lossy(body.get(..512).unwrap_or(body)).trim().to_owned();
                ServerError::new(
                    format!("the server at `{url}` refuses {asked}: {said}"),
                    "correct it, and ask again",
                )
            }
            status => ServerError::new(
                format!("the server at `{url}` answered HTTP {status} to {asked}"),
                "check that the address is that of the admin port of an icache server",
            ),
        }
    }

    fn failed(&self, why: &str) -> ServerError {
        ServerError::new(
            format!("cannot reach the server at `{}`: {why}", self.url),
            "check that it runs, and that the address is that of its admin port (`--admin-addr` of `icache serve`)",
        )
    }

    fn plain(&self) -> ServerError {
        ServerError::new(
            format!("what answers at `{}` does not speak HTTP", self.url),
            "where the server has TLS, give an https:// URL; check that the address is that of its admin port",
        )
    }

    fn foreign(&self) -> ServerError {
        ServerError::new(
            format!(
                "what the server at `{}` answers to `{} {}` is no {}",
                self.url, self.request.method, self.request.path, self.request.answer
            ),
            "check that the address is that of the admin port of an icache server",
        )
    }
}
