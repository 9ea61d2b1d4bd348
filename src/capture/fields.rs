//! JSON of one record: the fields of each kind, and what is wrong where they do not fit.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::record::{Body, Config, KvBatch, Lookup, State};
use super::tiers;
use super::time::parse_seconds;
use crate::contract::{CacheEvent, CacheStateUpdate, read_json};
use crate::model::Timestamp;

/// What every record has.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    t: &'a RawValue,
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
struct ReportFields<T> {
    update: T,
}

#[derive(Serialize, Deserialize)]
struct EventFields<T> {
    event: T,
}

#[derive(Serialize, Deserialize)]
struct PolicyFields<T> {
    documents: T,
}

#[derive(Serialize, Deserialize)]
struct ConfigFields<T> {
    config: T,
}

#[derive(Serialize, Deserialize)]
struct StateFields<T> {
    state: T,
}

/// The name of a kind that this version does not know.
pub(super) struct UnknownKind(pub(super) String);

/// Reads one line: its time, and what it holds. The error says what is wrong and in which field.
pub(super) fn parse_record(line: &str) -> Result<(Timestamp, Result<Body, UnknownKind>), String> {
    // The parser takes a list of values for an object, too.
    if line.trim_ascii_start().starts_with('[') {
        return Err("it is a list; a record is an object".to_owned());
    }
    let envelope: Envelope<'_> = read_json(line)?;
    let at = parse_seconds(envelope.t.get()).ok_or_else(|| {
        format!("field `t`: `{}` is no time; write decimal Unix seconds", shortened(envelope.t.get()))
    })?;
    let body = match envelope.kind.as_ref() {
        "kv-batch" => Body::KvBatch(read_json::<KvBatch>(line)?),
        "report" => Body::Report(read_report(line)?),
        "event" => Body::Event(read_json::<EventFields<CacheEvent>>(line)?.event),
        "lookup" => Body::Lookup(Box::new(read_json::<Lookup>(line)?)),
        "policy" => Body::Policy(read_json::<PolicyFields<String>>(line)?.documents),
        "config" => Body::Config(read_json::<ConfigFields<Config>>(line)?.config),
        "state" => Body::State(read_state(line)?),
        "sweep" => Body::Sweep,
        kind => return Ok((at, Err(UnknownKind(kind.to_owned())))),
    };
    Ok((at, Ok(body)))
}

/// The fields of a record's kind as JSON, with the outer braces.
pub(super) fn body_json(body: &Body) -> serde_json::Result<String> {
    match body {
        Body::KvBatch(batch) => serde_json::to_string(batch),
        Body::Report(update) => match serde_json::to_string(&ReportFields { update }) {
            Err(_) => {
                let (update, tiers) = tiers::without(update);
                let fields = serde_json::to_value(ReportFields { update })?;
                tiers::put_back(fields, "/update", &tiers)
            }
            written => written,
        },
        Body::Event(event) => serde_json::to_string(&EventFields { event }),
        Body::Lookup(lookup) => serde_json::to_string(lookup),
        Body::Policy(documents) => serde_json::to_string(&PolicyFields { documents }),
        Body::Config(config) => serde_json::to_string(&ConfigFields { config }),
        Body::State(state) => match serde_json::to_string(&StateFields { state }) {
            Err(_) => state_with_tiers(state),
            written => written,
        },
        Body::Sweep => Ok("{}".to_owned()),
    }
}

/// The mapping of proto3 JSON has numbers for values of an enum without a name, and the generated code does not.
fn read_report(line: &str) -> Result<CacheStateUpdate, String> {
    read_json::<ReportFields<CacheStateUpdate>>(line).map(|fields| fields.update).or_else(|what| {
        let (fields, found) = tiers::take_out(line, "/update").ok_or(what)?;
        let mut update = fields_of::<ReportFields<CacheStateUpdate>>(fields)?.update;
        tiers::restore(std::slice::from_mut(&mut update), &found);
        Ok(update)
    })
}

fn read_state(line: &str) -> Result<State, String> {
    read_json::<StateFields<State>>(line).map(|fields| fields.state).or_else(|what| {
        let (fields, found) = tiers::take_out(line, "/state/updates").ok_or(what)?;
        let mut state = fields_of::<StateFields<State>>(fields)?.state;
        tiers::restore(&mut state.updates, &found);
        Ok(state)
    })
}

fn fields_of<T: serde::de::DeserializeOwned>(fields: serde_json::Value) -> Result<T, String> {
    // Errors of a text name fields, those of a value do not.
    read_json(&fields.to_string())
}

fn state_with_tiers(state: &State) -> serde_json::Result<String> {
    let mut found = Vec::new();
    let mut plain = state.clone();
    for (at, update) in plain.updates.iter_mut().enumerate() {
        let (without, tiers) = tiers::without(update);
        *update = without;
        found.extend(tiers.into_iter().map(|tier| tiers::Tier { update: at, ..tier }));
    }
    tiers::put_back(serde_json::to_value(StateFields { state: plain })?, "/state/updates", &found)
}

/// Characters of a value that an error shows.
const SHOWN: usize = 40;

/// `text`, or its head where it is long.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Bytes as base64 in JSON.
pub(super) mod base64_bytes {
    use base64::Engine as _;
    use base64::alphabet;
    use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
    use serde::{Deserialize as _, Deserializer, Serializer};

    const ENGINE: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&ENGINE.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        ENGINE.decode(text.as_bytes()).map_err(serde::de::Error::custom)
    }
}
