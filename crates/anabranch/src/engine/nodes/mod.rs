//! The parts of nodes, whatever these do: the code of stages ([`op`]), steps that take cells through it ([`step`]), the cells
//! that come ([`input`]), and batons around steps ([`serving`], [`head`]).

pub(crate) mod claims;
pub(crate) mod end;
pub(crate) mod head;
pub(crate) mod input;
pub(crate) mod node;
pub(crate) mod op;
pub(crate) mod pull;
pub(crate) mod quantum;
pub(crate) mod serving;
pub(crate) mod step;
pub(crate) mod stopwatch;
pub(crate) mod timed;
