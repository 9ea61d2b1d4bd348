//! Which engine is followed, on whose behalf, and how its events are read: the flags that every command has which follows
//! one.

mod address;

use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::UsageError;
use super::error::sentence;
use super::serve::values::{count, positive_span};
use crate::engine::{Identity, MapperOptions};
use crate::model::{AdapterId, HashScheme, Limits, ModelId, PROBE_TENANT, ReplicaId, TenantId};
use crate::subscribe::{ConnectError, Fleet, MAX_REPLICAS, Publisher};

/// Of an engine. Replica, tenant and model are needed, though not every command that has these flags follows an engine.
#[derive(Debug, Args)]
pub struct EngineArgs {
    /// Replica id under which the engine is reported; with ranks, `-dp<rank>` is put behind it
    #[arg(long, value_name = "ID", env = "ICACHE_REPLICA", value_parser = id, help_heading = "Engine")]
    replica: Option<String>,
    /// Tenant that the engine serves
    #[arg(long, value_name = "ID", env = "ICACHE_TENANT", value_parser = tenant, help_heading = "Engine")]
    tenant: Option<String>,
    /// Model that the engine serves, as gateways call it
    #[arg(long, value_name = "ID", env = "ICACHE_MODEL", value_parser = id, help_heading = "Engine")]
    model: Option<String>,
    /// Hash scheme under which gateways look the fingerprints up
    #[arg(long, value_name = "NAME", env = "ICACHE_HASH_SCHEME", default_value = "vllm", value_parser = id,
        help_heading = "Engine")]
    hash_scheme: String,
    /// Where the engine answers replays, rank N at the port N higher; `none` where it does not [default: port 5558 of
    /// the engine's host; with several ranks none]
    #[arg(long, value_name = "ENDPOINT", env = "ICACHE_REPLAY", help_heading = "Engine")]
    replay: Option<String>,
    /// Take only topics that begin with this
    #[arg(long, value_name = "PREFIX", env = "ICACHE_TOPIC", default_value = "", help_heading = "Engine")]
    topic: String,
    /// Data-parallel ranks of the engine, each with a publisher of its own [default: one publisher without ranks]
    #[arg(long, value_name = "N", env = "ICACHE_DP_RANKS", value_parser = count(MAX_REPLICAS), help_heading = "Engine")]
    dp_ranks: Option<usize>,
    /// How long a replay may be silent before it is given up
    #[arg(long, value_name = "DURATION", env = "ICACHE_REPLAY_TIMEOUT", default_value = "3s",
        value_parser = positive_span, help_heading = "Engine")]
    replay_timeout: Duration,

    /// Names of adapters that the engine gives by number only; blocks of others are left out
    #[arg(long, value_name = "ID=NAME,...", env = "ICACHE_ADAPTER_NAMES", value_parser = adapter_name,
        value_delimiter = ',', help_heading = "Mapping")]
    adapter_names: Vec<(i64, AdapterId)>,
    /// What to do with blocks whose content is not in their tokens alone (images, cache salts)
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        env = "ICACHE_EXTRA_KEYS",
        default_value_t,
        help_heading = "Mapping"
    )]
    extra_keys: ExtraKeys,
    /// Take blocks that leave the GPU to be kept in an offload pool (T2) that says nothing itself
    #[arg(long, env = "ICACHE_L2_RETAINS", help_heading = "Mapping")]
    l2_retains: bool,
    /// Blocks followed of each replica at most, at 151 bytes each or less; further ones are left out [default: 4194304]
    #[arg(long, value_name = "N", env = "ICACHE_MAX_HELD_BLOCKS", value_parser = count(1 << 30), help_heading = "Mapping")]
    max_held_blocks: Option<usize>,
}

/// An engine to follow.
pub(super) struct Followed {
    /// Its publishers, in the order of their ranks.
    pub(super) publishers: Vec<Publisher>,
    /// On whose behalf.
    pub(super) fleet: Fleet,
    /// How its events are read.
    pub(super) mapper: MapperOptions,
}

impl EngineArgs {
    /// The engine that publishes at `endpoint`, which `flag` names.
    pub(super) fn follow(&self, flag: &'static str, endpoint: &str) -> Result<Followed, UsageError> {
        let named = |value: &Option<String>, flag: &str, what: &str| {
            value.clone().ok_or_else(|| {
                UsageError::new(
                    format!("an engine is followed on behalf of a replica, a tenant and a model, and there is no `{flag}`"),
                    format!("give {what} with `{flag}`"),
                )
            })
        };
        let replica = named(&self.replica, "--replica", "the id that gateways route by")?;
        let tenant = named(&self.tenant, "--tenant", "the tenant that the engine serves")?;
        let model = named(&self.model, "--model", "the model's name, as gateways call it,")?;
        let publishers = address::publishers(self, flag, endpoint)?;
        let mut mapper = MapperOptions {
            adapter_names: self.adapter_names.iter().cloned().collect(),
            ignore_extra_keys: self.extra_keys == ExtraKeys::Ignore,
            l2_retains: self.l2_retains,
            ..MapperOptions::default()
        };
        mapper.max_held_blocks = self.max_held_blocks.unwrap_or(mapper.max_held_blocks);
        let engine = Identity {
            replica: ReplicaId::from(replica.as_str()),
            tenant: TenantId::from(tenant.as_str()),
            model: ModelId::from(model.as_str()),
            scheme: HashScheme::from(self.hash_scheme.as_str()),
        };
        let fleet = Fleet { engine, publishers: publishers.len(), is_ranked: self.dp_ranks.is_some() };
        Ok(Followed { publishers, fleet, mapper })
    }
}

/// The flags of an engine in a command that can do without one.
#[derive(Debug)]
pub struct OptionalEngine {
    args: EngineArgs,
    /// One of them that the command line has: what the environment says is there for other commands too.
    pub(super) given: Option<String>,
}

impl OptionalEngine {
    /// The engine that publishes at `endpoint`, which `flag` names.
    pub(super) fn follow(&self, flag: &'static str, endpoint: &str) -> Result<Followed, UsageError> {
        self.args.follow(flag, endpoint)
    }
}

impl FromArgMatches for OptionalEngine {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = EngineArgs::augment_args(Command::new("engine"))
            .get_arguments()
            .filter(|arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine))
            .find_map(|arg| arg.get_long().map(|long| format!("--{long}")));
        Ok(Self { args: EngineArgs::from_arg_matches(matches)?, given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for OptionalEngine {
    fn augment_args(command: Command) -> Command {
        EngineArgs::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        EngineArgs::augment_args_for_update(command)
    }
}

/// An engine's address that cannot be connected to, and what to do about it.
pub(super) fn unconnected(flag: &str, error: &ConnectError) -> UsageError {
    UsageError::new(
        format!("cannot connect to `{}`: {}", error.endpoint, sentence(&error.source)),
        format!("write the engine's address as `tcp://HOST:PORT`, with `{flag}` and `--replay`"),
    )
}

/// What to do with blocks that the fingerprint cannot tell apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum ExtraKeys {
    /// Leave them out, with what follows them
    #[default]
    Refuse,
    /// Index them by their tokens all the same
    Ignore,
}

/// Bytes that `-dp<rank>` can take.
const RANK_BYTES: usize = "-dp4294967295".len();

/// An id that the server takes.
fn id(text: &str) -> Result<String, String> {
    let most = Limits::default().id_bytes - RANK_BYTES;
    match text.len() {
        0 => Err("it is empty".to_owned()),
        len if len > most => Err(format!("it has {len} bytes, and {most} are allowed")),
        _ => Ok(text.to_owned()),
    }
}

fn tenant(text: &str) -> Result<String, String> {
    match text {
        PROBE_TENANT => Err("this tenant is reserved, and the server drops what names it".to_owned()),
        other => id(other),
    }
}

/// `ID=NAME`.
fn adapter_name(text: &str) -> Result<(i64, AdapterId), String> {
    let wrong = || "write a number and a name, as in `1=sql-lora`".to_owned();
    let (number, name) = text.split_once('=').ok_or_else(wrong)?;
    let number = number.trim().parse().map_err(|_| wrong())?;
    Ok((number, AdapterId::from(id(name.trim())?.as_str())))
}
