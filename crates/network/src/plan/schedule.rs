//! A schedule of a network, made to find out how many items its records must hold and whether it stands still.
//!
//! Rules fire on demand: the rule that is furthest behind its share of the iteration fires next, and before it
//! the rules that write its missing items and, at full records, the rules that make room. If a rule is needed
//! for its own firing, the network stands still. Data flow with fixed rates is monotone: if one schedule goes
//! on for ever with some horizons, then every schedule does (Lee and Messerschmitt, 1987, section III).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::plan::error::named;
use crate::plan::{Flow, Plan, PlanError};

/// The most firings of a schedule. Networks whose iterations have more of them are not scheduled.
const MOST_FIRINGS: u64 = 200_000;
/// After this many iterations at the latest, the records hold the same numbers of items again, unless rules
/// see many more items than they consume.
const ITERATIONS: u64 = 8;

/// The rules that wait for one another, and the edges by which they do: the edge and whether the wait is for
/// room.
pub(super) struct Stuck {
    pub(super) nodes: Vec<usize>,
    pub(super) waits: Vec<(usize, bool)>,
}

/// A rule, ordered so that the heap gives the one that is furthest behind.
struct Next {
    share: f64,
    node: usize,
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Next {}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> Ordering {
        // Rules that were added later are usually readers of the earlier ones, and make room.
        other.share.total_cmp(&self.share).then(self.node.cmp(&other.node))
    }
}

struct Schedule<'p> {
    flows: &'p [Flow],
    ends: Vec<(usize, usize)>,
    inputs: Vec<Vec<usize>>,
    outputs: Vec<Vec<usize>>,
    horizons: &'p [Option<usize>],
    items: Vec<u64>,
    most: Vec<u64>,
    fired: Vec<u64>,
    /// Whether a rule is on the path of rules that wait for one another.
    is_on_path: Vec<bool>,
}

/// The most items that each edge has held in a schedule of some iterations. `horizons` bound the edges that
/// have one. `None` if the iterations have too many firings.
pub(super) fn schedule(
    plan: &Plan,
    firings: &[u64],
    horizons: &[Option<usize>],
) -> Option<Result<Vec<usize>, Stuck>> {
    let total = firings.iter().try_fold(0u64, |sum, firings| sum.checked_add(*firings))?;
    if total > MOST_FIRINGS {
        return None;
    }
    let flows = plan.flows();
    let mut inputs = vec![Vec::new(); plan.nodes.len()];
    let mut outputs = vec![Vec::new(); plan.nodes.len()];
    for (at, edge) in plan.edges.iter().enumerate() {
        outputs[edge.from.0].push(at);
        inputs[edge.to.0].push(at);
    }
    let mut schedule = Schedule {
        ends: plan.edges.iter().map(|edge| (edge.from.0, edge.to.0)).collect(),
        items: flows.iter().map(|flow| flow.delay as u64).collect(),
        most: flows.iter().map(|flow| flow.delay.max(flow.produces).max(flow.sees()) as u64).collect(),
        fired: vec![0; plan.nodes.len()],
        is_on_path: vec![false; plan.nodes.len()],
        flows: &flows,
        inputs,
        outputs,
        horizons,
    };
    let iterations = ITERATIONS.min(MOST_FIRINGS / total.max(1)).max(1);
    let mut before = schedule.state(firings, 0);
    for iteration in 1..=iterations {
        if let Err(stuck) = schedule.iterate(firings, iteration) {
            return Some(Err(stuck));
        }
        // From here on, everything repeats itself.
        let state = schedule.state(firings, iteration);
        if state == before {
            break;
        }
        before = state;
    }
    let most = schedule.most.iter().map(|items| usize::try_from(*items).unwrap_or(usize::MAX));
    Some(Ok(most.collect()))
}

impl Schedule<'_> {
    /// The items in the records, and how far each rule is ahead of the iteration.
    fn state(&self, firings: &[u64], iteration: u64) -> (Vec<u64>, Vec<u64>) {
        let ahead = self.fired.iter().zip(firings).map(|(fired, firings)| fired - firings * iteration);
        (self.items.clone(), ahead.collect())
    }

    /// Lets every rule fire as often as in this number of iterations, or more often.
    fn iterate(&mut self, firings: &[u64], iteration: u64) -> Result<(), Stuck> {
        let share = |fired: u64, node: usize| (fired + 1) as f64 / firings[node] as f64;
        let mut heap: BinaryHeap<Next> =
            (0..firings.len()).map(|node| Next { share: share(self.fired[node], node), node }).collect();
        while let Some(Next { share: at, node }) = heap.pop() {
            if self.fired[node] >= firings[node] * iteration {
                continue;
            }
            // The rule has fired on demand meanwhile.
            let now = share(self.fired[node], node);
            if now == at {
                self.demand(node)?;
            }
            heap.push(Next { share: share(self.fired[node], node), node });
        }
        Ok(())
    }

    /// Lets a rule fire once, after the rules that it waits for.
    fn demand(&mut self, node: usize) -> Result<(), Stuck> {
        let mut path: Vec<(usize, Option<(usize, bool)>)> = vec![(node, None)];
        self.is_on_path[node] = true;
        while let Some((node, _)) = path.last().copied() {
            let Some((edge, for_room)) = self.missing(node) else {
                self.fire(node);
                self.is_on_path[node] = false;
                path.pop();
                continue;
            };
            let (from, to) = self.ends[edge];
            let other = if for_room { to } else { from };
            if let Some(last) = path.last_mut() {
                last.1 = Some((edge, for_room));
            }
            if self.is_on_path[other] {
                let start = path.iter().position(|(node, _)| *node == other).unwrap_or(0);
                let nodes = path[start..].iter().map(|(node, _)| *node).collect();
                let waits = path[start..].iter().filter_map(|(_, wait)| *wait).collect();
                return Err(Stuck { nodes, waits });
            }
            self.is_on_path[other] = true;
            path.push((other, None));
        }
        Ok(())
    }

    /// The first edge that keeps a rule from firing, and whether it lacks room.
    fn missing(&self, node: usize) -> Option<(usize, bool)> {
        let lacks_items = |&&edge: &&usize| self.items[edge] < self.flows[edge].sees() as u64;
        let lacks_room = |&&edge: &&usize| {
            let horizon = self.horizons[edge].map_or(u64::MAX, |horizon| horizon as u64);
            self.items[edge].saturating_add(self.flows[edge].produces as u64) > horizon
        };
        let items = self.inputs[node].iter().find(lacks_items).map(|edge| (*edge, false));
        items.or_else(|| self.outputs[node].iter().find(lacks_room).map(|edge| (*edge, true)))
    }

    /// Items stay in their records until the firing has written its own.
    fn fire(&mut self, node: usize) {
        for &edge in &self.outputs[node] {
            self.items[edge] += self.flows[edge].produces as u64;
            self.most[edge] = self.most[edge].max(self.items[edge]);
        }
        for &edge in &self.inputs[node] {
            self.items[edge] -= self.flows[edge].consumes as u64;
        }
        self.fired[node] += 1;
    }
}

impl Plan {
    /// How many items each record of a network must hold, in the order of the edges, so that the network does
    /// not stand still. An edge that has a horizon keeps it.
    ///
    /// The numbers are those of one schedule, which keeps the records small; together they are enough. Wider
    /// records may make the network faster.
    ///
    /// If one iteration has more than 200,000 firings, no schedule is made. Then each record gets room for the
    /// items of a whole iteration, up to 2^32.
    ///
    /// # Errors
    ///
    /// The errors of [`repetitions`](Self::repetitions), an error if a node is no firing rule, and an error that names the rules
    /// of a cycle if the network stands still.
    pub fn least_horizons(&self) -> Result<Vec<usize>, PlanError> {
        let firings = self.repetitions()?;
        self.check_rules()?;
        let flows = self.flows();
        let set: Vec<Option<usize>> = flows.iter().map(|flow| flow.horizon).collect();
        let most: Vec<Option<usize>> = flows.iter().map(Flow::most).collect();
        match schedule(self, &firings, &most) {
            Some(Ok(most)) => Ok(set.into_iter().zip(most).map(|(set, most)| set.unwrap_or(most)).collect()),
            Some(Err(stuck)) => Err(self.tell(&stuck)),
            None => {
                let whole = flows.iter().zip(&self.edges).map(|(flow, edge)| {
                    let items = u128::from(firings[edge.from.0]) * flow.produces as u128;
                    let items = items.saturating_add(flow.delay as u128).saturating_add(flow.sees() as u128);
                    flow.horizon.unwrap_or(items.min(super::MOST_ITEMS as u128) as usize)
                });
                Ok(whole.collect())
            }
        }
    }

    /// Checks that the network does not stand still, if this can be found out.
    pub(super) fn check_liveness(&self, firings: &[u64]) -> Result<(), PlanError> {
        let horizons: Vec<Option<usize>> = self.flows().iter().map(Flow::most).collect();
        match schedule(self, firings, &horizons) {
            Some(Err(stuck)) => Err(self.tell(&stuck)),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    fn tell(&self, stuck: &Stuck) -> PlanError {
        let flows = self.flows();
        let nodes = stuck.nodes.iter().map(|node| named(&self.nodes[*node])).collect();
        let full = stuck.waits.iter().find(|(_, for_room)| *for_room);
        if let Some(&(edge, _)) = full {
            let horizon = flows[edge].most().unwrap_or(0).saturating_add(flows[edge].produces);
            return PlanError::HorizonDeadlock { nodes, edge: self.edge_name(&self.edges[edge]), horizon };
        }
        let items = stuck.waits.iter().map(|(edge, _)| flows[*edge].sees()).min().unwrap_or(1);
        PlanError::NetworkDeadlock { nodes, items }
    }
}
