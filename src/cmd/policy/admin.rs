//! The policies of a running server, from its admin port.

use std::time::Duration;

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::cmd::CommandError;
use crate::cmd::error::{ServerError, UsageError, sentence};
use crate::policy::{POLICY_VIEW_VERSION, PolicyView};

/// Longest wait for the whole answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of an answer: some twenty thousand namespaces.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// Whether `text` stands for a server and not for a file.
pub fn is_url(text: &str) -> bool {
    text.contains("://")
}

/// Asks the server at `url` for `GET /policy`; Ctrl-C ends the wait.
pub fn policies(url: &str) -> Result<PolicyView, CommandError> {
    let asked = Asked::parse(url)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let body = runtime.block_on(async {
        tokio::select! {
            answer = tokio::time::timeout(TIMEOUT, asked.get()) => match answer {
                Ok(answer) => answer.map_err(CommandError::from),
                Err(_) => Err(asked.failed(&format!("no answer within {TIMEOUT:?}")).into()),
            },
            _ = tokio::signal::ctrl_c() => Err(CommandError::Interrupted),
        }
    })?;
    let version: Version = serde_json::from_slice(&body).map_err(|_| asked.foreign())?;
    if version.version != POLICY_VIEW_VERSION {
        let what = format!("`{}` answers in version {} of the shape", asked.url, version.version);
        return Err(ServerError::new(
            what,
            format!(
                "ask with an icache of the server's release; this one reads version {POLICY_VIEW_VERSION}"
            ),
        )
        .into());
    }
    Ok(serde_json::from_slice(&body).map_err(|_| asked.foreign())?)
}

#[derive(serde::Deserialize)]
struct Version {
    version: u32,
}

/// A server's address, checked.
struct Asked {
    url: String,
    host: String,
    port: u16,
}

impl Asked {
    fn parse(given: &str) -> Result<Self, UsageError> {
        let advice = "write it as `http://HOST:PORT`, such as `http://127.0.0.1:8081`";
        if given.starts_with("https://") {
            return Err(UsageError::new(
                format!("`{given}` asks for TLS, which this version does not speak as a client"),
                "give an http:// URL, or put a TLS proxy in between",
            ));
        }
        let wrong = || UsageError::new(format!("`{given}` is no URL of an admin port"), advice);
        let uri: Uri = given.parse().map_err(|_| wrong())?;
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(wrong)?;
        if uri.scheme_str() != Some("http") || !["", "/", "/policy"].contains(&uri.path()) {
            return Err(wrong());
        }
        let port = uri.port_u16().unwrap_or(80);
        // The resolver wants an IPv6 address without its brackets.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let url = given.trim_end_matches("/policy").trim_end_matches('/').to_owned();
        Ok(Self { url, host, port })
    }

    async fn get(&self) -> Result<Bytes, ServerError> {
        let stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|error| self.failed(&sentence(&error)))?;
        let broke = |error: hyper::Error| self.failed(&sentence(&error));
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(broke)?;
        // It ends with the answer, or with the runtime.
        tokio::spawn(connection);
        let request = Request::get("/policy")
            .header("host", self.url.trim_start_matches("http://"))
            .header("accept", "application/json")
            .body(Empty::<Bytes>::new())
            .map_err(|error| self.failed(&sentence(&error)))?;
        let answer = sender.send_request(request).await.map_err(broke)?;
        match answer.status() {
            StatusCode::OK => {}
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                return Err(ServerError::new(
                    format!("the server at `{}` refuses to show its policies", self.url),
                    "ask its operator for access to the admin port",
                ));
            }
            status => {
                return Err(ServerError::new(
                    format!("the server at `{}` answered HTTP {status} to `GET /policy`", self.url),
                    "check that the address is that of the admin port of an icache server",
                ));
            }
        }
        let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await;
        Ok(body.map_err(|error| self.failed(&sentence(&error)))?.to_bytes())
    }

    fn failed(&self, why: &str) -> ServerError {
        ServerError::new(
            format!("cannot reach the server at `{}`: {why}", self.url),
            "check that it runs, and that the address is that of its admin port (`--admin-addr` of `icache serve`)",
        )
    }

    fn foreign(&self) -> ServerError {
        ServerError::new(
            format!("what the server at `{}` answers to `GET /policy` is no list of policies", self.url),
            "check that the address is that of the admin port of an icache server",
        )
    }
}
