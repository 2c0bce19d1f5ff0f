//! Anabranch's variants of `lanes`.

pub mod annotations;
pub mod builder;
pub mod ssp;
