//! `icache drain`: no more hints to a replica that is about to go.

use clap::builder::NonEmptyStringValueParser;
use hyper::Method;
use serde::{Deserialize, Serialize};

use super::Outcome;
use super::admin::{AdminRequest, Port, ask};
use super::connect::AccessArgs;
use super::exit::Exit;
use crate::render::{self, Format, Printer};

/// Stop hints to a replica that is about to go
///
/// A drained replica is in no answer; what it holds stays in the index, and so do its reports. It stays drained until that
/// is undone, or for 24 hours.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The replica, as it reports itself
    #[arg(value_name = "REPLICA", value_parser = NonEmptyStringValueParser::new())]
    replica: String,
    /// Let it have hints again
    #[arg(long)]
    undo: bool,
    /// Change nothing, and say whether it is drained
    #[arg(long, conflicts_with = "undo")]
    show: bool,
    /// Admin port of the server; without it that of the environment variable ICACHE_ADMIN_URL, else http://127.0.0.1:8081
    #[arg(long, value_name = "URL", help_heading = "Server")]
    admin_url: Option<String>,
    #[command(flatten)]
    access: AccessArgs,
    /// Form of the result; jsonl is the JSON document in one line
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

const EXAMPLES: &str = "\
Examples:
  icache drain vllm-0
      before the replica is stopped, so that gateways stop to send it what it holds
  icache drain vllm-0 --undo
  icache drain vllm-0 --admin-url https://icache:8081 --ca ca.pem --token-file token";

/// The admin port where nobody names one.
const LOCAL: &str = "http://127.0.0.1:8081";
/// Version of the answer.
const VERSION: u32 = 1;

/// What the server tells of the replica.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DrainState {
    /// Version of the shape.
    pub version: u32,
    /// Which.
    pub replica_id: String,
    /// Whether it is drained.
    pub drained: bool,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// It gets hints again from here on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// Asks and prints.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let url = match &args.admin_url {
        Some(url) => url.clone(),
        None => std::env::var("ICACHE_ADMIN_URL").unwrap_or_else(|_| LOCAL.to_owned()),
    };
    let method = match (args.undo, args.show) {
        (true, _) => Method::DELETE,
        (_, true) => Method::GET,
        _ => Method::POST,
    };
    let path = format!("/drain/{}", escaped(&args.replica));
    let request = AdminRequest {
        method,
        path: &path,
        answer: "state of a replica",
        version: Some(VERSION),
        port: Port::Admin,
    };
    let state: DrainState = ask(&url, &args.access, &request)?;
    render::drain(printer, args.output, &state)?;
    Ok(Exit::Done)
}

/// As a part of a path: all but letters, digits and `-._~` by their number.
fn escaped(replica: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    replica.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_escaped_for_a_path() {
        assert_eq!(escaped("vllm-0_a.b~"), "vllm-0_a.b~");
        assert_eq!(escaped("ns/pod 1?ä"), "ns%2Fpod%201%3F%C3%A4");
    }
}
