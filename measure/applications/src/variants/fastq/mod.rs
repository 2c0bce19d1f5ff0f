//! Anabranch's variants of `fastq`.

pub mod annotations;
pub mod builder;
pub mod ssp;
