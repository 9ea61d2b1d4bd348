//! The answer to a lookup, and the acknowledgement of what was pushed.

use std::io;

use serde::Serialize;

use super::JSON_VERSION;
use super::printer::{Format, Printer};
use super::table::Grid;
use super::text::{Tone, count_of, grouped, real, wrap};
use crate::decision::Reason;
use crate::model::{Answer, RankedReplica};

/// JSON shape of an answer; names are those of the contract's proto3 JSON.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerJson {
    /// Version of this shape.
    pub version: u32,
    /// The code.
    pub reason_code: String,
    /// Best first.
    pub replica_scores: Vec<RankedReplicaJson>,
    /// Microseconds the server took.
    pub lookup_latency_us: i64,
    /// Tokens that the server made from text.
    pub token_ids: Vec<u32>,
    /// The partition that was consulted.
    pub adapter_id: String,
}

/// JSON shape of one replica of an answer.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RankedReplicaJson {
    /// Who.
    pub replica_id: String,
    /// Higher is better.
    pub score: f32,
    /// Tokens of the request that it holds.
    pub matched_tokens: i32,
    /// 0..1.
    pub estimated_cache_hit_prob: f32,
    /// `T1`, `T2`, `T3` or `unspecified`.
    pub tier: &'static str,
}

impl From<&Answer> for AnswerJson {
    fn from(answer: &Answer) -> Self {
        Self {
            version: JSON_VERSION,
            reason_code: answer.reason_code.clone(),
            replica_scores: answer.replicas.iter().map(RankedReplicaJson::from).collect(),
            lookup_latency_us: answer.latency_us,
            token_ids: answer.token_ids.clone(),
            adapter_id: answer.adapter.clone(),
        }
    }
}

impl From<&RankedReplica> for RankedReplicaJson {
    fn from(replica: &RankedReplica) -> Self {
        Self {
            replica_id: replica.replica.clone(),
            score: replica.score,
            matched_tokens: replica.matched_tokens,
            estimated_cache_hit_prob: replica.probability,
            tier: replica.tier.label(),
        }
    }
}

/// Prints an answer.
pub fn answer(printer: &mut Printer, format: Format, answer: &Answer) -> io::Result<()> {
    match format {
        Format::Json => printer.json(&AnswerJson::from(answer)),
        Format::Jsonl => printer.json_line(&AnswerJson::from(answer)),
        Format::Table => {
            head(printer, answer)?;
            replicas(printer, answer)?;
            match answer.replicas.is_empty() {
                true => labelled(printer, "why", "the same lookup with `--explain` says how this came about"),
                false => Ok(()),
            }
        }
    }
}

/// The code, what it means and what a gateway does with it.
pub(super) fn head(printer: &mut Printer, answer: &Answer) -> io::Result<()> {
    let info = Reason::parse(&answer.reason_code).map(Reason::info);
    let tone = match info {
        Some(info) if info.hints => Tone::Good,
        Some(info) if info.code.starts_with("UNKNOWN_") => Tone::Bad,
        _ => Tone::Warning,
    };
    let code = if answer.reason_code.is_empty() { "(no code)" } else { &answer.reason_code };
    let summary = info.map_or("a code that this version does not know", |info| info.summary);
    let gateway = info.map_or("treat it as NO_HINT", |info| info.gateway);
    let width = printer.look().width;
    let lines = wrap(&format!("{code}: {summary}"), width, 9);
    for (at, line) in lines.iter().enumerate() {
        match line.strip_prefix(code).filter(|_| at == 0) {
            Some(rest) => printer.line(&format!("{}{rest}", printer.paint(tone, code)))?,
            None => printer.line(line)?,
        }
    }
    labelled(printer, "gateway", gateway)
}

/// A label in a column of its own, and text beside it.
pub(super) fn labelled(printer: &mut Printer, label: &str, text: &str) -> io::Result<()> {
    let width = printer.look().width;
    for (at, line) in wrap(&format!("{label:<9}{text}"), width, 9).iter().enumerate() {
        match line.strip_prefix(label).filter(|_| at == 0) {
            Some(rest) => printer.line(&format!("{}{rest}", printer.paint(Tone::Strong, label)))?,
            None => printer.line(line)?,
        }
    }
    Ok(())
}

/// Whether [`replicas`] begins with a line of text, and not with the table.
pub(super) fn begins_with_text(answer: &Answer) -> bool {
    answer.replicas.is_empty()
        || !answer.adapter.is_empty()
        || !answer.token_ids.is_empty()
        || answer.latency_us > 0
}

/// The replicas, and what else the answer says.
pub(super) fn replicas(printer: &mut Printer, answer: &Answer) -> io::Result<()> {
    if !answer.adapter.is_empty() {
        labelled(printer, "adapter", &answer.adapter)?;
    }
    if !answer.token_ids.is_empty() {
        let count = grouped(i64::try_from(answer.token_ids.len()).unwrap_or(i64::MAX));
        labelled(printer, "tokens", &format!("{count}, made by the server from prompt_text"))?;
    }
    if answer.latency_us > 0 {
        labelled(printer, "took", &format!("{} us on the server", grouped(answer.latency_us)))?;
    }
    if answer.replicas.is_empty() {
        return labelled(printer, "replicas", "none");
    }
    printer.line("")?;
    let mut grid = Grid::new(
        printer.look(),
        &["-replica", ">score", ">matched tokens", ">cache hit probability", "tier"],
    );
    for replica in &answer.replicas {
        grid.row([
            replica.replica.as_str(),
            &real(replica.score.into()),
            &replica.matched_tokens.to_string(),
            &real(replica.probability.into()),
            replica.tier.label(),
        ]);
    }
    for line in grid.lines() {
        printer.line(&line)?;
    }
    Ok(())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AckJson<'a> {
    version: u32,
    accepted: bool,
    reason_code: &'a str,
    sent: u64,
}

/// Prints what the server said to `sent` messages; `what` names one of them.
pub fn ack(
    printer: &mut Printer,
    format: Format,
    (accepted, reason_code): (bool, &str),
    (sent, what): (u64, &str),
) -> io::Result<()> {
    let shape = AckJson { version: JSON_VERSION, accepted, reason_code, sent };
    match format {
        Format::Json => return printer.json(&shape),
        Format::Jsonl => return printer.json_line(&shape),
        Format::Table => {}
    }
    let (tone, word) = if accepted { (Tone::Good, "accepted") } else { (Tone::Bad, "not accepted") };
    let reason = if reason_code.is_empty() { String::new() } else { format!(" ({reason_code})") };
    printer.line(&format!("{}: {}{reason}", printer.paint(tone, word), count_of(sent, what)))
}
