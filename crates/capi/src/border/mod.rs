//! The border between C and safe Rust: the only module with `unsafe` code.
//!
//! What C hands over, pointers with functions that destroy them and functions with contexts, becomes values that safe code
//! moves, calls and drops. `stream.rs` has the functions that C calls; none lets a panic through.
#![allow(unsafe_code)]

mod code;
mod handle;
mod item;
mod outcome;
mod settings;
mod stages;
mod text;
mod token;

pub(crate) use code::{Code, Given, Local, ProgressFn, Stage, WeighFn};
pub(crate) use item::{Destroy, Failure, Owned};
