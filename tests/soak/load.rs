//! What the server is put under. Each chain is one producer's, so that every answer can be judged.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use icache::contract::wire::icache::v1alpha1::FastLookupRequest;
use icache::contract::wire::icache::v1alpha1::fast_lookup_client::FastLookupClient;
use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;

use super::process::Process;

const PRODUCERS: u64 = 4;
const READERS: u64 = 3;
/// Blocks of a chain, of so many tokens each.
const BLOCKS: u64 = 16;
const BLOCK_TOKENS: i32 = 16;
/// Reports of a producer before it restarts under another name.
const REPORTS: u64 = 200;
/// Chains that are asked for lie so far back at most.
const RECENT: u64 = 400;

/// Time between two actions of one kind.
const REPORT_EVERY: Duration = Duration::from_millis(20);
const ASK_EVERY: Duration = Duration::from_millis(10);
const FLIP_EVERY: Duration = Duration::from_millis(700);

/// What was done.
#[derive(Debug, Default)]
pub struct Told {
    pub reports: u64,
    pub restarts: u64,
    pub looked_up: u64,
    pub hinted: u64,
    pub flips: u64,
}

#[derive(Default)]
struct Counts {
    reports: AtomicU64,
    restarts: AtomicU64,
    looked_up: AtomicU64,
    hinted: AtomicU64,
    flips: AtomicU64,
    /// Chains that have been reported, by producer.
    chains: [AtomicU64; PRODUCERS as usize],
}

/// Everybody who calls.
pub struct Fleet {
    tasks: JoinSet<()>,
    stop: watch::Sender<bool>,
    counts: Arc<Counts>,
}

fn hash(producer: u64, chain: u64, block: u64) -> [u8; 8] {
    (producer << 56 | chain << 8 | block).to_be_bytes()
}

fn tenant(producer: u64) -> String {
    format!("team-{}", producer % 2)
}

/// Policies of one tenant, one of two.
pub fn flip(folder: &Path, round: u64) {
    let floor = [16, 64][(round % 2) as usize];
    let eviction = ["LRU", "LFU"][(round / 2 % 2) as usize];
    let text = format!(
        "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {{name: p, namespace: team-0}}\n\
         spec: {{minimumMatchedTokens: {floor}, eviction: {eviction}, evictionTTL: 60s}}\n"
    );
    let aside = folder.join("p.tmp");
    fs::write(&aside, text).unwrap();
    fs::rename(&aside, folder.join("p.yaml")).unwrap();
}

impl Fleet {
    /// Begins once each tenant has something.
    pub async fn start(server: &Process, policies: &Path) -> Self {
        let (stop, stopped) = watch::channel(false);
        let counts = Arc::new(Counts::default());
        let mut tasks = JoinSet::new();
        let url = format!("http://{}", server.grpc_addr);
        let seeds = (0..PRODUCERS).map(|producer| report(producer, format!("p{producer}-seed"), 0, None));
        let mut client = InferenceCacheClient::new(connect(&url).await);
        client.report_cache_state(tokio_stream::iter(seeds.collect::<Vec<_>>())).await.unwrap();
        for producer in 0..PRODUCERS {
            tasks.spawn(produce(url.clone(), producer, Arc::clone(&counts), stopped.clone()));
        }
        for reader in 0..READERS {
            tasks.spawn(read(url.clone(), reader, Arc::clone(&counts), stopped.clone()));
        }
        tasks.spawn(read_fast(url, Arc::clone(&counts), stopped.clone()));
        tasks.spawn(flips(policies.to_owned(), Arc::clone(&counts), stopped));
        Self { tasks, stop, counts }
    }

    /// Fails where somebody failed so far.
    pub fn check(&mut self) {
        if let Some(ended) = self.tasks.try_join_next() {
            ended.expect("no call fails, and no answer is wrong");
        }
    }

    /// Lets everybody finish; fails where somebody failed.
    pub async fn stop(mut self) -> Told {
        self.stop.send(true).unwrap();
        while let Some(ended) = self.tasks.join_next().await {
            ended.expect("no call fails, and no answer is wrong");
        }
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counts { reports, restarts, looked_up, hinted, flips, .. } = &*self.counts;
        Told {
            reports: of(reports),
            restarts: of(restarts),
            looked_up: of(looked_up),
            hinted: of(hinted),
            flips: of(flips),
        }
    }
}

/// Counts, one at a time, until all stop.
struct Pace {
    ticks: Interval,
    stopped: watch::Receiver<bool>,
    count: u64,
}

impl Pace {
    fn new(every: Duration, stopped: &watch::Receiver<bool>) -> Self {
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { ticks, stopped: stopped.clone(), count: 0 }
    }

    async fn next(&mut self) -> Option<u64> {
        self.ticks.tick().await;
        self.count += 1;
        (!*self.stopped.borrow()).then_some(self.count - 1)
    }
}

async fn connect(url: &str) -> Channel {
    Channel::from_shared(url.to_owned()).unwrap().connect().await.unwrap()
}

/// A report of one chain.
fn report(
    producer: u64,
    replica: String,
    chain: u64,
    stats: Option<wire::ReplicaStats>,
) -> wire::CacheStateUpdate {
    let hashes = (0..BLOCKS).map(|block| Bytes::copy_from_slice(&hash(producer, chain, block)));
    wire::CacheStateUpdate {
        replica_id: replica,
        model_id: "llama".to_owned(),
        tenant_id: tenant(producer),
        hash_scheme: "vllm".to_owned(),
        stats,
        prefixes: vec![wire::PrefixEntry {
            block_hashes: hashes.collect(),
            block_token_counts: vec![BLOCK_TOKENS; BLOCKS as usize],
            ..Default::default()
        }],
        ..Default::default()
    }
}

/// A producer: streams of reports, a restart under a new name, and the old name cleared or left to its time to live.
async fn produce(url: String, producer: u64, counts: Arc<Counts>, stopped: watch::Receiver<bool>) {
    let mut chain = 0;
    let mut generation = 0;
    while !*stopped.borrow() {
        let replica = format!("p{producer}-g{generation}");
        let mut client = InferenceCacheClient::new(connect(&url).await);
        let (sender, receiver) = mpsc::channel(4);
        let mut reporter = client.clone();
        let reporting =
            tokio::spawn(async move { reporter.report_cache_state(ReceiverStream::new(receiver)).await });
        let mut pace = Pace::new(REPORT_EVERY, &stopped);
        while let Some(number) = pace.next().await.filter(|number| *number < REPORTS) {
            let stats = (number % 50 == 0).then(|| wire::ReplicaStats {
                hit_rate: 0.5,
                pressure: 0.25,
                ..Default::default()
            });
            sender.send(report(producer, replica.clone(), chain, stats)).await.unwrap();
            counts.reports.fetch_add(1, Ordering::Relaxed);
            counts.chains[producer as usize].store(chain, Ordering::Relaxed);
            chain += 1;
        }
        drop(sender);
        assert!(reporting.await.unwrap().unwrap().into_inner().accepted);
        if generation % 2 == 0 {
            let cleared = wire::CacheEvent {
                r#type: wire::cache_event::Type::AllCleared.into(),
                replica_id: replica,
                model_id: "llama".to_owned(),
                tenant_id: tenant(producer),
                ..Default::default()
            };
            client.publish_event(cleared).await.unwrap();
        }
        counts.restarts.fetch_add(1, Ordering::Relaxed);
        generation += 1;
    }
}

/// A chain to ask for: of which producer, and which one.
fn pick(number: u64, counts: &Counts) -> (u64, u64) {
    let producer = number % PRODUCERS;
    let newest = counts.chains[producer as usize].load(Ordering::Relaxed);
    (producer, newest.saturating_sub(number / PRODUCERS * 37 % RECENT))
}

fn judge(producer: u64, answer: &wire::LookupRouteResponse, counts: &Counts) {
    let names = answer.replica_scores.iter().map(|score| &score.replica_id);
    match answer.reason_code.as_str() {
        "PREFIX_MATCH" => {
            let own = format!("p{producer}-");
            assert!(names.clone().all(|name| name.starts_with(&own)), "{answer:?} for {own}");
            let most = BLOCKS as i32 * BLOCK_TOKENS;
            assert!(answer.replica_scores.iter().all(|score| (16..=most).contains(&score.matched_tokens)));
            counts.hinted.fetch_add(1, Ordering::Relaxed);
        }
        "AFFINITY_HINT" | "NO_HINT" | "TENANT_HOT" | "UNKNOWN_TENANT" | "UNKNOWN_MODEL" => {}
        other => panic!("`{other}`: {answer:?}"),
    }
    counts.looked_up.fetch_add(1, Ordering::Relaxed);
}

async fn read(url: String, reader: u64, counts: Arc<Counts>, stopped: watch::Receiver<bool>) {
    let client = InferenceCacheClient::new(connect(&url).await);
    let mut pace = Pace::new(ASK_EVERY, &stopped);
    while let Some(number) = pace.next().await {
        let (producer, chain) = pick(number * READERS + reader, &counts);
        // One in ten asks for what nobody holds, and one in a hundred under a name that nobody has.
        let chain = if number % 10 == 9 { chain + (1 << 40) } else { chain };
        let is_named = number % 100 != 99;
        let request = wire::LookupRouteRequest {
            model_id: if is_named { "llama".to_owned() } else { format!("model-{number}") },
            tenant_id: tenant(producer),
            hash_scheme: "vllm".to_owned(),
            block_hashes: (0..BLOCKS)
                .map(|block| Bytes::copy_from_slice(&hash(producer, chain, block)))
                .collect(),
            block_token_counts: vec![BLOCK_TOKENS; BLOCKS as usize],
            ..Default::default()
        };
        let answer = client.clone().lookup_route(request).await.expect("no lookup is an error").into_inner();
        judge(producer, &answer, &counts);
    }
}

async fn read_fast(url: String, counts: Arc<Counts>, stopped: watch::Receiver<bool>) {
    let (sender, receiver) = mpsc::channel(1);
    let mut client = FastLookupClient::new(connect(&url).await);
    let asked = |number| {
        let (producer, chain) = pick(number, &counts);
        FastLookupRequest {
            id: number,
            model_id: "llama".to_owned(),
            tenant_id: tenant(producer),
            hash_scheme: "vllm".to_owned(),
            block_hashes: (0..BLOCKS)
                .flat_map(|block| hash(producer, chain, block))
                .collect::<Vec<_>>()
                .into(),
            hash_width: 8,
            block_tokens: Some(BLOCK_TOKENS),
            ..Default::default()
        }
    };
    sender.send(asked(0)).await.unwrap();
    let mut answers = client.lookup(ReceiverStream::new(receiver)).await.unwrap().into_inner();
    answers.message().await.unwrap().unwrap();
    let mut pace = Pace::new(ASK_EVERY, &stopped);
    while let Some(number) = pace.next().await {
        sender.send(asked(number)).await.unwrap();
        let told = answers.message().await.expect("the stream goes on").expect("the stream goes on");
        assert_eq!(told.id, number);
        judge(number % PRODUCERS, &told.answer.unwrap(), &counts);
    }
}

async fn flips(folder: PathBuf, counts: Arc<Counts>, stopped: watch::Receiver<bool>) {
    let mut pace = Pace::new(FLIP_EVERY, &stopped);
    while let Some(number) = pace.next().await {
        flip(&folder, number + 1);
        counts.flips.fetch_add(1, Ordering::Relaxed);
    }
}
