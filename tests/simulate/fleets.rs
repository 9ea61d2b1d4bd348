//! Fleets so small that every number can be reckoned by hand.

use icache::simulate::{MAX_WINDOWS, Publish, Routing, Run, Settings, Trace};

use super::{all, contender, one, settings, trace, under};

const MS: i64 = 1_000_000;

/// Two prompts at once with one block in common, the first again twice, and one with a partial block.
fn five() -> Trace {
    trace(&[
        (0, 1024, &[1, 2]),
        (0, 1024, &[1, 3]),
        (1_000, 1024, &[1, 2]),
        (5_000, 1024, &[1, 2]),
        (9_000, 700, &[1, 9]),
    ])
}

/// Codes and gates of a run, as `CODE count` and `gate count`.
fn answers(run: &Run) -> (Vec<String>, Vec<String>) {
    let codes = run.reasons.iter().map(|(code, count)| format!("{} {count}", code.code()));
    let gates = run.gates.iter().map(|(gate, of)| format!("{} {}", gate.id(), of.share.requests));
    (codes.collect(), gates.collect())
}

/// Requests, found and prefilled tokens of each engine.
fn loads(run: &Run) -> Vec<(u64, u64, u64)> {
    let load =
        |share: &icache::simulate::Share| (share.requests, share.found_tokens, share.prefilled_tokens());
    run.engines.iter().map(|engine| load(&engine.share)).collect()
}

/// Percentiles 1, 50, 99 and 100 of the times to first token, in milliseconds.
fn ttft(run: &Run) -> [f64; 4] {
    [1, 50, 99, 100].map(|percent| run.ttft.percentile_ns(percent) as f64 / MS as f64)
}

#[test]
fn round_robin() {
    let run = one(&five(), &settings(2, 4), contender(Routing::RoundRobin));
    // The first engine has the first, third and fifth request, the second the others.
    assert_eq!(loads(&run), [(3, 1536, 1212), (2, 512, 1536)]);
    assert_eq!((run.total.requests, run.total.asked_tokens, run.total.found_tokens), (5, 4796, 2048));
    // 188 tokens of a partial block take 367.1875 ms; the third request waits a second for the first.
    assert_eq!(ttft(&run), [367.1875, 1_000.0, 2_000.0, 2_000.0]);
    assert_eq!(run.ttft.mean_ns(), 1_273_437_500.0);
    assert_eq!(run.span_ns, 9_367_187_500);
    assert_eq!([run.engines[0].busy_ns, run.engines[1].busy_ns], [2_367_187_500, 3_000_000_000]);
    assert_eq!(run.spread(), 1536.0 * 2.0 / 2748.0);
    assert_eq!(run.utilisation(), 5_367_187_500.0 / (2.0 * 9_367_187_500.0));
    // The second request computed a block that the first engine was computing, the fourth one that it held.
    assert_eq!(run.missed_tokens, 1024);
    assert_eq!(answers(&run), (vec![], vec![]));
    assert_eq!((run.index, run.hints), (None, 0));
    let windows: Vec<_> = run.windows.iter().map(|window| window.share.requests).collect();
    assert_eq!((windows.as_slice(), run.window_ns), (&[2, 1, 0, 0, 0, 1, 0, 0, 0, 1][..], 1_000 * MS));
    assert_eq!(run.windows[0].prefilled_tokens, [1024, 1024]);
    assert_eq!(run.windows[5].ttft.percentile_ns(50), 1_000 * MS);
}

#[test]
fn marks() {
    let reachable = all(&five(), &settings(2, 4), &[]).reachable;
    assert_eq!((reachable.asked_tokens, reachable.asked_blocks), (4796, 10));
    assert_eq!((reachable.ideal_tokens, reachable.pooled_tokens), (3072, 3072));
    // The last prompt's first block is known, its partial one is not.
    assert_eq!(reachable.ideal_blocks, 6);
    // Two blocks hold the last prompt only: [1, 3] drops 2, [1, 2] drops 3.
    let reachable = all(&five(), &settings(2, 1), &[]).reachable;
    assert_eq!((reachable.ideal_tokens, reachable.pooled_tokens), (3072, 512 * (1 + 1 + 2 + 1)));
}

/// One engine tells of a block before the others are used: it is the only one that the index knows, for ever.
#[test]
fn the_first_engine_that_reports_gets_everything() {
    let fleet = Settings { publish: Publish::Start, ..settings(2, 4) };
    let run = one(&five(), &fleet, contender(Routing::Reference));
    assert_eq!(loads(&run), [(5, 3072, 1724), (0, 0, 0)]);
    assert_eq!((run.spread(), run.missed_tokens), (2.0, 0));
    assert_eq!(ttft(&run), [0.0, 2_000.0, 3_000.0, 3_000.0]);
    assert_eq!(run.ttft.mean_ns(), 1_473_437_500.0);
    let (codes, gates) = answers(&run);
    assert_eq!(sorted(codes), ["NO_HINT 1", "PREFIX_MATCH 4"]);
    assert_eq!(gates, ["prefix-match 4", "cold-start 1"]);
    assert_eq!((run.hints, run.index.unwrap().entries_at_end), (4, 3));
}

/// A floor above what all prompts share does not help while affinity sends the rest to the only engine that is known;
/// both together do.
#[test]
fn what_heals_a_cold_start() {
    let fleet = Settings { publish: Publish::Start, ..settings(2, 4) };
    let floor = under("floor", "minimumMatchedTokens: 1024");
    let no_affinity = under("no affinity", "affinityRouting: Disabled");
    let both = under("both", "minimumMatchedTokens: 1024, affinityRouting: Disabled");
    let runs = all(&five(), &fleet, &[floor, no_affinity, both]).runs;
    let requests = |run: &Run| run.engines.iter().map(|engine| engine.share.requests).collect::<Vec<_>>();
    assert_eq!(runs.iter().map(requests).collect::<Vec<_>>(), [[5, 0], [5, 0], [4, 1]]);
    assert_eq!(runs[2].policy.as_deref(), Some("both"));
    // The first and third find nobody; the last one's 512 tokens are below the floor.
    let (codes, gates) = answers(&runs[2]);
    assert_eq!(sorted(codes), ["NO_HINT 3", "PREFIX_MATCH 2"]);
    assert_eq!(gates, ["prefix-match 2", "cold-start 1", "minimum-matched-tokens 2"]);
}

#[test]
fn engines_that_report_late() {
    let run = one(&five(), &settings(2, 4), contender(Routing::Reference));
    // Until 2 s the index is empty; the last prompt's only full block is held by both, which tells them apart not at all.
    let (codes, gates) = answers(&run);
    assert_eq!(sorted(codes), ["AFFINITY_HINT 1", "NO_HINT 3", "PREFIX_MATCH 1"]);
    assert_eq!(gates, ["prefix-match 1", "cold-start 3", "routing-floor-score 1"]);
    assert_eq!((run.total.found_tokens, run.hints), (2560, 2));
    // The second request computed what the first engine was computing.
    assert_eq!(run.missed_tokens, 512);
    let cold = run.gates.values().find(|of| of.share.requests == 3).unwrap();
    assert_eq!((cold.share.asked_tokens, cold.share.found_tokens, cold.missed_tokens), (3072, 1024, 512));
    assert_eq!(run.windows[5].reasons.values().sum::<u64>(), 1);
}

/// What an engine publishes at 2 s counts for the request of 5 s if it comes within 3 s, the very instant included.
#[test]
fn a_delay_of_events() {
    for (delay_ms, no_hint) in [(0, 3), (3_000, 3), (3_001, 4), (7_000, 4), (7_001, 5)] {
        let fleet = Settings { event_delay_ns: delay_ms * MS, ..settings(2, 4) };
        let run = one(&five(), &fleet, contender(Routing::Reference));
        assert_eq!(run.gates.values().map(|of| of.share.requests).sum::<u64>(), 5);
        let cold = run.reasons.iter().find(|(code, _)| code.code() == "NO_HINT").map(|(_, count)| *count);
        assert_eq!(cold, Some(no_hint), "{delay_ms} ms");
    }
}

#[test]
fn a_warmup_asks_nobody() {
    for (warmup, asked) in [(0, 5), (2, 3), (5, 0), (9, 0)] {
        let fleet = Settings { warmup, ..settings(2, 4) };
        let run = one(&five(), &fleet, contender(Routing::Reference));
        assert_eq!(run.reasons.values().sum::<u64>(), asked);
        assert_eq!(run.total.requests, 5);
    }
    // The first two of random go round-robin, whatever the seed.
    for seed in 0..20 {
        let fleet = Settings { warmup: 2, seed, ..settings(2, 4) };
        let run = one(&five(), &fleet, contender(Routing::Random));
        assert!(run.engines.iter().all(|engine| engine.share.requests > 0), "seed {seed}");
    }
}

#[test]
fn least_loaded() {
    // A long prompt keeps one engine; of idle ones, the one chosen longest ago.
    let requests = trace(&[
        (0, 2048, &[1, 2, 3, 4]),
        (0, 512, &[5]),
        (500, 512, &[6]),
        (1_000, 512, &[7]),
        (9_000, 512, &[8]),
        (10_000, 512, &[9]),
    ]);
    let run = one(&requests, &settings(2, 8), contender(Routing::LeastLoaded));
    // The second engine has the second, third and fourth, of which the third waits half a second; then the first, which
    // was chosen longest ago, then the second.
    assert_eq!(loads(&run), [(2, 0, 2560), (4, 0, 2048)]);
    assert_eq!(ttft(&run), [1_000.0, 1_000.0, 4_000.0, 4_000.0]);
    assert_eq!(run.ttft.mean_ns() * 6.0, 1e9 * (4.0 + 1.0 + 1.5 + 2.0 + 1.0 + 1.0));
}

#[test]
fn what_leaves_a_cache_leaves_the_index() {
    let requests = trace(&[(0, 1024, &[1, 2]), (5_000, 1024, &[3, 4]), (10_000, 1024, &[1, 2])]);
    let run = one(&requests, &settings(1, 2), contender(Routing::Reference));
    let index = run.index.unwrap();
    assert_eq!((index.stored_blocks, index.removed, index.entries_at_end), (6, 4, 2));
    assert_eq!(answers(&run).1, ["cold-start 1", "novel-prefix 2"]);
    assert_eq!(run.total.found_tokens, 0);
    // With room for one block more, the head of the first prompt stays: the tail goes first.
    let run = one(&requests, &settings(1, 3), contender(Routing::Reference));
    assert_eq!(
        (run.total.found_tokens, answers(&run).1),
        (512, vec!["prefix-match 1".to_owned(), "cold-start 1".to_owned(), "novel-prefix 1".to_owned(),])
    );
}

#[test]
fn a_prompt_larger_than_the_cache() {
    let requests = trace(&[(0, 1536, &[1, 2, 3]), (9_000, 1536, &[1, 2, 3])]);
    let run = one(&requests, &settings(1, 2), contender(Routing::Reference));
    assert_eq!(loads(&run), [(2, 1024, 2048)]);
    assert_eq!(run.index.unwrap().entries_at_end, 2);
}

#[test]
fn a_prompt_below_one_block_has_no_chain() {
    let run = one(&trace(&[(0, 511, &[1])]), &settings(1, 2), contender(Routing::Reference));
    assert_eq!(answers(&run), (vec!["NO_HINT 1".to_owned()], vec!["cold-start 1".to_owned()]));
    assert_eq!((run.total.found_tokens, run.index.unwrap().stored_blocks), (0, 0));
}

/// What is held is reported again, so that it does not age out of the index.
#[test]
fn a_refresh_renews_what_is_held() {
    let requests = trace(&[(0, 512, &[1]), (65_000, 512, &[1])]);
    for (refresh_s, last, expired) in [(10, "PREFIX_MATCH 1", 0), (0, "NO_HINT 2", 1)] {
        let fleet = Settings { refresh_ns: refresh_s * 1_000 * MS, ..settings(1, 2) };
        let run = one(&requests, &fleet, under("ttl", "evictionTTL: 20s"));
        assert!(answers(&run).0.contains(&last.to_owned()), "{:?}", answers(&run));
        assert_eq!(run.index.unwrap().expired, expired);
        // The engine has it in both cases.
        assert_eq!(run.total.found_tokens, 512);
    }
}

#[test]
fn a_refresh_does_not_tell_of_what_is_being_computed() {
    let requests = trace(&[(0, 1024, &[1, 2]), (15_000, 1024, &[1, 2])]);
    for (publish, second) in [(Publish::End, "NO_HINT 2"), (Publish::Start, "PREFIX_MATCH 1")] {
        // The first prompt takes half a minute.
        let fleet = Settings { refresh_ns: 10_000 * MS, prefill_rate: 34, publish, ..settings(1, 8) };
        let run = one(&requests, &fleet, contender(Routing::Reference));
        assert!(answers(&run).0.contains(&second.to_owned()), "{:?}", answers(&run));
    }
}

#[test]
fn policies_hold_for_their_tenant_only() {
    let requests = trace(&[(0, 512, &[1]), (5_000, 512, &[1])]);
    let policy = under("floor", "minimumMatchedTokens: 1024, affinityRouting: Disabled");
    for (tenant, hints) in [("default", 0), ("other", 1)] {
        let fleet = Settings { tenant: tenant.to_owned(), ..settings(1, 2) };
        assert_eq!(one(&requests, &fleet, policy.clone()).hints, hints);
    }
}

#[test]
fn a_quota_bounds_the_index_and_not_the_caches() {
    let lines = "apiVersion: inferencecache.io/v1alpha1\nkind: CacheTenant\nmetadata: {name: t}\n\
                 spec: {tenantID: default, quota: {maxIndexEntries: 1}}\n";
    let set =
        icache::policy::load_policies("t.yaml", lines, &icache::policy::Defaults::default()).unwrap().set;
    let policy = Some(icache::simulate::NamedPolicies { name: "quota".to_owned(), set });
    let requests = trace(&[(0, 1024, &[1, 2]), (5_000, 1024, &[1, 2])]);
    let quota = icache::simulate::Contender { routing: Routing::Reference, policy };
    let run = one(&requests, &settings(1, 4), quota);
    let index = run.index.unwrap();
    assert_eq!((index.evicted_quota_keys, index.entries_at_end), (1, 1));
    assert_eq!(run.total.found_tokens, 1024);
}

#[test]
fn windows_are_bounded() {
    let lines: Vec<(u64, u64, &[u32])> = (0..200).map(|at| (at * 1_000, 512, &[1][..])).collect();
    let run = one(&trace(&lines), &settings(2, 4), contender(Routing::RoundRobin));
    assert!(run.windows.len() <= MAX_WINDOWS);
    assert_eq!(run.windows.iter().map(|window| window.share.requests).sum::<u64>(), 200);
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list
}
