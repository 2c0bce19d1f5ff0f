//! What builds a line: an [`assembly`](assembly::Assembly) makes it from a plan and from the code beside it, which is a chain of
//! [`Upstream`](upstream::Upstream)s.

pub(crate) mod assembly;
pub(crate) mod consumer;
mod edges;
pub(crate) mod line;
pub(crate) mod upstream;
