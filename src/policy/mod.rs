//! Policies: what operators write, what is wrong with it, and what it comes to for each tenant.

mod document;
pub mod fields;
pub mod lint;
mod load;
mod resolve;
mod scalar;
mod schema;
mod source;
mod store;

pub use fields::API_VERSION;
pub use load::{LoadedPolicies, PolicyError, PolicyProblem, load_policies, load_sources};
pub use resolve::{Defaults, TenantPolicy, default_ranker, resolve, resolve_from};
pub use schema::decimal;
pub use source::{MAX_POLICY_BYTES, Place, SourceText, Span};
pub use store::{PolicySet, PolicyStore};
