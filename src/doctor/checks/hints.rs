//! Whether hints go where they help.

use std::collections::BTreeMap;

use super::one;
use crate::doctor::Observations;
use crate::doctor::registry::Found;

/// From here on hints are concentrated: the alert has the same bound. A fleet of two cannot reach it, since there the
/// larger share is twice the mean at most.
const CONCENTRATED: f64 = 2.5;

/// Says which of the two causes it is: one replica is the only one of its tenant that holds anything while others live, or
/// several hold entries, and then it is what they hold that is hot.
pub fn hints_concentrate(seen: &Observations) -> Found {
    let (Ok(page), Ok(snapshot)) = (&seen.metrics, &seen.snapshot) else { return Found::new() };
    let concentration = page.sum("inferencecache_hint_concentration").unwrap_or_default();
    if concentration <= CONCENTRATED {
        return Found::new();
    }
    let by_replica = page.by_label("inferencecache_hints_total", "replica");
    let most = by_replica.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(replica, _)| replica.as_str());
    let most = most.unwrap_or_default();
    let mut holders: BTreeMap<&str, (Vec<&str>, usize)> = BTreeMap::new();
    for replica in &snapshot.replicas {
        let (holding, all) = holders.entry(&replica.tenant).or_default();
        *all += 1;
        if replica.prefix_count > 0 {
            holding.push(&replica.replica_id);
        }
    }
    let is_alone = |(holding, all): &(Vec<&str>, usize)| *all > 1 && holding.as_slice() == [most];
    let seen_as =
        format!("in the last five minutes one replica got {concentration:.1} times the mean of the hints; ");
    if let Some((tenant, (_, all))) = holders.iter().find(|(_, held)| is_alone(held)) {
        let of = if tenant.is_empty() { String::new() } else { format!(" of tenant `{tenant}`") };
        return one(
            format!(
                "{seen_as}`{most}` is the one known member{of}: of {all} replicas it alone holds anything"
            ),
            "serve with `--ranker balanced`, or let gateways go round-robin for a minute, so that the others come to hold \
             something, too",
        );
    }
    one(
        format!(
            "{seen_as}most since the start went to `{most}`, and others hold entries, too: one prefix is hot"
        ),
        "serve with `--ranker balanced`, which spreads a hot prefix over as many replicas as it needs",
    )
}
