//! All `unsafe` code of this crate: calls of the system, and pointers that Rust cannot check.
#![allow(unsafe_code)]

pub mod abort;
#[cfg(feature = "gzip")]
mod deflate;
pub mod descriptors;
mod features;
pub mod heap;
#[cfg(feature = "gzip")]
mod inflate_loop;
pub mod mapped;

#[cfg(feature = "gzip")]
pub(crate) use deflate::Compressor;
pub(crate) use features::with_features;
#[cfg(feature = "gzip")]
pub(crate) use inflate_loop::Loop;
