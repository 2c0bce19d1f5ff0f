//! Anabranch for C and C++: `include/anabranch.h` and `include/anabranch.hpp` are the documentation.
//!
//! The package builds a static and a shared library (`anabranch_c` in the target folder; installed, they are called
//! `libanabranch`), and `cargo run --release -p capi -- install --prefix DIR` installs them with their headers, a CMake
//! package and a `pkg-config` file.
//!
//! `border` turns pointers and functions of C into values and calls of safe Rust; `line` is a stream as C described it;
//! `run` makes a stream of the builder of it; `region` runs it beside a loop that sends items, with `inbox` and `crew`.
#![deny(unsafe_code)]

mod border;
mod crew;
mod inbox;
pub mod install;
mod line;
mod region;
mod run;
