//! Anabranch's variants of `lunzip`.

pub mod annotations;
pub mod builder;
pub mod dealt;
pub mod ssp;
