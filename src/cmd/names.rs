//! Values that are names of a registry: the completions of the shells offer them, and what is none gets the command's own
//! error, which says what is near.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

use crate::decision::Reason;
use crate::policy::lint::Rule;
use crate::render::Entry;

/// Takes any text, and offers names.
#[derive(Clone, Copy, Debug)]
pub struct Names(fn() -> Vec<&'static str>);

impl Names {
    /// All that `icache explain` has a page for.
    pub const ENTRIES: Self = Self(|| Entry::all().map(Entry::name).collect());
    /// Rules of `icache policy lint`.
    pub const RULES: Self = Self(|| Rule::ALL.iter().map(|rule| rule.id()).collect());
    /// Reason codes.
    pub const REASONS: Self = Self(|| Reason::ALL.iter().map(|reason| reason.code()).collect());
}

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}
