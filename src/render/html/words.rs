//! What a plot says in words: its axes, what a pointer is told, and its numbers as a table.

use std::fmt::Write as _;

use serde::Serialize;

use super::axis::{days, elapsed};
use super::draw::percent;
use super::limits::{MAX_COLUMNS, MAX_SERIES};
use super::plot::{Form, Merge, Plot, Series, Unit, X};
use super::table::{Grid, Table};
use super::thin::factor;
use crate::render::text::{grouped, real};

/// What a pointer is told that rests on a stretch of the plot.
#[derive(Debug, Serialize)]
pub(super) struct Spot {
    x: String,
    width: String,
    text: String,
}

impl Plot {
    pub(super) fn caption(&self) -> String {
        let axis = match &self.x {
            X::Times(times) => {
                let (first, end) = self.ends(times.first().copied(), times.last().copied());
                days(first, end)
            }
            X::Seconds(_) => "time since the start".to_owned(),
            X::Names(_) => return String::new(),
        };
        match self.end {
            Some(width) if matches!(self.form, Form::Stacked(_)) => {
                let merged = factor(self.x.len(), MAX_COLUMNS) as f64;
                format!("{axis}; a column is {}", elapsed(width * merged))
            }
            _ => axis,
        }
    }

    pub(super) fn unit_name(&self) -> String {
        match self.unit {
            Unit::Count(what) | Unit::Other(what) => what.to_owned(),
            // Their labels say it.
            Unit::Share | Unit::Micros | Unit::Seconds => String::new(),
        }
    }

    /// A value with its unit; short on an axis.
    pub(super) fn written(&self, value: f64, is_axis: bool) -> String {
        match self.unit {
            Unit::Share => format!("{} %", real((value * 1_000.0).round() / 10.0)),
            Unit::Micros => elapsed(value / 1e6),
            Unit::Seconds => elapsed(value),
            Unit::Count(_) | Unit::Other(_) if is_axis => compact(value),
            Unit::Count(_) => grouped(value.round() as i64),
            Unit::Other(_) => real(value),
        }
    }

    pub(super) fn spots(&self, shown: &[Series], edges: &[f64], positions: &[(usize, usize)]) -> Vec<Spot> {
        let spot = |range: &(usize, usize)| {
            let (left, right) = match self.form {
                Form::Stacked(_) => (edges[range.0], edges[range.1]),
                Form::Lines => (edges[range.0], edges[range.1.min(edges.len() - 1)]),
            };
            let mut text = self.x.label(range.0);
            for series in shown {
                if let Some(value) = self.value_of(series, *range) {
                    let _ = write!(text, "\n{}: {}", series.name, self.written(value, false));
                }
            }
            Spot { x: percent(left), width: percent(right - left), text }
        };
        positions.iter().map(spot).collect()
    }

    fn value_of(&self, series: &Series, range: (usize, usize)) -> Option<f64> {
        match self.form {
            Form::Stacked(merge) => merged(&series.values, range, merge),
            Form::Lines => merged(&series.values, range, Merge::Mean),
        }
    }

    pub(super) fn numbers(&self, shown: &[Series], positions: &[(usize, usize)]) -> Grid {
        let across = match self.x {
            X::Times(_) | X::Seconds(_) => "from",
            X::Names(_) => "",
        };
        let headings: Vec<String> = std::iter::once(across.to_owned())
            .chain(shown.iter().map(|series| format!(">{}", series.name)))
            .collect();
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let mut table = Table::new(&format!("{}, in numbers", self.title), &headings);
        for range in positions {
            let cells = shown.iter().map(|series| {
                self.value_of(series, *range).map_or_else(String::new, |value| self.written(value, false))
            });
            table.row(std::iter::once(self.x.label(range.0)).chain(cells));
        }
        table.shown()
    }

    pub(super) fn note(&self, positions: &[(usize, usize)]) -> String {
        let hidden = match self.form {
            Form::Lines => self.series.len().saturating_sub(MAX_SERIES),
            Form::Stacked(_) => 0,
        };
        let mut notes = Vec::new();
        if self.is_log {
            notes.push("The axis is logarithmic.".to_owned());
        }
        if hidden > 0 {
            notes.push(format!("{hidden} more series are left out."));
        }
        let size = positions.first().map_or(1, |range| range.1 - range.0);
        if size > 1 && self.end.is_none() {
            notes.push(match self.form {
                Form::Lines => format!("The table has the mean of each {size} points."),
                Form::Stacked(_) => format!("Each column stands for {size} intervals."),
            });
        }
        notes.join(" ")
    }
}

/// One value for a range of neighbours; `None` where none is known.
pub(super) fn merged(values: &[Option<f64>], range: (usize, usize), merge: Merge) -> Option<f64> {
    let known: Vec<f64> = values.get(range.0..range.1)?.iter().flatten().copied().collect();
    let sum: f64 = known.iter().sum();
    match (known.len(), merge) {
        (0, _) => None,
        (_, Merge::Sum) => Some(sum),
        (count, Merge::Mean) => Some(sum / count as f64),
    }
}

/// A number for an axis: `950`, `12k`, `3.5M`.
fn compact(value: f64) -> String {
    for (size, suffix) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if value.abs() >= size * 9.999_5 || (value.abs() >= size && size > 1e3) {
            return format!("{}{suffix}", real(value / size));
        }
    }
    if value.fract() == 0.0 { grouped(value as i64) } else { real(value) }
}
