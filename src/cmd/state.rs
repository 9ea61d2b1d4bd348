//! `icache state`: statistics of the replicas and size of the index.

use super::Outcome;
use super::client::ServerArgs;
use super::exit::Exit;
use crate::contract::{GetCacheStateRequest, decode_state};
use crate::render::{self, Format, Printer};

/// Show the replicas' statistics and the size of the index
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only this tenant; without it, all
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// Only this model; without it, all
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
    /// Form of the result; jsonl is one replica a line
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

const EXAMPLES: &str = "\
Examples:
  icache state
  icache state --tenant team-a --model llama-3.1-8b
  icache state -o json --server http://icache:9090";

/// Asks and prints.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let request = GetCacheStateRequest {
        tenant_id: args.tenant.clone().unwrap_or_default(),
        model_id: args.model.clone().unwrap_or_default(),
    };
    let reply = args.server.run(async |client| {
        let reply = client.contract().get_cache_state(client.request(request)).await;
        Ok(reply.map_err(|status| client.failed(&status))?.into_inner())
    })?;
    render::state(printer, args.output, &decode_state(reply))?;
    Ok(Exit::Done)
}
