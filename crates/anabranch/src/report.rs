//! What a finished run tells of itself.

use std::fmt;
use std::time::Duration;

use anabranch_plan::{Plan, Role};

use crate::engine::Reading;
use crate::stream::unit_names;

/// What a finished run tells of itself: for each node what went through it, how long threads were in it, and
/// what waited before it; and which node bounds the throughput.
///
/// ```
/// use anabranch::Stream;
///
/// let (sum, report) = Stream::from_iter(0..1_000u64).workers(2).map(|n| n + 1).report().fold(0, |a, n| a + n);
/// assert_eq!(sum, 500_500);
/// assert_eq!(report.nodes()[1].items, 1_000);
/// println!("{report}");
/// ```
#[derive(Debug, Clone)]
pub struct Report {
    plan: Plan,
    wall: Duration,
    nodes: Vec<NodeReport>,
    bottleneck: Option<usize>,
}

/// One unit of the plan in a [`Report`]: what runs as one piece of code is measured as one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NodeReport {
    /// The names of its stages, joined by `+`.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// Items that went through it.
    pub items: u64,
    /// Time that threads were in it, added up over threads. A source's includes its waiting for input.
    pub busy: Duration,
    /// Mean time that an item waited before it.
    pub waiting: Duration,
    /// Mean number of items that waited before it, as sampled by the workers on their way.
    pub occupancy: f64,
    /// The most that were seen waiting before it.
    pub fullest: u64,
    /// Share of its capacity that was used: `busy` over the wall time and the threads that may be in it.
    pub utilization: f64,
}

/// Below this share nobody is called the bottleneck.
const BUSY: f64 = 0.5;

impl Report {
    pub(crate) fn new(plan: Plan, wall: Duration, read: impl Fn(usize) -> Reading) -> Self {
        let workers = plan.settings.workers;
        let seconds = wall.as_secs_f64().max(1e-9);
        let mut nodes: Vec<NodeReport> = Vec::new();
        for (unit, (id, name)) in plan.nodes.chunk_by(|a, b| a.unit == b.unit).zip(unit_names(&plan)) {
            let first = &unit[0];
            let reading = read(id);
            let threads = if first.role.is_parallel() {
                unit.iter().filter_map(|node| node.replicas).min().unwrap_or(workers).min(workers)
            } else {
                1
            };
            // The cell that ends the stream goes through hops too; it is no item.
            let items = nodes.last().map_or(reading.items, |before| reading.items.min(before.items));
            let busy = Duration::from_nanos(reading.busy);
            nodes.push(NodeReport {
                name,
                role: first.role,
                items,
                busy,
                // Little's law: what waits on average, over the rate.
                waiting: wall.mul_f64(reading.occupancy / items.max(1) as f64),
                occupancy: reading.occupancy,
                fullest: reading.fullest,
                utilization: busy.as_secs_f64() / seconds / threads.max(1) as f64,
            });
        }
        let busiest = (0..nodes.len()).max_by(|&a, &b| nodes[a].utilization.total_cmp(&nodes[b].utilization));
        let bottleneck = busiest.filter(|&at| nodes[at].utilization >= BUSY);
        Self { plan, wall, nodes, bottleneck }
    }

    /// The plan that ran.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How long the run took.
    pub fn wall(&self) -> Duration {
        self.wall
    }

    /// The units of the plan, from the source to the sink.
    pub fn nodes(&self) -> &[NodeReport] {
        &self.nodes
    }

    /// The node that bounds the throughput; `None` if no node was busy for half of the time or more.
    pub fn bottleneck(&self) -> Option<&NodeReport> {
        self.bottleneck.map(|at| &self.nodes[at])
    }
}

impl fmt::Display for Report {
    /// A table, and a sentence on the bottleneck.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let workers = self.plan.settings.workers;
        let s = if workers == 1 { "" } else { "s" };
        writeln!(
            f,
            "{} in {:.3?} with {workers} worker{s}\n",
            items(self.nodes.last().map_or(0, |n| n.items)),
            self.wall
        )?;
        let name = self.nodes.iter().map(|node| node.name.chars().count()).max().unwrap_or(0).max(5);
        writeln!(
            f,
            "  {:name$}  {:>12}  {:>10}  {:>10}  {:>6}  {:>10}  {:>9}",
            "stage", "items", "busy", "an item", "used", "waiting", "occupancy"
        )?;
        for node in &self.nodes {
            let each =
                node.busy.checked_div(node.items.max(1).try_into().unwrap_or(u32::MAX)).unwrap_or_default();
            writeln!(
                f,
                "  {:name$}  {:>12}  {:>10}  {:>10}  {:>5.0}%  {:>10}  {:>9.1}",
                node.name,
                node.items,
                format!("{:.1?}", node.busy),
                format!("{each:.1?}"),
                100.0 * node.utilization,
                format!("{:.1?}", node.waiting),
                node.occupancy,
            )?;
        }
        match self.bottleneck() {
            None => write!(f, "\nNo stage bounds the throughput: the threads were waiting or starting."),
            Some(node) => {
                let what = match node.role {
                    Role::Source => "the rest waits for its items",
                    Role::Parallel => "more cores would help",
                    Role::Serial | Role::Sink => "it is serial, and more workers would not help",
                };
                write!(f, "\nBottleneck: {} ({:.0}% used); {what}.", node.name, 100.0 * node.utilization)
            }
        }
    }
}

fn items(count: u64) -> String {
    format!("{count} item{}", if count == 1 { "" } else { "s" })
}
