//! Anabranch's variants of `micro`.

pub mod annotations;
pub mod builder;
pub mod ssp;
