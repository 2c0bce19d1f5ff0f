//! Reports as traces, in the format of Chrome's trace viewer ("Trace Event Format", JSON object form).
//!
//! Perfetto (<https://ui.perfetto.dev>) and `chrome://tracing` open it.

use std::time::Duration;

use serde::Serialize;

use super::Report;
use crate::measures::{Event, What};

/// Events that are being written: JSON objects separated by commas.
struct Events {
    text: String,
    pid: usize,
    /// The start of the run, in nanoseconds after the start of the trace.
    after: u64,
}

impl Events {
    fn add(&mut self, mut entry: Entry<'_>) {
        entry.pid = self.pid;
        entry.ts = entry.ts.map(|nanos| microseconds(nanos as u64 + self.after));
        if !self.text.is_empty() {
            self.text += ",\n";
        }
        self.text += &serde_json::to_string(&entry).expect("strings and numbers always have JSON");
    }
}

/// One event. Its phase decides which fields it has.
#[derive(Serialize)]
struct Entry<'r> {
    name: Name<'r>,
    /// The phase. `X` is a slice from `ts` to `ts + dur`, `C` a counter, and `M` a name.
    ph: char,
    pid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<usize>,
    /// Microseconds since the start of the trace. Until the event is added, nanoseconds since the start of
    /// the run.
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
#[serde(untagged)]
enum Args<'r> {
    Named { name: &'r str },
    Labels { labels: &'r str },
    SortIndex { sort_index: usize },
    Items { items: f64 },
    Nothing {},
}

impl Report {
    /// The events of this run, one a line. The run is process `pid` and starts `after` the start of the
    /// trace.
    pub(super) fn trace_events(&self, pid: usize, after: Duration) -> String {
        let title = self.plan.name.as_deref().unwrap_or("anabranch");
        let mut lines = Events { text: String::new(), pid, after: after.as_nanos() as u64 };
        lines.add(named("process_name", None, Args::Named { name: title }));
        let labels = format!("{}. {}", self.headline(), self.explanation());
        lines.add(named("process_labels", None, Args::Labels { labels: &labels }));
        // All threads show the same stretches: those that the fullest track has kept.
        let sparseness = self.tracks.iter().map(|track| track.events.sparseness).max().unwrap_or(0);
        for (tid, track) in self.tracks.iter().enumerate() {
            let tid = tid + 1;
            let mut own = track.events.clone();
            own.thin(sparseness);
            own.kept.sort_by_key(|event| event.at);
            let name = match own.all - own.kept.len() as u64 {
                0 => track.name.clone(),
                lost => format!("{} ({lost} of {} slices not kept)", track.name, own.all),
            };
            lines.add(named("thread_name", Some(tid), Args::Named { name: &name }));
            lines.add(named("thread_sort_index", Some(tid), Args::SortIndex { sort_index: tid }));
            for event in &own.kept {
                lines.add(self.slice(event, tid));
            }
        }
        self.counters(&mut lines);
        lines.text
    }

    fn slice<'r>(&'r self, event: &Event, tid: usize) -> Entry<'r> {
        let node = match event.what {
            What::Node(id) => self.nodes.iter().find(|node| node.id.0 == id as usize),
            What::Waiting => None,
        };
        let (name, cat) = match node {
            None => ("idle", "idle"),
            Some(node) => (&*node.name, node.role.name()),
        };
        let args = if node.is_some() { Args::Items { items: event.items as f64 } } else { Args::Nothing {} };
        Entry {
            name: Name::Borrowed(name),
            ph: 'X',
            pid: 0,
            tid: Some(tid),
            ts: Some(event.at as f64),
            dur: Some(microseconds(event.nanos)),
            cat: Some(cat),
            args,
        }
    }

    fn counters(&self, lines: &mut Events) {
        let width = self.waiting.width();
        for (name, values) in self.waiting_lines() {
            for (stretch, items) in values.iter().enumerate() {
                lines.add(Entry {
                    name: Name::Made(format!("waiting before {name}")),
                    ph: 'C',
                    pid: 0,
                    tid: None,
                    ts: Some((stretch as u64 * width) as f64),
                    dur: None,
                    cat: None,
                    args: Args::Items { items: (items * 10.0).round() / 10.0 },
                });
            }
        }
    }
}

fn named<'r>(name: &'r str, tid: Option<usize>, args: Args<'r>) -> Entry<'r> {
    Entry { name: Name::Borrowed(name), ph: 'M', pid: 0, tid, ts: None, dur: None, cat: None, args }
}

fn microseconds(nanos: u64) -> f64 {
    nanos as f64 / 1e3
}
