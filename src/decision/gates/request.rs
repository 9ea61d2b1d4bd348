//! Gates on the request, before the index is read.

use crate::decision::evidence::{ChainCounts, ChainHashes, ExactHash, Input};
use crate::decision::pipeline::{Run, Verdict};
use crate::decision::{Cause, Reason};
use crate::model::{HashList, PROBE_TENANT, PrefixHash};

/// The tighter of the caller's deadline and the policy's budget, against the time since arrival.
pub(in crate::decision) fn deadline(run: &mut Run<'_>) -> Verdict {
    let timeout_ms = run.settings.policy.lookup_timeout_ms.value;
    let budget_ns = (timeout_ms > 0).then(|| i64::from(timeout_ms) * 1_000_000);
    let elapsed_ns = run.arrival.elapsed_ns;
    let bound = [
        run.arrival.deadline_ns.map(|ns| (ns, Cause::DeadlinePassed)),
        budget_ns.map(|ns| (ns, Cause::BudgetSpent)),
    ]
    .into_iter()
    .flatten()
    .min_by_key(|(ns, _)| *ns);
    let Some((bound_ns, cause)) = bound else {
        return Verdict::skipped(Cause::NoDeadline);
    };
    let verdict = if elapsed_ns >= bound_ns {
        Verdict::decided(Reason::Timeout, Some(cause))
    } else {
        Verdict::passed()
    };
    verdict.span("elapsed", elapsed_ns).span("budget", bound_ns)
}

pub(in crate::decision) fn load_shed(run: &mut Run<'_>) -> Verdict {
    let limit = run.settings.max_in_flight.value;
    if limit == 0 {
        return Verdict::skipped(Cause::SwitchedOff);
    }
    let verdict = if run.arrival.in_flight > limit {
        Verdict::decided(Reason::NoHint, Some(Cause::TooManyInFlight))
    } else {
        Verdict::passed()
    };
    verdict.count("in_flight", run.arrival.in_flight).count("limit", limit)
}

pub(in crate::decision) fn over_limit(run: &mut Run<'_>) -> Verdict {
    let request = run.request;
    let limits = &run.settings.limits;
    let longest_hash = longest(request.block_hashes);
    let parts = [
        ("tenant_id", request.tenant.len(), limits.id_bytes),
        ("model_id", request.model.len(), limits.id_bytes),
        ("hash_scheme", request.scheme.len(), limits.id_bytes),
        ("adapter_id", request.adapter.len(), limits.id_bytes),
        ("prefix_hash", request.prefix_hash.len(), limits.hash_bytes),
        ("block_hashes", request.block_hashes.len(), limits.request_blocks),
        ("block_token_counts", request.block_token_counts.len(), limits.request_blocks),
        ("block_hashes item", longest_hash, limits.hash_bytes),
    ];
    match parts.into_iter().find(|(_, size, limit)| size > limit) {
        Some((field, size, limit)) => Verdict::decided(Reason::NoHint, Some(Cause::OverLimit))
            .field("field", field)
            .count("size", size)
            .count("limit", limit),
        None => Verdict::passed(),
    }
}

pub(in crate::decision) fn reserved_tenant(run: &mut Run<'_>) -> Verdict {
    if run.request.tenant == PROBE_TENANT {
        Verdict::decided(Reason::NoHint, Some(Cause::ReservedTenant))
    } else {
        Verdict::passed()
    }
}

pub(in crate::decision) fn require_chain(run: &mut Run<'_>) -> Verdict {
    if !run.settings.policy.require_chain.value {
        return Verdict::skipped(Cause::SwitchedOff);
    }
    let (hashes, counts) = (run.request.block_hashes.len(), run.request.block_token_counts.len());
    let verdict = if hashes == 0 || hashes != counts {
        Verdict::decided(Reason::PolicyRequiresChain, Some(Cause::NoValidChain))
    } else {
        Verdict::passed()
    };
    verdict.count("block_hashes", hashes).count("block_token_counts", counts)
}

/// The first input that applies; a malformed one never falls back to another.
pub(in crate::decision) fn resolve_input(run: &mut Run<'_>) -> Verdict {
    let request = run.request;
    let has_blocks = !request.block_hashes.is_empty() || !request.block_token_counts.is_empty();
    let has_source = !request.token_ids.is_empty() || !request.prompt_text.is_empty();
    if run.settings.policy.enable_chain_matching.value {
        if has_blocks {
            return given_chain(run);
        }
    } else if has_blocks && request.prefix_hash.is_empty() && !has_source {
        return Verdict::decided(Reason::NoHint, Some(Cause::BlocksIgnored));
    }
    if !request.prefix_hash.is_empty() {
        run.input = Input::Exact(ExactHash::Given(request.prefix_hash));
        return Verdict::passed_because(Cause::ExactHash).count("prefix_tokens", run.prefix_tokens);
    }
    if !request.token_ids.is_empty() {
        return tokens(run, request.token_ids, Cause::ChainFromTokens);
    }
    if !request.prompt_text.is_empty() {
        return text(run);
    }
    Verdict::passed_because(Cause::NoInput)
}

/// Bytes of the longest hash. Those computed here have one length, so that nobody has to look.
fn longest(hashes: HashList<'_>) -> usize {
    match hashes {
        HashList::Wire(list) => list.iter().map(|hash| hash.len()).max().unwrap_or(0),
        HashList::Fingerprints(list) => list.first().map_or(0, |hash| hash.as_bytes().len()),
        // All but the last are as long as the first.
        HashList::Flat { bytes, width } => width.min(bytes.len()),
    }
}

/// Place of the first hash without bytes.
fn first_empty(hashes: HashList<'_>) -> Option<usize> {
    match hashes {
        HashList::Wire(list) => list.iter().position(|hash| hash.is_empty()),
        HashList::Fingerprints(_) => None,
        HashList::Flat { bytes, width } => (width == 0 && !bytes.is_empty()).then_some(0),
    }
}

fn given_chain(run: &mut Run<'_>) -> Verdict {
    let request = run.request;
    let (hashes, counts) = (request.block_hashes, request.block_token_counts);
    if hashes.len() != counts.len() {
        return Verdict::decided(Reason::NoHint, Some(Cause::BlockListsDisagree))
            .count("block_hashes", hashes.len())
            .count("block_token_counts", counts.len());
    }
    if let Some(at) = first_empty(hashes) {
        return Verdict::decided(Reason::NoHint, Some(Cause::EmptyBlockHash)).count("block", at);
    }
    // Blocks nearly always have one size, and then nobody has to sum: each is the same as the next one, which takes one
    // comparison of memory.
    let counts = match counts {
        [first, rest @ ..] if *first >= 0 && *rest == counts[..rest.len()] => ChainCounts::Uniform(*first),
        _ => ChainCounts::Given(counts),
    };
    if let ChainCounts::Given(counts) = counts
        && counts.iter().fold(0, |signs, count| signs | count) < 0
        && let Some(at) = counts.iter().position(|count| *count < 0)
    {
        return Verdict::decided(Reason::NoHint, Some(Cause::NegativeBlockCount)).count("block", at);
    }
    chain(run, ChainHashes::Given(hashes), counts, Cause::Chain)
}

fn chain<'a>(run: &mut Run<'a>, hashes: ChainHashes<'a>, counts: ChainCounts<'a>, cause: Cause) -> Verdict {
    let blocks = hashes.list().len();
    run.prefix_tokens = counts.sum(blocks);
    run.input = Input::Chain { hashes, counts };
    Verdict::passed_because(cause).count("blocks", blocks).count("prefix_tokens", run.prefix_tokens)
}

fn tokens(run: &mut Run<'_>, tokens: &[u32], cause: Cause) -> Verdict {
    let limit = run.settings.limits.request_tokens;
    if tokens.len() > limit {
        return Verdict::decided(Reason::NoHint, Some(Cause::TooManyTokens))
            .count("tokens", tokens.len())
            .count("limit", limit);
    }
    let block_size = run.settings.ranker.block_size.value;
    let hashes = run.resolver.chain(tokens, block_size);
    let Some(last) = hashes.last().copied() else {
        return Verdict::decided(Reason::NoHint, Some(Cause::ShorterThanOneBlock))
            .count("tokens", tokens.len())
            .count("block_size", block_size);
    };
    let counts = ChainCounts::Uniform(i32::try_from(block_size).unwrap_or(i32::MAX));
    if run.settings.policy.enable_chain_matching.value {
        return chain(run, ChainHashes::Derived(hashes), counts, cause);
    }
    last_block(run, last, counts.sum(hashes.len()))
}

fn last_block(run: &mut Run<'_>, hash: PrefixHash, prefix_tokens: i32) -> Verdict {
    run.prefix_tokens = prefix_tokens;
    run.input = Input::Exact(ExactHash::Derived(hash, prefix_tokens));
    Verdict::passed_because(Cause::LastBlockOfTokens).count("prefix_tokens", prefix_tokens)
}

fn text(run: &mut Run<'_>) -> Verdict {
    let request = run.request;
    let limit = run.settings.limits.prompt_bytes;
    if request.prompt_text.len() > limit {
        return Verdict::decided(Reason::NoHint, Some(Cause::PromptTooLong))
            .count("bytes", request.prompt_text.len())
            .count("limit", limit);
    }
    let Some(made) = run.resolver.tokenize(request.model, request.prompt_text) else {
        return Verdict::decided(Reason::NoHint, Some(Cause::NoTokenizer));
    };
    let verdict = tokens(run, &made, Cause::ChainFromText);
    run.tokens = made;
    verdict
}

/// Before the index only where affinity cannot answer; else the same check runs on the result.
pub(in crate::decision) fn minimum_prefix_tokens(run: &mut Run<'_>) -> Verdict {
    let policy = &run.settings.policy;
    let minimum = policy.minimum_prefix_tokens.value;
    if minimum <= 0 {
        return Verdict::skipped(Cause::SwitchedOff);
    }
    if policy.affinity_routing.value {
        return Verdict::skipped(Cause::CheckedOnResult);
    }
    let verdict = if run.prefix_tokens < minimum {
        Verdict::decided(Reason::NoHint, Some(Cause::TooShort))
    } else {
        Verdict::passed()
    };
    verdict.count("prefix_tokens", run.prefix_tokens).count("minimum", minimum)
}

pub(in crate::decision) fn contract_keys(run: &mut Run<'_>) -> Verdict {
    let request = run.request;
    let keys = [("tenant_id", request.tenant), ("model_id", request.model), ("hash_scheme", request.scheme)];
    match keys.into_iter().find(|(_, key)| key.is_empty()) {
        Some((field, _)) => Verdict::decided(Reason::NoHint, Some(Cause::KeyMissing)).field("field", field),
        None => Verdict::passed(),
    }
}

/// Whether the request's two block lists, as sent, agree in length.
pub(in crate::decision) fn block_lists_agree(hashes: HashList<'_>, counts: &[i32]) -> bool {
    hashes.len() == counts.len()
}
