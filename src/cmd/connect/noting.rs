//! Connections whose end is understood.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::refusal::by_alert;

/// A TLS connection that notes what the server refuses it for: with TLS 1.3 a client's certificate is judged after the
/// handshake, and whoever reads by then does not pass the reason on.
pub(super) struct Noting {
    stream: TlsStream<TcpStream>,
    url: String,
    refusal: Refusal,
    /// Whether anything has come from the server; what goes wrong later is no refusal.
    has_answered: bool,
}

/// What happened, and what to do.
pub(super) type Refusal = Arc<Mutex<Option<(String, String)>>>;

impl Noting {
    /// Notes into `refusal` what the server at `url` ends the connection for.
    pub(super) fn new(stream: TlsStream<TcpStream>, url: String, refusal: Refusal) -> Self {
        Self { stream, url, refusal, has_answered: false }
    }

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
