//! Rules about single values.

use super::shape::either;
use crate::model::parse_duration;
use crate::policy::document::{Value, shortened};
use crate::policy::fields::{Field, FieldKind, ObjectKind};
use crate::policy::lint::finding::{Edit, Findings};
use crate::policy::lint::input::{Input, rewritten};
use crate::policy::schema::{Role, decimal};

/// `wrong-case-or-enum`.
pub(in crate::policy::lint) fn wrong_case_or_enum(input: &Input<'_>, findings: &mut Findings<'_>) {
    for (item, field, entry) in input.written() {
        let (FieldKind::Enum(words), Value::Text(text)) = (field.kind, &entry.node.value) else { continue };
        if field.path == "apiVersion" || words.contains(&&**text) {
            continue;
        }
        let what = format!("{} is `{}`", item.path_of(field.path), shortened(text));
        let same = words.iter().find(|word| word.eq_ignore_ascii_case(text));
        let help = match same {
            Some(word) => format!("write `{word}`: case matters"),
            None => format!("write {}", either(words)),
        };
        let fix = same.and_then(|word| rewritten(input, &item.site(entry), text, word));
        findings.push(findings.of(item, entry, what, help).fix(fix));
    }
    for item in input.items.iter().filter(|item| item.role == Role::Unclear) {
        let Some(entry) = item.node.value.entry("kind") else { continue };
        let Value::Text(text) = &entry.node.value else { continue };
        let same = ObjectKind::ALL.iter().find(|kind| kind.label().eq_ignore_ascii_case(text));
        if let Some(kind) = same {
            let what = format!("{} is `{text}`", item.path_of("kind"));
            let help = format!("write `{}`: case matters", kind.label());
            let fix = rewritten(input, &item.site(entry), text, kind.label());
            findings.push(findings.of(item, entry, what, help).fix(fix));
        }
    }
}

/// `out-of-range`.
pub(in crate::policy::lint) fn out_of_range(input: &Input<'_>, findings: &mut Findings<'_>) {
    for (item, field, entry) in input.written() {
        let (Some(most), Value::Int(value, text)) = (field.kind.most(), &entry.node.value) else { continue };
        if !(0..=i128::from(most)).contains(value) {
            let what = format!("{} is {}", item.path_of(field.path), shortened(text));
            let finding = findings.of(item, entry, what, format!("write a number from 0 to {most}"));
            findings.push(finding);
        }
    }
}

/// `bad-duration`.
pub(in crate::policy::lint) fn bad_duration(input: &Input<'_>, findings: &mut Findings<'_>) {
    for (item, field, entry) in input.written() {
        let (FieldKind::Duration, Value::Text(text)) = (field.kind, &entry.node.value) else { continue };
        // What the error says of a long text is as long as the text.
        let error = if text.len() > MAX_DURATION { None } else { parse_duration(text).err() };
        if error.is_none() && text.len() <= MAX_DURATION {
            continue;
        }
        let why =
            error.map_or_else(|| format!("`{}` is too long", shortened(text)), |error| error.to_string());
        let (why, help) = why.split_once("; ").unwrap_or((&why, "write one as in `30m` or `1h30m`"));
        let what = format!("{} is no duration: {why}", item.path_of(field.path));
        findings.push(findings.of(item, entry, what, help));
    }
}

/// Bytes of a duration at most; with more, it has digits or parts that say nothing.
pub(in crate::policy) const MAX_DURATION: usize = 256;

/// `non-positive-ttl`.
pub(in crate::policy::lint) fn non_positive_ttl(input: &Input<'_>, findings: &mut Findings<'_>) {
    for (item, field, entry) in input.written() {
        let (FieldKind::Duration, Value::Text(text)) = (field.kind, &entry.node.value) else { continue };
        if parse_duration(text).is_ok_and(|ns| ns <= 0) {
            let what = format!("{} is `{}`", item.path_of(field.path), shortened(text));
            let help = "write a duration above 0, as in `30m`; leave the field out for the server's default";
            findings.push(findings.of(item, entry, what, help));
        }
    }
}

/// `bad-floor-score`.
pub(in crate::policy::lint) fn bad_floor_score(input: &Input<'_>, findings: &mut Findings<'_>) {
    for (item, field, entry) in input.written() {
        if field.kind != FieldKind::Decimal {
            continue;
        }
        let path = item.path_of(field.path);
        let Value::Text(text) = &entry.node.value else {
            let what = format!("{path} is {}", entry.node.value.describe());
            let written = input.slice(&item.site(entry));
            let is_decimal = entry.node.anchor.is_none() && decimal(written).is_some();
            let fix = is_decimal.then(|| Edit { site: item.site(entry), text: format!("\"{written}\"") });
            let finding = findings.of(item, entry, what, "write a decimal in quotes, as in \"0.1\"");
            findings.push(finding.fix(fix));
            continue;
        };
        if decimal(text).is_none() {
            let what = format!("{path} is `{}`", shortened(text));
            let help =
                "write up to 8 digits, then at most 6 decimals, without sign or exponent, as in \"0.1\"";
            findings.push(findings.of(item, entry, what, help));
        }
    }
}

/// `redundant-default`.
pub(in crate::policy::lint) fn redundant_default(input: &Input<'_>, findings: &mut Findings<'_>) {
    for (item, field, entry) in input.written() {
        let Some(default) = field.default.filter(|_| field.path.starts_with("spec.")) else { continue };
        if is_default(field, &entry.node.value, default) {
            let what = format!("{} is written with its default, `{default}`", item.path_of(field.path));
            let help = "leave it out, or keep it where it is meant to stay if the default changes";
            findings.push(findings.of(item, entry, what, help));
        }
    }
}

fn is_default(field: &Field, value: &Value, default: &str) -> bool {
    match (field.kind, value) {
        (FieldKind::Int32 | FieldKind::Int64, Value::Int(value, _)) => default.parse() == Ok(*value),
        (FieldKind::Bool, Value::Bool(value)) => default.parse() == Ok(*value),
        (FieldKind::Decimal, Value::Text(text)) => {
            decimal(text).is_some_and(|score| Some(score) == decimal(default))
        }
        (_, Value::Text(text)) => &**text == default,
        _ => false,
    }
}
