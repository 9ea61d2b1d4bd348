//! Examples through the pure functions, on evidence that is read off the table without an index.

use std::sync::Arc;

use bytes::Bytes;
use icache::decision::{
    Arrival, Evidence, Holder, Holders, Input, InputResolver, Query, Roster, Settings, StatsSeen, Warm, plan,
};
use icache::model::{HashList, Limits, LookupRequest, PrefixHash, ReplicaId, Slo, Sourced, Tier, Timestamp};
use icache::policy::default_ranker;

use crate::examples::{Example, Hold, MODEL};
use crate::server_support::policies;
use crate::{Given, TENANT};

const SECOND_NS: i64 = 1_000_000_000;

/// Any instant will do.
fn now() -> Timestamp {
    Timestamp::from_ns(1_750_000_000 * SECOND_NS)
}

/// The examples carry hashes only.
struct NoTokens;

impl InputResolver for NoTokens {
    fn chain(&self, _tokens: &[u32], _block_size: u32) -> Vec<PrefixHash> {
        Vec::new()
    }

    fn tokenize(&self, _model: &str, _text: &str) -> Option<Vec<u32>> {
        None
    }
}

/// The decision's answer.
pub fn answer(example: &Example) -> Given {
    let asked = &example.request;
    let hashes: Vec<Bytes> =
        asked.prefix.hashes().into_iter().map(|hash| Bytes::from_static(hash.as_bytes())).collect();
    let counts = vec![asked.prefix.tokens(); hashes.len()];
    let mut request = LookupRequest {
        tenant: asked.tenant,
        model: asked.model,
        scheme: asked.scheme,
        adapter: asked.adapter,
        slo: Slo { ttft_ms: asked.ttft_ms },
        ..LookupRequest::default()
    };
    if asked.prefix.is_chain() {
        request.block_hashes = HashList::Wire(&hashes);
        request.block_token_counts = &counts;
    } else {
        request.prefix_hash = &hashes[0];
        request.prefix_token_count = counts[0];
    }
    let settings = Settings {
        policy: Arc::clone(policies(&example.policies).policy_of(asked.tenant)),
        ranker: Arc::new(default_ranker()),
        limits: Limits::default(),
        max_in_flight: Sourced::built_in(4_096),
    };
    let arrival = Arrival { now: now(), elapsed_ns: 0, deadline_ns: None, in_flight: 1 };
    let planned = plan(&request, &settings, &NoTokens, arrival);
    let evidence = planned.query().map(|query| evidence(example, &query));
    let (decision, _) = planned.conclude(evidence).deliver(0);
    Given {
        reason: decision.reason.code().to_owned(),
        replicas: decision
            .hints()
            .map(|hint| (hint.replica.as_str().to_owned(), hint.matched_tokens, hint.score))
            .collect(),
    }
}

fn evidence(example: &Example, query: &Query<'_>) -> Evidence {
    let in_scope = query.tenant == TENANT && query.model == MODEL;
    let in_domain: Vec<&Hold> =
        example.holds.iter().filter(|hold| in_scope && hold.scheme == query.scheme).collect();
    let roster = Arc::new(Roster::new(in_domain.iter().map(|hold| ReplicaId::from(hold.replica)).collect()));
    let member = |replica| roster.member(replica).expect("whoever holds something is on the roster");
    let holders: Holders = in_domain
        .iter()
        .filter(|hold| hold.adapter == query.adapter)
        .filter_map(|hold| {
            let (blocks, matched_tokens) = matched(hold, query.input);
            (matched_tokens > 0).then(|| Holder {
                member: member(hold.replica),
                blocks,
                matched_tokens,
                last_seen: now().plus_ns(-hold.age_s * SECOND_NS),
                tier: Tier::T1,
                stats: stats_of(example, hold.replica),
            })
        })
        .collect();
    let warm = roster.iter().filter_map(|replica| {
        let stats = stats_of(example, replica.as_str())?;
        Some(Warm { member: member(replica.as_str()), stats })
    });
    Evidence {
        warm: if query.wants_warm && holders.is_empty() { warm.collect() } else { Vec::new() },
        holders,
        heard: Arc::default(),
        drained: Vec::new(),
        index_is_empty: example.holds.is_empty(),
        tenant_is_known: query.tenant == TENANT && !example.holds.is_empty(),
        model_is_known: in_scope && !example.holds.is_empty(),
        roster: Arc::clone(&roster),
    }
}

/// Blocks and tokens of the request that the replica holds from the start.
fn matched(hold: &Hold, input: &Input<'_>) -> (u32, i32) {
    let held = hold.prefix.hashes();
    match input {
        Input::Chain { hashes, counts } => {
            let run =
                hashes.list().iter().zip(&held).take_while(|(asked, held)| *asked == held.as_bytes()).count();
            (u32::try_from(run).expect("a few blocks"), counts.sum(run))
        }
        Input::Exact(hash) if !hold.prefix.is_chain() && hash.as_bytes() == held[0].as_bytes() => {
            (0, hold.prefix.tokens())
        }
        Input::Exact(_) | Input::Nothing => (0, 0),
    }
}

fn stats_of(example: &Example, replica: &str) -> Option<StatsSeen> {
    let stats = example.stats.iter().find(|stats| stats.replica == replica)?;
    Some(StatsSeen {
        hit_rate: stats.hit_rate,
        pressure: stats.pressure,
        reported_at: now().plus_ns(-stats.age_s * SECOND_NS),
    })
}
