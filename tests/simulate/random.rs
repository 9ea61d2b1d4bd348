//! What holds of every run, on random traces and fleets; and the marks, reckoned again from the ids.

use std::collections::HashSet;

use icache::simulate::{Publish, Routing, Run, Settings};
use proptest::prelude::*;

use super::{all, contender, one, settings, text, trace, under};

/// A line with ids that are its own.
type Owned = (u64, u64, Vec<u32>);

fn lines() -> impl Strategy<Value = Vec<Owned>> {
    let line = (0_u64..4_000, proptest::collection::vec(0_u32..3, 1..6), 1_u64..=512);
    proptest::collection::vec(line, 1..40).prop_map(|lines| {
        let mut now = 0;
        let line = |(gap, ids, last): (u64, Vec<u32>, u64)| {
            now += gap;
            (now, (ids.len() as u64 - 1) * 512 + last, ids)
        };
        lines.into_iter().map(line).collect()
    })
}

fn fleets() -> impl Strategy<Value = Settings> {
    let times = (0_i64..8, 0_i64..4, any::<bool>(), 0_u64..5, any::<u64>());
    (1_usize..5, 1_usize..12, times).prop_map(
        |(replicas, blocks, (delay, refresh, at_start, warmup, seed))| Settings {
            event_delay_ns: delay * 700_000_000,
            refresh_ns: refresh * 3_000_000_000,
            publish: if at_start { Publish::Start } else { Publish::End },
            warmup,
            seed,
            ..settings(replicas, blocks)
        },
    )
}

fn borrowed(lines: &[Owned]) -> Vec<(u64, u64, &[u32])> {
    lines.iter().map(|(at, tokens, ids)| (*at, *tokens, ids.as_slice())).collect()
}

/// Full blocks of a prompt, each as all ids up to it.
fn full(line: &Owned) -> Vec<&[u32]> {
    (1..=(line.1 / 512) as usize).map(|len| &line.2[..len]).collect()
}

fn check_run(run: &Run, asked: u64, requests: u64, warmup: u64) -> Result<(), TestCaseError> {
    prop_assert_eq!((run.total.asked_tokens, run.total.requests), (asked, requests));
    prop_assert_eq!(run.total.found_tokens + run.total.prefilled_tokens(), asked);
    let sum = |of: &dyn Fn(&icache::simulate::Share) -> u64| {
        let engines = run.engines.iter().map(|engine| of(&engine.share)).sum::<u64>();
        (engines, run.windows.iter().map(|window| of(&window.share)).sum::<u64>())
    };
    prop_assert_eq!(sum(&|share| share.asked_tokens), (asked, asked));
    prop_assert_eq!(sum(&|share| share.found_tokens), (run.total.found_tokens, run.total.found_tokens));
    let prefilled: u64 = run.windows.iter().flat_map(|window| &window.prefilled_tokens).sum();
    prop_assert_eq!(prefilled, run.total.prefilled_tokens());
    prop_assert!(run.missed_tokens <= run.total.prefilled_tokens());
    prop_assert!(run.ttft.percentile_ns(0) >= 0);
    prop_assert!(run.spread() >= 1.0 && run.spread() <= run.engines.len() as f64);
    let busy: i64 = run.engines.iter().map(|engine| engine.busy_ns).sum();
    // A token takes 1/512 s, an exact number of nanoseconds or up to one more a request.
    let least = run.total.prefilled_tokens() as i128 * 1_000_000_000 / 512;
    prop_assert!((least..=least + i128::from(requests)).contains(&i128::from(busy)));
    let lookups = if run.index.is_some() { requests.saturating_sub(warmup) } else { 0 };
    prop_assert_eq!(run.reasons.values().sum::<u64>(), lookups);
    prop_assert_eq!(run.gates.values().map(|of| of.share.requests).sum::<u64>(), lookups);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_is_lost_and_nothing_is_chance(lines in lines(), fleet in fleets()) {
        let trace = trace(&borrowed(&lines));
        let mut contenders: Vec<_> = Routing::ALL.iter().map(|routing| contender(*routing)).collect();
        contenders.push(under("floors", "minimumMatchedTokens: 513, routingFloorScore: \"0\", evictionTTL: 5s"));
        let result = all(&trace, &fleet, &contenders);
        prop_assert_eq!(&result, &all(&trace, &fleet, &contenders));
        let asked = lines.iter().map(|line| line.1).sum();
        let marks = result.reachable;
        prop_assert!(marks.pooled_tokens <= marks.ideal_tokens);
        for run in &result.runs {
            check_run(run, asked, lines.len() as u64, fleet.warmup)?;
            prop_assert!(run.total.found_tokens <= marks.ideal_tokens);
            if fleet.replicas == 1 {
                prop_assert_eq!(run.total.found_tokens, marks.pooled_tokens);
            }
            if let Some(index) = run.index {
                let most = (fleet.replicas * fleet.blocks_per_replica) as u64;
                prop_assert!(fleet.event_delay_ns > 0 || index.entries_at_end <= most);
            }
        }
    }

    #[test]
    fn marks_are_what_the_ids_say(lines in lines(), replicas in 1_usize..4, blocks in 1_usize..6) {
        let marks = all(&trace(&borrowed(&lines)), &settings(replicas, blocks), &[]).reachable;
        let mut seen: HashSet<&[u32]> = HashSet::new();
        let mut pool: Vec<&[u32]> = Vec::new();
        let (mut ideal, mut ideal_blocks, mut pooled) = (0, 0, 0);
        for line in &lines {
            let full = full(line);
            let known = (1..=line.2.len()).take_while(|len| seen.contains(&line.2[..*len])).count();
            ideal_blocks += known as u64;
            ideal += known.min(full.len()) as u64 * 512;
            seen.extend((1..=line.2.len()).map(|len| &line.2[..len]));
            pooled += full.iter().take_while(|block| pool.contains(block)).count() as u64 * 512;
            let kept = &full[..full.len().min(replicas * blocks)];
            pool.retain(|block| !kept.contains(block));
            pool.extend(kept.iter().rev());
            let over = pool.len().saturating_sub(replicas * blocks);
            pool.drain(..over);
        }
        prop_assert_eq!((marks.ideal_tokens, marks.ideal_blocks, marks.pooled_tokens), (ideal, ideal_blocks, pooled));
        prop_assert_eq!(marks.asked_blocks, lines.iter().map(|line| line.2.len() as u64).sum::<u64>());
    }
}

#[test]
fn a_seed_moves_the_random_routing_only() {
    let lines: Vec<Owned> = (0..50).map(|at| (at * 100, 512, vec![at as u32 % 7])).collect();
    let trace = trace(&borrowed(&lines));
    for routing in Routing::ALL {
        let run = |seed| one(&trace, &Settings { seed, ..settings(4, 4) }, contender(*routing));
        assert_eq!(run(1), run(1));
        assert_eq!(run(1) != run(2), *routing == Routing::Random, "{}", routing.name());
    }
}

#[test]
fn every_line_of_a_random_trace_is_read() {
    let lines = [(0, 512, vec![4_294_967_295]), (1, 1, vec![0])];
    assert_eq!(super::read(&text(&borrowed(&lines))).unwrap().requests().len(), 2);
}
