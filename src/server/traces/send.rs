//! Spans on their way to the collector.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use opentelemetry::Context;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanExporter as _, SpanProcessor};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::super::metrics::{Metrics, SpanLoss};

/// Spans that wait at most; further ones are dropped.
const QUEUE: usize = 8_192;
/// Spans of one message at most.
const BATCH: usize = 512;
/// Time that a span waits for others at most.
const SEND_EVERY: Duration = Duration::from_secs(1);
/// Time that the last spans of a server that stops may take.
const LAST_WAIT: Duration = Duration::from_secs(2);
/// Time between two reports of the same trouble.
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// Takes spans as they end.
pub(super) struct Queue {
    spans: mpsc::Sender<SpanData>,
    metrics: Arc<Metrics>,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

impl SpanProcessor for Queue {
    fn on_start(&self, _span: &mut Span, _context: &Context) {}

    fn on_end(&self, span: SpanData) {
        if span.span_context.is_sampled() && self.spans.try_send(span).is_err() {
            self.metrics.observe_spans_lost(SpanLoss::QueueFull, 1);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }

    fn set_resource(&mut self, _resource: &Resource) {}
}

/// The task that sends.
pub(in crate::server) struct Sending {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Sending {
    /// Sends what waits, within a time, and ends.
    pub(in crate::server) async fn stop(mut self) {
        let _ = self.stop.send(());
        if timeout(LAST_WAIT, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

pub(super) fn start(
    exporter: SpanExporter,
    resource: &Resource,
    endpoint: &str,
    metrics: &Arc<Metrics>,
) -> (Queue, Sending) {
    let (spans, waiting) = mpsc::channel(QUEUE);
    let (stop, stopped) = oneshot::channel();
    let mut exporter = exporter;
    exporter.set_resource(resource);
    let sender = Sender {
        exporter,
        endpoint: endpoint.to_owned(),
        metrics: Arc::clone(metrics),
        failures: 0,
        told: None,
    };
    let task = tokio::spawn(sender.run(waiting, stopped));
    (Queue { spans, metrics: Arc::clone(metrics) }, Sending { stop, task })
}

struct Sender {
    exporter: SpanExporter,
    endpoint: String,
    metrics: Arc<Metrics>,
    /// Batches in a row that could not be sent.
    failures: u64,
    /// When that was told last.
    told: Option<Instant>,
}

impl Sender {
    async fn run(mut self, mut waiting: mpsc::Receiver<SpanData>, mut stopped: oneshot::Receiver<()>) {
        loop {
            let mut batch = Vec::with_capacity(BATCH);
            let mut is_first = true;
            let rest = tokio::time::sleep(SEND_EVERY);
            tokio::pin!(rest);
            // A batch goes when it is full, and its first span has waited long enough, whichever is sooner.
            while batch.len() < BATCH {
                let room = BATCH - batch.len();
                tokio::select! {
                    read = waiting.recv_many(&mut batch, room) => match read {
                        0 => break,
                        _ if std::mem::take(&mut is_first) => rest.as_mut().reset((Instant::now() + SEND_EVERY).into()),
                        _ => {}
                    },
                    () = &mut rest, if !is_first => break,
                    // Nothing more is taken; what waits is.
                    _ = &mut stopped, if !waiting.is_closed() => waiting.close(),
                }
            }
            if batch.is_empty() {
                return;
            }
            self.send(batch).await;
        }
    }

    async fn send(&mut self, batch: Vec<SpanData>) {
        let spans = batch.len() as u64;
        match timeout(super::SEND_WAIT, self.exporter.export(batch)).await {
            Ok(Ok(())) => {
                self.metrics.observe_spans_sent(spans);
                let failures = std::mem::take(&mut self.failures);
                if self.told.take().is_some() {
                    tracing::info!(endpoint = self.endpoint, failures, "traces are sent again");
                }
            }
            Ok(Err(error)) => self.fail(spans, &error.to_string()),
            Err(_) => self.fail(spans, "it took too long"),
        }
    }

    /// Says what is wrong, once a minute while it lasts.
    fn fail(&mut self, spans: u64, why: &str) {
        self.metrics.observe_spans_lost(SpanLoss::NotSent, spans);
        self.failures += 1;
        if self.told.is_none_or(|at| at.elapsed() >= REPORT_EVERY) {
            let (endpoint, failures) = (&self.endpoint, self.failures);
            tracing::warn!(
                endpoint,
                failures,
                "traces cannot be sent: {why}; they are dropped, and calls go on"
            );
            self.told = Some(Instant::now());
        }
    }
}
