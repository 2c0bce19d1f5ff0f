//! Handles that hold a run from outside, or lend it something.

mod cancel;
mod monitor;
mod pool;
mod recycler;
mod retry;
#[cfg(feature = "futures")]
mod runtime;
mod time_limit;
pub(crate) mod waiter;
mod watch;
mod workers;

pub use cancel::{CancelToken, Stopped};
pub(crate) use monitor::MonitorThread;
pub use monitor::{Monitor, NodeSnapshot, Snapshot};
pub use pool::{Pool, PoolShare};
pub use recycler::{Recycled, Recycler};
pub use retry::Retry;
#[cfg(feature = "futures")]
pub(crate) use runtime::Runtime;
pub use time_limit::{TimeLimit, TimedOut};
pub use watch::Watch;
pub(crate) use watch::Watcher;
pub(crate) use workers::Count;
pub use workers::{WorkerCount, Workers};
