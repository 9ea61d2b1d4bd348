//! Connections to a server: in plaintext or over TLS, who the caller is, and what went wrong on the way.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use clap::Args;
use hyper::Uri;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{AlertDescription, CertificateError, ClientConfig, InvalidMessage, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tonic::codegen::Service;

use super::error::{ServerError, UsageError, sentence};

/// Who calls, and whom it trusts.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Server")]
pub struct AccessArgs {
    /// PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// PEM file of a certificate to present to an https:// server (env ICACHE_CERT)
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// PEM file of the private key of --cert (env ICACHE_KEY)
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)
    #[arg(long, value_name = "TOKEN", conflicts_with = "token_file")]
    token: Option<String>,
    /// File that holds the token to show (env ICACHE_TOKEN_FILE)
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// Bytes of a file of certificates or a token.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// What a connection and its calls need.
#[derive(Clone)]
pub struct Access {
    tls: Option<Arc<ClientConfig>>,
    /// The value of the header `authorization`.
    pub authorization: Option<String>,
}

impl AccessArgs {
    /// The same with the token of another port, where one is named.
    pub fn with_token_of(&self, token_file: Option<&Path>) -> Self {
        match token_file {
            Some(path) => Self { token: None, token_file: Some(path.to_path_buf()), ..self.clone() },
            None => self.clone(),
        }
    }

    /// Reads what is named; certificates only where the server is asked over TLS. `protocol` is what is spoken then.
    pub fn read(&self, is_tls: bool, protocol: &[u8]) -> Result<Access, UsageError> {
        let tls = if is_tls { Some(Arc::new(self.client_config(protocol)?)) } else { None };
        Ok(Access { tls, authorization: self.authorization()? })
    }

    fn authorization(&self) -> Result<Option<String>, UsageError> {
        let token = match (&self.token, &self.token_file) {
            (Some(token), _) => Some(token.clone()),
            (None, Some(path)) => Some(token_of(path)?),
            (None, None) => match (variable("ICACHE_TOKEN"), variable("ICACHE_TOKEN_FILE")) {
                (Some(token), _) => Some(token.to_string_lossy().into_owned()),
                (None, Some(path)) => Some(token_of(Path::new(&path))?),
                (None, None) => None,
            },
        };
        let Some(token) = token else { return Ok(None) };
        let token = token.trim();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(UsageError::new(
                "the token is empty, or has characters that no header can carry",
                "give the token alone, as the server's operator has it",
            ));
        }
        Ok(Some(format!("Bearer {token}")))
    }

    fn client_config(&self, protocol: &[u8]) -> Result<ClientConfig, UsageError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let unusable = |error: rustls::Error| {
            UsageError::new(
                format!("the certificate to present cannot be used: {}", sentence(&error)),
                "check that `--key` is the key of `--cert`",
            )
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_root_certificates(self.roots()?);
        let named = |own: &Option<PathBuf>, name| own.clone().or_else(|| variable(name).map(PathBuf::from));
        let mut config = match (named(&self.cert, "ICACHE_CERT"), named(&self.key, "ICACHE_KEY")) {
            (Some(cert), Some(key)) => {
                config.with_client_auth_cert(certificates(&cert)?, private_key(&key)?).map_err(unusable)?
            }
            (None, None) => config.with_no_client_auth(),
            _ => {
                return Err(UsageError::new(
                    "a certificate to present and its key go together, and one of them is missing",
                    "give `--cert` and `--key`, or ICACHE_CERT and ICACHE_KEY",
                ));
            }
        };
        config.alpn_protocols = vec![protocol.to_vec()];
        Ok(config)
    }

    fn roots(&self) -> Result<RootCertStore, UsageError> {
        let mut roots = RootCertStore::empty();
        let Some(path) = self.ca.clone().or_else(|| variable("ICACHE_CA").map(PathBuf::from)) else {
            // What the system holds and cannot be read is as if it were not there.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            return Ok(roots);
        };
        for authority in certificates(&path)? {
            roots.add(authority).map_err(|error| {
                UsageError::new(
                    format!(
                        "`{}` holds an authority that cannot be used: {}",
                        path.display(),
                        sentence(&error)
                    ),
                    "give `--ca` the PEM file of the authority that signed the server's certificate",
                )
            })?;
        }
        Ok(roots)
    }
}

/// What a variable holds, where it is set and not empty.
fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn read(path: &Path) -> Result<Vec<u8>, UsageError> {
    use std::io::Read as _;
    let shown = path.display().to_string();
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| UsageError::unreadable(&shown, &error))?;
    if read as u64 > MAX_FILE_BYTES {
        return Err(UsageError::new(
            format!("`{shown}` is larger than {MAX_FILE_BYTES} bytes"),
            "check that it is the file that is meant",
        ));
    }
    Ok(bytes)
}

fn token_of(path: &Path) -> Result<String, UsageError> {
    let text = String::from_utf8(read(path)?).unwrap_or_default();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(str::to_owned).next().ok_or_else(|| {
        UsageError::new(
            format!("`{}` holds no token", path.display()),
            "write the token into it, in one line",
        )
    })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, UsageError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(path)?).collect();
    found.ok().filter(|found| !found.is_empty()).ok_or_else(|| {
        UsageError::new(
            format!("`{}` holds no certificate in PEM form that is whole", path.display()),
            "give a file that begins with `-----BEGIN CERTIFICATE-----`",
        )
    })
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, UsageError> {
    PrivateKeyDer::from_pem_slice(&read(path)?).map_err(|_| {
        UsageError::new(
            format!(
                "`{}` holds no private key in PEM form that is whole and without a password",
                path.display()
            ),
            "give a file that begins with `-----BEGIN PRIVATE KEY-----`",
        )
    })
}

/// What bytes go over.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Where a server is, and how it is asked.
#[derive(Clone)]
pub struct Connector {
    url: String,
    host: String,
    port: u16,
    access: Access,
    refusal: Refusal,
}

impl Connector {
    /// To the server at `uri`, which errors call `url`.
    pub fn new(url: &str, uri: &Uri, access: Access) -> Self {
        // The resolver wants an IPv6 address without its brackets.
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        let usual = if access.tls.is_some() { 443 } else { 80 };
        Self {
            url: url.to_owned(),
            host,
            port: uri.port_u16().unwrap_or(usual),
            access,
            refusal: Refusal::default(),
        }
    }

    /// Why the server refused a connection that was made, where it did and said so.
    pub fn refusal(&self) -> Option<ServerError> {
        let refusal = self.refusal.lock();
        refusal.as_ref().map(|(what, advice)| ServerError::new(what.as_str(), advice.as_str()))
    }

    /// Connects, and shakes hands where the server is asked over TLS. A server that refused is not asked again.
    pub async fn connect(&self) -> Result<Box<dyn Stream>, ConnectFault> {
        if let Some((what, advice)) = self.refusal.lock().clone() {
            return Err(ConnectFault::Tls(what, advice));
        }
        let stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|error| ConnectFault::Unreachable(sentence(&error)))?;
        // A connection works without it, and slower.
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.access.tls else { return Ok(Box::new(stream)) };
        let name = ServerName::try_from(self.host.clone())
            .map_err(|_| ConnectFault::Unreachable("the name of the host is none".to_owned()))?;
        let secured = TlsConnector::from(Arc::clone(tls)).connect(name, stream).await;
        let stream = secured.map_err(|error| self.refused(&error))?;
        let (url, refusal) = (self.url.clone(), Arc::clone(&self.refusal));
        Ok(Box::new(Noting { stream, url, refusal, has_answered: false }))
    }

    fn refused(&self, error: &io::Error) -> ConnectFault {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        let (what, advice) = match inner {
            Some(error) => told(&self.url, &self.host, error),
            None => (
                format!("the server at `{}` ended the TLS handshake: {}", self.url, sentence(error)),
                "check that the address is that of a port with TLS; without it, give an http:// URL"
                    .to_owned(),
            ),
        };
        ConnectFault::Tls(what, advice)
    }
}

/// What is wrong with the TLS of the server at `url`, and what to do.
fn told(url: &str, host: &str, error: &rustls::Error) -> (String, String) {
    let of_certificate = |what: &str, advice: &str| {
        (format!("the certificate of the server at `{url}` {what}"), advice.to_owned())
    };
    match error {
        rustls::Error::InvalidCertificate(wrong) => match wrong {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => of_certificate(
                "has expired",
                "have the server's operator renew it; check this machine's clock",
            ),
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                of_certificate("is not valid yet", "check this machine's clock, and the server's certificate")
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                of_certificate(
                    &format!("is not for the name `{host}`"),
                    "name the server as its certificate does, or have the name added to it",
                )
            }
            CertificateError::UnknownIssuer => of_certificate(
                "is of an authority that is not trusted here",
                "give the PEM file of its authority with `--ca`",
            ),
            wrong => {
                of_certificate(&format!("cannot be trusted: {wrong:?}"), "look at the server's certificate")
            }
        },
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => (
            format!("the server at `{url}` does not speak TLS"),
            "give an http:// URL, or start the server with `--tls-cert` and `--tls-key`".to_owned(),
        ),
        rustls::Error::AlertReceived(alert) => by_alert(url, *alert),
        error => (
            format!("TLS with the server at `{url}` failed: {}", sentence(error)),
            "look at the server's certificate and log".to_owned(),
        ),
    }
}

fn by_alert(url: &str, alert: AlertDescription) -> (String, String) {
    match alert {
        AlertDescription::CertificateRequired => (
            format!("the server at `{url}` asks for a certificate, and none was presented"),
            "give one with `--cert` and `--key`".to_owned(),
        ),
        alert => (
            format!("the server at `{url}` refused the connection: TLS alert {alert:?}"),
            "check the certificate given with `--cert`: its authority must be one that the server trusts"
                .to_owned(),
        ),
    }
}

/// A TLS connection that notes what the server refuses it for: with TLS 1.3 a client's certificate is judged after the
/// handshake, and whoever reads by then does not pass the reason on.
struct Noting {
    stream: TlsStream<TcpStream>,
    url: String,
    refusal: Refusal,
    /// Whether anything has come from the server; what goes wrong later is no refusal.
    has_answered: bool,
}

/// What happened, and what to do.
type Refusal = Arc<Mutex<Option<(String, String)>>>;

impl Noting {
    /// The connection ended before the server said anything: its alert says why, where there is one.
    fn note(&self, error: Option<&io::Error>) {
        let inner =
            error.and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref::<rustls::Error>());
        let refusal = match inner {
            Some(rustls::Error::AlertReceived(alert)) => by_alert(&self.url, *alert),
            _ => (
                format!("the server at `{}` ended the connection after the TLS handshake", self.url),
                "where it asks for certificates, give one with `--cert` and `--key`".to_owned(),
            ),
        };
        self.refusal.lock().get_or_insert(refusal);
    }
}

impl AsyncRead for Noting {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let done = Pin::new(&mut self.stream).poll_read(context, buffer);
        match &done {
            Poll::Ready(Ok(())) if buffer.filled().len() > before => self.has_answered = true,
            Poll::Ready(done) if !self.has_answered => self.note(done.as_ref().err()),
            _ => {}
        }
        done
    }
}

impl AsyncWrite for Noting {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        if matches!(done, Poll::Ready(Err(_))) && !self.has_answered {
            // The connection is gone, and what the server said last may still wait to be read.
            let mut last = [0; 1];
            let read = self.as_mut().poll_read(context, &mut ReadBuf::new(&mut last));
            if read.is_pending() {
                self.note(None);
            }
        }
        done
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectFault {
    /// Nothing answers.
    #[error("{0}")]
    Unreachable(String),
    /// What answers is not trusted, or does not speak TLS: what happened, and what to do.
    #[error("{0}")]
    Tls(String, String),
}

impl Service<tonic::transport::Uri> for Connector {
    type Response = TokioIo<Box<dyn Stream>>;
    type Error = ConnectFault;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ConnectFault>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), ConnectFault>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _uri: tonic::transport::Uri) -> Self::Future {
        let this = self.clone();
        Box::pin(async move { this.connect().await.map(TokioIo::new) })
    }
}
