//! The report as a trace, in the format of Chrome's trace viewer ("Trace Event Format", JSON object form), which
//! Perfetto (<https://ui.perfetto.dev>) and `chrome://tracing` open.

use std::collections::BTreeMap;

use serde::Serialize;

use anabranch_plan::Role;

use super::Report;
use crate::engine::{Event, What};

const PROCESS: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Trace<'r> {
    display_time_unit: &'static str,
    other_data: BTreeMap<&'static str, String>,
    trace_events: Vec<Entry<'r>>,
}

/// One event. Which fields it has depends on its phase.
#[derive(Serialize)]
struct Entry<'r> {
    name: Name<'r>,
    /// `X`: from `ts` to `ts + dur`. `C`: a counter. `M`: a name.
    ph: char,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<usize>,
    /// Microseconds since the run began.
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    args: Args<'r>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Name<'r> {
    Borrowed(&'r str),
    Made(String),
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
#[serde(untagged)]
enum Args<'r> {
    Named { name: &'r str },
    Place { sort_index: usize },
    Items { items: f64 },
    Nothing {},
}

impl Report {
    /// The run as a trace for Perfetto or `chrome://tracing`, in JSON: a track for each thread, on which a slice is a
    /// pull of the source, a claim of a parallel unit or a serving of a serial one, under the unit's name and with the
    /// number of items; and a counter for what waits before each unit. A slice `idle` is a thread that finds nothing
    /// to do.
    ///
    /// The slices are there if the stream was set to keep them: [`Stream::trace`](crate::Stream::trace). `otherData`
    /// says how many of them were kept, and what bounded the throughput.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let (_, report) = Stream::from_iter(0..100).workers(2).trace().map(|n| n + 1).report().for_each(drop);
    /// assert!(report.to_trace().contains("\"name\":\"map\",\"ph\":\"X\""));
    /// ```
    pub fn to_trace(&self) -> String {
        let title = self.plan.name.as_deref().unwrap_or("anabranch");
        let mut events = vec![named("process_name", None, Args::Named { name: title })];
        // All threads have the same stretches: those that the fullest track has kept.
        let sparseness = self.tracks.iter().map(|track| track.events.sparseness).max().unwrap_or(0);
        let (mut kept, mut all) = (0, 0);
        for (tid, track) in self.tracks.iter().enumerate() {
            let tid = tid + 1;
            events.push(named("thread_name", Some(tid), Args::Named { name: &track.name }));
            events.push(named("thread_sort_index", Some(tid), Args::Place { sort_index: tid }));
            let mut own = track.events.clone();
            own.thin(sparseness);
            own.kept.sort_by_key(|event| event.at);
            all += own.all;
            kept += own.kept.len();
            events.extend(own.kept.iter().map(|event| self.slice(event, tid)));
        }
        self.counters(&mut events);
        let mut other = BTreeMap::from([
            ("run", self.headline()),
            ("explanation", self.explanation()),
            ("slices", format!("{kept} of {all} were kept")),
        ]);
        if sparseness > 0 {
            let text = format!("of each {} stretches of 4.2 ms the first was kept", 1u64 << sparseness);
            other.insert("stretches", text);
        }
        let trace = Trace { display_time_unit: "ns", other_data: other, trace_events: events };
        serde_json::to_string(&trace).expect("strings, numbers and lists of them always have JSON")
    }

    fn slice<'r>(&'r self, event: &Event, tid: usize) -> Entry<'r> {
        let node = match event.what {
            What::Node(id) => self.nodes.iter().find(|node| node.id.0 == id as usize),
            What::Waiting => None,
        };
        let (name, cat) = match node {
            None => ("idle", "idle"),
            Some(node) => (&*node.name, category(node.role)),
        };
        let args = if node.is_some() { Args::Items { items: event.items as f64 } } else { Args::Nothing {} };
        Entry {
            name: Name::Borrowed(name),
            ph: 'X',
            pid: PROCESS,
            tid: Some(tid),
            ts: Some(microseconds(event.at)),
            dur: Some(microseconds(event.nanos)),
            cat: Some(cat),
            args,
        }
    }

    fn counters(&self, events: &mut Vec<Entry<'_>>) {
        let width = self.waiting.width();
        for (name, values) in self.waiting_lines() {
            for (stretch, items) in values.iter().enumerate() {
                events.push(Entry {
                    name: Name::Made(format!("waiting before {name}")),
                    ph: 'C',
                    pid: PROCESS,
                    tid: None,
                    ts: Some(microseconds(stretch as u64 * width)),
                    dur: None,
                    cat: None,
                    args: Args::Items { items: (items * 10.0).round() / 10.0 },
                });
            }
        }
    }
}

fn named<'r>(name: &'r str, tid: Option<usize>, args: Args<'r>) -> Entry<'r> {
    Entry { name: Name::Borrowed(name), ph: 'M', pid: PROCESS, tid, ts: None, dur: None, cat: None, args }
}

fn microseconds(nanos: u64) -> f64 {
    nanos as f64 / 1e3
}

fn category(role: Role) -> &'static str {
    match role {
        Role::Source => "source",
        Role::Parallel => "parallel",
        Role::Serial => "serial",
        Role::Sink => "sink",
    }
}
