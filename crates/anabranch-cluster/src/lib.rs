//! Runs stages of a stream on workers on other machines. A [NATS](https://nats.io) server carries the items.
//!
//! ```
//! use anabranch::Stream;
//! use anabranch_cluster::{Cluster, Functions, Named, RemoteError, prelude::*};
//!
//! /// A function that may run elsewhere: its name, and the types of its items, its results and its errors.
//! pub const PARSE: Named<String, u32, String> = Named::new("parse");
//!
//! /// Programs and workers are built with the same functions.
//! pub fn functions() -> Functions {
//!     Functions::new("numerals", env!("CARGO_PKG_VERSION"))
//!         .function(PARSE, |text| text.parse().map_err(|error: std::num::ParseIntError| error.to_string()))
//! }
//!
//! // `ANABRANCH_CLUSTER=nats://build:4222` names the server. Without it, the functions run here.
//! let cluster = Cluster::from_env()?;
//! let parse = cluster.function(&functions(), PARSE)?;
//!
//! let mut seen = Vec::new();
//! let run = Stream::from_iter(["4", "22", "x", "7"].map(str::to_owned))
//!     .map_remote(&parse)
//!     .for_each(|number| seen.push(number));
//! assert_eq!(seen, [4, 22]);
//! assert_eq!(run, Err(RemoteError::Own("invalid digit found in string".to_owned())));
//! # Ok::<(), anabranch_cluster::Error>(())
//! ```
//!
//! A [`Worker`] is a process with the same functions. Any number of them, on any machines, serve a program, and come and go at any
//! time. The server keeps the queue, gives batches of items to the workers that ask, and gives them again if a worker is lost; that is
//! [JetStream](https://docs.nats.io/nats-concepts/jetstream). The stream keeps the order, the window and the first failure. The
//! chapter "From one machine to ten" of the guide leads there in five steps.
//!
//! # What it promises
//!
//! - **The same as the loop**: the results in the order of the items, and the failure of the first item that fails: its own error,
//!   typed, or its panic, with its message. A program runs here, without a server, with the same results: [`Cluster::local`].
//! - **A lost worker loses nothing.** If a worker is killed or stopped, or its link is cut, its items go to others when its lease has
//!   ended, which is renewed while they compute. The server may be killed and started again. An item is computed once or more, and its
//!   result is delivered once.
//! - **An item that ends its workers is found.** From the first loss on it runs alone in its worker, and the third is the error
//!   [`RemoteError::Lost`], which has its number.
//! - **Never silent**: a run ends with the loop's result, or with an error that says what is wrong and what to do. A server that is
//!   away, stands still, has no room or refuses something is an [`Event`] at once, and the run goes on by itself when it is over.
//! - **Slow lines**: nothing is sent again that may still be under way, and beats wait for no body.
//! - **Bounded**: items under way are no more than the [window](anabranch::Stream::window) of the stream, and the server has no more
//!   than the workers may soon ask for. Large bodies pass it in parts of at most 1 MiB.
//! - **Prompt stops**: items of a stream that has ended are not computed, except those that a thread has.
//! - **Refused, with both sides named**: workers of another version or with other functions, types that do not travel, bodies over the
//!   limit, a server without JetStream, wrong credentials, users who may not do what is needed.
//!
//! # What it says
//!
//! Unlike other libraries, this one writes to standard error. A worker says once what it serves and where. A program or a worker that
//! has waited for 5 s for a worker, a server or room in its store says so in one line, and says in another one when it goes on.
//! [`ClusterOptions::on_event`] gets these and other events in place of the lines, and [`ClusterOptions::quiet`] turns them off.
//!
//! # What it does not promise
//!
//! An item may be computed twice, so a function must not mind. A stream keeps its items until their results have come, so it loses
//! them with its process; a [`Journal`] lets a program that is started again go on behind the results that its sink has stored. Items
//! that are computed faster than they travel are slower here than in one process; [`CallReport::advice`] says so. A [`Worker`] must
//! trust everybody whom the server lets in.
//!
//! # Features
//!
//! - `tls`: TLS, credentials files and nkeys. Without it, a user and a password or a token are the credentials.
#![forbid(unsafe_code)]

mod address;
mod cluster;
mod code;
mod error;
mod events;
mod function;
mod functions;
mod identity;
mod journal;
mod link;
mod options;
pub mod prelude;
mod program;
mod report;
mod wire;
mod worker;

pub use cluster::Cluster;
pub use error::{ADDRESS, Error, RemoteError};
pub use events::Event;
pub use function::Function;
pub use functions::{Functions, Named};
pub use journal::Journal;
pub use options::ClusterOptions;
pub use report::{CallReport, WorkerReport};
pub use worker::Worker;
