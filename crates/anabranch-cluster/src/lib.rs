//! Runs stages of a stream on workers on other machines. A [NATS](https://nats.io) server carries the items.
//!
//! ```
//! use anabranch::Stream;
//! use anabranch_cluster::{Cluster, Functions, RemoteError, prelude::*};
//!
//! /// The functions that may run elsewhere. Programs and workers are built with them.
//! pub fn functions() -> Functions {
//!     Functions::new("numerals", env!("CARGO_PKG_VERSION"))
//!         .function("parse", |text: String| text.parse::<u32>().map_err(|error| error.to_string()))
//! }
//!
//! // `ANABRANCH_CLUSTER=nats://build:4222` names the server. Without it, the functions run here.
//! let cluster = Cluster::from_env()?;
//! let parse = cluster.function::<String, u32, String>(&functions(), "parse")?;
//!
//! let mut seen = Vec::new();
//! let run = Stream::from_iter(["4", "22", "x", "7"].map(str::to_owned))
//!     .map_remote(&parse)
//!     .for_each(|number| seen.push(number));
//! assert_eq!(seen, [4, 22]);
//! assert_eq!(run, Err(RemoteError::Own("invalid digit found in string".to_owned())));
//! # Ok::<(), anabranch_cluster::Error>(())
//! ```
#![forbid(unsafe_code)]

mod cluster;
mod error;
mod function;
mod functions;
mod journal;
mod options;
pub mod prelude;
mod program;
mod report;
mod wire;
mod worker;

pub use cluster::{ADDRESS, Cluster};
pub use error::{Error, RemoteError};
pub use function::Function;
pub use functions::Functions;
pub use journal::Journal;
pub use options::{ClusterOptions, Event};
pub use report::{CallReport, WorkerReport};
pub use worker::Worker;
