//! Plots: what is to be shown.

use super::axis::elapsed;
use super::limits::clipped;
use crate::model::Timestamp;

/// What values are, and how they are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Whole things, named in the plural.
    Count(&'static str),
    /// Parts of 1, written as percent; the axis ends at 100 % where more than half is reached.
    Share,
    /// Microseconds.
    Micros,
    /// Seconds.
    Seconds,
    /// Anything else, named with its unit.
    Other(&'static str),
}

/// What becomes of stacked columns that are merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Merge {
    /// They are added: counts of a stretch of time.
    #[default]
    Sum,
    /// Their mean stands for them: levels and shares.
    Mean,
}

/// What lies across. Of times and seconds the values must not go back.
#[derive(Clone, PartialEq, Debug)]
pub enum X {
    /// Points in time; of columns, where each begins.
    Times(Vec<Timestamp>),
    /// Seconds since some start.
    Seconds(Vec<f64>),
    /// Names, each with a column of its own.
    Names(Vec<String>),
}

impl X {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Times(at) => at.len(),
            Self::Seconds(at) => at.len(),
            Self::Names(names) => names.len(),
        }
    }

    pub(super) fn label(&self, at: usize) -> String {
        match self {
            Self::Times(times) => times.get(at).map_or_else(String::new, |at| {
                jiff::Timestamp::from_microsecond(at.as_us()).map(|time| time.to_string()).unwrap_or_default()
            }),
            Self::Seconds(seconds) => seconds.get(at).map_or_else(String::new, |at| elapsed(*at)),
            Self::Names(names) => names.get(at).map_or_else(String::new, |name| clipped(name)),
        }
    }
}

/// One line, or one layer of a stack.
#[derive(Clone, Debug)]
pub struct Series {
    pub(super) name: String,
    pub(super) values: Vec<Option<f64>>,
}

impl Series {
    /// A value for each position across.
    pub fn new(name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        Self::with_gaps(name, values.into_iter().map(Some))
    }

    /// The same where some are not known: a line breaks off there. Values that are no number count as not known.
    pub fn with_gaps(name: &str, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let values = values.into_iter().map(|value| value.filter(|value| value.is_finite()));
        Self { name: clipped(name), values: values.collect() }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Lines,
    Stacked(Merge),
}

/// How many times higher a line is than another that it presses flat.
const APART: f64 = 10.0;

/// A plot under construction.
#[derive(Clone, Debug)]
pub struct Plot {
    pub(super) form: Form,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) unit: Unit,
    pub(super) x: X,
    pub(super) end: Option<f64>,
    pub(super) is_log: bool,
    pub(super) series: Vec<Series>,
}

impl Plot {
    /// Lines over time or names: levels, shares, durations.
    pub fn lines(title: &str, description: &str, unit: Unit) -> Self {
        Self::new(Form::Lines, title, description, unit)
    }

    /// Columns made of layers, the first at the bottom: counts of each stretch of time or name.
    pub fn stacked(title: &str, description: &str, unit: Unit, merge: Merge) -> Self {
        Self::new(Form::Stacked(merge), title, description, unit)
    }

    fn new(form: Form, title: &str, description: &str, unit: Unit) -> Self {
        Self {
            form,
            title: clipped(title),
            description: clipped(description),
            unit,
            x: X::Names(Vec::new()),
            end: None,
            is_log: false,
            series: Vec::new(),
        }
    }

    /// What lies across.
    pub fn x(mut self, x: X) -> Self {
        self.x = x;
        self
    }

    /// How long the stretches over time are, in seconds: so wide are the columns of a stack, and the points of a line lie
    /// in the middle. Without it, each column reaches to the next and the last is as wide as the one before, and points
    /// lie at their own times.
    pub fn column_width(mut self, seconds: f64) -> Self {
        self.end = Some(seconds.max(0.0));
        self
    }

    /// Where one line of seconds is ten times as high as another or more, draws them on a logarithmic axis: on an even one
    /// the highest would press all others flat. To be called when all are there.
    pub fn log_where_apart(mut self) -> Self {
        let highest = self
            .series
            .iter()
            .map(|series| series.values.iter().flatten().fold(0.0, |most: f64, value| most.max(*value)));
        let highest: Vec<f64> = highest.filter(|most| *most > 0.0).collect();
        let most = highest.iter().copied().fold(0.0, f64::max);
        self.is_log = self.unit == Unit::Seconds
            && self.form == Form::Lines
            && highest.iter().any(|least| most >= APART * least);
        self
    }

    /// Adds a series. Beyond [`super::MAX_SERIES`], a stack merges the last ones into `other`, and lines are left out.
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }
}
