//! Rules about which fields there are, and what type they have.

use strsim::damerau_levenshtein;

use crate::policy::document::{Entry, Value, shortened};
use crate::policy::fields::{CLUSTER_METADATA, Field, FieldKind, ObjectKind, envelope};
use crate::policy::lint::finding::{Edit, Findings};
use crate::policy::lint::input::{Input, rewritten};
use crate::policy::schema::{Item, Role};

/// Longer keys are no misspelling of a field.
const MAX_MISSPELLING: usize = 64;

/// `unknown-field`.
pub(in crate::policy::lint) fn unknown_field(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in &input.items {
        if findings.is_full() {
            return;
        }
        match item.role {
            Role::List => {
                let known = ["apiVersion", "kind", "metadata", "items"];
                unknown_in(input, item, "", &item.node.value, &known, findings);
            }
            Role::Known(kind) => {
                unknown_in(input, item, "", &item.node.value, &names("", kind), findings);
                for written in item.written() {
                    let path = written.field.path;
                    let is_open = path == "status" || path == "spec.crypto";
                    if written.field.kind == FieldKind::Object && !is_open {
                        unknown_in(
                            input,
                            item,
                            path,
                            &written.entry.node.value,
                            &names(path, kind),
                            findings,
                        );
                    }
                }
            }
            _ => {}
        }
    }
}

/// The fields of the object `parent`.
fn names(parent: &str, kind: ObjectKind) -> Vec<&'static str> {
    let fields = envelope().iter().chain(kind.fields());
    let own = fields.filter(|field| field.parent() == parent).map(Field::name);
    let cluster = CLUSTER_METADATA.iter().copied().filter(|_| parent == "metadata");
    own.chain(cluster).collect()
}

fn unknown_in(
    input: &Input<'_>,
    item: &Item,
    parent: &str,
    object: &Value,
    known: &[&'static str],
    findings: &mut Findings<'_>,
) {
    let Value::Map(entries) = object else { return };
    for entry in entries.iter().filter(|entry| !known.contains(&&*entry.key)) {
        if findings.is_full() {
            return;
        }
        let path = |name: &str| if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") };
        let what = format!("unknown field {}", item.path_of(&path(&shortened(&entry.key))));
        let near = nearest(&entry.key, known);
        let help = match near {
            Some(near) => format!("did you mean `{}`?", path(near)),
            None => format!("known here: {}", without_cluster(known).join(", ")),
        };
        let is_case = near.filter(|near| near.eq_ignore_ascii_case(&entry.key));
        let fix = is_case
            .filter(|near| object.entry(near).is_none())
            .and_then(|near| key_edit(input, item, entry, near));
        findings.push(findings.at(item.key(entry), what, help).fix(fix));
    }
}

/// What operators write: the cluster's own keys are no help to them.
fn without_cluster(known: &[&'static str]) -> Vec<&'static str> {
    known.iter().copied().filter(|name| !CLUSTER_METADATA.contains(name)).collect()
}

fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    if name.len() > MAX_MISSPELLING {
        return None;
    }
    let name = name.to_lowercase();
    let distances = known.iter().map(|known| (damerau_levenshtein(&name, &known.to_lowercase()), *known));
    distances.min().filter(|(distance, known)| *distance <= known.len() / 3).map(|(_, known)| known)
}

fn key_edit(input: &Input<'_>, item: &Item, entry: &Entry, name: &str) -> Option<Edit> {
    rewritten(input, &item.key(entry), &entry.key, name)
}

/// `wrong-type`.
pub(in crate::policy::lint) fn wrong_type(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in &input.items {
        let wrong = |entry: &Entry, name: &str, help: &str| {
            let what = format!("{} is {}", item.path_of(name), entry.node.value.describe());
            findings.of(item, entry, what, help)
        };
        let finding = match item.role {
            Role::NotAnObject => {
                let what = format!("{} is {}", item.path_of(""), item.node.value.describe());
                Some(findings.at(item.head(), what, "write an object with fields"))
            }
            Role::NestedList => item.node.value.entry("kind").map(|entry| {
                let what = format!("{} is `List` within a list", item.path_of("kind"));
                findings.of(item, entry, what, "write its items into the outer one")
            }),
            Role::List => item
                .list_items()
                .filter(|entry| !matches!(entry.node.value, Value::List(_)))
                .map(|entry| wrong(entry, "items", "write a list")),
            Role::Unclear => item
                .node
                .value
                .entry("kind")
                .filter(|entry| !matches!(entry.node.value, Value::Text(_) | Value::Null))
                .map(|entry| wrong(entry, "kind", "write `CachePolicy` or `CacheTenant`")),
            Role::Known(_) | Role::Other => None,
        };
        if let Some(finding) = finding {
            findings.push(finding);
        }
    }
    for (item, field, entry) in input.written() {
        let value = &entry.node.value;
        let fits = match field.kind {
            FieldKind::Int32 | FieldKind::Int64 => matches!(value, Value::Int(..)),
            FieldKind::Bool => matches!(value, Value::Bool(_)),
            FieldKind::Duration | FieldKind::Enum(_) | FieldKind::Text { .. } => {
                matches!(value, Value::Text(_))
            }
            FieldKind::Object => matches!(value, Value::Map(_)),
            // Whatever is wrong with it is for `bad-floor-score` to say.
            FieldKind::Decimal => true,
        };
        if !fits {
            let what = format!("{} is {}", item.path_of(field.path), value.describe());
            let finding = findings.of(item, entry, what, expected(field));
            findings.push(finding.fix(retyped(input, item, field, entry)));
        }
    }
}

fn expected(field: &Field) -> String {
    match field.kind {
        FieldKind::Int32 | FieldKind::Int64 => "write a whole number without quotes".to_owned(),
        FieldKind::Bool => "write `true` or `false`".to_owned(),
        FieldKind::Duration => "write a duration with its unit, as in `30m`".to_owned(),
        FieldKind::Enum(words) => format!("write {}", either(words)),
        FieldKind::Text { .. } => "write text, in quotes".to_owned(),
        FieldKind::Decimal => "write a decimal in quotes, as in \"0.1\"".to_owned(),
        FieldKind::Object => "write an object with fields".to_owned(),
    }
}

/// The words as a choice: `A` or `B`.
pub(super) fn either(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
}

/// The same value in the field's type, where there is but one way to read it.
fn retyped(input: &Input<'_>, item: &Item, field: &Field, entry: &Entry) -> Option<Edit> {
    let site = item.site(entry);
    let as_it_is = |text: &str| Some(Edit { site: site.clone(), text: text.to_owned() });
    match (field.kind, &entry.node.value) {
        (FieldKind::Int32 | FieldKind::Int64, Value::Text(text)) => {
            let digits =
                !text.is_empty() && text.len() <= 10 && text.bytes().all(|byte| byte.is_ascii_digit());
            let is_number = digits && (&**text == "0" || !text.starts_with('0'));
            let is_quoted =
                [format!("\"{text}\""), format!("'{text}'")].iter().any(|form| form == input.slice(&site));
            if is_number && is_quoted { as_it_is(text) } else { None }
        }
        (FieldKind::Bool, Value::Text(text)) => {
            let is_quoted =
                [format!("\"{text}\""), format!("'{text}'")].iter().any(|form| form == input.slice(&site));
            if is_quoted && matches!(&**text, "true" | "false") { as_it_is(text) } else { None }
        }
        _ => None,
    }
}

/// `missing-required`.
pub(in crate::policy::lint) fn missing_required(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in &input.items {
        match item.role {
            Role::Known(kind) => {
                let fields = envelope().iter().chain(kind.fields());
                fields.filter(|field| field.required).for_each(|field| missing(item, field, findings));
            }
            Role::Unclear => {
                let entry = item.node.value.entry("kind");
                let is_missing = entry.is_none_or(is_empty);
                if is_missing {
                    let site = entry.map_or(item.head(), |entry| item.key(entry));
                    let what = format!("{} is missing", item.path_of("kind"));
                    findings.add(site, what, "write `CachePolicy` or `CacheTenant`");
                }
            }
            _ => {}
        }
    }
}

fn is_empty(entry: &Entry) -> bool {
    match &entry.node.value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        _ => false,
    }
}

fn missing(item: &Item, field: &Field, findings: &mut Findings<'_>) {
    let parent = item.get(field.parent());
    if !field.parent().is_empty() && !parent.is_some_and(|entry| matches!(entry.node.value, Value::Map(_))) {
        // The parent's own finding says it all.
        return;
    }
    let entry = item.find(field);
    // An empty apiVersion is a bad one.
    let is_missing = entry.is_none_or(|entry| {
        entry.node.value == Value::Null || matches!(field.kind, FieldKind::Text { .. }) && is_empty(entry)
    });
    if !is_missing {
        return;
    }
    let help = match field.path {
        "apiVersion" => format!("write `{}`", crate::policy::fields::API_VERSION),
        "metadata" => "write `metadata: {name: ..., namespace: ...}`".to_owned(),
        "metadata.name" => "give the object a name".to_owned(),
        "spec" => "write at least `tenantID`".to_owned(),
        "spec.tenantID" => "write the tenant_id of the wire".to_owned(),
        _ => format!("write it: {}", field.summary),
    };
    let is_written = entry.is_some_and(|entry| entry.node.value != Value::Null);
    let site = match (entry, parent) {
        (Some(entry), _) if is_written => item.site(entry),
        (Some(entry), _) | (None, Some(entry)) => item.key(entry),
        (None, None) => item.head(),
    };
    let state = if is_written { "empty" } else { "missing" };
    findings.add(site, format!("{} is {state}", item.path_of(field.path)), help);
}

/// `crypto-not-empty`.
pub(in crate::policy::lint) fn crypto_not_empty(input: &Input<'_>, findings: &mut Findings<'_>) {
    for item in input.tenants() {
        let Some(Value::Map(entries)) = item.get("spec.crypto").map(|entry| &entry.node.value) else {
            continue;
        };
        if let Some(first) = entries.first() {
            let path = item.path_of(&format!("spec.crypto.{}", shortened(&first.key)));
            let what = format!("{path} is written, and `crypto` is reserved");
            findings.add(item.key(first), what, "nothing may stand here; leave `crypto` out");
        }
    }
}
