//! Edges: what passes from node to node, and how.

use crate::{Burst, ItemType, NodeId};

/// Items of one type that pass from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Edge {
    /// The node that gives them.
    pub from: NodeId,
    /// The node that takes them.
    pub to: NodeId,
    /// What they are.
    pub item: ItemType,
    /// How they get there.
    pub kind: EdgeKind,
}

/// How items get from one node to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum EdgeKind {
    /// Inside a unit: a plain call on the same thread, nothing is stored.
    Call,
    /// Between two units: through slots, so that another thread may go on with the item.
    Lane {
        /// How many slots there are at least. At least 1.
        window: usize,
        /// How many items one synchronisation hands over.
        burst: Burst,
    },
}

impl EdgeKind {
    /// Whether items are stored in slots and may change threads.
    pub fn is_lane(self) -> bool {
        matches!(self, EdgeKind::Lane { .. })
    }
}
