//! The needs of a stage that concern the whole pipeline.

/// A need of a stage that concerns the whole pipeline.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// How many workers may be inside at once. All of them may be waiting.
    pub(super) workers: usize,
    pub(super) order: Order,
}

/// The order in which a stage takes its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The stage is parallel and has no order.
    Parallel,
    /// The stage takes items one at a time, in any order.
    Any,
    /// The stage takes items one at a time, in the order of the posts.
    Posts,
}
