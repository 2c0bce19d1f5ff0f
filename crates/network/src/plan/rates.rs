//! The repetition vector: how often each rule fires in one iteration.

use crate::plan::error::named;
use crate::plan::{Edge, Flow, Plan, PlanError, Role};

/// The firings of a rule as a fraction of those of another.
type Share = (u128, u128);

/// The connected parts of the edges so far, as a forest. Each rule knows its firings as a fraction of those of
/// its parent.
struct Parts {
    parents: Vec<(usize, Share)>,
}

impl Parts {
    fn new(rules: usize) -> Self {
        Parts { parents: (0..rules).map(|rule| (rule, (1, 1))).collect() }
    }

    /// The root of a rule, and the rule's firings as a fraction of the root's. `None` if a number is too large.
    fn root(&mut self, rule: usize) -> Option<(usize, Share)> {
        let mut path = vec![rule];
        while let Some(&last) = path.last()
            && self.parents[last].0 != last
        {
            path.push(self.parents[last].0);
        }
        let root = path.pop()?;
        let mut share = (1, 1);
        // From the root down, each rule of the path becomes a child of the root.
        for rule in path.into_iter().rev() {
            let (above, below) = self.parents[rule].1;
            share = times(share, above, below)?;
            self.parents[rule] = (root, share);
        }
        Some((root, share))
    }

    /// Adds an edge: `to` fires `forth` times as often as `from`. Returns whether this agrees with the edges so
    /// far. `None` if a number is too large.
    fn join(&mut self, from: usize, to: usize, forth: Share) -> Option<bool> {
        let ((root, share), (other, its_share)) = (self.root(from)?, self.root(to)?);
        let wanted = times(share, forth.0, forth.1)?;
        if root == other {
            return Some(wanted == its_share);
        }
        self.parents[other] = (root, times(wanted, its_share.1, its_share.0)?);
        Some(true)
    }
}

impl Plan {
    /// How often each node of a network fires in one *iteration*, after which every record holds as many items as
    /// before. A record that is a node fires once for each item. Rules that only processes join are counted apart,
    /// because the rates of processes are not known. The numbers are the smallest of at least 1 for which, on each
    /// edge, the firings of the writer times its rate are the firings of the reader times its rate.
    ///
    /// ```
    /// use anabranch_network::plan::{Flow, ItemType, Node, Plan};
    ///
    /// let mut plan = Plan::network(1);
    /// let cd = plan.rule(Node::rule("44.1 kHz"));
    /// let dat = plan.rule(Node::rule("48 kHz"));
    /// plan.record(cd, dat, ItemType::of::<i16>(), Flow::of(160, 147));
    /// assert_eq!(plan.repetitions(), Ok(vec![147, 160]));
    /// ```
    ///
    /// # Errors
    ///
    /// [`PlanError::InconsistentRates`] names the first edge whose rates cannot be balanced with those before it. Other
    /// errors name an edge whose rates are not possible. [`PlanError::TooManyFirings`] if the numbers are more than
    /// 2^63.
    pub fn repetitions(&self) -> Result<Vec<u64>, PlanError> {
        self.check_records()?;
        let mut parts = Parts::new(self.nodes.len());
        for (edge, flow) in self.edges.iter().map(|edge| (edge, edge.flow)) {
            let Some((written, read)) = self.balance(edge, &flow) else { continue };
            let (from, to) = (edge.from.0, edge.to.0);
            let large = || PlanError::TooManyFirings { node: named(&self.nodes[to]) };
            if !parts.join(from, to, (written, read)).ok_or_else(large)? {
                let writes = format!("{} writes {}", named(&self.nodes[from]), flow.produces);
                let reads = format!("{} consumes {}", named(&self.nodes[to]), flow.consumes);
                let rates = match (self.nodes[from].role, self.nodes[to].role) {
                    (Role::Record, _) => reads,
                    (_, Role::Record) => writes,
                    _ => format!("{writes} and {reads}"),
                };
                return Err(PlanError::InconsistentRates { edge: self.edge_name(edge), rates });
            }
        }
        let mut of_root: Vec<Vec<(usize, Share)>> = vec![Vec::new(); self.nodes.len()];
        for node in 0..self.nodes.len() {
            let large = || PlanError::TooManyFirings { node: named(&self.nodes[node]) };
            let (root, share) = parts.root(node).ok_or_else(large)?;
            of_root[root].push((node, share));
        }
        let mut firings = vec![0; self.nodes.len()];
        for part in of_root {
            self.scale(&part, &mut firings)?;
        }
        Ok(firings)
    }

    /// How many items a firing of each end passes. `None` if the rate of an end is not known.
    fn balance(&self, edge: &Edge, flow: &Flow) -> Option<(u128, u128)> {
        let (from, to) = (&self.nodes[edge.from.0], &self.nodes[edge.to.0]);
        // While a view has its ranges of the items, the others have theirs.
        let share = |rate: usize, views: usize| rate as u128 * flow.range.map_or(1, |_| views.max(1) as u128);
        match (&from.record, &to.record) {
            _ if [from.role, to.role].contains(&Role::Process) => None,
            (None, None) => Some((flow.produces as u128, flow.consumes as u128)),
            (None, Some(record)) => Some((share(flow.produces, record.writers.count), 1)),
            (Some(record), None) => Some((1, share(flow.consumes, record.readers.count))),
            (Some(_), Some(_)) => Some((1, 1)),
        }
    }

    /// Turns the fractions of a part of the graph into the smallest whole numbers.
    fn scale(&self, part: &[(usize, Share)], firings: &mut [u64]) -> Result<(), PlanError> {
        let mut least = 1u128;
        for (node, (_, below)) in part {
            let large = || PlanError::TooManyFirings { node: named(&self.nodes[*node]) };
            least = (least / gcd(least, *below))
                .checked_mul(*below)
                .filter(|least| *least < 1 << 96)
                .ok_or_else(large)?;
        }
        let mut common = 0u128;
        let mut whole = Vec::with_capacity(part.len());
        for (node, (above, below)) in part {
            let large = || PlanError::TooManyFirings { node: named(&self.nodes[*node]) };
            let number = above.checked_mul(least / below).ok_or_else(large)?;
            common = gcd(number, common);
            whole.push((*node, number));
        }
        for (node, number) in whole {
            firings[node] = u64::try_from(number / common.max(1))
                .ok()
                .filter(|firings| *firings < 1 << 63)
                .ok_or_else(|| PlanError::TooManyFirings { node: named(&self.nodes[node]) })?;
        }
        Ok(())
    }
}

/// The fraction `share * by / per` in its lowest terms. `None` if it needs more than 96 bits.
fn times((above, below): (u128, u128), by: u128, per: u128) -> Option<(u128, u128)> {
    let (above, below) = (above.checked_mul(by)?, below.checked_mul(per)?);
    let divisor = gcd(above, below).max(1);
    let (above, below) = (above / divisor, below / divisor);
    (above.max(below) < 1 << 96).then_some((above, below))
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
