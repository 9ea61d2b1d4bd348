//! Writes a capture.

use std::io::{self, Write};

use serde::Serialize;

use super::fields::body_json;
use super::record::{Body, Header, VERSION};
use super::time::format_seconds;
use crate::model::Timestamp;

/// Appends records to a capture. Each is one whole line by the time the call returns.
#[derive(Debug)]
pub struct Writer<W> {
    sink: W,
}

#[derive(Serialize)]
struct HeaderLine<'a> {
    icache: &'static str,
    version: u64,
    created: &'a str,
    source: &'a str,
}

impl<W: Write> Writer<W> {
    /// Begins a capture with its header.
    pub fn create(mut sink: W, header: &Header) -> io::Result<Self> {
        let line = HeaderLine {
            icache: "capture",
            version: VERSION,
            created: &header.created,
            source: &header.source,
        };
        let mut line = serde_json::to_string(&line)?;
        line.push('\n');
        sink.write_all(line.as_bytes())?;
        Ok(Self { sink })
    }

    /// Appends one record. Times must not go back from one call to the next, else the reader refuses the line.
    pub fn append(&mut self, at: Timestamp, body: &Body) -> io::Result<()> {
        let fields = body_json(body)?;
        let fields = fields.strip_prefix('{').unwrap_or(&fields);
        let comma = if fields == "}" { "" } else { "," };
        let line = format!("{{\"t\":{},\"kind\":\"{}\"{comma}{fields}\n", format_seconds(at), body.kind());
        self.sink.write_all(line.as_bytes())
    }

    /// Hands on what the sink has buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }

    /// The sink, to look at.
    pub fn get_ref(&self) -> &W {
        &self.sink
    }

    /// The sink.
    pub fn into_inner(self) -> W {
        self.sink
    }
}
