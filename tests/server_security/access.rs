//! Who may call what over gRPC: a caller of tenant `a` can neither read nor write nor probe tenant `b`, and is told the
//! same whether `b` exists or not.

use std::path::Path;

use icache::contract::wire::icache::v1alpha1::explain_client::ExplainClient;
use icache::contract::wire::icache::v1alpha1::fast_lookup_client::FastLookupClient;
use icache::contract::wire::icache::v1alpha1::observe_client::ObserveClient;
use icache::contract::wire::icache::v1alpha1::{FastLookupRequest, ObserveRequest};
use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use super::authority::{Authority, channel, put};
use super::process::Process;
use super::{ask, metric, until, update};

const ALL: &str = "token-of-all";
const OF_A: &str = "token-of-a";
const LOOKS: &str = "token-that-looks";

fn digest(token: &str) -> String {
    hex::encode(Sha256::digest(token))
}

fn caller(name: &str, shows: &str, roles: &str, tenants: &str) -> String {
    format!("[[caller]]\nname = \"{name}\"\n{shows}\nroles = [{roles}]\ntenants = [{tenants}]\n")
}

const EVERY_ROLE: &str = "\"lookup\", \"report\", \"observe\", \"explain\"";

fn token(token: &str) -> String {
    format!("token-sha256 = [\"{}\"]", digest(token))
}

/// The callers of these tests; `of_a` is left out where it is not wanted.
fn callers(has_a: bool) -> String {
    let mut text = "version = 1\n".to_owned();
    text += &caller("all", &token(ALL), EVERY_ROLE, "\"*\"");
    if has_a {
        text += &caller("a", &token(OF_A), EVERY_ROLE, "\"a\", \"a2\"");
    }
    text + &caller("looks", &token(LOOKS), "\"lookup\"", "\"a\"")
}

fn serve(folder: &Path) -> Process {
    let file = put(folder, "callers.toml", &callers(true));
    Process::start(&["--auth-file", file.to_str().unwrap()])
}

async fn plain(server: &Process) -> Channel {
    Channel::from_shared(format!("http://{}", server.grpc_addr)).unwrap().connect().await.unwrap()
}

fn with<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    if !token.is_empty() {
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    }
    request
}

/// Every method, each with the tenant named: the status that it ends with.
async fn call_each(channel: &Channel, token: &str, tenant: &str) -> Vec<(&'static str, Option<Status>)> {
    let mut contract = InferenceCacheClient::new(channel.clone());
    let mut explain = ExplainClient::new(channel.clone());
    let own = || tenant.to_owned();
    let event = || wire::CacheEvent {
        r#type: wire::cache_event::Type::ReplicaUpdated.into(),
        replica_id: "r1".to_owned(),
        model_id: "llama".to_owned(),
        tenant_id: own(),
        ..Default::default()
    };
    let render = wire::RenderTemplateRequest { tenant_id: own(), ..Default::default() };
    let pair = wire::LookupPdRouteRequest { tenant_id: own(), ..Default::default() };
    let state = wire::GetCacheStateRequest { tenant_id: own(), ..Default::default() };
    let events = wire::StreamEventsRequest { tenant_id: own(), ..Default::default() };
    let reports = tokio_stream::iter([update(tenant, "r1", b"hash")]);
    vec![
        ("RenderTemplate", contract.render_template(with(token, render)).await.err()),
        ("LookupRoute", contract.lookup_route(with(token, ask(tenant, b"hash"))).await.err()),
        ("LookupPDRoute", contract.lookup_pd_route(with(token, pair)).await.err()),
        ("GetCacheState", contract.get_cache_state(with(token, state)).await.err()),
        ("ReportCacheState", contract.report_cache_state(with(token, reports)).await.err()),
        ("PublishEvent", contract.publish_event(with(token, event())).await.err()),
        ("StreamCacheEvents", contract.stream_cache_events(with(token, events)).await.err()),
        ("ExplainRoute", explain.explain_route(with(token, ask(tenant, b"hash"))).await.err()),
        ("FastLookup", fast_lookup(channel, token, tenant).await.err()),
    ]
}

/// One lookup on a stream of its own.
async fn fast_lookup(channel: &Channel, token: &str, tenant: &str) -> Result<(), Status> {
    let asked = FastLookupRequest {
        model_id: "llama".to_owned(),
        tenant_id: tenant.to_owned(),
        hash_scheme: "vllm".to_owned(),
        ..Default::default()
    };
    let requests = with(token, tokio_stream::iter([asked]));
    let mut answers = FastLookupClient::new(channel.clone()).lookup(requests).await?.into_inner();
    answers.message().await.map(|answer| assert!(answer.is_some(), "an answer or a status"))
}

#[tokio::test]
async fn every_method_asks_for_a_caller_with_the_role_and_the_tenant() {
    let folder = TempDir::new().unwrap();
    let server = serve(folder.path());
    let channel = plain(&server).await;
    let codes = |answers: Vec<(&'static str, Option<Status>)>| {
        answers
            .into_iter()
            .map(|(name, status)| (name, status.map(|status| status.code())))
            .collect::<Vec<_>>()
    };
    for token in ["", "nobody", "token-of-A"] {
        for (name, code) in codes(call_each(&channel, token, "a").await) {
            assert_eq!(code, Some(Code::Unauthenticated), "{name} as `{token}`");
        }
    }
    for (token, tenant) in [(ALL, "b"), (OF_A, "a"), (OF_A, "a2")] {
        for (name, code) in codes(call_each(&channel, token, tenant).await) {
            assert_eq!(code, None, "{name} as `{token}` on {tenant}");
        }
    }
    // `b` exists by now, `ghost` does not: nothing tells them apart.
    let (on_b, on_ghost) = (call_each(&channel, OF_A, "b").await, call_each(&channel, OF_A, "ghost").await);
    for ((name, b), (_, ghost)) in on_b.into_iter().zip(on_ghost) {
        let (b, ghost) = (b.expect(name), ghost.expect(name));
        assert_eq!((b.code(), ghost.code()), (Code::PermissionDenied, Code::PermissionDenied), "{name}");
        assert_eq!(b.message().replace("`b`", ""), ghost.message().replace("`ghost`", ""), "{name}");
    }
    for (name, code) in codes(call_each(&channel, LOOKS, "a").await) {
        let may = ["RenderTemplate", "LookupRoute", "LookupPDRoute", "FastLookup"].contains(&name);
        assert_eq!(code, (!may).then_some(Code::PermissionDenied), "{name}");
    }
    let mut contract = InferenceCacheClient::new(channel.clone());
    let samples = contract.stream_metrics(with(LOOKS, wire::StreamMetricsRequest::default())).await;
    assert_eq!(samples.err().map(|status| status.code()), Some(Code::PermissionDenied));
    // What is observed is of all tenants, so it is for those alone who may name all.
    for (token, code) in [
        ("", Some(Code::Unauthenticated)),
        (OF_A, Some(Code::PermissionDenied)),
        (LOOKS, Some(Code::PermissionDenied)),
        (ALL, None),
    ] {
        let mut observe = ObserveClient::new(channel.clone());
        let observed = observe.observe(with(token, ObserveRequest::default())).await;
        assert_eq!(observed.err().map(|status| status.code()), code, "Observe as `{token}`");
    }
    let denied = metric(server.http_addr, "inferencecache_grpc_denied_total{result=\"forbidden\"}").await;
    assert_eq!(denied, 9.0 + 9.0 + 5.0 + 1.0 + 2.0);
    assert_eq!(metric(server.http_addr, "inferencecache_grpc_denied_total{result=\"unauth\"}").await, 28.0);

    // Probes of Kubernetes and tools that ask for the contract show no token.
    let health = HealthClient::new(channel.clone()).check(HealthCheckRequest::default()).await;
    assert!(health.is_ok());
    let log = format!("{:?}", server.log());
    for secret in [ALL, OF_A, LOOKS, &digest(OF_A)] {
        assert!(!log.contains(secret), "a token is in the log");
    }
}

#[tokio::test]
async fn an_index_that_others_fill_looks_empty() {
    let folder = TempDir::new().unwrap();
    let server = serve(folder.path());
    let channel = plain(&server).await;
    let mut contract = InferenceCacheClient::new(channel.clone());
    let mut explain = ExplainClient::new(channel.clone());
    async fn told(
        contract: &mut InferenceCacheClient<Channel>,
        explain: &mut ExplainClient<Channel>,
    ) -> (wire::LookupRouteResponse, String, wire::GetCacheStateResponse) {
        let mut answer = contract.lookup_route(with(OF_A, ask("a", b"hash"))).await.unwrap().into_inner();
        answer.lookup_latency_us = 0;
        let mut explained = explain.explain_route(with(OF_A, ask("a", b"hash"))).await.unwrap().into_inner();
        if let Some(answer) = &mut explained.answer {
            answer.lookup_latency_us = 0;
        }
        let state =
            contract.get_cache_state(with(OF_A, wire::GetCacheStateRequest::default())).await.unwrap();
        (answer, format!("{explained:?}"), state.into_inner())
    }
    let before = told(&mut contract, &mut explain).await;
    // A name that is close to that of the caller's own tenant would be suggested to one who may see it.
    let others = ["b", "aa", "a-"].map(|tenant| update(tenant, "r9", b"hash"));
    contract.report_cache_state(with(ALL, tokio_stream::iter(others))).await.unwrap();
    let after = told(&mut contract, &mut explain).await;
    assert_eq!(after, before, "what others hold changes nothing");
    assert_eq!(after.0.reason_code, "NO_HINT");
    let all = contract.lookup_route(with(ALL, ask("a", b"hash"))).await.unwrap().into_inner();
    assert_eq!(all.reason_code, "UNKNOWN_TENANT", "who may name every tenant is told of a misspelling");
}

#[tokio::test]
async fn state_without_a_name_is_that_of_the_callers_own_tenants() {
    let folder = TempDir::new().unwrap();
    let server = serve(folder.path());
    let mut contract = InferenceCacheClient::new(plain(&server).await);
    let with_stats = |tenant: &str, replica: &str| wire::CacheStateUpdate {
        stats: Some(wire::ReplicaStats { hit_rate: 0.5, ..Default::default() }),
        ..update(tenant, replica, tenant.as_bytes())
    };
    let updates =
        [("a", "r1"), ("a2", "r2"), ("b", "r3")].map(|(tenant, replica)| with_stats(tenant, replica));
    contract.report_cache_state(with(ALL, tokio_stream::iter(updates))).await.unwrap();
    for (token, replicas) in [(ALL, &["r1", "r2", "r3"][..]), (OF_A, &["r1", "r2"])] {
        let state =
            contract.get_cache_state(with(token, wire::GetCacheStateRequest::default())).await.unwrap();
        let state = state.into_inner();
        let names: Vec<_> = state.replicas.iter().map(|stats| stats.replica_id.as_str()).collect();
        assert_eq!(names, replicas, "{token}");
        assert_eq!(state.summary.unwrap().total_prefixes, replicas.len() as i64, "{token}");
    }
}

#[tokio::test]
async fn feeds_tell_a_caller_of_its_own_tenants_alone() {
    let folder = TempDir::new().unwrap();
    let server = serve(folder.path());
    let mut contract = InferenceCacheClient::new(plain(&server).await);
    let everything = wire::StreamEventsRequest::default();
    let mut of_a = contract.stream_cache_events(with(OF_A, everything.clone())).await.unwrap().into_inner();
    let mut of_all = contract.stream_cache_events(with(ALL, everything)).await.unwrap().into_inner();
    for tenant in ["b", "a", "b", "a2"] {
        let event = wire::CacheEvent {
            r#type: wire::cache_event::Type::ReplicaUpdated.into(),
            replica_id: "r1".to_owned(),
            model_id: "llama".to_owned(),
            tenant_id: tenant.to_owned(),
            ..Default::default()
        };
        contract.publish_event(with(ALL, event)).await.unwrap();
    }
    for tenant in ["b", "a", "b", "a2"] {
        assert_eq!(of_all.message().await.unwrap().unwrap().tenant_id, tenant);
    }
    for tenant in ["a", "a2"] {
        assert_eq!(of_a.message().await.unwrap().unwrap().tenant_id, tenant);
    }

    let request = || wire::StreamMetricsRequest::default();
    let mut samples = contract.stream_metrics(with(OF_A, request())).await.unwrap().into_inner();
    let mut names =
        vec![samples.message().await.unwrap().unwrap().name, samples.message().await.unwrap().unwrap().name];
    names.sort();
    assert_eq!(names, ["inferencecache_build_info", "inferencecache_server_up"]);
    let mut samples = contract.stream_metrics(with(ALL, request())).await.unwrap().into_inner();
    let mut has_models = false;
    while !has_models {
        let sample = samples.message().await.unwrap().unwrap();
        has_models = sample.name == "inferencecache_ingest_blocks_total";
    }
}

#[tokio::test]
async fn a_stream_of_reports_ends_at_a_tenant_that_the_caller_may_not_name() {
    let folder = TempDir::new().unwrap();
    let server = serve(folder.path());
    let mut contract = InferenceCacheClient::new(plain(&server).await);
    let updates = [update("a", "r1", b"one"), update("b", "r1", b"two"), update("a", "r1", b"three")];
    let refused = contract.report_cache_state(with(OF_A, tokio_stream::iter(updates))).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    let count =
        |tenant: &str| wire::GetCacheStateRequest { tenant_id: tenant.to_owned(), ..Default::default() };
    let mut totals = Vec::new();
    for tenant in ["a", "b"] {
        let state = contract.get_cache_state(with(ALL, count(tenant))).await.unwrap().into_inner();
        totals.push(state.summary.unwrap().total_prefixes);
    }
    assert_eq!(totals, [1, 0]);
}

#[tokio::test]
async fn an_observer_whose_token_is_taken_out_is_shown_nothing_more() {
    let folder = TempDir::new().unwrap();
    let server = serve(folder.path());
    let channel = plain(&server).await;
    let mut observe = ObserveClient::new(channel.clone());
    let mut records = observe.observe(with(ALL, ObserveRequest::default())).await.unwrap().into_inner();
    assert!(records.message().await.unwrap().is_some(), "it begins with what is there");
    let contract = InferenceCacheClient::new(channel.clone());
    let look = |token: &'static str| {
        let mut contract = contract.clone();
        async move { contract.lookup_route(with(token, ask("a", b"hash"))).await.map(drop) }
    };

    put(
        folder.path(),
        "callers.toml",
        &format!("version = 1\n{}", caller("looks", &token(LOOKS), "\"lookup\"", "\"a\"")),
    );
    until(|| look(ALL), |looked: &Result<(), Status>| looked.is_err()).await.unwrap_err();
    look(LOOKS).await.unwrap();
    let ended = loop {
        match records.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the end says why"),
            Err(status) => break status.code(),
        }
    };
    assert_eq!(ended, Code::Unauthenticated);
}

#[tokio::test]
async fn a_token_that_is_taken_out_ends_calls_and_streams() {
    let folder = TempDir::new().unwrap();
    let server = serve(folder.path());
    let contract = InferenceCacheClient::new(plain(&server).await);
    let (updates, receiver) = tokio::sync::mpsc::channel(4);
    let stream = tokio_stream::wrappers::ReceiverStream::new(receiver);
    let mut reporter = contract.clone();
    let reporting = tokio::spawn(async move { reporter.report_cache_state(with(OF_A, stream)).await });
    updates.send(update("a", "r1", b"hash")).await.unwrap();
    let look = || {
        let mut contract = contract.clone();
        async move {
            contract
                .lookup_route(with(OF_A, ask("a", b"hash")))
                .await
                .map(|answer| answer.into_inner().replica_scores.len())
        }
    };
    assert!(until(look, |found| matches!(found, Ok(1))).await.is_ok());

    let file = put(folder.path(), "callers.toml", "version = 1\n[[caller]]\nname = \"broken\"\n");
    let reload = "inferencecache_credentials_reload_success{kind=\"callers\"}";
    until(|| metric(server.http_addr, reload), |value| *value == 0.0).await;
    assert_eq!(look().await.unwrap(), 1, "a broken file changes nothing");

    put(folder.path(), "callers.toml", &callers(false));
    let is_refused = |found: &Result<usize, Status>| {
        found.as_ref().is_err_and(|status| status.code() == Code::Unauthenticated)
    };
    assert!(until(look, is_refused).await.is_err());
    updates.send(update("a", "r1", b"more")).await.unwrap();
    let ended = reporting.await.unwrap().unwrap_err();
    assert_eq!(ended.code(), Code::Unauthenticated);
    assert!(file.exists());
}

#[tokio::test]
async fn a_certificate_is_an_identity_as_a_token_is() {
    let folder = TempDir::new().unwrap();
    let (authority, clients) = (Authority::new("ours"), Authority::new("clients"));
    let signed = authority.server(&["127.0.0.1"]);
    let (cert, key) =
        (put(folder.path(), "tls.crt", &signed.cert), put(folder.path(), "tls.key", &signed.key));
    let client_ca = put(folder.path(), "clients.pem", &clients.pem);
    let text = "version = 1\n".to_owned()
        + &caller("a", "certificates = [\"spiffe://test/a\"]", EVERY_ROLE, "\"a\"")
        + &caller("all", &token(ALL), EVERY_ROLE, "\"*\"");
    let file = put(folder.path(), "callers.toml", &text);
    let [cert, key, client_ca, file] = [&cert, &key, &client_ca, &file].map(|path| path.to_str().unwrap());
    let args = ["--tls-cert", cert, "--tls-key", key, "--tls-client-ca", client_ca, "--auth-file", file];
    let server = Process::start(&args);
    let open = async |identity: &str| {
        channel(server.grpc_addr, &authority.pem, Some(&clients.client(identity))).await
    };
    let code = |answer: Result<_, Status>| {
        answer.map(|_: tonic::Response<wire::LookupRouteResponse>| ()).map_err(|status| status.code())
    };
    let mut known = InferenceCacheClient::new(open("spiffe://test/a").await);
    assert_eq!(code(known.lookup_route(ask("a", b"h")).await), Ok(()));
    assert_eq!(code(known.lookup_route(ask("b", b"h")).await), Err(Code::PermissionDenied));
    // A token goes over the certificate, and one that nobody has is not made good by it.
    assert_eq!(code(known.lookup_route(with(ALL, ask("b", b"h"))).await), Ok(()));
    assert_eq!(code(known.lookup_route(with("nobody", ask("a", b"h"))).await), Err(Code::Unauthenticated));
    let mut unknown = InferenceCacheClient::new(open("spiffe://test/b").await);
    assert_eq!(code(unknown.lookup_route(ask("a", b"h")).await), Err(Code::Unauthenticated));
}

#[tokio::test]
async fn commands_show_their_token() {
    let folder = TempDir::new().unwrap();
    let server = serve(folder.path());
    let url = format!("http://{}", server.grpc_addr);
    let file = put(folder.path(), "token", &format!("# ours\n{OF_A}\n"));
    let file = file.to_str().unwrap();
    let state = |args: &[&str], variable: Option<&str>| {
        let mut command = assert_cmd::Command::cargo_bin("icache").unwrap();
        command.args(["state", "--server", &url]).args(args).env_remove("ICACHE_TOKEN");
        let output = command.envs(variable.map(|token| ("ICACHE_TOKEN", token))).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for (args, variable) in [
        (&["--token-file", file][..], None),
        (&["--token", OF_A], None),
        (&[], Some(OF_A)),
        (&["--token-file", file], Some("nobody")),
    ] {
        assert_eq!(state(args, variable), (Some(0), String::new()), "{args:?} {variable:?}");
    }
    for (args, status, says) in [
        (&[][..], 3, "UNAUTHENTICATED"),
        (&["--token", "nobody"], 3, "--token-file"),
        (&["--token", LOOKS], 3, "has not the role `observe`"),
        (&["--token", OF_A, "--tenant", "b"], 3, "may not name the tenant `b`"),
        (&["--token", "two words"], 2, "no header can carry"),
        (&["--token-file", "/nowhere"], 2, "`/nowhere`"),
    ] {
        let (ended, said) = state(args, None);
        assert_eq!(ended, Some(status), "{args:?}: {said}");
        assert!(said.contains(says), "{args:?}: {said}");
    }
}
