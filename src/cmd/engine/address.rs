//! Addresses of publishers.

use super::EngineArgs;
use crate::cmd::UsageError;
use crate::subscribe::Publisher;

/// Port on which engines answer replays by default.
const REPLAY_PORT: u16 = 5558;

/// One publisher for each rank, the first at `endpoint`, which `flag` names.
pub(super) fn publishers(
    args: &EngineArgs,
    flag: &'static str,
    endpoint: &str,
) -> Result<Vec<Publisher>, UsageError> {
    let ranks = args.dp_ranks.unwrap_or(1);
    let engine = Address::parse(flag, endpoint)?;
    let replay = match args.replay.as_deref() {
        Some("none") => None,
        Some(given) => Some(Address::parse("--replay", given)?),
        // With ranks that port can be the publisher's of the second one.
        None if ranks > 1 => None,
        None => engine.at_port(REPLAY_PORT),
    };
    let at = |address: &Address, rank| address.of_rank(rank);
    let mut publishers = Vec::new();
    for rank in 0..ranks {
        publishers.push(Publisher {
            endpoint: at(&engine, rank)?,
            replay: replay.as_ref().map(|replay| at(replay, rank)).transpose()?,
            topic: args.topic.clone(),
            replay_timeout: args.replay_timeout,
        });
    }
    let replays = |endpoint: &String| publishers.iter().any(|other| other.replay.as_ref() == Some(endpoint));
    if let Some(both) = publishers.iter().map(|one| &one.endpoint).find(|endpoint| replays(endpoint)) {
        return Err(UsageError::new(
            format!("`{both}` would both publish and answer replays"),
            format!(
                "leave as many ports between `{flag}` and `--replay` as there are ranks, as the engine does"
            ),
        ));
    }
    Ok(publishers)
}

/// An address to connect to.
struct Address {
    flag: &'static str,
    text: String,
    /// Where it is one of TCP.
    host_and_port: Option<(String, u16)>,
}

impl Address {
    fn parse(flag: &'static str, text: &str) -> Result<Self, UsageError> {
        let wrong = || {
            UsageError::new(
                format!("`{flag} {text}` is no address of an engine"),
                "write it as `tcp://HOST:PORT`, such as `tcp://127.0.0.1:5557`",
            )
        };
        if text.strip_prefix("ipc://").is_some_and(|path| !path.is_empty()) {
            return Ok(Self { flag, text: text.to_owned(), host_and_port: None });
        }
        let (host, port) =
            text.strip_prefix("tcp://").and_then(|rest| rest.rsplit_once(':')).ok_or_else(wrong)?;
        if host == "*" || host == "0.0.0.0" || host == "[::]" {
            return Err(UsageError::new(
                format!("`{flag} {text}` is an address that an engine binds, not one to connect to"),
                "name the engine's host, such as `tcp://127.0.0.1:5557`",
            ));
        }
        let port: u16 = port.parse().map_err(|_| wrong())?;
        if host.is_empty() || port == 0 {
            return Err(wrong());
        }
        Ok(Self { flag, text: text.to_owned(), host_and_port: Some((host.to_owned(), port)) })
    }

    fn at_port(&self, port: u16) -> Option<Self> {
        let (host, _) = self.host_and_port.as_ref()?;
        let text = format!("tcp://{host}:{port}");
        Some(Self { flag: self.flag, text, host_and_port: Some((host.clone(), port)) })
    }

    fn of_rank(&self, rank: usize) -> Result<String, UsageError> {
        let Self { flag, text, .. } = self;
        if rank == 0 {
            return Ok(text.clone());
        }
        let Some((host, port)) = &self.host_and_port else {
            return Err(UsageError::new(
                format!("`{flag} {text}` has no port to count ranks from"),
                "give a `tcp://HOST:PORT`, or start one sidecar for each rank",
            ));
        };
        let port = u16::try_from(rank).ok().and_then(|rank| port.checked_add(rank)).ok_or_else(|| {
            UsageError::new(
                format!("`{flag} {text}` and rank {rank} make a port beyond 65535"),
                "check the port and `--dp-ranks`",
            )
        })?;
        Ok(format!("tcp://{host}:{port}"))
    }
}
