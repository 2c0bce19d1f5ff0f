//! Anabranch's variants of `similarity`.

pub mod annotations;
pub mod builder;
pub mod ssp;
