//! The walk along a line: workers, and the threads on which they run.

pub(crate) mod affinity;
pub(crate) mod detached;
pub(crate) mod threads;
pub(crate) mod worker;
