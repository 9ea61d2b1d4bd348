//! docs/operations.md: the names in it exist, and its figures follow from the measured ones.

use icache::server::METRICS;

use crate::{promql, text};

const GUIDE: &str = "docs/operations.md";

/// The number behind `mark` in the guide, whose digits are grouped by commas.
fn number(mark: &str) -> u64 {
    let guide = text(GUIDE);
    let rest = guide.split_once(mark).unwrap_or_else(|| panic!("{GUIDE} says `{mark}`")).1;
    let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == ',').collect();
    digits.replace(',', "").parse().unwrap_or_else(|_| panic!("a number follows `{mark}`"))
}

/// Bytes to reckon with for each replica entry.
pub fn bytes_an_entry() -> u64 {
    number("reckon with **")
}

/// Bytes of the process beside its index.
pub fn beside_the_index() -> u64 {
    number("index add **") << 20
}

/// The largest figures of docs/performance.md: bytes for each entry, as measured and where neighbours share nothing.
fn measured() -> u64 {
    let page = text("docs/performance.md");
    let table = page.split_once("| bytes an entry |").expect("performance.md has the table").1;
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let figures = rows.filter_map(|row| row.split('|').nth(2)?.trim().parse::<f64>().ok());
    let largest = figures.fold(0.0, f64::max);
    let (before, _) = page.split_once(" bytes.\n\nAround a million").expect("performance.md has the dearest");
    let dearest: u64 = before.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a number");
    assert!(largest > 0.0, "rows give bytes");
    dearest.max(largest.ceil() as u64)
}

#[test]
fn sizes_follow_from_what_was_measured() {
    assert!(bytes_an_entry() >= measured(), "an entry was measured at {} bytes", measured());
    let guide = text(GUIDE);
    let table = guide.split_once("| replica entries |").expect("the guide has the table").1;
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() >= 3);
    let plain = |cell: &str| cell.replace(',', "");
    for row in rows {
        let entries: u64 = plain(row[0]).parse().unwrap();
        let index = (entries * bytes_an_entry()).div_ceil(1 << 20);
        let all = index + (beside_the_index() >> 20);
        assert_eq!(
            (plain(row[1]), plain(row[2])),
            (format!("{index} MiB"), format!("{all} MiB")),
            "{entries}"
        );
    }
}

#[test]
fn metrics_that_documents_name_exist() {
    let mut seen = 0;
    for path in crate::files("docs", ".md") {
        let page = text(&path);
        for (at, prefix) in page.match_indices("inferencecache_") {
            let rest = &page[at + prefix.len()..];
            let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len());
            let name = &page[at..at + prefix.len() + end];
            if rest[end..].starts_with(['{', '`', ' ', ',', '.', ')']) {
                seen += 1;
                assert!(promql::is_metric(name), "{path}: there is no metric `{name}`");
            }
        }
    }
    assert!(seen > METRICS.len(), "the table of all and more: {seen}");
}
