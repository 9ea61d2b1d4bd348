//! Where output goes, and what it may look like.

use std::io::{self, IsTerminal as _, Write};

use serde::Serialize;

use super::text::{Tone, wrap};

/// When to use colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always, in pipes and files too
    Always,
    /// Never
    Never,
}

/// Form of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum Format {
    /// Text for people
    #[default]
    Table,
    /// One indented JSON document
    Json,
    /// One JSON document a line
    Jsonl,
}

/// What the output may look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// ANSI colours.
    pub color: bool,
    /// Characters beyond ASCII.
    pub unicode: bool,
    /// Columns.
    pub width: usize,
}

/// Columns where there is no terminal to ask.
const PLAIN_WIDTH: usize = 80;
/// Beyond this, lines of text are hard to read.
const MAX_WIDTH: usize = 120;
/// Narrower terminals wrap on their own.
const MIN_WIDTH: usize = 60;
/// What COLUMNS asks for counts from here on, up to any width.
const LEAST_ASKED: usize = 40;

impl Look {
    /// No colour, `width` columns.
    pub fn plain(width: usize) -> Self {
        Self { color: false, unicode: true, width }
    }

    fn of(when: ColorWhen, is_terminal: bool) -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let color = match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => {
                is_terminal
                    && !is_set("NO_COLOR")
                    && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
            }
        };
        let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse::<u16>().ok());
        let width = match (asked.map(usize::from), terminal_size::terminal_size()) {
            (Some(asked), _) if asked >= LEAST_ASKED => asked,
            (_, Some((width, _))) if is_terminal => usize::from(width.0).clamp(MIN_WIDTH, MAX_WIDTH),
            _ => PLAIN_WIDTH,
        };
        Self { color, unicode: locale_is_unicode(), width }
    }
}

/// Only a locale that says otherwise rules Unicode out: containers often have none set.
fn locale_is_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// The one writer of results.
pub struct Printer {
    out: Box<dyn Write>,
    look: Look,
    when: ColorWhen,
    is_closed: bool,
}

impl Printer {
    /// Standard output.
    pub fn stdout(when: ColorWhen) -> Self {
        let look = Look::of(when, io::stdout().is_terminal());
        Self { when, ..Self::new(io::BufWriter::new(io::stdout()), look) }
    }

    /// When it uses colour, for others in its manner.
    pub fn when(&self) -> ColorWhen {
        self.when
    }

    /// Standard error.
    pub fn stderr(when: ColorWhen) -> Self {
        let look = Look::of(when, io::stderr().is_terminal());
        Self { when, ..Self::new(io::stderr(), look) }
    }

    /// Any writer.
    pub fn new(out: impl Write + 'static, look: Look) -> Self {
        Self { out: Box::new(out), look, when: ColorWhen::Auto, is_closed: false }
    }

    /// What the output may look like.
    pub fn look(&self) -> Look {
        self.look
    }

    /// When colour was asked for.
    pub fn color_when(&self) -> ColorWhen {
        self.when
    }

    /// Whether the reader has gone; what is printed from then on goes nowhere.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Prints `text` as it is.
    pub fn raw(&mut self, text: &[u8]) -> io::Result<()> {
        self.unless_closed(|out| out.write_all(text))
    }

    /// Prints a line.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.unless_closed(|out| writeln!(out, "{}", text.trim_end()))
    }

    /// Prints sentences in as many lines as they take; every line after the first is indented by `hanging`.
    pub fn prose(&mut self, text: &str, hanging: usize) -> io::Result<()> {
        wrap(text, self.look.width, hanging).iter().try_for_each(|line| self.line(line))
    }

    /// The same in one tone.
    pub fn toned(&mut self, tone: Tone, text: &str, hanging: usize) -> io::Result<()> {
        for line in wrap(text, self.look.width, hanging) {
            self.line(&tone.paint(self.look.color, &line))?;
        }
        Ok(())
    }

    /// Prints `label` in its tone, and the text behind it in as many lines as it takes.
    pub fn labelled(&mut self, tone: Tone, label: &str, text: &str) -> io::Result<()> {
        for (at, line) in wrap(&format!("{label} {text}"), self.look.width, 2).iter().enumerate() {
            match line.strip_prefix(label).filter(|_| at == 0) {
                Some(rest) => self.line(&format!("{}{rest}", tone.paint(self.look.color, label)))?,
                None => self.line(line)?,
            }
        }
        Ok(())
    }

    /// Prints an indented JSON document.
    pub fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        self.line(&text)
    }

    /// Prints a JSON document in one line.
    pub fn json_line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string(value)?;
        self.line(&text)
    }

    /// Hands over what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        self.unless_closed(|out| out.flush())
    }

    /// `text` in `tone`, where there is colour.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        tone.paint(self.look.color, text)
    }

    fn unless_closed(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        match write(self.out.as_mut()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(())
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    #[test]
    fn a_closed_pipe_ends_the_output_and_is_no_error() {
        let mut printer = Printer::new(Gone, Look::plain(80));
        assert!(printer.line("one").is_ok());
        assert!(printer.is_closed());
        assert!(printer.line("two").is_ok());
        assert!(printer.flush().is_ok());
    }
}
