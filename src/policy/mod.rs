//! Policies: what operators write, and what it comes to for each tenant.

pub mod crd;
mod diff;
mod document;
pub mod fields;
mod files;
mod json_schema;
mod object_schema;
mod resolve;
mod schema;
mod store;
mod take;
mod view;

pub use diff::{Change, KnobDiff, NamespaceDiff, POLICY_DIFF_VERSION, PolicyDiff, Setting, diff};
pub use document::MAX_POLICY_BYTES;
pub use fields::API_VERSION;
pub use files::{FileError, POLICY_ENDINGS, PolicyFile, policy_paths, read_policies};
pub use json_schema::json_schema;
pub use resolve::{Defaults, TenantPolicy, default_ranker, resolve};
pub use schema::{LoadedPolicies, PolicyError, load_policies, load_policy_files, problems};
pub use store::{PolicySet, PolicyStore};
pub use view::{
    KnobValue, KnobView, KnobsView, NamespaceView, POLICY_VIEW_VERSION, PolicyView, ReloadView, knobs, view,
};
