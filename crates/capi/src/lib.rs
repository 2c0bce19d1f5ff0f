//! Anabranch for C and C++. The headers `include/anabranch.h` and `include/anabranch.hpp` are the
//! documentation for users.
//!
//! The package builds a static and a shared library, which are called `anabranch_c` in the target folder.
//! `cargo run --release -p capi -- install --prefix DIR` installs them as `libanabranch`, with their headers,
//! a CMake package and a `pkg-config` file.
//!
//! - `border` turns pointers and functions of C into values and calls of safe Rust.
//! - `line` describes a stream, as C has built it.
//! - `run` makes a stream of the builder from a line.
//! - `region` runs such a stream next to a loop that sends its items. It uses `runner`.
#![deny(unsafe_code)]

mod border;
pub mod install;
mod line;
mod region;
mod run;
mod runners;
