//! Anabranch's variants of `radio`.

pub mod annotations;
pub mod builder;
pub mod network;
pub mod ssp;
