//! Writers, readers and controllers that do what they do in no order that anybody knows.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tonic::transport::Channel;

type Client = InferenceCacheClient<Channel>;

/// LRU, LFU, a quota, and one whose policy is pushed over and over.
const TENANTS: [&str; 4] = ["lru", "lfu", "small", "flips"];
/// The policies of the first three.
pub const POLICIES: &str = "\
apiVersion: inferencecache.io/v1alpha1
kind: CachePolicy
metadata: {name: p, namespace: lru}
spec: {minimumMatchedTokens: 0, evictionTTL: 400ms}
---
apiVersion: inferencecache.io/v1alpha1
kind: CachePolicy
metadata: {name: p, namespace: lfu}
spec: {minimumMatchedTokens: 0, eviction: LFU, routingFloorScore: \"0\"}
---
apiVersion: inferencecache.io/v1alpha1
kind: CachePolicy
metadata: {name: p, namespace: small}
spec: {minimumMatchedTokens: 16, eviction: LFU}
---
apiVersion: inferencecache.io/v1alpha1
kind: CacheTenant
metadata: {name: small}
spec: {tenantID: small, quota: {maxIndexEntries: 40}}
";

/// Where all of it goes.
#[derive(Clone)]
pub struct Traffic {
    grpc: SocketAddr,
    admin: SocketAddr,
    is_over: Arc<AtomicBool>,
    pub lookups: Arc<AtomicU64>,
    seed: u64,
}

/// A small generator of numbers, so that runs differ by their seed only.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
}

impl Traffic {
    pub fn new(grpc: SocketAddr, admin: SocketAddr, seed: u64) -> Self {
        Self { grpc, admin, is_over: Arc::default(), lookups: Arc::default(), seed }
    }

    async fn client(&self) -> Client {
        let channel = Channel::from_shared(format!("http://{}", self.grpc)).unwrap();
        InferenceCacheClient::new(channel.connect().await.unwrap())
    }

    /// Two writers of so many updates each, four readers of as many lookups at least, and a controller meanwhile.
    pub async fn run(&self, updates: u64) {
        self.is_over.store(false, Ordering::Relaxed);
        let writers: Vec<_> = (0..2).map(|writer| self.spawn(writer, updates)).collect();
        let mut others: Vec<JoinHandle<()>> = (10..14).map(|reader| self.read(reader, updates)).collect();
        others.push(self.flip());
        for writer in writers {
            writer.await.unwrap();
        }
        self.is_over.store(true, Ordering::Relaxed);
        for other in others {
            other.await.unwrap();
        }
    }

    /// Brings so many blocks that nobody asks for.
    pub async fn fill(&self, tenant: &str, blocks: u64) {
        let hashes = (0..blocks).map(|at| bytes::Bytes::copy_from_slice(&(1 << 60 | at).to_be_bytes()));
        let prefixes = hashes.map(|prefix_hash| wire::PrefixEntry {
            prefix_hash,
            token_count: 16,
            ..Default::default()
        });
        let update = wire::CacheStateUpdate {
            replica_id: "r0".to_owned(),
            model_id: "m".to_owned(),
            tenant_id: tenant.to_owned(),
            hash_scheme: "vllm".to_owned(),
            prefixes: prefixes.collect(),
            ..Default::default()
        };
        self.client().await.report_cache_state(tokio_stream::iter([update])).await.unwrap();
    }

    fn dice(&self, number: u64) -> Dice {
        Dice((self.seed + number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn spawn(&self, writer: u64, updates: u64) -> JoinHandle<()> {
        let this = self.clone();
        tokio::spawn(async move {
            let mut client = this.client().await;
            let mut dice = this.dice(writer);
            for _ in 0..updates {
                if dice.below(6) == 0 {
                    client.publish_event(event(&mut dice)).await.unwrap();
                } else {
                    let some: Vec<_> = (0..=dice.below(3)).map(|_| update(&mut dice)).collect();
                    client.report_cache_state(tokio_stream::iter(some)).await.unwrap();
                }
            }
        })
    }

    fn read(&self, reader: u64, least: u64) -> JoinHandle<()> {
        let this = self.clone();
        tokio::spawn(async move {
            let mut client = this.client().await;
            let mut dice = this.dice(reader);
            let mut asked = 0;
            while asked < least || !this.is_over.load(Ordering::Relaxed) {
                asked += 1;
                client.lookup_route(lookup(&mut dice)).await.unwrap();
                this.lookups.fetch_add(1, Ordering::Relaxed);
            }
        })
    }

    fn flip(&self) -> JoinHandle<()> {
        let this = self.clone();
        tokio::spawn(async move {
            let mut dice = this.dice(20);
            while !this.is_over.load(Ordering::Relaxed) {
                let (eviction, floor) = (dice.of(&["lru", "lfu"]), dice.of(&["0", "32", "64"]));
                let (ttl, most) = (dice.of(&["200000000", "90000000000"]), 20 + dice.below(100));
                let body = format!(
                    r#"{{"version":7,"policies":[{{"namespace":"flips","eviction":"{eviction}","minimumMatchedTokens":{floor},"evictionTTL":{ttl}}}],"tenants":[{{"tenantID":"flips","maxIndexEntries":{most}}}]}}"#
                );
                push(this.admin, &body).await;
                // A change of policies now and then, so that lookups come between.
                for _ in 0..200 {
                    tokio::task::yield_now().await;
                }
            }
        })
    }
}

async fn push(admin: SocketAddr, body: &str) {
    let mut stream = TcpStream::connect(admin).await.unwrap();
    let length = body.len();
    let head =
        format!("PUT /policy HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
}

/// Block `at` of one of a few prompts; prompts of one family share their first blocks.
fn block(prompt: u64, at: u64) -> bytes::Bytes {
    let of = if at < 3 { prompt % 3 } else { 100 + prompt };
    bytes::Bytes::copy_from_slice(&(of << 16 | at).to_be_bytes())
}

fn chain(dice: &mut Dice) -> (Vec<bytes::Bytes>, Vec<i32>) {
    let (prompt, blocks) = (dice.below(24), 1 + dice.below(8));
    ((0..blocks).map(|at| block(prompt, at)).collect(), vec![16; blocks as usize])
}

fn update(dice: &mut Dice) -> wire::CacheStateUpdate {
    let entries = dice.below(3);
    let prefixes = (0..entries).map(|_| {
        let (block_hashes, block_token_counts) = chain(dice);
        // 4 and 9 are tiers that nobody has heard of.
        let tier = [0, 1, 2, 3, 4, 9][dice.below(6) as usize];
        wire::PrefixEntry { block_hashes, block_token_counts, tier, ..Default::default() }
    });
    let prefixes = prefixes.collect();
    let hit_rate = [0.25, f32::NAN, 0.9, f32::INFINITY][dice.below(4) as usize];
    let pressure = dice.below(100) as f32 / 100.0;
    let stats = wire::ReplicaStats { hit_rate, pressure, ..Default::default() };
    wire::CacheStateUpdate {
        replica_id: dice.of(&["r0", "r1", "r2", "r3", "r4"]).to_owned(),
        model_id: dice.of(&["m", "n"]).to_owned(),
        tenant_id: dice.of(&TENANTS).to_owned(),
        hash_scheme: "vllm".to_owned(),
        adapter_id: dice.of(&["", "", "sql"]).to_owned(),
        prefixes,
        stats: (dice.below(3) == 0).then_some(stats),
        ..Default::default()
    }
}

fn event(dice: &mut Dice) -> wire::CacheEvent {
    use wire::cache_event::Type;
    let kind = match dice.below(12) {
        0 => Type::AllCleared as i32,
        1..4 => Type::ReplicaUpdated as i32,
        4 => 77,
        _ => Type::PrefixEvicted as i32,
    };
    wire::CacheEvent {
        r#type: kind,
        replica_id: dice.of(&["r0", "r1", "r2", "r3", "r4"]).to_owned(),
        model_id: dice.of(&["m", "n"]).to_owned(),
        tenant_id: dice.of(&TENANTS).to_owned(),
        prefix_hash: block(dice.below(24), dice.below(8)),
        ..Default::default()
    }
}

fn lookup(dice: &mut Dice) -> wire::LookupRouteRequest {
    let (block_hashes, block_token_counts) = chain(dice);
    wire::LookupRouteRequest {
        model_id: dice.of(&["m", "n"]).to_owned(),
        tenant_id: dice.of(&TENANTS).to_owned(),
        hash_scheme: "vllm".to_owned(),
        adapter_id: dice.of(&["", "", "sql"]).to_owned(),
        block_hashes,
        block_token_counts,
        slo: (dice.below(2) == 0).then_some(wire::Slo { ttft_ms: 100, tbt_ms: 0 }),
        ..Default::default()
    }
}
