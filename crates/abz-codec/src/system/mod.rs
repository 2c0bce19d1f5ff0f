//! What only the system can do, and Rust cannot check: all `unsafe` code of this crate.
#![allow(unsafe_code)]

pub mod descriptors;
mod features;
mod inflate_loop;
pub mod mapped;

pub(crate) use features::with_features;
pub(crate) use inflate_loop::Loop;
