//! The rules: each a function that reports every place it finds.

pub(super) mod floors;
pub(super) mod identity;
pub(super) mod lifetime;
pub(super) mod shape;
pub(super) mod strategy;
pub(super) mod text;
pub(super) mod values;
