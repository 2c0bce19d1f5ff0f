//! Anabranch's variants of `order`.

pub mod annotations;
pub mod builder;
pub mod ssp;
