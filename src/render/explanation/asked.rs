//! What was looked up, in one line.

use super::super::text::{count_of, grouped};
use super::resolved;
use crate::explanation::Explanation;
use crate::model::LookupRequest;

/// What a lookup asked, as far as the line says it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Asked {
    keys: [String; 4],
    input: String,
}

impl From<&LookupRequest<'_>> for Asked {
    fn from(request: &LookupRequest<'_>) -> Self {
        let keys = [request.tenant, request.model, request.scheme, request.adapter].map(str::to_owned);
        let count = |number: usize, noun: &str| count_of(number as u64, noun);
        let input = if !request.block_hashes.is_empty() {
            let tokens = request.block_token_counts.iter().fold(0_i64, |sum, count| sum + i64::from(*count));
            format!("chain of {}, {} tokens", count(request.block_hashes.len(), "block"), grouped(tokens))
        } else if !request.prefix_hash.is_empty() {
            match request.prefix_token_count {
                0 => "one hash".to_owned(),
                tokens => format!("one hash, {} tokens", grouped(tokens.into())),
            }
        } else if !request.token_ids.is_empty() {
            count(request.token_ids.len(), "token id")
        } else if !request.prompt_text.is_empty() {
            format!("text of {}", count(request.prompt_text.len(), "byte"))
        } else {
            "no prompt".to_owned()
        };
        Self { keys, input }
    }
}

impl Asked {
    /// The keys, and what the server made of the prompt; what the request says where it came to nothing.
    pub(super) fn line(&self, explanation: &Explanation) -> String {
        let [tenant, model, scheme, adapter] = &self.keys;
        let named = [("tenant", tenant), ("model", model), ("hash scheme", scheme)]
            .map(|(what, name)| if name.is_empty() { format!("(no {what})") } else { name.clone() });
        let adapter = if adapter.is_empty() { String::new() } else { format!(" / adapter {adapter}") };
        let blocks = resolved(explanation, "blocks").filter(|blocks| *blocks > 0);
        let input = match (blocks, resolved(explanation, "prefix_tokens")) {
            (Some(blocks), Some(tokens)) => {
                format!("chain of {}, {}", count_of(blocks, "block"), count_of(tokens, "token"))
            }
            _ => self.input.clone(),
        };
        format!("{}{adapter}: {input}", named.join(" / "))
    }
}
