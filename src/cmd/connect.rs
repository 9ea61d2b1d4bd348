//! Connections to a server: in plaintext or over TLS, who the caller is, and what went wrong on the way.

mod connector;
mod noting;
mod refusal;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

pub use self::connector::{ConnectFault, Connector};
use super::error::UsageError;

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
                format!("the certificate to present cannot be used: {}", refusal::unusable(&error)),
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
                        refusal::unusable(&error)
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
