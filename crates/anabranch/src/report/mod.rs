//! What a run tells of itself.

mod explain;
#[cfg(feature = "html")]
mod html;
#[cfg(feature = "json")]
mod json;
mod latency;
#[cfg(any(feature = "json", feature = "html"))]
mod over_time;
mod table;
#[cfg(feature = "json")]
mod trace;
mod writer;

use std::time::Duration;

use anabranch_plan::{
    Curve, Machine, Measured, NodeId, Note, Overhead, Overlay, Pass, Passes, Plan, Prediction, Rate, Role,
};

use crate::engine::{Measures, Series, Track};
use crate::stream::unit_names;

#[cfg(feature = "json")]
pub use json::REPORT_VERSION;
pub use latency::Latency;
pub(crate) use table::short;
pub use writer::{ReportFormat, ReportWriter};

/// What a run tells of itself: for each node what went through it, how long threads were in it, and what waited before
/// it; how long items were on their way; which node bounds the throughput, and what the plan predicts of it.
///
/// Its [`Display`](std::fmt::Display) is a table, with sentences on what bounds the throughput and what to do.
///
/// ```
/// use anabranch::Stream;
///
/// let (sum, report) = Stream::from_iter(0..1_000u64).workers(2).map(|n| n + 1).report().fold(0, |a, n| a + n);
/// assert_eq!(sum, 500_500);
/// assert_eq!(report.nodes()[1].items, 1_000);
/// println!("{report}");
/// ```
///
/// # How it is measured
///
/// Clocks are read a few times a claim (some microseconds of work), and not for each item; in a run of one worker, where
/// there are no claims, for some of the items. What is measured has a bound, however long the run lasts.
#[derive(Debug, Clone)]
pub struct Report {
    plan: Plan,
    wall: Duration,
    cores: usize,
    nodes: Vec<NodeReport>,
    latencies: Vec<Latency>,
    bottleneck: Option<usize>,
    /// The plan with the costs that were measured.
    costed: Plan,
    prediction: Option<Prediction>,
    /// For each node of the plan the items that wait before it, over time; behind them how often one looked.
    #[cfg_attr(
        not(any(feature = "json", feature = "html")),
        allow(dead_code, reason = "shown by JSON and pages")
    )]
    waiting: Series,
    #[cfg_attr(
        not(any(feature = "json", feature = "html")),
        allow(dead_code, reason = "shown by JSON and pages")
    )]
    tracks: Vec<Track>,
}

/// One unit of the plan in a [`Report`]: what runs as one piece of code is measured as one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NodeReport {
    /// Its first node in the plan.
    pub id: NodeId,
    /// The names of its stages, joined by `+`.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// Items that it took; a source, that it gave.
    pub items: u64,
    /// Items that it gave on: fewer than it took in a filter, more in a `flat_map`; none in a sink.
    pub given: u64,
    /// Time that threads were in it, added up over threads. A source's includes its waiting for input.
    pub busy: Duration,
    /// The part of `busy` in which the thread had no processor: it waited for a disk, a network or a timer, or for
    /// other threads to leave it one. Measured where a piece of work took 50 µs or more, on Linux.
    pub off_processor: Duration,
    /// Whether it was without a processor for half of the time or more in most pieces of its work, or for two thirds of
    /// all its time where there are as many processors as workers: then it is taken to wait for something. Else it was
    /// interrupted, and that is not counted in predictions.
    pub waits: bool,
    /// Mean time that an index waited before it (a batch of a `flat_map` is one index).
    pub waiting: Duration,
    /// Mean number of indices that waited before it, over the time of the run.
    pub occupancy: f64,
    /// The most that were seen waiting before it.
    pub fullest: u64,
    /// How many threads may be in it at once.
    pub threads: usize,
    /// Share of its capacity that was used: `busy` over the wall time and the threads that may be in it.
    pub utilization: f64,
}

impl NodeReport {
    /// Mean time of a thread for an item.
    pub fn each(&self) -> Duration {
        Duration::from_nanos(each(self.busy, self.items))
    }
}

/// Below this share nobody is called the bottleneck.
const BUSY: f64 = 0.5;

/// Costs are measured with the passing of items in them, but for the search for work.
const OVERHEAD: Overhead = Overhead { lane: 0.0, ..Overhead::MEASURED };

fn each(time: Duration, items: u64) -> u64 {
    let nanos = time.as_nanos() as f64 / items.max(1) as f64;
    nanos.round() as u64
}

impl Report {
    pub(crate) fn new(plan: Plan, wall: Duration, measures: &Measures) -> Self {
        let waiting = measures.waiting();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let nodes = node_reports(&plan, cores, wall, measures, &waiting.series, &waiting.fullest);
        let busiest = (0..nodes.len()).max_by(|&a, &b| nodes[a].utilization.total_cmp(&nodes[b].utilization));
        let bottleneck = busiest.filter(|&at| nodes[at].utilization >= BUSY);
        let costed = costed(&plan, &nodes);
        let machine = Machine::new(cores).overhead(OVERHEAD);
        let prediction = costed.predict_on(&machine, plan.settings.workers).ok();
        // The caller first, and helpers by their numbers.
        let mut tracks = measures.tracks();
        tracks.sort_by(|a, b| (a.name.len(), &a.name).cmp(&(b.name.len(), &b.name)));
        Self {
            latencies: Latency::of(&plan, measures),
            waiting: waiting.series.clone(),
            tracks,
            plan,
            wall,
            cores,
            nodes,
            bottleneck,
            costed,
            prediction,
        }
    }

    /// The plan that ran.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The plan with the costs and rates that were measured: what predictions are made from. A unit's first node has
    /// the cost of all of it.
    pub fn measured_plan(&self) -> &Plan {
        &self.costed
    }

    /// How long the run took.
    pub fn wall(&self) -> Duration {
        self.wall
    }

    /// How many processors this process may use.
    pub fn cores(&self) -> usize {
        self.cores
    }

    /// The units of the plan, from the source to the sink.
    pub fn nodes(&self) -> &[NodeReport] {
        &self.nodes
    }

    /// How long items were on their way, one for each domain of the plan: a stream has one, and one more for each stage
    /// that changes the indices.
    pub fn latencies(&self) -> &[Latency] {
        &self.latencies
    }

    /// The node that bounds the throughput; `None` if no node was busy for half of the time or more.
    pub fn bottleneck(&self) -> Option<&NodeReport> {
        self.bottleneck.map(|at| &self.nodes[at])
    }

    /// Items of the source in a second.
    pub fn throughput(&self) -> f64 {
        self.source_items() as f64 / self.wall.as_secs_f64().max(1e-9)
    }

    /// What the plan predicts from the costs that were measured, for as many workers and the processors of this
    /// machine; `None` if nothing was measured.
    pub fn prediction(&self) -> Option<&Prediction> {
        self.prediction.as_ref()
    }

    /// What the plan predicts for 1 to 64 workers, with a processor for each; `None` if nothing was measured.
    pub fn curve(&self) -> Option<Curve> {
        self.costed.predict_range_on(&Machine::ample().overhead(OVERHEAD), 1..=64).ok()
    }

    /// What [passes](crate::Stream::passes) would choose from the costs that were measured, and why.
    /// [`Stream::costs_from`](crate::Stream::costs_from) lets the next run have it so.
    pub fn choices(&self) -> Vec<Note> {
        let passes = Passes::all().without(Pass::Fuse);
        passes.apply(&mut self.costed.clone(), &self.machine())
    }

    /// What was measured, to be laid over a picture of the plan.
    pub fn overlay(&self) -> Overlay {
        let mut overlay = Overlay::new().on(self.machine());
        for node in &self.nodes {
            let is_source = node.role == Role::Source;
            let measured = Measured {
                items: Some(node.items),
                busy: Some(node.utilization.min(1.0)),
                cost: Some(each(node.busy, node.items)),
                waiting: (!is_source).then_some(node.waiting.as_nanos() as u64),
                occupancy: (!is_source).then_some(node.occupancy),
            };
            overlay = overlay.node(node.id, measured);
        }
        if let Some(node) = self.bottleneck() {
            overlay = overlay.bottleneck(node.id);
        }
        match self.per_item() {
            Some(nanos) => overlay.per_item(nanos),
            None => overlay,
        }
    }

    /// The plan as a picture in SVG, with what was measured in it and the prediction beside.
    pub fn to_svg(&self) -> String {
        self.costed.to_svg_with(&self.overlay())
    }

    fn machine(&self) -> Machine {
        Machine::new(self.cores).overhead(OVERHEAD)
    }

    fn source_items(&self) -> u64 {
        self.nodes.first().map_or(0, |node| node.items)
    }

    /// Nanoseconds between two items of the source.
    fn per_item(&self) -> Option<f64> {
        let items = self.source_items();
        (items > 0).then(|| self.wall.as_nanos() as f64 / items as f64)
    }
}

fn node_reports(
    plan: &Plan,
    cores: usize,
    wall: Duration,
    measures: &Measures,
    waiting: &Series,
    fullest: &[u64],
) -> Vec<NodeReport> {
    let workers = plan.settings.workers;
    let seconds = wall.as_secs_f64().max(1e-9);
    let mut nodes: Vec<NodeReport> = Vec::new();
    // Threads that are inside the unit before have its items in their hands: those do not wait.
    let mut in_hands = 0.0;
    for (unit, (id, name)) in plan.nodes.chunk_by(|a, b| a.unit == b.unit).zip(unit_names(plan)) {
        let first = &unit[0];
        let reading = measures.read(id);
        let threads = if first.role.is_parallel() {
            unit.iter().filter_map(|node| node.replicas).min().unwrap_or(workers).min(workers)
        } else {
            1
        };
        let busy = Duration::from_nanos(reading.spent);
        let occupancy = (mean(waiting, id) - in_hands).max(0.0);
        let inside = busy.as_secs_f64() / seconds;
        in_hands = if first.role.is_parallel() { inside } else { 0.0 };
        nodes.push(NodeReport {
            id: first.id,
            name,
            role: first.role,
            items: reading.tally.items,
            given: reading.tally.given,
            busy,
            off_processor: Duration::from_nanos(reading.off),
            waits: reading.waits(workers > cores),
            // Little's law: what waits on average, over the rate.
            waiting: wall.mul_f64(occupancy / reading.tally.cells.max(1) as f64),
            occupancy,
            fullest: fullest.get(id).copied().unwrap_or(0),
            threads: threads.max(1),
            utilization: inside / threads.max(1) as f64,
        });
    }
    nodes
}

/// The mean over time of what waited before a node. Where nobody looked for a stretch, nothing much changed.
fn mean(waiting: &Series, id: usize) -> f64 {
    let (mut sum, mut stretches, mut last) = (0.0, 0.0, 0.0);
    for row in waiting.rows() {
        let looks = row[row.len() - 1];
        if looks > 0 {
            last = row[id] as f64 / looks as f64;
        }
        sum += last;
        stretches += 1.0;
    }
    if stretches > 0.0 { sum / stretches } else { 0.0 }
}

/// The plan with what was measured of its units.
fn costed(plan: &Plan, reports: &[NodeReport]) -> Plan {
    let mut plan = plan.clone();
    for (unit, report) in plan.nodes.chunk_by_mut(|a, b| a.unit == b.unit).zip(reports) {
        for node in &mut *unit {
            (node.cost, node.waits, node.rate) = (Some(0), None, None);
        }
        let off = report.off_processor;
        let busy = if report.waits { report.busy } else { report.busy.saturating_sub(off) };
        unit[0].cost = Some(each(busy, report.items));
        unit[0].waits = report.waits.then(|| each(off, report.items)).filter(|&nanos| nanos > 0);
        let changes = !matches!(report.role, Role::Source | Role::Sink) && report.given != report.items;
        if let (Some(last), true) = (unit.last_mut(), changes && report.items > 0) {
            last.rate = Some(Rate { given: report.given, taken: report.items });
        }
    }
    plan
}
