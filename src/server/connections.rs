//! Connections of the ports: how many there may be, how long one may take to say something, and HTTP over them.
//!
//! A port has so many places. A connection that finds none is closed at once and counted: it would wait unseen in the
//! system's queue otherwise, behind those that hold the places. Each port has places of its own, so that callers of one
//! cannot take health checks of another away.
//!
//! What is half open goes: a gRPC connection has to begin as HTTP/2 does within a time, and is pinged from then on; an
//! HTTP request has to show its head within a time, which is also how long an idle connection is kept.

use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use prometheus::IntGauge;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Sleep;
use tonic::transport::server::Connected;

use super::metrics::Metrics;
use super::tls::Peer;

/// Pause after the system refused a connection, which mostly means that no more files can be opened.
const BREATHER: Duration = Duration::from_millis(100);

/// Bytes that every HTTP/2 connection begins with.
const PREFACE_BYTES: usize = 24;

/// Silence on a gRPC connection after which it is pinged, and how long the answer may take.
pub(super) const PING_EVERY: Duration = Duration::from_secs(30);
pub(super) const PING_WAIT: Duration = Duration::from_secs(20);

/// Which port a connection is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Port {
    Grpc,
    Http,
    Admin,
}

impl Port {
    pub(super) const ALL: [Self; 3] = [Self::Grpc, Self::Http, Self::Admin];

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Grpc => "grpc",
            Self::Http => "http",
            Self::Admin => "admin",
        }
    }
}

/// Accepts the connections of one port.
#[derive(Clone)]
pub(super) struct Doorman {
    pub(super) port: Port,
    places: Arc<Semaphore>,
    open: IntGauge,
    metrics: Arc<Metrics>,
    head_wait: Duration,
}

/// A connection's place, free again when dropped.
pub(super) struct Place {
    open: IntGauge,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.dec();
    }
}

impl Doorman {
    /// So many connections, of which each may take so long to begin.
    pub(super) fn new(port: Port, most: usize, head_wait: Duration, metrics: &Arc<Metrics>) -> Self {
        let places = Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)));
        Self { port, places, open: metrics.connections(port), metrics: Arc::clone(metrics), head_wait }
    }

    /// The next connection that has a place.
    pub(super) async fn accept(&self, listener: &TcpListener) -> (TcpStream, SocketAddr, Place) {
        loop {
            let Ok((stream, from)) = listener.accept().await else {
                tokio::time::sleep(BREATHER).await;
                continue;
            };
            match Arc::clone(&self.places).try_acquire_owned() {
                Ok(permit) => {
                    // A connection works without it, and slower.
                    let _ = stream.set_nodelay(true);
                    self.open.inc();
                    return (stream, from, Place { open: self.open.clone(), _permit: permit });
                }
                Err(_) => {
                    self.metrics.observe_refused_connection(self.port);
                    tracing::debug!(%from, port = self.port.label(), "a connection was closed: there are too many");
                }
            }
        }
    }

    /// Connections in plaintext, as they come; the listener is closed when this is dropped.
    pub(super) fn incoming(self, listener: TcpListener) -> mpsc::Receiver<io::Result<Held<TcpStream>>> {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                let (stream, _, place) = tokio::select! {
                    accepted = self.accept(&listener) => accepted,
                    () = sender.closed() => return,
                };
                // An error means that the port has closed meanwhile.
                let _ = sender.send(Ok(self.hold(stream, Peer::default(), place))).await;
            }
        });
        receiver
    }

    /// A connection with whom it is to and its place.
    pub(super) fn hold<S>(&self, stream: S, peer: Peer, place: Place) -> Held<S> {
        let preface = (self.port == Port::Grpc)
            .then(|| Preface { missing: PREFACE_BYTES, until: Box::pin(tokio::time::sleep(self.head_wait)) });
        Held { stream, peer, preface, _place: place }
    }

    /// Serves HTTP over the connections until `stopped`, and lets requests in flight finish.
    pub(super) async fn serve<S>(
        self,
        mut incoming: mpsc::Receiver<io::Result<Held<S>>>,
        routes: axum::Router,
        stopped: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let graceful = GracefulShutdown::new();
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.head_wait);
        let mut stopped = pin!(stopped);
        loop {
            let stream = tokio::select! {
                () = &mut stopped => break,
                stream = incoming.recv() => stream,
            };
            let Some(stream) = stream else { return Err(io::Error::other("its listener is gone")) };
            let service = TowerToHyperService::new(routes.clone());
            let connection = graceful.watch(http.serve_connection(TokioIo::new(stream?), service));
            // How a connection ends is its client's affair.
            tokio::spawn(async move { drop(connection.await) });
        }
        drop(incoming);
        graceful.shutdown().await;
        Ok(())
    }
}

/// What a gRPC connection has yet to begin with.
struct Preface {
    missing: usize,
    until: Pin<Box<Sleep>>,
}

/// A connection that holds its place.
pub(super) struct Held<S> {
    stream: S,
    peer: Peer,
    preface: Option<Preface>,
    _place: Place,
}

impl<S> Connected for Held<S> {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Held<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        let Some(preface) = &mut this.preface else { return read };
        preface.missing = preface.missing.saturating_sub(buffer.filled().len() - before);
        if preface.missing == 0 {
            this.preface = None;
        } else if read.is_pending() {
            ready!(preface.until.as_mut().poll(context));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Held<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
