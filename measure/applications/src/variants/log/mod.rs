//! Anabranch's variants of `log`.

pub mod annotations;
pub mod builder;
pub mod ssp;
