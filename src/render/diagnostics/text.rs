//! Findings as a compiler shows them.

use std::io;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{Linted, counted, counts};
use crate::policy::SourceText;
use crate::policy::lint::{Diagnostic, Severity, Site};
use crate::render::printer::Printer;
use crate::render::text::clean;

/// Lines of an excerpt at most; what is further away gets one of its own.
const MAX_LINES: usize = 12;
/// Bytes of a line that are shown whole; of longer ones, what is near the place.
const MAX_LINE: usize = 200;

/// Prints every finding, then what they come to.
pub(super) fn print(printer: &mut Printer, linted: &Linted<'_>) -> io::Result<()> {
    for finding in &linted.report.diagnostics {
        diagnostic(printer, linted.sources, finding)?;
    }
    if linted.fixed > 0 {
        printer.line(&format!("fixed {}", counted(linted.fixed, "place")))?;
    }
    printer.line(&summary(linted))
}

fn summary(linted: &Linted<'_>) -> String {
    let report = linted.report;
    let objects = report.policies + report.tenants;
    let found = counts(report);
    let found = if found.is_empty() { "nothing to report".to_owned() } else { found };
    let allowed = if report.allowed > 0 { format!(" ({} allowed)", report.allowed) } else { String::new() };
    let (objects, files) = (counted(objects, "object"), counted(linted.sources.len(), "file"));
    format!("{found}{allowed} in {objects} of {files}")
}

/// Prints one finding, and an empty line.
pub(super) fn diagnostic(
    printer: &mut Printer,
    sources: &[SourceText],
    diagnostic: &Diagnostic,
) -> io::Result<()> {
    let level = match diagnostic.rule.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let mut sites = vec![(&diagnostic.site, None)];
    sites.extend(diagnostic.related.iter().map(|related| (&related.site, Some(related.label.as_str()))));
    let title = level.primary_title(clean(&diagnostic.what)).id(diagnostic.rule.id());
    let mut group = Group::with_title(title);
    for (excerpt, origin) in excerpts(sources, &sites) {
        group = match origin {
            Some(origin) => group.element(origin).element(excerpt),
            None => group.element(excerpt),
        };
    }
    let group = group
        .element(Level::HELP.message(clean(&diagnostic.help)))
        .element(Level::NOTE.message(format!("`icache policy rules {}` says more", diagnostic.rule.id())));
    let renderer = if printer.look().color { Renderer::styled() } else { Renderer::plain() };
    printer.line(&renderer.render(&[group]))?;
    printer.line("")
}

type Marked<'a> = (&'a Site, Option<&'a str>);
type Excerpt<'a> = Snippet<'a, annotate_snippets::Annotation<'a>>;

/// Excerpts of the sources with `sites` underlined, the first one's first; neighbours share one.
fn excerpts<'a>(sources: &'a [SourceText], sites: &[Marked<'a>]) -> Vec<(Excerpt<'a>, Option<Origin<'a>>)> {
    let mut rest: Vec<Marked<'a>> = sites.to_vec();
    let mut excerpts = Vec::new();
    while let Some((first, _)) = rest.first().copied() {
        let Some(source) = sources.get(first.file) else { break };
        let mut lines = lines(source, first);
        let mut shown = Vec::new();
        rest.retain(|(site, label)| {
            let near = self::lines(source, site);
            let joined = lines.start.min(near.start)..lines.end.max(near.end);
            let is_near = site.file == first.file
                && (*site == first || (joined.len() <= MAX_LINES && is_short(source, &joined)));
            if is_near {
                lines = joined;
                shown.push((*site, *label, *site == sites[0].0));
            }
            !is_near
        });
        excerpts.push(excerpt(source, lines, &shown));
    }
    excerpts
}

/// The lines of a site, from 1; of a long one the first few.
fn lines(source: &SourceText, site: &Site) -> Range<usize> {
    let first = source.line_at(site.start);
    let last = source.line_at(site.end.saturating_sub(1).max(site.start));
    first..last.min(first + MAX_LINES - 1) + 1
}

fn is_short(source: &SourceText, lines: &Range<usize>) -> bool {
    lines.clone().all(|line| source.line(line).len() <= MAX_LINE)
}

/// An excerpt, and its place where the excerpt cannot tell it, since it begins within a line.
fn excerpt<'a>(
    source: &'a SourceText,
    lines: Range<usize>,
    shown: &[(&'a Site, Option<&'a str>, bool)],
) -> (Excerpt<'a>, Option<Origin<'a>>) {
    let mut window = source.line(lines.start).start..source.line(lines.end - 1).end;
    let is_cut = !is_short(source, &lines);
    let at = shown.first().map_or(window.start, |(site, ..)| site.start);
    if is_cut {
        window = near(source, &window, at);
    }
    if source.slice(&window).starts_with('\u{feff}') {
        window.start += '\u{feff}'.len_utf8();
    }
    let text = source.slice(&window);
    let annotations = shown.iter().map(|(site, label, is_primary)| {
        let kind = if *is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        kind.span(within(text, &window, site)).label(*label)
    });
    let excerpt = Snippet::source(text).line_start(lines.start).annotations(annotations);
    let path = clean(source.name());
    if is_cut {
        let place = source.place(at);
        return (excerpt, Some(Origin::path(path).line(place.line).char_column(place.column)));
    }
    (excerpt.path(path), None)
}

/// The bytes around `at`, at most a long line's worth, cut between characters.
fn near(source: &SourceText, window: &Range<usize>, at: usize) -> Range<usize> {
    let text = source.text();
    let start = at.saturating_sub(MAX_LINE / 4).max(window.start);
    let start = (start..=at).find(|at| text.is_char_boundary(*at)).unwrap_or(window.start);
    let end = (at + MAX_LINE / 2).min(window.end);
    let end = (end..=window.end).find(|at| text.is_char_boundary(*at)).unwrap_or(window.end);
    // A long line may hold the window's first line end: what is behind it is another line.
    let line_end = text.get(at..end).and_then(|text| text.find(['\n', '\r'])).map_or(end, |found| at + found);
    start..line_end
}

/// A site in the excerpt; one without extent underlines the character that stands there.
fn within(text: &str, window: &Range<usize>, site: &Site) -> Range<usize> {
    let start = site.start.clamp(window.start, window.end) - window.start;
    let end = site.end.clamp(window.start, window.end) - window.start;
    if end > start {
        return start..end;
    }
    let width =
        text.get(start..).and_then(|rest| rest.chars().next()).filter(|char| !matches!(char, '\n' | '\r'));
    start..start + width.map_or(0, char::len_utf8)
}
