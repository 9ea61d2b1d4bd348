//! Values of flags and files: hashes, tokens, durations, JSON.

use std::fs::File;
use std::io::{self, BufReader, Read};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use bytes::Bytes;

use super::error::{UsageError, sentence};

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
        _ => Err("a timeout is longer than 0".to_owned()),
    }
}

/// Opens a file; `-` is standard input.
pub fn open(path: &str) -> Result<Box<dyn Read + Send>, UsageError> {
    if path == "-" {
        return Ok(Box::new(io::stdin()));
    }
    let file = File::open(path).map_err(|error| UsageError::unreadable(path, &error))?;
    Ok(Box::new(BufReader::new(file)))
}

/// Bytes of input files that are read whole, at most: twice the largest message.
const MAX_BYTES: u64 = 32 << 20;

/// The whole of a file; `-` is standard input.
pub fn read(path: &str) -> Result<Vec<u8>, UsageError> {
    let mut bytes = Vec::new();
    let read = open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| UsageError::unreadable(path, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(UsageError::new(
            format!("`{path}` is larger than {} MiB", MAX_BYTES >> 20),
            "no server takes a message of that size; send less",
        ));
    }
    Ok(bytes)
}

/// The whole of a text file; `-` is standard input.
pub fn text(path: &str) -> Result<String, UsageError> {
    String::from_utf8(read(path)?)
        .map_err(|_| UsageError::new(format!("`{path}` is no UTF-8 text"), "give a text file"))
}

/// Token ids of a file: a JSON array, or numbers between white space or commas.
pub fn tokens(path: &str) -> Result<Vec<u32>, UsageError> {
    let text = text(path)?;
    let text = text.trim();
    if text.starts_with('[') {
        return serde_json::from_str(text).map_err(|error| not_tokens(path, &sentence(&error)));
    }
    text.split(|char: char| char.is_whitespace() || char == ',')
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().map_err(|_| not_tokens(path, &format!("`{word}` is no token id"))))
        .collect()
}

fn not_tokens(path: &str, why: &str) -> UsageError {
    UsageError::new(
        format!("`{path}` holds no token ids: {why}"),
        "write them as a JSON array, or as numbers between spaces, commas or line ends",
    )
}

/// One proto3 JSON message of a file; `what` is its name in the contract.
pub fn message<T: serde::de::DeserializeOwned>(path: &str, what: &str) -> Result<T, UsageError> {
    serde_json::from_slice(&read(path)?).map_err(|error| not_json(path, what, &error))
}

/// A file that holds something else than the message `what`.
pub fn not_json(path: &str, what: &str, error: &serde_json::Error) -> UsageError {
    UsageError::new(
        format!("`{path}` is no {what} in JSON: {}", sentence(error)),
        format!("write it as proto3 JSON, with the fields of {what} in proto/inferencecache/v1alpha1"),
    )
}

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
            ("", vec![]),
        ] {
            let path = folder.path().join("tokens");
            std::fs::write(&path, text).unwrap();
            assert_eq!(tokens(path.to_str().unwrap()).unwrap(), tokens_of_it, "{text}");
        }
    }
}
