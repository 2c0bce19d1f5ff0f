//! How many items the records of a network get if the plan does not say.

use crate::plan::{Flow, Node, Plan, PlanError};

/// How many times in a row a rule fires if its plan does not say.
pub const FIRINGS: usize = 64;
/// A record gets no more memory than this for the sake of speed, in bytes.
pub(super) const MOST_BYTES: usize = 64 * 1024;

/// How many times in a row a rule fires.
pub(super) fn turn(node: &Node) -> usize {
    node.firings.unwrap_or(FIRINGS)
}

impl Plan {
    /// How many items each record of a network will hold, in the order of the edges. An edge that has a horizon keeps
    /// it. Otherwise the record gets [room to live](Self::least_horizons), and, within 64 KiB, room for two turns of
    /// its writer or of its reader, whichever needs more, so that neither has to wait for each turn of the other.
    ///
    /// # Errors
    ///
    /// The errors of [`least_horizons`](Self::least_horizons).
    pub fn horizons(&self) -> Result<Vec<usize>, PlanError> {
        let least = self.least_horizons()?;
        let flows = self.flows();
        let roomy = |(at, least): (usize, usize)| {
            let edge = &self.edges[at];
            let flow: Flow = flows[at];
            if flow.horizon.is_some() {
                return least;
            }
            let items = |rate: usize, node: &Node| {
                let copies = node.replicas.unwrap_or(1).max(1);
                rate.saturating_mul(turn(node)).saturating_mul(2).saturating_mul(copies)
            };
            let writes = items(flow.produces, &self.nodes[edge.from.0]);
            let reads =
                items(flow.consumes, &self.nodes[edge.to.0]).saturating_add(flow.sees() - flow.consumes);
            let most = MOST_BYTES / edge.item.size.max(1);
            writes.max(reads).min(most).max(least).min(super::MOST_ITEMS)
        };
        Ok(least.into_iter().enumerate().map(roomy).collect())
    }
}
