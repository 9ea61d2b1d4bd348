//! The server: gRPC, HTTP and the admin port in front of one [`Router`], its metrics, and its orderly end.
//!
//! Handlers decode, call and encode; what an answer is, is decided elsewhere.

mod access;
mod admin;
mod aside;
mod config;
mod config_view;
mod connections;
mod door;
mod drops;
mod explain;
mod fast;
mod feeds;
mod grpc;
mod guards;
mod health;
mod http;
mod ingest;
mod metrics;
mod observe;
mod opening;
mod order;
mod policies;
mod ports;
mod probe;
mod queue;
mod saved;
mod series;
mod snapshot;
mod strangers;
mod sweeper;
mod tls;
mod tokens;
mod traces;
mod watched;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub use config::{ServerConfig, StartError};
pub use config_view::{CONFIG_VIEW_VERSION, ConfigView, SettingView};
pub use metrics::{METRICS, Metric, MetricInfo, MetricKind};
pub use probe::answer_probe;
pub use saved::{Loaded, LoadedState, MAX_SET_ASIDE, StateFolder, StateSink};
pub use snapshot::{ReplicaView, SnapshotView, TenantView};
pub use strangers::{UNKNOWN_VIEW_VERSION, UnknownKey, UnknownView};
pub use tls::TlsFiles;
pub use traces::TraceConfig;

use self::access::Access;
use self::admin::Admin;
use self::connections::{Doorman, Port};
use self::feeds::Feeds;
use self::guards::Guards;
use self::ingest::Ingest;
use self::metrics::Metrics;
use self::order::Order;
use self::policies::Policies;
use self::ports::{bind, grpc_services, serve_admin, serve_grpc};
use self::saved::Saver;
use self::strangers::Strangers;
use self::traces::{Sending, Traces};
use crate::lookup::Router;
use crate::model::Timestamp;
use crate::policy::{LoadedFiles, PolicyWatch, watch_policies};

/// What the doors share.
struct Core {
    router: Arc<Router>,
    metrics: Arc<Metrics>,
    ingest: Ingest,
    feeds: Arc<Feeds>,
    order: Arc<Order>,
    in_flight: Arc<AtomicU64>,
    phase: watch::Receiver<Phase>,
    access: Access,
    strangers: Strangers,
    traces: Option<Arc<Traces>>,
}

/// Where the server is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Serving,
    Draining,
}

/// Returns once the server drains.
async fn draining(mut phase: watch::Receiver<Phase>) {
    // An error means that the server is gone altogether.
    let _ = phase.wait_for(|phase| *phase == Phase::Draining).await;
}

/// A server that runs until it is stopped.
pub struct Running {
    grpc_addr: SocketAddr,
    http_addr: SocketAddr,
    admin_addr: SocketAddr,
    drain_timeout: Duration,
    phase: watch::Sender<Phase>,
    stop_grpc: oneshot::Sender<()>,
    stop_http: oneshot::Sender<()>,
    stop_admin: oneshot::Sender<()>,
    grpc: JoinHandle<Result<(), tonic::transport::Error>>,
    http: JoinHandle<std::io::Result<()>>,
    admin: JoinHandle<std::io::Result<()>>,
    sweeper: JoinHandle<()>,
    saver: Option<(Arc<Saver>, JoinHandle<()>)>,
    sending: Option<Sending>,
    _policy_watch: Option<PolicyWatch>,
}

/// Binds the addresses and serves. `files` are in force in `router`, and are watched from here on. Runs on the current
/// async runtime.
pub async fn start(
    config: ServerConfig,
    router: Arc<Router>,
    files: Option<LoadedFiles>,
) -> Result<Running, StartError> {
    let guards = Guards::open(&config)?;
    let metrics = Arc::new(Metrics::new(config.metrics_max_series));
    // What a capture brought is in no file yet.
    let is_saved = router.index().work() == 0;
    if let Some((folder, _)) = &config.state {
        load(folder, &router, &metrics).await;
    }
    let grpc_listener = bind("--grpc-addr", config.grpc_addr).await?;
    let http_listener = bind("--http-addr", config.http_addr).await?;
    let admin_listener = bind("--admin-addr", config.admin_addr).await?;
    let grpc_addr = grpc_listener.local_addr().unwrap_or(config.grpc_addr);
    let http_addr = http_listener.local_addr().unwrap_or(config.http_addr);
    let admin_addr = admin_listener.local_addr().unwrap_or(config.admin_addr);

    let (phase, phase_seen) = watch::channel(Phase::Serving);
    // State that was loaded before the start counts as known.
    metrics.admit_models(router.index().gauges().keys_by_model.keys());
    let order = Arc::new(Order::new());
    let (policies, policy_watch) = policies(&router, &metrics, &order, files)?;
    let (traces, sending) = traces(config.traces.as_ref(), &metrics)?.unzip();
    let feeds = Arc::new(Feeds::new(phase_seen.clone(), Arc::clone(&metrics)));
    guards.follow(&metrics, &phase_seen);
    let core = Arc::new(Core {
        ingest: Ingest::new(
            Arc::clone(&router),
            Arc::clone(&metrics),
            Arc::clone(&order),
            Arc::clone(&feeds),
        ),
        feeds,
        order,
        in_flight: Arc::new(AtomicU64::new(0)),
        phase: phase_seen.clone(),
        strangers: Strangers::default(),
        access: Access::new(guards.callers.clone(), Arc::clone(&metrics)),
        traces,
        router,
        metrics,
    });

    let (stop_grpc, grpc_stopped) = oneshot::channel();
    let (stop_http, http_stopped) = oneshot::channel();
    let (stop_admin, admin_stopped) = oneshot::channel();
    let doorman = |port| Doorman::new(port, config.max_connections, config.head_wait, &core.metrics);
    let services = grpc_services(&config, &core)?;
    let grpc = serve_grpc(services, grpc_listener, &guards, doorman(Port::Grpc), &core.metrics, async {
        let _ = grpc_stopped.await;
    });
    let http_doorman = doorman(Port::Http);
    let incoming = http_doorman.clone().incoming(http_listener);
    let http = tokio::spawn(http_doorman.serve(incoming, http::routes(Arc::clone(&core)), async {
        let _ = http_stopped.await;
    }));
    let admin = admin::routes(Admin::new(
        Arc::clone(&core),
        policies,
        guards.admin.clone(),
        guards.callers.clone(),
        config.effective.clone(),
    ));
    let admin = serve_admin(admin, admin_listener, &guards, doorman(Port::Admin), &core.metrics, async {
        let _ = admin_stopped.await;
    });
    let saver = config.state.map(|(folder, every)| {
        let saver = Arc::new(Saver::new(Arc::clone(&core), folder, every, is_saved));
        (Arc::clone(&saver), tokio::spawn(saver.run()))
    });
    let sweeper = tokio::spawn(sweeper::run(core, config.sweep_interval));
    Ok(Running {
        grpc_addr,
        http_addr,
        admin_addr,
        drain_timeout: config.drain_timeout,
        phase,
        stop_grpc,
        stop_http,
        stop_admin,
        grpc,
        http,
        admin,
        sweeper,
        saver,
        sending,
        _policy_watch: policy_watch,
    })
}

/// Loads what an earlier server saved, and says what became of it.
async fn load(folder: &StateFolder, router: &Arc<Router>, metrics: &Metrics) {
    let (at, into) = (folder.clone(), Arc::clone(router));
    let loading = tokio::task::spawn_blocking(move || at.load(&into, Timestamp::now()));
    let folder = folder.path().display();
    match loading.await {
        Ok(Loaded::Nothing) => tracing::info!(%folder, "no state was saved here"),
        Ok(Loaded::State(LoadedState { saved_at, server_version, entries, expired, lost, .. })) => {
            metrics.observe_loaded(entries, saved_at);
            let age_s = saved_at.age_ns(Timestamp::now()) / 1_000_000_000;
            tracing::info!(%folder, server_version, age_s, entries, expired, lost, "state loaded");
            if lost > 0 {
                tracing::warn!(%folder, lost, "saved entries do not fit the limits, caps or quotas of now");
            }
        }
        Ok(Loaded::Refused { why, kept: Ok(kept) }) => {
            let kept = kept.display();
            tracing::error!(%folder, %kept, "the saved state is not used: {why}; it was set aside");
        }
        Ok(Loaded::Refused { why, kept: Err(error) }) => {
            tracing::error!(%folder, "the saved state is not used: {why}; it cannot be set aside: {error}");
        }
        Err(error) => tracing::error!(%folder, %error, "loading the saved state failed; going on without"),
    }
}

/// What makes spans and what sends them, where there is a collector.
fn traces(
    config: Option<&TraceConfig>,
    metrics: &Arc<Metrics>,
) -> Result<Option<(Arc<Traces>, Sending)>, StartError> {
    let started = config.map(|config| {
        let endpoint = config.endpoint.clone();
        Traces::start(config, metrics).map_err(|why| StartError::Traces { endpoint, why })
    });
    started.transpose()
}

/// The policies in force, and the watch on the files that they were read from.
fn policies(
    router: &Arc<Router>,
    metrics: &Arc<Metrics>,
    order: &Arc<Order>,
    files: Option<LoadedFiles>,
) -> Result<(Arc<Policies>, Option<PolicyWatch>), StartError> {
    let (loaded, watched) = match files {
        Some(LoadedFiles { files, texts, loaded }) => (Some(loaded), Some((files, texts))),
        None => (None, None),
    };
    let policies =
        Arc::new(Policies::new(Arc::clone(router), Arc::clone(metrics), Arc::clone(order), loaded));
    let watch = watched.map(|(files, texts)| {
        let policies = Arc::clone(&policies);
        watch_policies(files, texts, move |reloaded| policies.reload(reloaded)).map_err(StartError::Watch)
    });
    Ok((policies, watch.transpose()?))
}

impl Running {
    /// Where gRPC is served.
    pub fn grpc_addr(&self) -> SocketAddr {
        self.grpc_addr
    }

    /// Where health and metrics are served.
    pub fn http_addr(&self) -> SocketAddr {
        self.http_addr
    }

    /// Where policies are read and pushed.
    pub fn admin_addr(&self) -> SocketAddr {
        self.admin_addr
    }

    /// Returns when a door closed by itself, and says why; the server is of no more use then.
    pub async fn failed(&mut self) -> String {
        let (door, ended) = tokio::select! {
            ended = &mut self.grpc => ("gRPC", ended.map(|ended| ended.err().map(|error| error.to_string()))),
            ended = &mut self.http => ("HTTP", ended.map(|ended| ended.err().map(|error| error.to_string()))),
            ended = &mut self.admin => ("the admin port", ended.map(|ended| ended.err().map(|error| error.to_string()))),
        };
        let why = ended.unwrap_or_else(|error| Some(error.to_string()));
        format!("{door} is no longer served: {}", why.as_deref().unwrap_or("it ended by itself"))
    }

    /// Stops: says so to whoever asks, lets calls in flight finish within the drain timeout, then closes. Whether all
    /// of them finished.
    pub async fn stop(self) -> bool {
        let _ = self.phase.send(Phase::Draining);
        let _ = self.stop_grpc.send(());
        let all_finished = timeout(self.drain_timeout, self.grpc).await.is_ok();
        let _ = self.stop_admin.send(());
        let _ = timeout(HTTP_GRACE, self.admin).await;
        // Readiness is answered until the last call is done.
        let _ = self.stop_http.send(());
        let _ = timeout(HTTP_GRACE, self.http).await;
        self.sweeper.abort();
        if let Some((saver, task)) = self.saver {
            task.abort();
            saver.save_last().await;
        }
        if let Some(sending) = self.sending {
            sending.stop().await;
        }
        all_finished
    }
}

/// Time that HTTP requests in flight have to finish.
const HTTP_GRACE: Duration = Duration::from_secs(1);
