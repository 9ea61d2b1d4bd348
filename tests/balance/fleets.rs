//! Fleets of the simulation, small enough for a test: what each goal comes to in kind, if not in size.

use icache::simulate::{
    Contender, Fault, FaultKind, Publish, Routing, Run, Scenario, Settings, Workload, simulate,
};

fn settings(scenario: Scenario) -> Settings {
    Settings {
        replicas: 8,
        blocks_per_replica: 4_000,
        prefill_rate: 10_000,
        publish: Publish::End,
        event_delay_ns: 0,
        refresh_ns: 600_000_000_000,
        warmup: 0,
        seed: 0,
        tenant: "default".to_owned(),
        scenario,
    }
}

fn runs(workload: Workload, requests: usize, settings: &Settings, routings: &[Routing]) -> Vec<Run> {
    let trace = workload.trace(requests, 5);
    let contenders: Vec<Contender> =
        routings.iter().map(|routing| Contender { routing: *routing, policy: None }).collect();
    simulate(workload.name(), &trace, settings, &contenders, &mut |_| {}).runs
}

fn mean(run: &Run) -> f64 {
    run.ttft.mean_ns() / 1e9
}

fn at(percent: u32) -> Scenario {
    Scenario { utilisation: Some(percent), ..Scenario::default() }
}

#[test]
fn a_cold_fleet_fills_evenly_where_the_reference_collapses() {
    let settings = Settings { publish: Publish::Start, ..settings(at(60)) };
    let runs = runs(Workload::Diffuse, 800, &settings, &[Routing::Reference, Routing::Balanced]);
    assert!(runs[0].spread() > 4.0, "the reference: {}", runs[0].spread());
    assert!(runs[1].spread() < 1.5, "balanced: {}", runs[1].spread());
}

#[test]
fn one_hot_prefix_is_spread_and_still_found() {
    let routings = [Routing::Balanced, Routing::LeastLoaded, Routing::RoundRobin];
    let runs = runs(Workload::HotPrefix, 1_200, &settings(at(60)), &routings);
    assert!(
        mean(&runs[0]) < mean(&runs[1]).min(mean(&runs[2])),
        "{:?}",
        runs.iter().map(mean).collect::<Vec<_>>()
    );
    assert!(runs[0].total.found_tokens * 10 > runs[1].total.found_tokens * 12);
    assert!(runs[0].spread() < 1.5, "{}", runs[0].spread());
}

#[test]
fn a_burst_is_one_prefill_even_where_events_are_late() {
    let settings = Settings { event_delay_ns: 1_000_000_000, ..settings(at(60)) };
    let runs = runs(Workload::Burst, 1_200, &settings, &[Routing::Balanced, Routing::LeastLoaded]);
    assert!(mean(&runs[0]) < mean(&runs[1]), "{} {}", mean(&runs[0]), mean(&runs[1]));
    assert!(runs[0].total.found_tokens > runs[1].total.found_tokens);
}

#[test]
fn engines_of_different_speed_wait_alike() {
    let scenario = Scenario { prefill_rates: vec![10_000, 30_000], ..at(60) };
    let runs =
        runs(Workload::Diffuse, 1_500, &settings(scenario), &[Routing::Balanced, Routing::LeastLoaded]);
    let tokens = |run: &Run, first: usize| -> u64 {
        run.engines.iter().skip(first).step_by(2).map(|engine| engine.share.prefilled_tokens()).sum()
    };
    let ratio = tokens(&runs[0], 1) as f64 / tokens(&runs[0], 0) as f64;
    assert!(ratio > 2.0, "the fast ones compute {ratio} times as much");
    assert!(mean(&runs[0]) < mean(&runs[1]), "{} {}", mean(&runs[0]), mean(&runs[1]));
}

#[test]
fn four_servers_that_see_a_quarter_each_are_no_worse_than_round_robin() {
    for workload in Workload::ALL {
        let scenario = Scenario { gateways: 4, servers: 4, ..at(60) };
        let runs = runs(*workload, 1_200, &settings(scenario), &[Routing::Balanced, Routing::RoundRobin]);
        assert!(
            mean(&runs[0]) <= mean(&runs[1]),
            "{}: {} {}",
            workload.name(),
            mean(&runs[0]),
            mean(&runs[1])
        );
    }
}

#[test]
fn a_dead_engine_gets_no_hint_after_the_timeout_and_work_again_after_its_return() {
    let second = 1_000_000_000;
    let fault = |at_s: i64, kind| Fault { replica: 3, at_ns: at_s * second, kind };
    let faults = vec![fault(30, FaultKind::Kill), fault(90, FaultKind::Restart)];
    let scenario = Scenario { faults, replica_timeout_ns: 15 * second, ..Scenario::default() };
    let runs = runs(Workload::Diffuse, 1_500, &settings(scenario), &[Routing::Balanced, Routing::RoundRobin]);
    let [balanced, blind] = &runs[..] else { panic!("two runs") };
    assert_eq!((balanced.total.requests, balanced.lost), (1_500, 0), "every request is served in the end");
    // Ten requests a second, an eighth of them to each engine: for 15 s and the sign of life before, not for 60 s.
    assert!((10..=40).contains(&balanced.retried), "{}", balanced.retried);
    assert!(blind.retried > 60, "{}", blind.retried);
    let computed = |from_s: i64, until_s: i64| -> u64 {
        let inside = |window: &&icache::simulate::Window| {
            (from_s * second..until_s * second).contains(&window.from_ns)
        };
        balanced.windows.iter().filter(inside).map(|window| window.prefilled_tokens[3]).sum()
    };
    assert_eq!(computed(50, 88), 0);
    assert!(computed(90, 96) > 0, "it is used within five seconds of its return");
}

#[test]
fn requests_are_lost_only_where_no_engine_is_left() {
    let faults = vec![Fault { replica: 0, at_ns: 20_000_000_000, kind: FaultKind::Kill }];
    let settings = Settings { replicas: 1, ..settings(Scenario { faults, ..Scenario::default() }) };
    let runs = runs(Workload::Diffuse, 500, &settings, &[Routing::RoundRobin]);
    assert!(runs[0].lost > 0);
    assert_eq!(runs[0].total.requests + runs[0].lost, 500);
}
