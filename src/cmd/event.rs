//! `icache event`: tells a server what happened to a replica.

use bytes::Bytes;

use super::client::ServerArgs;
use super::error::UsageError;
use super::exit::Exit;
use super::input::{self, Messages};
use super::{Outcome, check, report};
use crate::contract::CacheEvent;
use crate::contract::wire::inferencecache::v1alpha1::cache_event::Type;
use crate::render::{self, Format, Printer};

/// Publish a cache event: an eviction, a clearing, a sign of life
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What happened
    #[arg(long = "type", value_enum, value_name = "TYPE", required_unless_present = "event")]
    kind: Option<Kind>,
    /// Replica that it happened to (replica_id)
    #[arg(long, value_name = "ID", required_unless_present = "event")]
    replica: Option<String>,
    /// Tenant (tenant_id)
    #[arg(long, value_name = "ID", required_unless_present = "event")]
    tenant: Option<String>,
    /// Model (model_id)
    #[arg(long, value_name = "ID", required_unless_present = "event")]
    model: Option<String>,
    /// Hash that was evicted, in hex or base64; in every hash scheme
    #[arg(long, value_name = "HASH", value_parser = input::hash)]
    prefix_hash: Option<Bytes>,
    /// Evict in this adapter partition only; without it in all
    #[arg(long, value_name = "ID")]
    adapter: Option<String>,
    /// When it happened, in Unix microseconds; without it, now
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(i64).range(1..))]
    timestamp_us: Option<i64>,
    /// File with one or more CacheEvent messages in proto3 JSON, instead of the flags above; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kind", "replica", "tenant", "model", "prefix_hash", "adapter", "timestamp_us"])]
    event: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
    /// Form of the acknowledgement
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Kind {
    /// The replica dropped --prefix-hash
    PrefixEvicted,
    /// The replica dropped everything of tenant and model
    AllCleared,
    /// The replica is alive
    ReplicaUpdated,
    /// The replica stored a prefix; changes nothing, since an event names no hash scheme
    PrefixAdded,
}

const EXAMPLES: &str = "\
Examples:
  icache event --type all-cleared --replica vllm-0 --tenant team-a --model llama-3.1-8b
  icache event --type prefix-evicted --replica vllm-0 --tenant team-a --model llama-3.1-8b \\
      --prefix-hash ea06fc71a5ee6e88
  icache event --event events.json";

/// Publishes one event after the other.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let events = match &args.event {
        Some(path) => from_file(path)?,
        None => vec![from_flags(args)?],
    };
    let sent = events.len() as u64;
    let ack = args.server.run(async |client| {
        let mut contract = client.contract();
        let mut last = None;
        for event in events {
            let reply = contract.publish_event(client.request(event)).await;
            let ack = reply.map_err(|status| client.failed(&status))?.into_inner();
            let is_refused = !ack.accepted;
            last = Some(ack);
            if is_refused {
                break;
            }
        }
        Ok(last.unwrap_or_default())
    })?;
    render::ack(printer, args.output, (ack.accepted, &ack.reason_code), (sent, "event"))?;
    Ok(if ack.accepted { Exit::Done } else { Exit::Negative })
}

fn from_file(path: &str) -> Result<Vec<CacheEvent>, UsageError> {
    let mut messages = Messages::open(path, "CacheEvent", false)?;
    let mut events = vec![messages.next(check::event).ok_or_else(|| messages.none())??];
    while let Some(read) = messages.next(check::event) {
        events.push(read?);
    }
    Ok(events)
}

fn from_flags(args: &Args) -> Result<CacheEvent, UsageError> {
    let has_hash = args.prefix_hash.is_some();
    if args.kind == Some(Kind::PrefixEvicted) && !has_hash {
        return Err(UsageError::new(
            "`--type prefix-evicted` is given without a hash",
            "name the evicted hash with `--prefix-hash`, or clear all with `--type all-cleared`",
        ));
    }
    let is_whole = matches!(args.kind, Some(Kind::AllCleared | Kind::ReplicaUpdated));
    if is_whole && (has_hash || args.adapter.is_some()) {
        let flag = if has_hash { "--prefix-hash" } else { "--adapter" };
        return Err(UsageError::new(
            format!("`{flag}` is given with an event of the whole replica"),
            "leave it out, or evict one hash with `--type prefix-evicted`",
        ));
    }
    let kind = match args.kind {
        Some(Kind::PrefixEvicted) => Type::PrefixEvicted,
        Some(Kind::AllCleared) => Type::AllCleared,
        Some(Kind::ReplicaUpdated) => Type::ReplicaUpdated,
        Some(Kind::PrefixAdded) => Type::PrefixAdded,
        None => Type::Unspecified,
    };
    let event = CacheEvent {
        r#type: kind.into(),
        replica_id: args.replica.clone().unwrap_or_default(),
        model_id: args.model.clone().unwrap_or_default(),
        tenant_id: args.tenant.clone().unwrap_or_default(),
        prefix_hash: args.prefix_hash.clone().unwrap_or_default(),
        timestamp_us: args.timestamp_us.unwrap_or_default(),
        adapter_id: args.adapter.clone().unwrap_or_default(),
    };
    check::event(&event).map_err(|fault| report::refuse(&fault, report::flag_of(&fault.field)))?;
    Ok(event)
}
