//! Shared by the tests: JSON to msgpack, names for prefix hashes, a trivial index.

use std::collections::{BTreeMap, HashMap};

use icache::engine::{Change, Mapper};
use icache::hash::fingerprint_chain;
use icache::model::{PrefixHash, Tier};
use serde_json::Value;

/// Encodes JSON as engines encode; `{"$bytes": hex}` stands for bytes.
pub fn msgpack(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out, value);
    out
}

fn write(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => rmp::encode::write_nil(out).unwrap(),
        Value::Bool(value) => rmp::encode::write_bool(out, *value).unwrap(),
        Value::String(text) => rmp::encode::write_str(out, text).unwrap(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => {
                rmp::encode::write_uint(out, number).unwrap();
            }
            (None, Some(number)) => {
                rmp::encode::write_sint(out, number).unwrap();
            }
            (None, None) => rmp::encode::write_f64(out, number.as_f64().unwrap()).unwrap(),
        },
        Value::Array(elements) => {
            rmp::encode::write_array_len(out, elements.len() as u32).unwrap();
            elements.iter().for_each(|element| write(out, element));
        }
        Value::Object(fields) => {
            if let Some(Value::String(bytes)) = fields.get("$bytes") {
                rmp::encode::write_bin(out, &hex::decode(bytes).unwrap()).unwrap();
                return;
            }
            rmp::encode::write_map_len(out, fields.len() as u32).unwrap();
            for (key, value) in fields {
                rmp::encode::write_str(out, key).unwrap();
                write(out, value);
            }
        }
    }
}

/// Short names of prefix hashes: the name of their chain and the block's number from 1.
#[derive(Default)]
pub struct Names(HashMap<PrefixHash, (String, i32)>);

impl Names {
    pub fn add(&mut self, name: &str, tokens: &[u32], block_size: u32) {
        let chain = fingerprint_chain(tokens, block_size, None);
        for (at, hash) in (1..).zip(chain) {
            let block = (format!("{name}{at}"), at * block_size as i32);
            self.0.entry(hash).or_insert(block);
        }
    }

    /// The name, and that the tokens are those of the chain.
    fn name(&self, hash: PrefixHash, tokens: i32) -> &str {
        let (name, expected) = &self.0[&hash];
        assert_eq!(tokens, *expected, "cumulative tokens of {name}");
        name
    }

    /// `T1 start a1 a2`, `T2@sql a1`, `-a1`, `-a1@sql`, `clear`.
    pub fn show(&self, change: &Change) -> String {
        let at = |adapter: &icache::model::AdapterId| match adapter.as_str() {
            "" => String::new(),
            name => format!("@{name}"),
        };
        match change {
            Change::Stored { adapter, tier, blocks, sequence_start } => {
                let mut text = format!("{}{}", tier.label(), at(adapter));
                text.push_str(if *sequence_start { " start" } else { "" });
                for (hash, tokens) in blocks {
                    text.push(' ');
                    text.push_str(self.name(*hash, *tokens));
                }
                text
            }
            Change::Removed { prefix_hash, adapter } => format!("-{}{}", self.0[prefix_hash].0, at(adapter)),
            Change::Cleared => "clear".to_owned(),
        }
    }

    pub fn show_all(&self, changes: &[Change]) -> Vec<String> {
        changes.iter().map(|change| self.show(change)).collect()
    }
}

/// By adapter and prefix hash: tier and tokens.
pub type Entries = BTreeMap<(String, PrefixHash), (Tier, i32)>;

/// What the index does with changes, in the plainest way.
pub fn apply(index: &mut Entries, changes: &[Change]) {
    for change in changes {
        match change {
            Change::Stored { adapter, tier, blocks, .. } => {
                for (hash, tokens) in blocks {
                    index.insert((adapter.to_string(), *hash), (*tier, *tokens));
                }
            }
            Change::Removed { prefix_hash, adapter } => index.retain(|(partition, hash), _| {
                hash != prefix_hash || !(adapter.as_str().is_empty() || partition == adapter.as_str())
            }),
            Change::Cleared => index.clear(),
        }
    }
}

pub fn held(mapper: &Mapper) -> Entries {
    let held = mapper.held().map(|entry| {
        let key = (entry.adapter.to_string(), entry.prefix_hash);
        (key, (entry.tier, entry.cumulative_tokens))
    });
    held.collect()
}
