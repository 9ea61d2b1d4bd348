//! The geometry of a plot, which the template draws.
//!
//! Positions across are in percent of the frame and positions down in pixels, so that a plot fills whatever width there is
//! while its text and its hatching keep their size. Lines lie in a frame of their own that is stretched, with strokes that
//! are not.

use std::fmt::Write as _;

use serde::Serialize;

use super::axis::{Tick, days, elapsed, elapsed_ticks, time_ticks, value_scale};
use super::limits::{MAX_COLUMNS, MAX_LINE_POINTS, MAX_SERIES, clipped};
use super::plot::{Form, Merge, Plot, Series, Unit, X};
use super::table::{Grid, Table};
use super::thin::{factor, kept};
use crate::model::Timestamp;
use crate::render::text::{grouped, real};

/// Pixels from the top of a frame to its bottom.
const HEIGHT: f64 = 220.0;

/// A plot as the template takes it.
#[derive(Debug, Serialize)]
pub(super) struct Drawing {
    id: usize,
    title: String,
    description: String,
    unit: String,
    caption: String,
    is_stacked: bool,
    height: f64,
    x_ticks: Vec<Mark>,
    y_ticks: Vec<Mark>,
    layers: Vec<Layer>,
    spots: Vec<Spot>,
    numbers: Grid,
    note: String,
    is_empty: bool,
}

#[derive(Debug, Serialize)]
struct Mark {
    at: String,
    label: String,
    anchor: &'static str,
    is_odd: bool,
}

#[derive(Debug, Serialize)]
struct Layer {
    at: usize,
    name: String,
    path: String,
    columns: Vec<Column>,
}

#[derive(Debug, Serialize)]
struct Column {
    x: String,
    width: String,
    y: String,
    height: String,
}

/// What a pointer is told that rests on a stretch of the plot.
#[derive(Debug, Serialize)]
struct Spot {
    x: String,
    width: String,
    text: String,
}

impl Plot {
    /// Edges of the positions across, from 0 to 1: one more than there are positions for columns.
    fn edges(&self) -> Vec<f64> {
        let count = self.x.len();
        let seconds: Vec<f64> = match (&self.x, self.form) {
            (X::Names(_), _) => return (0..=count).map(|at| at as f64 / count.max(1) as f64).collect(),
            (X::Times(times), _) => {
                let first = times.first().copied().unwrap_or_default();
                times.iter().map(|at| first.age_ns(*at) as f64 / 1e9).collect()
            }
            (X::Seconds(seconds), _) => seconds.clone(),
        };
        let first = seconds.first().copied().unwrap_or_default();
        let last = seconds.last().copied().unwrap_or_default();
        let before = seconds.len().checked_sub(2).and_then(|at| seconds.get(at)).map(|at| last - at);
        let end = match self.form {
            Form::Lines => last,
            Form::Stacked(_) => last + self.end.or(before).filter(|width| *width > 0.0).unwrap_or(1.0),
        };
        let span = if end > first { end - first } else { 1.0 };
        let mut edges: Vec<f64> = seconds.iter().map(|at| ((at - first) / span).clamp(0.0, 1.0)).collect();
        edges.push(((end - first) / span).clamp(0.0, 1.0));
        edges
    }

    pub(super) fn draw(&self, id: usize) -> Drawing {
        let edges = self.edges();
        let count = self.x.len();
        let shown = self.shown_series();
        let (layers, positions, top, step) = match self.form {
            Form::Lines => self.draw_lines(&shown, &edges),
            Form::Stacked(merge) => self.draw_stack(&shown, &edges, merge),
        };
        let is_empty = count == 0 || shown.is_empty();
        Drawing {
            id,
            title: self.title.clone(),
            description: self.description.clone(),
            unit: self.unit_name(),
            caption: self.caption(),
            is_stacked: matches!(self.form, Form::Stacked(_)),
            height: HEIGHT,
            x_ticks: if is_empty { Vec::new() } else { self.x_marks(&edges) },
            y_ticks: self.y_marks(top, step),
            spots: self.spots(&shown, &edges, &positions),
            numbers: self.numbers(&shown, &positions),
            note: self.note(&positions),
            layers,
            is_empty,
        }
    }

    /// The series that are shown, the last of a stack being what is left over.
    fn shown_series(&self) -> Vec<Series> {
        let count = self.x.len();
        let mut shown: Vec<Series> = self.series.iter().take(MAX_SERIES).cloned().collect();
        if matches!(self.form, Form::Stacked(_)) && self.series.len() > MAX_SERIES {
            let rest = &self.series[MAX_SERIES - 1..];
            let value =
                |at: usize| rest.iter().filter_map(|series| series.values.get(at).copied().flatten()).sum();
            shown[MAX_SERIES - 1] = Series::new("other", (0..count).map(value));
        }
        for series in &mut shown {
            series.values.resize(count, None);
        }
        shown
    }

    fn draw_lines(&self, shown: &[Series], edges: &[f64]) -> (Vec<Layer>, Vec<(usize, usize)>, f64, f64) {
        let known = shown.iter().flat_map(|series| series.values.iter().flatten());
        let (top, step) = self.scale(known.fold(0.0, |most: f64, value| most.max(*value)));
        let layers = shown.iter().enumerate().map(|(at, series)| {
            let mut path = String::new();
            let mut is_begun = false;
            for point in kept(&series.values, MAX_LINE_POINTS) {
                let Some(value) = series.values[point] else {
                    is_begun = false;
                    continue;
                };
                let x = match &self.x {
                    X::Names(_) => (edges[point] + edges[point + 1]) / 2.0,
                    _ => edges[point],
                };
                let y = HEIGHT * (1.0 - (value / top).clamp(0.0, 1.0));
                // A point of its own is a stroke of no length, which a round cap makes a dot.
                let form = if is_begun { "L" } else { "M" };
                let tail = if is_begun { "" } else { "h0" };
                let _ = write!(path, "{form}{} {}{tail}", short(x * 1_000.0), short(y));
                is_begun = true;
            }
            Layer { at, name: series.name.clone(), path, columns: Vec::new() }
        });
        let size = factor(self.x.len(), MAX_COLUMNS);
        (layers.collect(), groups(self.x.len(), size), top, step)
    }

    fn draw_stack(
        &self,
        shown: &[Series],
        edges: &[f64],
        merge: Merge,
    ) -> (Vec<Layer>, Vec<(usize, usize)>, f64, f64) {
        let positions = groups(self.x.len(), factor(self.x.len(), MAX_COLUMNS));
        let value =
            |series: &Series, range: (usize, usize)| merged(&series.values, range, merge).unwrap_or(0.0);
        let total =
            |range: &(usize, usize)| shown.iter().map(|series| value(series, *range).max(0.0)).sum::<f64>();
        let (top, step) = self.scale(positions.iter().map(total).fold(0.0, f64::max));
        let mut floors = vec![0.0; positions.len()];
        let mut layers = Vec::new();
        for (at, series) in shown.iter().enumerate() {
            let mut columns = Vec::new();
            for (range, floor) in positions.iter().zip(&mut floors) {
                let value = value(series, *range).max(0.0);
                if value == 0.0 {
                    continue;
                }
                let (left, right) = (edges[range.0], edges[range.1]);
                let gap = if matches!(self.x, X::Names(_)) { (right - left) * 0.15 } else { 0.0 };
                let high = HEIGHT * (value / top).min(1.0);
                columns.push(Column {
                    x: percent(left + gap),
                    width: percent(right - left - 2.0 * gap),
                    y: short(HEIGHT - *floor - high),
                    height: short(high),
                });
                *floor += high;
            }
            layers.push(Layer { at, name: series.name.clone(), path: String::new(), columns });
        }
        (layers, positions, top, step)
    }

    fn scale(&self, most: f64) -> (f64, f64) {
        match self.unit {
            Unit::Share if most > 0.5 && most <= 1.0 => (1.0, 0.25),
            Unit::Count(_) => value_scale(most, 1.0),
            _ => value_scale(most, 0.0),
        }
    }

    fn y_marks(&self, top: f64, step: f64) -> Vec<Mark> {
        let steps = (top / step).round() as usize;
        let mark = |number: usize| {
            let value = number as f64 * step;
            Mark {
                at: short(HEIGHT * (1.0 - value / top)),
                label: self.written(value, true),
                anchor: "end",
                is_odd: false,
            }
        };
        (0..=steps.min(20)).map(mark).collect()
    }

    fn x_marks(&self, edges: &[f64]) -> Vec<Mark> {
        let ticks = match &self.x {
            X::Names(names) => {
                let middle = |at: usize| (edges[at] + edges[at + 1]) / 2.0;
                let every = factor(names.len(), 12);
                let shown = names.iter().enumerate().step_by(every);
                shown.map(|(at, name)| Tick { at: middle(at), label: clipped(name) }).collect()
            }
            X::Times(times) => {
                let (first, end) = self.ends(times.first().copied(), times.last().copied());
                time_ticks(first, end)
            }
            X::Seconds(seconds) => {
                let first = seconds.first().copied().unwrap_or_default();
                elapsed_ticks(first, seconds.last().copied().unwrap_or(first) + self.tail())
            }
        };
        let is_name = matches!(self.x, X::Names(_));
        let mark = |(number, tick): (usize, Tick)| Mark {
            anchor: match tick.at {
                at if !is_name && at < 0.04 => "start",
                at if !is_name && at > 0.96 => "end",
                _ => "middle",
            },
            at: percent(tick.at),
            label: tick.label,
            is_odd: number % 2 == 1,
        };
        ticks.into_iter().enumerate().map(mark).collect()
    }

    /// Seconds that the last column reaches beyond its beginning.
    fn tail(&self) -> f64 {
        let before = match &self.x {
            X::Seconds(at) if at.len() > 1 => at[at.len() - 1] - at[at.len() - 2],
            X::Times(at) if at.len() > 1 => at[at.len() - 2].age_ns(at[at.len() - 1]) as f64 / 1e9,
            _ => 1.0,
        };
        match self.form {
            Form::Lines => 0.0,
            Form::Stacked(_) => {
                self.end.filter(|end| *end > 0.0).unwrap_or(if before > 0.0 { before } else { 1.0 })
            }
        }
    }

    fn ends(&self, first: Option<Timestamp>, last: Option<Timestamp>) -> (Timestamp, Timestamp) {
        let first = first.unwrap_or_default();
        let last = last.unwrap_or(first);
        (first, last.plus_ns((self.tail() * 1e9) as i64))
    }

    fn caption(&self) -> String {
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

    fn unit_name(&self) -> String {
        match self.unit {
            Unit::Count(what) | Unit::Other(what) => what.to_owned(),
            Unit::Share => "percent".to_owned(),
            Unit::Micros | Unit::Seconds => "time".to_owned(),
        }
    }

    /// A value with its unit; short on an axis.
    fn written(&self, value: f64, is_axis: bool) -> String {
        match self.unit {
            Unit::Share => format!("{} %", real((value * 1_000.0).round() / 10.0)),
            Unit::Micros => elapsed(value / 1e6),
            Unit::Seconds => elapsed(value),
            Unit::Count(_) | Unit::Other(_) if is_axis => compact(value),
            Unit::Count(_) => grouped(value.round() as i64),
            Unit::Other(_) => real(value),
        }
    }

    fn spots(&self, shown: &[Series], edges: &[f64], positions: &[(usize, usize)]) -> Vec<Spot> {
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

    fn numbers(&self, shown: &[Series], positions: &[(usize, usize)]) -> Grid {
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

    fn note(&self, positions: &[(usize, usize)]) -> String {
        let hidden = match self.form {
            Form::Lines => self.series.len().saturating_sub(MAX_SERIES),
            Form::Stacked(_) => 0,
        };
        let mut notes = Vec::new();
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

/// Ranges of `size` neighbours.
fn groups(count: usize, size: usize) -> Vec<(usize, usize)> {
    (0..count).step_by(size).map(|start| (start, (start + size).min(count))).collect()
}

fn merged(values: &[Option<f64>], range: (usize, usize), merge: Merge) -> Option<f64> {
    let known: Vec<f64> = values.get(range.0..range.1)?.iter().flatten().copied().collect();
    let sum: f64 = known.iter().sum();
    match (known.len(), merge) {
        (0, _) => None,
        (_, Merge::Sum) => Some(sum),
        (count, Merge::Mean) => Some(sum / count as f64),
    }
}

/// A number to two places, without zeros at its end.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn percent(part: f64) -> String {
    let text = format!("{:.3}", part.clamp(0.0, 1.0) * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
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
