//! The stream builder.

#[cfg(feature = "futures")]
pub use asynchronous::AsyncItems;
pub(crate) use lower::unit_names;

#[cfg(feature = "futures")]
mod asynchronous;
mod choose;
mod ends;
mod iter;
mod lower;
mod parallel;
mod serial;
mod settings;
mod sharded;
mod sources;

use std::marker::PhantomData;

use anabranch_plan::{ItemType, Node};

use crate::engine::{NodeSpec, Tail};
use crate::flow::{Mode, Sure};
use crate::settings::Settings;
use crate::unit::Unit;

/// A streaming loop in the making: a source, stages, and settings. Its *ends* run it.
///
/// Stages that say `serial` run for one item at a time, in order, and may change what they capture; all
/// others run for several items at once. Whatever runs where, the end sees what the plain loop would have
/// given: the same items in the same order, and the same first error.
///
/// Where an item is less than a microsecond of work, let parallel closures own (`move`) what they read: a variable on
/// the stack beside one that a serial stage changes is fetched anew after each change.
///
/// ```
/// use anabranch::Stream;
///
/// let mut seen = 0;
/// let squares: Vec<u64> = Stream::from_iter(1..=1_000u64)
///     .map(|n| n * n)            // on all cores
///     .serial(|n| { seen += 1; n }) // one after the other, in order
///     .filter(|n| n % 2 == 0)    // on all cores again
///     .collect();
/// assert_eq!(seen, 1_000);
/// assert_eq!(squares[..3], [4, 16, 36]);
/// ```
#[must_use = "a stream does nothing before its end"]
pub struct Stream<'env, U: Unit, M: Mode = Sure> {
    tail: Tail<'env, U, M::Error>,
    nodes: Vec<Described>,
    settings: Settings<'env>,
    mode: PhantomData<fn() -> M>,
}

impl<U: Unit, M: Mode> std::fmt::Debug for Stream<'_, U, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stages: Vec<&str> = self.nodes.iter().map(|node| &*node.node.name).collect();
        f.debug_struct("Stream").field("stages", &stages).field("settings", &self.settings).finish()
    }
}

/// A stage as the plan and the executors will see it.
#[derive(Debug, Clone)]
struct Described {
    node: Node,
    /// What it takes; nothing for the source.
    takes: Option<ItemType>,
    /// Whether it is part of the unit of the node before.
    composes: bool,
    /// Whether a domain begins with it.
    opens_domain: bool,
    spec: NodeSpec,
}

impl Described {
    fn new<T>(node: Node) -> Self {
        Self {
            node,
            takes: Some(ItemType::of::<T>()),
            composes: false,
            opens_domain: false,
            spec: NodeSpec::default(),
        }
    }
}
