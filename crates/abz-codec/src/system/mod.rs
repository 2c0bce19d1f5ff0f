//! What only the system can do, and Rust cannot check: all `unsafe` code of this crate.
#![allow(unsafe_code)]

pub mod descriptors;
pub mod mapped;
