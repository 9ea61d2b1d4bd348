//! The files that guard the ports: certificates, tokens of the admin port, callers of gRPC.

use std::sync::Arc;

use tokio::sync::watch;

use super::access::Callers;
use super::metrics::{Credentials, Metrics};
use super::tls::{self, Tls};
use super::tokens::AdminTokens;
use super::watched::{FileFault, Watched};
use super::{Phase, ServerConfig, StartError};

/// The files of credentials, as they are in force.
pub(super) struct Guards {
    pub(super) tls: Option<Arc<Watched<Tls>>>,
    pub(super) admin: Option<Arc<Watched<AdminTokens>>>,
    pub(super) callers: Option<Arc<Watched<Callers>>>,
}

impl Guards {
    /// Reads every file that is named.
    pub(super) fn open(config: &ServerConfig) -> Result<Self, StartError> {
        let refused = |flag| move |FileFault { path, why }| StartError::Credentials { flag, path, why };
        let tls = config.tls.as_ref().map(|files| Watched::open(Credentials::Tls, files.paths(), tls::load));
        let admin = config.admin_token_file.iter();
        let admin = admin
            .map(|path| Watched::open(Credentials::AdminTokens, vec![path.clone()], AdminTokens::load))
            .next();
        let callers = config.auth_file.iter();
        let callers =
            callers.map(|path| Watched::open(Credentials::Callers, vec![path.clone()], Callers::load)).next();
        Ok(Self {
            tls: tls.transpose().map_err(refused("--tls-cert"))?,
            admin: admin.transpose().map_err(refused("--admin-token-file"))?,
            callers: callers.transpose().map_err(refused("--auth-file"))?,
        })
    }

    /// Follows the files from here on.
    pub(super) fn follow(&self, metrics: &Arc<Metrics>, phase: &watch::Receiver<Phase>) {
        if let Some(tls) = &self.tls {
            let seen = Arc::clone(metrics);
            let expiry = move |tls: &Tls| seen.observe_certificate(tls.expires_s);
            tokio::spawn(Arc::clone(tls).follow(Arc::clone(metrics), phase.clone(), expiry));
        }
        if let Some(admin) = &self.admin {
            tokio::spawn(Arc::clone(admin).follow(Arc::clone(metrics), phase.clone(), |_| {}));
        }
        if let Some(callers) = &self.callers {
            tokio::spawn(Arc::clone(callers).follow(Arc::clone(metrics), phase.clone(), |_| {}));
        }
    }
}
