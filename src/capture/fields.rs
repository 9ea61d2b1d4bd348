//! JSON of one record: the fields of each kind, and what is wrong where they do not fit.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::record::{Body, Config, KvBatch, Lookup, State};
use super::time::parse_seconds;
use crate::contract::{CacheEvent, CacheStateUpdate};
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
    let envelope: Envelope<'_> =
        serde_json::from_str(line).map_err(|error| explain::<Envelope<'_>>(line, &error))?;
    let at = parse_seconds(envelope.t.get()).ok_or_else(|| {
        format!("field `t`: `{}` is no time; write decimal Unix seconds", shortened(envelope.t.get()))
    })?;
    let body = match envelope.kind.as_ref() {
        "kv-batch" => Body::KvBatch(fields::<KvBatch>(line)?),
        "report" => Body::Report(fields::<ReportFields<CacheStateUpdate>>(line)?.update),
        "event" => Body::Event(fields::<EventFields<CacheEvent>>(line)?.event),
        "lookup" => Body::Lookup(Box::new(fields::<Lookup>(line)?)),
        "policy" => Body::Policy(fields::<PolicyFields<String>>(line)?.documents),
        "config" => Body::Config(fields::<ConfigFields<Config>>(line)?.config),
        "state" => Body::State(fields::<StateFields<State>>(line)?.state),
        "sweep" => Body::Sweep,
        kind => return Ok((at, Err(UnknownKind(kind.to_owned())))),
    };
    Ok((at, Ok(body)))
}

/// The fields of a record's kind as JSON, with the outer braces.
pub(super) fn body_json(body: &Body) -> serde_json::Result<String> {
    match body {
        Body::KvBatch(batch) => serde_json::to_string(batch),
        Body::Report(update) => serde_json::to_string(&ReportFields { update }),
        Body::Event(event) => serde_json::to_string(&EventFields { event }),
        Body::Lookup(lookup) => serde_json::to_string(lookup),
        Body::Policy(documents) => serde_json::to_string(&PolicyFields { documents }),
        Body::Config(config) => serde_json::to_string(&ConfigFields { config }),
        Body::State(state) => serde_json::to_string(&StateFields { state }),
        Body::Sweep => Ok("{}".to_owned()),
    }
}

fn fields<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| explain::<T>(line, &error))
}

/// Names the field of an error. The line is read a second time for that, since keeping track of fields costs.
pub(super) fn explain<'a, T: Deserialize<'a>>(line: &'a str, error: &serde_json::Error) -> String {
    if !error.is_data() {
        return format!("it is no JSON: {}", plain(&error.to_string()));
    }
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let path = match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Err(tracked) => tracked.path().to_string(),
        Ok(_) => ".".to_owned(),
    };
    let message = plain(&error.to_string());
    if path == "." { message } else { format!("field `{path}`: {message}") }
}

/// The parser's sentence in the words of the file: no line of its own, no types of this program.
fn plain(message: &str) -> String {
    let message = match message.rsplit_once(" at line ") {
        Some((head, place)) => match place.split_once(" column ") {
            Some((_, column)) => format!("{head} (column {column})"),
            None => head.to_owned(),
        },
        None => message.to_owned(),
    };
    let mut out = message;
    for (from, to) in [
        ("expected a borrowed string", "expected a string"),
        ("expected a string or bytes", "expected a string"),
        ("expected expected", "expected"),
        ("data did not match any variant of untagged enum Content", "expected a number"),
        ("data did not match any variant of untagged enum BytesOrString", "expected a string of base64"),
        ("invalid digit found in string", "expected a number"),
        ("Invalid ", "no base64: invalid "),
        (". (column", " (column"),
    ] {
        out = out.replace(from, to);
    }
    for number in ["u32", "u64", "i32", "i64", "f32", "f64"] {
        out = out.replace(&format!("expected {number}"), "expected a number");
    }
    match out.find("expected struct ") {
        Some(at) => {
            let rest = &out[at + "expected struct ".len()..];
            let end = rest.find(' ').unwrap_or(rest.len());
            format!("{}expected an object{}", &out[..at], &rest[end..])
        }
        None => out,
    }
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
