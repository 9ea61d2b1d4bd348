//! Nothing that is kept of the load grows without bound.

use icache::load::{MAX_CLAIMS, MAX_HINTS_PER_REPLICA};

use super::*;

#[test]
fn hints_of_a_replica_are_bounded() {
    let server = Server::with(&["a"]);
    let kept = |hints: usize| {
        let server = Server::with(&["a"]);
        for prompt in 0..hints as u64 {
            server.asks(&[prompt * 2, prompt * 2 + 1], at(1.0), true);
        }
        server.router.loads().kept().1
    };
    assert_eq!(server.router.loads().kept(), (0, 0, 0));
    assert_eq!(kept(MAX_HINTS_PER_REPLICA), MAX_HINTS_PER_REPLICA);
    assert_eq!(kept(MAX_HINTS_PER_REPLICA + 1), MAX_HINTS_PER_REPLICA);
}

#[test]
fn what_is_over_is_forgotten() {
    let server = Server::with(&["a", "b", "c", "d"]);
    for prompt in 0..400_u64 {
        server.asks(&(0..40).map(|block| prompt * 64 + block).collect::<Vec<_>>(), at(1.0), true);
    }
    let (replicas, hints, claims) = server.router.loads().kept();
    assert_eq!((replicas, hints), (4, 400));
    assert!((400..MAX_CLAIMS).contains(&claims), "{claims}");
    // Each replica has 256 s of work and its claims end 10 s later; a minute on, nothing can be confirmed any more.
    for replica in ["a", "b", "c", "d"] {
        server.event(replica, EventKind::ReplicaUpdated, at(500.0));
    }
    for prompt in 1_000..1_004_u64 {
        server.asks(&[prompt], at(500.0), true);
    }
    assert_eq!(server.router.loads().kept().1, 4);
}

/// Replicas come and go under new names for hours.
#[test]
fn replicas_without_a_hint_for_long_are_forgotten() {
    let server = Server::new(knobs());
    for round in 0..60 {
        let now = at(f64::from(round) * 600.0);
        for replica in 0..100 {
            server.event(&format!("{round}-{replica}"), EventKind::ReplicaUpdated, now);
        }
        server.asks(&[1], now, true);
        server.router.index().sweep(now);
    }
    let (replicas, ..) = server.router.loads().kept();
    assert!(replicas < 2_000, "{replicas} of 6,000 are kept");
}
