//! Ticks of axes: round numbers, round times.

use crate::model::Timestamp;

/// A tick: how far along the axis, 0 to 1, and what stands there.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// Steps between ticks of a time axis, in microseconds.
const STEPS_US: [i64; 30] = [
    1,
    10,
    100,
    1_000,
    5_000,
    10_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    15_000_000,
    30_000_000,
    60_000_000,
    120_000_000,
    300_000_000,
    600_000_000,
    900_000_000,
    1_800_000_000,
    3_600_000_000,
    7_200_000_000,
    10_800_000_000,
    21_600_000_000,
    43_200_000_000,
    86_400_000_000,
    604_800_000_000,
    2_592_000_000_000,
];

/// Intervals of an axis at most.
const INTERVALS: i64 = 5;

/// The top of a value axis that holds `most`, and its step: 1, 2 or 5 times a power of ten.
pub(super) fn value_scale(most: f64, least_step: f64) -> (f64, f64) {
    if !most.is_finite() || most <= 0.0 {
        return (1.0_f64.max(least_step), 1.0_f64.max(least_step));
    }
    let raw = most / INTERVALS as f64;
    let power = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|part| part * power).find(|step| *step >= raw * 0.999);
    let step = step.unwrap_or(10.0 * power).max(least_step);
    ((most / step).ceil() * step, step)
}

/// The top of an axis of seconds that holds `most`, and its step: round times.
pub(super) fn seconds_scale(most: f64) -> (f64, f64) {
    // Below a second, and beyond what an integer of microseconds holds, times are numbers as others are.
    if !(1.0..=3e12).contains(&most) {
        return value_scale(most, 0.0);
    }
    let step = step_for((most * 1e6) as i64) as f64 / 1e6;
    ((most / step).ceil() * step, step)
}

/// Marks of a logarithmic axis of seconds.
const LOG_SECONDS: [f64; 13] =
    [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 60.0, 600.0, 3_600.0, 36_000.0, 864_000.0];

/// The marks of a logarithmic axis that holds all from `least` to `most`, two at least.
pub(super) fn log_seconds(least: f64, most: f64) -> &'static [f64] {
    let last = LOG_SECONDS.len() - 1;
    let above = LOG_SECONDS.iter().position(|mark| *mark >= most).unwrap_or(last).max(1);
    let below = LOG_SECONDS.iter().rposition(|mark| *mark <= least).unwrap_or(0).min(above - 1);
    &LOG_SECONDS[below..=above]
}

/// Round times between two points in time, written in UTC.
pub(super) fn time_ticks(from: Timestamp, to: Timestamp) -> Vec<Tick> {
    let (from, to) = (from.as_us(), to.as_us());
    let span = to.saturating_sub(from).max(1);
    let step = step_for(span);
    let mut ticks = Vec::new();
    let mut at = from.div_euclid(step).saturating_mul(step);
    while at <= to && ticks.len() <= 2 * INTERVALS as usize {
        if at >= from {
            ticks.push(Tick { at: (at - from) as f64 / span as f64, label: clock(at, step) });
        }
        let Some(next) = at.checked_add(step) else { break };
        at = next;
    }
    ticks
}

fn step_for(span_us: i64) -> i64 {
    let fits = STEPS_US.into_iter().find(|step| span_us / step <= INTERVALS);
    fits.unwrap_or_else(|| (span_us / INTERVALS).max(1))
}

fn clock(us: i64, step: i64) -> String {
    let Ok(time) = jiff::Timestamp::from_microsecond(us) else { return String::new() };
    let format = match step {
        86_400_000_000.. => "%m-%d",
        60_000_000.. => "%H:%M",
        1_000_000.. => "%H:%M:%S",
        1_000.. => "%H:%M:%S%.3f",
        _ => "%H:%M:%S%.6f",
    };
    time.strftime(format).to_string()
}

/// The days that a time axis covers, for its caption.
pub(super) fn days(from: Timestamp, to: Timestamp) -> String {
    let day = |at: Timestamp| {
        jiff::Timestamp::from_microsecond(at.as_us())
            .map(|time| time.strftime("%Y-%m-%d").to_string())
            .unwrap_or_default()
    };
    let (first, last) = (day(from), day(to));
    if first == last { format!("time of day, {first} UTC") } else { format!("time, {first} to {last} UTC") }
}

/// Round spans since the start.
pub(super) fn elapsed_ticks(from: f64, to: f64) -> Vec<Tick> {
    let span = to - from;
    if !span.is_finite() || span <= 0.0 {
        return vec![Tick { at: 0.0, label: elapsed(from) }];
    }
    // A year of microseconds is far below what an integer holds.
    let step = step_for((span.min(3e12) * 1e6) as i64) as f64 / 1e6;
    let first = (from / step).ceil() as i64;
    let last = ((to / step).floor() as i64).min(first.saturating_add(2 * INTERVALS));
    (first..=last)
        .map(|number| {
            let at = number as f64 * step;
            Tick { at: (at - from) / span, label: elapsed(at) }
        })
        .collect()
}

/// Seconds since the start in the unit that fits.
pub(super) fn elapsed(seconds: f64) -> String {
    let number = crate::render::text::real;
    match seconds.abs() {
        0.0 => "0".to_owned(),
        s if s < 0.001 => format!("{} µs", number(seconds * 1e6)),
        s if s < 1.0 => format!("{} ms", number(seconds * 1e3)),
        s if s < 120.0 => format!("{} s", number(seconds)),
        s if s < 7_200.0 => format!("{} min", number(seconds / 60.0)),
        s if s < 172_800.0 => format!("{} h", number(seconds / 3_600.0)),
        _ => format!("{} d", number(seconds / 86_400.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_round_ticks_that_hold_them() {
        for (most, top, step) in [
            (100.0, 100.0, 20.0),
            (6_000.0, 6_000.0, 2_000.0),
            (1.0, 1.0, 0.2),
            (0.93, 1.0, 0.2),
            (7.0, 8.0, 2.0),
            (0.0, 1.0, 1.0),
            (f64::NAN, 1.0, 1.0),
        ] {
            assert_eq!(value_scale(most, 0.0), (top, step), "{most}");
        }
        assert_eq!(value_scale(2.0, 1.0), (2.0, 1.0), "counts have no halves");
    }

    #[test]
    fn seconds_have_round_ticks_that_hold_them() {
        for (most, top, step) in [
            (0.5, 0.5, 0.1),
            (1.0, 1.0, 0.2),
            (7.0, 8.0, 2.0),
            (100.0, 120.0, 30.0),
            (4_000.0, 4_500.0, 900.0),
            (8_000.0, 9_000.0, 1_800.0),
            (0.0, 1.0, 1.0),
        ] {
            assert_eq!(seconds_scale(most), (top, step), "{most}");
        }
        assert_eq!(log_seconds(0.3, 4_000.0), [0.1, 1.0, 10.0, 60.0, 600.0, 3_600.0, 36_000.0]);
        assert_eq!(log_seconds(1.0, 1.0), [0.1, 1.0]);
        assert_eq!(log_seconds(1e-9, 1e-9), [1e-6, 1e-5]);
        assert_eq!(log_seconds(1e9, 1e9), [36_000.0, 864_000.0]);
    }

    #[test]
    fn times_have_round_ticks() {
        let at = |s: f64| Timestamp::from_us((s * 1e6) as i64);
        let labels = |from: f64, to: f64| {
            let ticks = time_ticks(at(from), at(to));
            ticks.into_iter().map(|tick| tick.label).collect::<Vec<_>>()
        };
        let start = 1_754_611_200.0;
        assert_eq!(labels(start, start + 283.0), ["00:00", "00:01", "00:02", "00:03", "00:04"]);
        assert_eq!(labels(start + 1.0, start + 4.5), ["00:00:01", "00:00:02", "00:00:03", "00:00:04"]);
        assert_eq!(labels(start, start), ["00:00:00.000000"]);
        assert!(labels(0.0, 9e12).len() <= 11);
        assert_eq!(days(at(start), at(start + 5.0)), "time of day, 2025-08-08 UTC");
    }

    #[test]
    fn spans_have_round_ticks() {
        let labels = |from: f64, to: f64| {
            elapsed_ticks(from, to).into_iter().map(|tick| tick.label).collect::<Vec<_>>()
        };
        assert_eq!(labels(0.0, 3_600.0), ["0", "15 min", "30 min", "45 min", "60 min"]);
        assert_eq!(labels(0.0, 4.0), ["0", "1 s", "2 s", "3 s", "4 s"]);
        assert_eq!(labels(5.0, 5.0), ["5 s"]);
        assert!(labels(0.0, 1e18).len() <= 11);
    }
}
