//! What the index is fed for changes.

use std::collections::BTreeMap;

use icache::engine::{Change, Fed, Held, Identity, MAX_UPDATE_BLOCKS, feed, restate};
use icache::model::{
    AdapterId, EventKind, HashScheme, ModelId, PrefixHash, ReplicaId, TenantId, Tier, Timestamp,
};

fn identity() -> Identity {
    Identity {
        replica: ReplicaId::from("r1"),
        tenant: TenantId::from("t1"),
        model: ModelId::from("m1"),
        scheme: HashScheme::from("vllm"),
    }
}

fn stored(adapter: &str, tier: Tier, numbers: std::ops::Range<u64>, start: bool) -> Change {
    Change::Stored {
        adapter: AdapterId::from(adapter),
        tier,
        blocks: numbers.map(|at| (PrefixHash::new(at), at as i32 * 16)).collect(),
        sequence_start: start,
    }
}

fn removed(adapter: &str, number: u64) -> Change {
    Change::Removed { prefix_hash: PrefixHash::new(number), adapter: AdapterId::from(adapter) }
}

/// Entries as `adapter tier hash=tokens`, chains as `adapter tier [hash=tokens of block ...]`.
fn words(changes: &[Change]) -> Vec<String> {
    let number = |hash: &[u8]| hash.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    let at = Timestamp::from_us(5);
    let mut words = Vec::new();
    feed(changes, &identity(), Some(at), &mut |fed| {
        words.push(match fed {
            Fed::Update(update) => {
                let ids = (update.replica, update.tenant, update.model, update.scheme);
                assert_eq!(ids, ("r1", "t1", "m1", "vllm"));
                assert_eq!((update.at, update.adapter), (Some(at), ""));
                let entries = update.prefixes.iter().map(|entry| {
                    let counts = entry.block_token_counts.iter();
                    let chain = entry.block_hashes.iter().zip(counts);
                    let chain: Vec<_> =
                        chain.map(|(hash, count)| format!("{}={count}", number(hash))).collect();
                    let blocks = if chain.is_empty() {
                        format!("{}={}", number(entry.prefix_hash), entry.token_count)
                    } else {
                        assert!(entry.prefix_hash.is_empty());
                        format!("[{}]", chain.join(" "))
                    };
                    format!("{}{} {blocks}", entry.tier.label(), entry.adapter)
                });
                entries.collect::<Vec<_>>().join(", ")
            }
            Fed::Event(event) => {
                assert_eq!((event.replica, event.tenant, event.model), ("r1", "t1", "m1"));
                assert_eq!(event.at, Some(at));
                match event.kind {
                    EventKind::PrefixEvicted => {
                        format!("-{}{}", event.adapter, number(event.prefix_hash))
                    }
                    kind => kind.label().to_owned(),
                }
            }
        });
    });
    words
}

#[test]
fn additions_go_together_and_never_across_a_removal() {
    assert_eq!(words(&[]), [""; 0]);
    let changes = [
        stored("", Tier::T1, 1..4, true),
        stored("sql", Tier::T2, 4..6, false),
        removed("", 1),
        stored("sql", Tier::T1, 1..2, true),
        removed("sql", 4),
        Change::Cleared,
        stored("", Tier::T3, 7..8, false),
        stored("", Tier::T1, 1..3, true),
    ];
    let expected = [
        "T1 [1=16 2=16 3=16], T2sql 4=64, T2sql 5=80",
        "-1",
        "T1sql [1=16]",
        "-sql4",
        "all_cleared",
        "T3 7=112, T1 [1=16 2=16]",
    ];
    assert_eq!(words(&changes), expected);
}

#[test]
fn updates_are_bounded_and_only_the_first_part_of_a_chain_is_one() {
    let most = MAX_UPDATE_BLOCKS as u64;
    let update_sizes = |changes: &[Change]| {
        let words = words(changes);
        let sizes = words.iter().map(|words| (words.matches('=').count() as u64, words.matches('[').count()));
        sizes.collect::<Vec<_>>()
    };
    assert_eq!(update_sizes(&[stored("", Tier::T1, 1..most + 1, true)]), [(most, 1)]);
    assert_eq!(update_sizes(&[stored("", Tier::T1, 1..most + 2, true)]), [(most, 1), (1, 0)]);
    let two = [stored("", Tier::T1, 1..3, true), stored("", Tier::T1, 1..most, true)];
    assert_eq!(update_sizes(&two), [(2, 1), (most - 1, 1)]);
}

#[test]
fn what_is_held_is_restated_by_adapter_and_tier() {
    let (base, sql) = (AdapterId::from(""), AdapterId::from("sql"));
    let held = [(&base, 1, Tier::T1), (&sql, 1, Tier::T1), (&base, 2, Tier::T2), (&base, 3, Tier::T1)];
    let held = held.map(|(adapter, number, tier)| Held {
        adapter,
        prefix_hash: PrefixHash::new(number),
        cumulative_tokens: number as i32 * 16,
        tier,
    });
    let mut found = BTreeMap::new();
    for change in restate(held.into_iter()) {
        let Change::Stored { adapter, tier, blocks, sequence_start } = change else {
            panic!("{change:?}");
        };
        assert!(!sequence_start);
        let blocks: Vec<_> = blocks.iter().map(|(hash, tokens)| (hash.value(), *tokens)).collect();
        found.insert((adapter.to_string(), tier), blocks);
    }
    let expected = BTreeMap::from([
        ((String::new(), Tier::T1), vec![(1, 16), (3, 48)]),
        ((String::new(), Tier::T2), vec![(2, 32)]),
        (("sql".to_owned(), Tier::T1), vec![(1, 16)]),
    ]);
    assert_eq!(found, expected);
}
