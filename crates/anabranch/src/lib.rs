//! (under construction)
#![forbid(unsafe_code)]

mod affinity;
mod cancel;
mod channel;
mod engine;
mod flow;
mod iter;
mod monitor;
mod offload;
mod pool;
mod progress;
mod recycler;
mod report;
mod serial;
mod settings;
mod shape;
mod stream;
mod unit;
mod workers;

pub use anabranch_plan::{self as plan, Plan};
pub use cancel::{CancelToken, Stopped};
pub use channel::{Closed, Post, TryPostError};
pub use flow::{Admit, Flow, Halt, May, Mode, Reported, Sure};
pub use iter::{Items, ScopedItems};
pub use monitor::{Monitor, NodeSnapshot, Snapshot};
pub use offload::Offload;
pub use pool::Pool;
pub use progress::Progress;
pub use recycler::{Recycled, Recycler};
pub use report::{NodeReport, Report};
pub use settings::default_workers;
pub use stream::Stream;
pub use unit::{Apply, Unit};
pub use workers::Workers;
