//! Flags that choose the ranker: as the server has them, and as what replays in its place has them.

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;

use super::serve::values::ns;
use crate::decision::Knob;
use crate::model::{LoadHintCode, Ranker};
use crate::replay::RankingOverride;

/// Which ranker a server has, and its settings.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Ranking")]
pub struct ServedRankingArgs {
    #[arg(long, value_name = "RANKER", default_value = Knob::Ranker.info().default, help = help_of(Knob::Ranker),
        value_parser = rankers())]
    pub(super) ranker: Ranker,
    #[arg(long, value_name = "DURATION", default_value = Knob::InFlightTtl.info().default,
        help = help_of(Knob::InFlightTtl), value_parser = ns)]
    pub(super) in_flight_ttl: i64,
    #[arg(long, value_name = "TOKENS", default_value = Knob::PrefillRate.info().default,
        help = help_of(Knob::PrefillRate), value_parser = rate())]
    pub(super) prefill_rate: u32,
    #[arg(long, value_name = "CODE", default_value = Knob::LoadHintCode.info().default,
        help = help_of(Knob::LoadHintCode), value_parser = codes())]
    pub(super) load_hint_code: LoadHintCode,
}

/// Which ranker, in place of the recorded one, and its settings.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Ranking, in place of what was recorded")]
pub struct RankingArgs {
    #[arg(long, value_name = "RANKER", help = help_of(Knob::Ranker), value_parser = rankers())]
    ranker: Option<Ranker>,
    #[arg(long, value_name = "DURATION", help = help_of(Knob::InFlightTtl), value_parser = ns)]
    in_flight_ttl: Option<i64>,
    #[arg(long, value_name = "TOKENS", help = help_of(Knob::PrefillRate), value_parser = rate())]
    prefill_rate: Option<u32>,
    #[arg(long, value_name = "CODE", help = help_of(Knob::LoadHintCode), value_parser = codes())]
    load_hint_code: Option<LoadHintCode>,
}

impl RankingArgs {
    /// What is given, for a replay.
    pub fn overrides(&self) -> RankingOverride {
        RankingOverride {
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

pub(super) fn rankers() -> impl TypedValueParser<Value = Ranker> {
    PossibleValuesParser::new(["reference", "balanced"])
        .map(|label| Ranker::parse(&label).unwrap_or_default())
}

fn codes() -> impl TypedValueParser<Value = LoadHintCode> {
    let codes = PossibleValuesParser::new(["load-hint", "affinity"]);
    codes.map(|label| LoadHintCode::parse(&label).unwrap_or_default())
}

fn rate() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(1..=1_000_000_000)
}

/// The help of a flag that sets a knob.
pub(super) fn help_of(knob: Knob) -> String {
    let info = knob.info();
    let off = if info.off == "n/a" { String::new() } else { format!("; {} switches it off", info.off) };
    let (first, rest) = info.summary.split_at(1);
    format!("{}{rest}{off}", first.to_uppercase())
}
