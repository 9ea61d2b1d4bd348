//! The registry's documents as plain text: headings, paragraphs, lists and code without their marks.

use super::printer::Look;
use super::text::{Tone, wrap};

/// Lines of `doc`, wrapped to the screen.
pub fn plain(doc: &str, look: Look) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_code = false;
    let mut paragraph = Paragraph::default();
    for line in doc.lines() {
        if line.starts_with("```") {
            paragraph.end(&mut lines, look);
            is_code = !is_code;
        } else if is_code {
            lines.push(format!("    {line}").trim_end().to_owned());
        } else if let Some(heading) = line.strip_prefix('#') {
            paragraph.end(&mut lines, look);
            lines.push(Tone::Strong.paint(look.color, heading.trim_start_matches('#').trim()));
        } else if line.trim().is_empty() {
            paragraph.end(&mut lines, look);
            lines.push(String::new());
        } else if let Some(hanging) = item_mark(line.trim_start()) {
            paragraph.end(&mut lines, look);
            paragraph =
                Paragraph { indent: line.len() - line.trim_start().len(), hanging, text: String::new() };
            paragraph.push(line);
        } else {
            paragraph.push(line);
        }
    }
    paragraph.end(&mut lines, look);
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Columns of the mark that makes `line` an item of a list: `- ` or `1. `.
fn item_mark(line: &str) -> Option<usize> {
    if line.starts_with("- ") {
        return Some(2);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0 && line[digits..].starts_with(". ")).then_some(digits + 2)
}

#[derive(Default)]
struct Paragraph {
    text: String,
    indent: usize,
    /// Columns that the mark of an item takes.
    hanging: usize,
}

impl Paragraph {
    fn push(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(line.trim());
    }

    fn end(&mut self, lines: &mut Vec<String>, look: Look) {
        let done = std::mem::take(self);
        if done.text.is_empty() {
            return;
        }
        let margin = done.indent + 2;
        for line in wrap(&done.text, look.width.saturating_sub(margin), done.hanging) {
            lines.push(format!("{}{line}", " ".repeat(margin)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_go_and_text_is_wrapped() {
        let doc = "## Checks\nAll of: one\ntwo.\n- first item that\n  goes on\n- second\n1. one that goes\non\n2. two\n\n```\na x b\n```\n";
        let shown = plain(doc, Look::plain(24));
        let wished = [
            "Checks",
            "  All of: one two.",
            "  - first item that goes",
            "    on",
            "  - second",
            "  1. one that goes on",
            "  2. two",
            "",
            "    a x b",
        ];
        assert_eq!(shown, wished);
    }
}
