//! The border between C and safe Rust: the only module with `unsafe` code.
//!
//! C hands over pointers with functions that destroy them, and functions with contexts. They become values
//! that safe code can move, call and drop. `handle`, `stages`, `settings`, `token` and `text` have the
//! functions that C calls. No panic leaves these functions.
//!
//! SAFETY of every `no_mangle`: the name begins with `anabranch_`, so it clashes with no other symbol.
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
