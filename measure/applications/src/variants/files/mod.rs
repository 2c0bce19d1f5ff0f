//! Anabranch's variants of `files`.

pub mod annotations;
pub mod builder;
pub mod ssp;
