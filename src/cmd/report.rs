//! `icache report`: tells a server what a replica holds.

use std::thread;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::Outcome;
use super::client::ServerArgs;
use super::error::UsageError;
use super::exit::Exit;
use super::input;
use super::request::{KeyArgs, PrefixArgs};
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
    /// Tokens in a block, where --token-ids or --tokens are hashed here
    #[arg(long, value_name = "TOKENS", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    block_size: u32,
    /// Tier that holds the prefix: T1 engine KV cache, T2 offload pool, T3 remote store
    #[arg(long, value_enum, default_value_t, ignore_case = true)]
    tier: TierArg,
    /// When this was true, in Unix microseconds; without it, now
    #[arg(long, value_name = "US")]
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

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
#[value(rename_all = "UPPER")]
enum TierArg {
    #[default]
    T1,
    T2,
    T3,
}

/// Statistics of the replica, in (tenant, model).
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Statistics")]
struct StatsArgs {
    /// Share of queried tokens found in cache, 0 to 1
    #[arg(long, value_name = "SHARE")]
    hit_rate: Option<f32>,
    /// Share of the KV cache in use, 0 to 1
    #[arg(long, value_name = "SHARE")]
    pressure: Option<f32>,
    /// Size of the KV cache, in bytes
    #[arg(long, value_name = "BYTES")]
    memory_bytes: Option<i64>,
    /// Tokens found in tier 2, a running total
    #[arg(long, value_name = "TOKENS")]
    t2_hit_tokens: Option<i64>,
    /// Tokens asked of tier 2, a running total
    #[arg(long, value_name = "TOKENS")]
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
            read_updates(path.clone(), sender)?
        }
        None => {
            let update = args.by_flags()?;
            thread::spawn(move || Ok(u64::from(sender.blocking_send(update).is_ok())))
        }
    };
    let ack = args.server.run(async |client| {
        let updates = ReceiverStream::new(receiver);
        let reply = client.contract().report_cache_state(client.request(updates)).await;
        Ok(reply.map_err(|status| client.failed(&status))?.into_inner())
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

/// Reads updates in a thread of its own, so that each is sent as it comes; how many were read.
fn read_updates(path: String, sender: mpsc::Sender<CacheStateUpdate>) -> Result<Reader, UsageError> {
    let file = input::open(&path)?;
    Ok(thread::spawn(move || {
        let mut sent = 0;
        for update in serde_json::Deserializer::from_reader(file).into_iter::<CacheStateUpdate>() {
            let update = update.map_err(|error| unusable(&path, sent, &error))?;
            if sender.blocking_send(update).is_err() {
                return Ok(sent);
            }
            sent += 1;
        }
        Ok(sent)
    }))
}

fn unusable(path: &str, sent: u64, error: &serde_json::Error) -> UsageError {
    let before =
        if sent == 1 { "the one before it was".to_owned() } else { format!("the {sent} before it were") };
    let advice = format!("correct it and send the rest; {before} sent");
    let name = if path == "-" { "standard input".to_owned() } else { format!("`{path}`") };
    UsageError::new(
        format!(
            "update {} of {name} is no CacheStateUpdate in JSON: {}",
            sent + 1,
            super::error::sentence(error)
        ),
        advice,
    )
}

impl Args {
    fn has_flags(&self) -> bool {
        self.replica.is_some()
            || !self.keys.is_empty()
            || !self.prefix.is_empty()
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

    fn entry(&self) -> Result<Option<PrefixEntry>, UsageError> {
        let (mut block_hashes, mut block_token_counts) = self.prefix.chain()?;
        let tokens = self.prefix.token_ids()?;
        if !tokens.is_empty() {
            if !block_hashes.is_empty() {
                return Err(UsageError::new(
                    "blocks and tokens are both given",
                    "give the prefix either as block hashes or as token ids",
                ));
            }
            let chain = fingerprint_chain(&tokens, self.block_size, None);
            if chain.is_empty() {
                return Err(UsageError::new(
                    format!("{} tokens do not fill one block of {}", tokens.len(), self.block_size),
                    "give more tokens, or the engine's block size with `--block-size`",
                ));
            }
            let count = i32::try_from(self.block_size).unwrap_or(i32::MAX);
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
            TierArg::T1 => CacheTier::T1,
            TierArg::T2 => CacheTier::T2,
            TierArg::T3 => CacheTier::T3,
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
