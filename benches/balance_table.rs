//! The tables of docs/balance.md: every kind of traffic under the four routings, and which goals are reached.
//!
//! `cargo bench --bench balance_table -- --seed 11` takes some minutes and prints them as they stand there. `--only TEXT`
//! takes the rows that contain it, `--requests N` makes the synthetic traces shorter.

#![allow(clippy::print_stdout, reason = "tables for a document")]

use std::fs::File;
use std::io::BufReader;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use icache::simulate::{
    Contender, Publish, Reachable, Routing, Run, Scenario, Settings, Trace, TraceOptions, Workload, simulate,
};

const ROUTINGS: [Routing; 4] =
    [Routing::RoundRobin, Routing::LeastLoaded, Routing::Reference, Routing::Balanced];
const CONVERSATION: &str = "testdata/traces/conversation_trace.jsonl";
const WARMUP: u64 = 400;

/// What one line of a table stands for.
#[derive(Clone, Debug)]
struct Row {
    part: Part,
    traffic: Option<Workload>,
    engines: usize,
    utilisation: Option<u32>,
    warmup: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// One server, engines alike.
    Main,
    /// The conversation trace on its own clock.
    OwnClock,
    /// Four servers that each see a quarter of the hints.
    FourServers,
    /// Every other engine is three times as fast.
    Speeds,
}

impl Row {
    fn traffic(&self) -> &'static str {
        self.traffic.map_or("conversation", Workload::name)
    }

    fn name(&self) -> String {
        let start = if self.warmup > 0 { "warm" } else { "cold" };
        let clock = self.utilisation.map_or("own clock".to_owned(), |percent| format!("{percent} %"));
        format!("{} | {} | {clock} | {start}", self.traffic(), self.engines)
    }

    fn settings(&self, seed: u64) -> Settings {
        let servers = if self.part == Part::FourServers { 4 } else { 1 };
        Settings {
            replicas: self.engines,
            blocks_per_replica: 10_000,
            prefill_rate: 10_000,
            publish: Publish::End,
            event_delay_ns: if self.traffic == Some(Workload::Burst) { 1_000_000_000 } else { 0 },
            refresh_ns: 600_000_000_000,
            warmup: self.warmup,
            seed,
            tenant: "default".to_owned(),
            scenario: Scenario {
                utilisation: self.utilisation,
                gateways: servers,
                servers,
                prefill_rates: if self.part == Part::Speeds { vec![10_000, 30_000] } else { Vec::new() },
                ..Scenario::default()
            },
        }
    }
}

fn rows() -> Vec<Row> {
    let traffics = || std::iter::once(None).chain(Workload::ALL.iter().copied().map(Some));
    let mut rows = Vec::new();
    let mut add = |part, traffic, engines, utilisation, warmup| {
        rows.push(Row { part, traffic, engines, utilisation, warmup });
    };
    for engines in [8, 16] {
        for traffic in traffics() {
            for percent in [30, 60, 85] {
                [0, WARMUP]
                    .iter()
                    .for_each(|warmup| add(Part::Main, traffic, engines, Some(percent), *warmup));
            }
        }
    }
    // The last is warm only as far as the goal for a cold start asks.
    [0, WARMUP, 200].iter().for_each(|warmup| add(Part::OwnClock, None, 8, None, *warmup));
    for part in [Part::FourServers, Part::Speeds] {
        for traffic in traffics() {
            [30, 60, 85].iter().for_each(|percent| add(part, traffic, 8, Some(*percent), WARMUP));
        }
    }
    rows
}

fn mean_s(run: &Run) -> f64 {
    run.ttft.mean_ns() / 1e9
}

fn found(run: &Run) -> f64 {
    run.total.found_tokens as f64 / run.total.asked_tokens.max(1) as f64
}

/// The most of the slow and of the fast engines over the other, of what `of` says of each on average.
fn uneven(run: &Run, of: impl Fn(&icache::simulate::Load) -> f64) -> f64 {
    let sum = |first: usize| run.engines.iter().skip(first).step_by(2).map(&of).sum::<f64>();
    let (slow, fast) = (sum(0), sum(1));
    slow.max(fast) / slow.min(fast).max(1e-9)
}

/// The runs of a row, and what a cache of all engines' memory would reach.
type Figures = (Vec<Run>, Reachable);

fn result(row: &Row, trace: &Trace, seed: u64) -> Figures {
    let contenders = ROUTINGS.map(|routing| Contender { routing, policy: None });
    let result = simulate(row.traffic(), trace, &row.settings(seed), &contenders, &mut |_| {});
    (result.runs, result.reachable)
}

fn option(name: &str) -> Option<String> {
    let mut args = std::env::args().skip_while(|arg| arg != name);
    args.nth(1)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seed = option("--seed").map_or(Ok(11), |text| text.parse())?;
    let requests = option("--requests").map_or(Ok(6_000), |text| text.parse())?;
    let only = option("--only").unwrap_or_default();
    let rows: Vec<Row> = rows()
        .into_iter()
        .filter(|row| format!("{row:?}").contains(&only) || row.name().contains(&only))
        .collect();
    let file = BufReader::new(File::open(CONVERSATION)?);
    let conversation = Trace::read(CONVERSATION, file, TraceOptions::default())?;
    let made: Vec<Trace> = Workload::ALL.iter().map(|workload| workload.trace(requests, seed)).collect();
    let trace_of = |row: &Row| match row.traffic {
        Some(traffic) => {
            let at = Workload::ALL.iter().position(|workload| *workload == traffic).unwrap_or_default();
            &made[at]
        }
        None => &conversation,
    };
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Figures>>> = Mutex::new(rows.iter().map(|_| None).collect());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(row) = rows.get(at)
                {
                    let of_row = result(row, trace_of(row), seed);
                    done.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(of_row);
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let done: Vec<(Row, Vec<Run>, Reachable)> = rows
        .into_iter()
        .zip(done)
        .filter_map(|(row, of_row)| of_row.map(|(runs, reachable)| (row, runs, reachable)))
        .collect();
    print_tables(&done);
    print_goals(&done);
    Ok(())
}

fn print_tables(done: &[(Row, Vec<Run>, Reachable)]) {
    for (part, title, last) in [
        (Part::Main, "Share found, spread, mean time to first token", ""),
        (Part::OwnClock, "The conversation trace on its own clock", ""),
        (Part::FourServers, "Four servers that each see a quarter of the hints", ""),
        (
            Part::Speeds,
            "Every other engine three times as fast; last, balanced: fast to slow, time busy and tokens computed",
            " busy, tokens |",
        ),
    ] {
        println!("\n{title}:\n");
        println!(
            "| traffic | engines | utilisation | start | round-robin | least-loaded | reference | balanced |{last}"
        );
        println!("|---|---|---|---|---|---|---|---|{}", if last.is_empty() { "" } else { "---|" });
        for (row, runs, _) in done.iter().filter(|(row, ..)| row.part == part) {
            let cells: Vec<String> = runs
                .iter()
                .map(|run| format!("{:.3}, {:.2}, {:.2} s", found(run), run.spread(), mean_s(run)))
                .collect();
            print!("| {} | {} |", row.name(), cells.join(" | "));
            if part == Part::Speeds {
                let busy = uneven(&runs[3], |engine| engine.busy_ns as f64);
                let tokens = uneven(&runs[3], |engine| engine.share.prefilled_tokens() as f64);
                print!(" {busy:.2}, {tokens:.2} |");
            }
            println!();
        }
    }
}

fn print_goals(done: &[(Row, Vec<Run>, Reachable)]) {
    println!("\nGoals:\n");
    let main: Vec<_> = done.iter().filter(|(row, ..)| row.part == Part::Main).collect();
    let best = |runs: &[Run]| runs[..3].iter().map(mean_s).fold(f64::INFINITY, f64::min);
    let verdict = |title: &str, all: usize, missed: Vec<String>| {
        println!("{title}: in {} of {all} rows; not {}", all - missed.len(), missed.join("; "));
    };
    let late = main.iter().filter(|(_, runs, _)| mean_s(&runs[3]) > 1.05 * best(runs));
    let late = late.map(|(row, runs, _)| format!("{}: {:.3} x", row.name(), mean_s(&runs[3]) / best(runs)));
    verdict("mean at most 1.05 x the best of the others", main.len(), late.collect());
    let busy: Vec<_> = main.iter().filter(|(row, ..)| row.utilisation >= Some(60)).collect();
    let uneven = busy.iter().filter(|(_, runs, _)| runs[3].spread() > 1.1);
    let uneven = uneven.map(|(row, runs, _)| format!("{}: {:.2}", row.name(), runs[3].spread()));
    verdict("spread at most 1.1 at 60 % and above", busy.len(), uneven.collect());
    let four: Vec<_> = done.iter().filter(|(row, ..)| row.part == Part::FourServers).collect();
    let worse = four.iter().filter(|(_, runs, _)| mean_s(&runs[3]) > mean_s(&runs[0]));
    verdict(
        "four servers no worse than round-robin",
        four.len(),
        worse.map(|(row, ..)| row.name()).collect(),
    );
    let own = |warmup| done.iter().find(|(row, ..)| row.part == Part::OwnClock && row.warmup == warmup);
    if let (Some((_, cold, _)), Some((_, warm, reachable)), Some((_, warm_200, _))) =
        (own(0), own(WARMUP), own(200))
    {
        let (balanced, reference) = (mean_s(&warm[3]), mean_s(&warm[2]));
        println!("conversation, mean: {balanced:.2} s of {reference:.2} s: {:.2} x", balanced / reference);
        let pooled = reachable.pooled_tokens as f64 / reachable.asked_tokens.max(1) as f64;
        println!(
            "conversation, found: {:.3} of {pooled:.3}: {:.2} x",
            found(&warm[3]),
            found(&warm[3]) / pooled
        );
        let (cold, warm_200) = (mean_s(&cold[3]), mean_s(&warm_200[3]));
        println!(
            "conversation, cold start: {cold:.2} s, {warm_200:.2} s after 200 requests: {:.2} x",
            cold / warm_200
        );
    }
}
