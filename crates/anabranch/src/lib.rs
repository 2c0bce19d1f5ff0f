//! (under construction)
#![forbid(unsafe_code)]

mod engine;
mod flow;
mod report;
mod serial;
mod settings;
mod shape;
mod stream;
mod unit;

pub use report::Report;
pub use settings::default_workers;
pub use stream::Stream;
