//! Errors of commands: what happened, what to do, and the exit status.

use std::fmt::Display;
use std::io;

use thiserror::Error;

use super::exit::Exit;
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
    #[error("{0}")]
    Unmet(String),
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

/// No answer, or an error for an answer.
#[derive(Debug, Error)]
#[error("{what}")]
pub struct ServerError {
    what: String,
    advice: String,
}

impl UsageError {
    /// What is wrong, and what to do.
    pub fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: advice.into() }
    }

    /// A file that cannot be read; `-` is standard input.
    pub fn unreadable(path: &str, error: &io::Error) -> Self {
        let name = if path == "-" { "standard input".to_owned() } else { format!("`{path}`") };
        Self::new(
            format!("cannot read {name}: {}", sentence(&error)),
            "check that the file is there and may be read",
        )
    }

    /// From the parser's own error: its first sentence, and its tip where it has one.
    pub fn from_parser(error: &clap::Error, command: &str) -> Self {
        let text = error.render().to_string();
        let mut blocks =
            text.split("\n\n").map(|block| block.split_whitespace().collect::<Vec<_>>().join(" "));
        let what = backticked(&blocks.next().unwrap_or_default());
        let what = what.strip_prefix("error: ").unwrap_or(&what).trim_end_matches('.').to_owned();
        let help = format!("`{command} --help` lists what can be given, with examples");
        let advice = match blocks.find_map(|block| block.strip_prefix("tip: ").map(backticked)) {
            Some(tip) => format!("{tip}; {help}"),
            None => help,
        };
        Self::new(what, advice)
    }
}

impl ServerError {
    /// What happened, and what to do.
    pub fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: advice.into() }
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

/// An error of a library as the end of a sentence of ours: lower-case, without a full stop, the error number left out.
pub fn sentence(error: &impl Display) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default().trim_end_matches('.');
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
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
        self.to_string()
    }

    fn advice(&self) -> String {
        match self {
            Self::Usage(UsageError { advice, .. }) | Self::Server(ServerError { advice, .. }) => {
                advice.clone()
            }
            Self::Output(_) => "check the disk or the file that the output goes to".to_owned(),
            Self::Unmet(_) => "add `--explain` to see how the answer came about".to_owned(),
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
    fn foreign_errors_end_our_sentences() {
        assert_eq!(sentence(&"No such file or directory (os error 2)"), "no such file or directory");
        assert_eq!(sentence(&"EOF while parsing."), "EOF while parsing");
    }
}
