//! Anabranch's variants of `dedup`.

pub mod annotations;
pub mod builder;
pub mod ssp;
