//! Values of flags, and what is said of those that are none.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tonic::codegen::http::uri::Authority;
use tracing::level_filters::LevelFilter;

use crate::model::{parse_duration, parse_size};

/// An IP address and port.
pub(in crate::cmd) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "write an IP address and a port, as in `127.0.0.1:9090`".to_owned())
}

/// A capture to start with.
pub(super) fn capture(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => {
            Err("the capture is read twice, which standard input cannot be; write it to a file".to_owned())
        }
        path => Ok(PathBuf::from(path)),
    }
}

/// A span of 0 or more, in nanoseconds.
pub(in crate::cmd) fn ns(text: &str) -> Result<i64, String> {
    match parse_duration(text) {
        Ok(ns) if ns < 0 => Err("a duration here cannot be negative".to_owned()),
        Ok(ns) => Ok(ns),
        Err(error) => Err(error.to_string()),
    }
}

/// A span above 0, in nanoseconds.
pub(super) fn positive_ns(text: &str) -> Result<i64, String> {
    match ns(text)? {
        0 => Err("a duration here must be above 0".to_owned()),
        ns => Ok(ns),
    }
}

/// A span of 0 or more.
pub(super) fn span(text: &str) -> Result<Duration, String> {
    ns(text).map(|ns| Duration::from_nanos(ns.unsigned_abs()))
}

/// A span above 0.
pub(in crate::cmd) fn positive_span(text: &str) -> Result<Duration, String> {
    positive_ns(text).map(|ns| Duration::from_nanos(ns.unsigned_abs()))
}

/// A number from 1 to `most`.
pub(in crate::cmd) fn count(
    most: usize,
) -> impl Fn(&str) -> Result<usize, String> + Clone + Send + Sync + 'static {
    move |text| match text.parse() {
        Ok(count) if (1..=most).contains(&count) => Ok(count),
        _ => Err(format!("write a whole number from 1 to {most}")),
    }
}

/// A finite number of 0 or more.
pub(super) fn factor(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(factor) if factor.is_finite() && factor >= 0.0 => Ok(factor),
        _ => Err("write a number of 0 or more, as in `0.5`".to_owned()),
    }
}

/// Bytes, above 0.
fn size(text: &str) -> Result<u64, String> {
    match parse_size(text) {
        Ok(0) => Err("a size here must be above 0".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}

/// Memory below this holds no index worth the name.
const LEAST_INDEX: u64 = 1 << 20;

/// Bytes of an index.
pub(super) fn index_size(text: &str) -> Result<u64, String> {
    match size(text)? {
        bytes if bytes < LEAST_INDEX => Err("an index takes 1MiB at least".to_owned()),
        bytes => Ok(bytes),
    }
}

/// A level of the log, by name.
pub(super) fn level(text: &str) -> Result<LevelFilter, String> {
    let is_name = text.starts_with(|char: char| char.is_ascii_alphabetic());
    let level = text.parse().ok().filter(|_| is_name);
    level.ok_or_else(|| "write `off`, `error`, `warn`, `info`, `debug` or `trace`".to_owned())
}

/// Bytes of a message, above 0; the transport counts them in 32 bits.
pub(super) fn message_size(text: &str) -> Result<u64, String> {
    match size(text)? {
        bytes if bytes > u64::from(u32::MAX) => Err("a message cannot be larger than 4 GiB".to_owned()),
        bytes => Ok(bytes),
    }
}

/// URL of a collector of traces.
pub(super) fn collector(text: &str) -> Result<String, String> {
    let uri = text.parse::<tonic::transport::Uri>().ok().filter(|uri| uri.scheme_str() == Some("http"));
    let authority = uri.as_ref().and_then(|uri| uri.authority());
    // A port that is no number of 16 bits is none that is known.
    let is_one = |authority: &Authority| {
        !authority.as_str().contains('@')
            && (authority.port_u16().is_some() || authority.as_str() == authority.host())
    };
    match authority.is_some_and(is_one) {
        true => Ok(text.to_owned()),
        false => Err("write an http:// URL without a user, as in `http://127.0.0.1:4317`; what is to go further in TLS \
             goes through a collector beside the server"
            .to_owned()),
    }
}
