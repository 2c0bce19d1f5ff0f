//! How many items a record holds.

/// How many items a record of a [`Network`](super::Network) may hold: those that were committed and not yet
/// released, and those that a writer has reserved. Made of a number, or by [`Horizon::of`].
///
/// ```
/// use anabranch::network::{Horizon, Network};
///
/// let mut net = Network::<String>::new();
/// let (_give, _take) = net.record::<f32>(64);
/// // 8 items, and up to 1,024 if the network would stand still otherwise
/// let (_give, _take) = net.record::<f32>(Horizon::of(8).grow_to(1_024).named("samples"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Horizon {
    pub(super) items: usize,
    pub(super) most: usize,
    pub(super) name: Option<String>,
}

impl Horizon {
    /// `items` items, at least 1 and at most 2^32.
    pub fn of(items: usize) -> Self {
        Self { items, most: items, name: None }
    }

    /// Lets the record grow up to `most` items. It grows only when no process can go on otherwise, and then the
    /// smallest full record does (T. Parks, *Bounded Scheduling of Process Networks*, 1995, section 4.2).
    #[must_use]
    pub fn grow_to(mut self, most: usize) -> Self {
        self.most = most.max(self.items);
        self
    }

    /// Names the record, for messages and drawings.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl From<usize> for Horizon {
    fn from(items: usize) -> Self {
        Self::of(items)
    }
}
