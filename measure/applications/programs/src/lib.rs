//! The applications of the benchmark suite: their data, their stages, and the sequential program.
//!
//! Every variant of an application calls the same stages on the same data and writes to the same [`Output`], so
//! variants differ only in how they run the stages. This crate runs nothing in parallel. It takes the stages of
//! [`radio`] from the crate `dsp`, without that crate's networks. The suite and its rivals, which are programs of
//! their own, both use it, and both answer questions by [`serve()`].
//!
//! The data are generated and small, so that a run needs no network and no files. If the variable `SUITE_DATA` of the
//! environment names a folder that `measure/applications/data.sh` has filled, some applications take real data of the same size instead.
#![forbid(unsafe_code)]

pub mod bunzip2;
pub mod bzip2;
pub mod contract;
mod data;
pub mod dedup;
pub mod experiments;
pub mod eyes;
pub mod farm;
pub mod fastq;
pub mod files;
pub mod gzip;
pub mod images;
pub mod lanes;
pub mod log;
pub mod lunzip;
pub mod lzip;
pub mod matmul;
pub mod micro;
pub mod order;
mod output;
mod packed;
mod picture;
mod probe;
mod program;
pub mod radio;
mod random;
mod serve;
pub mod similarity;
pub mod sink;
mod used;
pub mod words;
mod workload;

pub use data::{Data, GENERATED, PICTURES, PIXELS, VARIABLE};
pub use output::Output;
pub use picture::Picture;
pub use probe::{Probe, Stage};
pub use program::{Prepared, Program, observed, sequential};
pub use serve::serve;
pub use workload::{APPLICATIONS, About, Scale, Workload};
