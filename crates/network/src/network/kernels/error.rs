//! The errors of kernels, and of building a network from a plan.

use std::fmt;

use crate::plan::PlanError;

/// The reason why a kernel cannot be made with the parameters of a node. A text becomes one with `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelError(pub(super) String);

impl<T: Into<String>> From<T> for KernelError {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The reason why a plan cannot be built. The message names the node or the edge, and says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The plan is not valid.
    Plan(PlanError),
    /// A node or an edge does not fit the kernels. The text says which one, and why.
    Kernel(String),
}

impl From<PlanError> for BuildError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Kernel(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for BuildError {}
