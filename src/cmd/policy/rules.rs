//! `icache policy rules`: the rules of lint, and the long form of one.

use crate::cmd::Outcome;
use crate::cmd::error::UsageError;
use crate::cmd::exit::Exit;
use crate::cmd::explain::nearest;
use crate::cmd::names::Names;
use crate::policy::lint::Rule;
use crate::render::{self, Format, Printer};

/// Explain a rule of `icache policy lint`; without a name, list them all
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Id of the rule, as diagnostics show it
    #[arg(value_name = "RULE", value_parser = Names::RULES, hide_possible_values = true)]
    rule: Option<String>,
    /// Form of the page
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM")]
    output: Format,
}

const EXAMPLES: &str = "\
Examples:
  icache policy rules
      every rule, with its severity
  icache policy rules both-floors-off
      what the rule finds and why, with an example that fails and one that passes";

/// Prints the list or the page.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    match &args.rule {
        Some(id) => render::rule(printer, args.output, find(id)?)?,
        None => render::rule_listing(printer, args.output)?,
    }
    Ok(Exit::Done)
}

/// The rule called `id`.
pub fn find(id: &str) -> Result<Rule, UsageError> {
    if let Some(rule) = Rule::parse(id) {
        return Ok(rule);
    }
    let near = nearest(id, Rule::ALL.iter().map(|rule| rule.id()));
    let advice = if near.is_empty() {
        "`icache policy rules` lists all rules".to_owned()
    } else {
        let near: Vec<String> = near.iter().map(|id| format!("`{id}`")).collect();
        format!("did you mean {}?", near.join(" or "))
    };
    Err(UsageError::new(format!("`{id}` is no rule of lint"), advice))
}
