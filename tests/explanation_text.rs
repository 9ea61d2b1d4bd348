//! `lookup --explain` as people see it: one golden file an outcome.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use icache::explanation::explanation;
use icache::index::IndexConfig;
use icache::lookup::{Call, Router, RouterConfig};
use icache::model::{
    HashList, LookupRequest, PrefixEntry, ReplicaStats, Sourced, StateUpdate, TenantId, Tier, Timestamp,
};
use icache::policy::{Defaults, PolicySet, TenantPolicy, default_ranker, resolve};
use icache::render::{self, Asked, Format, Look, Printer};

const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;

/// A writer that the test keeps a hand on.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn now() -> Timestamp {
    Timestamp::from_ns(1_754_611_200 * SECOND)
}

/// A router where `team-a` has the policy `written`.
fn router(written: &TenantPolicy) -> Router {
    let mut policies = PolicySet::empty(&Defaults::default());
    let object = Arc::from("CachePolicy team-a/prod, policy.yaml:4");
    policies.insert(TenantId::from("team-a"), resolve(written, &object, &Defaults::default()));
    Router::new(RouterConfig {
        index: IndexConfig::default(),
        policies,
        ranker: default_ranker(),
        max_in_flight: Sourced::built_in(4_096),
    })
}

fn hashes(blocks: &[u8]) -> Vec<Bytes> {
    blocks.iter().map(|block| Bytes::from(vec![*block; 8])).collect()
}

/// `replica` holds `blocks` of 64 tokens each, last reported `age_ns` ago.
fn holds(router: &Router, replica: &str, blocks: &[u8], age_ns: i64, pressure: f32) {
    let hashes = hashes(blocks);
    let counts = vec![64; blocks.len()];
    let entry = PrefixEntry {
        prefix_hash: &[],
        token_count: 0,
        block_hashes: HashList::Wire(&hashes),
        block_token_counts: &counts,
        tier: Tier::T1,
        adapter: "",
    };
    router.index().apply_update(
        &StateUpdate {
            replica,
            tenant: "team-a",
            model: "llama-3.1-8b",
            scheme: "vllm",
            adapter: "",
            at: Some(now().plus_ns(-age_ns)),
            prefixes: vec![entry],
            stats: Some(ReplicaStats { hit_rate: 0.8, pressure, ..ReplicaStats::default() }),
        },
        now(),
    );
}

/// Checks how the explanation of a chain lookup looks, and that it fits the screen.
fn check(name: &str, router: &Router, change: impl FnOnce(&mut LookupRequest<'_>), call: Call) {
    let hashes = hashes(&[1, 2, 3, 4, 5]);
    let counts = [64; 5];
    let mut request = LookupRequest {
        tenant: "team-a",
        model: "llama-3.1-8b",
        scheme: "vllm",
        block_hashes: HashList::Wire(&hashes),
        block_token_counts: &counts,
        ..LookupRequest::default()
    };
    change(&mut request);
    let explained = explanation(&router.explain(&request, call), &request, 0);
    let asked = Asked::from(&request);
    let shown = |look: Look, format: Format| {
        let buffer = Buffer::default();
        let mut printer = Printer::new(buffer.clone(), look);
        render::explanation(&mut printer, format, &asked, &explained).unwrap();
        let bytes = buffer.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    };
    let text = shown(Look::plain(80), Format::Table);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "wider than 80 columns: {line}");
        assert!(!line.contains('\u{a0}') && !line.contains('\u{1b}'), "{line:?}");
    }
    insta::assert_snapshot!(name, text);
    let narrow = shown(Look::plain(40), Format::Table);
    let (head, _) = narrow.split_once("\nCandidates").unwrap_or((&narrow, ""));
    for line in head.lines().skip_while(|line| !line.starts_with("How it came about")) {
        assert!(line.chars().count() <= 40, "wider than 40 columns: {line}");
    }
    let ascii = shown(Look { unicode: false, ..Look::plain(80) }, Format::Table);
    assert!(ascii.is_ascii(), "{ascii}");
    let colored = shown(Look { color: true, ..Look::plain(80) }, Format::Table);
    assert_eq!(without_color(&colored), text, "colour changes nothing but colour");
    let json: serde_json::Value = serde_json::from_str(&shown(Look::plain(80), Format::Json)).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["answer"]["reasonCode"], explained.answer.reason_code);
    let line = shown(Look::plain(80), Format::Jsonl);
    assert_eq!(line.lines().count(), 1);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), json);
}

fn without_color(text: &str) -> String {
    let mut out = String::new();
    let mut parts = text.split("\u{1b}[");
    out.extend(parts.next());
    for part in parts {
        out.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    out
}

fn fleet(written: &TenantPolicy) -> Router {
    let router = router(written);
    holds(&router, "vllm-0", &[1, 2, 3], MINUTE, 0.0);
    holds(&router, "vllm-1", &[1, 2], 2 * MINUTE, 0.25);
    holds(&router, "vllm-2", &[1], 4 * MINUTE, 0.0);
    router
}

#[test]
fn prefix_match() {
    let written = TenantPolicy { minimum_matched_tokens: Some(128), ..TenantPolicy::default() };
    check("prefix_match", &fleet(&written), |_| {}, Call::at(now()));
}

#[test]
fn prefix_match_of_one_replica() {
    let router = router(&TenantPolicy::default());
    holds(&router, "vllm-0", &[1, 2, 3], MINUTE, 0.5);
    check("prefix_match_of_one_replica", &router, |request| request.slo.ttft_ms = 50, Call::at(now()));
}

#[test]
fn affinity_hint_by_routing_floor_score() {
    let router = router(&TenantPolicy::default());
    for replica in ["vllm-0", "vllm-1", "vllm-2"] {
        holds(&router, replica, &[1, 2, 3], MINUTE, 0.0);
    }
    check("affinity_hint_by_routing_floor_score", &router, |_| {}, Call::at(now()));
}

#[test]
fn no_hint() {
    let written = TenantPolicy { affinity_routing: Some(false), ..TenantPolicy::default() };
    check("no_hint", &fleet(&written), |request| request.tenant = "", Call::at(now()));
}

#[test]
fn unknown_tenant() {
    let router = fleet(&TenantPolicy::default());
    check("unknown_tenant", &router, |request| request.tenant = "taem-a", Call::at(now()));
}

#[test]
fn first_block_unknown() {
    let router = router(&TenantPolicy::default());
    holds(&router, "vllm-0", &[11, 12], MINUTE, 0.0);
    holds(&router, "vllm-1", &[11, 13], MINUTE, 0.0);
    check("first_block_unknown", &router, |_| {}, Call::at(now()));
}

#[test]
fn policy_requires_chain() {
    let written = TenantPolicy { require_chain: Some(true), ..TenantPolicy::default() };
    let change = |request: &mut LookupRequest<'_>| {
        request.block_hashes = HashList::EMPTY;
        request.block_token_counts = &[];
        request.prefix_hash = b"prefix-1";
    };
    check("policy_requires_chain", &fleet(&written), change, Call::at(now()));
}

#[test]
fn tenant_hot() {
    let change = |request: &mut LookupRequest<'_>| {
        request.block_hashes = HashList::EMPTY;
        request.block_token_counts = &[];
        request.prefix_hash = b"prefix-1";
        request.prefix_token_count = 320;
    };
    check("tenant_hot", &fleet(&TenantPolicy::default()), change, Call::at(now()));
}

#[test]
fn timeout() {
    let written = TenantPolicy { lookup_timeout_ms: Some(5), ..TenantPolicy::default() };
    let call = Call { deadline_ns: Some(0), ..Call::at(now()) };
    check("timeout", &fleet(&written), |_| {}, call);
}
