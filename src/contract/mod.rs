//! The wire contracts: generated messages, and the conversions between them and the model.
//!
//! The only module that names wire types.

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
