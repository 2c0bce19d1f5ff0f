//! Records between two nodes, and their rates.

use anabranch_plan::drawing::item_text;

use super::{ItemType, NodeId};

/// A record between two firing rules, or the way of a firing rule to a record that is a [node](super::Record).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Edge {
    /// The node that gives the items.
    pub from: NodeId,
    /// The node that takes the items.
    pub to: NodeId,
    /// The type of the items.
    pub item: ItemType,
    /// The rates.
    pub flow: Flow,
    /// The name of the record in messages. `None` for a record without a name.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub name: Option<String>,
}

impl Edge {
    /// `Block, 24 B`, or the name of the record and the size.
    pub(super) fn text(&self) -> String {
        let name = self.name.clone().map_or(self.item.name.clone(), Into::into);
        item_text(&ItemType { name, size: self.item.size })
    }
}

/// The rates of a record between two firing rules. If one end of the edge is a record that is a node, the edge has no rate at
/// that end, and the node has the delay and the horizon.
///
/// ```
/// use anabranch_network::plan::Flow;
///
/// // writes 3 items in each firing; the reader consumes 2, and sees 4; 1 item is there from the start
/// let flow = Flow::of(3, 2).peeks(4).delay(1);
/// assert_eq!((flow.produces, flow.consumes, flow.sees(), flow.delay), (3, 2, 4, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Flow {
    /// How many items a firing of the writing rule writes. At least 1.
    pub produces: usize,
    /// How many items a firing of the reading rule consumes. At least 1.
    pub consumes: usize,
    /// How many items a firing of the reading rule sees. If this is less than `consumes`, it sees those that
    /// it consumes.
    #[cfg_attr(feature = "json", serde(default))]
    pub peeks: usize,
    /// How many items are there from the start.
    #[cfg_attr(feature = "json", serde(default))]
    pub delay: usize,
    /// How many items the record may hold. `None` if this is chosen when the network is built.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub horizon: Option<usize>,
    /// How many items the record may hold if it has to grow to avoid a deadlock. If this is less than `horizon`, it does not grow.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "is_zero"))]
    pub grows_to: usize,
    /// How many indices in a row are dealt to the rule, if several rules take turns with the items. `None` if it gets all of
    /// them.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub range: Option<usize>,
}

impl Flow {
    /// A record whose writer writes `produces` items in each firing, and whose reader consumes `consumes`.
    pub const fn of(produces: usize, consumes: usize) -> Self {
        Flow { produces, consumes, peeks: 0, delay: 0, horizon: None, grows_to: 0, range: None }
    }

    /// Lets the reader see `items` items in each firing.
    #[must_use]
    pub const fn peeks(self, items: usize) -> Self {
        Flow { peeks: items, ..self }
    }

    /// Puts `items` items into the record from the start.
    #[must_use]
    pub const fn delay(self, items: usize) -> Self {
        Flow { delay: items, ..self }
    }

    /// Sets how many items the record may hold.
    #[must_use]
    pub const fn horizon(self, items: usize) -> Self {
        Flow { horizon: Some(items), ..self }
    }

    /// Lets the record grow up to `items` items to avoid a deadlock.
    #[must_use]
    pub const fn grow_to(self, items: usize) -> Self {
        Flow { grows_to: items, ..self }
    }

    /// The most items that the record may ever hold. `None` if this is chosen when the network is built.
    pub fn most(&self) -> Option<usize> {
        self.horizon.map(|items| items.max(self.grows_to))
    }

    /// How many items a firing of the reading rule sees, and so needs.
    pub fn sees(&self) -> usize {
        self.peeks.max(self.consumes)
    }
}

/// Whether a text leaves a number out.
#[cfg(feature = "json")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
