//! One command, one table: the index and the fastest complete peer on the same workload, in the same run.
//!
//! `cargo run --release` measures lookups, ingest and memory; `-- --only lookup,beside,ingest,memory,removal,growth,churn`,
//! `--blocks 64,512`, `--entries 1000000`, `--runs 5` and `--rounds 30` (of churn) choose. Growth and churn are taken in
//! the first run only.

mod counting;
mod fleet;
mod growth;
mod measure;
mod ours;
mod peer;
mod removal;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// What is measured.
struct Choice {
    only: Vec<String>,
    blocks: Vec<usize>,
    entries: Vec<usize>,
    runs: usize,
    rounds: u64,
}

impl Choice {
    fn from_arguments() -> Result<Self, String> {
        let mut choice = Self {
            only: ["lookup", "beside", "ingest", "memory"].map(str::to_owned).to_vec(),
            blocks: vec![64, 512, 4_096],
            entries: vec![1_000_000, 5_000_000],
            runs: 1,
            rounds: 30,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or(format!("`{name}` needs a value"))?;
            let numbers = || -> Result<Vec<usize>, String> {
                let list =
                    value.split(',').map(|part| part.parse().map_err(|_| format!("`{part}` is no number")));
                list.collect()
            };
            match name.as_str() {
                "--only" => choice.only = value.split(',').map(str::to_owned).collect(),
                "--blocks" => choice.blocks = numbers()?,
                "--entries" => choice.entries = numbers()?,
                "--runs" => choice.runs = numbers()?.into_iter().next().unwrap_or(1),
                "--rounds" => choice.rounds = numbers()?.into_iter().next().unwrap_or(1) as u64,
                _ => return Err(format!("`{name}` is no option")),
            }
        }
        Ok(choice)
    }

    fn has(&self, part: &str) -> bool {
        self.only.iter().any(|only| only == part)
    }
}

fn main() {
    let choice = match Choice::from_arguments() {
        Ok(choice) => choice,
        Err(problem) => {
            eprintln!("{problem}");
            std::process::exit(2);
        }
    };
    println!("| what | icache | peer | ratio |\n|---|---|---|---|");
    for run in 0..choice.runs {
        if choice.runs > 1 {
            println!("| run {} | | | |", run + 1);
        }
        if choice.has("memory") {
            measure::memory();
        }
        if choice.has("ingest") {
            measure::ingest();
        }
        if choice.has("lookup") || choice.has("beside") {
            for entries in &choice.entries {
                for blocks in &choice.blocks {
                    measure::lookups(*blocks, *entries, choice.has("lookup"), choice.has("beside"));
                }
            }
        }
        if choice.has("removal") {
            removal::removals();
        }
        // Once is enough of what takes minutes.
        if run == 0 && choice.has("growth") {
            growth::growth();
        }
        if run == 0 && choice.has("churn") {
            growth::churn(choice.rounds);
        }
    }
}
