//! Anabranch's variants of `lzip`.

pub mod annotations;
pub mod builder;
pub mod ssp;
