//! What gRPC costs beside the lookup: LookupRoute against a server that decodes the same request and sends a canned
//! answer of the same size, and the stream of `FastLookup` against LookupRoute.
//!
//! Servers and client share this machine, and machines are noisy: the two of a pair take turns in short slices, and
//! what counts is the median of the ratios of the rounds.

#![allow(clippy::print_stdout, reason = "a table that criterion has no form for")]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use icache::contract::wire::icache::v1alpha1::FastLookupRequest;
use icache::contract::wire::icache::v1alpha1::fast_lookup_client::FastLookupClient;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use icache::contract::wire::inferencecache::v1alpha1::{LookupRouteRequest, LookupRouteResponse};
use icache::index::IndexConfig;
use icache::lookup::{Router, RouterConfig};
use icache::model::{HashList, PrefixEntry, Sourced, StateUpdate, Tier, Timestamp};
use icache::policy::{Defaults, PolicySet, default_ranker};
use icache::server::{ServerConfig, start};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::Channel;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const REPLICAS: usize = 64;
const BLOCKS: u64 = 64;
const HEAD: u64 = 19;
const WIDTH: u32 = 8;
const BLOCK_TOKENS: i32 = 16;
const SUFFIXES: u64 = 2_000;
/// Slices of each of a pair.
const ROUNDS: usize = 7;
const SLICE: Duration = Duration::from_millis(500);
const WORKERS: usize = 2;

fn main() {
    // Criterion's flags come along with `cargo bench`; there is nothing to choose here.
    let client = runtime(WORKERS);
    let (ours_on, canned_on) = (runtime(WORKERS), runtime(WORKERS));
    let router = Arc::new(fleet());
    let free = ([127, 0, 0, 1], 0).into();
    let config =
        ServerConfig { grpc_addr: free, http_addr: free, admin_addr: free, ..ServerConfig::default() };
    let running = ours_on.block_on(start(config, router, None)).expect("free ports are there");
    let ours = running.grpc_addr();
    let chains: Arc<Vec<Bytes>> = Arc::new((0..2_000).map(question).collect());
    let answers = client.block_on(sample(ours, &chains));
    let sizes: Vec<usize> = answers.iter().map(prost::Message::encoded_len).collect();
    let mean = sizes.iter().sum::<usize>() / sizes.len();
    let like_ours =
        answers.into_iter().min_by_key(|answer| prost::Message::encoded_len(answer).abs_diff(mean));
    let canned = canned_on.block_on(serve_canned(like_ours.expect("questions were asked")));
    println!(
        "chains of {BLOCKS} blocks, answers of {mean} bytes on average; {ROUNDS} rounds of {SLICE:?} each in turn"
    );
    println!(
        "in flight counts for each connection; the ratio is the median of the rounds (least to greatest)\n"
    );
    println!("{:<34} {:>12} {:>12}  ratio", "LookupRoute", "ours /s", "canned /s");
    for connections in [1, 4] {
        for in_flight in [1, 16, 64] {
            let unary = |server| client.block_on(unary(server, connections, in_flight, &chains));
            let name = format!("{connections} connections, {in_flight} in flight");
            row(&name, || unary(ours), || unary(canned));
        }
    }
    println!("\n{:<34} {:>12} {:>12}  ratio", "FastLookup", "stream /s", "unary /s");
    for in_flight in [16, 64] {
        let name = format!("4 connections, {in_flight} in flight");
        row(
            &name,
            || client.block_on(streamed(ours, 4, in_flight, &chains)),
            || client.block_on(unary(ours, 4, in_flight, &chains)),
        );
    }
}

fn runtime(workers: usize) -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(workers).enable_all().build().expect("threads can be had")
}

/// Rates of both in turn, and their ratio.
fn row(name: &str, first: impl Fn() -> f64, second: impl Fn() -> f64) {
    // One slice each to warm up.
    first();
    second();
    let rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| (first(), second())).collect();
    let ratios = sorted(rounds.iter().map(|(first, second)| first / second));
    let median = |values: Vec<f64>| values[values.len() / 2];
    println!(
        "{name:<34} {:>12.0} {:>12.0}  {:.2} ({:.2} to {:.2})",
        median(sorted(rounds.iter().map(|round| round.0))),
        median(sorted(rounds.iter().map(|round| round.1))),
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1],
    );
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// SplitMix64 of one value: the hashes are the same on every machine.
fn mixed(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The hashes of a chain: a head that four of its kind share, and a suffix of which `own` blocks are its own.
fn chain(suffix: u64, head: u64, own: u64) -> Bytes {
    let own = (head..own).map(|at| mixed(1 << 60 | suffix << 16 | at));
    let head = (0..head).map(|at| mixed((suffix % 4) << 32 | at));
    head.chain(own).flat_map(u64::to_be_bytes).collect::<Vec<u8>>().into()
}

/// 30 % full hits, 40 % that leave the chain inside the suffix, 20 % head only, 10 % misses.
fn question(at: u64) -> Bytes {
    let suffix = mixed(at) % SUFFIXES;
    let foreign = chain(suffix + SUFFIXES, HEAD, BLOCKS);
    match at % 10 {
        0..3 => chain(suffix, HEAD, BLOCKS),
        3..7 => {
            let kept = (HEAD + 1 + mixed(at) % (BLOCKS - HEAD - 1)) as usize * WIDTH as usize;
            [&chain(suffix, HEAD, BLOCKS)[..kept], &foreign[kept..]].concat().into()
        }
        7..9 => foreign,
        _ => chain(suffix + SUFFIXES, 0, BLOCKS),
    }
}

fn fleet() -> Router {
    let router = Router::new(RouterConfig {
        index: IndexConfig { max_entries: u64::MAX, ..IndexConfig::default() },
        policies: PolicySet::empty(&Defaults::default()),
        ranker: default_ranker(),
        max_in_flight: Sourced::built_in(0),
    });
    let now = Timestamp::now();
    let report = |replica: usize, chain: Bytes| {
        let counts = vec![BLOCK_TOKENS; chain.len() / WIDTH as usize];
        let update = StateUpdate {
            replica: &format!("vllm-{replica}"),
            tenant: "bench",
            model: "llama",
            scheme: "vllm",
            adapter: "",
            at: Some(now),
            prefixes: vec![PrefixEntry {
                prefix_hash: &[],
                token_count: 0,
                block_hashes: HashList::Flat { bytes: &chain, width: WIDTH as usize },
                block_token_counts: &counts,
                tier: Tier::T1,
                adapter: "",
            }],
            stats: None,
        };
        router.index().apply_update(&update, now);
    };
    for replica in 0..REPLICAS {
        (0..4).for_each(|prompt| report(replica, chain(prompt, HEAD, HEAD)));
    }
    for suffix in 0..SUFFIXES {
        let holders = [1, 1, 1, 1, 1, 1, 1, 2, 2, 4][(suffix % 10) as usize];
        (0..holders)
            .for_each(|at| report((mixed(suffix) as usize + at) % REPLICAS, chain(suffix, HEAD, BLOCKS)));
    }
    router
}

fn listed(chain: &Bytes) -> LookupRouteRequest {
    let width = WIDTH as usize;
    LookupRouteRequest {
        model_id: "llama".to_owned(),
        tenant_id: "bench".to_owned(),
        hash_scheme: "vllm".to_owned(),
        block_hashes: (0..chain.len() / width).map(|at| chain.slice(at * width..(at + 1) * width)).collect(),
        block_token_counts: vec![BLOCK_TOKENS; chain.len() / width],
        ..Default::default()
    }
}

fn flat(id: u64, chain: &Bytes) -> FastLookupRequest {
    FastLookupRequest {
        id,
        model_id: "llama".to_owned(),
        tenant_id: "bench".to_owned(),
        hash_scheme: "vllm".to_owned(),
        block_hashes: chain.clone(),
        hash_width: WIDTH,
        block_tokens: Some(BLOCK_TOKENS),
        ..Default::default()
    }
}

async fn connect(server: SocketAddr) -> Channel {
    let endpoint = Channel::from_shared(format!("http://{server}")).expect("an address makes a URI");
    endpoint.connect().await.expect("the server listens")
}

async fn sample(server: SocketAddr, chains: &[Bytes]) -> Vec<LookupRouteResponse> {
    let mut client = InferenceCacheClient::new(connect(server).await);
    let mut answers = Vec::new();
    for chain in &chains[..200] {
        answers.push(client.lookup_route(listed(chain)).await.expect("no lookup is an error").into_inner());
    }
    let matched = answers.iter().filter(|answer| answer.reason_code == "PREFIX_MATCH").count();
    assert_eq!(matched, 140, "all but the misses, and the heads that everybody holds");
    answers
}

/// Unary calls a second.
async fn unary(server: SocketAddr, connections: usize, in_flight: usize, chains: &Arc<Vec<Bytes>>) -> f64 {
    let mut channels = Vec::new();
    for _ in 0..connections {
        channels.push(connect(server).await);
    }
    let start = Instant::now();
    let tasks: Vec<_> = (0..connections * in_flight)
        .map(|at| {
            let mut client = InferenceCacheClient::new(channels[at % connections].clone());
            let chains = Arc::clone(chains);
            tokio::spawn(async move {
                let mut count = 0;
                while start.elapsed() < SLICE {
                    let chain = &chains[(at * 31 + count) % chains.len()];
                    client.lookup_route(listed(chain)).await.expect("no lookup is an error");
                    count += 1;
                }
                count
            })
        })
        .collect();
    let mut total = 0;
    for task in tasks {
        total += task.await.expect("no caller panics");
    }
    total as f64 / start.elapsed().as_secs_f64()
}

/// Lookups a second over streams.
async fn streamed(server: SocketAddr, connections: usize, in_flight: usize, chains: &Arc<Vec<Bytes>>) -> f64 {
    let mut channels = Vec::new();
    for _ in 0..connections {
        channels.push(connect(server).await);
    }
    let start = Instant::now();
    let tasks: Vec<_> = channels
        .into_iter()
        .map(|channel| {
            let chains = Arc::clone(chains);
            tokio::spawn(async move {
                let (sender, receiver) = tokio::sync::mpsc::channel(in_flight);
                let mut next = 0;
                let mut send = || {
                    next += 1;
                    let request = flat(next, &chains[next as usize % chains.len()]);
                    sender.try_send(request).expect("there is a place for each in flight");
                };
                (0..in_flight).for_each(|_| send());
                let opened = FastLookupClient::new(channel).lookup(ReceiverStream::new(receiver)).await;
                let mut answers = opened.expect("the stream opens").into_inner();
                let mut count = 0;
                while start.elapsed() < SLICE {
                    answers.message().await.expect("the stream goes on").expect("an answer");
                    count += 1;
                    send();
                }
                count
            })
        })
        .collect();
    let mut total = 0;
    for task in tasks {
        total += task.await.expect("no caller panics");
    }
    f64::from(total) / start.elapsed().as_secs_f64()
}

/// Serves LookupRoute with one and the same answer; what is not LookupRoute is answered so too.
async fn serve_canned(answer: LookupRouteResponse) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let addr = listener.local_addr().expect("a listener has an address");
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let server = tonic::transport::Server::builder().add_service(Canned { answer: Arc::new(answer) });
    tokio::spawn(server.serve_with_incoming(incoming));
    addr
}

#[derive(Clone)]
struct Canned {
    answer: Arc<LookupRouteResponse>,
}

impl NamedService for Canned {
    const NAME: &'static str = "inferencecache.v1alpha1.InferenceCache";
}

impl UnaryService<LookupRouteRequest> for Canned {
    type Response = LookupRouteResponse;
    type Future = BoxFuture<Response<LookupRouteResponse>, Status>;

    fn call(&mut self, request: Request<LookupRouteRequest>) -> Self::Future {
        let answer = Arc::clone(&self.answer);
        Box::pin(async move {
            drop(request);
            Ok(Response::new(LookupRouteResponse::clone(&answer)))
        })
    }
}

impl Service<http::Request<Body>> for Canned {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<http::Response<Body>, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = self.clone();
        Box::pin(async move {
            let codec = ProstCodec::<LookupRouteResponse, LookupRouteRequest>::default();
            Ok(Grpc::new(codec).unary(method, request).await)
        })
    }
}
