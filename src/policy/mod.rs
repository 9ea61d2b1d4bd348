//! Policies: what operators write, what is wrong with it, and what it comes to for each tenant.

pub mod crd;
mod diff;
mod document;
pub mod fields;
mod files;
mod json_schema;
pub mod lint;
mod load;
mod object_schema;
mod push;
mod resolve;
mod scalar;
mod schema;
mod source;
mod sources;
mod store;
mod view;
mod watch;
mod written;

pub use diff::{Change, KnobDiff, NamespaceDiff, POLICY_DIFF_VERSION, PolicyDiff, Setting, diff};
pub use fields::API_VERSION;
pub use files::{
    FileProblem, LoadedFiles, MAX_FOLDER_DEPTH, MAX_SET_BYTES, MAX_SET_FILES, PolicyFiles, PolicyTexts,
    load_paths, policy_paths, read_paths,
};
pub use json_schema::json_schema;
pub use load::{LoadedPolicies, PolicyError, PolicyProblem, load_policies, load_sources};
pub use push::{MAX_PUSH_BYTES, PUSH_VERSIONS, PushError, PushedPolicies, decode_push};
pub use resolve::{Defaults, TenantPolicy, default_ranker, resolve, resolve_from};
pub use schema::decimal;
pub use source::{MAX_POLICY_BYTES, Place, SourceText, Span};
pub use sources::PolicySources;
pub use store::PolicySet;
pub use view::{
    KnobValue, KnobView, KnobsView, NamespaceView, POLICY_VIEW_VERSION, PolicyView, PushedView, ReloadView,
    knobs, view,
};
pub use watch::{PolicyWatch, Reloaded, watch_policies};
pub use written::documents;
