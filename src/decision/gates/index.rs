//! Gates on what the index knows.

use crate::decision::evidence::Input;
use crate::decision::pipeline::{Found, Run, Verdict};
use crate::decision::rank::{rank_matches, rank_warm};
use crate::decision::{Cause, GateId, Reason};

pub(in crate::decision) fn prefix_match(run: &mut Run<'_>) -> Verdict {
    let ranked = rank_matches(&run.evidence, run.settings, run.request.slo, run.arrival.now);
    let total = run.evidence.roster.len();
    if ranked.is_empty() {
        return Verdict::skipped(Cause::NoHolder).count("replicas_in_domain", total);
    }
    let holders = ranked.len();
    run.find(GateId::PrefixMatch, Found::Match, ranked);
    Verdict::passed_because(Cause::HoldersFound).count("holders", holders).count("replicas_in_domain", total)
}

pub(in crate::decision) fn tenant_hot(run: &mut Run<'_>) -> Verdict {
    if run.found != Found::Nothing {
        return Verdict::skipped(Cause::ResultStands);
    }
    if matches!(run.input, Input::Chain { .. }) {
        return Verdict::skipped(Cause::ChainLookup);
    }
    if run.settings.ranker.tenant_hot_max_age_ns.value <= 0 {
        return Verdict::skipped(Cause::SwitchedOff);
    }
    let ranked = rank_warm(&run.evidence, run.settings, run.request.slo, run.arrival.now);
    let serving = run.evidence.roster.len();
    if ranked.is_empty() {
        return Verdict::skipped(Cause::NoWarmReplica).count("replicas_in_domain", serving);
    }
    let warm = ranked.len();
    run.find(GateId::TenantHot, Found::Warm, ranked);
    Verdict::passed_because(Cause::WarmFound).count("warm", warm).count("replicas_in_domain", serving)
}

pub(in crate::decision) fn cold_start(run: &mut Run<'_>) -> Verdict {
    if run.found != Found::Nothing {
        return Verdict::skipped(Cause::ResultStands);
    }
    if run.evidence.index_is_empty { Verdict::downgraded(Cause::IndexEmpty) } else { Verdict::passed() }
}

pub(in crate::decision) fn unknown_tenant(run: &mut Run<'_>) -> Verdict {
    unknown(run, run.evidence.tenant_is_known, Reason::UnknownTenant, Cause::TenantUnknown)
}

pub(in crate::decision) fn unknown_model(run: &mut Run<'_>) -> Verdict {
    unknown(run, run.evidence.model_is_known, Reason::UnknownModel, Cause::ModelUnknown)
}

pub(in crate::decision) fn unknown_hash_scheme(run: &mut Run<'_>) -> Verdict {
    unknown(run, run.serving() > 0, Reason::UnknownHashScheme, Cause::SchemeUnknown)
}

/// An empty index tells nothing about keys, so a fresh start never accuses a client.
fn unknown(run: &Run<'_>, is_known: bool, reason: Reason, cause: Cause) -> Verdict {
    if run.found != Found::Nothing {
        Verdict::skipped(Cause::ResultStands)
    } else if run.evidence.index_is_empty {
        Verdict::skipped(Cause::IndexEmpty)
    } else if is_known {
        Verdict::passed()
    } else {
        Verdict::decided(reason, Some(cause))
    }
}

pub(in crate::decision) fn novel_prefix(run: &mut Run<'_>) -> Verdict {
    if run.found != Found::Nothing {
        Verdict::skipped(Cause::ResultStands)
    } else if run.evidence.index_is_empty {
        Verdict::skipped(Cause::IndexEmpty)
    } else {
        Verdict::downgraded(Cause::Novel)
    }
}
