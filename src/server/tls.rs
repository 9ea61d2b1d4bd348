//! TLS of the gRPC and admin ports: certificates from files, replaced under running connections, and the handshakes.
//!
//! A connection keeps the certificate that it was made with; the next one gets the one in force. TLS 1.2 is the least.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;

use super::connections::{Doorman, Held, Port};
use super::metrics::{Metrics, TlsFailure};
use super::watched::{FileFault, FileText, Watched};

/// Where certificates are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsFiles {
    /// PEM: the certificate, and those between it and its authority.
    pub cert: PathBuf,
    /// PEM: its private key.
    pub key: PathBuf,
    /// PEM: authorities, one of which must have signed what clients present; without it clients present nothing.
    pub client_ca: Option<PathBuf>,
}

impl TlsFiles {
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        [Some(&self.cert), Some(&self.key), self.client_ca.as_ref()].into_iter().flatten().cloned().collect()
    }
}

/// Time that a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Time that a client has to read why it was refused.
const LINGER: Duration = Duration::from_secs(1);
/// Handshakes that run at the same time; further connections wait to be accepted.
const HANDSHAKES: usize = 1_024;
/// Names of one certificate that count.
const MAX_NAMES: usize = 100;

/// What one reading of the files comes to.
pub(super) struct Tls {
    grpc: Arc<ServerConfig>,
    http: Arc<ServerConfig>,
    /// When the certificate ends, in seconds since 1970.
    pub(super) expires_s: i64,
}

/// Makes it of certificate, key and authorities, in that order.
pub(super) fn load(files: &[FileText]) -> Result<Tls, FileFault> {
    let [cert, key, rest @ ..] = files else {
        return Err(FileFault { path: PathBuf::new(), why: "certificate and key are missing".to_owned() });
    };
    let chain = certificates(cert)?;
    let expires_s = chain.first().map_or(Ok(0), |leaf| ends(leaf, cert))?;
    let private = PrivateKeyDer::from_pem_slice(&key.bytes)
        .map_err(|_| key.fault("it holds no private key in PEM form that is whole and without a password"))?;
    let verifier = match rest.first() {
        None => WebPkiClientVerifier::no_client_auth(),
        Some(file) => {
            let mut roots = RootCertStore::empty();
            for authority in certificates(file)? {
                roots
                    .add(authority)
                    .map_err(|error| file.fault(format!("an authority in it cannot be used: {error}")))?;
            }
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider())
                .build()
                .map_err(|error| file.fault(format!("clients cannot be judged by it: {error}")))?
        }
    };
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| cert.fault(error.to_string()))?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, private)
        .map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                key.fault(format!("it is not the key of the certificate in `{}`", cert.path.display()))
            }
            error => cert.fault(format!("it cannot be used: {error}")),
        })?;
    let speaking = |protocol: &[u8]| {
        let mut config = config.clone();
        config.alpn_protocols = vec![protocol.to_vec()];
        Arc::new(config)
    };
    Ok(Tls { grpc: speaking(b"h2"), http: speaking(b"http/1.1"), expires_s })
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn certificates(file: &FileText) -> Result<Vec<CertificateDer<'static>>, FileFault> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&file.bytes).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(file.fault("it holds no certificate in PEM form")),
        Err(_) => Err(file.fault("a certificate in it is not whole")),
    }
}

fn ends(leaf: &CertificateDer<'_>, file: &FileText) -> Result<i64, FileFault> {
    let (_, leaf) = parse_x509_certificate(leaf).map_err(|_| file.fault("its certificate cannot be read"))?;
    Ok(leaf.validity().not_after.timestamp())
}

/// Who the other side of a connection has proved to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Peer {
    /// Names in its certificate: those of the subject's alternative names, and the common name where there are none.
    pub(super) names: Arc<[String]>,
}

impl Peer {
    fn of(certificate: &CertificateDer<'_>) -> Self {
        let Ok((_, parsed)) = parse_x509_certificate(certificate) else { return Self::default() };
        let alternative = parsed.subject_alternative_name().ok().flatten();
        let mut names: Vec<String> = alternative
            .iter()
            .flat_map(|names| &names.value.general_names)
            .filter_map(|name| match name {
                GeneralName::URI(name) | GeneralName::DNSName(name) | GeneralName::RFC822Name(name) => {
                    Some((*name).to_owned())
                }
                _ => None,
            })
            .take(MAX_NAMES)
            .collect();
        if names.is_empty() {
            let common = parsed.subject().iter_common_name().filter_map(|name| name.as_str().ok());
            names.extend(common.map(str::to_owned).take(1));
        }
        Self { names: names.into() }
    }
}

/// Connections whose handshake is done, as they come; the listener is closed when this is dropped.
pub(super) fn accept(
    listener: TcpListener,
    tls: Arc<Watched<Tls>>,
    doorman: Doorman,
    metrics: Arc<Metrics>,
) -> mpsc::Receiver<io::Result<Held<TlsStream<TcpStream>>>> {
    let (done, secured) = mpsc::channel(1);
    tokio::spawn(async move {
        let handshakes = Arc::new(Semaphore::new(HANDSHAKES));
        loop {
            let Ok(permit) = Arc::clone(&handshakes).acquire_owned().await else { return };
            let (stream, from, place) = tokio::select! {
                accepted = doorman.accept(&listener) => accepted,
                () = done.closed() => return,
            };
            let config = match doorman.port {
                Port::Grpc => Arc::clone(&tls.current().grpc),
                Port::Http | Port::Admin => Arc::clone(&tls.current().http),
            };
            let (done, metrics, doorman) = (done.clone(), Arc::clone(&metrics), doorman.clone());
            tokio::spawn(async move {
                let _permit = permit;
                match handshake(stream, config).await {
                    // An error means that the port has closed meanwhile.
                    Ok((stream, peer)) => drop(done.send(Ok(doorman.hold(stream, peer, place))).await),
                    Err((failure, why)) => {
                        metrics.observe_tls_failure(failure);
                        tracing::debug!(%from, cause = failure.label(), "a connection was refused: {why}");
                    }
                }
            });
        }
    });
    secured
}

async fn handshake(
    stream: TcpStream,
    config: Arc<ServerConfig>,
) -> Result<(TlsStream<TcpStream>, Peer), (TlsFailure, String)> {
    let accepted = TlsAcceptor::from(config).accept(stream).into_fallible();
    match tokio::time::timeout(HANDSHAKE, accepted).await {
        Err(_) => Err((TlsFailure::Timeout, "the handshake took too long".to_owned())),
        Ok(Err((error, stream))) => {
            let told = (failure(&error), error.to_string());
            // Neither late nor endless: what is left of it is cut.
            let _ = tokio::time::timeout(LINGER, linger(stream)).await;
            Err(told)
        }
        Ok(Ok(stream)) => {
            let certificates = stream.get_ref().1.peer_certificates();
            let peer = certificates.and_then(<[_]>::first).map(Peer::of).unwrap_or_default();
            Ok((stream, peer))
        }
    }
}

/// Lets the client read the alert: a connection that is closed with bytes unread is reset, and the reset overtakes it.
async fn linger(mut stream: TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    let mut unread = [0; 4_096];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}

fn failure(error: &io::Error) -> TlsFailure {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType)) => {
            TlsFailure::Plaintext
        }
        Some(rustls::Error::NoCertificatesPresented) => TlsFailure::NoCertificate,
        Some(rustls::Error::InvalidCertificate(_)) => TlsFailure::BadCertificate,
        Some(rustls::Error::AlertReceived(_)) => TlsFailure::ClientRefused,
        _ => TlsFailure::Other,
    }
}
