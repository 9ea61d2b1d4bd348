//! The task that sweeps the index.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::Core;
use crate::contract::wire::icache::v1alpha1 as wire;
use crate::contract::wire::icache::v1alpha1::record::Body;
use crate::index::Swept;

/// Sweeps every `every` until the server drains.
pub(super) async fn run(core: Arc<Core>, every: Duration) {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is due at once, on an index that has just been filled.
    ticks.tick().await;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = super::draining(core.phase.clone()) => return,
        }
        let at_work = Arc::clone(&core);
        let swept = tokio::task::spawn_blocking(move || sweep(&at_work)).await;
        match swept {
            Ok(swept) => {
                core.metrics.observe_sweep(&swept);
                let expired = swept.expired_lru + swept.expired_lfu;
                tracing::debug!(expired, replicas = swept.replicas, "swept the index");
            }
            Err(error) => tracing::error!(%error, "a sweep failed; the next one tries again"),
        }
    }
}

fn sweep(core: &Core) -> Swept {
    let mut turn = core.order.change();
    let swept = core.router.index().sweep(turn.now());
    turn.record(|| Some(Body::Sweep(wire::Sweep {})));
    swept
}
