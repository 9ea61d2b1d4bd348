//! CachePolicy and CacheTenant as written: every field with the bytes of its key and value.

use std::sync::Arc;

use super::document::{Entry, Node, Parsed, Value};
use super::fields::{DECIMAL_PATTERN, DEFAULT_NAMESPACE, Field, FieldKind, ObjectKind, envelope};
use super::resolve::{Defaults, TenantPolicy, resolve};
use super::source::{SourceText, Span};
use crate::model::{Eviction, ResolvedPolicy, Source, parse_duration};

/// What stands where an object may stand.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Role {
    /// One of ours.
    Known(ObjectKind),
    /// Some other object, passed over.
    Other,
    /// Not to be told: `kind` is missing, no text, or one of ours in another spelling.
    Unclear,
    /// No object at all.
    NotAnObject,
    /// A `List`; its items stand beside it.
    List,
    /// A `List` in a `List`.
    NestedList,
}

/// A field that is written and not empty.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Written {
    pub(super) field: &'static Field,
    pub(super) entry: Entry,
}

/// A document, or an item of a `List`.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Which of the sources.
    pub(super) file: usize,
    /// Where in the document: empty, or as in `items[0]`.
    path: String,
    pub(super) node: Node,
    pub(super) role: Role,
    written: Vec<Written>,
}

/// Everything that the documents of `parsed` hold, `List`s taken apart.
pub(super) fn items(file: usize, parsed: &Parsed) -> Vec<Item> {
    let mut items = Vec::new();
    for document in &parsed.documents {
        let item = Item::read(file, String::new(), document);
        let listed = match (&item.role, item.list_items().map(|entry| &entry.node.value)) {
            (Role::List, Some(Value::List(list))) => Arc::clone(list),
            _ => Arc::default(),
        };
        items.push(item);
        let below = listed.iter().enumerate();
        items.extend(below.map(|(at, node)| Item::read(file, format!("items[{at}]"), node)));
    }
    items
}

impl Item {
    fn read(file: usize, path: String, node: &Node) -> Self {
        let role = role(&path, node);
        let mut item = Self { file, path, node: node.clone(), role, written: Vec::new() };
        let fields = item.kind().map_or(&[][..], ObjectKind::fields);
        for field in envelope().iter().chain(fields) {
            if let Some(entry) = item.find(field).filter(|entry| entry.node.value != Value::Null) {
                item.written.push(Written { field, entry: entry.clone() });
            }
        }
        item
    }

    /// What it is, where it is one of ours.
    pub(super) fn kind(&self) -> Option<ObjectKind> {
        match self.role {
            Role::Known(kind) => Some(kind),
            _ => None,
        }
    }

    /// The entry of `field`, an empty one too; parents are read before their children.
    pub(super) fn find(&self, field: &Field) -> Option<&Entry> {
        let value = match field.parent() {
            "" => &self.node.value,
            parent => &self.get(parent)?.node.value,
        };
        value.entry(field.name())
    }

    /// The fields that are written and not empty.
    pub(super) fn written(&self) -> &[Written] {
        &self.written
    }

    /// The field `path`, where it is written and not empty.
    pub(super) fn get(&self, path: &str) -> Option<&Entry> {
        self.written.iter().find(|written| written.field.path == path).map(|written| &written.entry)
    }

    /// `items` of a `List`.
    pub(super) fn list_items(&self) -> Option<&Entry> {
        self.node.value.entry("items").filter(|entry| entry.node.value != Value::Null)
    }

    /// `path` as errors call it: from the top of the document.
    pub(super) fn path_of(&self, path: &str) -> String {
        match (self.path.is_empty(), path.is_empty()) {
            (true, true) => "a document".to_owned(),
            (true, false) => format!("`{path}`"),
            (false, true) => format!("`{}`", self.path),
            (false, false) => format!("`{}.{path}`", self.path),
        }
    }

    /// The text of a field that is one.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        match &self.get(path)?.node.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number of a field that is a whole one, in range or not.
    pub(super) fn int(&self, path: &str) -> Option<i128> {
        match &self.get(path)?.node.value {
            Value::Int(value, _) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn boolean(&self, path: &str) -> Option<bool> {
        match &self.get(path)?.node.value {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Its namespace, `fallback` where it names none.
    pub(super) fn namespace<'a>(&'a self, fallback: Option<&'a str>) -> &'a str {
        let written = self.text("metadata.namespace").filter(|namespace| !namespace.is_empty());
        written.or(fallback).unwrap_or(DEFAULT_NAMESPACE)
    }

    /// `metadata.name`, empty where it has none.
    pub(super) fn name(&self) -> &str {
        self.text("metadata.name").unwrap_or_default()
    }

    /// The first byte of the object.
    pub(super) fn start(&self) -> Span {
        self.node.span.start..self.node.span.start
    }

    /// How messages call it: `CachePolicy team-a/p`.
    pub(super) fn title(&self, fallback: Option<&str>) -> String {
        let kind = self.kind().map_or("object", ObjectKind::label);
        format!("{kind} {}/{}", self.namespace(fallback), self.name())
    }

    /// The object and the line in which `path` is written; without that field, the object's first line.
    pub(super) fn source_of(&self, path: &str, source: &SourceText, fallback: Option<&str>) -> Source {
        let at = self.get(path).map_or(self.node.span.start, |entry| entry.key_span.start);
        Source::Object(Arc::from(format!(
            "{} ({}:{})",
            self.title(fallback),
            source.name(),
            source.place(at).line
        )))
    }

    fn int32(&self, path: &str) -> Option<i32> {
        self.int(path).and_then(|value| i32::try_from(value).ok()).filter(|value| *value >= 0)
    }

    /// What it comes to on a server that was told nothing, as far as it is valid.
    pub(super) fn effective(&self) -> ResolvedPolicy {
        resolve(&self.policy(), &Arc::from(""), &Defaults::default())
    }

    /// Its fields as written, as far as they are valid.
    pub(super) fn policy(&self) -> TenantPolicy {
        TenantPolicy {
            eviction: match self.text("spec.eviction") {
                Some("LRU") => Some(Eviction::Lru),
                Some("LFU") => Some(Eviction::Lfu),
                _ => None,
            },
            ttl_ns: self
                .text("spec.evictionTTL")
                .and_then(|text| parse_duration(text).ok())
                .filter(|ns| *ns > 0),
            minimum_prefix_tokens: self.int32("spec.minimumPrefixTokens"),
            minimum_matched_tokens: self.int32("spec.minimumMatchedTokens"),
            routing_floor_score: self.text("spec.routingFloorScore").and_then(decimal),
            lookup_timeout_ms: self.int32("spec.lookupTimeoutMs"),
            enable_chain_matching: self.boolean("spec.strategy.enableChainMatching"),
            require_chain: self.boolean("spec.strategy.requireChain"),
            enable_tenant_hot: self.boolean("spec.strategy.enableTenantHot"),
            affinity_routing: match self.text("spec.affinityRouting") {
                Some("Enabled") => Some(true),
                Some("Disabled") => Some(false),
                _ => None,
            },
            max_index_entries: self
                .int("spec.quota.maxIndexEntries")
                .and_then(|value| i64::try_from(value).ok())
                .and_then(|value| u64::try_from(value).ok()),
        }
    }
}

impl Value {
    /// The entry `key` of an object.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        match self {
            Self::Map(entries) => entries.iter().find(|entry| &*entry.key == key),
            _ => None,
        }
    }
}

fn role(path: &str, node: &Node) -> Role {
    let Value::Map(_) = node.value else { return Role::NotAnObject };
    match node.value.entry("kind").map(|entry| &entry.node.value) {
        Some(Value::Text(kind)) => match (&**kind, ObjectKind::parse(kind)) {
            (_, Some(kind)) => Role::Known(kind),
            ("List", None) if path.is_empty() => Role::List,
            ("List", None) => Role::NestedList,
            ("", None) => Role::Unclear,
            _ if ObjectKind::ALL.iter().any(|ours| ours.label().eq_ignore_ascii_case(kind)) => Role::Unclear,
            _ => Role::Other,
        },
        _ => Role::Unclear,
    }
}

/// The number that `text` is, where it matches [`DECIMAL_PATTERN`].
pub fn decimal(text: &str) -> Option<f32> {
    debug_assert_eq!(DECIMAL_PATTERN, r"^(0|[1-9][0-9]{0,7})(\.[0-9]{1,6})?$");
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, decimals) = match text.split_once('.') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (text, None),
    };
    let whole_fits =
        whole == "0" || (1..=8).contains(&whole.len()) && !whole.starts_with('0') && all_digits(whole);
    let fits = whole_fits
        && decimals.is_none_or(|decimals| (1..=6).contains(&decimals.len()) && all_digits(decimals));
    if fits { text.parse().ok() } else { None }
}

impl FieldKind {
    /// The largest value of a whole number.
    pub(super) fn most(self) -> Option<i64> {
        match self {
            Self::Int32 => Some(i64::from(i32::MAX)),
            Self::Int64 => Some(i64::MAX),
            _ => None,
        }
    }
}
