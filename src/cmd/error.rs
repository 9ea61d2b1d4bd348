//! Errors of commands: what happened, what to do, and the exit status.

use std::fmt::Display;
use std::io;

use thiserror::Error;

use super::exit::Exit;
use crate::doctor::{Fault, FaultKind};
use crate::render::ErrorText;

/// Why a command failed.
#[derive(Debug, Error)]
pub enum CommandError {
    /// The command line, or a file that it names, cannot be used.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// The server cannot be reached, or answered with an error.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The result cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// The answer is not the one that was expected.
    #[error(transparent)]
    Unmet(#[from] UnmetError),
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

/// A command line or input that cannot be used.
#[derive(Debug, Error)]
#[error("{what}")]
pub struct UsageError {
    what: String,
    advice: String,
}

/// An answer that is not the one that was expected.
#[derive(Debug, Error)]
#[error("{what}")]
pub struct UnmetError {
    what: String,
    advice: String,
}

/// No answer, or an error for an answer.
#[derive(Debug, Error)]
#[error("{what}")]
pub struct ServerError {
    what: String,
    advice: String,
    fault: FaultKind,
}

impl UsageError {
    /// What is wrong, and what to do.
    pub fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: advice.into() }
    }

    /// A file that cannot be read; `-` is standard input.
    pub fn unreadable(path: &str, error: &io::Error) -> Self {
        Self::new(
            format!("cannot read {}: {}", super::input::shown(path), sentence(&error)),
            "check that the file is there and may be read",
        )
    }

    /// From the parser's own error: its first sentence, and its tip where it has one.
    pub fn from_parser(error: &clap::Error, command: &str) -> Self {
        let text = error.render().to_string();
        let mut blocks =
            text.split("\n\n").map(|block| block.split_whitespace().collect::<Vec<_>>().join(" "));
        let what = backticked(&blocks.next().unwrap_or_default());
        let what = plain_number(what.strip_prefix("error: ").unwrap_or(&what).trim_end_matches('.'));
        let what = plain_choice(&what);
        let help = format!("`{command} --help` lists what can be given, with examples");
        let advice = match blocks.find_map(|block| block.strip_prefix("tip: ").map(backticked)) {
            Some(tip) => format!("{tip}; {help}"),
            None => help,
        };
        Self::new(what, advice)
    }
}

impl UsageError {
    /// The same of what stands at `place`, which ends in a colon and a blank.
    pub fn at(self, place: &str) -> Self {
        Self { what: format!("{place}{}", self.what), ..self }
    }
}

impl UnmetError {
    /// What is otherwise, and what to do.
    pub fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: advice.into() }
    }
}

impl ServerError {
    /// What happened, and what to do.
    pub fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: advice.into(), fault: FaultKind::Other }
    }

    /// The same, of this kind.
    pub fn of(self, fault: FaultKind) -> Self {
        Self { fault, ..self }
    }

    /// As a diagnosis has it.
    pub fn into_fault(self) -> Fault {
        Fault { kind: self.fault, what: self.what, advice: self.advice }
    }
}

/// What the parser says of a choice of flags at its end, `<--a <X>|--b <Y>>`, in plain words.
fn plain_choice(text: &str) -> String {
    let choice = text.split_once(" <--").and_then(|(before, rest)| Some((before, rest.strip_suffix('>')?)));
    match choice.filter(|(_, flags)| flags.contains("|--")) {
        Some((before, flags)) => format!("{before} --{}", flags.replace("|--", " or --")),
        None => text.to_owned(),
    }
}

/// The parser quotes with apostrophes; this program quotes with backticks.
fn backticked(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_word =
        |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|char| char.is_alphanumeric());
    let quoted = chars.iter().enumerate().map(|(at, char)| {
        let is_apostrophe = is_word(at.checked_sub(1)) && is_word(Some(at + 1));
        if *char == '\'' && !is_apostrophe { '`' } else { *char }
    });
    quoted.collect()
}

/// What the parser says of a number that does not fit, in plain words.
fn plain_number(text: &str) -> String {
    for (said, plain) in [
        ("number too large to fit in target type", "it is too large; write a smaller number"),
        ("number too small to fit in target type", "it is too small; write a larger number"),
        ("invalid digit found in string", "write a whole number, as in `16`"),
        ("cannot parse integer from empty string", "write a whole number, as in `16`"),
        ("invalid float literal", "write a number, as in `0.5`"),
        ("cannot parse float from empty string", "write a number, as in `0.5`"),
    ] {
        if let Some(before) = text.strip_suffix(said) {
            return format!("{before}{plain}");
        }
    }
    range_of(text).unwrap_or_else(|| text.to_owned())
}

/// From `...: 0 is not in 1..=9`, what is in it.
fn range_of(text: &str) -> Option<String> {
    let (before, range) = text.rsplit_once(" is not in ")?;
    let (before, _) = before.rsplit_once(' ')?;
    let (from, to) = range.split_once("..")?;
    let last = match to.strip_prefix('=') {
        Some(last) => last.parse::<i128>().ok()?,
        None => to.parse::<i128>().ok()? - 1,
    };
    let from: i128 = from.parse().ok()?;
    // Nobody means to write as much as 63 bits hold.
    let is_bounded = last < i128::from(i64::MAX) - 1;
    Some(if is_bounded {
        format!("{before} write a whole number from {from} to {last}")
    } else {
        format!("{before} write a whole number of {from} or more")
    })
}

/// An error of a library as the end of a sentence of ours: lower-case, without a full stop, the error number left out.
pub fn sentence(error: &impl Display) -> String {
    let text = error.to_string();
    if text == "stream did not contain valid UTF-8" {
        return "it is no UTF-8 text".to_owned();
    }
    let text = text.split(" (os error").next().unwrap_or_default().trim_end_matches('.');
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// Why a folder cannot be made, as the end of a sentence.
pub fn no_folder(error: &io::Error) -> String {
    match error.kind() {
        // What is there already is something else, or it would do.
        io::ErrorKind::AlreadyExists => "it is there, and no folder".to_owned(),
        _ => sentence(error),
    }
}

impl CommandError {
    /// The exit status.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) | Self::Output(_) => Exit::Usage,
            Self::Server(_) => Exit::Server,
            Self::Unmet(_) => Exit::Negative,
            Self::Interrupted => Exit::Interrupted,
        }
    }
}

impl ErrorText for CommandError {
    fn what(&self) -> String {
        match self {
            Self::Output(error) => format!("cannot write the output: {}", sentence(error)),
            other => other.to_string(),
        }
    }

    fn advice(&self) -> String {
        match self {
            Self::Usage(UsageError { advice, .. })
            | Self::Server(ServerError { advice, .. })
            | Self::Unmet(UnmetError { advice, .. }) => advice.clone(),
            Self::Output(_) => "check the disk or the file that the output goes to".to_owned(),
            Self::Interrupted => "run the command again to start over".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_become_backticks_and_apostrophes_stay() {
        assert_eq!(backticked("the value 'x' wasn't known"), "the value `x` wasn't known");
    }

    #[test]
    fn a_choice_of_flags_is_told_in_plain_words() {
        for (said, plain) in [
            (
                "not provided: <--trace <FILE>|--workload <KIND>>",
                "not provided: --trace <FILE> or --workload <KIND>",
            ),
            ("not provided: <--one|--other>", "not provided: --one or --other"),
            ("not provided: --trace <FILE>", "not provided: --trace <FILE>"),
            ("not provided: <FILE>", "not provided: <FILE>"),
        ] {
            assert_eq!(plain_choice(said), plain);
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_told_in_plain_words() {
        for (said, plain) in [
            (
                "invalid value `x` for `--n <N>`: invalid digit found in string",
                "`--n <N>`: write a whole number",
            ),
            ("`9` for `--n <N>`: 9 is not in 0..=7", "`9` for `--n <N>`: write a whole number from 0 to 7"),
            ("`0`: 0 is not in 1..18446744073709551615", "`0`: write a whole number of 1 or more"),
            ("`0`: 0 is not in 1..9", "`0`: write a whole number from 1 to 8"),
            ("`x`: invalid float literal", "`x`: write a number"),
            ("anything else", "anything else"),
        ] {
            assert!(plain_number(said).contains(plain), "{said}: {}", plain_number(said));
        }
    }

    #[test]
    fn foreign_errors_end_our_sentences() {
        assert_eq!(sentence(&"No such file or directory (os error 2)"), "no such file or directory");
        assert_eq!(sentence(&"EOF while parsing."), "EOF while parsing");
    }
}
