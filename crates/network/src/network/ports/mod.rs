//! The ports of a firing rule: its views with their rates. A rule has one port, or a tuple or vector of
//! ports.

mod groups;
mod input;
mod output;

pub use input::{Input, Window};
pub use output::{Fill, Output};

use anabranch_record::sync::Arc;

use super::{
    process::Process,
    queue::RuleLink,
    records::{RecordInfo, Side, Wait},
};

/// Whether a group of ports allows a firing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Every input has its items, and every output has room.
    Ready,
    /// The port with this number has to wait.
    Waits(usize),
    /// An input will never have enough items, so the rule has ended.
    Ended,
    /// There are no ports, or all of them are outputs without a reader. Items that are written there are dropped.
    Unread,
}

/// A description of a port before the run.
#[derive(Debug, Clone)]
pub struct PortInfo {
    pub(super) record: Arc<RecordInfo>,
    pub(super) side: Side,
    /// How many items a firing consumes or produces.
    pub(super) rate: usize,
    /// How many items or free slots a firing needs.
    pub(super) needs: usize,
    /// The length of the ranges that are dealt to the port. `None` if it is the only view on its side.
    pub(super) range: Option<usize>,
}

/// The interface of a rule's ports for the network.
mod sealed {
    use super::*;

    pub trait ViewControl {
        /// How many ports there are.
        fn count(&self) -> usize;
        fn readiness(&mut self) -> Readiness;
        /// Announces that a port waits, so that the record calls its hook.
        fn announce(&mut self, port: usize);
        /// Takes the announcement of a port back.
        fn withdraw(&mut self, port: usize);
        /// The items or the room that a port waits for.
        fn wait(&self, port: usize) -> Option<Wait>;
        /// Appends a description of each port.
        fn describe(&self, into: &mut Vec<PortInfo>);
        /// Makes the ports belong to a rule.
        fn attach(&mut self, process: &Process, link: &Arc<RuleLink>);
        /// Says that one thread alone runs the rules at both ends of every record for which `is_inner` is
        /// true.
        fn set_alone(&mut self, is_inner: &dyn Fn(&RecordInfo) -> bool);
        /// Notes on `process`, whose rule ends, which records are closed on the other side.
        fn notice(&self, process: &Process);
    }
}

pub(super) use sealed::ViewControl;

/// The inputs or outputs of a firing rule: `()`, an [`Input`] or [`Output`], or a tuple or vector of these.
pub trait Ports: ViewControl {
    /// The items or slots that a firing gets: a [`Window`] for each input, a [`Fill`] for each output.
    type Bursts<'a>
    where
        Self: 'a;

    #[doc(hidden)]
    fn open(&mut self) -> Self::Bursts<'_>;

    /// Releases the consumed items, or commits the produced ones, after the firing.
    #[doc(hidden)]
    fn close(bursts: Self::Bursts<'_>) -> Result<(), String>;
}

impl Readiness {
    /// The readiness of two groups of ports together. The first port of the second group has the number
    /// `port`. An output without a reader counts only if all are like this: the items that the others get must
    /// not depend on when a reader closes.
    #[inline]
    pub(super) fn and(self, other: Self, port: usize) -> Self {
        match (self, other) {
            (Readiness::Ended, _) | (_, Readiness::Ended) => Readiness::Ended,
            (Readiness::Waits(first), _) => Readiness::Waits(first),
            (Readiness::Unread | Readiness::Ready, Readiness::Waits(second)) => {
                Readiness::Waits(port + second)
            }
            (Readiness::Unread, Readiness::Unread) => Readiness::Unread,
            (Readiness::Ready, _) | (_, Readiness::Ready) => Readiness::Ready,
        }
    }
}
