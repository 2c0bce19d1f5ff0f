//! Reports: what a run tells about itself.

mod explain;
#[cfg(feature = "html")]
mod html;
#[cfg(feature = "json")]
mod json;
mod latency;
#[cfg(any(feature = "json", feature = "html"))]
mod over_time;
mod slot;
mod small;
mod table;
#[cfg(feature = "json")]
mod trace;
mod writer;

use std::time::Duration;

use anabranch_plan::{
    Curve, Executor, Machine, Measured, Node, NodeId, Note, Overhead, Overlay, Passes, Plan, Prediction,
    Rate, Role,
};

use crate::measures::{Measures, Reading, Series, Track};

#[cfg(feature = "json")]
pub use json::REPORT_VERSION;
pub use latency::Latency;
pub use slot::ReportSlot;
pub(crate) use table::short;
pub use writer::{ReportFormat, ReportWriter};

/// The report of a run about itself:
///
/// - for each node, the items that passed it, the time that threads spent in it, and how many items waited
///   before it;
/// - how long items were in the stream;
/// - which node bounds the throughput, and the throughput that the plan predicts.
///
/// Its [`Display`](std::fmt::Display) prints a table, and sentences about what bounds the throughput and what
/// to do.
///
/// ```
/// use anabranch::{ReportSlot, Stream};
///
/// let slot = ReportSlot::new();
/// let sum = Stream::from_iter(0..1_000u64).workers(2).map(|n| n + 1).report_to(&slot).fold(0, |a, n| a + n);
/// let report = slot.take().unwrap();
/// assert_eq!(sum, 500_500);
/// assert_eq!(report.nodes()[1].items, 1_000);
/// println!("{report}");
/// ```
///
/// # How it is measured
///
/// A thread reads the clock a few times for each claim, which is some microseconds of work, and not for each
/// item. In a run with one worker there are no claims, and a part of the items is measured. The memory for
/// measurements is bounded, however long the run lasts.
#[derive(Debug, Clone)]
pub struct Report {
    plan: Plan,
    wall: Duration,
    cores: usize,
    nodes: Vec<NodeReport>,
    latencies: Vec<Latency>,
    bottleneck: Option<usize>,
    /// The texts of other libraries.
    pub(crate) remarks: Vec<String>,
    /// The reports of the streams inside.
    pub(crate) streams: Vec<Report>,
    /// The plan with the measured costs.
    costed: Plan,
    prediction: Option<Prediction>,
    /// For each node of the plan, the items that waited before it times the nanoseconds that they waited,
    /// over time. The last column is the time.
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

/// One unit of the plan in a [`Report`]. A unit is one or more stages that run as one piece of code, and are
/// measured as one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NodeReport {
    /// Its first node in the plan.
    pub id: NodeId,
    /// The names of its stages, joined by `+`.
    pub name: String,
    /// The role: a source, a parallel stage, a serial stage or the end.
    pub role: Role,
    /// How many items it took. For the source, how many it gave.
    pub items: u64,
    /// How many items it gave: fewer than it took in a filter, more in a `flat_map`, and none in the end.
    pub given: u64,
    /// The time that threads spent in it, added up over all threads. For a source this includes waiting for
    /// its input.
    pub busy: Duration,
    /// The part of `busy` in which the thread had no processor. It waited for a disk, a network or a timer,
    /// or other threads had the processors. It is measured on Linux, for pieces of work of at least 50 µs.
    pub off_processor: Duration,
    /// The part of `off_processor` in which the thread was ready to run and other threads or programs had the processors, or a
    /// limit of the system held it back. Predictions leave it out. `None` where the system does not tell it; Linux does in
    /// `/proc/thread-self/schedstat`.
    pub delayed: Option<Duration>,
    /// Whether the node is taken to wait for something. This is so if it waited for at least half of the time in most pieces of its
    /// work, or for two thirds of its total time; `delayed` is left out of all these times. Waiting is `off_processor` without
    /// `delayed`. If `delayed` is not known, the second rule needs as many processors as workers, and if neither rule holds, the
    /// time without a processor counts as an interruption, which predictions leave out.
    pub waits: bool,
    /// The mean time that an index waited before it. A batch of a `flat_map` is one index.
    pub waiting: Duration,
    /// The mean number of indices that waited before it, over the time of the run.
    pub occupancy: f64,
    /// The largest number of indices that were seen waiting before it.
    pub fullest: u64,
    /// How many threads may be inside at the same time.
    pub threads: usize,
    /// The share of its capacity that was used, from 0 to 1: `busy` divided by the wall time and by
    /// `threads`.
    pub utilization: f64,
}

impl NodeReport {
    /// The mean time that a thread spent on one item.
    pub fn each(&self) -> Duration {
        Duration::from_nanos(each(self.busy, self.items))
    }

    /// The part of `busy` in which it had a processor.
    fn worked(&self) -> Duration {
        self.busy.saturating_sub(self.off_processor)
    }

    /// The part of `busy` in which it waited for something other than a processor.
    fn waited(&self) -> Duration {
        match self.delayed {
            Some(delayed) => self.off_processor.saturating_sub(delayed).min(self.busy),
            None if self.waits => self.off_processor.min(self.busy),
            None => Duration::ZERO,
        }
    }
}

/// The least utilization for which a node is called the bottleneck.
const LEAST_BOTTLENECK: f64 = 0.5;

/// Returns the overhead that a prediction adds to the measured costs of a run of `plan`. The costs of several workers include
/// handing items on, and those of the plain loop do not.
fn overhead(plan: &Plan) -> Overhead {
    match plan.settings.executor {
        Executor::Inline => Overhead::MEASURED,
        Executor::Threads | Executor::Pool => Overhead { lane: 0.0, ..Overhead::MEASURED },
    }
}

fn each(time: Duration, items: u64) -> u64 {
    let nanos = time.as_nanos() as f64 / items.max(1) as f64;
    nanos.round() as u64
}

/// The [plan with the measured costs](Report::measured_plan).
impl AsRef<Plan> for Report {
    fn as_ref(&self) -> &Plan {
        self.measured_plan()
    }
}

impl Report {
    pub(crate) fn new(plan: Plan, wall: Duration, measures: &Measures) -> Self {
        let waiting = measures.waiting();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let nodes = node_reports(&plan, cores, wall, measures, &waiting.series, &waiting.fullest);
        let busiest = (0..nodes.len()).max_by(|&a, &b| nodes[a].utilization.total_cmp(&nodes[b].utilization));
        let bottleneck = busiest.filter(|&at| nodes[at].utilization >= LEAST_BOTTLENECK);
        let costed = costed(&plan, &nodes);
        let machine = Machine::new(cores).overhead(overhead(&plan));
        let prediction = costed.predict_on(&machine, plan.settings.workers).ok();
        // The caller comes first, then the helpers by their numbers.
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
            remarks: Vec::new(),
            streams: Vec::new(),
            costed,
            prediction,
        }
    }

    /// The plan that ran.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The plan with the measured costs and rates, from which predictions are made. The first node of a unit
    /// has the cost of the whole unit.
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

    /// The texts of other libraries whose stages the stream has, such as those that call a cluster.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The reports of the streams inside of this one, such as those of [`select_all`](crate::Stream::select_all), or the stream
    /// before a [`chunks_timeout`](crate::Stream::chunks_timeout). They are in the order in which these streams have ended.
    pub fn streams(&self) -> &[Report] {
        &self.streams
    }

    /// The units of the plan, from the source to the sink.
    pub fn nodes(&self) -> &[NodeReport] {
        &self.nodes
    }

    /// How long items were in the stream: one latency for each domain of the plan. A stream has one domain,
    /// and one more for each stage that opens one.
    pub fn latencies(&self) -> &[Latency] {
        &self.latencies
    }

    /// The node that bounds the throughput. `None` if no node was busy for at least half of the time.
    pub fn bottleneck(&self) -> Option<&NodeReport> {
        self.bottleneck.map(|at| &self.nodes[at])
    }

    /// The throughput of the source, in items per second.
    pub fn throughput(&self) -> f64 {
        self.source_items() as f64 / self.wall.as_secs_f64().max(1e-9)
    }

    /// The prediction of the plan from the measured costs, for the workers of the run and the processors of this
    /// machine. `None` if nothing was measured.
    pub fn prediction(&self) -> Option<&Prediction> {
        self.prediction.as_ref()
    }

    /// The predictions of the plan for 1 to 64 workers, each with a processor of its own. `None` if nothing was
    /// measured.
    pub fn curve(&self) -> Option<Curve> {
        self.costed.predict_range_on(&Machine::ample().overhead(overhead(&self.plan)), 1..=64).ok()
    }

    /// The choices that [passes](crate::Stream::passes) would make from the measured costs, and the reasons.
    /// [`Stream::costs_from`](crate::Stream::costs_from) makes the next run choose this.
    pub fn choices(&self) -> Vec<Note> {
        let passes = Passes::all();
        passes.apply(&mut self.costed.clone(), &self.machine())
    }

    /// The measurements, in a form that can be drawn over a picture of the plan.
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

    /// A picture of the plan as SVG, with the measurements and the prediction.
    pub fn to_svg(&self) -> String {
        self.costed.to_svg_with(&self.overlay())
    }

    fn machine(&self) -> Machine {
        Machine::new(self.cores).overhead(overhead(&self.plan))
    }

    fn source_items(&self) -> u64 {
        self.nodes.first().map_or(0, |node| node.items)
    }

    /// The mean time between two items of the source, in nanoseconds.
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
    let mut readings: Vec<Reading> = plan.units().map(|unit| measures.read(unit[0].id.0)).collect();
    if workers == 1 {
        fit(&mut readings, wall.as_nanos() as u64, measures.clock());
    }
    // Items that threads inside the previous unit are working on do not wait.
    let mut in_hands = 0.0;
    for (unit, reading) in plan.units().zip(readings) {
        let first = &unit[0];
        let (id, name) = (first.id.0, Node::unit_name(unit));
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
            given: if unit.iter().any(|node| node.role == Role::Sink) { 0 } else { reading.tally.given },
            busy,
            off_processor: Duration::from_nanos(reading.off),
            delayed: (reading.untold == 0).then(|| Duration::from_nanos(reading.delayed)),
            waits: reading.waits(workers > cores),
            // Little's law: the mean time that items wait is the mean number that waits, divided by the rate.
            waiting: wall.mul_f64(occupancy / reading.tally.cells.max(1) as f64),
            occupancy,
            fullest: fullest.get(id).copied().unwrap_or(0),
            threads: threads.max(1),
            utilization: inside / threads.max(1) as f64,
        });
    }
    nodes
}

/// Corrects what one thread has measured in a run of `wall` nanoseconds.
///
/// While the clock is read before and after a short item, the processor does not work on the next item, as it
/// otherwise does. So each measured item seems to take longer by some nanoseconds, and the units together
/// longer than the run. The excess is taken from all cells alike, but at most `clock` nanoseconds from a
/// cell, which is what reading the clock takes.
fn fit(readings: &mut [Reading], wall: u64, clock: u64) {
    let mut left: Vec<u64> = readings.iter().map(|reading| reading.tally.cells * clock).collect();
    // Each round uses up what may be taken from one unit, or all that is too much.
    for _ in 0..readings.len() {
        let excess = readings.iter().map(|reading| reading.spent).sum::<u64>().saturating_sub(wall);
        let open = |(reading, left): &(&mut Reading, &mut u64)| **left > 0 && reading.spent > 0;
        let cells: u64 = readings.iter_mut().zip(&mut left).filter(open).map(|(r, _)| r.tally.cells).sum();
        if excess == 0 || cells == 0 {
            return;
        }
        let each = excess as f64 / cells as f64;
        for (reading, left) in readings.iter_mut().zip(&mut left).filter(open) {
            let share = (each * reading.tally.cells as f64).ceil() as u64;
            let taken = share.min(*left).min(reading.spent);
            reading.spent -= taken;
            *left -= taken;
        }
    }
}

/// The mean number of items that waited before a node, over time.
fn mean(waiting: &Series, id: usize) -> f64 {
    let add = |(sum, time): (f64, f64), row: &[u64]| (sum + row[id] as f64, time + row[row.len() - 1] as f64);
    let (sum, time) = waiting.rows().fold((0.0, 0.0), add);
    if time > 0.0 { sum / time } else { 0.0 }
}

/// The plan with the measured costs and rates of its units.
fn costed(plan: &Plan, reports: &[NodeReport]) -> Plan {
    let mut plan = plan.clone();
    for (unit, report) in plan.nodes.chunk_by_mut(|a, b| a.unit == b.unit).zip(reports) {
        for node in &mut *unit {
            (node.cost, node.waits, node.rate) = (Some(0), None, None);
        }
        let waited = report.waited();
        unit[0].cost = Some(each(report.worked() + waited, report.items));
        unit[0].waits = Some(each(waited, report.items)).filter(|&nanos| nanos > 0);
        let changes = !matches!(report.role, Role::Source | Role::Sink) && report.given != report.items;
        if let (Some(last), true) = (unit.last_mut(), changes && report.items > 0) {
            last.rate = Some(Rate { given: report.given, taken: report.items });
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::fit;
    use crate::measures::Reading;

    fn reading(cells: u64, spent: u64) -> Reading {
        let mut reading = Reading { spent, ..Reading::default() };
        reading.tally.cells = cells;
        reading
    }

    fn fitted(readings: [(u64, u64); 3], wall: u64, clock: u64) -> [u64; 3] {
        let mut readings = readings.map(|(cells, spent)| reading(cells, spent));
        fit(&mut readings, wall, clock);
        readings.map(|reading| reading.spent)
    }

    #[test]
    fn units_of_one_thread_are_busy_for_no_longer_than_the_run() {
        // 10 ns too much for each of 100 cells, in three units.
        assert_eq!(fitted([(100, 2_000), (100, 12_000), (100, 1_500)], 12_500, 25), [1_000, 11_000, 500]);
        // A unit that takes 2 ns is not corrected below nothing, and the others have the rest.
        assert_eq!(fitted([(100, 200), (100, 12_000), (100, 3_000)], 12_200, 25), [0, 10_600, 1_600]);
        // Nothing is wrong.
        assert_eq!(fitted([(100, 2_000), (100, 12_000), (0, 0)], 14_000, 25), [2_000, 12_000, 0]);
        // More than reading the clock takes is not taken away.
        assert_eq!(fitted([(100, 2_000), (100, 12_000), (0, 0)], 7_000, 25), [0, 9_500, 0]);
    }
}
