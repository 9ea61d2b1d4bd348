//! Findings: where, what is wrong, what to do, and the edit that does it where one is safe.

use super::registry::Rule;
use crate::policy::document::{Entry, Value};
use crate::policy::schema::Item;
use crate::policy::source::{Place, SourceText, Span};

/// A place in one of the sources.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Site {
    /// Which of the sources.
    pub file: usize,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Site {
    pub(in crate::policy) fn new(file: usize, span: &Span) -> Self {
        Self { file, start: span.start, end: span.end.max(span.start) }
    }

    /// The bytes.
    pub fn span(&self) -> Span {
        self.start..self.end
    }
}

/// Another place that a finding speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// Where.
    pub site: Site,
    /// What stands there.
    pub label: String,
}

/// Bytes to replace.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Edit {
    /// Where.
    pub site: Site,
    /// What stands there instead.
    pub text: String,
}

/// One thing that a rule found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The rule.
    pub rule: Rule,
    /// Where.
    pub site: Site,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub help: String,
    /// Other places.
    pub related: Vec<Related>,
    /// A change that says the same, and right.
    pub fix: Option<Edit>,
}

impl Diagnostic {
    /// A place in `sources` for people: name, line and column.
    pub fn place<'a>(&self, sources: &'a [SourceText]) -> (&'a str, Place) {
        place(&self.site, sources)
    }

    pub(super) fn related(mut self, site: Site, label: impl Into<String>) -> Self {
        self.related.push(Related { site, label: label.into() });
        self
    }

    pub(super) fn fix(mut self, fix: Option<Edit>) -> Self {
        self.fix = fix;
        self
    }
}

/// Name, line and column of `site`.
pub fn place<'a>(site: &Site, sources: &'a [SourceText]) -> (&'a str, Place) {
    sources
        .get(site.file)
        .map_or(("", Place { line: 1, column: 1 }), |source| (source.name(), source.place(site.start)))
}

/// Findings of one rule that are kept, the allowed ones included; the last of them says that there are more.
const MAX_FINDINGS: usize = 20_000;

/// What one rule has found so far.
#[derive(Debug)]
pub(in crate::policy) struct Findings<'a> {
    rule: Rule,
    all: &'a mut Vec<Diagnostic>,
    count: usize,
}

impl<'a> Findings<'a> {
    pub(super) fn new(rule: Rule, all: &'a mut Vec<Diagnostic>) -> Self {
        Self { rule, all, count: 0 }
    }

    /// Whether nothing more is kept; a rule that finds things dearly stops then.
    pub(super) fn is_full(&self) -> bool {
        self.count >= MAX_FINDINGS
    }

    /// A finding of this rule, for [`Self::push`].
    pub(super) fn at(&self, site: Site, what: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        Diagnostic {
            rule: self.rule,
            site,
            what: what.into(),
            help: help.into(),
            related: Vec::new(),
            fix: None,
        }
    }

    /// A finding about the value of `entry`, or about its key where the value has many lines.
    pub(super) fn of(
        &self,
        item: &Item,
        entry: &Entry,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        let is_many = matches!(entry.node.value, Value::List(_) | Value::Map(_));
        let is_alias = entry.node.anchor.is_some();
        let site = if is_many && !is_alias { item.key(entry) } else { item.site(entry) };
        let finding = self.at(site, what, help);
        match &entry.node.anchor {
            Some(anchor) => finding.related(Site::new(item.file, anchor), "the alias stands for this"),
            None => finding,
        }
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.count += 1;
        if self.count < MAX_FINDINGS {
            self.all.push(diagnostic);
        } else if self.count == MAX_FINDINGS {
            let help = format!("{}; further findings of this rule are not listed", diagnostic.help);
            self.all.push(Diagnostic { help, ..diagnostic });
        }
    }

    /// Adds a finding that needs no more than a place and two sentences.
    pub(super) fn add(&mut self, site: Site, what: impl Into<String>, help: impl Into<String>) {
        let diagnostic = self.at(site, what, help);
        self.push(diagnostic);
    }
}
