//! Older formats that are read as gzip reads them, and not written: files of `pack` and of `compress -H`, streams of
//! zlib, and archives of `zip` with one file.
//!
//! A file is one stream, which is decoded on one thread by a [`Serial`](crate::parts::Serial) decoder:
//! [`pack::Decoder`], [`lzh::Decoder`], [`zip::Decoder`] or [`zlib::Decoder`].

mod error;
mod held;
pub mod lzh;
pub mod pack;
#[cfg(feature = "gzip")]
mod steps;
#[cfg(feature = "gzip")]
pub mod zip;
#[cfg(feature = "gzip")]
pub mod zlib;

pub use error::{DecodeError, Fault};
