//! Anabranch's variants of `words`.

pub mod annotations;
pub mod builder;
pub mod ssp;
