//! Anabranch's variants of `images`.

pub mod annotations;
pub mod builder;
pub mod ssp;
