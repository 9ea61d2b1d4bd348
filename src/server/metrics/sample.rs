//! Metrics as samples, for those who are told them over gRPC.

use prometheus::proto::MetricType;

/// One value with its labels.
pub(in crate::server) struct Sample {
    pub(in crate::server) name: String,
    pub(in crate::server) kind: &'static str,
    pub(in crate::server) labels: Vec<(String, String)>,
    pub(in crate::server) value: f64,
}

/// The samples of one metric. A histogram gives its buckets, sum and count.
pub(super) fn sample(
    name: &str,
    kind: MetricType,
    metric: &prometheus::proto::Metric,
    labels: &[(String, String)],
    samples: &mut Vec<Sample>,
) {
    let mut push = |suffix: &str, kind, bound: Option<f64>, value| {
        let mut labels = labels.to_vec();
        labels.extend(bound.map(|bound| ("le".to_owned(), bound.to_string())));
        samples.push(Sample { name: format!("{name}{suffix}"), kind, labels, value });
    };
    match kind {
        MetricType::COUNTER => push("", "counter", None, metric.get_counter().get_value()),
        MetricType::GAUGE => push("", "gauge", None, metric.get_gauge().get_value()),
        MetricType::HISTOGRAM => {
            let histogram = metric.get_histogram();
            for bucket in histogram.get_bucket() {
                push("_bucket", "histogram", Some(bucket.upper_bound()), bucket.cumulative_count() as f64);
            }
            push("_sum", "histogram", None, histogram.get_sample_sum());
            push("_count", "histogram", None, histogram.get_sample_count() as f64);
        }
        _ => {}
    }
}
