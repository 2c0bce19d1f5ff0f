//! Anabranch's variants of `sink`.

pub mod annotations;
pub mod builder;
pub mod ssp;
