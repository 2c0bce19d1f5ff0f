//! The state of a run that its threads share: what it has been told, why it stops, and what waits for room.

pub(crate) mod blocks;
pub(crate) mod failure;
pub(crate) mod gate;
pub(crate) mod progress;
pub(crate) mod room;
pub(crate) mod run;
pub(crate) mod site;
pub(crate) mod span;
pub(crate) mod supply;
pub(crate) mod weight;
