//! `icache explain`: the registries of reason codes, gates, knobs, causes, checks, lint rules, metrics and exit statuses.

use strsim::damerau_levenshtein;

use super::Outcome;
use super::error::UsageError;
use super::exit::Exit;
use super::names::Names;
use crate::render::{self, Entry, Format, Printer};

/// Explain a reason code, a gate, a knob, a check, a lint rule, a metric or an exit status; without a name, list them all
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Reason code, gate id, policy field, server setting, cause, check of `icache doctor`, rule of `icache policy lint`, metric
    /// or exit status, as `icache explain` lists them
    #[arg(value_name = "NAME", allow_hyphen_values = true, value_parser = Names::ENTRIES, hide_possible_values = true)]
    name: Option<String>,
    /// Form of the page
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM")]
    output: Format,
}

const EXAMPLES: &str = "\
Examples:
  icache explain
      all of them
  icache explain UNKNOWN_TENANT
      what the code means, when it is given, and what a gateway does
  icache explain routing-floor-score
      what the gate checks, and what tunes it
  icache explain minimumMatchedTokens
      a policy field: its default, and the gates that read it
  icache explain inferencecache_shed_total
      a metric: its type and labels, and what it counts";

/// Prints the page of the name, or the list.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    match &args.name {
        Some(name) => render::page(printer, args.output, find(name)?)?,
        None => render::listing(printer, args.output)?,
    }
    Ok(Exit::Done)
}

fn find(name: &str) -> Result<Entry, UsageError> {
    if let Some(entry) =
        Entry::all().find(|entry| entry.name() == name || other_names(*entry).contains(&name))
    {
        return Ok(entry);
    }
    let near = nearest(name, Entry::all().map(Entry::name));
    let advice = if near.is_empty() {
        "`icache explain` lists all names".to_owned()
    } else {
        let near: Vec<String> = near.iter().map(|name| format!("`icache explain {name}`")).collect();
        format!("did you mean {}?", near.join(" or "))
    };
    Err(UsageError::new(format!("`{name}` is the name of nothing that has a page"), advice))
}

/// A policy field without the object it stands in; a server setting by its flag, with and without its hyphens.
fn other_names(entry: Entry) -> Vec<&'static str> {
    let Entry::Knob(knob) = entry else { return Vec::new() };
    let info = knob.info();
    let field = info.name.strip_prefix("strategy.");
    let bare = info.flag.map(|flag| flag.trim_start_matches('-'));
    [field, info.flag, bare].into_iter().flatten().collect()
}

/// Names that `name` may be a misspelling of, nearest first: alike but for case, `-`, `_` and `.`, or few letters apart.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    /// More would not be a suggestion but a list.
    const SHOWN: usize = 3;
    let name = folded(name);
    let mut near: Vec<(usize, &str)> = known
        .filter_map(|known| {
            let folded = folded(known);
            let distance = damerau_levenshtein(&name, &folded);
            let is_part = name.len() >= 4 && folded.contains(&name);
            let is_near = distance <= (folded.len().min(name.len()) / 3).max(1);
            (is_near || is_part).then_some((distance, known))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.dedup_by_key(|(_, known)| *known);
    if near.first().is_some_and(|(distance, _)| *distance == 0) {
        near.retain(|(distance, _)| *distance == 0);
    }
    near.into_iter().map(|(_, known)| known).take(SHOWN).collect()
}

fn folded(name: &str) -> String {
    name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestions(name: &str) -> Vec<&'static str> {
        nearest(name, Entry::all().map(Entry::name))
    }

    #[test]
    fn every_name_is_found() {
        for entry in Entry::all() {
            assert_eq!(find(entry.name()).unwrap().name(), entry.name());
        }
        for (other, name) in [
            ("requireChain", "strategy.requireChain"),
            ("--pressure-weight", "PressureWeight"),
            ("pressure-weight", "PressureWeight"),
        ] {
            assert_eq!(find(other).unwrap().name(), name);
        }
    }

    #[test]
    fn near_misses_are_suggested() {
        assert_eq!(suggestions("unknown_model"), ["UNKNOWN_MODEL", "unknown-model", "model-unknown"][..2]);
        assert_eq!(suggestions("PREFIX-MATCH"), ["PREFIX_MATCH", "prefix-match"]);
        assert_eq!(suggestions("routing-flor-score")[0], "routing-floor-score");
        assert_eq!(suggestions("AFINITY_HINT")[0], "AFFINITY_HINT");
        assert_eq!(suggestions("floor")[0], "below-floor");
        assert_eq!(suggestions("zzz"), [""; 0]);
    }
}
