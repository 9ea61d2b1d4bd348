//! Flags of TLS and access.

use std::path::PathBuf;

use clap::ArgAction;

use crate::server::TlsFiles;

/// Who may reach the server, and how.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Security")]
pub(super) struct SecurityArgs {
    /// PEM file of the certificate, with those between it and its authority; gRPC and the admin port then speak TLS.
    /// Read again when it changes
    #[arg(long, value_name = "FILE")]
    pub(super) tls_cert: Option<PathBuf>,
    /// PEM file of the certificate's private key
    #[arg(long, value_name = "FILE")]
    pub(super) tls_key: Option<PathBuf>,
    /// PEM file of authorities; clients of gRPC and of the admin port must present a certificate of one of them
    #[arg(long, value_name = "FILE")]
    pub(super) tls_client_ca: Option<PathBuf>,
    /// File of tokens for the admin port, one a line; read again when it changes
    #[arg(long, value_name = "FILE")]
    pub(super) admin_token_file: Option<PathBuf>,
    /// TOML file of the callers that gRPC admits: tokens or certificates, roles and tenants; read again when it changes
    #[arg(long, value_name = "FILE")]
    pub(super) auth_file: Option<PathBuf>,
    /// Let --grpc-addr be reachable from other machines without TLS
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false,
        default_missing_value = "true", hide_possible_values = true, value_name = "BOOL")]
    pub(super) insecure_plaintext: bool,
    /// Let --admin-addr be reachable from other machines without a token
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false,
        default_missing_value = "true", hide_possible_values = true, value_name = "BOOL")]
    pub(super) insecure_disable_auth: bool,
}

impl SecurityArgs {
    /// The files of TLS, where certificate and key are given.
    pub(super) fn tls(&self) -> Option<TlsFiles> {
        let (cert, key) = self.tls_cert.clone().zip(self.tls_key.clone())?;
        Some(TlsFiles { cert, key, client_ca: self.tls_client_ca.clone() })
    }

    /// `off`, `on`, or `mutual` where clients must present a certificate.
    pub(super) fn tls_posture(&self) -> &'static str {
        match (self.tls(), &self.tls_client_ca) {
            (None, _) => "off",
            (Some(_), None) => "on",
            (Some(_), Some(_)) => "mutual",
        }
    }

    /// Whether gRPC admits known callers only.
    pub(super) fn has_access_control(&self) -> bool {
        self.auth_file.is_some()
    }

    /// Whether the admin port asks for a token.
    pub(super) fn has_admin_tokens(&self) -> bool {
        self.admin_token_file.is_some()
    }
}
