//! Metrics of TLS, tokens and callers.

use prometheus::{IntCounterVec, IntGauge, IntGaugeVec, Registry};

use super::build::{counter, gauge};
use super::{Metric, Metrics};

macro_rules! labels {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident $label:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(in crate::server) enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The value of the label.
            pub(in crate::server) fn label(self) -> &'static str {
                match self {
                    $(Self::$variant => $label,)*
                }
            }
        }
    };
}

labels! {
    /// Files of credentials.
    Credentials {
        /// Certificate, key and clients' authorities.
        Tls "tls",
        /// Tokens of the admin port.
        AdminTokens "admin-tokens",
        /// Callers of gRPC.
        Callers "callers",
    }
}

labels! {
    /// Why a handshake failed.
    TlsFailure {
        /// The client speaks plaintext.
        Plaintext "plaintext",
        /// It presented no certificate, and must.
        NoCertificate "no-certificate",
        /// Its certificate is expired, or of another authority.
        BadCertificate "bad-certificate",
        /// It refused our certificate.
        ClientRefused "client-refused",
        /// It took too long.
        Timeout "timeout",
        /// It went, or offered nothing that this server speaks.
        Other "other",
    }
}

labels! {
    /// Why a call was refused.
    Denial {
        /// The caller is not known.
        Unauthenticated "unauth",
        /// It has not the role, or may not name the tenant.
        Forbidden "forbidden",
    }
}

labels! {
    /// How access to the admin port was judged.
    AuthResult {
        /// Admitted.
        Ok "ok",
        /// No token, or one that nobody has.
        Unauthenticated "unauth",
        /// The token of a caller of gRPC.
        Forbidden "forbidden",
        /// Admitted, and the request failed here.
        Error "error",
    }
}

labels! {
    /// What is asked of the admin port.
    Endpoint {
        /// `/snapshot`.
        Snapshot "snapshot",
        /// `/policy`.
        Policy "policy",
        /// `/probe`.
        Probe "probe",
        /// `/config`.
        Config "config",
        /// `/drain`.
        Drain "drain",
        /// `/unknown`.
        Unknown "unknown",
    }
}

impl Endpoint {
    fn metric(self) -> Metric {
        match self {
            Self::Snapshot => Metric::SnapshotAuth,
            Self::Policy => Metric::PolicyAuth,
            Self::Probe => Metric::ProbeAuth,
            Self::Config => Metric::ConfigAuth,
            Self::Drain => Metric::DrainAuth,
            Self::Unknown => Metric::UnknownAuth,
        }
    }
}

/// The values.
pub(super) struct SecurityMetrics {
    grpc_tls: IntGauge,
    certificate_expiry: IntGaugeVec,
    reload_success: IntGaugeVec,
    tls_failures: IntCounterVec,
    denied: IntCounterVec,
    /// By endpoint.
    admin: Vec<IntCounterVec>,
}

impl SecurityMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let metrics = Self {
            grpc_tls: gauge(registry, Metric::GrpcTlsEnabled).with_label_values::<&str>(&[]),
            certificate_expiry: gauge(registry, Metric::CertificateExpiry),
            reload_success: gauge(registry, Metric::CredentialsReloadSuccess),
            tls_failures: counter(registry, Metric::TlsFailures),
            denied: counter(registry, Metric::GrpcDenied),
            admin: Endpoint::ALL.iter().map(|endpoint| counter(registry, endpoint.metric())).collect(),
        };
        // What is not given is in force as it is.
        for kind in Credentials::ALL {
            metrics.reload_success.with_label_values(&[kind.label()]).set(1);
        }
        for failure in TlsFailure::ALL {
            metrics.tls_failures.with_label_values(&[failure.label()]);
        }
        for denial in Denial::ALL {
            metrics.denied.with_label_values(&[denial.label()]);
        }
        for result in AuthResult::ALL {
            for counter in &metrics.admin {
                counter.with_label_values(&[result.label()]);
            }
        }
        metrics
    }
}

impl Metrics {
    /// Whether gRPC speaks TLS.
    pub(in crate::server) fn observe_tls(&self, is_on: bool) {
        self.security.grpc_tls.set(i64::from(is_on));
    }

    /// When the certificate in force ends, in seconds since 1970.
    pub(in crate::server) fn observe_certificate(&self, expires_s: i64) {
        self.security.certificate_expiry.with_label_values::<&str>(&[]).set(expires_s);
    }

    /// Whether what the files say is in force.
    pub(in crate::server) fn observe_credentials(&self, kind: Credentials, is_in_force: bool) {
        self.security.reload_success.with_label_values(&[kind.label()]).set(i64::from(is_in_force));
    }

    /// A handshake failed.
    pub(in crate::server) fn observe_tls_failure(&self, failure: TlsFailure) {
        self.security.tls_failures.with_label_values(&[failure.label()]).inc();
    }

    /// A call of gRPC was refused.
    pub(in crate::server) fn observe_denial(&self, denial: Denial) {
        self.security.denied.with_label_values(&[denial.label()]).inc();
    }

    /// A request to the admin port was judged.
    pub(in crate::server) fn observe_admin(&self, endpoint: Endpoint, result: AuthResult) {
        if let Some(counter) = self.security.admin.get(endpoint as usize) {
            counter.with_label_values(&[result.label()]).inc();
        }
    }
}
