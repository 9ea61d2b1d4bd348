//! What a decision asks of the index, and what the index answers: plain values of one instant.

use std::sync::{Arc, LazyLock};

use super::holders::Holders;
use super::pipeline::Settings;
use crate::model::{HashList, LookupRequest, PrefixHash, Ranker, ReplicaId, Timestamp};

/// One index read. All parts of the answer are of the same instant.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// Contract key: the tenant.
    pub tenant: &'a str,
    /// Contract key: the model.
    pub model: &'a str,
    /// Contract key: the hash scheme.
    pub scheme: &'a str,
    /// Adapter partition that is matched in.
    pub adapter: &'a str,
    /// What is matched.
    pub input: &'a Input<'a>,
    /// Entries whose age reached `ttl_ns` at this time do not match.
    pub now: Timestamp,
    /// Time to live of the tenant's entries, in nanoseconds.
    pub ttl_ns: i64,
    /// Also report the replicas that may be warm, where nothing matches.
    pub wants_warm: bool,
    /// Also report when each replica of the domain was last heard of.
    pub wants_heard: bool,
}

impl<'a> Query<'a> {
    /// The read that `request` needs for its resolved `input`: no more than the gates will look at.
    pub fn new(
        request: &LookupRequest<'a>,
        settings: &Settings,
        input: &'a Input<'a>,
        now: Timestamp,
    ) -> Self {
        let ranker = &settings.ranker;
        Self {
            tenant: request.tenant,
            model: request.model,
            scheme: request.scheme,
            adapter: request.adapter,
            input,
            now,
            ttl_ns: settings.policy.ttl_ns.value,
            wants_warm: ranker.tenant_hot_max_age_ns.value > 0
                && ranker.ranker.value == Ranker::Reference
                && !matches!(input, Input::Chain { .. }),
            wants_heard: ranker.replica_timeout_ns.value > 0,
        }
    }
}

/// The resolved input of a lookup.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// A chain, matched block by block from the start.
    Chain {
        /// Hash of each block.
        hashes: ChainHashes<'a>,
        /// Tokens of each block.
        counts: ChainCounts<'a>,
    },
    /// One hash, matched as a whole.
    Exact(ExactHash<'a>),
    /// No hash: nothing can match.
    Nothing,
}

/// Hashes of a chain: from the request, or computed from its tokens.
#[derive(Clone, Debug)]
pub enum ChainHashes<'a> {
    /// From the request.
    Given(HashList<'a>),
    /// Computed.
    Derived(Vec<PrefixHash>),
}

impl ChainHashes<'_> {
    /// The hashes, wherever they are.
    pub fn list(&self) -> HashList<'_> {
        match self {
            Self::Given(list) => *list,
            Self::Derived(list) => HashList::Fingerprints(list),
        }
    }
}

/// Token counts of a chain's blocks.
#[derive(Clone, Copy, Debug)]
pub enum ChainCounts<'a> {
    /// One a block.
    Given(&'a [i32]),
    /// The same for each.
    Uniform(i32),
}

impl ChainCounts<'_> {
    /// Tokens of block `at`; 0 beyond the end.
    pub fn get(&self, at: usize) -> i32 {
        match self {
            Self::Given(counts) => counts.get(at).copied().unwrap_or(0),
            Self::Uniform(count) => *count,
        }
    }

    /// Tokens of the first `blocks` blocks, saturating.
    pub fn sum(&self, blocks: usize) -> i32 {
        match self {
            Self::Given(counts) => sum_of(&counts[..blocks.min(counts.len())]),
            Self::Uniform(count) => count.saturating_mul(i32::try_from(blocks).unwrap_or(i32::MAX)),
        }
    }
}

/// The sum of `counts`, saturating at each step. Where none is negative, that is the plain sum, cut off at the end, which
/// takes several at a time.
fn sum_of(counts: &[i32]) -> i32 {
    let (mut sum, mut signs) = (0_i64, 0);
    for count in counts {
        sum += i64::from(*count);
        signs |= *count;
    }
    if signs < 0 {
        return counts.iter().fold(0, |sum: i32, count| sum.saturating_add(*count));
    }
    i32::try_from(sum).unwrap_or(i32::MAX)
}

/// The hash of an exact lookup.
#[derive(Clone, Copy, Debug)]
pub enum ExactHash<'a> {
    /// From the request.
    Given(&'a [u8]),
    /// Computed: the last block of the request's tokens, and their number.
    Derived(PrefixHash, i32),
}

impl ExactHash<'_> {
    /// The hash's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Given(bytes) => bytes,
            Self::Derived(hash, _) => hash.as_bytes(),
        }
    }
}

/// What the index knew at one instant.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Replicas with at least one entry in (tenant, model, scheme), expired or not until swept.
    pub roster: Arc<Roster>,
    /// Replicas that match, with a run of more than 0 tokens.
    pub holders: Holders,
    /// Replicas of the roster that have statistics; only where asked for and nothing matches.
    pub warm: Vec<Warm>,
    /// When each replica of the roster was last heard of, by member; only where asked for.
    pub heard: Arc<[Timestamp]>,
    /// Replicas of the roster that are drained, by member, ascending: treated as not heard of.
    pub drained: Vec<u32>,
    /// No entry at all, in any tenant.
    pub index_is_empty: bool,
    /// The tenant has an entry in some model.
    pub tenant_is_known: bool,
    /// (tenant, model) has an entry in some scheme.
    pub model_is_known: bool,
}

impl Default for Evidence {
    fn default() -> Self {
        /// Shared, so that a lookup without evidence allocates nothing.
        static NOBODY: LazyLock<Arc<Roster>> = LazyLock::new(Arc::default);
        Self::of(Arc::clone(&NOBODY))
    }
}

impl Evidence {
    /// That `roster` serves the domain, and nothing else.
    pub fn of(roster: Arc<Roster>) -> Self {
        Self {
            roster,
            holders: Holders::default(),
            warm: Vec::new(),
            heard: Arc::default(),
            drained: Vec::new(),
            index_is_empty: false,
            tenant_is_known: false,
            model_is_known: false,
        }
    }
}

/// What the index knows beside the evidence, at the same instant, for the balanced ranker.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Pressure of the members of the evidence's roster, where statistics tell it, and when it was reported; empty where
    /// nobody ever reported statistics.
    pub pressure: Vec<Option<(f32, Timestamp)>>,
    /// Replicas of (tenant, model) without entries, where there are any.
    pub idle_roster: Option<Arc<Roster>>,
    /// How each of them stands.
    pub idle: Vec<Standing>,
}

/// How a replica without entries stands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Standing {
    /// Whether it may be chosen.
    pub takes_part: bool,
    /// When it was last heard of.
    pub heard: Timestamp,
    /// Its pressure, where statistics tell it, and when it was reported.
    pub pressure: Option<(f32, Timestamp)>,
}

/// What the balanced ranker looks at beside the evidence, whose roster then has the replicas without entries, too.
#[derive(Clone, Debug, Default)]
pub struct Balance {
    /// Members of the roster without entries.
    pub idle: usize,
    /// Those of them that may not be chosen, ascending.
    pub absent: Vec<u32>,
    /// Pressure by member, where statistics tell it, and when it was reported; may be shorter than the roster.
    pub pressure: Vec<Option<(f32, Timestamp)>>,
    /// What each member has before it.
    pub loads: Vec<Load>,
}

/// What a replica has before it, by estimate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Load {
    /// Tokens that hints brought to it and that it has not prefilled yet.
    pub pending_tokens: f32,
    /// Tokens that hints brought to it of late, done or not.
    pub recent_tokens: f32,
    /// Tokens that it prefills in a second; above 0.
    pub rate: f32,
    /// Tokens of the request that it is about to hold, since a hint for them is on its way to it.
    pub provisional_tokens: i32,
}

/// Replicas that serve a domain, sorted by the bytes of their ids; a member is a position in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Roster {
    replicas: Vec<ReplicaId>,
}

impl Roster {
    /// Sorts `replicas` and drops repetitions.
    pub fn new(mut replicas: Vec<ReplicaId>) -> Self {
        replicas.sort_unstable();
        replicas.dedup();
        Self { replicas }
    }

    /// Number of replicas.
    pub fn len(&self) -> usize {
        self.replicas.len()
    }

    /// Whether nobody serves the domain.
    pub fn is_empty(&self) -> bool {
        self.replicas.is_empty()
    }

    /// The replica at `member`, where there is one.
    pub fn get(&self, member: u32) -> Option<&ReplicaId> {
        self.replicas.get(member as usize)
    }

    /// Position of `replica`.
    pub fn member(&self, replica: &str) -> Option<u32> {
        let at = self.replicas.binary_search_by(|id| id.as_str().cmp(replica)).ok()?;
        u32::try_from(at).ok()
    }

    /// The replicas in order.
    pub fn iter(&self) -> impl Iterator<Item = &ReplicaId> {
        self.replicas.iter()
    }
}

/// A replica that serves the domain and has statistics.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Warm {
    /// Position in the roster.
    pub member: u32,
    /// Its statistics.
    pub stats: StatsSeen,
}

/// Statistics as the ranking uses them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StatsSeen {
    /// 0..1.
    pub hit_rate: f32,
    /// 0..1.
    pub pressure: f32,
    /// When they were reported.
    pub reported_at: Timestamp,
}
