//! What may be reachable from other machines. Health and metrics may; gRPC carries tenants' state, and the admin port
//! changes what holds for them.

use std::net::SocketAddr;

use super::Args;
use crate::cmd::UsageError;

/// Refuses half a certificate, and what is reachable without protection and without a word that it is meant to be.
pub(super) fn refuse(args: &Args) -> Result<(), UsageError> {
    let security = &args.security;
    let needs = |flag: &str, other: &str, why: &str| {
        Err(UsageError::new(format!("`{flag}` is given, and `{other}` is not"), why))
    };
    match (&security.tls_cert, &security.tls_key) {
        (Some(_), None) => {
            return needs("--tls-cert", "--tls-key", "give both for TLS, neither for plaintext");
        }
        (None, Some(_)) => {
            return needs("--tls-key", "--tls-cert", "give both for TLS, neither for plaintext");
        }
        (None, None) if security.tls_client_ca.is_some() => {
            let why = "clients' certificates are asked for over TLS; give `--tls-cert` and `--tls-key` too";
            return needs("--tls-client-ca", "--tls-cert", why);
        }
        _ => {}
    }
    let refused = |flag: &str, addr: SocketAddr, without: &str, advice: &str| {
        Err(UsageError::new(
            format!("`{flag} {addr}` is reachable from other machines, and without {without}"),
            format!("listen on a loopback address, {advice}"),
        ))
    };
    if is_exposed(args.grpc_addr) && security.tls().is_none() && !security.insecure_plaintext {
        let advice = "give `--tls-cert` and `--tls-key`, or say so with `--insecure-plaintext`";
        return refused("--grpc-addr", args.grpc_addr, "TLS", advice);
    }
    if is_exposed(args.admin_addr) && !security.has_admin_tokens() && !security.insecure_disable_auth {
        let advice = "give `--admin-token-file`, or say so with `--insecure-disable-auth`";
        return refused("--admin-addr", args.admin_addr, "a token", advice);
    }
    Ok(())
}

/// Tells in the log what is reachable and open, since somebody said that it may be.
pub(super) fn warn(args: &Args) {
    let security = &args.security;
    let is_plain = security.tls().is_none();
    if is_exposed(args.grpc_addr) && is_plain {
        tracing::warn!(
            "gRPC is reachable from other machines in plaintext; whoever is on the way can read and change it"
        );
    }
    if is_exposed(args.admin_addr) && !security.has_admin_tokens() {
        tracing::warn!(
            "the admin port is reachable from other machines without a token; whoever reaches it can change policies"
        );
    } else if is_exposed(args.admin_addr) && is_plain {
        tracing::warn!(
            "tokens of the admin port travel in plaintext; `--tls-cert` and `--tls-key` encrypt it"
        );
    }
    if security.has_access_control() && is_exposed(args.grpc_addr) && is_plain {
        tracing::warn!(
            "tokens of gRPC callers travel in plaintext; `--tls-cert` and `--tls-key` encrypt them"
        );
    }
}

fn is_exposed(addr: SocketAddr) -> bool {
    !addr.ip().to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::serve::tests::resolved;

    #[test]
    fn only_loopback_is_plain_unless_told_so() {
        for (args, is_refused) in [
            (&["--grpc-addr=127.0.0.1:0"][..], false),
            (&["--grpc-addr=127.9.9.9:0"], false),
            (&["--grpc-addr=[::1]:0"], false),
            (&["--grpc-addr=[::ffff:127.0.0.1]:0"], false),
            (&["--grpc-addr=0.0.0.0:0"], true),
            (&["--grpc-addr=[::]:0"], true),
            (&["--grpc-addr=10.0.0.1:9090"], true),
            (&["--grpc-addr=0.0.0.0:0", "--insecure-plaintext"], false),
            (&["--grpc-addr=0.0.0.0:0", "--insecure-plaintext=false"], true),
            (&["--grpc-addr=0.0.0.0:0", "--insecure-disable-auth"], true),
            (&["--grpc-addr=0.0.0.0:0", "--auth-file=a"], true),
            (&["--grpc-addr=0.0.0.0:0", "--tls-cert=a", "--tls-key=b"], false),
            (&["--admin-addr=[::1]:0"], false),
            (&["--admin-addr=0.0.0.0:0"], true),
            (&["--admin-addr=0.0.0.0:0", "--insecure-plaintext"], true),
            (&["--admin-addr=0.0.0.0:0", "--insecure-disable-auth"], false),
            (&["--admin-addr=0.0.0.0:0", "--tls-cert=a", "--tls-key=b"], true),
            (&["--admin-addr=0.0.0.0:0", "--tls-cert=a", "--tls-key=b", "--tls-client-ca=c"], true),
            (&["--admin-addr=0.0.0.0:0", "--admin-token-file=a"], false),
            (&["--http-addr=0.0.0.0:0"], false),
            (&["--tls-cert=a"], true),
            (&["--tls-key=a"], true),
            (&["--tls-client-ca=a"], true),
        ] {
            assert_eq!(refuse(&resolved(args, &[]).unwrap()).is_err(), is_refused, "{args:?}");
        }
    }
}
