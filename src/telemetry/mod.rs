//! A metrics page in the classic text format, as those read it who look at a running server.
//!
//! Each line is read by itself: what is not understood is passed over, and the rest of the page still counts.

use std::collections::BTreeMap;

/// The samples of one page.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Page {
    samples: Vec<Sample>,
}

/// One line of it.
#[derive(Clone, PartialEq, Debug)]
struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

impl Sample {
    fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// `name{label="value",...} value timestamp`.
    fn read(line: &str) -> Option<Self> {
        let line = line.trim_start();
        if line.starts_with('#') {
            return None;
        }
        let (name, rest) = line.split_at(line.find(['{', ' ', '\t'])?);
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(rest) => read_labels(rest)?,
            None => (Vec::new(), rest),
        };
        let value: f64 = rest.split_ascii_whitespace().next()?.parse().ok()?;
        Some(Self { name: name.to_owned(), labels, value })
    }
}

impl Page {
    /// Reads a page.
    pub fn read(text: &str) -> Self {
        Self { samples: text.lines().filter_map(Sample::read).collect() }
    }

    /// Whether it has nothing that could be read.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Sample> {
        self.samples.iter().filter(move |sample| sample.name == name)
    }

    /// The sum of the metric over all its labels; `None` where the page has none of it.
    pub fn sum(&self, name: &str) -> Option<f64> {
        self.named(name).map(|sample| sample.value).reduce(|sum, value| sum + value)
    }

    /// The sum over the samples whose `label` is `value`.
    pub fn sum_where(&self, name: &str, label: &str, value: &str) -> f64 {
        let samples = self.named(name).filter(|sample| sample.label(label) == Some(value));
        samples.fold(0.0, |sum, sample| sum + sample.value)
    }

    /// The sums by the values of `label`.
    pub fn by_label(&self, name: &str, label: &str) -> BTreeMap<String, f64> {
        let mut sums = BTreeMap::new();
        for sample in self.named(name) {
            let value = sample.label(label).unwrap_or_default().to_owned();
            *sums.entry(value).or_insert(0.0) += sample.value;
        }
        sums
    }

    /// The sums by the values of two labels.
    pub fn by_labels(&self, name: &str, first: &str, second: &str) -> BTreeMap<(String, String), f64> {
        let mut sums = BTreeMap::new();
        for sample in self.named(name) {
            let value = |label| sample.label(label).unwrap_or_default().to_owned();
            *sums.entry((value(first), value(second))).or_insert(0.0) += sample.value;
        }
        sums
    }

    /// The label of the first sample of the metric.
    pub fn label(&self, name: &str, label: &str) -> Option<&str> {
        self.samples.iter().filter(|sample| sample.name == name).find_map(|sample| sample.label(label))
    }

    /// Upper bound of the bucket in which the `share` (0..1) of a histogram's observations ends, over all its labels and
    /// since `before`, in the metric's unit. Infinite above the last bound; `None` without observations.
    pub fn quantile(&self, name: &str, share: f64, before: Option<&Page>) -> Option<f64> {
        let buckets = self.buckets(name);
        let earlier = before.map(|page| page.buckets(name)).unwrap_or_default();
        let mut counts: Vec<(f64, f64)> = buckets
            .into_iter()
            .map(|(bound, count)| {
                let less = earlier.iter().find(|(known, _)| *known == bound).map_or(0.0, |(_, less)| *less);
                // A server that began anew counts from 0.
                (bound, if less > count { count } else { count - less })
            })
            .collect();
        counts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all = counts.last().map(|(_, count)| *count).filter(|count| *count > 0.0)?;
        counts.iter().find(|(_, count)| *count >= all * share).map(|(bound, _)| *bound)
    }

    /// Bounds and cumulative counts, summed over the other labels.
    fn buckets(&self, name: &str) -> Vec<(f64, f64)> {
        let sums = self.by_label(&format!("{name}_bucket"), "le");
        sums.into_iter().filter_map(|(bound, count)| Some((bound.parse().ok()?, count))).collect()
    }
}

/// The labels up to the closing brace, and what comes after it.
pub fn read_labels(mut text: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    loop {
        text = text.trim_start_matches([' ', ',']);
        if let Some(rest) = text.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, rest) = text.split_once('=')?;
        let mut chars = rest.trim_start().strip_prefix('"')?.chars();
        let mut value = String::new();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => match chars.next()? {
                    'n' => value.push('\n'),
                    other => value.push(other),
                },
                other => value.push(other),
            }
        }
        labels.push((name.trim().to_owned(), value));
        text = chars.as_str();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# HELP a counts\n# TYPE a counter\na{m=\"x\",c=\"A\"} 2\na{m=\"y\",c=\"A\"} 3\na{m=\"y\",c=\"B\"} 1\n\
                        gauge 7 1700000000000\nbroken{m=\"x} 1\nh_bucket{le=\"0.1\"} 5\nh_bucket{le=\"1\"} 9\nh_bucket{le=\"+Inf\"} 10\n";

    #[test]
    fn samples_are_summed_by_label() {
        let page = Page::read(PAGE);
        assert_eq!((page.sum("a"), page.sum("gauge"), page.sum("none")), (Some(6.0), Some(7.0), None));
        assert_eq!((page.sum_where("a", "m", "y"), page.sum_where("a", "m", "z")), (4.0, 0.0));
        assert_eq!(Vec::from_iter(page.by_label("a", "c")), [("A".to_owned(), 5.0), ("B".to_owned(), 1.0)]);
        assert_eq!(page.by_labels("a", "m", "c")[&("y".to_owned(), "B".to_owned())], 1.0);
        assert_eq!((page.label("a", "m"), page.sum("broken")), (Some("x"), None));
    }

    #[test]
    fn quantiles_are_bounds_of_buckets() {
        let page = Page::read(PAGE);
        for (share, bound) in [(0.5, 0.1), (0.9, 1.0), (0.99, f64::INFINITY)] {
            assert_eq!(page.quantile("h", share, None), Some(bound), "{share}");
        }
        let before = Page::read("h_bucket{le=\"0.1\"} 5\nh_bucket{le=\"1\"} 5\nh_bucket{le=\"+Inf\"} 5\n");
        assert_eq!(page.quantile("h", 0.5, Some(&before)), Some(1.0));
        assert_eq!(page.quantile("h", 0.5, Some(&page)), None);
    }
}
