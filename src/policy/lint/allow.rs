//! `# icache: allow RULE[, RULE]`: findings that the author of a file knows of.

use hashbrown::HashSet;

use super::finding::Diagnostic;
use super::input::Input;
use super::registry::Rule;
use crate::policy::document::Parsed;
use crate::policy::source::SourceText;

/// The findings without those that a comment or an option allows. What a server refuses nothing allows.
pub(super) fn without_allowed(input: &Input<'_>, all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let comments = input.sources.iter().zip(&input.files);
    let allowed: Vec<HashSet<(usize, Rule)>> =
        comments.map(|(source, parsed)| allowed_in(source, parsed)).collect();
    let is_named = |diagnostic: &Diagnostic| {
        let file = diagnostic.site.file;
        let (Some(source), Some(allowed)) = (input.sources.get(file), allowed.get(file)) else {
            return false;
        };
        allowed.contains(&(source.line_at(diagnostic.site.start), diagnostic.rule))
    };
    let mut left = Vec::with_capacity(all.len());
    for mut diagnostic in all {
        match (diagnostic.rule.is_enforced(), is_named(&diagnostic)) {
            (true, true) => diagnostic.help.push_str("; no comment allows it, since a server refuses it"),
            (true, false) => {}
            (false, true) => continue,
            (false, false) if input.options.allow.contains(&diagnostic.rule) => continue,
            (false, false) => {}
        }
        left.push(diagnostic);
    }
    left
}

/// The lines of a source, each with the rules that are allowed in it.
fn allowed_in(source: &SourceText, parsed: &Parsed) -> HashSet<(usize, Rule)> {
    let mut allowed = HashSet::new();
    // From the end, so that the line after a comment is looked for once, however many comments stand above it.
    let mut next_content = Content { source, from: source.line_count() + 1, found: None };
    for comment in parsed.comments.iter().rev() {
        let Some(rules) = rules(&comment.text) else { continue };
        let line = source.line_at(comment.span.start);
        let before = source.line(line).start..comment.span.start;
        let target = if is_blank(source.slice(&before)) { next_content.after(line) } else { line };
        allowed.extend(rules.map(|rule| (target, rule)));
    }
    allowed
}

/// The rules that a comment names.
fn rules(text: &str) -> Option<impl Iterator<Item = Rule> + '_> {
    let list = text.trim().strip_prefix("icache:")?.trim_start().strip_prefix("allow ")?;
    Some(list.split([',', ' ']).filter_map(|id| Rule::parse(id.trim())))
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|char| char.is_whitespace() || char == '\u{feff}')
}

/// The line that a comment in a line of its own speaks of: the next one that is more than a comment. Asked for lines in
/// descending order.
struct Content<'a> {
    source: &'a SourceText,
    /// Lines from here on have been looked at.
    from: usize,
    /// The first of them with content.
    found: Option<usize>,
}

impl Content<'_> {
    fn after(&mut self, line: usize) -> usize {
        let is_content = |line: &usize| {
            let text = self.source.slice(&self.source.line(*line)).trim_start();
            !text.is_empty() && !text.starts_with('#')
        };
        self.found = (line + 1..self.from).find(is_content).or(self.found);
        self.from = self.from.min(line + 1);
        self.found.unwrap_or(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_name_rules() {
        for (text, ids) in [
            (" icache: allow ttl-very-long", &["ttl-very-long"][..]),
            ("icache:allow  both-floors-off,ttl-below-sweep ", &["both-floors-off", "ttl-below-sweep"]),
            (" icache: allow no-such-rule, tenant-hot-dead", &["tenant-hot-dead"]),
            (" icache: deny ttl-very-long", &[]),
            (" allow ttl-very-long", &[]),
        ] {
            let found: Vec<&str> = rules(text).into_iter().flatten().map(Rule::id).collect();
            assert_eq!(found, ids, "{text}");
        }
    }
}
