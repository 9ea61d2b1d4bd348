//! `--fix`: the edits that are safe, and nothing else of the text.

use super::finding::{Diagnostic, Edit};
use super::{LintOptions, lint};
use crate::policy::source::SourceText;

/// Rounds at most; one edit may bring to light what another rule finds.
const MAX_ROUNDS: usize = 8;

/// The source with every safe fix applied, and how many there were; `None` where there is nothing to fix.
pub fn fixed(source: &SourceText, options: &LintOptions) -> Option<(SourceText, usize)> {
    let mut current = source.clone();
    let mut count = 0;
    for _ in 0..MAX_ROUNDS {
        let edits = edits(lint(std::slice::from_ref(&current), options).diagnostics);
        if edits.is_empty() {
            break;
        }
        count += edits.len();
        current = SourceText::new(current.name(), applied(current.text(), &edits));
    }
    (count > 0).then_some((current, count))
}

/// The edits in order; of two that overlap, the first.
fn edits(diagnostics: Vec<Diagnostic>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = diagnostics.into_iter().filter_map(|diagnostic| diagnostic.fix).collect();
    edits.sort();
    let mut end = 0;
    edits.retain(|edit| {
        let is_free = edit.site.start >= end;
        end = if is_free { edit.site.end.max(edit.site.start + 1) } else { end };
        is_free
    });
    edits
}

fn applied(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for edit in edits {
        out.push_str(text.get(at..edit.site.start).unwrap_or_default());
        out.push_str(&edit.text);
        at = edit.site.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
