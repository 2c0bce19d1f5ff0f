//! The tests of this crate's public interface. All of them are one program, which is linked once.

mod bzip2;
mod damage;
mod flushed;
mod guess;
mod inflate;
mod interop;
mod legacy;
mod lzh;
mod lzip;
mod lzw;
mod marks;
mod mutation;
mod pieces;
mod round_trip;
mod support;
mod xz;
mod zstd;
