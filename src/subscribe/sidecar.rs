//! One sidecar: follows publishers, and keeps a server told of what they hold.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::Uri;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use tonic::transport::Endpoint;

use super::connection::{ConnectError, Connections, Received};
use super::follow::{Fleet, Follower};
use super::http;
use super::link::{self, Dial, Job, LinkEvent};
use super::metrics::{FullReport, Metrics};
use super::outbox::{Load, Outbox};
use super::scrape::{EngineStats, Page, Wanted, fetch};
use super::seldom::Seldom;
use super::sockets::Publisher;
use crate::engine::{MapperOptions, Notice};
use crate::model::Timestamp;

/// How often the server hears that a replica lives.
pub const LIVENESS: Duration = Duration::from_secs(5);
/// How often an engine's metrics are scraped.
pub const SCRAPE: Duration = Duration::from_secs(10);
/// Longest time that the end takes for telling it to the server.
pub const FAREWELL: Duration = Duration::from_secs(2);
/// How often it is looked whether something is due.
const TICK: Duration = Duration::from_millis(50);

/// What a sidecar is told.
#[derive(Clone)]
pub struct SidecarConfig {
    /// Whom it speaks for.
    pub fleet: Fleet,
    /// The publishers, in the order of their ranks.
    pub publishers: Vec<Publisher>,
    /// How events are read.
    pub mapper: MapperOptions,
    /// The server.
    pub server: Endpoint,
    /// Makes connections to it.
    pub dial: Dial,
    /// How the server is called in the log.
    pub server_url: String,
    /// Longest wait for the server's answer to one call.
    pub patience: Duration,
    /// What is held is told again once in this time.
    pub refresh: Duration,
    /// The engine's metrics page.
    pub metrics_url: Option<Uri>,
    /// Whether the server is told at the end to drop what it knows of the replicas.
    pub clears_at_end: bool,
}

/// Follows until `stop`; the engine notices nothing of either.
///
/// # Errors
///
/// Where a publisher's address cannot be used.
pub async fn run(
    config: SidecarConfig,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> Result<(), ConnectError> {
    let metrics = Arc::new(Metrics::new(config.publishers.len()));
    let mut connections = Connections::open(&config.publishers)?;
    // One job is under way at a time, and its end is told before the next.
    let (jobs, taken) = mpsc::channel(1);
    let (told, mut link_events) = mpsc::channel(4);
    let (pages, mut scraped) = mpsc::channel(1);
    let mut tasks = Tasks(vec![
        tokio::spawn(link::run(
            config.server.clone(),
            Arc::clone(&config.dial),
            config.patience,
            taken,
            told,
        )),
        tokio::spawn(serve(listener, Arc::clone(&metrics))),
    ]);
    if let Some(url) = config.metrics_url.clone() {
        tasks.0.push(tokio::spawn(scrape(url, pages)));
    }
    let mut sidecar = Sidecar::new(config, metrics, jobs);
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            Some(event) = link_events.recv() => sidecar.on_link(event, Instant::now()),
            Some(page) = scraped.recv() => sidecar.on_page(page),
            (publisher, received) = connections.next() => sidecar.on_engine(publisher, &received, Instant::now()),
            _ = tick.tick() => sidecar.on_tick(),
        }
        sidecar.send_next(Instant::now());
    }
    if sidecar.config.clears_at_end {
        let is_told = tokio::time::timeout(FAREWELL, sidecar.bid_farewell(&mut link_events)).await;
        if is_told != Ok(true) {
            tracing::warn!(server = sidecar.config.server_url, "the server could not be told of the end");
        }
    }
    Ok(())
}

/// Waits for the end of the job under way; whether it was carried out.
async fn carried_out(link: u64, events: &mut mpsc::Receiver<LinkEvent>) -> bool {
    loop {
        match events.recv().await {
            Some(LinkEvent::Done(number)) if number == link => return true,
            Some(LinkEvent::Done(_)) => {}
            Some(LinkEvent::Up(_) | LinkEvent::Down(_)) | None => return false,
        }
    }
}

/// Tasks that end with the sidecar.
struct Tasks(Vec<JoinHandle<()>>);

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

async fn serve(listener: TcpListener, metrics: Arc<Metrics>) {
    if let Err(error) = http::serve(listener, metrics).await {
        tracing::error!(%error, "health and metrics are no longer served");
    }
}

async fn scrape(url: Uri, pages: mpsc::Sender<Result<String, String>>) {
    let mut due = tokio::time::interval(SCRAPE);
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        due.tick().await;
        if pages.send(fetch(&url).await).await.is_err() {
            return;
        }
    }
}

/// What the server has yet to hear of one replica.
struct Telling {
    outbox: Outbox,
    alive_due: Instant,
    stats: Option<EngineStats>,
    stats_due: bool,
    page: Option<Page>,
}

struct Sidecar {
    config: SidecarConfig,
    follower: Follower,
    telling: Vec<Telling>,
    connected: Vec<bool>,
    metrics: Arc<Metrics>,
    jobs: mpsc::Sender<Job>,
    /// Number of the connection to the server.
    link: Option<u64>,
    /// Blocks and removals of the job under way.
    under_way: Option<(usize, usize)>,
    /// The replica whose turn it is.
    turn: usize,
    is_away_said: bool,
    unreadable: Seldom,
    lost: Seldom,
    unscraped: Seldom,
}

impl Sidecar {
    fn new(config: SidecarConfig, metrics: Arc<Metrics>, jobs: mpsc::Sender<Job>) -> Self {
        let follower = Follower::new(config.fleet.clone(), config.mapper.clone());
        let mut sidecar = Self {
            connected: vec![false; config.publishers.len()],
            follower,
            telling: Vec::new(),
            metrics,
            jobs,
            link: None,
            under_way: None,
            turn: 0,
            is_away_said: false,
            unreadable: Seldom::default(),
            lost: Seldom::default(),
            unscraped: Seldom::default(),
            config,
        };
        sidecar.meet_replicas(Instant::now());
        sidecar
    }

    fn on_engine(&mut self, publisher: usize, received: &Received, now: Instant) {
        match received {
            Received::Connected(is_connected) => {
                self.connected[publisher] = *is_connected;
                self.metrics.observe_engine(publisher, *is_connected);
                let endpoint = &self.config.publishers[publisher].endpoint;
                if *is_connected {
                    tracing::info!(endpoint, "engine connected");
                } else {
                    tracing::warn!(endpoint, "the connection to the engine is lost; connecting again");
                }
            }
            Received::Restarted => tracing::info!(publisher, "the engine began anew, with an empty cache"),
            Received::Lost(batches) => {
                if let Some(left_out) = self.lost.say(now) {
                    tracing::warn!(publisher, batches, left_out, "batches were lost that no replay gives");
                }
            }
            _ => {}
        }
        let followed = self.follower.follow(publisher, received, Timestamp::now());
        self.meet_replicas(now);
        if let Some(error) = followed.unreadable
            && let Some(left_out) = self.unreadable.say(now)
        {
            tracing::warn!(publisher, %error, left_out, "a batch could not be read and is left out");
        }
        for (at, notice) in followed.notices {
            let replica = self.follower.replicas()[at].identity.replica.as_str();
            match notice {
                Notice::UnnamedAdapter(id) => tracing::warn!(
                    replica,
                    adapter = id,
                    "blocks of an adapter without a name are left out; name it with --adapter-names"
                ),
                Notice::UnknownMedium(medium) => {
                    tracing::warn!(replica, medium, "this medium is not known and taken for tier T3");
                }
            }
        }
        // While the server is away nothing is kept for it: it is told everything when it is back.
        if self.link.is_some() {
            for (at, changes) in &followed.changes {
                if self.telling[*at].outbox.push(changes, now) {
                    self.metrics.observe_full_report(FullReport::TooManyChanges);
                }
            }
        }
    }

    /// A rank that is named for the first time may have left entries of an earlier life.
    fn meet_replicas(&mut self, now: Instant) {
        while self.telling.len() < self.follower.replicas().len() {
            let mut outbox = Outbox::new(self.config.refresh, now);
            if self.link.is_some() {
                outbox.tell_all();
                self.metrics.observe_full_report(FullReport::NewRank);
            }
            let telling = Telling { outbox, alive_due: now, stats: None, stats_due: false, page: None };
            self.telling.push(telling);
        }
    }

    fn on_link(&mut self, event: LinkEvent, now: Instant) {
        match event {
            LinkEvent::Up(number) => {
                tracing::info!(server = self.config.server_url, "server connected; telling it what is held");
                self.is_away_said = false;
                self.link = Some(number);
                self.under_way = None;
                self.metrics.observe_server(true);
                self.metrics.observe_full_report(FullReport::Connected);
                for telling in &mut self.telling {
                    telling.outbox.tell_all();
                    telling.alive_due = now;
                    telling.stats_due = telling.stats.is_some();
                }
            }
            LinkEvent::Done(number) if Some(number) == self.link => {
                if let Some((blocks, removals)) = self.under_way.take() {
                    self.metrics.observe_sent(blocks, removals);
                }
            }
            LinkEvent::Done(_) => {}
            LinkEvent::Down(why) => {
                if !std::mem::replace(&mut self.is_away_said, true) {
                    tracing::warn!(server = self.config.server_url, why, "the server is away; trying again");
                }
                self.link = None;
                self.under_way = None;
                self.metrics.observe_server(false);
            }
        }
    }

    fn on_page(&mut self, page: Result<String, String>) {
        let text = match page {
            Ok(text) => text,
            Err(why) => {
                self.metrics.observe_scrape("failed");
                if let Some(left_out) = self.unscraped.say(Instant::now()) {
                    tracing::warn!(why, left_out, "the engine's metrics cannot be read");
                }
                return;
            }
        };
        let model = self.config.fleet.engine.model.as_str().to_owned();
        let mut is_empty = true;
        for (telling, replica) in self.telling.iter_mut().zip(self.follower.replicas()) {
            let Some(publisher) = replica.publisher else { continue };
            let rank = self.config.fleet.is_ranked.then_some(publisher);
            let page = Page::read(&text, &Wanted { model: model.clone(), rank });
            if page.is_empty() {
                continue;
            }
            is_empty = false;
            let stats = page.stats(telling.page.as_ref().zip(telling.stats.as_ref()));
            telling.page = Some(page);
            telling.stats = Some(stats);
            telling.stats_due = true;
        }
        self.metrics.observe_scrape(if is_empty { "empty" } else { "ok" });
    }

    fn on_tick(&mut self) {
        self.follower.expire(Timestamp::now());
        let waiting = self.telling.iter().map(|telling| telling.outbox.waiting()).sum();
        let is_telling_all = self.telling.iter().any(|telling| telling.outbox.is_telling_all());
        let is_synced = self.link.is_some() && !is_telling_all;
        let replicas = self.follower.replicas();
        self.metrics.observe_state(self.follower.counts(), replicas, waiting, is_synced);
        self.metrics.set_ready(is_synced && self.connected.iter().all(|is_connected| *is_connected));
    }

    /// Gives the link its next job, where it has none.
    fn send_next(&mut self, now: Instant) {
        let Some(link) = self.link.filter(|_| self.under_way.is_none()) else { return };
        let count = self.telling.len();
        for at in (self.turn..self.turn + count).map(|at| at % count) {
            let Some(job) = self.job(at, link, now) else { continue };
            let size = (job.load.additions.len(), job.load.removals.len());
            if self.jobs.try_send(job).is_ok() {
                self.under_way = Some(size);
            } else {
                // One for a connection that is lost is still there; the link says so soon.
                self.telling[at].outbox.tell_all();
            }
            self.turn = (at + 1) % count;
            return;
        }
    }

    fn job(&mut self, at: usize, link: u64, now: Instant) -> Option<Job> {
        let replica = &self.follower.replicas()[at];
        // Nobody can say that an engine lives, or still holds what it held, while it cannot be heard.
        let is_heard = match replica.publisher {
            Some(publisher) => self.connected[publisher],
            None => self.connected.contains(&true),
        };
        let telling = &mut self.telling[at];
        let load = telling.outbox.load(&replica.mapper, is_heard, now);
        let has_stats = telling.stats_due && !telling.outbox.is_telling_all();
        let is_alive = is_heard && now >= telling.alive_due;
        if load.is_none() && !has_stats && !is_alive {
            return None;
        }
        if is_alive {
            telling.alive_due = now + LIVENESS;
        }
        telling.stats_due &= !has_stats;
        Some(Job {
            link,
            identity: replica.identity.clone(),
            load: load.unwrap_or_default(),
            stats: telling.stats.filter(|_| has_stats),
            is_alive,
        })
    }

    /// Has the server drop what it knows of every replica, behind what is under way: an engine that ends with its
    /// sidecar would else draw requests until its entries are given up for its silence.
    async fn bid_farewell(&mut self, events: &mut mpsc::Receiver<LinkEvent>) -> bool {
        let Some(link) = self.link else { return false };
        if self.under_way.take().is_some() && !carried_out(link, events).await {
            return false;
        }
        for replica in self.follower.replicas() {
            let load = Load { clears: true, ..Load::default() };
            let identity = replica.identity.clone();
            let job = Job { link, identity, load, stats: None, is_alive: false };
            if self.jobs.send(job).await.is_err() || !carried_out(link, events).await {
                return false;
            }
        }
        true
    }
}
