//! Policies: what operators write, and what it comes to for each tenant.

mod resolve;
mod store;

pub use resolve::{Defaults, TenantPolicy, default_ranker, resolve};
pub use store::{PolicySet, PolicyStore};
