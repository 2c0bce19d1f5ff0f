//! The operators: one file or one folder each.

mod adapters;
pub(crate) mod branches;
mod clocked;
mod farm;
mod feedback;
mod needing;
mod order;
mod parallel;
mod serial;
mod shards;
mod spread;
pub(crate) mod windows;

pub use branches::{Branches, Broadcast, Split};
pub use feedback::Lap;
pub use needing::Unmet;
pub(crate) use shards::with_states;
pub use shards::{ByKey, Chosen, Dealt, Route, Shards};
pub use windows::{CountWindows, KeyedWindow, OnLate, SessionWindows, TimeWindows, Window, Windows};
