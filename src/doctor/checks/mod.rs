//! The checks, each a function from what was answered to what is to be said about it.

pub(super) mod connection;
pub(super) mod hints;
pub(super) mod limits;
pub(super) mod lookups;
pub(super) mod policies;
pub(super) mod reports;

use super::registry::Found;
use crate::telemetry::Page;

/// Names that one finding lists at most.
const LISTED: usize = 5;

/// One finding, where there is something to say.
fn one(message: String, advice: &str) -> Found {
    vec![(message, advice.to_owned())]
}

/// A counter of the page, 0 where it is missing.
fn count(page: &Page, name: &str) -> u64 {
    page.sum(name).unwrap_or_default().max(0.0) as u64
}

/// `5 lookups`, `1 lookup`.
fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The names in backticks, the first few of them.
fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(LISTED);
    let shown: Vec<String> = names.take(LISTED).map(|name| format!("`{name}`")).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}
