//! Builds lines. An [`Assembly`](assembly::Assembly) makes a line from a plan and from the code beside it. The code is a chain of
//! [`Upstream`](upstream::Upstream)s.

pub(crate) mod assembly;
pub(crate) mod consumer;
mod edges;
pub(crate) mod line;
pub(crate) mod upstream;
