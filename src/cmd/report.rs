//! `icache report`: tells a server what a replica holds.

use std::thread;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::Outcome;
use super::check::{self, Fault};
use super::client::ServerArgs;
use super::error::UsageError;
use super::exit::Exit;
use super::input::{self, Messages};
use super::request::{KeyArgs, PrefixArgs};
use super::watch::Watched;
use crate::contract::CacheStateUpdate;
use crate::contract::wire::inferencecache::v1alpha1::{CacheTier, PrefixEntry, ReplicaStats};
use crate::hash::fingerprint_chain;
use crate::render::{self, Format, Printer};

/// Report what a replica holds, and its statistics
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Replica that reports (replica_id)
    #[arg(long, value_name = "ID", required_unless_present = "update")]
    replica: Option<String>,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    prefix: PrefixArgs,
    /// Tokens in a block, where --token-ids or --tokens are hashed here [default: 16]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    block_size: Option<u32>,
    /// Tier that holds the prefix: T1 engine KV cache, T2 offload pool, T3 remote store [default: T1]
    #[arg(long, value_enum, ignore_case = true)]
    tier: Option<TierArg>,
    /// When this was true, in Unix microseconds; without it, now
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(i64).range(1..))]
    timestamp_us: Option<i64>,
    #[command(flatten)]
    stats: StatsArgs,
    /// File with one or more CacheStateUpdate messages in proto3 JSON, sent as they are read; `-` is standard input
    #[arg(long, value_name = "FILE")]
    update: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
    /// Form of the acknowledgement
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
#[value(rename_all = "UPPER")]
enum TierArg {
    T1,
    T2,
    T3,
}

/// Statistics of the replica, in (tenant, model).
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Statistics (with one given, the others are reported as 0)")]
struct StatsArgs {
    /// Share of queried tokens found in cache, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = input::share)]
    hit_rate: Option<f32>,
    /// Share of the KV cache in use, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = input::share)]
    pressure: Option<f32>,
    /// Size of the KV cache, in bytes
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(i64).range(0..))]
    memory_bytes: Option<i64>,
    /// Tokens found in tier 2, a running total
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(i64).range(0..))]
    t2_hit_tokens: Option<i64>,
    /// Tokens asked of tier 2, a running total
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(i64).range(0..))]
    t2_query_tokens: Option<i64>,
    /// Version of what reports
    #[arg(long, value_name = "VERSION")]
    client_version: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  icache report --replica vllm-0 --tenant team-a --model llama-3.1-8b --hash-scheme vllm \\
      --tokens prompt.json
      token ids, hashed here in blocks of 16
  icache report --replica vllm-0 --tenant team-a --model llama-3.1-8b --hash-scheme vllm \\
      --blocks ea06fc71a5ee6e88,1b0f3c --block-tokens 16 --tier T2
  icache report --replica vllm-0 --tenant team-a --model llama-3.1-8b --hit-rate 0.8 --pressure 0.3
      statistics only
  icache report --update updates.jsonl";

/// Tokens in a block where nobody says.
const BLOCK_SIZE: u32 = 16;
/// Updates that wait to be sent, at most.
const QUEUE: usize = 16;

/// Sends and prints the acknowledgement.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let reader = match &args.update {
        Some(path) => {
            if args.has_flags() {
                return Err(UsageError::new(
                    "`--update` and flags that describe the update are both given",
                    "give the update either as a file or by flags",
                )
                .into());
            }
            read_updates(path, sender)?
        }
        None => {
            let update = args.by_flags()?;
            check::update(&update).map_err(|fault| refuse(&fault, flag_of(&fault.field)))?;
            thread::spawn(move || Ok(u64::from(sender.blocking_send(update).is_ok())))
        }
    };
    let ack = args.server.run(async |client| {
        // The deadline of a call would cut a stream that only waits for its next update.
        let (updates, mut watch) = Watched::new(ReceiverStream::new(receiver));
        let mut contract = client.contract();
        let reply = tokio::select! {
            reply = contract.report_cache_state(updates) => reply,
            () = watch.stalled(client.timeout()) => return Err(client.late()),
        };
        Ok(reply.map_err(|status| client.failed_after(&status, watch.sent(), "update"))?.into_inner())
    })?;
    let sent = reader.join().map_err(|_| {
        UsageError::new(
            "the updates could not be read to their end",
            "send them again: what is held is refreshed",
        )
    })??;
    render::ack(printer, args.output, (ack.accepted, &ack.reason_code), (sent, "update"))?;
    Ok(if ack.accepted { Exit::Done } else { Exit::Negative })
}

type Reader = thread::JoinHandle<Result<u64, UsageError>>;

/// Reads updates in a thread of its own, so that each is sent as it comes; how many were read. The first is read before
/// anything is sent.
fn read_updates(path: &str, sender: mpsc::Sender<CacheStateUpdate>) -> Result<Reader, UsageError> {
    let mut messages = Messages::open(path, "CacheStateUpdate", true)?;
    let mut next = messages.next(check::update).ok_or_else(|| messages.none())??;
    Ok(thread::spawn(move || {
        let mut sent = 0;
        loop {
            if sender.blocking_send(next).is_err() {
                return Ok(sent);
            }
            sent += 1;
            next = match messages.next(check::update) {
                Some(read) => read?,
                None => return Ok(sent),
            };
        }
    }))
}

/// The flag behind a field of an update or event.
pub fn flag_of(field: &str) -> &'static str {
    const FLAGS: [(&str, &str); 14] = [
        ("replicaId", "--replica"),
        ("tenantId", "--tenant"),
        ("modelId", "--model"),
        ("hashScheme", "--hash-scheme"),
        ("adapterId", "--adapter"),
        ("timestampUs", "--timestamp-us"),
        ("blockHashes", "--blocks"),
        ("blockTokenCounts", "--block-tokens` or `--block-token-counts"),
        ("prefixHash", "--prefix-hash"),
        ("tokenCount", "--prefix-tokens"),
        ("hitRate", "--hit-rate"),
        ("pressure", "--pressure"),
        ("cacheMemoryBytes", "--memory-bytes"),
        ("clientVersion", "--client-version"),
    ];
    let name = field.rsplit('.').next().unwrap_or(field);
    let name = name.split('[').next().unwrap_or(name);
    FLAGS.iter().find(|(known, _)| *known == name).map_or("--type", |(_, flag)| flag)
}

/// A message by flags that the server would drop or alter.
pub fn refuse(fault: &Fault, flag: &str) -> UsageError {
    UsageError::new(
        format!("`{flag}` {}", fault.what),
        "the server would drop or alter this without a word; correct it, and try again",
    )
}

impl Args {
    fn has_flags(&self) -> bool {
        self.replica.is_some()
            || !self.keys.is_empty()
            || !self.prefix.is_empty()
            || self.block_size.is_some()
            || self.tier.is_some()
            || self.timestamp_us.is_some()
            || self.stats.is_given()
    }

    fn by_flags(&self) -> Result<CacheStateUpdate, UsageError> {
        let prefixes: Vec<PrefixEntry> = self.entry()?.into_iter().collect();
        let stats = self.stats.is_given().then(|| self.stats.message());
        if prefixes.is_empty() && stats.is_none() {
            return Err(UsageError::new(
                "nothing to report is given",
                "name what the replica holds with `--blocks`, `--prefix-hash` or `--tokens`, or its statistics with \
                 `--hit-rate` and `--pressure`",
            ));
        }
        if !prefixes.is_empty() && self.keys.hash_scheme.is_none() {
            return Err(UsageError::new(
                "hashes are given without `--hash-scheme`",
                "name their scheme, such as `--hash-scheme vllm`: the server drops hashes without one",
            ));
        }
        let keys = &self.keys;
        for (flag, value) in [("--tenant", &keys.tenant), ("--model", &keys.model)] {
            if value.is_none() {
                let advice = format!("add `{flag}`: state is kept for each tenant and model");
                return Err(UsageError::new(format!("an update is given without `{flag}`"), advice));
            }
        }
        Ok(CacheStateUpdate {
            replica_id: self.replica.clone().unwrap_or_default(),
            model_id: keys.model.clone().unwrap_or_default(),
            tenant_id: keys.tenant.clone().unwrap_or_default(),
            hash_scheme: keys.hash_scheme.clone().unwrap_or_default(),
            timestamp_us: self.timestamp_us.unwrap_or_default(),
            prefixes,
            stats,
            adapter_id: keys.adapter.clone().unwrap_or_default(),
        })
    }

    /// Refuses flags that this update would leave without effect.
    fn refuse_idle_flags(&self, has_tokens: bool) -> Result<(), UsageError> {
        let prefix = &self.prefix;
        let has_blocks = prefix.has_blocks();
        let idle = [
            (has_tokens && has_blocks, "blocks and tokens are both given"),
            (
                self.block_size.is_some() && !has_tokens,
                "`--block-size` is given without `--token-ids` or `--tokens`",
            ),
            (
                prefix.prefix_tokens.is_some() && prefix.prefix_hash.is_none(),
                "`--prefix-tokens` is given without `--prefix-hash`",
            ),
            (
                self.tier.is_some() && !has_tokens && !has_blocks && prefix.prefix_hash.is_none(),
                "`--tier` is given without a prefix that it holds",
            ),
        ];
        match idle.into_iter().find(|(is_idle, _)| *is_idle) {
            None => Ok(()),
            Some((_, what)) => Err(UsageError::new(
                what,
                "give the prefix as block hashes, as token ids, or as `--prefix-hash` with `--prefix-tokens`, and leave \
                 out what belongs to another form",
            )),
        }
    }

    fn entry(&self) -> Result<Option<PrefixEntry>, UsageError> {
        let (mut block_hashes, mut block_token_counts) = self.prefix.chain()?;
        let tokens = self.prefix.token_ids()?;
        self.refuse_idle_flags(!tokens.is_empty())?;
        if !tokens.is_empty() {
            let block_size = self.block_size.unwrap_or(BLOCK_SIZE);
            let chain = fingerprint_chain(&tokens, block_size, None);
            if chain.is_empty() {
                return Err(UsageError::new(
                    format!("{} tokens do not fill one block of {block_size}", tokens.len()),
                    "give more tokens, or the engine's block size with `--block-size`",
                ));
            }
            let count = i32::try_from(block_size).unwrap_or(i32::MAX);
            block_token_counts = vec![count; chain.len()];
            block_hashes = chain.iter().map(|hash| hash.as_bytes().to_vec().into()).collect();
        }
        let prefix_hash = self.prefix.prefix_hash.clone().unwrap_or_default();
        if block_hashes.is_empty() && block_token_counts.is_empty() && prefix_hash.is_empty() {
            return Ok(None);
        }
        if !prefix_hash.is_empty() && self.prefix.prefix_tokens.is_none() {
            return Err(UsageError::new(
                "`--prefix-hash` is given without its token count",
                "say how many tokens it stands for with `--prefix-tokens`",
            ));
        }
        let tier = match self.tier {
            None | Some(TierArg::T1) => CacheTier::T1,
            Some(TierArg::T2) => CacheTier::T2,
            Some(TierArg::T3) => CacheTier::T3,
        };
        Ok(Some(PrefixEntry {
            prefix_hash,
            token_count: self.prefix.prefix_tokens.unwrap_or_default(),
            block_hashes,
            block_token_counts,
            tier: tier.into(),
            adapter_id: String::new(),
        }))
    }
}

impl StatsArgs {
    fn is_given(&self) -> bool {
        self.hit_rate.is_some()
            || self.pressure.is_some()
            || self.memory_bytes.is_some()
            || self.t2_hit_tokens.is_some()
            || self.t2_query_tokens.is_some()
            || self.client_version.is_some()
    }

    fn message(&self) -> ReplicaStats {
        ReplicaStats {
            replica_id: String::new(),
            cache_memory_bytes: self.memory_bytes.unwrap_or_default(),
            hit_rate: self.hit_rate.unwrap_or_default(),
            pressure: self.pressure.unwrap_or_default(),
            client_version: self.client_version.clone().unwrap_or_default(),
            t2_hit_tokens: self.t2_hit_tokens.unwrap_or_default(),
            t2_query_tokens: self.t2_query_tokens.unwrap_or_default(),
        }
    }
}
