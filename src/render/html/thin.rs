//! Fewer points where there are more than a screen shows.

/// Positions of a line's points that stay: all of them up to `most`, else the first, the last, and of each stretch the
/// least and the greatest, so that no peak is lost.
pub(super) fn kept(values: &[Option<f64>], most: usize) -> Vec<usize> {
    let known: Vec<usize> = (0..values.len()).filter(|at| values[*at].is_some()).collect();
    if values.len() <= most {
        return (0..values.len()).collect();
    }
    let stretches = (most.saturating_sub(2) / 2).max(1);
    let length = values.len().div_ceil(stretches);
    let mut kept: Vec<usize> = known.first().into_iter().chain(known.last()).copied().collect();
    for start in (0..values.len()).step_by(length) {
        let stretch = start..(start + length).min(values.len());
        let by_value =
            |a: &usize, b: &usize| values[*a].unwrap_or(f64::NAN).total_cmp(&values[*b].unwrap_or(f64::NAN));
        let some = stretch.clone().filter(|at| values[*at].is_some());
        kept.extend(some.clone().min_by(by_value));
        kept.extend(some.max_by(by_value));
        // A gap of a whole stretch stays a gap.
        if values[stretch.clone()].iter().all(Option::is_none) {
            kept.push(stretch.start);
        }
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// How many neighbours become one so that at most `most` columns are left.
pub(super) fn factor(columns: usize, most: usize) -> usize {
    columns.div_ceil(most).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_peaks_and_its_ends() {
        let mut values: Vec<Option<f64>> = (0..1_000).map(|at| Some(f64::from(at % 7))).collect();
        values[617] = Some(99.0);
        values[618] = Some(-99.0);
        let kept = kept(&values, 100);
        assert!(kept.len() <= 100, "{}", kept.len());
        for at in [0, 617, 618, 999] {
            assert!(kept.contains(&at), "{at}");
        }
    }

    #[test]
    fn at_the_limit_all_points_stay_and_one_over_they_are_thinned() {
        let at_limit: Vec<Option<f64>> = (0..100).map(|at| Some(f64::from(at))).collect();
        assert_eq!(kept(&at_limit, 100).len(), 100);
        let over: Vec<Option<f64>> = (0..101).map(|at| Some(f64::from(at))).collect();
        assert!(kept(&over, 100).len() <= 100);
        assert_eq!((factor(120, 120), factor(121, 120), factor(0, 120)), (1, 2, 1));
    }

    #[test]
    fn a_gap_stays_a_gap() {
        let mut values = vec![Some(1.0); 1_000];
        values[300..600].fill(None);
        assert!(kept(&values, 100).iter().any(|at| values[*at].is_none()));
        assert_eq!(kept(&[None; 500], 100).iter().filter(|at| **at > 499).count(), 0);
    }
}
