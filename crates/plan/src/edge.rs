//! Edges: the items that pass from one node to another, and the way in which they pass.

use crate::{Burst, ItemType, NodeId};

/// Items of one type that pass from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Edge {
    /// The node that gives the items.
    pub from: NodeId,
    /// The node that takes the items.
    pub to: NodeId,
    /// The type of the items.
    pub item: ItemType,
    /// How the items get from one node to the other.
    pub kind: EdgeKind,
}

/// How items get from one node to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum EdgeKind {
    /// Inside a unit: by a plain call on the same thread. Nothing is stored.
    Call,
    /// Between two units: through slots, so another thread may continue with the item.
    Lane {
        /// The least number of slots. At least 1.
        window: usize,
        /// How many items one synchronisation hands over.
        burst: Burst,
    },
    /// Back to an earlier node: items that go round again in a feedback.
    Back {
        /// The smallest distance, in indices, between the index at which an item leaves and the index at which it
        /// enters again. At least 1.
        places: usize,
    },
}

impl EdgeKind {
    /// Whether items are stored in slots and may change threads.
    pub fn is_lane(self) -> bool {
        matches!(self, EdgeKind::Lane { .. })
    }
}

/// Whether a text leaves a number out.
#[cfg(feature = "json")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(number: &usize) -> bool {
    *number == 0
}
