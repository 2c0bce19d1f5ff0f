//! (under construction)
#![forbid(unsafe_code)]

mod affinity;
mod cancel;
mod engine;
mod flow;
mod pool;
mod progress;
mod report;
mod serial;
mod settings;
mod shape;
mod stream;
mod unit;
mod workers;

pub use cancel::{CancelToken, Stopped};
pub use pool::Pool;
pub use progress::Progress;
pub use report::{NodeReport, Report};
pub use settings::default_workers;
pub use stream::Stream;
pub use workers::Workers;
