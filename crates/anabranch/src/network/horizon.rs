//! The horizon of a record: how many items it may hold.

/// How many items a record of a [`Network`](super::Network) may hold. Items count from the time when a writer
/// reserves their slots until they are released. A horizon is made from a number, or by [`Horizon::of`].
///
/// ```
/// use anabranch::network::{Horizon, Network};
///
/// let mut net = Network::<String>::new();
/// let (_give, _take) = net.record::<f32>(64);
/// // 8 items, and up to 1,024 if that is needed to avoid a deadlock
/// let (_give, _take) = net.record::<f32>(Horizon::of(8).grow_to(1_024).named("samples"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Horizon {
    pub(super) items: usize,
    pub(super) most: usize,
    pub(super) name: Option<String>,
    /// The stage in front of which the items wait, if this is not a record of the user.
    pub(super) stage: Option<String>,
}

impl Horizon {
    /// The numbers of items that a record may hold.
    pub(super) const POSSIBLE: std::ops::RangeInclusive<usize> = 1..=1 << 32;

    /// A horizon of `items` items, from 1 to 2^32.
    pub fn of(items: usize) -> Self {
        Self { items, most: items, name: None, stage: None }
    }

    /// Lets the record grow up to `most` items. Records grow only when no process can go on otherwise; then
    /// the smallest full record grows (T. Parks, *Bounded Scheduling of Process Networks*, 1995, section
    /// 4.2).
    #[must_use]
    pub fn grow_to(mut self, most: usize) -> Self {
        self.most = most.max(self.items);
        self
    }

    /// Says that the items wait in front of a stage.
    pub(super) fn of_stage(self, stage: &str) -> Self {
        Self { stage: Some(stage.into()), ..self }
    }

    /// Names the record, for messages and graphs.
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
