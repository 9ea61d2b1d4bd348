//! What the ports of one server say, for those who look at all of them: `icache doctor` and `icache top`.

use std::path::PathBuf;

use clap::Args;
use hyper::{Method, Uri};
use serde::de::DeserializeOwned;

use super::CommandError;
use super::admin::{AdminRequest, Fetched, Port, fetch, foreign, understand};
use super::client::ServerArgs;
use super::connect::AccessArgs;
use super::error::UsageError;
use crate::contract::GetCacheStateRequest;
use crate::doctor::{Answer, Observations};
use crate::model::Timestamp;
use crate::policy::POLICY_VIEW_VERSION;
use crate::server::{CONFIG_VIEW_VERSION, SnapshotView, UNKNOWN_VIEW_VERSION};
use crate::telemetry::Page;
use crate::top::Seen;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;

/// The ports of a server.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Server")]
pub struct PortArgs {
    #[command(flatten)]
    pub server: ServerArgs,
    /// Admin port of the server; without it that of the environment variable ICACHE_ADMIN_URL, else port 8081 of the server
    #[arg(long, value_name = "URL")]
    admin_url: Option<String>,
    /// File that holds the token of the admin port, where it differs from that of gRPC
    #[arg(long, value_name = "FILE")]
    admin_token_file: Option<PathBuf>,
    /// HTTP port of the server; without it that of the environment variable ICACHE_HTTP_URL, else port 8080 of the server
    #[arg(long, value_name = "URL")]
    http_url: Option<String>,
}

/// A model that no server has: the state of it is small.
const NO_MODEL: &str = "__icache-doctor";

/// A second, in nanoseconds.
const SECOND_NS: i64 = 1_000_000_000;

const METRICS: AdminRequest<'static> = AdminRequest {
    method: Method::GET,
    path: "/metrics",
    answer: "metrics page",
    version: None,
    port: Port::Http,
};

/// Where the ports are, and who asks.
#[derive(Clone, Debug)]
pub struct Ports {
    server: ServerArgs,
    url: String,
    admin_url: String,
    admin_access: AccessArgs,
    http_url: String,
    http_access: AccessArgs,
}

impl PortArgs {
    /// Where they are. An error is a URL that is none, or a file that cannot be used.
    pub fn ports(&self) -> Result<Ports, UsageError> {
        let url = self.server.way()?.url().to_owned();
        let given = |own: &Option<String>, variable: &str, port: u16| {
            own.clone().or_else(|| std::env::var(variable).ok()).unwrap_or_else(|| beside(&url, port))
        };
        let http_url = given(&self.http_url, "ICACHE_HTTP_URL", 8080);
        // The HTTP port has no TLS of its own.
        let http_url = match &self.http_url {
            Some(named) => named.clone(),
            None => http_url.replacen("https://", "http://", 1),
        };
        let access = self.server.access();
        Ok(Ports {
            server: self.server.clone(),
            admin_url: given(&self.admin_url, "ICACHE_ADMIN_URL", 8081),
            admin_access: access.with_token_of(self.admin_token_file.as_deref()),
            http_url,
            http_access: access.clone(),
            url,
        })
    }
}

/// Another port of the host that `url` names.
fn beside(url: &str, port: u16) -> String {
    let parsed: Option<Uri> = url.parse().ok();
    let host = parsed.as_ref().and_then(Uri::host).unwrap_or("127.0.0.1");
    let scheme = parsed.as_ref().and_then(Uri::scheme_str).unwrap_or("http");
    format!("{scheme}://{host}:{port}")
}

/// A JSON document of the admin port.
fn admin(path: &'static str, answer: &'static str, version: Option<u32>) -> AdminRequest<'static> {
    AdminRequest { method: Method::GET, path, answer, version, port: Port::Admin }
}

/// A server's fault is an answer; everything else is an error of the command.
fn answered<T>(answer: Result<T, CommandError>) -> Result<Answer<T>, CommandError> {
    match answer {
        Ok(answer) => Ok(Ok(answer)),
        Err(CommandError::Server(error)) => Ok(Err(error.into_fault())),
        Err(other) => Err(other),
    }
}

/// An answer and the server's clock, where there is one.
fn apart<T>(answer: Answer<(T, Option<Timestamp>)>) -> (Answer<T>, Option<Timestamp>) {
    match answer {
        Ok((answer, clock)) => (Ok(answer), clock),
        Err(fault) => (Err(fault), None),
    }
}

impl Ports {
    /// Where gRPC is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The metrics page, and the server's clock.
    pub async fn metrics(&self) -> Result<Answer<(Page, Option<Timestamp>)>, CommandError> {
        answered(self.page().await)
    }

    async fn page(&self) -> Result<(Page, Option<Timestamp>), CommandError> {
        let Fetched { body, clock } = fetch(&self.http_url, &self.http_access, &METRICS).await?;
        let page = Page::read(&String::from_utf8_lossy(&body));
        if page.is_empty() {
            return Err(foreign(&self.http_url, &METRICS).into());
        }
        Ok((page, clock))
    }

    /// The replicas, and the server's clock.
    pub async fn snapshot(&self) -> Result<Answer<(SnapshotView, Option<Timestamp>)>, CommandError> {
        answered(self.document(&admin("/snapshot", "snapshot", None)).await)
    }

    async fn document<T: DeserializeOwned>(
        &self,
        request: &AdminRequest<'_>,
    ) -> Result<(T, Option<Timestamp>), CommandError> {
        let Fetched { body, clock } = fetch(&self.admin_url, &self.admin_access, request).await?;
        Ok((understand(&self.admin_url, request, &body)?, clock))
    }

    /// A document of the admin port.
    pub async fn told<T: DeserializeOwned>(
        &self,
        path: &'static str,
        answer: &'static str,
        version: u32,
    ) -> Result<Answer<T>, CommandError> {
        let told = self.document(&admin(path, answer, Some(version))).await;
        answered(told.map(|(document, _)| document))
    }

    /// Whether gRPC says that it serves, and whether it admits the caller.
    async fn health(&self) -> Result<(Answer<bool>, Answer<()>), CommandError> {
        let way = self.server.way()?;
        let client = match answered(way.connect().await)? {
            Ok(client) => client,
            Err(fault) => return Ok((Err(fault.clone()), Err(fault))),
        };
        let failed = |status: &tonic::Status| client.failed(status);
        let health = client.health().check(client.request(HealthCheckRequest::default())).await;
        let serving = answered(health.map_err(|status| failed(&status)))?;
        let serving = serving.map(|health| health.into_inner().status == i32::from(ServingStatus::Serving));
        let state = GetCacheStateRequest { model_id: NO_MODEL.to_owned(), ..Default::default() };
        let state = match client.contract().get_cache_state(client.request(state)).await {
            // The caller is known; what it may do is another matter.
            Err(status) if status.code() == Code::PermissionDenied => Ok(()),
            state => state.map(drop).map_err(|status| failed(&status)),
        };
        Ok((serving, answered(state)?))
    }

    /// What a glance needs.
    pub async fn glance(&self) -> Result<Seen, CommandError> {
        let (metrics, snapshot, policy) = tokio::join!(
            self.metrics(),
            self.snapshot(),
            self.told("/policy", "list of policies", POLICY_VIEW_VERSION),
        );
        let at = Timestamp::now();
        let (metrics, page_clock) = apart(metrics?);
        let (snapshot, admin_clock) = apart(snapshot?);
        let skew_ns = page_clock.or(admin_clock).map_or(0, |clock| skew(clock, at));
        Ok(Seen { at, skew_ns, metrics, snapshot, policy: policy? })
    }

    /// Asks all of them at once.
    pub async fn observe(&self) -> Result<Observations, CommandError> {
        let health = async {
            match tokio::time::timeout(self.server.patience(), self.health()).await {
                Ok(health) => health,
                Err(_) => {
                    let late = self.server.way()?.late().into_fault();
                    Ok((Err(late.clone()), Err(late)))
                }
            }
        };
        let (health, metrics, snapshot, policy, unknown, config) = tokio::join!(
            health,
            self.metrics(),
            self.snapshot(),
            self.told("/policy", "list of policies", POLICY_VIEW_VERSION),
            self.told("/unknown", "list of keys", UNKNOWN_VIEW_VERSION),
            self.told("/config", "configuration", CONFIG_VIEW_VERSION),
        );
        let now = Timestamp::now();
        let (serving, access) = health?;
        let (page, page_clock) = apart(metrics?);
        let (snapshot, admin_clock) = apart(snapshot?);
        let skew_ns = match (page_clock.or(admin_clock), &page) {
            (Some(clock), _) => Ok(skew(clock, now)),
            (None, Err(fault)) => Err(fault.clone()),
            (None, Ok(_)) => Ok(0),
        };
        Ok(Observations {
            now,
            url: self.url.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            serving,
            access,
            metrics: page,
            snapshot,
            policy: policy?,
            unknown: unknown?,
            config: config?,
            skew_ns,
        })
    }
}

/// The server's clock, which is told in whole seconds, less this machine's, in whole seconds.
pub fn skew(server: Timestamp, now: Timestamp) -> i64 {
    server.as_ns().saturating_sub(now.as_ns().div_euclid(SECOND_NS).saturating_mul(SECOND_NS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_ports_are_on_the_same_host() {
        assert_eq!(beside("http://icache:9090", 8081), "http://icache:8081");
        assert_eq!(beside("https://[::1]:9090", 8080), "https://[::1]:8080");
    }

    #[test]
    fn clocks_are_compared_in_whole_seconds() {
        let at = |ms: i64| Timestamp::from_us(ms * 1_000);
        assert_eq!(skew(at(7_000), at(7_900)), 0);
        assert_eq!(skew(at(7_000), at(9_100)), -2 * SECOND_NS);
    }
}
