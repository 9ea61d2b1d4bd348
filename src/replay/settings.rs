//! Settings of the server that was recorded, as far as they move answers.

use crate::capture::{Config, ConfigLimits};
use crate::engine::MAX_BLOCK_SIZE;
use crate::index::IndexConfig;
use crate::lookup::{Router, RouterConfig};
use crate::model::{LoadHintCode, Ranker, RankerKnobs, Source, Sourced, parse_duration};
use crate::policy::{Defaults, PolicySet, default_ranker};

/// Which ranker to replay under in place of the recorded one, with its settings; `None` keeps what was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RankingOverride {
    /// `--ranker`.
    pub ranker: Option<Ranker>,
    /// `--in-flight-ttl` in nanoseconds.
    pub in_flight_ttl_ns: Option<i64>,
    /// `--prefill-rate` in tokens a second.
    pub prefill_rate: Option<u32>,
    /// `--load-hint-code`.
    pub load_hint_code: Option<LoadHintCode>,
}

/// What a router is made of, before its policies.
#[derive(Clone, Debug)]
pub(super) struct ServerSettings {
    defaults: Defaults,
    ranker: RankerKnobs,
    index: IndexConfig,
    records_sweeps: bool,
    /// What stands above what was recorded.
    given: RankingOverride,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            defaults: Defaults::default(),
            ranker: default_ranker(),
            index: IndexConfig::default(),
            records_sweeps: false,
            given: RankingOverride::default(),
        }
    }
}

impl ServerSettings {
    /// What policies fall back to.
    pub(super) fn defaults(&self) -> &Defaults {
        &self.defaults
    }

    /// Puts what is given in the place of what was recorded.
    pub(super) fn override_ranking(&mut self, given: RankingOverride) {
        self.given = given;
        let knobs = &mut self.ranker;
        set(&mut knobs.ranker, "--ranker", given.ranker);
        set(&mut knobs.in_flight_ttl_ns, "--in-flight-ttl", given.in_flight_ttl_ns);
        set(&mut knobs.prefill_rate, "--prefill-rate", given.prefill_rate);
        set(&mut knobs.load_hint_code, "--load-hint-code", given.load_hint_code);
    }

    /// Whether every sweep of the server is in the capture.
    pub(super) fn records_sweeps(&self) -> bool {
        self.records_sweeps
    }

    /// A router with an empty index. It sheds no load: a replay has one lookup in flight.
    pub(super) fn router(&self, policies: PolicySet) -> Router {
        Router::new(RouterConfig {
            index: self.index,
            policies,
            ranker: self.ranker.clone(),
            max_in_flight: Sourced::new(0, Source::Replay),
        })
    }

    /// Takes over what a config record says; returns the parts that it passed over, each as a phrase.
    pub(super) fn apply(&mut self, config: &Config) -> Vec<String> {
        let mut over = Vec::new();
        let ranker = &config.ranker;
        let mut number = |value: Option<f32>, name: &str| {
            let value = value?;
            let fits = value.is_finite() && value >= 0.0;
            if !fits {
                over.push(format!("`{name}`, which is out of range"));
            }
            fits.then_some(value)
        };
        let weight = number(ranker.pressure_weight, "ranker.pressureWeight");
        let bias = number(ranker.slo_tight_bias, "ranker.sloTightBias");
        let hit_rate = number(ranker.tenant_hot_min_hit_rate, "ranker.tenantHotMinHitRate");
        let block_size = config.block_size.filter(|size| (1..=MAX_BLOCK_SIZE).contains(size));
        if block_size != config.block_size {
            over.push("`blockSize`, which is out of range".to_owned());
        }
        let mut span =
            |text: &Option<String>, name: &str, least: i64| match text.as_deref().map(parse_duration) {
                Some(Ok(ns)) if ns >= least => Some(ns),
                Some(_) => {
                    over.push(format!("`{name}`, which is no duration in range"));
                    None
                }
                None => None,
            };
        let max_age = span(&ranker.tenant_hot_max_age, "ranker.tenantHotMaxAge", 0);
        let timeout = span(&ranker.replica_timeout, "ranker.replicaTimeout", 0);
        let ttl = span(&config.default_ttl, "defaultTTL", 1);
        let in_flight_ttl = span(&ranker.in_flight_ttl, "ranker.inFlightTTL", 0);
        let mut named = |given: &Option<String>, name: &str, is_known: bool| {
            if given.is_some() && !is_known {
                over.push(format!("`{name}`, which names none"));
            }
        };
        let ranked_by = ranker.ranker.as_deref().and_then(Ranker::parse);
        named(&ranker.ranker, "ranker.name", ranked_by.is_some());
        let load_hint_code = ranker.load_hint_code.as_deref().and_then(LoadHintCode::parse);
        named(&ranker.load_hint_code, "ranker.loadHintCode", load_hint_code.is_some());
        let knobs = &mut self.ranker;
        set(&mut knobs.pressure_weight, "--pressure-weight", weight);
        set(&mut knobs.slo_tight_ttft_ms, "--slo-tight-ttft-ms", ranker.slo_tight_ttft_ms);
        set(&mut knobs.slo_tight_bias, "--slo-tight-bias", bias);
        set(&mut knobs.tenant_hot_min_hit_rate, "--tenant-hot-min-hit-rate", hit_rate);
        set(&mut knobs.block_size, "--block-size", block_size);
        set(&mut knobs.tenant_hot_max_age_ns, "--tenant-hot-max-age", max_age);
        set(&mut knobs.replica_timeout_ns, "--replica-timeout", timeout);
        set(&mut knobs.ranker, "--ranker", ranked_by);
        set(&mut knobs.in_flight_ttl_ns, "--in-flight-ttl", in_flight_ttl);
        set(&mut knobs.prefill_rate, "--prefill-rate", ranker.prefill_rate.filter(|rate| *rate > 0));
        set(&mut knobs.load_hint_code, "--load-hint-code", load_hint_code);
        self.override_ranking(self.given);
        set(&mut self.defaults.ttl_ns, "--default-ttl", ttl);
        self.index.max_entries = config.limits.max_entries.unwrap_or(self.index.max_entries);
        self.index.max_memory_bytes = config.limits.max_memory_bytes.unwrap_or(self.index.max_memory_bytes);
        self.apply_limits(&config.limits);
        self.records_sweeps = config.records_sweeps;
        let others = [("", &config.others), ("ranker.", &ranker.others), ("limits.", &config.limits.others)];
        for (path, others) in others {
            over.extend(others.keys().map(|name| format!("`{path}{name}`")));
        }
        over
    }

    fn apply_limits(&mut self, given: &ConfigLimits) {
        let index = &mut self.index;
        let limits = &mut index.limits;
        for (bound, given) in [
            (&mut index.max_replicas_per_scope, given.max_replicas),
            (&mut index.max_replica_records, given.max_replica_records),
            (&mut limits.request_blocks, given.max_blocks),
            (&mut limits.hash_bytes, given.max_hash_bytes),
            (&mut limits.id_bytes, given.max_id_bytes),
            (&mut limits.request_tokens, given.max_tokens),
            (&mut limits.prompt_bytes, given.max_prompt_bytes),
        ] {
            *bound = given.unwrap_or(*bound);
        }
    }
}

fn set<T>(knob: &mut Sourced<T>, flag: &'static str, value: Option<T>) {
    if let Some(value) = value {
        *knob = Sourced::new(value, Source::Flag(flag));
    }
}
