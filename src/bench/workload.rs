//! The state that is loaded, the questions, and what must be answered.
//!
//! Four shared heads, each held by every replica; behind them chains, held by 1, 2 or 4 replicas (70, 20, 10 %).

use bytes::Bytes;
use thiserror::Error;

use super::mix::{Kind, Mix};
use crate::model::Answer;

/// Bytes of a block's hash.
pub const HASH_BYTES: usize = 8;
/// Tokens of a block.
pub const BLOCK_TOKENS: i32 = 16;
/// Blocks of all chains that are loaded, and blocks of all distinct questions.
pub const MAX_BLOCKS: u64 = 4 << 20;

/// Shared heads.
const HEADS: u64 = 4;
/// Distinct questions, where their blocks are within the bound.
const QUESTIONS: u64 = 2_000;
/// Tokens that must match before a replica is hinted at, by the policy of a tenant without one.
const FLOOR_TOKENS: i32 = 64;
/// Replicas that hold a chain, one chain of ten after the other.
const HOLDERS: [u32; 10] = [1, 1, 1, 1, 1, 1, 1, 2, 2, 4];

/// What the load looks like.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shape {
    /// Blocks of a chain.
    pub blocks: u32,
    /// Part of a chain that is a shared head, 0..1.
    pub shared_head: f32,
    /// Distinct chains.
    pub chains: u32,
    /// Replicas.
    pub replicas: u32,
    /// Kinds of question.
    pub mix: Mix,
    /// The same seed makes the same load.
    pub seed: u64,
}

/// Why a load cannot be made.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ShapeError {
    /// More blocks than are held in memory.
    #[error("{chains} chains of {blocks} blocks are {product} blocks, and {MAX_BLOCKS} is the most")]
    TooLarge {
        /// Chains.
        chains: u32,
        /// Blocks of each.
        blocks: u32,
        /// All blocks.
        product: u64,
    },
}

/// A chain that a replica holds.
#[derive(Clone, Debug)]
pub struct Held {
    /// Number of the replica.
    pub replica: u32,
    /// Its hashes, one behind the other.
    pub chain: Bytes,
}

/// One lookup, and what is held of it.
#[derive(Clone, Debug)]
pub struct Question {
    /// What it asks for.
    pub kind: Kind,
    /// Its hashes, one behind the other.
    pub chain: Bytes,
    /// Leading blocks that every replica holds.
    everybody: u32,
    /// Leading blocks that some replicas hold beyond that.
    some: u32,
    /// Those replicas: the first, and how many follow it.
    holders: (u32, u32),
}

/// What is to be said of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// What was loaded, or a fail-open answer.
    Right,
    /// It contradicts what was loaded.
    Wrong(String),
}

/// A load.
#[derive(Debug)]
pub struct Workload {
    shape: Shape,
    head: u32,
    questions: Vec<Question>,
}

impl Workload {
    /// The load of a shape; blocks, chains and replicas are 1 at least.
    pub fn new(shape: Shape) -> Result<Self, ShapeError> {
        let Shape { blocks, chains, .. } = shape;
        let product = u64::from(blocks) * u64::from(chains);
        if product > MAX_BLOCKS {
            return Err(ShapeError::TooLarge { chains, blocks, product });
        }
        let head = (f64::from(blocks) * f64::from(shape.shared_head)).round() as u32;
        let mut workload = Self { shape, head: head.min(blocks), questions: Vec::new() };
        let count = QUESTIONS.min(MAX_BLOCKS / u64::from(blocks)).max(1);
        workload.questions = (0..count).map(|at| workload.question_of(at, count)).collect();
        Ok(workload)
    }

    /// What it was made from.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Name of a replica.
    pub fn replica(&self, number: u32) -> String {
        format!("{REPLICA}{number}")
    }

    /// Everything to report, in chains that start at block 0.
    pub fn held(&self) -> impl Iterator<Item = Held> + '_ {
        let heads = (0..HEADS).flat_map(move |head| {
            let chain = self.chain(head, self.head);
            (0..self.shape.replicas).map(move |replica| Held { replica, chain: chain.clone() })
        });
        let chains = (0..u64::from(self.shape.chains)).flat_map(move |number| {
            let chain = self.chain(number, self.shape.blocks);
            let (first, count) = self.holders(number);
            (0..count)
                .map(move |at| Held { replica: (first + at) % self.shape.replicas, chain: chain.clone() })
        });
        heads.chain(chains).filter(|held| !held.chain.is_empty())
    }

    /// The question of request `number`.
    pub fn question(&self, number: u64) -> &Question {
        let at = mixed(self.shape.seed ^ mixed(number)) % self.questions.len() as u64;
        &self.questions[at as usize]
    }

    /// Whether an answer is what was loaded. A server may fail open at any time: no hint is never wrong, and neither
    /// is an answer that came too late. A server with the balanced ranker does not ask whether a match tells replicas
    /// apart, and may name the one that waits least.
    pub fn verdict(&self, question: &Question, answer: &Answer) -> Verdict {
        let code = answer.reason_code.as_str();
        if matches!(code, "NO_HINT" | "TIMEOUT" | "LOAD_HINT") {
            return Verdict::Right;
        }
        let expected = self.expected(question);
        let longest = question.everybody.max(question.some);
        let is_held = tokens(longest) >= FLOOR_TOKENS;
        if code != expected && !(code == PREFIX_MATCH && is_held) {
            return Verdict::Wrong(format!("{code} for a {} question, not {expected}", question.kind.name()));
        }
        if code != PREFIX_MATCH {
            return Verdict::Right;
        }
        let mut best = 0;
        for found in &answer.replicas {
            let blocks = self.blocks_of(question, &found.replica);
            if blocks.is_none_or(|blocks| tokens(blocks) != found.matched_tokens) {
                let held = blocks.map_or(0, tokens);
                let (replica, told) = (&found.replica, found.matched_tokens);
                return Verdict::Wrong(format!("{told} tokens of replica `{replica}`, which holds {held}"));
            }
            best += u32::from(blocks == Some(longest));
        }
        let holders = self.longest_holders(question);
        if best != holders {
            return Verdict::Wrong(format!("{best} of the {holders} replicas that hold most"));
        }
        Verdict::Right
    }

    fn question_of(&self, at: u64, of: u64) -> Question {
        let Shape { blocks, chains, mix, seed, .. } = self.shape;
        let number = mixed(seed.wrapping_add(at)) % u64::from(chains);
        // Beyond all chains that are loaded: the head is known, the rest is not.
        let foreign = self.chain(HEADS * u64::from(u32::MAX) + at * HEADS + number % HEADS, blocks);
        let own = self.chain(number, blocks);
        let none = (0, 0);
        let kind = match mix.kind(at, of) {
            Kind::Diverge if blocks < self.head + 2 => Kind::Head,
            kind => kind,
        };
        let kind = if kind == Kind::Head && self.head == 0 { Kind::Miss } else { kind };
        let (chain, everybody, some, holders) = match kind {
            Kind::Full => (own, self.head, blocks, self.holders(number)),
            Kind::Diverge => {
                let kept = self.head + 1 + (mixed(seed ^ at) % u64::from(blocks - self.head - 1)) as u32;
                let cut = kept as usize * HASH_BYTES;
                let chain = [&own[..cut], &foreign[cut..]].concat();
                (Bytes::from(chain), self.head, kept, self.holders(number))
            }
            Kind::Head => (foreign, self.head, self.head, none),
            Kind::Miss => {
                let chain =
                    (0..blocks).map(|block| mixed(!seed ^ mixed(at << 20 | u64::from(block)) ^ 1 << 63));
                (chain.flat_map(u64::to_be_bytes).collect(), 0, 0, none)
            }
        };
        Question { kind, chain, everybody, some, holders }
    }

    /// The code where the tenant has no policy of its own.
    fn expected(&self, question: &Question) -> &'static str {
        let longest = question.everybody.max(question.some);
        let holders = self.longest_holders(question);
        // What every replica holds tells none from another.
        let tells_apart = self.shape.replicas < 2 || holders < self.shape.replicas;
        if tokens(longest) >= FLOOR_TOKENS && tells_apart { PREFIX_MATCH } else { "AFFINITY_HINT" }
    }

    fn longest_holders(&self, question: &Question) -> u32 {
        if question.some > question.everybody { question.holders.1 } else { self.shape.replicas }
    }

    /// Leading blocks of the question that a replica holds; none where there is no such replica.
    fn blocks_of(&self, question: &Question, replica: &str) -> Option<u32> {
        let number: u32 = replica.strip_prefix(REPLICA)?.parse().ok()?;
        let replicas = self.shape.replicas;
        if number >= replicas {
            return None;
        }
        let (first, count) = question.holders;
        let is_holder = (number + replicas - first) % replicas < count;
        Some(if is_holder { question.some } else { question.everybody })
    }

    /// The first replica that holds a chain, and how many do, in the order of their numbers.
    fn holders(&self, number: u64) -> (u32, u32) {
        let count = HOLDERS[(number % HOLDERS.len() as u64) as usize].min(self.shape.replicas);
        ((mixed(self.shape.seed ^ number) % u64::from(self.shape.replicas)) as u32, count)
    }

    /// The first blocks of a chain: a shared head, then its own.
    fn chain(&self, number: u64, blocks: u32) -> Bytes {
        let seed = mixed(self.shape.seed);
        let hash = |block: u32| {
            let owner = if block < self.head { number % HEADS } else { mixed(number | 1 << 62) };
            mixed(seed ^ mixed(owner) ^ u64::from(block))
        };
        (0..blocks).flat_map(|block| hash(block).to_be_bytes()).collect()
    }
}

const PREFIX_MATCH: &str = "PREFIX_MATCH";
const REPLICA: &str = "bench-";

fn tokens(blocks: u32) -> i32 {
    i32::try_from(blocks).unwrap_or(i32::MAX).saturating_mul(BLOCK_TOKENS)
}

/// SplitMix64 of one value: the load is the same on every machine.
fn mixed(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::model::{RankedReplica, Tier};

    const SHAPE: Shape =
        Shape { blocks: 20, shared_head: 0.3, chains: 50, replicas: 8, mix: Mix::USUAL, seed: 1 };

    /// What each replica holds, by the hashes of its blocks.
    fn index(workload: &Workload) -> BTreeMap<u32, BTreeSet<Vec<u8>>> {
        let mut held = BTreeMap::<u32, BTreeSet<Vec<u8>>>::new();
        for Held { replica, chain } in workload.held() {
            held.entry(replica).or_default().extend(chain.chunks(HASH_BYTES).map(<[u8]>::to_vec));
        }
        held
    }

    fn ranked(replica: String, matched_tokens: i32) -> RankedReplica {
        RankedReplica { replica, score: 1.0, matched_tokens, probability: 1.0, tier: Tier::T1 }
    }

    #[test]
    fn what_a_question_expects_is_what_is_held() {
        for shape in [
            SHAPE,
            Shape { replicas: 1, ..SHAPE },
            Shape { replicas: 2, chains: 7, ..SHAPE },
            Shape { shared_head: 0.0, ..SHAPE },
            Shape { shared_head: 1.0, ..SHAPE },
            Shape { blocks: 1, ..SHAPE },
        ] {
            let workload = Workload::new(shape).unwrap();
            let index = index(&workload);
            for question in &workload.questions {
                assert_eq!(question.chain.len(), shape.blocks as usize * HASH_BYTES);
                for replica in 0..shape.replicas {
                    let blocks = question.chain.chunks(HASH_BYTES);
                    let run = blocks.take_while(|hash| index[&replica].contains(*hash)).count() as u32;
                    let told = workload.blocks_of(question, &workload.replica(replica));
                    assert_eq!(told, Some(run), "{shape:?}, {:?}, replica {replica}", question.kind);
                }
            }
        }
    }

    #[test]
    fn kinds_keep_to_the_mix() {
        let workload = Workload::new(SHAPE).unwrap();
        let count = |kind| workload.questions.iter().filter(|question| question.kind == kind).count();
        assert_eq!(Kind::ALL.map(count), [600, 800, 400, 200]);
        let asked: BTreeSet<_> = (0..10_000).map(|number| workload.question(number).chain.clone()).collect();
        // Full hits are of 50 chains, and the others are all different.
        assert!(asked.len() > 1_400, "{} of 1,450", asked.len());
    }

    #[test]
    fn answers_that_contradict_are_wrong() {
        let workload = Workload::new(SHAPE).unwrap();
        let of_kind = |kind| workload.questions.iter().find(|question| question.kind == kind).unwrap();
        let answer =
            |code: &str, replicas| Answer { reason_code: code.to_owned(), replicas, ..Answer::default() };
        let is_right = |kind, answer: &Answer| workload.verdict(of_kind(kind), answer) == Verdict::Right;
        let full = of_kind(Kind::Full);
        let all: Vec<RankedReplica> = (0..8)
            .map(|number| workload.replica(number))
            .map(|name| (workload.blocks_of(full, &name).unwrap(), name))
            .map(|(blocks, name)| ranked(name, tokens(blocks)))
            .collect();
        let most = |list: &[RankedReplica]| list.iter().map(|found| found.matched_tokens).max().unwrap();
        let longest: Vec<_> =
            all.iter().filter(|found| found.matched_tokens == most(&all)).cloned().collect();
        assert!(is_right(Kind::Full, &answer("PREFIX_MATCH", all.clone())));
        assert!(
            is_right(Kind::Full, &answer("PREFIX_MATCH", longest.clone())),
            "a policy may drop the others"
        );
        assert!(!is_right(Kind::Full, &answer("PREFIX_MATCH", longest[1..].to_vec())));
        assert!(!is_right(Kind::Full, &answer("AFFINITY_HINT", vec![])));
        let mut more = all.clone();
        more[0].matched_tokens += 16;
        assert!(!is_right(Kind::Full, &answer("PREFIX_MATCH", more)));
        for name in ["bench-8", "bench-x", "vllm-0"] {
            let foreign = [longest.clone(), vec![ranked(name.to_owned(), 96)]].concat();
            assert!(!is_right(Kind::Full, &answer("PREFIX_MATCH", foreign)), "{name}");
        }
        for kind in [Kind::Head, Kind::Miss] {
            assert!(is_right(kind, &answer("AFFINITY_HINT", vec![ranked("bench-1".to_owned(), 0)])));
            assert!(!is_right(kind, &answer("PREFIX_MATCH", all.clone())));
            assert!(!is_right(kind, &answer("UNKNOWN_TENANT", vec![])));
            assert!(is_right(kind, &answer("LOAD_HINT", vec![ranked("bench-1".to_owned(), 0)])));
        }
        for code in ["NO_HINT", "TIMEOUT"] {
            assert!(Kind::ALL.iter().all(|kind| is_right(*kind, &answer(code, vec![]))), "{code}");
        }
    }

    #[test]
    fn a_load_is_bounded() {
        let shape = Shape { blocks: 4_096, chains: 1_024, ..SHAPE };
        let largest = Workload::new(shape).unwrap();
        assert_eq!(largest.questions.len(), 1_024);
        let error = Workload::new(Shape { chains: 1_025, ..shape }).unwrap_err();
        assert!(error.to_string().contains("4198400 blocks"), "{error}");
    }
}
