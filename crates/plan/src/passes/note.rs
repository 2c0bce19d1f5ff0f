//! The passes by name, and what they say of their changes.

use crate::NodeId;
use std::fmt;

/// One of the passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Pass {
    /// [`fuse_serial_neighbours`](super::fuse_serial_neighbours).
    Fuse,
    /// [`choose_replicas`](super::choose_replicas).
    Replicas,
    /// [`choose_window`](super::choose_window).
    Window,
    /// [`choose_burst`](super::choose_burst).
    Burst,
}

impl Pass {
    /// All passes, in the order in which [`Passes::apply`](super::Passes::apply) runs them.
    pub const ALL: [Pass; 4] = [Pass::Fuse, Pass::Replicas, Pass::Window, Pass::Burst];

    /// The name, such as `fuse`.
    pub fn name(self) -> &'static str {
        match self {
            Pass::Fuse => "fuse",
            Pass::Replicas => "replicas",
            Pass::Window => "window",
            Pass::Burst => "burst",
        }
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One change that a pass has made to a plan, and the reason. Its [`Display`](fmt::Display) prints `pass:
/// text`. With the feature `json`, it implements `serde::Serialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Note {
    /// The pass.
    pub pass: Pass,
    /// The node that was changed. If there are several, the first.
    pub node: NodeId,
    /// A sentence without a full stop.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pass, self.text)
    }
}
