//! Names on the wire, one type each, so that a model id cannot stand where a tenant id belongs.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// The reserved tenant: lookups on it answer `NO_HINT`, updates and events that name it are dropped.
pub const PROBE_TENANT: &str = "inferencecache.io/probe";

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Arc::from(text))
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, out)
            }
        }
    };
}

id!(
    /// Who a prefix belongs to; prefixes of different tenants never meet.
    TenantId
);
id!(
    /// The model that computed a prefix.
    ModelId
);
id!(
    /// The hash function, block size and seed that block hashes come from.
    HashScheme
);
id!(
    /// The adapter (LoRA) partition; empty for the base model.
    AdapterId
);
id!(
    /// One engine, or one data-parallel rank of it.
    ReplicaId
);
