//! Signal programs as process networks.
//!
//! Each program is a module with a library function, a sequential form, and a network of the same stages. Its `command`
//! module is the command line. The network gives the same bytes as the sequential form, or documents its tolerance.
//!
//! | module | program |
//! |---|---|
//! | [`fft`] | Fourier transforms of blocks of complex samples |
//! | [`wifi`] | a modem for 802.11a |
//! | [`fmradio`] | a receiver of FM radio |
//! | [`jpeg`] | a decoder for JPEG |
//! | [`kernels`] | five kernels of the StreamIt benchmarks |
//!
//! The programs share the other modules. [`Input`] and [`Output`] are files and pipes. [`Error`] states the file, the
//! offset and what to do. [`Run`] determines how a program runs, and [`Meters`] measure its stages. [`staged`] and
//! [`by_frame`] offer the stages and the frames of programs to other schedulers. [`inputs`] makes signals and recordings.
#![forbid(unsafe_code)]

pub mod by_frame;
pub mod command;
mod error;
pub mod fft;
mod filter;
pub mod fmradio;
mod input;
pub mod inputs;
pub mod jpeg;
pub mod kernels;
mod meters;
mod output;
mod run;
mod slices;
pub mod staged;
pub mod wifi;

pub use error::{Error, Result};
pub use input::{Input, Progress};
pub use meters::{Meter, Meters, StageReport};
pub use output::Output;
pub use run::{Executor, Explain, Run};
