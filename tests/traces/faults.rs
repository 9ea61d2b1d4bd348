//! A collector that is not there, one that comes back, and one that never answers: calls notice nothing.

use tokio::net::TcpListener;

use super::collector::Collector;
use super::process::Process;
use super::server_support::{http_get, until};
use super::{InferenceCacheClient, NOT_SENT, QUEUE_FULL, SENT, ask, connect, metric, report};

fn warnings(server: &Process) -> Vec<String> {
    let log = server.log();
    let warned = log.iter().filter(|line| line["level"] == "WARN" || line["level"] == "ERROR");
    warned.map(|line| line["message"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn without_its_collector_a_server_serves_and_says_so_once() {
    // A port that nobody listens on, until the end.
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = port.local_addr().unwrap();
    drop(port);
    let server = Process::start(&[&format!("--otlp-endpoint=http://{addr}")]);
    assert_eq!(http_get(server.http_addr, "/readyz").await.0, 200);
    let channel = connect(&server).await;
    report(&channel).await;
    let client = InferenceCacheClient::new(channel);
    let look = async || client.clone().lookup_route(ask()).await.unwrap().into_inner().reason_code;
    // Three batches at least, each of which fails.
    let mut lost = 0.0;
    for _ in 0..3 {
        assert_eq!(look().await, "PREFIX_MATCH");
        lost = until(async || metric(&server, NOT_SENT).await, |now| *now > lost).await;
    }
    assert_eq!(metric(&server, SENT).await, 0.0);
    let told = warnings(&server);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("traces cannot be sent: "), "{told:?}");
    assert_eq!(http_get(server.http_addr, "/readyz").await.0, 200);

    let mut collector = Collector::on(TcpListener::bind(addr).await.unwrap(), false);
    let found = async {
        loop {
            assert_eq!(look().await, "PREFIX_MATCH");
            if metric(&server, SENT).await > 0.0 {
                return;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), found).await.expect("it is found again");
    collector.span("inferencecache.v1alpha1.InferenceCache/LookupRoute").await;
    let again = async || server.log().iter().any(|line| line["message"] == "traces are sent again");
    until(again, |is_told| *is_told).await;
}

/// More spans than may wait: the rest is dropped and counted, and no lookup waits for the collector.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_never_answers_costs_spans_and_no_lookup() {
    let collector = Collector::stuck().await;
    let server = Process::start(&[&collector.flag()]);
    let channel = connect(&server).await;
    report(&channel).await;
    let rounds = async {
        while metric(&server, QUEUE_FULL).await == 0.0 {
            let mut callers = tokio::task::JoinSet::new();
            for _ in 0..16 {
                let mut client = InferenceCacheClient::new(channel.clone());
                callers.spawn(async move {
                    for _ in 0..200 {
                        let answer = client.lookup_route(ask()).await.unwrap().into_inner();
                        assert_eq!(answer.reason_code, "PREFIX_MATCH");
                    }
                });
            }
            while let Some(ended) = callers.join_next().await {
                ended.unwrap();
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(120), rounds).await.expect("the queue has a bound");
    server.signal("TERM");
    let (status, log) = tokio::task::spawn_blocking(move || server.wait()).await.unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(log.last().unwrap()["message"], "stopped", "{log:?}");
}
