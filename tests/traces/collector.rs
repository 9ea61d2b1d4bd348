//! A collector: the service of the OTLP contract.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::{Duration, timeout};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

/// A span with what says whose it is.
#[derive(Clone, Debug)]
pub struct Received {
    pub span: Span,
    pub resource: BTreeMap<String, String>,
}

impl Received {
    pub fn attributes(&self) -> BTreeMap<String, String> {
        named(&self.span.attributes)
    }
}

fn named(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |value: &Value| match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => panic!("{other:?}"),
    };
    attributes
        .iter()
        .map(|own| (own.key.clone(), text(own.value.as_ref().unwrap().value.as_ref().unwrap())))
        .collect()
}

/// Takes spans on a free port.
pub struct Collector {
    pub addr: SocketAddr,
    spans: mpsc::UnboundedReceiver<Received>,
}

struct Service {
    spans: mpsc::UnboundedSender<Received>,
    /// Takes a call and never answers it.
    is_stuck: bool,
}

#[tonic::async_trait]
impl TraceService for Service {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        if self.is_stuck {
            std::future::pending::<()>().await;
        }
        for of_resource in request.into_inner().resource_spans {
            let resource = named(&of_resource.resource.unwrap().attributes);
            for span in of_resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                // A test that has seen enough is gone.
                let _ = self.spans.send(Received { span, resource: resource.clone() });
            }
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    pub async fn start() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.unwrap(), false)
    }

    pub async fn stuck() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.unwrap(), true)
    }

    pub fn on(listener: TcpListener, is_stuck: bool) -> Self {
        let addr = listener.local_addr().unwrap();
        let (sender, spans) = mpsc::unbounded_channel();
        let service = TraceServiceServer::new(Service { spans: sender, is_stuck });
        let serving = tonic::transport::Server::builder().add_service(service);
        tokio::spawn(serving.serve_with_incoming(TcpListenerStream::new(listener)));
        Self { addr, spans }
    }

    pub fn flag(&self) -> String {
        format!("--otlp-endpoint=http://{}", self.addr)
    }

    /// The next span of this name.
    pub async fn span(&mut self, name: &str) -> Received {
        let next = async {
            loop {
                let received = self.spans.recv().await.expect("the collector goes on");
                if received.span.name == name {
                    return received;
                }
            }
        };
        timeout(Duration::from_secs(60), next).await.unwrap_or_else(|_| panic!("a span `{name}` comes"))
    }

    /// Every span that came until the sender was gone.
    pub fn rest(&mut self) -> Vec<Received> {
        std::iter::from_fn(|| self.spans.try_recv().ok()).collect()
    }
}
