//! The passes by name, and what they say of their changes.

use crate::{NodeId, Plan};
use std::fmt;

/// One of the passes over streams and networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Pass {
    /// For networks: makes copies of a rule without state that takes more of an iteration than its share. The copies take
    /// turns with ranges of its items, so the order stays.
    Fission,
    /// For streams: [`fuse_serial_neighbours`](super::fuse_serial_neighbours). For networks: joins neighbouring rules into a unit
    /// that one worker fires by turns, so that they need not be handed from queue to queue.
    Fuse,
    /// For streams: [`choose_replicas`](super::choose_replicas).
    Replicas,
    /// For streams: [`choose_window`](super::choose_window).
    Window,
    /// For streams: [`choose_burst`](super::choose_burst). For networks: chooses how many times in a row a rule fires, so that
    /// handing the rule on costs 0.3 % of the turn, but at most 256 times. With the
    /// [measured](crate::Overhead::MEASURED) overhead this is 10 µs of work.
    Burst,
    /// For networks: shortens the turns of units of several rules until the records between them fit into the cache of a core
    /// (strip-mining).
    Strip,
    /// For networks: chooses the smallest horizons with which the predicted throughput is at least 95 % of that with ample
    /// ones (S. Stuijk and others, *Exploring Trade-Offs in Buffer Requirements and Throughput Constraints for
    /// Synchronous Dataflow Graphs*, 2006).
    Horizon,
    /// For networks: places rules that exchange many items on cores that hand them over quickly, with about the same work for
    /// each core. It needs to know the [`Cores`](crate::network::Cores), and does nothing if they are
    /// [alike](crate::network::Cores::are_alike).
    Place,
}

impl Pass {
    /// All passes, in the order in which [`Passes::apply`](super::Passes::apply) runs them.
    pub const ALL: [Pass; 8] = [
        Pass::Fission,
        Pass::Fuse,
        Pass::Replicas,
        Pass::Window,
        Pass::Burst,
        Pass::Strip,
        Pass::Horizon,
        Pass::Place,
    ];

    /// Whether it is a pass for this plan: some are for streams only, and some for networks only.
    pub fn is_for(self, plan: &Plan) -> bool {
        match self {
            Pass::Fuse | Pass::Burst => true,
            Pass::Replicas | Pass::Window => !plan.is_network(),
            Pass::Fission | Pass::Strip | Pass::Horizon | Pass::Place => plan.is_network(),
        }
    }

    /// The name, such as `fuse`.
    pub fn name(self) -> &'static str {
        match self {
            Pass::Fission => "fission",
            Pass::Fuse => "fuse",
            Pass::Replicas => "replicas",
            Pass::Window => "window",
            Pass::Burst => "burst",
            Pass::Strip => "strip",
            Pass::Horizon => "horizon",
            Pass::Place => "place",
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
    /// The node that was changed. If there are several, the first. For a horizon, the rule that writes.
    pub node: NodeId,
    /// A sentence without a full stop.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pass, self.text)
    }
}
