//! Whether the policies that were written are the ones that hold.

use super::one;
use crate::doctor::Observations;
use crate::doctor::registry::Found;

pub fn policy_reload_failed(seen: &Observations) -> Found {
    let Ok(policy) = &seen.policy else { return Found::new() };
    let Some(failed) = policy.last_reload.as_ref().filter(|last| !last.succeeded) else {
        return Found::new();
    };
    let first = failed.problems.first().map(|problem| format!(": {problem}")).unwrap_or_default();
    let more = failed.problems.len().saturating_sub(1);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    one(
        format!(
            "the policy files of {} are not valid{first}{rest}; the last good set is in force",
            failed.at
        ),
        "`icache policy lint` shows every problem with its place",
    )
}

pub fn policy_inert(seen: &Observations) -> Found {
    let Ok(policy) = &seen.policy else { return Found::new() };
    let advice = "leave one object for each namespace or tenant; `icache policy lint` finds the others";
    policy.inert.iter().map(|sentence| (sentence.clone(), advice.to_owned())).collect()
}

pub fn no_policies(seen: &Observations) -> Found {
    match &seen.policy {
        Ok(policy) if policy.namespaces.is_empty() => one(
            "no policy is loaded, so the defaults hold for every tenant".to_owned(),
            "that works; `icache serve --policy` takes files, and `icache policy show` says what holds",
        ),
        _ => Found::new(),
    }
}
