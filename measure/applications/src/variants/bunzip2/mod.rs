//! Anabranch's variants of `bunzip2`.

pub mod annotations;
pub mod builder;
pub mod ssp;
