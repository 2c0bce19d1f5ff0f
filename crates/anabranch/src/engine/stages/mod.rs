//! The kinds of nodes, and how each becomes part of a line. Operators with nodes of their own are in `operators/`.

pub(crate) mod sink;
pub(crate) mod source;
pub(crate) mod spread;
pub(crate) mod stage;
pub(crate) mod unit;
