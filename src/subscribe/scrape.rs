//! An engine's metrics page: its cache statistics, and nothing else of it.
//!
//! Each line is read by itself, so that a page in either text format, or with lines that are wrong, still gives what it
//! has; readers of whole pages refuse it, or do not know names with a colon.

use std::time::Duration;

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::telemetry::read_labels;

/// Bytes of a page; a longer one counts as a failed scrape.
pub const MAX_PAGE_BYTES: usize = 8 << 20;
/// Longest wait for a page.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Statistics of one replica.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct EngineStats {
    /// Share of queried tokens found in cache, 0..1.
    pub hit_rate: f32,
    /// Share of the KV cache in use, 0..1.
    pub pressure: f32,
    /// Tokens found in tier 2, a running total.
    pub t2_hit_tokens: i64,
    /// Tokens asked of tier 2, a running total.
    pub t2_query_tokens: i64,
}

/// What a page says of one model and rank.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Page {
    hits: Option<f64>,
    queries: Option<f64>,
    /// A rate that the engine works out itself.
    rate: Option<f64>,
    pressure: Option<f64>,
    t2_hits: Option<f64>,
    t2_queries: Option<f64>,
}

/// Metrics by their name without `_total`, and what they are; a later one fills in where an earlier one is missing.
const NAMES: &[(&str, Meaning)] = &[
    ("vllm:prefix_cache_hits", Meaning::Hits),
    ("vllm:prefix_cache_queries", Meaning::Queries),
    ("vllm:kv_cache_usage_perc", Meaning::Pressure),
    ("vllm:gpu_cache_usage_perc", Meaning::OldPressure),
    ("vllm:external_prefix_cache_hits", Meaning::T2Hits),
    ("vllm:external_prefix_cache_queries", Meaning::T2Queries),
    ("sglang:cache_hit_rate", Meaning::Rate),
    ("sglang:token_usage", Meaning::Pressure),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    Hits,
    Queries,
    Rate,
    Pressure,
    OldPressure,
    T2Hits,
    T2Queries,
}

/// Whose samples are read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// The model; on a page of one model, whatever it is called there.
    pub model: String,
    /// The data-parallel rank, where there are ranks; on a page without ranks, the whole page.
    pub rank: Option<usize>,
}

impl Page {
    /// Reads a page; what is not known is passed over.
    pub fn read(text: &str, wanted: &Wanted) -> Self {
        let mut samples: Vec<Sample> = text.lines().filter_map(Sample::read).collect();
        if samples.iter().any(|sample| sample.model.as_deref() == Some(&wanted.model)) {
            samples.retain(|sample| sample.model.as_deref().is_none_or(|model| model == wanted.model));
        } else if let Some(first) = samples.iter().find_map(|sample| sample.model.clone()) {
            // A page of one model may know it by another name; of several, none is the one that is asked for.
            let is_other = |sample: &Sample| sample.model.as_deref().is_some_and(|model| model != first);
            if samples.iter().any(is_other) {
                samples.clear();
            }
        }
        if let Some(rank) = wanted.rank.map(|rank| rank.to_string())
            && samples.iter().any(|sample| sample.rank.as_deref() == Some(&rank))
        {
            samples.retain(|sample| sample.rank.as_deref().is_none_or(|one| one == rank));
        }
        let values = |meaning| samples.iter().filter(move |sample| sample.meaning == meaning);
        let sum = |meaning| {
            let mut values = values(meaning).map(|sample| sample.value).peekable();
            values.peek().is_some().then(|| values.sum::<f64>())
        };
        // Of several engines on one page the fullest one counts.
        let most = |meaning| values(meaning).map(|sample| sample.value).reduce(f64::max);
        Self {
            hits: sum(Meaning::Hits),
            queries: sum(Meaning::Queries),
            rate: most(Meaning::Rate),
            pressure: most(Meaning::Pressure).or_else(|| most(Meaning::OldPressure)),
            t2_hits: sum(Meaning::T2Hits),
            t2_queries: sum(Meaning::T2Queries),
        }
    }

    /// Whether nothing that is looked for is there.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The statistics, given the page before this one and what it came to.
    pub fn stats(&self, before: Option<(&Page, &EngineStats)>) -> EngineStats {
        let total = |count: Option<f64>| count.map_or(0, |count| count as i64);
        EngineStats {
            hit_rate: share(self.rate.unwrap_or_else(|| self.hit_rate(before))),
            pressure: share(self.pressure.unwrap_or_default()),
            t2_hit_tokens: total(self.t2_hits),
            t2_query_tokens: total(self.t2_queries),
        }
    }

    /// Since the last page; over the engine's life on the first, and after it began anew. Without queries meanwhile it
    /// stays.
    fn hit_rate(&self, before: Option<(&Page, &EngineStats)>) -> f64 {
        let (Some(hits), Some(queries)) = (self.hits, self.queries) else { return 0.0 };
        let (mut new_hits, mut new_queries) = (hits, queries);
        if let Some((page, stats)) = before
            && let (Some(old_hits), Some(old_queries)) = (page.hits, page.queries)
            && old_queries <= queries
            && old_hits <= hits
        {
            if old_queries == queries {
                return f64::from(stats.hit_rate);
            }
            (new_hits, new_queries) = (hits - old_hits, queries - old_queries);
        }
        if new_queries > 0.0 { new_hits / new_queries } else { 0.0 }
    }
}

fn share(value: f64) -> f32 {
    if value.is_finite() { value.clamp(0.0, 1.0) as f32 } else { 0.0 }
}

/// One line that is looked for.
#[derive(Clone, PartialEq, Debug)]
struct Sample {
    meaning: Meaning,
    model: Option<String>,
    rank: Option<String>,
    value: f64,
}

impl Sample {
    /// `name{label="value",...} value timestamp # exemplar`.
    fn read(line: &str) -> Option<Self> {
        let line = line.trim_start();
        let end = line.find(['{', ' ', '\t'])?;
        let (name, rest) = line.split_at(end);
        let plain = name.strip_suffix("_total").unwrap_or(name);
        let (_, meaning) = NAMES.iter().find(|(known, _)| *known == plain)?;
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(rest) => read_labels(rest)?,
            None => (Vec::new(), rest),
        };
        let value: f64 = rest.split_ascii_whitespace().next()?.parse().ok()?;
        let label =
            |name: &str| labels.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        Some(Self {
            meaning: *meaning,
            model: label("model_name"),
            rank: label("engine").or_else(|| label("dp_rank")),
            value: Some(value).filter(|value| value.is_finite() && *value >= 0.0)?,
        })
    }
}

/// Fetches a page over HTTP.
///
/// # Errors
///
/// Where there is none within [`TIMEOUT`] and [`MAX_PAGE_BYTES`]; in words.
pub async fn fetch(url: &Uri) -> Result<String, String> {
    match tokio::time::timeout(TIMEOUT, fetch_patiently(url)).await {
        Ok(page) => page,
        Err(_) => Err(format!("no answer within {TIMEOUT:?}")),
    }
}

async fn fetch_patiently(url: &Uri) -> Result<String, String> {
    let host = url.host().unwrap_or_default();
    let address = (host.trim_start_matches('[').trim_end_matches(']'), url.port_u16().unwrap_or(80));
    let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    let broke = |error: hyper::Error| error.to_string();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(broke)?;
    // It ends with the answer.
    let connection = tokio::spawn(connection);
    let path = url.path_and_query().map_or("/metrics", |path| path.as_str());
    let request = Request::get(path)
        .header("host", url.authority().map_or(host, |authority| authority.as_str()))
        .header("accept", "text/plain;version=0.0.4, application/openmetrics-text;q=0.5, */*;q=0.1")
        .header("connection", "close")
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let answer = sender.send_request(request).await.map_err(broke)?;
    if !answer.status().is_success() {
        return Err(format!("it answered HTTP {}", answer.status().as_u16()));
    }
    let body = Limited::new(answer.into_body(), MAX_PAGE_BYTES).collect().await;
    connection.abort();
    let bytes = body.map_err(|error| error.to_string())?.to_bytes();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, rank: Option<usize>) -> Page {
        Page::read(text, &Wanted { model: "llama".to_owned(), rank })
    }

    #[test]
    fn pages_of_both_engines_and_formats_are_read() {
        let classic = "# TYPE vllm:prefix_cache_hits_total counter\n\
            vllm:prefix_cache_hits_total{engine=\"0\",model_name=\"llama\"} 30.0\n\
            vllm:prefix_cache_queries_total{engine=\"0\",model_name=\"llama\"} 1.2e+02 1700000000000\n\
            vllm:kv_cache_usage_perc{model_name=\"llama\"} 0.25\r\n\
            not a line of metrics\n\
            vllm:external_prefix_cache_hits_total{model_name=\"llama\"} 5\n\
            vllm:external_prefix_cache_queries_total{model_name=\"llama\"} 9\n";
        let stats = EngineStats { hit_rate: 0.25, pressure: 0.25, t2_hit_tokens: 5, t2_query_tokens: 9 };
        assert_eq!(read(classic, None).stats(None), stats);
        let open = classic.replace("_total", "").replace("120", "120 # {trace_id=\"x\"} 1.0") + "# EOF\n";
        assert_eq!(read(&open, None).stats(None), stats);
        let sglang = "sglang:cache_hit_rate{model_name=\"llama\"} 0.5\nsglang:token_usage 0.75\n";
        let stats = EngineStats { hit_rate: 0.5, pressure: 0.75, ..EngineStats::default() };
        assert_eq!(read(sglang, None).stats(None), stats);
        let old = "vllm:gpu_cache_usage_perc 0.5";
        assert_eq!(read(old, None).stats(None).pressure, 0.5);
        let both = format!("{old}\nvllm:kv_cache_usage_perc 0.125");
        assert_eq!(read(&both, None).stats(None).pressure, 0.125);
        assert!(read("vllm:kv_cache_usage_perc NaN\nother 1\nvllm:kv_cache_usage_perc -1", None).is_empty());
    }

    #[test]
    fn the_configured_model_and_rank_count() {
        let line = |model: &str, rank: u8, value: &str| {
            format!("vllm:kv_cache_usage_perc{{model_name=\"{model}\",engine=\"{rank}\"}} {value}\n")
        };
        let page = line("llama", 0, "0.25") + &line("llama", 1, "0.5") + &line("other", 0, "1");
        assert_eq!(read(&page, None).stats(None).pressure, 0.5);
        assert_eq!(read(&page, Some(0)).stats(None).pressure, 0.25);
        assert_eq!(read(&page, Some(1)).stats(None).pressure, 0.5);
        assert_eq!(read(&page, Some(7)).stats(None).pressure, 0.5);
        assert_eq!(read(&line("alias", 0, "0.5"), None).stats(None).pressure, 0.5);
        assert!(read(&(line("a", 0, "0.5") + &line("b", 0, "0.5")), None).is_empty());
        let escaped = "sglang:token_usage{a=\"x,}\\\"\",model_name=\"llama\"} 0.5";
        assert_eq!(read(escaped, None).stats(None).pressure, 0.5);
    }

    #[test]
    fn the_hit_rate_is_that_since_the_last_page() {
        let page = |hits, queries| Page { hits: Some(hits), queries: Some(queries), ..Page::default() };
        let first = page(30.0, 120.0);
        let stats = first.stats(None);
        assert_eq!(stats.hit_rate, 0.25);
        let rate = |next: Page| next.stats(Some((&first, &stats))).hit_rate;
        assert_eq!(rate(page(105.0, 220.0)), 0.75);
        assert_eq!(rate(page(30.0, 120.0)), 0.25);
        // The engine restarted.
        assert_eq!(rate(page(5.0, 10.0)), 0.5);
        assert_eq!(rate(page(0.0, 0.0)), 0.0);
        assert_eq!(rate(Page::default()), 0.0);
    }
}
