//! Lookups of the stream: a flat chain read in place.

use super::wire::icache::v1alpha1 as wire;
use crate::model::{HashList, LookupRequest, Slo};

/// A lookup, borrowed from its message; the token counts of a chain of equal blocks are written to `counts`.
///
/// A flat chain can be malformed in ways that a list cannot. Each is read as the malformed list that comes closest:
/// one without the counts that its hashes need. `most_counts` bounds what is written: a chain of so many blocks is over
/// the limit whatever its counts are.
pub fn decode_fast_request<'a>(
    message: &'a wire::FastLookupRequest,
    counts: &'a mut Vec<i32>,
    most_counts: usize,
) -> LookupRequest<'a> {
    let width = usize::try_from(message.hash_width).unwrap_or(usize::MAX);
    let block_hashes = HashList::Flat { bytes: &message.block_hashes, width };
    let is_whole = message.block_hashes.is_empty() || message.block_hashes.len().is_multiple_of(width);
    counts.clear();
    let block_token_counts: &[i32] = match (message.block_tokens, &message.block_token_counts[..]) {
        _ if !is_whole => &[],
        (Some(tokens), []) => {
            counts.resize(block_hashes.len().min(most_counts), tokens);
            counts
        }
        (None, given) => given,
        // Two answers to one question: no count for a chain, and a chain missing for the counts.
        (Some(_), given) if block_hashes.is_empty() => given,
        (Some(_), _) => &[],
    };
    LookupRequest {
        tenant: &message.tenant_id,
        model: &message.model_id,
        scheme: &message.hash_scheme,
        adapter: &message.adapter_id,
        prefix_hash: &message.prefix_hash,
        prefix_token_count: message.prefix_token_count,
        block_hashes,
        block_token_counts,
        token_ids: &message.token_ids,
        prompt_text: &message.prompt_text,
        slo: message.slo.map(|slo| Slo { ttft_ms: slo.ttft_ms }).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn message(bytes: usize, width: u32, tokens: Option<i32>, counts: &[i32]) -> wire::FastLookupRequest {
        wire::FastLookupRequest {
            block_hashes: Bytes::from((0..bytes).map(|byte| byte as u8).collect::<Vec<u8>>()),
            hash_width: width,
            block_tokens: tokens,
            block_token_counts: counts.to_vec(),
            ..Default::default()
        }
    }

    #[test]
    fn flat_chains_read_as_lists() {
        // (bytes, width, tokens of each block, counts) -> (length of each hash, counts)
        type Case<'a> = ((usize, u32, Option<i32>, &'a [i32]), (&'a [usize], &'a [i32]));
        let cases: [Case<'_>; 16] = [
            ((16, 8, Some(16), &[]), (&[8, 8], &[16, 16])),
            ((16, 8, None, &[16, 4]), (&[8, 8], &[16, 4])),
            ((16, 8, None, &[16]), (&[8, 8], &[16])),
            ((16, 8, Some(0), &[]), (&[8, 8], &[0, 0])),
            ((16, 8, Some(-1), &[]), (&[8, 8], &[-1, -1])),
            ((16, 8, None, &[]), (&[8, 8], &[])),
            ((16, 8, Some(16), &[16, 16]), (&[8, 8], &[])),
            ((17, 8, Some(16), &[]), (&[8, 8, 1], &[])),
            ((17, 8, None, &[16, 16]), (&[8, 8, 1], &[])),
            ((17, 8, None, &[16, 16, 16]), (&[8, 8, 1], &[])),
            ((7, 8, Some(16), &[]), (&[7], &[])),
            ((130, 65, Some(16), &[]), (&[65, 65], &[16, 16])),
            ((16, u32::MAX, Some(16), &[]), (&[16], &[])),
            ((16, 0, Some(16), &[]), (&[0], &[])),
            ((0, 0, Some(16), &[]), (&[], &[])),
            ((0, 8, Some(16), &[16]), (&[], &[16])),
        ];
        for ((bytes, width, tokens, given), (lengths, read)) in cases {
            let message = message(bytes, width, tokens, given);
            let mut counts = vec![7; 3];
            let request = decode_fast_request(&message, &mut counts, 100);
            let hashes: Vec<&[u8]> = request.block_hashes.iter().collect();
            let case = format!("{bytes} bytes of {width}, {tokens:?}, {given:?}");
            assert_eq!(hashes.iter().map(|hash| hash.len()).collect::<Vec<_>>(), lengths, "{case}");
            assert_eq!(request.block_token_counts, read, "{case}");
            if width > 0 {
                assert_eq!(hashes.concat(), message.block_hashes, "{case}");
            }
        }
    }

    #[test]
    fn counts_that_are_made_are_bounded() {
        let message = message(1_000, 1, Some(16), &[]);
        let mut counts = Vec::new();
        let request = decode_fast_request(&message, &mut counts, 10);
        assert_eq!((request.block_hashes.len(), request.block_token_counts), (1_000, &[16; 10][..]));
    }
}
