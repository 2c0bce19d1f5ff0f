//! Anabranch's variants of `farm`.

pub mod annotations;
pub mod builder;
pub mod ssp;
