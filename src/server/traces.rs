//! Spans of calls, sent over OTLP to the collector that `--otlp-endpoint` names, for whoever follows requests through a
//! fleet.
//!
//! A call waits for none of it. A span that has ended goes into a bounded queue, from which one task sends batches; where
//! the queue is full, because the collector is slow or gone, it is dropped and counted. A call that comes with a
//! `traceparent` belongs to that trace, and is recorded where that is; one without begins a trace of its own. No span names
//! a tenant, a hash or a prompt.

mod send;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{
    Link, Span as _, SpanContext, SpanKind, Status as SpanStatus, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider, Span};
use parking_lot::Mutex;
use tonic::Code;
use tonic::codegen::http::HeaderMap;

pub(super) use self::send::Sending;

use super::metrics::Metrics;
use crate::decision::Decision;

/// Where spans go, and whose.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceConfig {
    /// The collector: an http:// URL.
    pub endpoint: String,
    /// Share of the calls that bring no trace with them, 0..1.
    pub share: f64,
}

/// Time that sending one batch may take.
const SEND_WAIT: Duration = Duration::from_secs(5);
/// Attributes of one span at most; those of a lookup are fewer.
const MAX_ATTRIBUTES: u32 = 16;

/// What makes spans.
#[derive(Debug)]
pub(super) struct Traces {
    tracer: SdkTracer,
    propagator: TraceContextPropagator,
}

impl Traces {
    /// Begins; runs on the current async runtime.
    pub(super) fn start(
        config: &TraceConfig,
        metrics: &Arc<Metrics>,
    ) -> Result<(Arc<Self>, Sending), String> {
        let exporter =
            SpanExporter::builder().with_tonic().with_endpoint(&config.endpoint).with_timeout(SEND_WAIT);
        let exporter = exporter.build().map_err(|error| error.to_string())?;
        let resource = Resource::builder()
            .with_service_name(env!("CARGO_PKG_NAME"))
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let (queue, sending) = send::start(exporter, &resource, &config.endpoint, metrics);
        let provider = SdkTracerProvider::builder()
            .with_span_processor(queue)
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(config.share))))
            .with_max_attributes_per_span(MAX_ATTRIBUTES)
            .with_resource(resource)
            .build();
        let tracer = provider.tracer(env!("CARGO_PKG_NAME"));
        Ok((Arc::new(Self { tracer, propagator: TraceContextPropagator::new() }), sending))
    }

    /// A call of the method at `path` that came with `headers`.
    pub(super) fn of_call(self: &Arc<Self>, path: &str, headers: &HeaderMap) -> Traced {
        let parent = self.propagator.extract_with_context(&Context::new(), &Headers(headers));
        let name = path.trim_start_matches('/').to_owned();
        let (service, method) = name.split_once('/').unwrap_or((&name, ""));
        let attributes = [
            KeyValue::new("rpc.system", "grpc"),
            KeyValue::new("rpc.service", service.to_owned()),
            KeyValue::new("rpc.method", method.to_owned()),
        ];
        let builder =
            self.tracer.span_builder(name.clone()).with_kind(SpanKind::Server).with_attributes(attributes);
        self.open(self.tracer.build_with_context(builder, &parent))
    }

    fn open(self: &Arc<Self>, span: Span) -> Traced {
        let span = span.is_recording().then(|| Arc::new(Mutex::new(span)));
        Traced { traces: Arc::clone(self), span }
    }
}

/// A call under tracing; its span, where it has one, ends when the last clone of this goes.
#[derive(Clone, Debug)]
pub(super) struct Traced {
    traces: Arc<Traces>,
    span: Option<Arc<Mutex<Span>>>,
}

impl Traced {
    /// A lookup on the stream that this is: a trace of its own, that refers to the stream's. A stream may last for days.
    pub(super) fn of_message(&self) -> Self {
        let stream: Option<SpanContext> = self.span.as_ref().map(|span| span.lock().span_context().clone());
        let links = stream.into_iter().map(Link::with_context).collect();
        let builder =
            self.traces.tracer.span_builder("lookup").with_kind(SpanKind::Internal).with_links(links);
        self.traces.open(self.traces.tracer.build_with_context(builder, &Context::new()))
    }

    /// The status that the call's answer begins with.
    pub(super) fn answer(&self, code: Code) {
        let Some(span) = &self.span else { return };
        let mut span = span.lock();
        span.set_attribute(KeyValue::new("rpc.grpc.status_code", code as i64));
        // What the conventions count as the server's own fault.
        let is_fault = matches!(
            code,
            Code::Unknown
                | Code::DeadlineExceeded
                | Code::Unimplemented
                | Code::Internal
                | Code::Unavailable
                | Code::DataLoss
        );
        if is_fault {
            span.set_status(SpanStatus::error(Cow::Borrowed(code.description())));
        }
    }

    /// What a lookup was answered; `model` is the bounded label of its metrics.
    pub(super) fn decide(&self, model: &str, decision: &Decision) {
        let Some(span) = &self.span else { return };
        let hints = decision.hints();
        let best = decision.hints().next().map_or(0, |hint| i64::from(hint.matched_tokens));
        span.lock().set_attributes([
            KeyValue::new("icache.model", model.to_owned()),
            KeyValue::new("icache.reason_code", decision.reason.code()),
            KeyValue::new("icache.hints", hints.count() as i64),
            KeyValue::new("icache.matched_tokens", best),
        ]);
    }
}

/// Headers of a call, as the propagator reads them.
struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(|name| name.as_str()).collect()
    }
}
