//! Anabranch's variants of `bzip2`.

pub mod annotations;
pub mod builder;
pub mod ssp;
