//! HTML pages: a result as one file that needs no network, no script and no second file.
//!
//! A [`Page`] is a title, [`Fact`]s in large type, and [`Section`]s of text, [`Table`]s and [`Plot`]s; [`Page::to_html`]
//! makes the file. It reads well at 360 pixels, in the dark and on paper: plots are SVG whose colours come from the
//! page's style, whose text keeps its size whatever the width, and whose series differ in dashes or hatching as well as in
//! colour. Everything that comes from callers is escaped by the template engine, and the page forbids itself every
//! request and script (Content-Security-Policy), so that a replica's name cannot do anything but be shown.
//!
//! ```
//! use icache::render::html::{Fact, Page, Plot, Section, Series, Unit, X};
//!
//! let plot = Plot::lines("Index entries", "Entries held over time.", Unit::Count("entries"))
//!     .x(X::Seconds(vec![0.0, 30.0, 60.0]))
//!     .series(Series::new("entries", vec![0.0, 1_200.0, 1_150.0]));
//! let page = Page::new("Replay of fleet.jsonl", "icache replay")
//!     .fact(Fact::new("lookups", "30"))
//!     .section(Section::new("Index").plot(plot));
//! assert!(page.to_html().unwrap().starts_with("<!doctype html>"));
//! ```
//!
//! The plots are drawn here, by some geometry and one template: of the crates tried, plotters fixes colours and
//! font sizes into the file (no dark mode, text that shrinks with the width), poloto knows themes but no stacks, dashes or
//! second reader than the eye, and charming, plotly and uPlot need a script, up to 3 MB of it, and draw on a canvas that
//! neither turns dark nor prints sharply.

mod axis;
mod draw;
mod limits;
mod palette;
mod plot;
mod table;
mod thin;
mod words;

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use base64::Engine as _;
use minijinja::Environment;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

pub use limits::{MAX_COLUMNS, MAX_LINE_POINTS, MAX_ROWS, MAX_SERIES, MAX_TEXT};
pub use plot::{Merge, Plot, Series, Unit, X};
pub use table::Table;

use draw::Drawing;
use limits::clipped;
use table::Grid;

/// What a fact or a cell says by its colour, and by a sign for those who do not see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mood {
    /// Neither.
    #[default]
    Plain,
    /// As wished.
    Good,
    /// Not as wished.
    Bad,
}

/// One number of a page's head.
#[derive(Clone, Debug, Serialize)]
pub struct Fact {
    name: String,
    value: String,
    note: String,
    mood: Mood,
}

impl Fact {
    /// What it is, and its value with its unit.
    pub fn new(name: &str, value: impl Into<String>) -> Self {
        Self { name: clipped(name), value: clipped(&value.into()), note: String::new(), mood: Mood::Plain }
    }

    /// A remark below the value.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = clipped(&note.into());
        self
    }

    /// Whether it is as wished.
    pub fn mood(mut self, mood: Mood) -> Self {
        self.mood = mood;
        self
    }
}

/// A heading and what stands below it.
#[derive(Clone, Debug)]
pub struct Section {
    heading: String,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
enum Block {
    Text(String),
    List(Vec<String>),
    Table(Table),
    Plot(Box<Plot>),
}

impl Section {
    /// An empty section.
    pub fn new(heading: &str) -> Self {
        Self { heading: clipped(heading), blocks: Vec::new() }
    }

    /// Adds a paragraph.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Text(clipped(&text.into())));
        self
    }

    /// Adds a list; of its items [`MAX_ROWS`] are shown.
    pub fn list(mut self, items: impl IntoIterator<Item = String>) -> Self {
        let items = items.into_iter().take(MAX_ROWS).map(|item| clipped(&item));
        self.blocks.push(Block::List(items.collect()));
        self
    }

    /// Adds a table.
    pub fn table(mut self, table: Table) -> Self {
        self.blocks.push(Block::Table(table));
        self
    }

    /// Adds a plot; its numbers stand in a folded table below it.
    pub fn plot(mut self, plot: Plot) -> Self {
        self.blocks.push(Block::Plot(Box::new(plot)));
        self
    }
}

/// A page on its way.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    made_by: String,
    lead: String,
    facts: Vec<Fact>,
    sections: Vec<Section>,
    data: Option<String>,
}

/// A block as the template takes it.
#[derive(Serialize)]
#[serde(tag = "kind", content = "is", rename_all = "lowercase")]
enum Shown {
    Text(String),
    List(Vec<String>),
    Table(Grid),
    Plot(Box<Drawing>),
}

#[derive(Serialize)]
struct ShownSection<'a> {
    heading: &'a str,
    blocks: Vec<Shown>,
}

#[derive(Serialize)]
struct ShownPage<'a> {
    title: &'a str,
    made_by: &'a str,
    version: &'a str,
    lead: &'a str,
    facts: &'a [Fact],
    sections: Vec<ShownSection<'a>>,
    /// JSON that ends no element.
    data: Option<&'a str>,
    style: String,
    style_digest: String,
    hatches: Vec<usize>,
}

const PAGE: &str = include_str!("page.html");
const PLOT: &str = include_str!("plot.html");
const TABLE: &str = include_str!("table.html");
const STYLE: &str = include_str!("style.css");

impl Page {
    /// A page with this title, made by this command line.
    pub fn new(title: &str, made_by: &str) -> Self {
        Self {
            title: clipped(title),
            made_by: clipped(made_by),
            lead: String::new(),
            facts: Vec::new(),
            sections: Vec::new(),
            data: None,
        }
    }

    /// One sentence below the title.
    pub fn lead(mut self, lead: impl Into<String>) -> Self {
        self.lead = clipped(&lead.into());
        self
    }

    /// Adds a number to the head.
    pub fn fact(mut self, fact: Fact) -> Self {
        self.facts.push(fact);
        self
    }

    /// Adds a section.
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// The document behind the page, embedded for scripts as `<script type="application/json" id="data">`.
    pub fn data(mut self, document: &impl Serialize) -> io::Result<Self> {
        let text = serde_json::to_string(document)?;
        // Outside of strings JSON has none of these, and within they must not end the element.
        self.data = Some(text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"));
        Ok(self)
    }

    /// The file's text. The error is one of the template.
    pub fn to_html(&self) -> io::Result<String> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(io::Error::other)?);
        for (name, source) in [("page.html", PAGE), ("plot.html", PLOT), ("table.html", TABLE)] {
            environment.add_template(name, source).map_err(io::Error::other)?;
        }
        let style = format!("{}{STYLE}", palette::variables());
        let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(style.as_bytes()));
        let mut plots = 0;
        let sections: Vec<_> = self.sections.iter().map(|section| section.shown(&mut plots)).collect();
        let page = environment.get_template("page.html").map_err(io::Error::other)?;
        let shown = ShownPage {
            title: &self.title,
            made_by: &self.made_by,
            version: env!("CARGO_PKG_VERSION"),
            lead: &self.lead,
            facts: &self.facts,
            sections,
            data: self.data.as_deref(),
            style,
            style_digest: digest,
            hatches: (0..MAX_SERIES).collect(),
        };
        page.render(Serde(shown)).map_err(io::Error::other)
    }

    /// Writes the file beside its place and moves it there, so that a page that was there is whole until the new one is.
    /// A link stays, and what it leads to is replaced; what is no file, such as a device or a pipe, is written to.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let html = self.to_html()?;
        let path = &match fs::canonicalize(path) {
            Ok(there) if !fs::metadata(&there)?.is_file() => {
                return fs::OpenOptions::new().write(true).open(there)?.write_all(html.as_bytes());
            }
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(error),
        };
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.tmp", std::process::id()));
        let beside = path.with_file_name(name);
        let written = fs::File::create(&beside)
            .and_then(|mut file| file.write_all(html.as_bytes()))
            .and_then(|()| fs::rename(&beside, path));
        if written.is_err() {
            // The first error is the one to tell.
            let _ = fs::remove_file(&beside);
        }
        written
    }
}

impl Section {
    fn shown(&self, plots: &mut usize) -> ShownSection<'_> {
        let blocks = self.blocks.iter().map(|block| match block {
            Block::Text(text) => Shown::Text(text.clone()),
            Block::List(items) => Shown::List(items.clone()),
            Block::Table(table) => Shown::Table(table.shown()),
            Block::Plot(plot) => {
                *plots += 1;
                Shown::Plot(Box::new(plot.draw(*plots)))
            }
        });
        ShownSection { heading: &self.heading, blocks: blocks.collect() }
    }
}

#[cfg(test)]
mod tests;
