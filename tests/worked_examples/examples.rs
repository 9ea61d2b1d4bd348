//! The table.

use icache::policy::TenantPolicy;

pub const TENANT: &str = "team-a";
pub const MODEL: &str = "llama";
pub const SCHEME: &str = "vllm";

/// Hashes of a chain, from the start of the prompt.
const BLOCKS: [&str; 5] = ["block-1", "block-2", "block-3", "block-4", "block-5"];

/// One example.
pub struct Example {
    pub name: &'static str,
    /// Policies by tenant; the others have none.
    pub policies: Vec<(&'static str, TenantPolicy)>,
    /// What replicas hold.
    pub holds: Vec<Hold>,
    /// What they said of themselves.
    pub stats: Vec<Stats>,
    pub request: Asked,
    pub expected: Expected,
}

/// A replica holds one prefix.
#[derive(Clone)]
pub struct Hold {
    pub replica: &'static str,
    pub scheme: &'static str,
    pub adapter: &'static str,
    pub prefix: Prefix,
    /// Seconds since it was reported.
    pub age_s: i64,
}

/// What is held or asked for.
#[derive(Clone)]
pub enum Prefix {
    /// Leading blocks, of so many tokens each.
    Chain(usize, i32),
    /// One hash, with its tokens.
    Exact(&'static str, i32),
}

/// A replica's statistics.
#[derive(Clone)]
pub struct Stats {
    pub replica: &'static str,
    pub hit_rate: f32,
    pub pressure: f32,
    pub age_s: i64,
}

/// A lookup.
#[derive(Clone)]
pub struct Asked {
    pub tenant: &'static str,
    pub model: &'static str,
    pub scheme: &'static str,
    pub adapter: &'static str,
    pub prefix: Prefix,
    pub ttft_ms: i32,
}

/// An answer: code, and replica, tokens and score in order.
pub enum Expected {
    Ranked(&'static str, Vec<(&'static str, i32, f32)>),
    /// One of these, in the order of their bytes, by the seed.
    Affinity(Vec<&'static str>),
    Empty(&'static str),
}

impl Expected {
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Ranked(reason, _) | Self::Empty(reason) => reason,
            Self::Affinity(_) => "AFFINITY_HINT",
        }
    }
}

impl Prefix {
    /// The hashes of a chain, else the one hash.
    pub fn hashes(&self) -> Vec<&'static str> {
        match self {
            Self::Chain(blocks, _) => BLOCKS[..*blocks].to_vec(),
            Self::Exact(hash, _) => vec![hash],
        }
    }

    /// Tokens of each of the hashes.
    pub fn tokens(&self) -> i32 {
        match self {
            Self::Chain(_, tokens) | Self::Exact(_, tokens) => *tokens,
        }
    }

    pub fn is_chain(&self) -> bool {
        matches!(self, Self::Chain(..))
    }
}

impl Asked {
    /// For each block its length as 4 bytes big-endian, then its bytes; else the hash.
    pub fn affinity_seed(&self) -> Vec<u8> {
        if !self.prefix.is_chain() {
            return self.prefix.hashes().concat().into_bytes();
        }
        let blocks = self.prefix.hashes();
        let seed = blocks.iter().flat_map(|hash| [&[0, 0, 0, hash.len() as u8], hash.as_bytes()].concat());
        seed.collect()
    }
}

fn hold(replica: &'static str, prefix: Prefix, age_s: i64) -> Hold {
    Hold { replica, scheme: SCHEME, adapter: "", prefix, age_s }
}

fn chain(blocks: usize, tokens: i32) -> Prefix {
    Prefix::Chain(blocks, tokens)
}

fn exact(hash: &'static str, tokens: i32) -> Prefix {
    Prefix::Exact(hash, tokens)
}

fn ask(prefix: Prefix) -> Asked {
    Asked { tenant: TENANT, model: MODEL, scheme: SCHEME, adapter: "", prefix, ttft_ms: 0 }
}

fn policy(set: impl Fn(&mut TenantPolicy)) -> Vec<(&'static str, TenantPolicy)> {
    let mut policy = TenantPolicy::default();
    set(&mut policy);
    vec![(TENANT, policy)]
}

fn no_length_floor(policy: &mut TenantPolicy) {
    policy.minimum_matched_tokens = Some(0);
}

/// An example under the default policy, without statistics.
fn example(name: &'static str, holds: &[Hold], request: Asked, expected: Expected) -> Example {
    Example { name, policies: vec![], holds: holds.to_vec(), stats: vec![], request, expected }
}

/// All of them, numbered as the specification of the decision numbers them.
pub fn examples() -> Vec<Example> {
    [chains(), exact_lookups(), ranking(), warm(), misses(), short_prompts(), adapters()]
        .into_iter()
        .flatten()
        .collect()
}

fn chains() -> Vec<Example> {
    let holds = |tokens| {
        [hold("A", chain(3, tokens), 60), hold("B", chain(2, tokens), 120), hold("C", chain(1, tokens), 240)]
    };
    let asked = || ask(chain(5, 64));
    let all = || vec![("A", 192, 123.73), ("B", 128, 39.82), ("C", 64, 0.0)];
    let of_64 = |name, expected| example(name, &holds(64), asked(), expected);
    vec![
        of_64("1: the longer run first", Expected::Ranked("PREFIX_MATCH", all())),
        Example {
            policies: policy(|policy| policy.minimum_matched_tokens = Some(128)),
            ..of_64("1: floor of 128 tokens", Expected::Ranked("PREFIX_MATCH", all()[..2].to_vec()))
        },
        Example {
            policies: policy(|policy| policy.routing_floor_score = Some(200.0)),
            ..of_64("1: floor score of 200", Expected::Affinity(vec!["A", "B", "C"]))
        },
        Example {
            policies: policy(|policy| {
                policy.routing_floor_score = Some(200.0);
                policy.affinity_routing = Some(false);
            }),
            ..of_64("1: floor score of 200, no affinity", Expected::Empty("NO_HINT"))
        },
        example(
            "2: blocks of 16 tokens",
            &holds(16),
            ask(chain(5, 16)),
            Expected::Affinity(vec!["A", "B", "C"]),
        ),
    ]
}

fn exact_lookups() -> Vec<Example> {
    let everywhere = ["r1", "r2", "r3"].map(|replica| hold(replica, exact("p", 1_500), 0));
    vec![
        example(
            "3: one holder alone",
            &[hold("r1", exact("p", 100), 0)],
            ask(exact("p", 100)),
            Expected::Ranked("PREFIX_MATCH", vec![("r1", 100, 100.0)]),
        ),
        example(
            "4: everybody holds it",
            &everywhere,
            ask(exact("p", 1_500)),
            Expected::Affinity(vec!["r1", "r2", "r3"]),
        ),
    ]
}

fn ranking() -> Vec<Example> {
    let loaded = [
        hold("hot", exact("p", 100), 0),
        hold("cool", exact("p", 50), 0),
        hold("third", exact("other", 100), 0),
    ];
    let pressed = |replica, pressure| Stats { replica, hit_rate: 0.0, pressure, age_s: 0 };
    let stats = || vec![pressed("hot", 0.9), pressed("cool", 0.0)];
    let aged = [
        hold("old", exact("p", 100), 720),
        hold("new", exact("p", 50), 0),
        hold("third", exact("other", 100), 0),
    ];
    let (cool, hot) = (("cool", 50, 16.67), ("hot", 100, 3.33));
    let p = || ask(exact("p", 100));
    let ranked = |replicas| Expected::Ranked("PREFIX_MATCH", replicas);
    vec![
        Example {
            stats: stats(),
            ..example("5: the loaded replica alone is long enough", &loaded, p(), ranked(vec![hot]))
        },
        Example {
            stats: stats(),
            policies: policy(no_length_floor),
            ..example("5: without the floor the idle one first", &loaded, p(), ranked(vec![cool, hot]))
        },
        Example {
            policies: policy(no_length_floor),
            ..example(
                "6: a tight SLO favours the fresh holder",
                &aged,
                Asked { ttft_ms: 50, ..p() },
                ranked(vec![("new", 50, 33.33), ("old", 100, 32.0)]),
            )
        },
        Example {
            policies: policy(no_length_floor),
            ..example(
                "6: without an SLO the longer match",
                &aged,
                p(),
                ranked(vec![("old", 100, 20.0), ("new", 50, 16.67)]),
            )
        },
    ]
}

fn warm() -> Vec<Example> {
    let holds = [hold("r-warm", exact("other", 100), 0)];
    let stats = |replica, hit_rate| Stats { replica, hit_rate, pressure: 0.1, age_s: 30 };
    let with_sglang = [holds[0].clone(), Hold { scheme: "sglang", ..hold("r-sgl", exact("other", 100), 0) }];
    let hot = || Expected::Ranked("TENANT_HOT", vec![("r-warm", 0, 0.648)]);
    vec![
        Example {
            stats: vec![stats("r-warm", 0.8)],
            ..example("7: a novel prefix goes to the warm one", &holds, ask(exact("novel", 100)), hot())
        },
        Example {
            stats: vec![stats("r-warm", 0.8)],
            ..example(
                "7: a novel chain does not",
                &holds,
                ask(chain(2, 64)),
                Expected::Affinity(vec!["r-warm"]),
            )
        },
        Example {
            stats: vec![stats("r-warm", 0.8), stats("r-sgl", 0.95)],
            ..example("8: warm under another scheme", &with_sglang, ask(exact("novel", 100)), hot())
        },
    ]
}

fn misses() -> Vec<Example> {
    let holds = [hold("r1", exact("p", 100), 0)];
    let p = || ask(exact("p", 100));
    let tenant = || Asked { tenant: "team-aa", ..p() };
    let model = || Asked { model: "lama", ..p() };
    let scheme = || Asked { scheme: "vllm-v1", ..p() };
    let empty = |name, request| example(name, &[], request, Expected::Empty("NO_HINT"));
    vec![
        example("9: tenant mistyped", &holds, tenant(), Expected::Empty("UNKNOWN_TENANT")),
        example("9: model mistyped", &holds, model(), Expected::Empty("UNKNOWN_MODEL")),
        example("9: scheme mistyped", &holds, scheme(), Expected::Empty("UNKNOWN_HASH_SCHEME")),
        empty("9: tenant mistyped, empty index", tenant()),
        empty("9: model mistyped, empty index", model()),
        empty("9: scheme mistyped, empty index", scheme()),
        example("9: no scheme", &holds, Asked { scheme: "", ..p() }, Expected::Empty("NO_HINT")),
    ]
}

fn short_prompts() -> Vec<Example> {
    let holds = [hold("r1", chain(2, 64), 0)];
    let asked = || ask(chain(2, 64));
    let gate = |tenant, affinity| {
        let policy = TenantPolicy {
            minimum_prefix_tokens: Some(256),
            affinity_routing: Some(affinity),
            ..TenantPolicy::default()
        };
        (tenant, policy)
    };
    let elsewhere = || Asked { tenant: "team-b", ..asked() };
    vec![
        Example {
            policies: vec![gate(TENANT, true)],
            ..example("10: too short a prompt", &holds, asked(), Expected::Affinity(vec!["r1"]))
        },
        Example {
            policies: vec![gate(TENANT, false)],
            ..example("10: too short, no affinity", &holds, asked(), Expected::Empty("NO_HINT"))
        },
        Example {
            policies: vec![gate("team-b", false)],
            ..example(
                "10: a tenant without entries, no affinity",
                &holds,
                elsewhere(),
                Expected::Empty("NO_HINT"),
            )
        },
        Example {
            policies: vec![gate("team-b", true)],
            ..example("10: a tenant without entries", &holds, elsewhere(), Expected::Empty("UNKNOWN_TENANT"))
        },
        Example {
            policies: vec![gate(TENANT, false)],
            ..example(
                "10: a mistyped tenant has no policy",
                &holds,
                Asked { tenant: "team-aa", ..asked() },
                Expected::Empty("UNKNOWN_TENANT"),
            )
        },
    ]
}

fn adapters() -> Vec<Example> {
    let holds = [
        Hold { adapter: "sql-lora", ..hold("r-sql", exact("p", 100), 0) },
        Hold { adapter: "chat-lora", ..hold("r-chat", exact("p", 100), 0) },
    ];
    let under = |adapter| Asked { adapter, ..ask(exact("p", 100)) };
    vec![
        // One of the two replicas of the scheme holds it: 100 x 1/2.
        example(
            "11: the adapter's own replica",
            &holds,
            under("sql-lora"),
            Expected::Ranked("PREFIX_MATCH", vec![("r-sql", 100, 50.0)]),
        ),
        example(
            "11: an adapter that nobody has",
            &holds,
            under("law-lora"),
            Expected::Affinity(vec!["r-chat", "r-sql"]),
        ),
    ]
}
