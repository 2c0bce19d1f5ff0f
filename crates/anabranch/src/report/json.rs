//! Reports as JSON, for programs.

use serde::Serialize;

use anabranch_plan::{Note, Plan, Prediction, Role};

use super::{Report, each};

/// The version of the format that [`Report::to_json`] writes. It rises with a change that breaks programs
/// which read the format. New fields do not raise it. It needs the feature `json`.
pub const REPORT_VERSION: u32 = 1;

#[derive(Serialize)]
struct Written<'r> {
    version: u32,
    wall_ns: u64,
    workers: usize,
    cores: usize,
    items: u64,
    items_per_second: f64,
    explanation: String,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    remarks: &'r [String],
    bottleneck: Option<usize>,
    nodes: Vec<Node<'r>>,
    latencies: Vec<Latency<'r>>,
    prediction: Option<&'r Prediction>,
    curve: Vec<Point>,
    waiting: Over<'r>,
    threads: Vec<Thread<'r>>,
    /// The choices of passes.
    choices: Vec<Note>,
    plan: &'r Plan,
    /// The reports of the streams inside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    streams: Vec<Written<'r>>,
}

#[derive(Serialize)]
struct Node<'r> {
    id: usize,
    name: &'r str,
    role: Role,
    items: u64,
    given: u64,
    busy_ns: u64,
    off_processor_ns: u64,
    delayed_ns: Option<u64>,
    each_ns: u64,
    waiting_ns: u64,
    occupancy: f64,
    fullest: u64,
    threads: usize,
    utilization: f64,
}

#[derive(Serialize)]
struct Latency<'r> {
    from: &'r str,
    to: &'r str,
    p50_ns: u64,
    p95_ns: u64,
    p99_ns: u64,
}

#[derive(Serialize)]
struct Point {
    workers: usize,
    per_item_ns: f64,
    speedup: f64,
}

/// How many items waited before each unit, over time.
#[derive(Serialize)]
struct Over<'r> {
    stretch_ns: u64,
    before: Vec<Line<'r>>,
}

/// One value for each stretch of time.
#[derive(Serialize)]
struct Line<'r> {
    name: &'r str,
    values: Vec<f64>,
}

/// The share of each stretch of time that a thread spent in each unit, and without work.
#[derive(Serialize)]
struct Thread<'r> {
    name: &'r str,
    stretch_ns: u64,
    shares: Vec<Line<'r>>,
}

impl Report {
    /// The whole report as indented JSON, with the measured plan and the prediction.
    ///
    /// All times are in nanoseconds. `waiting` tells how many items waited before each unit, and `threads`
    /// what each thread did. Both have one value for each stretch of `stretch_ns`.
    ///
    /// Needs the feature `json`.
    ///
    /// ```
    /// let slot = anabranch::ReportSlot::new();
    /// anabranch::Stream::from_iter(0..100).workers(2).map(|n| n + 1).report_to(&slot).for_each(drop);
    /// let report = slot.take().unwrap();
    /// assert!(report.to_json().contains("\"items\": 100"));
    /// ```
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&self.written())
            .expect("strings, numbers and lists of them always have JSON")
    }

    fn written(&self) -> Written<'_> {
        let whole = |of: std::time::Duration| u64::try_from(of.as_nanos()).unwrap_or(u64::MAX);
        let nodes = self.nodes.iter().map(|node| Node {
            id: node.id.0,
            name: &node.name,
            role: node.role,
            items: node.items,
            given: node.given,
            busy_ns: whole(node.busy),
            off_processor_ns: whole(node.off_processor),
            delayed_ns: node.delayed.map(whole),
            each_ns: each(node.busy, node.items),
            waiting_ns: whole(node.waiting),
            occupancy: node.occupancy,
            fullest: node.fullest,
            threads: node.threads,
            utilization: node.utilization,
        });
        let latencies = self.latencies.iter().map(|latency| Latency {
            from: &latency.from,
            to: &latency.to,
            p50_ns: whole(latency.p50),
            p95_ns: whole(latency.p95),
            p99_ns: whole(latency.p99),
        });
        let points = self.curve().map_or(Vec::new(), |curve| curve.points);
        let point = |point: Prediction| Point {
            workers: point.workers,
            per_item_ns: point.per_item,
            speedup: point.speedup,
        };
        let lines = self.waiting_lines().map(|(name, values)| Line { name, values });
        let threads = self.tracks.iter().map(|track| Thread {
            name: &track.name,
            stretch_ns: track.time.width(),
            shares: self.shares_of(track).map(|(name, values)| Line { name, values }).collect(),
        });
        Written {
            version: REPORT_VERSION,
            wall_ns: whole(self.wall),
            workers: self.plan.settings.workers,
            cores: self.cores,
            items: self.source_items(),
            items_per_second: self.throughput(),
            explanation: self.explanation(),
            remarks: &self.remarks,
            bottleneck: self.bottleneck().map(|node| node.id.0),
            nodes: nodes.collect(),
            latencies: latencies.collect(),
            prediction: self.prediction.as_ref(),
            curve: points.into_iter().map(point).collect(),
            waiting: Over { stretch_ns: self.waiting.width(), before: lines.collect() },
            threads: threads.collect(),
            choices: self.choices(),
            plan: &self.costed,
            streams: self.streams.iter().map(Report::written).collect(),
        }
    }
}
