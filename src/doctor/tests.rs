//! Each check against what a server would say where it has something to find, and where it has not.

use super::*;
use crate::policy::{KnobsView, ReloadView};
use crate::server::{ReplicaView, SettingView, UnknownKey};

/// 2026-01-01T00:00:00Z.
const NOW_S: i64 = 1_767_225_600;

fn absent<T>() -> Answer<T> {
    Err(Fault { kind: FaultKind::Other, what: "away".to_owned(), advice: "look".to_owned() })
}

fn replica(id: &str, last_update: &str) -> ReplicaView {
    ReplicaView {
        replica_id: id.to_owned(),
        last_update: last_update.to_owned(),
        stats_reported: true,
        ..Default::default()
    }
}

fn policy() -> PolicyView {
    PolicyView {
        version: 1,
        namespaces: vec![crate::policy::NamespaceView { namespace: "team-a".to_owned(), knobs: Vec::new() }],
        default: KnobsView { knobs: Vec::new() },
        inert: Vec::new(),
        pushed: None,
        last_reload: None,
    }
}

fn setting(key: &str, value: serde_json::Value) -> SettingView {
    let empty = String::new;
    SettingView { key: key.to_owned(), value, source: empty(), flag: empty(), variable: empty() }
}

/// An installation that is well.
fn well() -> Observations {
    let page = "inferencecache_build_info{version=\"1.0.0\",commit=\"abc\"} 1\n\
                inferencecache_lookup_route_calls_total{model=\"m\",reason_code=\"PREFIX_MATCH\",hint_used=\"true\"} 90\n\
                inferencecache_index_entries{model=\"m\"} 10\n\
                inferencecache_index_replica_entries 90\ninferencecache_policies 1\n";
    Observations {
        now: Timestamp::from_ns(NOW_S * 1_000_000_000),
        url: "http://127.0.0.1:9090".to_owned(),
        version: "1.0.0".to_owned(),
        serving: Ok(true),
        access: Ok(()),
        metrics: Ok(Page::read(page)),
        snapshot: Ok(SnapshotView {
            replicas: vec![
                replica("vllm-0", "2025-12-31T23:59:58Z"),
                replica("vllm-1", "2025-12-31T23:59:59Z"),
            ],
            total_prefixes: 10,
            ..Default::default()
        }),
        policy: Ok(policy()),
        unknown: Ok(UnknownView { version: 1, keys: Vec::new() }),
        config: Ok(ConfigView::new(vec![
            setting("max-entries", 100.into()),
            setting("replica-timeout", "0".into()),
            setting("block-size", 16.into()),
        ])),
        skew_ns: Ok(0),
    }
}

/// The findings as `id: message`, after `change` to an installation that is well.
fn found(change: impl FnOnce(&mut Observations)) -> Vec<String> {
    let mut seen = well();
    change(&mut seen);
    let found = diagnose(&seen).findings;
    found.iter().map(|finding| format!("{}: {}", finding.check.id(), finding.message)).collect()
}

/// Replaces the page by that of a well installation with these lines more.
fn page(lines: &str) -> impl FnOnce(&mut Observations) {
    let lines = lines.to_owned();
    move |seen| {
        let base =
            "inferencecache_build_info{version=\"1.0.0\"} 1\ninferencecache_index_replica_entries 90\n";
        let calls = "inferencecache_lookup_route_calls_total{model=\"m\",reason_code=\"PREFIX_MATCH\"} 90\n";
        let calls = if lines.contains("route_calls") { "" } else { calls };
        seen.metrics = Ok(Page::read(&format!("{base}{calls}{lines}")));
    }
}

#[test]
fn an_installation_that_is_well_passes_every_check() {
    let diagnosis = diagnose(&well());
    assert_eq!((diagnosis.findings.as_slice(), diagnosis.not_checked.len()), (&[][..], 0));
    assert_eq!(diagnosis.passed, Check::ALL);
    let overview = diagnosis.overview;
    assert_eq!(overview.server_version, Some(("1.0.0".to_owned(), "abc".to_owned())));
    assert_eq!(overview.replicas.unwrap()[0].age_ns, Some(2_000_000_000));
    assert_eq!(overview.lookups.unwrap()["PREFIX_MATCH"], 90);
}

#[test]
fn what_does_not_answer_is_not_checked() {
    let mut seen = well();
    seen.snapshot = absent();
    seen.config = absent();
    let diagnosis = diagnose(&seen);
    assert!(diagnosis.findings.is_empty());
    let left: Vec<(Source, &[Check])> =
        diagnosis.not_checked.iter().map(|left| (left.source, left.checks.as_slice())).collect();
    let of_snapshot = [
        Check::NothingReported,
        Check::AllSilent,
        Check::ReplicaSilent,
        Check::NoStatistics,
        Check::HintsConcentrate,
    ];
    assert_eq!(left, [(Source::Snapshot, &of_snapshot[..]), (Source::Config, &[Check::CapNear][..])]);
    assert_eq!(diagnosis.passed.len() + 6, Check::ALL.len());
}

#[test]
fn a_server_that_does_not_answer_is_one_finding() {
    for (kind, check) in
        [(FaultKind::Unreachable, Check::ServerUnreachable), (FaultKind::Tls, Check::TlsFailed)]
    {
        let mut seen = well();
        let fault = Fault { kind, what: "no answer".to_owned(), advice: "start one".to_owned() };
        (seen.serving, seen.access) = (Err(fault.clone()), Err(fault));
        let diagnosis = diagnose(&seen);
        assert!(diagnosis.is_unreachable());
        let found: Vec<(Check, &str)> =
            diagnosis.findings.iter().map(|finding| (finding.check, finding.advice.as_str())).collect();
        assert_eq!(found, [(check, "start one")]);
        assert_eq!(diagnosis.not_checked[0].checks, [Check::AccessRefused, Check::NotServing]);
    }
}

#[test]
fn keys_that_differ_are_told_with_the_nearest() {
    let key = |tenant: &str, model: &str, scheme: &str, code: &str, near: Option<(&str, &str)>| UnknownKey {
        tenant_id: tenant.to_owned(),
        model_id: model.to_owned(),
        hash_scheme: scheme.to_owned(),
        reason_code: code.to_owned(),
        lookups: 3,
        nearest: near.map(|near| near.0.to_owned()),
        difference: near.map(|near| near.1.to_owned()),
        known: vec!["a".to_owned(), "b".to_owned()],
        ..Default::default()
    };
    let near = Some(("a", "it has `-v1` too much at the end"));
    let found = found(|seen| {
        seen.unknown = Ok(UnknownView {
            version: 1,
            keys: vec![
                key("T", "m", "s", "UNKNOWN_TENANT", near),
                key("T", "n", "s", "UNKNOWN_TENANT", near),
                key("t", "m2", "s", "UNKNOWN_MODEL", None),
                key("t", "m", "a-v1", "UNKNOWN_HASH_SCHEME", near),
            ],
        });
    });
    assert_eq!(
        found,
        [
            "tenant-mismatch: 6 lookups asked for tenant_id `T`, which no replica reports; the nearest known is `a`: it \
             has `-v1` too much at the end",
            "model-mismatch: 3 lookups asked for model_id `m2` of tenant `t`, which no replica reports",
            "hash-scheme-mismatch: 3 lookups asked for hash_scheme `a-v1` of tenant `t` and model `m`, which no replica \
             reports; the nearest known is `a`: it has `-v1` too much at the end",
        ]
    );
}

#[test]
fn replicas_are_silent_after_the_servers_own_time() {
    let minute = |seen: &mut Observations| {
        seen.snapshot.as_mut().unwrap().replicas[0].last_update = "2025-12-31T23:59:00Z".to_owned();
    };
    let silent = found(minute);
    let shown = "replica-silent: 1 of 2 replicas have not been heard of for more than 30s, the longest for 1m: `vllm-0`";
    assert_eq!(silent, [shown]);
    let patient = found(|seen| {
        minute(seen);
        seen.config.as_mut().unwrap().settings[1].value = "1m".into();
    });
    assert_eq!(patient, [""; 0], "60 s are not more than a minute");
    // The age is told by the server's clock: this machine's is an hour ahead.
    let skewed = found(|seen| {
        seen.now = Timestamp::from_ns((NOW_S + 3_600) * 1_000_000_000);
        seen.skew_ns = Ok(-3_600_000_000_000);
    });
    assert_eq!(skewed, ["clock-skew: the server's clock is 1h behind this machine's"]);
    let all = found(|seen| {
        for replica in &mut seen.snapshot.as_mut().unwrap().replicas {
            replica.last_update = "2025-12-31T23:58:00Z".to_owned();
        }
    });
    assert_eq!(all, ["all-silent: none of 2 replicas has been heard of for 2m; the last one was `vllm-1`"]);
}

#[test]
fn the_connection_is_judged() {
    let refused =
        Fault { kind: FaultKind::Refused, what: "not known".to_owned(), advice: "a token".to_owned() };
    assert_eq!(found(|seen| seen.access = Err(refused)), ["access-refused: not known"]);
    assert_eq!(
        found(|seen| seen.serving = Ok(false)),
        ["not-serving: the server at `http://127.0.0.1:9090` says NOT_SERVING"]
    );
    let far = found(|seen| seen.url = "http://icache:9090".to_owned());
    assert!(far[0].starts_with("plaintext-beyond-host: calls to `http://icache:9090`"), "{far:?}");
    assert_eq!(found(|seen| seen.url = "https://icache:9090".to_owned()), [""; 0]);
    assert_eq!(found(|seen| seen.skew_ns = Ok(2_000_000_000)), [""; 0], "2 s are rounding");
    for (days, message) in [
        (15, None),
        (14, Some("the server's certificate ends in 14 days")),
        (1, Some("the server's certificate ends in 1 day")),
        (0, Some("the server's certificate has ended")),
    ] {
        let ends = NOW_S + days * 86_400;
        let found = found(page(&format!("inferencecache_tls_certificate_expiry_timestamp_seconds {ends}\n")));
        let wanted: Vec<String> =
            message.into_iter().map(|message| format!("certificate-ends-soon: {message}")).collect();
        assert_eq!(found, wanted, "{days} days");
    }
}

#[test]
fn each_counter_that_tells_of_trouble_is_a_finding() {
    for (lines, id, part) in [
        ("inferencecache_credentials_reload_success{kind=\"tls\"} 0\n", "credentials-stale", "`tls`"),
        ("inferencecache_build_info{version=\"2\"} 1\n", "", ""),
        ("inferencecache_grpc_denied_total{result=\"unauth\"} 2\n", "callers-refused", "refused 2 calls"),
        (
            "inferencecache_tls_failures_total{cause=\"timeout\"} 1\n",
            "handshakes-fail",
            "1 TLS handshake failed",
        ),
        ("inferencecache_ingest_dropped_total{cause=\"id\"} 4\n", "reports-dropped", "4 parts of reports"),
        ("inferencecache_drained_replicas 1\n", "replicas-drained", "1 replica is drained and gets no hints"),
        (
            "inferencecache_drained_replicas 2\n",
            "replicas-drained",
            "2 replicas are drained and get no hints",
        ),
        ("inferencecache_state_save_success 1\n", "", ""),
        (
            "inferencecache_state_save_success 0\ninferencecache_state_save_failures_total 3\n",
            "state-not-saved",
            "could not be saved the last time; 3 failures since",
        ),
        ("inferencecache_lookup_route_calls_total 0\n", "no-lookups", "no gateway"),
        (
            "inferencecache_lookup_route_calls_total{reason_code=\"TIMEOUT\"} 2\n\
             inferencecache_lookup_route_calls_total{reason_code=\"NO_HINT\"} 98\n",
            "lookups-late",
            "2 of 100 lookups were answered TIMEOUT (2.0 %)",
        ),
        ("inferencecache_shed_total 3\n", "lookups-shed", "3 lookups since the server started"),
        ("inferencecache_over_limit_total 1\n", "lookups-over-limit", "1 lookup since"),
        ("inferencecache_index_evictions_total{reason=\"cap\"} 5\n", "cap-bites", "5 replica entries"),
        ("inferencecache_index_evictions_total{reason=\"ttl\"} 5\n", "", ""),
        ("inferencecache_index_replica_entries 1\n", "cap-near", "holds 91 of at most 100"),
        ("inferencecache_tenant_evictions_total{tenant_id=\"t\"} 1\n", "quota-bites", "1 key was evicted"),
    ] {
        let found = found(page(lines));
        match id {
            "" => assert_eq!(found, [""; 0], "{lines}"),
            id => {
                assert_eq!(found.len(), 1, "{lines}: {found:?}");
                assert!(found[0].starts_with(&format!("{id}: ")) && found[0].contains(part), "{found:?}");
            }
        }
    }
}

#[test]
fn prompts_that_never_match_are_suspected_from_20_lookups_on() {
    let lines = |model: &str, misses: u32, hits: u32| {
        format!(
            "inferencecache_index_entries{{model=\"{model}\"}} 5\n\
             inferencecache_lookup_route_calls_total{{model=\"{model}\",reason_code=\"NO_HINT\"}} {misses}\n\
             inferencecache_lookup_route_calls_total{{model=\"{model}\",reason_code=\"PREFIX_MATCH\"}} {hits}\n"
        )
    };
    assert_eq!(found(page(&lines("m", 19, 0))), [""; 0]);
    assert_eq!(found(page(&lines("m", 500, 1))), [""; 0]);
    // A load hint has no match either.
    let hinted = found(page(&lines("m", 20, 0).replace("NO_HINT", "LOAD_HINT")));
    assert!(hinted[0].starts_with("prompts-never-match: none of 20 lookups"), "{hinted:?}");
    let suspected = found(page(&lines("m", 20, 0)));
    let message = "prompts-never-match: none of 20 lookups for model `m` found its prefix, though replicas hold entries \
                   for it";
    assert_eq!(suspected, [message]);
}

#[test]
fn policies_are_judged() {
    let failed = found(|seen| {
        seen.policy.as_mut().unwrap().last_reload = Some(ReloadView {
            at: "2026-01-01T00:00:00Z".to_owned(),
            succeeded: false,
            problems: vec!["p.yaml:3: bad".to_owned(), "p.yaml:4: worse".to_owned()],
        });
        seen.policy.as_mut().unwrap().inert = vec!["the second has no effect".to_owned()];
    });
    assert_eq!(
        failed,
        [
            "policy-reload-failed: the policy files of 2026-01-01T00:00:00Z are not valid: p.yaml:3: bad and 1 more; the \
             last good set is in force",
            "policy-inert: the second has no effect",
        ]
    );
    let none = found(|seen| seen.policy.as_mut().unwrap().namespaces.clear());
    assert_eq!(none, ["no-policies: no policy is loaded, so the defaults hold for every tenant"]);
}

#[test]
fn a_fleet_without_reports_or_statistics_is_seen() {
    let none = found(|seen| seen.snapshot.as_mut().unwrap().replicas.clear());
    assert_eq!(none, ["nothing-reported: no replica has reported anything"]);
    let bare = found(|seen| seen.snapshot.as_mut().unwrap().replicas[1].stats_reported = false);
    assert_eq!(bare, ["no-statistics: 1 of 2 replicas report no statistics: `vllm-1`"]);
}

#[test]
fn hints_that_go_to_one_replica_are_a_finding_that_names_the_cause() {
    let lines = |concentration: &str| {
        format!(
            "inferencecache_hint_concentration {concentration}\ninferencecache_hints_total{{replica=\"vllm-1\"}} 900\n\
             inferencecache_hints_total{{replica=\"vllm-0\"}} 3\n"
        )
    };
    let with = |concentration: &str, prefixes: [u64; 2]| {
        found(|seen| {
            page(&lines(concentration))(seen);
            let replicas = &mut seen.snapshot.as_mut().unwrap().replicas;
            replicas.iter_mut().zip(prefixes).for_each(|(replica, held)| replica.prefix_count = held);
        })
    };
    assert_eq!(with("2.5", [0, 9]), [""; 0], "that much may be");
    assert_eq!(
        with("7.96", [0, 9]),
        [
            "hints-concentrate: in the last five minutes one replica got 8.0 times the mean of the hints; `vllm-1` is the one \
             known member: of 2 replicas it alone holds anything"
        ]
    );
    assert_eq!(
        with("2.51", [4, 9]),
        [
            "hints-concentrate: in the last five minutes one replica got 2.5 times the mean of the hints; most since the start \
             went to `vllm-1`, and others hold entries, too: one prefix is hot"
        ]
    );
}
