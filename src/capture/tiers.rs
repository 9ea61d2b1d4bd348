//! Tiers without a name: proto3 JSON writes such a value of an enum as its number, and the generated code can neither
//! write nor read that. An update with one is rare, so it is taken through a tree of JSON.

use serde_json::Value;

use crate::contract::CacheStateUpdate;

/// A tier without a name, and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tier {
    /// Update, of a list of them.
    pub(super) update: usize,
    /// Prefix of the update.
    pub(super) prefix: usize,
    /// The number.
    pub(super) number: i32,
}

/// The numbers that have names.
const NAMED: std::ops::RangeInclusive<i64> = 0..=3;

/// The update with such tiers left out, and what they were.
pub(super) fn without(update: &CacheStateUpdate) -> (CacheStateUpdate, Vec<Tier>) {
    let mut plain = update.clone();
    let mut found = Vec::new();
    for (prefix, entry) in plain.prefixes.iter_mut().enumerate() {
        if !NAMED.contains(&i64::from(entry.tier)) {
            found.push(Tier { update: 0, prefix, number: std::mem::take(&mut entry.tier) });
        }
    }
    (plain, found)
}

/// Writes `fields` with the tiers in their places; `path` leads to an update or to a list of them.
pub(super) fn put_back(mut fields: Value, path: &str, tiers: &[Tier]) -> serde_json::Result<String> {
    for tier in tiers {
        let updates = fields.pointer_mut(path);
        let update = updates.and_then(|updates| match updates {
            Value::Array(list) => list.get_mut(tier.update),
            one => Some(one),
        });
        if let Some(prefix) = update.and_then(|update| update.get_mut("prefixes")?.get_mut(tier.prefix)) {
            prefix["tier"] = Value::from(tier.number);
        }
    }
    serde_json::to_string(&fields)
}

/// The tree of `line` with such tiers left out; `None` where it has none, or is no JSON.
pub(super) fn take_out(line: &str, path: &str) -> Option<(Value, Vec<Tier>)> {
    let mut tree: Value = serde_json::from_str(line).ok()?;
    let mut found = Vec::new();
    let updates = match tree.pointer_mut(path)? {
        Value::Array(list) => list.as_mut_slice(),
        one => std::slice::from_mut(one),
    };
    for (update, value) in updates.iter_mut().enumerate() {
        let Some(prefixes) = value.get_mut("prefixes").and_then(Value::as_array_mut) else { continue };
        for (prefix, value) in prefixes.iter_mut().enumerate() {
            let Some(fields) = value.as_object_mut() else { continue };
            let number = fields.get("tier").and_then(Value::as_i64).filter(|number| !NAMED.contains(number));
            let Some(number) = number.and_then(|number| i32::try_from(number).ok()) else { continue };
            fields.remove("tier");
            found.push(Tier { update, prefix, number });
        }
    }
    (!found.is_empty()).then_some((tree, found))
}

/// Puts the tiers into the updates that were read without them.
pub(super) fn restore(updates: &mut [CacheStateUpdate], tiers: &[Tier]) {
    for tier in tiers {
        let prefix = updates.get_mut(tier.update).and_then(|update| update.prefixes.get_mut(tier.prefix));
        if let Some(prefix) = prefix {
            prefix.tier = tier.number;
        }
    }
}
