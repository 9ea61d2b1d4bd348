//! Flags that choose the ranker, shared by the server and by what replays in its place.

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;

use super::serve::values::ns;
use crate::decision::Knob;
use crate::model::{LoadHintCode, Ranker, RankerKnobs, Source, Sourced};

/// Which ranker, and its settings.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Ranking")]
pub struct RankingArgs {
    #[arg(long, value_name = "RANKER", help = help_of(Knob::Ranker),
        value_parser = PossibleValuesParser::new(["reference", "balanced"]).map(|label| Ranker::parse(&label).unwrap_or_default()))]
    ranker: Option<Ranker>,
    #[arg(long, value_name = "DURATION", value_parser = ns, help = help_of(Knob::InFlightTtl))]
    in_flight_ttl: Option<i64>,
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000),
        help = help_of(Knob::PrefillRate))]
    prefill_rate: Option<u32>,
    #[arg(long, value_name = "CODE", help = help_of(Knob::LoadHintCode),
        value_parser = PossibleValuesParser::new(["load-hint", "affinity"]).map(|label| LoadHintCode::parse(&label).unwrap_or_default()))]
    load_hint_code: Option<LoadHintCode>,
}

impl RankingArgs {
    /// Takes over what is given.
    pub fn apply(&self, knobs: &mut RankerKnobs) {
        set(&mut knobs.ranker, self.ranker, "--ranker");
        set(&mut knobs.in_flight_ttl_ns, self.in_flight_ttl, "--in-flight-ttl");
        set(&mut knobs.prefill_rate, self.prefill_rate, "--prefill-rate");
        set(&mut knobs.load_hint_code, self.load_hint_code, "--load-hint-code");
    }

    /// What is given, for a replay.
    pub fn overrides(&self) -> crate::replay::RankingOverride {
        crate::replay::RankingOverride {
            ranker: self.ranker,
            in_flight_ttl_ns: self.in_flight_ttl,
            prefill_rate: self.prefill_rate,
            load_hint_code: self.load_hint_code,
        }
    }

    /// The first flag that is given.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            (self.ranker.is_some(), "--ranker"),
            (self.in_flight_ttl.is_some(), "--in-flight-ttl"),
            (self.prefill_rate.is_some(), "--prefill-rate"),
            (self.load_hint_code.is_some(), "--load-hint-code"),
        ];
        given.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag))
    }
}

/// Sets what a flag gives.
pub(super) fn set<T>(setting: &mut Sourced<T>, given: Option<T>, flag: &'static str) {
    if let Some(value) = given {
        *setting = Sourced::new(value, Source::Flag(flag));
    }
}

/// The help of a flag that sets a knob.
pub(super) fn help_of(knob: Knob) -> String {
    let info = knob.info();
    let off = if info.off == "n/a" { String::new() } else { format!(", {} switches it off", info.off) };
    let (first, rest) = info.summary.split_at(1);
    format!("{}{rest} [default: {}{off}]", first.to_uppercase(), info.default)
}
