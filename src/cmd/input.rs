//! Values of flags and files: hashes, tokens, durations, JSON.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::marker::PhantomData;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use bytes::Bytes;
use serde_json::value::RawValue;

use super::check::Fault;
use super::error::UsageError;
use crate::contract::{json_fault, read_json};

/// A hash in hex or base64. Text that can be both is hex; `hex:` and `base64:` in front say which.
pub fn hash(text: &str) -> Result<Bytes, String> {
    let decoded = if let Some(text) = text.strip_prefix("base64:") {
        from_base64(text)
    } else if let Some(text) = text.strip_prefix("hex:").or_else(|| text.strip_prefix("0x")) {
        hex::decode(text).ok()
    } else {
        hex::decode(text).ok().or_else(|| from_base64(text))
    };
    match decoded {
        Some(bytes) if !bytes.is_empty() => Ok(Bytes::from(bytes)),
        _ => Err("a hash is an even number of hex digits, or base64".to_owned()),
    }
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut padded = text.trim_end_matches('=').to_owned();
    padded.extend(std::iter::repeat_n('=', (4 - padded.len() % 4) % 4));
    STANDARD.decode(&padded).or_else(|_| URL_SAFE.decode(&padded)).ok()
}

/// A span of time above 0, such as `250ms`.
pub fn span(text: &str) -> Result<std::time::Duration, String> {
    let ns = crate::model::parse_duration(text).map_err(|error| error.to_string())?;
    match u64::try_from(ns) {
        Ok(ns) if ns > 0 => Ok(std::time::Duration::from_nanos(ns)),
        _ => Err("write a duration longer than 0".to_owned()),
    }
}

/// A share from 0 to 1.
pub fn share(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("write a number from 0 to 1, as in `0.5`".to_owned()),
    }
}

/// How errors call a file; `-` is standard input.
pub fn shown(path: &str) -> String {
    if path == "-" { "standard input".to_owned() } else { format!("`{path}`") }
}

/// Refuses to write the page over a file that the command reads.
pub fn spare<'a>(page: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), UsageError> {
    let Ok(page_there) = std::fs::canonicalize(page) else { return Ok(()) };
    let is_page = |input: &&Path| std::fs::canonicalize(input).is_ok_and(|input| input == page_there);
    match inputs.into_iter().find(is_page) {
        Some(input) => Err(UsageError::new(
            format!("`--html {}` would replace `{}`, which is read", page.display(), input.display()),
            "name another file for the page",
        )),
        None => Ok(()),
    }
}

/// Opens a file; `-` is standard input.
pub fn open(path: &str) -> Result<Box<dyn Read + Send>, UsageError> {
    if path == "-" {
        return Ok(Box::new(io::stdin()));
    }
    let opened = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        // Some systems open a folder and refuse only to read it.
        true => Err(io::ErrorKind::IsADirectory.into()),
        false => Ok(file),
    });
    Ok(Box::new(BufReader::new(opened.map_err(|error| UsageError::unreadable(path, &error))?)))
}

/// Bytes of input files that are read whole, at most: twice the largest message.
const MAX_BYTES: u64 = 32 << 20;

/// The whole of a file; `-` is standard input.
fn read(path: &str) -> Result<Vec<u8>, UsageError> {
    let mut bytes = Vec::new();
    let read = open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| UsageError::unreadable(path, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(UsageError::new(
            format!("{} is larger than {} MiB", shown(path), MAX_BYTES >> 20),
            "no server takes a message of that size; send less",
        ));
    }
    Ok(bytes)
}

/// The whole of a text file, without the mark that some editors put at its start; `-` is standard input.
pub fn text(path: &str) -> Result<String, UsageError> {
    let text = String::from_utf8(read(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        UsageError::new(
            format!("{} is no UTF-8 text: byte {at} is none", shown(path)),
            "give a text file, saved as UTF-8",
        )
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Token ids of a file, at least one: a JSON array, or numbers between white space or commas.
pub fn tokens(path: &str) -> Result<Vec<u32>, UsageError> {
    let text = text(path)?;
    let text = text.trim();
    let tokens: Vec<u32> = if text.starts_with('[') {
        serde_json::from_str(text).map_err(|_| not_tokens(path, &token_fault(text)))?
    } else {
        let words =
            text.split(|char: char| char.is_whitespace() || char == ',').filter(|word| !word.is_empty());
        words
            .map(|word| word.parse().map_err(|_| not_tokens(path, &format!("`{word}` is no token id"))))
            .collect::<Result<_, _>>()?
    };
    if tokens.is_empty() { Err(not_tokens(path, "it is empty")) } else { Ok(tokens) }
}

/// What is wrong with a JSON array of token ids.
fn token_fault(text: &str) -> String {
    let items: Vec<serde_json::Value> = match serde_json::from_str(text) {
        Ok(items) => items,
        Err(error) => return format!("it is no JSON: {}", json_fault(&error)),
    };
    let is_token = |item: &serde_json::Value| item.as_u64().is_some_and(|token| token <= u32::MAX.into());
    match items.iter().position(|item| !is_token(item)) {
        Some(at) => format!("item {} is `{}`, which is no token id", at + 1, items[at]),
        None => "an item is no token id".to_owned(),
    }
}

fn not_tokens(path: &str, why: &str) -> UsageError {
    UsageError::new(
        format!("{} holds no token ids: {why}", shown(path)),
        "write them as a JSON array, or as numbers between spaces, commas or line ends; a token id is 0 to 4294967295",
    )
}

/// One proto3 JSON message of a file; `what` is its name in the contract.
pub fn message<T: serde::de::DeserializeOwned>(path: &str, what: &str) -> Result<T, UsageError> {
    read_json(&text(path)?).map_err(|error| not_json(path, what, &error))
}

/// A file that holds something else than the message `what`.
pub fn not_json(path: &str, what: &str, why: &str) -> UsageError {
    UsageError::new(
        format!("{} is no {what} in JSON: {why}", shown(path)),
        format!("write it as proto3 JSON, with the fields of {what} in proto/inferencecache/v1alpha1"),
    )
}

/// Several proto3 JSON messages of one file, one after the other, each read when it is asked for.
pub struct Messages<T> {
    values:
        serde_json::StreamDeserializer<'static, serde_json::de::IoRead<Box<dyn Read + Send>>, Box<RawValue>>,
    path: String,
    what: &'static str,
    count: u64,
    is_streamed: bool,
    message: PhantomData<fn() -> T>,
}

impl<T: serde::de::DeserializeOwned> Messages<T> {
    /// Messages called `what` of a file; `-` is standard input. `is_streamed` says that each is sent before the next is read.
    pub fn open(path: &str, what: &'static str, is_streamed: bool) -> Result<Self, UsageError> {
        let mut source = BufReader::new(open(path)?);
        let is_marked = source.fill_buf().is_ok_and(|head| head.starts_with(BYTE_ORDER_MARK));
        source.consume(if is_marked { BYTE_ORDER_MARK.len() } else { 0 });
        let source: Box<dyn Read + Send> = Box::new(source);
        let values = serde_json::Deserializer::from_reader(source).into_iter();
        Ok(Self { values, path: path.to_owned(), what, count: 0, is_streamed, message: PhantomData })
    }

    /// The error of a file that holds no message at all.
    pub fn none(&self) -> UsageError {
        UsageError::new(
            format!("{} holds no {}", shown(&self.path), self.what),
            format!("write at least one {} as proto3 JSON", self.what),
        )
    }

    /// The next message, once `check` agrees with it.
    pub fn next(&mut self, check: impl FnOnce(&T) -> Result<(), Fault>) -> Option<Result<T, UsageError>> {
        let read = self.values.next()?;
        self.count += 1;
        let message = match read {
            Ok(raw) => read_json::<T>(raw.get()).and_then(|message| match check(&message) {
                Ok(()) => Ok(message),
                Err(fault) => Err(format!("field `{}` {}", fault.field, fault.what)),
            }),
            Err(error) if error.is_io() => {
                return Some(Err(UsageError::unreadable(&self.path, &io::Error::from(error))));
            }
            Err(error) => Err(format!("it is no JSON: {}", json_fault(&error))),
        };
        Some(message.map_err(|why| self.wrong(&why)))
    }

    fn wrong(&self, why: &str) -> UsageError {
        let before = match self.count - 1 {
            _ if !self.is_streamed => "correct it, and try again; nothing was sent".to_owned(),
            0 => "correct it, and try again".to_owned(),
            1 => "correct it and send the rest; the one before it was sent".to_owned(),
            sent => format!("correct it and send the rest; the {sent} before it were sent"),
        };
        let (path, what, count) = (shown(&self.path), self.what, self.count);
        UsageError::new(
            format!("{what} {count} of {path} cannot be sent: {why}"),
            format!("{before}; its fields are those of {what} in proto/inferencecache/v1alpha1"),
        )
    }
}

/// What some editors put before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_in_both_notations() {
        let bytes: &[u8] = &[0xea, 0x06, 0xfc, 0x71, 0xa5, 0xee, 0x6e, 0x88];
        for text in [
            "ea06fc71a5ee6e88",
            "EA06FC71A5EE6E88",
            "0xea06fc71a5ee6e88",
            "hex:ea06fc71a5ee6e88",
            "6gb8caXubog=",
            "6gb8caXubog",
        ] {
            assert_eq!(hash(text).as_deref(), Ok(bytes), "{text}");
        }
        assert_eq!(hash("deadbeef").as_deref(), Ok(&[0xde, 0xad, 0xbe, 0xef][..]));
        assert_eq!(hash("base64:deadbeef").map(|bytes| bytes.len()), Ok(6));
        for bad in ["", "abc!", "hex:abc", "base64:", "0x"] {
            assert!(hash(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn tokens_in_every_notation() {
        let folder = tempfile::tempdir().unwrap();
        for (text, tokens_of_it) in [
            ("[1, 2,3]", vec![1, 2, 3]),
            ("1 2\n3\n", vec![1, 2, 3]),
            ("1,2, 3", vec![1, 2, 3]),
            ("\u{feff}[7]", vec![7]),
        ] {
            let path = folder.path().join("tokens");
            std::fs::write(&path, text).unwrap();
            assert_eq!(tokens(path.to_str().unwrap()).unwrap(), tokens_of_it, "{text}");
        }
        for (text, why) in [
            ("", "it is empty"),
            ("[]", "it is empty"),
            ("[1,\"x\"]", "item 2 is `\"x\"`"),
            ("[1,-1]", "item 2 is `-1`"),
            ("[1", "it is no JSON"),
            ("1 4294967296", "`4294967296` is no token id"),
        ] {
            let path = folder.path().join("tokens");
            std::fs::write(&path, text).unwrap();
            let error = tokens(path.to_str().unwrap()).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
