//! Policies: what operators write, and what it comes to for each tenant.

mod document;
pub mod fields;
mod resolve;
mod schema;
mod store;
mod take;
mod view;

pub use document::MAX_POLICY_BYTES;
pub use fields::API_VERSION;
pub use resolve::{Defaults, TenantPolicy, default_ranker, resolve};
pub use schema::{LoadedPolicies, PolicyError, load_policies};
pub use store::{PolicySet, PolicyStore};
pub use view::{
    KnobValue, KnobView, KnobsView, NamespaceView, POLICY_VIEW_VERSION, PolicyView, ReloadView, knobs, view,
};
