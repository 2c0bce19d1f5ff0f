//! How long items are in the stream.

use std::time::Duration;

use anabranch_plan::{Node, Plan};

use crate::measures::{Latencies, Measures};

/// How long items were in one domain of the plan.
///
/// The time of an item begins when the node that opens the domain has given it, and ends when the item has
/// left the domain. A part of the items is measured, evenly spread over the run. The times are accurate to 3
/// %.
///
/// A stream with one domain has one latency, from the source to the end. `serial_flat_map`, `spread`, and
/// parallel stages after `unordered` open a new domain. An item leaves the domain before it when everything
/// that was made of it is handed on, and what was made of it is measured in the new domain. Several latencies
/// cannot be added, since the domains overlap in time.
///
/// An item that a filter has dropped counts until the end has passed its index.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Latency {
    /// The name of the node that opens the domain. After `unordered` this is a parallel stage, and the time
    /// begins at its end.
    pub from: String,
    /// The name of the node at which the domain ends.
    pub to: String,
    /// The median: half of the items took at most this long.
    pub p50: Duration,
    /// 95 % of the items took at most this long.
    pub p95: Duration,
    /// 99 % of the items took at most this long.
    pub p99: Duration,
    /// A histogram: the middle of each class in nanoseconds, and about how many items were in it.
    #[cfg(feature = "html")]
    pub(super) classes: Vec<(u64, u64)>,
}

impl Latency {
    pub(super) fn of(plan: &Plan, measures: &Measures) -> Vec<Self> {
        let transits: Vec<(usize, Latencies)> =
            measures.transits().map(|(id, transit)| (id, transit.read())).collect();
        let name = |id: usize| plan.units().filter(|unit| unit[0].id.0 <= id).last().map(Node::unit_name);
        let last = plan.nodes.len().saturating_sub(1);
        let ends = transits.iter().skip(1).map(|(id, _)| *id).chain([last]);
        let named = |((id, latencies), end): (&(usize, Latencies), usize)| {
            let at = |share| latencies.quantile(share).map(Duration::from_nanos);
            Some(Self {
                from: name(*id)?,
                to: name(end)?,
                p50: at(0.5)?,
                p95: at(0.95)?,
                p99: at(0.99)?,
                #[cfg(feature = "html")]
                classes: latencies.classes.clone(),
            })
        };
        transits.iter().zip(ends).filter_map(named).collect()
    }
}
