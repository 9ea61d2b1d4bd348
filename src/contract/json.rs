//! Messages as proto3 JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Why a text is no message, or a message has no JSON form.
#[derive(Debug, Error)]
pub enum JsonError {
    /// The text is not JSON, or not of this message; names the field where one is unknown.
    #[error("not a proto3 JSON message: {0}")]
    Read(#[source] serde_json::Error),
    /// An enum field holds a number without a name.
    #[error("the message has no proto3 JSON form: {0}")]
    Write(#[source] serde_json::Error),
}

/// Reads a message. Field names may be written in either proto3 form (`modelId`, `model_id`); an unknown one is an error.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    serde_json::from_str(text).map_err(JsonError::Read)
}

/// Writes a message on one line, fields at their default left out.
pub fn to_json<T: Serialize>(message: &T) -> Result<String, JsonError> {
    serde_json::to_string(message).map_err(JsonError::Write)
}
