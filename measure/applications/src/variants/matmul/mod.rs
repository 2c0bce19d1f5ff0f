//! Anabranch's variants of `matmul`.

pub mod annotations;
pub mod builder;
pub mod ssp;
