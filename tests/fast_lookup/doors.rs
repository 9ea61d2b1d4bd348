//! Both doors answer alike.

use std::time::{SystemTime, UNIX_EPOCH};

use icache::lookup::RouterConfig;
use icache::policy::TenantPolicy;

use super::*;
use crate::server_support::{policies, serve, settings};

const MINUTE_US: i64 = 60_000_000;

/// Three chains with shared heads on four replicas, each reported in a minute of its own.
async fn fleet(policy: TenantPolicy) -> World {
    let world = serve(RouterConfig { policies: policies(&[(TENANT, policy)]), ..settings() }).await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    let ago = |minutes: i64| i64::try_from(now).unwrap() - minutes * MINUTE_US;
    let mut lora = held("r4", 1, 6, ago(4));
    lora.adapter_id = "lora".to_owned();
    let mut exact = held("r3", 9, 0, ago(3));
    exact.prefixes[0].prefix_hash = hash(7, 7);
    exact.prefixes[0].token_count = 100;
    exact.stats = Some(wire::ReplicaStats { hit_rate: 0.9, pressure: 0.25, ..Default::default() });
    let updates =
        vec![held("r1", 1, 12, ago(1)), held("r2", 1, 5, ago(2)), held("r2", 2, 8, ago(2)), exact, lora];
    world.report(updates).await;
    world
}

/// The same question for the other door; only for chains that a list can hold.
fn listed(fast: &FastLookupRequest) -> wire::LookupRouteRequest {
    let width = fast.hash_width as usize;
    let block_hashes: Vec<Bytes> = match width {
        0 => Vec::new(),
        _ => fast.block_hashes.chunks(width).map(Bytes::copy_from_slice).collect(),
    };
    let block_token_counts = match fast.block_tokens {
        Some(tokens) => vec![tokens; block_hashes.len()],
        None => fast.block_token_counts.clone(),
    };
    wire::LookupRouteRequest {
        model_id: fast.model_id.clone(),
        tenant_id: fast.tenant_id.clone(),
        hash_scheme: fast.hash_scheme.clone(),
        adapter_id: fast.adapter_id.clone(),
        prefix_hash: fast.prefix_hash.clone(),
        prefix_token_count: fast.prefix_token_count,
        slo: fast.slo,
        block_hashes,
        block_token_counts,
        token_ids: fast.token_ids.clone(),
        prompt_text: fast.prompt_text.clone(),
    }
}

/// An answer without what the clock changes: the latency, and scores.
fn timeless(answer: &wire::LookupRouteResponse) -> impl PartialEq + std::fmt::Debug {
    let scores = answer
        .replica_scores
        .iter()
        .map(|score| (score.replica_id.clone(), score.matched_tokens, score.tier));
    let scores: Vec<_> = scores.collect();
    (answer.reason_code.clone(), scores, answer.token_ids.clone(), answer.adapter_id.clone())
}

/// Scores and probabilities, which fall as reports age.
fn falling(answer: &wire::LookupRouteResponse) -> Vec<f32> {
    let scores = answer.replica_scores.iter();
    scores.flat_map(|score| [score.score, score.estimated_cache_hit_prob]).collect()
}

/// SplitMix64: the sequence is the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % u64::from(bound)) as u32
    }

    fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize].clone()
    }

    /// A request of any shape, most of them with a chain that somebody holds.
    fn request(&mut self, id: u64) -> FastLookupRequest {
        let mut request = FastLookupRequest {
            tenant_id: self.one_of(&[TENANT, TENANT, TENANT, "team-b", ""]).to_owned(),
            model_id: self.one_of(&[MODEL, MODEL, MODEL, MODEL, "other", ""]).to_owned(),
            hash_scheme: self.one_of(&[SCHEME, SCHEME, SCHEME, SCHEME, "vllm-v1", ""]).to_owned(),
            adapter_id: self.one_of(&["", "", "lora", "nobody"]).to_owned(),
            slo: self.one_of(&[None, Some(wire::Slo { ttft_ms: 50, tbt_ms: 0 })]),
            ..FastLookupRequest::default()
        };
        request.id = id;
        let (chain, blocks) = (self.below(4), self.below(16));
        match self.below(8) {
            0 => {
                request.prefix_hash = hash(self.below(2) + 6, 7);
                request.prefix_token_count = 100;
            }
            1 => request.token_ids = (0..self.below(80)).collect(),
            2 => request.prompt_text = "say something".to_owned(),
            3 => {}
            shape => {
                let flat = asked(id, chain, blocks);
                request.block_hashes = flat.block_hashes;
                request.hash_width = flat.hash_width;
                match shape {
                    4 => request.block_token_counts = (0..blocks).map(|_| self.below(40) as i32).collect(),
                    5 => request.block_token_counts = vec![16; self.below(16) as usize],
                    6 => request.block_tokens = Some(self.one_of(&[-1, 0, i32::MAX])),
                    _ => request.block_tokens = Some(16),
                }
            }
        }
        request
    }
}

fn policies_tried() -> [TenantPolicy; 4] {
    let off = |enable_chain_matching, require_chain, affinity_routing| TenantPolicy {
        enable_chain_matching,
        require_chain,
        affinity_routing,
        ..TenantPolicy::default()
    };
    [
        off(None, None, None),
        off(None, Some(true), None),
        off(Some(false), None, None),
        off(None, None, Some(false)),
    ]
}

#[tokio::test]
async fn random_requests_have_the_same_answer_through_both_doors() {
    let mut codes = std::collections::BTreeMap::<String, u64>::new();
    for (seed, policy) in policies_tried().into_iter().enumerate() {
        let world = fleet(policy).await;
        let mut stream = Stream::open(&world).await;
        let mut random = Random(seed as u64);
        for id in 0..400 {
            let request = random.request(id);
            let unary = world.lookup(listed(&request)).await;
            stream.send(request.clone()).await;
            let response = stream.next().await.unwrap().unwrap();
            assert_eq!(response.id, id);
            let answer = response.answer.unwrap();
            let later = world.lookup(listed(&request)).await;
            *codes.entry(answer.reason_code.clone()).or_default() += 1;
            assert_eq!(timeless(&answer), timeless(&unary), "{request:?}");
            let (first, between, last) = (falling(&unary), falling(&answer), falling(&later));
            for (at, value) in between.iter().enumerate() {
                let is_between = last[at] <= *value && *value <= first[at];
                assert!(is_between, "{request:?}: {first:?}, then {between:?}, then {last:?}");
            }
        }
    }
    for code in
        ["PREFIX_MATCH", "TENANT_HOT", "AFFINITY_HINT", "NO_HINT", "POLICY_REQUIRES_CHAIN", "UNKNOWN_TENANT"]
    {
        assert!(codes.get(code).is_some_and(|seen| *seen >= 10), "{code} is asked for: {codes:?}");
    }
}

#[tokio::test]
async fn malformed_chains_get_the_code_of_the_malformed_list() {
    let chain = asked(0, 1, 4);
    let with = |bytes: usize, width: u32, tokens: Option<i32>, counts: &[i32]| FastLookupRequest {
        block_hashes: chain.block_hashes.slice(..bytes),
        hash_width: width,
        block_tokens: tokens,
        block_token_counts: counts.to_vec(),
        ..chain.clone()
    };
    let long =
        FastLookupRequest { block_hashes: Bytes::from(vec![1; 65 * 2]), hash_width: 65, ..chain.clone() };
    // What it is; the codes where nothing is set, and where the tenant's policy requires a chain.
    let cases = [
        ("whole", with(32, 8, Some(16), &[]), ["PREFIX_MATCH", "PREFIX_MATCH"]),
        ("a byte too many", with(25, 8, Some(16), &[]), ["NO_HINT", "POLICY_REQUIRES_CHAIN"]),
        ("less than one hash", with(7, 8, Some(16), &[]), ["NO_HINT", "POLICY_REQUIRES_CHAIN"]),
        ("width 0", with(32, 0, Some(16), &[]), ["NO_HINT", "POLICY_REQUIRES_CHAIN"]),
        ("width 65", long, ["NO_HINT", "NO_HINT"]),
        ("a width beyond all", with(32, u32::MAX, Some(16), &[]), ["NO_HINT", "POLICY_REQUIRES_CHAIN"]),
        ("a count too few", with(32, 8, None, &[16; 3]), ["NO_HINT", "POLICY_REQUIRES_CHAIN"]),
        ("a count too many", with(32, 8, None, &[16; 5]), ["NO_HINT", "POLICY_REQUIRES_CHAIN"]),
        ("no count", with(32, 8, None, &[]), ["NO_HINT", "POLICY_REQUIRES_CHAIN"]),
        ("counts twice", with(32, 8, Some(16), &[16; 4]), ["NO_HINT", "POLICY_REQUIRES_CHAIN"]),
        ("counts alone", with(0, 8, None, &[16; 4]), ["NO_HINT", "POLICY_REQUIRES_CHAIN"]),
        ("a negative count", with(32, 8, Some(-1), &[]), ["NO_HINT", "NO_HINT"]),
        ("no token in a block", with(32, 8, Some(0), &[]), ["AFFINITY_HINT", "AFFINITY_HINT"]),
    ];
    for (at, policy) in policies_tried().into_iter().take(2).enumerate() {
        let world = fleet(policy).await;
        let mut stream = Stream::open(&world).await;
        for (what, request, codes) in &cases {
            stream.send(request.clone()).await;
            assert_eq!(stream.code().await, (0, codes[at].to_owned()), "{what}, policy {at}");
        }
    }
}

/// A malformed chain is no affinity seed and falls back to no other input, where chains do not count too.
#[tokio::test]
async fn malformed_chains_never_fall_back() {
    let world = fleet(TenantPolicy { enable_chain_matching: Some(false), ..TenantPolicy::default() }).await;
    let mut stream = Stream::open(&world).await;
    let exact = FastLookupRequest { prefix_hash: hash(6, 7), prefix_token_count: 9, ..asked(1, 1, 4) };
    let ragged = FastLookupRequest { hash_width: 7, ..exact.clone() };
    for (request, code) in [(exact, "TENANT_HOT"), (ragged.clone(), "TENANT_HOT")] {
        stream.send(request).await;
        assert_eq!(stream.code().await.1, code);
    }
    let world = fleet(TenantPolicy::default()).await;
    let mut stream = Stream::open(&world).await;
    stream.send(FastLookupRequest { prefix_hash: hash(7, 7), token_ids: (0..64).collect(), ..ragged }).await;
    assert_eq!(stream.code().await.1, "NO_HINT");
}

#[tokio::test]
async fn lookups_of_a_stream_count_as_calls() {
    let world = fleet(TenantPolicy::default()).await;
    let mut stream = Stream::open(&world).await;
    for id in 0..100 {
        stream.send(asked(id, 1, if id < 30 { 12 } else { 0 })).await;
    }
    let mut ids = Vec::new();
    for _ in 0..100 {
        ids.push(stream.code().await.0);
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..100).collect::<Vec<_>>());
    drop(stream.requests);
    assert!(stream.answers.message().await.unwrap().is_none(), "the caller is done, and so is the stream");
    let calls = "inferencecache_lookup_route_calls_total";
    for (code, hint, count) in [("PREFIX_MATCH", true, 30.0), ("TENANT_HOT", true, 70.0)] {
        let series = format!("{calls}{{hint_used=\"{hint}\",model=\"{MODEL}\",reason_code=\"{code}\"}}");
        assert_eq!(world.metric(&series).await, Some(count), "{code}");
    }
    let series = format!("inferencecache_lookup_route_latency_seconds_count{{model=\"{MODEL}\"}}");
    assert_eq!(world.metric(&series).await, Some(100.0));
}
