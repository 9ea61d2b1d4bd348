//! One read for one lookup.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Index;
use super::entry::Holding;
use super::names::Domain;
use super::state::State;
use crate::decision::{Balance, ChainCounts, Evidence, Holder, Input, Query, Roster, Warm};
use crate::model::{HashList, Tier, Timestamp};

impl Index {
    /// What the index knows of `query`, at one instant.
    pub fn read(&self, query: &Query<'_>) -> Evidence {
        evidence(&self.state.read(), query)
    }

    /// The same, with the pressure of every member, and with the members of (tenant, model) that have no entries at all
    /// and were heard of within `max_idle_ns`. Costs the replicas of (tenant, model) while there is one without entries.
    pub fn read_balanced(&self, query: &Query<'_>, max_idle_ns: i64) -> (Evidence, Balance) {
        let state = self.state.read();
        let mut evidence = evidence(&state, query);
        let mut balance = Balance::default();
        let Some(scope) = state.find_scope(query.tenant, query.model) else { return (evidence, balance) };
        let scope = &state.scopes[scope];
        let domain = scope.domains.get(query.scheme).map(|domain| &state.domains[*domain]);
        let mut members: SmallVec<[u32; 64]> = SmallVec::new();
        members.extend(domain.iter().flat_map(|domain| domain.by_place.iter().copied()));
        if scope.members.len() as u64 > scope.serving {
            let is_idle = |member: &&u32| {
                let member = &state.members[**member];
                member.entries == 0 && !member.is_gone && member.heard.age_ns(query.now) < max_idle_ns
            };
            let idle: SmallVec<[u32; 16]> = scope.members.values().filter(is_idle).copied().collect();
            members.extend(idle.iter().copied());
            balance.idle = idle.len();
            join(&state, &mut evidence, &mut members, idle.len(), query.wants_heard);
        }
        let pressure = |member: &u32| {
            let seen = state.members[*member].stats.as_ref()?.seen;
            Some((seen.pressure, seen.reported_at))
        };
        balance.pressure = members.iter().map(pressure).collect();
        (evidence, balance)
    }
}

/// Makes `members`, the last `idle` of which are not in the roster, the evidence's roster.
fn join(state: &State, evidence: &mut Evidence, members: &mut [u32], idle: usize, wants_heard: bool) {
    if idle == 0 {
        return;
    }
    let id = |member: u32| state.members[member].replica.clone();
    let before: SmallVec<[u32; 64]> = members.iter().copied().collect();
    members.sort_unstable_by(|a, b| state.members[*a].replica.cmp(&state.members[*b].replica));
    for holder in &mut evidence.holders {
        let Some(member) = before.get(holder.member as usize) else { continue };
        let place =
            members.binary_search_by(|at| state.members[*at].replica.cmp(&state.members[*member].replica));
        holder.member = place.ok().and_then(|place| u32::try_from(place).ok()).unwrap_or(holder.member);
    }
    evidence.roster = Arc::new(Roster::new(members.iter().filter_map(|member| id(*member)).collect()));
    if wants_heard {
        evidence.heard = members.iter().map(|member| state.members[*member].heard).collect();
    }
}

fn evidence(state: &State, query: &Query<'_>) -> Evidence {
    let mut evidence = Evidence { index_is_empty: state.entries.len() == 0, ..Evidence::default() };
    let Some(tenant) = state.tenant_by_id.get(query.tenant) else { return evidence };
    let tenant = &state.tenants[*tenant];
    evidence.tenant_is_known = tenant.entries > 0;
    let Some(scope) = tenant.scopes.get(query.model) else { return evidence };
    let scope = &state.scopes[*scope];
    evidence.model_is_known = scope.entries > 0;
    let Some(domain) = scope.domains.get(query.scheme) else { return evidence };
    let domain = &state.domains[*domain];
    evidence.roster = Arc::clone(&domain.roster);
    if let Some(partition) = domain.partitions.get(query.adapter) {
        evidence.holders = holders(state, domain, *partition, query);
    }
    if query.wants_warm && evidence.holders.is_empty() {
        evidence.warm = warm(state, domain);
    }
    if query.wants_heard {
        evidence.heard = domain.by_place.iter().map(|member| state.members[*member].heard).collect();
    }
    evidence
}

fn holders(state: &State, domain: &Domain, partition: u32, query: &Query<'_>) -> Vec<Holder> {
    let fresh = Fresh { now: query.now, ttl_ns: query.ttl_ns };
    let runs = match query.input {
        Input::Chain { hashes, counts } => chain_runs(state, partition, hashes.list(), *counts, fresh),
        Input::Exact(hash) => exact_runs(state, partition, hash.as_bytes(), fresh),
        Input::Nothing => SmallVec::new(),
    };
    runs.into_iter()
        .filter(|run| run.tokens > 0)
        .filter_map(|run| {
            Some(Holder {
                member: *domain.places.get(&run.member)?,
                blocks: run.blocks,
                matched_tokens: run.tokens,
                last_seen: Timestamp::from_ns(run.last_seen_ns),
                tier: run.tier,
                stats: state.members[run.member].stats.as_ref().map(|stats| stats.seen),
            })
        })
        .collect()
}

#[derive(Clone, Copy)]
struct Fresh {
    now: Timestamp,
    ttl_ns: i64,
}

impl Fresh {
    fn holds(self, holding: &Holding) -> bool {
        Timestamp::from_ns(holding.last_seen_ns).age_ns(self.now) < self.ttl_ns
    }
}

/// What one member holds of the request, so far.
#[derive(Clone, Copy)]
struct Run {
    member: u32,
    blocks: u32,
    tokens: i32,
    last_seen_ns: i64,
    tier: Tier,
}

impl Run {
    fn new(holding: &Holding, blocks: u32, tokens: i32) -> Self {
        let Holding { member, last_seen_ns, tier, .. } = *holding;
        Self { member, blocks, tokens, last_seen_ns, tier }
    }
}

type Runs = SmallVec<[Run; 16]>;

fn fresh_holdings(state: &State, key: u32, fresh: Fresh) -> impl Iterator<Item = &Holding> {
    state.keys[key].holders.iter().filter(move |holding| fresh.holds(holding))
}

/// Whether the replica still stands for what it held; one that was cleared does not.
fn counts(state: &State, holding: &Holding) -> bool {
    state.members[holding.member].replica.is_some()
}

fn exact_runs(state: &State, partition: u32, hash: &[u8], fresh: Fresh) -> Runs {
    let Some(key) = state.find_key(partition, hash) else { return Runs::new() };
    let holdings = fresh_holdings(state, key, fresh).filter(|holding| counts(state, holding));
    holdings.map(|holding| Run::new(holding, 0, holding.tokens)).collect()
}

/// The longest leading run of each holder of block 0. `live` and the holders of a key are both sorted by member, so
/// that each block is one merge; a member that drops out is finished and cannot come back.
fn chain_runs(
    state: &State,
    partition: u32,
    hashes: HashList<'_>,
    token_counts: ChainCounts<'_>,
    fresh: Fresh,
) -> Runs {
    let mut live = Runs::new();
    let mut finished = Runs::new();
    let mut tokens = 0_i32;
    for (at, hash) in hashes.iter().enumerate() {
        let Some(key) = state.find_key(partition, hash) else { break };
        tokens = tokens.saturating_add(token_counts.get(at));
        let mut holdings = fresh_holdings(state, key, fresh).peekable();
        if at == 0 {
            let standing = holdings.filter(|holding| counts(state, holding));
            live.extend(standing.map(|holding| Run::new(holding, 1, tokens)));
        } else {
            live.retain(|run| {
                while holdings.next_if(|holding| holding.member < run.member).is_some() {}
                let Some(holding) = holdings.next_if(|holding| holding.member == run.member) else {
                    finished.push(*run);
                    return false;
                };
                run.blocks += 1;
                run.tokens = tokens;
                run.last_seen_ns = run.last_seen_ns.min(holding.last_seen_ns);
                run.tier = run.tier.max(holding.tier);
                true
            });
        }
        if live.is_empty() {
            break;
        }
    }
    finished.extend(live);
    finished
}

fn warm(state: &State, domain: &Domain) -> Vec<Warm> {
    domain
        .by_place
        .iter()
        .zip(0..)
        .filter_map(|(member, place)| {
            let stats = state.members[*member].stats.as_ref()?;
            Some(Warm { member: place, stats: stats.seen })
        })
        .collect()
}
