//! The distribution of latencies in plain characters.

use super::super::text::{grouped, real};
use crate::bench::Tally;

/// Bars of a plot.
const BARS: usize = 14;
/// Columns of the longest bar at most.
const MAX_BAR: usize = 60;

/// One bar for each range of latencies, ranges in equal ratios; no line is longer than `width`.
pub(super) fn plot(tally: &Tally, width: usize) -> Vec<String> {
    let distribution = tally.distribution(BARS);
    let most = distribution.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let bounds: Vec<String> = distribution.iter().map(|(us, _)| real(*us)).collect();
    let counts: Vec<String> =
        distribution.iter().map(|(_, count)| grouped(i64::try_from(*count).unwrap_or(i64::MAX))).collect();
    let columns = |texts: &[String]| texts.iter().map(String::len).max().unwrap_or(0);
    let (bound, number) = (columns(&bounds), columns(&counts));
    let taken = "  up to ".len() + bound + " us ".len() + number + "  ".len();
    let bar = width.saturating_sub(taken).clamp(1, MAX_BAR);
    let lines = distribution.iter().zip(bounds.iter().zip(&counts)).map(|((_, count), (us, shown))| {
        let length = (*count as f64 / most as f64 * bar as f64).round() as usize;
        // What is rare is seen all the same.
        let length = length.max(usize::from(*count > 0));
        format!("  up to {us:>bound$} us {shown:>number$}  {}", "#".repeat(length)).trim_end().to_owned()
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::bench::{Kind, Verdict};

    #[test]
    fn bars_stand_for_counts_and_fit_the_screen() {
        let mut tally = Tally::default();
        let mut add = |us, count| {
            for _ in 0..count {
                tally.answer(Kind::Full, "PREFIX_MATCH", true, Verdict::Right, Duration::from_micros(us));
            }
        };
        add(100, 3_000);
        add(800, 1_500);
        add(50_000, 1);
        for width in [40, 80, 120] {
            let lines = plot(&tally, width);
            assert_eq!(lines.len(), BARS);
            let bars: Vec<usize> = lines.iter().map(|line| line.matches('#').count()).collect();
            let drawn: Vec<usize> = bars.iter().copied().filter(|bar| *bar > 0).collect();
            assert_eq!(drawn.len(), 3, "{lines:#?}");
            assert_eq!((drawn[1], drawn[2]), (drawn[0].div_ceil(2), 1), "{lines:#?}");
            assert!(lines.iter().all(|line| line.len() <= width && line.is_ascii()), "{lines:#?}");
        }
        assert!(plot(&Tally::default(), 80).is_empty());
    }
}
