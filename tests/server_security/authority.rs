//! Certificates for tests, and clients that use them.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType, date_time_ymd};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tonic::codegen::Service;
use tonic::transport::{Channel, Endpoint, Uri};

/// An authority that signs certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub pem: String,
}

/// A certificate and its key in PEM form.
#[derive(Clone)]
pub struct Signed {
    pub cert: String,
    pub key: String,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// For a server with these names; an address is one too.
    pub fn server(&self, names: &[&str]) -> Signed {
        self.sign(
            CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap(),
        )
    }

    /// For this machine, and expired.
    pub fn expired(&self) -> Signed {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        self.sign(params)
    }

    /// For a client of this identity.
    pub fn client(&self, uri: &str) -> Signed {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.subject_alt_names = vec![SanType::URI(uri.try_into().unwrap())];
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> Signed {
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.issuer).unwrap().pem();
        Signed { cert, key: key.serialize_pem() }
    }
}

/// Writes a file whole, as a renamed one.
pub fn put(folder: &Path, name: &str, text: &str) -> PathBuf {
    let (path, aside) = (folder.join(name), folder.join(format!("{name}.tmp")));
    std::fs::write(&aside, text).unwrap();
    std::fs::rename(&aside, &path).unwrap();
    path
}

/// A connection with TLS; the certificate that the server showed is in it.
pub async fn secure(
    addr: SocketAddr,
    authority: &str,
    identity: Option<&Signed>,
    protocol: &[u8],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match identity {
        None => config.with_no_client_auth(),
        Some(signed) => config
            .with_client_auth_cert(
                vec![CertificateDer::from_pem_slice(signed.cert.as_bytes()).unwrap()],
                PrivateKeyDer::from_pem_slice(signed.key.as_bytes()).unwrap(),
            )
            .unwrap(),
    };
    config.alpn_protocols = vec![protocol.to_vec()];
    let stream = TcpStream::connect(addr).await?;
    let name = ServerName::from(addr.ip());
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

/// The certificate that the server shows to a new connection.
pub async fn shown(addr: SocketAddr, authority: &str) -> Option<Vec<u8>> {
    let stream = secure(addr, authority, None, b"h2").await.ok()?;
    Some(stream.get_ref().1.peer_certificates()?.first()?.to_vec())
}

/// The bytes of a certificate in PEM form.
pub fn bytes(signed: &Signed) -> Vec<u8> {
    CertificateDer::from_pem_slice(signed.cert.as_bytes()).unwrap().to_vec()
}

/// Makes connections for a channel.
#[derive(Clone)]
struct Secure {
    addr: SocketAddr,
    authority: String,
    identity: Option<Signed>,
}

impl Service<Uri> for Secure {
    type Response = TokioIo<TlsStream<TcpStream>>;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _uri: Uri) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            secure(this.addr, &this.authority, this.identity.as_ref(), b"h2").await.map(TokioIo::new)
        })
    }
}

/// A gRPC channel over TLS.
pub async fn channel(addr: SocketAddr, authority: &str, identity: Option<&Signed>) -> Channel {
    let connector = Secure { addr, authority: authority.to_owned(), identity: identity.cloned() };
    let endpoint = Endpoint::from_shared(format!("https://{addr}")).unwrap();
    endpoint.connect_with_connector(connector).await.unwrap()
}
