//! Streams and what is outside of them: items that other threads send, and results that others take.

#[cfg(feature = "futures")]
mod asynchronous;
mod channel;
mod detached;
mod iter;
mod mailbox;
mod offload;
pub mod posts;
pub mod prelude;
pub(crate) mod reader;
mod results;
#[cfg(feature = "tokio")]
mod runtime;
mod select;

#[cfg(feature = "futures")]
pub use asynchronous::AsyncItems;
pub(crate) use channel::{Channel, channel};
pub use channel::{SendError, Sender, TrySendError};
pub use iter::Items;
pub use offload::Offload;
