//! The rivals: their names, their settings, and how they are compared with Anabranch.

use measure_harness::target::Target;
use measure_harness::work::{Digest, Work};

/// The guarantee of a rival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Results in order, as they are ready.
    Ordered,
    /// Results in order, but none before all are ready: memory grows with the items.
    Collected,
    /// Results in any order.
    Unordered,
    /// The user gathers items into vectors: the work has another grain, and items wait for their neighbours.
    Chunks,
}

#[derive(Debug)]
pub struct Rival {
    /// The name that its process knows.
    pub name: &'static str,
    pub label: &'static str,
    pub package: &'static str,
    pub kind: Kind,
    /// Whether it is in the C++ process.
    pub cpp: bool,
    /// The unit of a setting.
    pub unit: &'static str,
    /// The settings of which the best is used.
    pub settings: &'static [usize],
    /// How to install it.
    pub install: &'static str,
}

const TBB: &str = "apt-get install libtbb-dev g++";
const TASKFLOW: &str = "not packaged: set TASKFLOW to a folder with its sources";
const CARGO: &str = "part of measure/rivals/promises";
const WAITING: &[usize] = &[16, 128, 1_024, 4_096];
const SIZES: &[usize] = &[16, 256, 2_048];

pub const RIVALS: [Rival; 14] = [
    cpp("tbb", "oneTBB `parallel_pipeline`", "oneTBB", Kind::Ordered, "tokens", &[4, 16, 64, 256], TBB),
    cpp("taskflow", "Taskflow `Pipeline`", "Taskflow", Kind::Ordered, "lines", &[4, 8, 16, 64], TASKFLOW),
    rust(
        "crossbeam",
        "channels and a reorder buffer",
        "crossbeam-channel",
        Kind::Ordered,
        "in a channel",
        WAITING,
    ),
    rust("pariter", "`pariter`", "pariter", Kind::Ordered, "buffered", &[4, 16, 128, 1_024]),
    rust("par-stream", "`par-stream`", "par-stream", Kind::Ordered, "buffered", WAITING),
    rust("tokio", "tokio `spawn`, `buffered`", "tokio", Kind::Ordered, "buffered", &[4, 16, 128, 1_024]),
    rust(
        "orx",
        "`orx-parallel` (collects first)",
        "orx-parallel",
        Kind::Collected,
        "pulled",
        &[0, 1, 64, 1_024],
    ),
    rust("par-bridge", "rayon `par_bridge` (no order)", "rayon", Kind::Unordered, "", &[0]),
    cpp("tbb-chunks", "oneTBB `parallel_pipeline`", "oneTBB", Kind::Chunks, "items a chunk", SIZES, TBB),
    cpp("taskflow-chunks", "Taskflow `Pipeline`", "Taskflow", Kind::Chunks, "items a chunk", SIZES, TASKFLOW),
    rust("crossbeam-chunks", "channels and a reorder buffer", "", Kind::Chunks, "items a chunk", SIZES),
    rust("pariter-chunks", "`pariter`", "", Kind::Chunks, "items a chunk", SIZES),
    rust("tokio-chunks", "tokio `spawn`, `buffered`", "", Kind::Chunks, "items a chunk", SIZES),
    rust("par-bridge-chunks", "rayon `par_bridge` (no order)", "", Kind::Chunks, "items a chunk", SIZES),
];

const fn rust(
    name: &'static str,
    label: &'static str,
    package: &'static str,
    kind: Kind,
    unit: &'static str,
    settings: &'static [usize],
) -> Rival {
    Rival { name, label, package, kind, cpp: false, unit, settings, install: CARGO }
}

const fn cpp(
    name: &'static str,
    label: &'static str,
    package: &'static str,
    kind: Kind,
    unit: &'static str,
    settings: &'static [usize],
    install: &'static str,
) -> Rival {
    Rival { name, label, package, kind, cpp: true, unit, settings, install }
}

impl Rival {
    /// Its name in the table.
    pub fn what(&self) -> String {
        let chunks = if self.kind == Kind::Chunks { " (chunks by hand)" } else { "" };
        format!("{}{chunks}", self.label)
    }

    /// A setting, as the last part of a remark.
    pub fn with(&self, setting: usize) -> String {
        match (self.unit, setting) {
            ("", _) => String::new(),
            (unit, 0) => format!("; {unit} by its own choice"),
            (unit, setting) => format!("; {setting} {unit}"),
        }
    }

    /// The digest that it must give. Without order this is a sum, because nothing else can be compared.
    pub fn expected(&self, work: Work, items: u64) -> Digest {
        if self.name.starts_with("par-bridge") {
            Digest::of_number((0..items).fold(0, |sum: u64, item| sum.wrapping_add(work.run(item))))
        } else {
            work.fold(0..items)
        }
    }
}

impl Kind {
    /// The target of a grain applies to rivals that keep the order item by item.
    pub fn target(self, of_grain: Target) -> Target {
        match self {
            Self::Ordered | Self::Collected => of_grain,
            Self::Unordered | Self::Chunks => Target::None,
        }
    }
}
