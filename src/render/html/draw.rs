//! The geometry of a plot, which the template draws.
//!
//! Positions across are in percent of the frame and positions down in pixels, so that a plot fills whatever width there is
//! while its text and its hatching keep their size. Lines lie in a frame of their own that is stretched, with strokes that
//! are not.

use std::fmt::Write as _;

use serde::Serialize;

use super::axis::{Tick, elapsed_ticks, log_seconds, seconds_scale, time_ticks, value_scale};
use super::limits::{MAX_COLUMNS, MAX_LINE_POINTS, MAX_SERIES, clipped};
use super::plot::{Form, Merge, Plot, Series, Unit, X};
use super::table::Grid;
use super::thin::{factor, kept};
use super::words::{Spot, merged};
use crate::model::Timestamp;

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
    /// Points without neighbours.
    dots: String,
    columns: Vec<Column>,
}

#[derive(Debug, Serialize)]
struct Column {
    x: String,
    width: String,
    y: String,
    height: String,
}

/// How values become heights.
enum Scale {
    Even {
        top: f64,
        step: f64,
    },
    /// By their logarithms, between these marks.
    Log(&'static [f64]),
}

impl Scale {
    /// How high a value stands, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        match self {
            Self::Even { top, .. } => (value / top).clamp(0.0, 1.0),
            Self::Log([least, .., most]) if value > *least => {
                ((value / least).ln() / (most / least).ln()).clamp(0.0, 1.0)
            }
            Self::Log(_) => 0.0,
        }
    }

    fn marks(&self) -> Vec<f64> {
        match self {
            Self::Even { top, step } => {
                let steps = (top / step).round() as usize;
                (0..=steps.min(20)).map(|number| number as f64 * step).collect()
            }
            Self::Log(marks) => marks.to_vec(),
        }
    }
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
            Form::Lines => last + self.end.unwrap_or(0.0),
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
        let (layers, positions, scale) = match self.form {
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
            y_ticks: self.y_marks(&scale),
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

    fn draw_lines(&self, shown: &[Series], edges: &[f64]) -> (Vec<Layer>, Vec<(usize, usize)>, Scale) {
        let known = || shown.iter().flat_map(|series| series.values.iter().flatten().copied());
        let most = known().fold(0.0, f64::max);
        let scale = match self.is_log {
            true => {
                let least = known().filter(|value| *value > 0.0).fold(most, f64::min);
                Scale::Log(log_seconds(least, most))
            }
            false => self.scale(most),
        };
        let layers = shown.iter().enumerate().map(|(at, series)| {
            let (path, dots) = self.draw_line(series, edges, &scale);
            Layer { at, name: series.name.clone(), path, dots, columns: Vec::new() }
        });
        let layers = layers.collect();
        (layers, groups(self.x.len(), factor(self.x.len(), MAX_COLUMNS)), scale)
    }

    /// The path of a line, and that of its points without neighbours.
    fn draw_line(&self, series: &Series, edges: &[f64], scale: &Scale) -> (String, String) {
        let (mut path, mut dots) = (String::new(), String::new());
        // A point of a stretch stands in its middle.
        let is_wide = self.end.is_some() || matches!(self.x, X::Names(_));
        let points = kept(&series.values, MAX_LINE_POINTS);
        for run in points.split(|point| series.values[*point].is_none()) {
            for (number, point) in run.iter().enumerate() {
                let middle = (edges[*point] + edges[*point + 1]) / 2.0;
                let x = short(if is_wide { middle } else { edges[*point] } * 1_000.0);
                let value = series.values[*point].unwrap_or(0.0);
                let y = short(HEIGHT * (1.0 - scale.part(value)));
                // Writing to a string cannot fail. A stroke of no length is a dot, since its caps are round.
                let _ = match (run.len(), number) {
                    (1, _) => write!(dots, "M{x} {y}h0"),
                    (_, 0) => write!(path, "M{x} {y}"),
                    _ => write!(path, "L{x} {y}"),
                };
            }
        }
        (path, dots)
    }

    fn draw_stack(
        &self,
        shown: &[Series],
        edges: &[f64],
        merge: Merge,
    ) -> (Vec<Layer>, Vec<(usize, usize)>, Scale) {
        let positions = groups(self.x.len(), factor(self.x.len(), MAX_COLUMNS));
        let value =
            |series: &Series, range: (usize, usize)| merged(&series.values, range, merge).unwrap_or(0.0);
        let total =
            |range: &(usize, usize)| shown.iter().map(|series| value(series, *range).max(0.0)).sum::<f64>();
        let scale = self.scale(positions.iter().map(total).fold(0.0, f64::max));
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
                let high = HEIGHT * scale.part(value);
                columns.push(Column {
                    x: percent(left + gap),
                    width: percent(right - left - 2.0 * gap),
                    y: short(HEIGHT - *floor - high),
                    height: short(high),
                });
                *floor += high;
            }
            layers.push(Layer {
                at,
                name: series.name.clone(),
                path: String::new(),
                dots: String::new(),
                columns,
            });
        }
        (layers, positions, scale)
    }

    fn scale(&self, most: f64) -> Scale {
        let (top, step) = match self.unit {
            Unit::Share if most <= 0.0 || (most > 0.5 && most <= 1.0) => (1.0, 0.25),
            Unit::Count(_) => value_scale(most, 1.0),
            Unit::Seconds => seconds_scale(most),
            _ => value_scale(most, 0.0),
        };
        Scale::Even { top, step }
    }

    fn y_marks(&self, scale: &Scale) -> Vec<Mark> {
        let mark = |value: f64| Mark {
            at: short(HEIGHT * (1.0 - scale.part(value))),
            label: self.written(value, true),
            anchor: "end",
            is_odd: false,
        };
        scale.marks().into_iter().map(mark).collect()
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
            // Times with fractions of a second need the room of four others.
            is_odd: number % if tick.label.len() > 8 && !is_name { 4 } else { 2 } != 0,
            label: tick.label,
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
            Form::Lines => self.end.unwrap_or(0.0),
            Form::Stacked(_) => {
                self.end.filter(|end| *end > 0.0).unwrap_or(if before > 0.0 { before } else { 1.0 })
            }
        }
    }

    pub(super) fn ends(&self, first: Option<Timestamp>, last: Option<Timestamp>) -> (Timestamp, Timestamp) {
        let first = first.unwrap_or_default();
        let last = last.unwrap_or(first);
        (first, last.plus_ns((self.tail() * 1e9) as i64))
    }
}

/// Ranges of `size` neighbours.
fn groups(count: usize, size: usize) -> Vec<(usize, usize)> {
    (0..count).step_by(size).map(|start| (start, (start + size).min(count))).collect()
}

/// A number to two places, without zeros at its end.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

pub(super) fn percent(part: f64) -> String {
    let text = format!("{:.3}", part.clamp(0.0, 1.0) * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}
