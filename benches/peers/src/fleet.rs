//! The workload, the same for both: who holds which chain, and what is asked.

use hashbrown::HashMap;
use icache::model::PrefixHash;

/// Replicas of the fleet, as many as a mask has bits.
pub const REPLICAS: usize = 64;
const PROMPTS: u64 = 4;
/// Distinct queries.
pub const QUERIES: usize = 2_048;

/// SplitMix64: the sequence is the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Blocks `from..until` of a sequence.
pub fn blocks(sequence: u64, from: u64, until: u64) -> impl Iterator<Item = u64> {
    (from..until).map(move |at| Random(sequence.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ at).next())
}

/// What one replica reports: the blocks of a chain from its start.
pub struct Report {
    pub replica: usize,
    pub chain: usize,
}

/// A fleet of `replicas`, its chains, and every report that makes up the state, in order.
pub struct Fleet {
    pub replicas: usize,
    pub chains: Vec<Vec<u64>>,
    pub reports: Vec<Report>,
    pub entries: usize,
    blocks: usize,
    holders: HashMap<u64, Vec<u64>>,
}

impl Fleet {
    /// Four system prompts of 30 % of the chain, each held by all replicas; each suffix by 1, 2 or 4 (70, 20, 10 %).
    pub fn new(blocks_of_chain: usize, entries: usize, replicas: usize) -> Self {
        let mut random = Random(7);
        let head = blocks_of_chain * 3 / 10;
        let mut fleet = Self {
            replicas,
            chains: Vec::new(),
            reports: Vec::new(),
            entries: 0,
            blocks: blocks_of_chain,
            holders: HashMap::new(),
        };
        for prompt in 0..PROMPTS {
            fleet.chains.push(blocks(prompt + 1, 0, head as u64).collect());
            for replica in 0..replicas {
                fleet.report(replica, prompt as usize);
            }
        }
        while fleet.entries < entries {
            let mut chain = fleet.chains[random.below(PROMPTS) as usize].clone();
            chain.extend(blocks(random.next() | 1 << 63, head as u64, blocks_of_chain as u64));
            let holders = match random.below(10) {
                0..7 => 1,
                7..9 => 2,
                _ => 4,
            };
            let first = random.below(replicas as u64) as usize;
            fleet.chains.push(chain);
            for step in 0..holders.min(replicas) {
                fleet.report((first + 17 * step) % replicas, fleet.chains.len() - 1);
            }
        }
        fleet
    }

    fn report(&mut self, replica: usize, chain: usize) {
        let words = self.replicas.div_ceil(64);
        for hash in &self.chains[chain] {
            let holders = self.holders.entry(*hash).or_insert_with(|| vec![0; words]);
            let (word, bit) = (replica / 64, 1 << (replica % 64));
            self.entries += usize::from(holders[word] & bit == 0);
            holders[word] |= bit;
        }
        self.reports.push(Report { replica, chain });
    }

    /// 30 % full hits, 40 % that leave the chain inside the suffix, 20 % system prompt only, 10 % misses.
    pub fn queries(&self) -> Vec<Vec<u64>> {
        let mut random = Random(11);
        let head = self.blocks * 3 / 10;
        let prompts = PROMPTS as usize;
        let suffixes = (self.chains.len() - prompts) as u64;
        let mut query = |_| {
            let chain = &self.chains[prompts + random.below(suffixes) as usize];
            let held = match random.below(10) {
                0..3 => self.blocks,
                3..7 => head + 1 + random.below((self.blocks - head - 1) as u64) as usize,
                7..9 => head,
                _ => 0,
            };
            let novel = random.next() | 1 << 63;
            let tail = blocks(novel, held as u64, self.blocks as u64);
            chain[..held].iter().copied().chain(tail).collect()
        };
        (0..QUERIES).map(&mut query).collect()
    }

    /// Blocks of the leading run of each replica that has one, by a plain scan of who holds what.
    pub fn expected(&self, query: &[u64]) -> Vec<(usize, u32)> {
        let mut live: Vec<usize> = (0..self.replicas).collect();
        let mut runs = vec![0; self.replicas];
        for hash in query {
            let Some(holders) = self.holders.get(hash) else { break };
            live.retain(|replica| holders[replica / 64] >> (replica % 64) & 1 == 1);
            live.iter().for_each(|replica| runs[*replica] += 1);
        }
        runs.into_iter().enumerate().filter(|(_, run)| *run > 0).collect()
    }
}

/// Hashes in the form that an answer's request has them.
pub fn prefix_hashes(chain: &[u64]) -> Vec<PrefixHash> {
    chain.iter().map(|hash| PrefixHash::new(*hash)).collect()
}
