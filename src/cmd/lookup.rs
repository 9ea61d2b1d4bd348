//! `icache lookup`: asks which replicas hold a prefix, and why.

use super::client::ServerArgs;
use super::error::{UnmetError, UsageError};
use super::expect::ExpectArgs;
use super::offline::OfflineArgs;
use super::request::RequestArgs;
use super::{CommandError, Exit, Outcome};
use crate::contract::{LookupRouteRequest, decode_answer, decode_explanation, decode_request};
use crate::explanation::Explanation;
use crate::model::Answer;
use crate::render::{self, Asked, Format, Printer};

/// Ask which replicas hold a prompt's prefix, and why
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    offline: OfflineArgs,
    #[command(flatten)]
    expect: ExpectArgs,
    /// Show how the answer came about: every gate, every factor of every score
    #[arg(long, help_heading = "Output")]
    explain: bool,
    /// Form of the answer
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

const EXAMPLES: &str = "\
Examples:
  icache lookup --demo --explain
      a prompt of the built-in fleet capture, in process, explained gate by gate
  icache lookup --tenant team-a --model llama-3.1-8b --hash-scheme vllm --tokens prompt.json
      token ids of a file, hashed by the server
  icache lookup --tenant team-a --model llama-3.1-8b --hash-scheme vllm \\
      --blocks ea06fc71a5ee6e88,1b0f3c --block-tokens 16 --explain
      block hashes, against the server of ICACHE_SERVER or http://127.0.0.1:9090
  icache lookup --request - --expect PREFIX_MATCH,AFFINITY_HINT < request.json
      status 1 unless the answer is one of the two
  icache lookup --capture incident.jsonl --request request.json --explain
      against a recorded state, without a server";

/// An answer, and how it came about where that was asked for.
enum Looked {
    Answered(Answer),
    Explained(Asked, Box<Explanation>),
}

/// Asks, prints, and checks what was expected.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    args.expect.check()?;
    args.offline.check()?;
    let request = args.request.request()?;
    let looked = if args.offline.is_given() {
        let replayed = args.offline.explain(request)?;
        render::warnings(printer.color_when(), &replayed.warnings);
        Looked::Explained(replayed.asked, Box::new(replayed.explanation))
    } else {
        ask(args, request.ok_or_else(nothing_asked)?)?
    };
    let answer = match &looked {
        Looked::Explained(asked, explanation) if args.explain => {
            render::explanation(printer, args.output, asked, explanation)?;
            &explanation.answer
        }
        Looked::Explained(_, explanation) => shown(printer, args.output, &explanation.answer)?,
        Looked::Answered(answer) => shown(printer, args.output, answer)?,
    };
    let unmet = args.expect.unmet(answer);
    if unmet.is_empty() {
        return Ok(Exit::Done);
    }
    Err(UnmetError::new(unmet.join("; "), "add `--explain` to see how the answer came about").into())
}

fn shown<'a>(printer: &mut Printer, format: Format, answer: &'a Answer) -> std::io::Result<&'a Answer> {
    render::answer(printer, format, answer)?;
    Ok(answer)
}

fn nothing_asked() -> UsageError {
    UsageError::new(
        "no request is given",
        "describe it with `--tenant`, `--model`, `--hash-scheme` and `--tokens` or `--blocks`, give `--request FILE`, or \
         try `icache lookup --demo --explain`",
    )
}

fn ask(args: &Args, request: LookupRouteRequest) -> Result<Looked, CommandError> {
    args.server.run(async |client| {
        if args.explain {
            let asked = Asked::from(&decode_request(&request));
            let reply = client.explain().explain_route(client.request(request)).await;
            let reply = reply.map_err(|status| client.failed(&status))?;
            return Ok(Looked::Explained(asked, Box::new(decode_explanation(reply.into_inner()))));
        }
        let reply = client.contract().lookup_route(client.request(request)).await;
        let reply = reply.map_err(|status| client.failed(&status))?;
        Ok(Looked::Answered(decode_answer(reply.into_inner())))
    })
}
