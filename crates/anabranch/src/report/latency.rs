//! How long items are on their way.

use std::time::Duration;

use anabranch_plan::Plan;

use crate::engine::{Latencies, Measures};
use crate::stream::unit_names;

/// How long items of a domain were on their way: from the moment at which the node that opens the domain has given
/// one to the moment at which it has left the domain. Some of the items are measured, evenly spread; times are
/// right to 3 %.
///
/// A stream that is one domain has one latency, from the source to the sink. `serial_flat_map`, `spread` and hops behind
/// `unordered` open a domain: an item of the domain before has left that once everything in it was given on, and what
/// it gave is measured as items of the new domain. These latencies do not add up: the first ends while the second runs.
/// An item that a filter drops is on its way until the sink has passed its place.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Latency {
    /// The name of the node that opens the domain; of a hop behind `unordered`, items are measured from its end.
    pub from: String,
    /// The name of the node at which the domain ends.
    pub to: String,
    /// Half of the items took no longer.
    pub p50: Duration,
    /// Of 100 items, 95 took no longer.
    pub p95: Duration,
    /// Of 100 items, 99 took no longer.
    pub p99: Duration,
    /// The middle of each class of times in nanoseconds, and about how many items there were.
    #[cfg(feature = "html")]
    pub(super) classes: Vec<(u64, u64)>,
}

impl Latency {
    pub(super) fn of(plan: &Plan, measures: &Measures) -> Vec<Self> {
        let transits: Vec<(usize, Latencies)> =
            measures.transits().map(|(id, transit)| (id, transit.read())).collect();
        let units = unit_names(plan);
        let name = |id: usize| units.iter().rfind(|(first, _)| *first <= id).map(|(_, name)| name.clone());
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
