//! YAML 1.2 as written: values with the bytes they stand in, within budgets that no file can break.

use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Tag};
use hashbrown::HashMap;

use super::scalar::plain_value;
use super::source::{SourceText, Span};

/// Levels of nesting in one document at most, aliases written out: objects of the cluster nest some ten deep.
const MAX_DEPTH: usize = 64;
/// Values of one file at most, aliases written out.
const MAX_VALUES: usize = 500_000;
/// Findings of one file at most; a file of nothing but errors shows nobody more than that.
const MAX_PROBLEMS: usize = 1_000;

/// A value and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Node {
    /// The bytes of the value, or of the alias that stands for it.
    pub(super) span: Span,
    /// Where an alias finds its value.
    pub(super) anchor: Option<Span>,
    /// Whether it is written without quotes, in one piece.
    pub(super) is_plain: bool,
    pub(super) value: Value,
}

/// A value by its YAML type.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// The number, at the border of `i128` where it is beyond, and as written.
    Int(i128, Arc<str>),
    /// As written.
    Float(Arc<str>),
    Text(Arc<str>),
    List(Arc<Vec<Node>>),
    Map(Arc<Vec<Entry>>),
}

impl Value {
    /// What it is, for errors.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Null => "empty".to_owned(),
            Self::Bool(value) => format!("the boolean `{value}`"),
            Self::Int(_, text) | Self::Float(text) => format!("the number `{}`", shortened(text)),
            Self::Text(text) => format!("the text `{}`", shortened(text)),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "an object".to_owned(),
        }
    }
}

/// `text` as it fits into a sentence: its first line, and not all of a long one.
pub(super) fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut line: String = text.chars().take_while(|char| !matches!(char, '\n' | '\r')).take(SHOWN).collect();
    if line.len() < text.trim_end_matches(['\n', '\r']).len() {
        line.push('…');
    }
    line
}

/// A key of an object, where it stands, and its value.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Entry {
    pub(super) key: Arc<str>,
    pub(super) key_span: Span,
    pub(super) node: Node,
}

/// A comment, from its `#` to the end of the line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Comment {
    pub(super) span: Span,
    /// After the `#`.
    pub(super) text: String,
}

/// What is wrong with a text before anybody asks what it means.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Problem {
    Syntax { span: Span, what: String, help: &'static str },
    DuplicateKey { key: Arc<str>, span: Span, first: Span },
}

/// A text as YAML.
#[derive(Clone, Debug, Default)]
pub(super) struct Parsed {
    /// The documents that could be read; empty ones are left out.
    pub(super) documents: Vec<Node>,
    pub(super) comments: Vec<Comment>,
    /// What aliases stand for: a change there is a change in several places.
    pub(super) shared: Vec<Span>,
    pub(super) problems: Vec<Problem>,
}

/// Reads every document of `source`. After an error in one, it goes on with the next.
pub(super) fn parse(source: &SourceText) -> Parsed {
    let mut reader = Reader { text: source.text(), ..Reader::default() };
    if let Some(defect) = source.defect() {
        reader.syntax(defect.at..defect.at, defect.what.clone(), defect.help);
        return reader.parsed;
    }
    let options = granit_parser::options! {
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
        // The size of the file bounds them: a long header of comments is no attack.
        max_buffered_comment_events: usize::MAX,
    };
    let mut parser = Parser::new_from_str_with_options(source.text(), options);
    while let Some(next) = parser.next_event() {
        let error = match next {
            Ok((event, span)) => match reader.event(event, bytes(&span)) {
                Ok(()) => continue,
                Err(Stop::Document) => None,
                Err(Stop::File) => break,
            },
            Err(error) => Some(error),
        };
        if let Some(error) = &error {
            reader.scan_error(error);
        }
        reader.abandon_document();
        match parser.proceed_next_document() {
            Ok(true) if reader.parsed.problems.len() < MAX_PROBLEMS => {}
            Ok(_) => break,
            Err(error) => {
                reader.scan_error(&error);
                break;
            }
        }
    }
    reader.parsed
}

fn bytes(span: &granit_parser::Span) -> Span {
    span.byte_range().unwrap_or_default()
}

/// How far an error reaches.
#[derive(Debug)]
enum Stop {
    Document,
    File,
}

/// A list or object that has not ended.
#[derive(Debug)]
struct Open {
    span: Span,
    anchor: usize,
    depth: usize,
    size: usize,
    items: Items,
}

#[derive(Debug)]
enum Items {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        places: HashMap<Arc<str>, usize>,
        merges: Vec<Node>,
        key: Option<(Arc<str>, Span, bool)>,
    },
}

/// A value that aliases can stand for, and what it costs to write it out.
#[derive(Debug)]
struct Anchored {
    node: Node,
    depth: usize,
    size: usize,
}

#[derive(Debug, Default)]
struct Reader<'a> {
    text: &'a str,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    values: usize,
    parsed: Parsed,
}

impl Reader<'_> {
    fn syntax(&mut self, span: Span, what: String, help: &'static str) {
        self.parsed.problems.push(Problem::Syntax { span, what, help });
    }

    fn scan_error(&mut self, error: &ScanError) {
        let at = error.marker().byte_offset().unwrap_or_default().min(self.text.len());
        let said = sentence(&error.info());
        // The parser quotes with apostrophes, and apostrophes that quote come in pairs.
        let is_quoted = said.matches('\'').count().is_multiple_of(2);
        let said = if is_quoted { said.replace('\'', "`") } else { said };
        let what = format!("no valid YAML: {said}");
        self.syntax(at..at, what, "repair the YAML here, or in the lines before");
    }

    fn abandon_document(&mut self) {
        self.open.clear();
        self.anchors.clear();
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Stop> {
        match event {
            Event::DocumentStart(..) => self.abandon_document(),
            Event::Comment(text, _) => self.parsed.comments.push(Comment { span, text: text.into_owned() }),
            Event::Scalar(text, style, anchor, tag) => {
                self.count(1)?;
                let value = scalar(&text, style, tag.as_deref());
                let is_plain = style == ScalarStyle::Plain;
                let span = trimmed(self.text, span, style);
                self.place(Node { span, anchor: None, is_plain, value }, anchor, 0, 1)?;
            }
            Event::Alias(id) => {
                let Some(anchored) = self.anchors.get(&id) else {
                    self.syntax(
                        span,
                        "no valid YAML: an alias stands within its own anchor".to_owned(),
                        "write the value out",
                    );
                    return Err(Stop::Document);
                };
                let (depth, size) = (anchored.depth, anchored.size);
                let node = Node { span, anchor: Some(anchored.node.span.clone()), ..anchored.node.clone() };
                self.parsed.shared.extend(node.anchor.clone());
                self.count(size)?;
                if self.open.len() + depth > MAX_DEPTH {
                    return self.too_deep(node.span);
                }
                self.place(node, 0, depth, size)?;
            }
            Event::SequenceStart(_, anchor, _) => self.opens(span, anchor, Items::List(Vec::new()))?,
            Event::MappingStart(_, anchor, _) => {
                let items =
                    Items::Map { entries: Vec::new(), places: HashMap::new(), merges: Vec::new(), key: None };
                self.opens(span, anchor, items)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.closes(span)?,
            _ => {}
        }
        Ok(())
    }

    fn count(&mut self, values: usize) -> Result<(), Stop> {
        self.values = self.values.saturating_add(values);
        if self.values <= MAX_VALUES {
            return Ok(());
        }
        let what = format!("the text has more than {MAX_VALUES} values, its aliases written out");
        self.syntax(0..0, what, "keep policies in smaller files, and write anchors out");
        Err(Stop::File)
    }

    fn too_deep(&mut self, span: Span) -> Result<(), Stop> {
        let what = format!("the document nests more than {MAX_DEPTH} levels deep, its aliases written out");
        self.syntax(span, what, "write it flatter; a policy nests 3 levels deep");
        Err(Stop::Document)
    }

    fn opens(&mut self, span: Span, anchor: usize, items: Items) -> Result<(), Stop> {
        self.count(1)?;
        if self.open.len() >= MAX_DEPTH {
            return self.too_deep(span);
        }
        self.open.push(Open { span, anchor, depth: 0, size: 1, items });
        Ok(())
    }

    fn closes(&mut self, end: Span) -> Result<(), Stop> {
        let Some(Open { span, anchor, depth, size, items }) = self.open.pop() else { return Ok(()) };
        let (value, last) = match items {
            Items::List(list) => {
                let last = list.last().map(|node| node.span.end);
                (Value::List(Arc::new(list)), last)
            }
            Items::Map { mut entries, places, merges, .. } => {
                let last = entries.last().map(|entry| entry.node.span.end.max(entry.key_span.end));
                self.merge(&mut entries, places, merges)?;
                (Value::Map(Arc::new(entries)), last)
            }
        };
        // A block ends where its last value does; the parser has read on to the next token.
        let is_flow = matches!(self.text.as_bytes().get(span.start), Some(b'[' | b'{'));
        let end = if is_flow { end.end } else { last.unwrap_or(span.end) };
        let span = span.start..end.max(span.start);
        self.place(Node { span, anchor: None, is_plain: false, value }, anchor, depth + 1, size)
    }

    /// Puts a whole value where it belongs.
    fn place(&mut self, node: Node, anchor: usize, depth: usize, size: usize) -> Result<(), Stop> {
        if anchor > 0 {
            self.anchors.insert(anchor, Anchored { node: node.clone(), depth, size });
        }
        let Some(open) = self.open.last_mut() else {
            if node.value != Value::Null {
                self.parsed.documents.push(node);
            }
            return Ok(());
        };
        open.depth = open.depth.max(depth);
        open.size = open.size.saturating_add(size);
        let (entries, places, merges, key) = match &mut open.items {
            Items::List(list) => {
                list.push(node);
                return Ok(());
            }
            Items::Map { entries, places, merges, key } => (entries, places, merges, key),
        };
        let Some((name, key_span, is_merge)) = key.take() else {
            let is_merge = node.is_plain && matches!(&node.value, Value::Text(text) if &**text == "<<");
            let name = match &node.value {
                Value::List(_) | Value::Map(_) => {
                    self.syntax(node.span, "a key is a list or an object".to_owned(), "write text as key");
                    return Err(Stop::Document);
                }
                Value::Null => Arc::from(""),
                Value::Bool(value) => Arc::from(value.to_string()),
                Value::Int(_, text) | Value::Float(text) | Value::Text(text) => Arc::clone(text),
            };
            *key = Some((name, node.span, is_merge));
            return Ok(());
        };
        if is_merge {
            merges.push(node);
        } else if let Some(first) = places.get(&name).and_then(|at| entries.get(*at)) {
            if self.parsed.problems.len() < MAX_PROBLEMS {
                let first = first.key_span.clone();
                self.parsed.problems.push(Problem::DuplicateKey { key: name, span: key_span, first });
            }
        } else {
            places.insert(Arc::clone(&name), entries.len());
            entries.push(Entry { key: name, key_span, node });
        }
        Ok(())
    }

    /// `<<`: entries of other objects, where the object has none of that name. No YAML 1.2, but what kubectl reads.
    fn merge(
        &mut self,
        entries: &mut Vec<Entry>,
        mut places: HashMap<Arc<str>, usize>,
        merges: Vec<Node>,
    ) -> Result<(), Stop> {
        for merged in merges {
            let maps = match &merged.value {
                Value::List(list) => list.to_vec(),
                _ => vec![merged.clone()],
            };
            for map in maps {
                let Value::Map(from) = &map.value else {
                    let what = format!("`<<` merges {}", map.value.describe());
                    self.syntax(merged.span.clone(), what, "merge an object, or a list of objects");
                    continue;
                };
                self.count(from.len())?;
                for entry in from.iter() {
                    if !places.contains_key(&entry.key) {
                        places.insert(Arc::clone(&entry.key), entries.len());
                        entries.push(entry.clone());
                    }
                }
            }
        }
        Ok(())
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let as_text = || Value::Text(Arc::from(text));
    match tag.map(|tag| (tag.core_suffix(), tag)) {
        Some((Some("int" | "float" | "bool" | "null"), _)) => plain_value(text),
        Some(_) => as_text(),
        None if style == ScalarStyle::Plain => plain_value(text),
        None => as_text(),
    }
}

/// A block scalar ends with its last line: the parser counts the line end in, and the empty lines behind it.
fn trimmed(text: &str, span: Span, style: ScalarStyle) -> Span {
    if !matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
        return span;
    }
    let written = text.get(span.clone()).unwrap_or_default();
    span.start..span.start + written.trim_end().len()
}

/// The parser's sentence as the end of one of ours.
fn sentence(text: &str) -> String {
    let text = text.lines().next().unwrap_or_default().trim_end_matches(['.', ',', ':', ' ']);
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => first.to_lowercase().chain(chars).collect(),
        (Some(_), _) => text.to_owned(),
        (None, _) => "it cannot be read".to_owned(),
    }
}
