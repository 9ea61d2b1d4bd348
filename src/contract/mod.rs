//! The wire contracts: generated messages, and the conversions between them and the model.
//!
//! The only module that names wire types, besides the server. `decode_*` reads a message into the model, borrowing from
//! it; `encode_*` goes the other way; [`from_json`] and [`to_json`] are the proto3 JSON form that captures and the
//! command line use.

mod decode;
mod encode;
mod explain;
mod fast;
mod json;
mod status;
#[cfg(test)]
mod tests;

pub use decode::{decode_answer, decode_event, decode_request, decode_state, decode_update};
pub use encode::{encode_answer, encode_event, encode_request, encode_state, encode_update};
pub use explain::{decode_explanation, encode_explanation};
pub use fast::decode_fast_request;
pub use json::{JsonError, from_json, json_fault, read_json, to_json};
pub use status::code_name;
pub use wire::icache::v1alpha1::{ExplainRouteResponse, KeyOrder};
pub use wire::inferencecache::v1alpha1::{
    CacheEvent, CacheStateUpdate, GetCacheStateRequest, GetCacheStateResponse, LookupRouteRequest,
    LookupRouteResponse, PrefixEntry,
};

/// Generated messages and services.
#[allow(missing_docs, clippy::all)]
pub mod wire {
    pub mod inferencecache {
        pub mod v1alpha1 {
            tonic::include_proto!("inferencecache.v1alpha1");
            include!(concat!(env!("OUT_DIR"), "/inferencecache.v1alpha1.serde.rs"));
        }
    }
    pub mod icache {
        pub mod v1alpha1 {
            tonic::include_proto!("icache.v1alpha1");
            include!(concat!(env!("OUT_DIR"), "/icache.v1alpha1.serde.rs"));
        }
    }

    /// Descriptor set of both contracts, for server reflection.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
}
