//! Anabranch's variants of `gzip`.

pub mod annotations;
pub mod builder;
pub mod ssp;
