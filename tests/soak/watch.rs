//! A scrape every second, and what is to be seen in them.

use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval};

use super::load::Fleet;
use super::process::Process;
use super::server_support::{http_get, value_of};

/// Time between two rows of the table.
const ROW_EVERY: Duration = Duration::from_secs(120);
/// Shorter than this nothing is warm, and growth is not judged.
const WARM: Duration = Duration::from_secs(120);
/// What the process may need more than it did once warm: a share, and MiB.
const GROWTH: f64 = 1.05;
const GROWTH_MIB: f64 = 8.0;

/// What is looked at of a scrape.
type Measure = fn(&Seen) -> f64;

/// One scrape.
#[derive(Clone, Debug)]
struct Seen {
    at: Duration,
    resident_mib: f64,
    index_mib: f64,
    entries: f64,
    files: f64,
    threads: f64,
    lookups: f64,
    blocks: f64,
    evicted: f64,
    saves: f64,
    lines: usize,
    /// What must not happen: savings that failed, drops, answers without a reason, calls refused.
    faults: f64,
}

impl Seen {
    fn of(at: Duration, page: &str) -> Self {
        let value = |series: &str| value_of(page, series).unwrap_or_else(|| panic!("no {series}"));
        let sum = |name: &str| -> f64 {
            let of_name = |line: &&str| line.starts_with(name) && line[name.len()..].starts_with(['{', ' ']);
            page.lines()
                .filter(of_name)
                .map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap())
                .sum()
        };
        const MIB: f64 = (1 << 20) as f64;
        let faults = [
            "inferencecache_ingest_dropped_total",
            "inferencecache_state_save_failures_total",
            "inferencecache_shed_total",
            "inferencecache_over_limit_total",
            "inferencecache_message_too_large_total",
            "inferencecache_connections_refused_total",
        ];
        let unanswered = page.lines().filter(|line| line.contains("reason_code=\"\"")).count();
        Self {
            at,
            resident_mib: value("process_resident_memory_bytes") / MIB,
            index_mib: value("inferencecache_index_memory_bytes") / MIB,
            entries: value("inferencecache_index_replica_entries"),
            files: value("process_open_fds"),
            threads: value("process_threads"),
            lookups: sum("inferencecache_lookup_route_calls_total"),
            blocks: value("inferencecache_ingest_blocks_total"),
            evicted: sum("inferencecache_index_evictions_total"),
            saves: value("inferencecache_state_save_duration_seconds_count"),
            lines: page.lines().count(),
            faults: faults.iter().map(|name| sum(name)).sum::<f64>() + unanswered as f64,
        }
    }

    fn row(&self) -> String {
        format!(
            "| {} | {:.1} | {:.1} | {} | {} | {} | {} | {} | {} | {} | {} |",
            self.at.as_secs() / 60,
            self.resident_mib,
            self.index_mib,
            self.entries,
            self.evicted,
            self.lookups,
            self.blocks,
            self.saves,
            self.files,
            self.lines,
            self.faults
        )
    }
}

/// All scrapes.
pub struct Watch(Vec<Seen>);

impl Watch {
    /// Scrapes every second for so long.
    pub async fn over(server: &Process, fleet: &mut Fleet, length: Duration) -> Self {
        let begun = Instant::now();
        let mut seen: Vec<Seen> = Vec::new();
        let mut ticks = interval(Duration::from_secs(1));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        eprintln!(
            "| min | resident MiB | index MiB | entries | evicted | lookups | blocks | saved | files | lines of /metrics | faults |"
        );
        eprintln!("|---|---|---|---|---|---|---|---|---|---|---|");
        let mut next_row = Duration::ZERO;
        while begun.elapsed() <= length {
            ticks.tick().await;
            fleet.check();
            let (status, page) = http_get(server.http_addr, "/metrics").await;
            assert_eq!(status, 200);
            let now = Seen::of(begun.elapsed(), &page);
            if now.at >= next_row {
                eprintln!("{}", now.row());
                next_row += ROW_EVERY;
            }
            seen.push(now);
        }
        if let Some(last) = seen.last() {
            eprintln!("{}", last.row());
        }
        Self(seen)
    }

    /// No fault in any scrape; and the last quarter needs no more than the second did.
    pub fn judge(&self, length: Duration) {
        let last = self.0.last().expect("it was scraped");
        assert_eq!(last.faults, 0.0, "{last:?}");
        assert!(last.entries > 0.0 && last.lookups > 0.0 && last.blocks > 0.0, "{last:?}");
        if length < WARM {
            return;
        }
        let most = |from: u32, to: u32, of: Measure| {
            let quarter = |seen: &&Seen| seen.at >= length * from / 4 && seen.at < length * to / 4;
            self.0.iter().filter(quarter).map(of).fold(0.0, f64::max)
        };
        let judged: [(&str, Measure, f64); 5] = [
            ("MiB of the process", |seen| seen.resident_mib, GROWTH_MIB),
            ("MiB of the index", |seen| seen.index_mib, 1.0),
            ("open files", |seen| seen.files, 4.0),
            ("threads", |seen| seen.threads, 2.0),
            ("lines of the metrics page", |seen| seen.lines as f64, 0.0),
        ];
        for (what, of, slack) in judged {
            let (warm, late) = (most(1, 2, of), most(3, 4, of));
            assert!(late <= warm * GROWTH + slack, "{what} grew from {warm} to {late}");
        }
        assert!(last.saves > 0.0, "{last:?}");
    }
}
