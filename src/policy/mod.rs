//! Policies: what operators write, and what it comes to for each tenant.

mod document;
pub mod fields;
mod files;
mod push;
mod resolve;
mod schema;
mod sources;
mod store;
mod take;
mod view;
mod watch;

pub use document::MAX_POLICY_BYTES;
pub use fields::API_VERSION;
pub use files::{
    LoadedFiles, MAX_FOLDER_DEPTH, MAX_SET_BYTES, MAX_SET_FILES, PolicyFiles, PolicyProblem, PolicyTexts,
    load_paths, read_paths,
};
pub use push::{MAX_PUSH_BYTES, PUSH_VERSIONS, PushError, PushedPolicies, decode_push};
pub use resolve::{Defaults, TenantPolicy, default_ranker, resolve};
pub use schema::{LoadedPolicies, PolicyError, load_policies};
pub use sources::PolicySources;
pub use store::{PolicySet, PolicyStore};
pub use view::{
    KnobValue, KnobView, KnobsView, NamespaceView, POLICY_VIEW_VERSION, PolicyView, PushedView, ReloadView,
    knobs, view,
};
pub use watch::{PolicyWatch, Reloaded, watch_policies};
