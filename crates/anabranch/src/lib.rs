//! (under construction)
#![forbid(unsafe_code)]

mod cancel;
mod engine;
mod flow;
mod progress;
mod report;
mod serial;
mod settings;
mod shape;
mod stream;
mod unit;

pub use cancel::{CancelToken, Stopped};
pub use progress::Progress;
pub use report::{NodeReport, Report};
pub use settings::default_workers;
pub use stream::Stream;
