//! Anabranch's variants of `eyes`.

pub mod annotations;
pub mod builder;
pub mod ssp;
