//! A frame as lines, for the screen and for scripts alike.

use crate::model::format_duration;
use crate::render::printer::Look;
use crate::render::table::Grid;
use crate::render::text::{Tone, clean, count_of, grouped, real, wrap};
use crate::top::{LATENCY_SHARES, Lookups, Policies, ReplicaRow, View};

/// One line, all of it in one tone.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Line {
    pub tone: Option<Tone>,
    pub text: String,
}

/// Columns before what a line says.
const LABEL: usize = 10;

/// A replica not heard of for longer is shown as worth a look, in nanoseconds.
const SILENT_AFTER_NS: i64 = 30_000_000_000;

/// A cache that is this full is shown as worth a look.
const FULL: f32 = 0.9;

/// Cells of a bar.
const BAR: usize = 10;

/// Narrower screens show no bars.
const BAR_WIDTH: usize = 76;

/// The frame in the columns of `look`, without colours.
pub(super) fn lines(view: &View, look: Look) -> Vec<Line> {
    let look = Look { color: false, ..look };
    let mut lines = Vec::new();
    let version =
        view.server_version.as_ref().map(|version| format!("  icache {version}")).unwrap_or_default();
    let time = jiff::Timestamp::from_second(view.at.as_ns() / 1_000_000_000).unwrap_or_default();
    push(&mut lines, look, Some(Tone::Strong), &format!("{}{version}  {time}", view.url));
    for (source, why) in &view.away {
        push(&mut lines, look, Some(Tone::Bad), &format!("no answer from {source}: {why}"));
    }
    if let Some(lookups) = &view.lookups {
        push(&mut lines, look, None, &summary(lookups));
    }
    if let Some(index) = view.index {
        let mib = index.memory_bytes as f64 / f64::from(1 << 20);
        let (keys, entries) = (count_of(index.keys, "prefix"), count_of(index.entries, "entry"));
        push(&mut lines, look, None, &format!("{:<LABEL$}{keys}, {entries}, {} MiB", "index", real(mib)));
    }
    if let Some(policies) = &view.policies {
        let tone = policies.failed.as_ref().map(|_| Tone::Bad);
        push(&mut lines, look, tone, &format!("{:<LABEL$}{}", "policies", told(policies)));
    }
    if let Some(lookups) = view.lookups.as_ref().filter(|lookups| lookups.total > 0) {
        lines.push(Line { tone: None, text: String::new() });
        codes(&mut lines, look, lookups);
    }
    if let Some(replicas) = &view.replicas {
        lines.push(Line { tone: None, text: String::new() });
        table(&mut lines, look, replicas);
    }
    lines
}

fn push(lines: &mut Vec<Line>, look: Look, tone: Option<Tone>, text: &str) {
    lines.extend(wrap(&clean(text), look.width, LABEL).into_iter().map(|text| Line { tone, text }));
}

fn summary(lookups: &Lookups) -> String {
    let rate = lookups.per_second.map(|rate| format!(", {}/s", real(rate))).unwrap_or_default();
    let hints =
        lookups.hint_share.map(|share| format!("   hints {:.1} %", 100.0 * share)).unwrap_or_default();
    let latency: Vec<String> = LATENCY_SHARES
        .iter()
        .zip(&lookups.latency)
        .map(|((name, _), bound)| format!("{name} {}", at_most(*bound)))
        .collect();
    let latency =
        if latency.is_empty() { String::new() } else { format!("   latency {}", latency.join(", ")) };
    let total = grouped(i64::try_from(lookups.total).unwrap_or(i64::MAX));
    format!("{:<LABEL$}{total}{rate}{hints}{latency}", "lookups")
}

/// Buckets say no more than how long it took at most.
fn at_most(bound: f64) -> String {
    match bound.is_finite() {
        true => format!("<= {}", format_duration((bound * 1e9).round() as i64)),
        false => "> 100ms".to_owned(),
    }
}

fn told(policies: &Policies) -> String {
    const SHOWN: usize = 5;
    let names = &policies.namespaces;
    let more = names.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let own = match names.as_slice() {
        [] => "defaults for every tenant".to_owned(),
        names => format!("of {}{rest}", names[..names.len().min(SHOWN)].join(", ")),
    };
    let inert =
        if policies.inert > 0 { format!("; {} without effect", policies.inert) } else { String::new() };
    let failed = policies.failed.as_ref().map(|why| format!("; files not valid, last good set kept: {why}"));
    format!("{own}{inert}{}", failed.unwrap_or_default())
}

/// The lines of a table; the tone of each row comes from `tones`, and headings are strong.
fn tabled(lines: &mut Vec<Line>, grid: &Grid, tones: &[Option<Tone>]) {
    let made = grid.lines();
    // Rows can take several lines; where they do, tones would stand on the wrong ones.
    let is_flat = made.len() == tones.len() + 2;
    for (at, text) in made.into_iter().enumerate() {
        let tone = match at {
            0 => Some(Tone::Strong),
            1 => Some(Tone::Faint),
            at if is_flat => tones[at - 2],
            _ => None,
        };
        lines.push(Line { tone, text });
    }
}

fn codes(lines: &mut Vec<Line>, look: Look, lookups: &Lookups) {
    let mut grid = Grid::new(look, with_bar(look, &["reason code", ">lookups", ">per second", ">share", ""]));
    for row in &lookups.by_code {
        let code = if row.code.is_empty() { "(no answer)" } else { &row.code };
        let (total, share) = (i64::try_from(row.total).unwrap_or(i64::MAX), row.share);
        let rate = row.per_second.map_or_else(|| "-".to_owned(), real);
        let cells: [&str; 5] = [
            code,
            &grouped(total),
            &rate,
            &format!("{:.1} %", 100.0 * share),
            &bar(share as f32, look.unicode),
        ];
        grid.row(with_bar(look, &cells));
    }
    tabled(lines, &grid, &vec![None; lookups.by_code.len()]);
}

/// The cells of a row whose last one is a bar, which narrow screens have no place for.
fn with_bar<'a, 'b>(look: Look, cells: &'a [&'b str]) -> &'a [&'b str] {
    let shown = if look.width < BAR_WIDTH { cells.len() - 1 } else { cells.len() };
    &cells[..shown]
}

fn table(lines: &mut Vec<Line>, look: Look, replicas: &[ReplicaRow]) {
    if replicas.is_empty() {
        push(lines, look, Some(Tone::Warning), "no replica has reported anything");
        return;
    }
    let headings = ["-replica", "tenant", ">heard of", ">prefixes", ">hit rate", ">pressure", ""];
    let mut grid = Grid::new(look, with_bar(look, &headings));
    let mut tones = Vec::new();
    let share =
        |share: Option<f32>| share.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    for row in replicas {
        let heard = row.age.age_ns.map_or_else(
            || "-".to_owned(),
            |age| format!("{} ago", format_duration(age / 1_000_000_000 * 1_000_000_000)),
        );
        let prefixes = grouped(i64::try_from(row.age.prefixes).unwrap_or(i64::MAX));
        let pressed = row.pressure.map(|pressure| bar(pressure, look.unicode)).unwrap_or_default();
        let (hits, pressure) = (share(row.hit_rate), share(row.pressure));
        let cells: [&str; 7] =
            [&row.age.replica, &row.age.tenant, &heard, &prefixes, &hits, &pressure, &pressed];
        grid.row(with_bar(look, &cells));
        let is_silent = row.age.age_ns.is_some_and(|age| age > SILENT_AFTER_NS);
        let is_full = row.pressure.is_some_and(|pressure| pressure >= FULL);
        tones.push(if is_silent { Some(Tone::Bad) } else { is_full.then_some(Tone::Warning) });
    }
    tabled(lines, &grid, &tones);
}

/// A share of a bar's cells; more than nothing is never shown as nothing.
fn bar(share: f32, unicode: bool) -> String {
    let (full, empty) = if unicode { ("█", "░") } else { ("#", ".") };
    let cells = (share.clamp(0.0, 1.0) * BAR as f32).round() as usize;
    let cells = if share > 0.0 { cells.max(1) } else { 0 };
    full.repeat(cells) + &empty.repeat(BAR - cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_shares() {
        for (share, shown) in [
            (0.0, ".........."),
            (0.001, "#........."),
            (0.5, "#####....."),
            (1.0, "##########"),
            (7.0, "##########"),
        ] {
            assert_eq!(bar(share, false), shown);
        }
    }

    #[test]
    fn a_bucket_says_at_most() {
        assert_eq!(at_most(0.00025), "<= 250us");
        assert_eq!(at_most(f64::INFINITY), "> 100ms");
    }
}
