//! All `unsafe` code of this crate: calls of the system, and pointers that Rust cannot check.
#![allow(unsafe_code)]

pub mod abort;
mod deflate;
pub mod descriptors;
mod features;
mod inflate_loop;
pub mod mapped;

pub(crate) use deflate::Compressor;
pub(crate) use features::with_features;
pub(crate) use inflate_loop::Loop;
