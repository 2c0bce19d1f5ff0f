//! The operators: one file or one folder each.

pub(crate) mod branches;
mod chunks;
mod dependent;
mod farm;
mod feedback;
#[cfg(feature = "futures")]
mod futures;
mod in_order;
mod operator;
mod parallel;
mod ready;
mod route;
mod serial;
mod shards;
mod sorted;
mod spread;
mod take;
mod throttle;
pub(crate) mod windows;
mod zip;

pub use branches::{Branches, Broadcast, Split};
pub use dependent::Unmet;
pub use feedback::Lap;
pub use operator::{Operator, Results};
pub use route::{ByKey, InTurn, Route};
pub use shards::Shards;
pub(crate) use shards::with_states;
pub use windows::{CountWindows, KeyedWindow, OnLate, SessionWindows, TimeWindows, Window, Windows};
