//! Connects to one server, in plaintext or over TLS.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tonic::codegen::Service;

use super::super::error::{ServerError, sentence};
use super::Access;
use super::noting::{Noting, Refusal};
use super::refusal::told;

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
            .map_err(|error| ConnectFault::Unreachable(self.why_not(&error)))?;
        // A connection works without it, and slower.
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.access.tls else { return Ok(Box::new(stream)) };
        let name = ServerName::try_from(self.host.clone())
            .map_err(|_| ConnectFault::Unreachable("the name of the host is none".to_owned()))?;
        let secured = TlsConnector::from(Arc::clone(tls)).connect(name, stream).await;
        let stream = secured.map_err(|error| self.refused(&error))?;
        let (url, refusal) = (self.url.clone(), Arc::clone(&self.refusal));
        Ok(Box::new(Noting::new(stream, url, refusal)))
    }

    /// Why nobody can be connected to; the resolver's words differ from system to system.
    fn why_not(&self, error: &io::Error) -> String {
        match error.to_string().starts_with("failed to lookup address") {
            true => format!("the name `{}` leads to no address", self.host),
            false => sentence(error),
        }
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
