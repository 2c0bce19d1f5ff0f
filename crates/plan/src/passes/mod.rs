//! Passes: they rewrite a plan so that it runs better, and say what they did and why.
//!
//! A pass changes only units, replicas, windows and bursts. The results of the plan stay the same, and only
//! its time and its memory change. A pass decides by the costs of the nodes
//! ([`Node::cost`](crate::Node::cost)). It respects settings: replicas and bursts that are set do not change,
//! and a window becomes wider only if this is allowed. A plan that is not valid does not change. Running a
//! pass a second time changes nothing.
//!
//! ```
//! use anabranch_plan::{ItemType, Machine, Node, Pass, Passes, Plan, Settings};
//!
//! let mut plan = Plan::new(Settings::new(4, 4_096));
//! plan.push(Node::source("read").cost(300));
//! plan.then(ItemType::of::<u64>(), Node::serial("number").cost(20));
//! plan.then(ItemType::of::<u64>(), Node::parallel("encode").cost(30_000));
//! plan.then(ItemType::of::<u64>(), Node::sink("write").cost(5_000));
//!
//! let notes = Passes::all().without(Pass::Replicas).apply(&mut plan, &Machine::new(4));
//! assert_eq!(
//!     notes[0].to_string(),
//!     "fuse: `read` and `number` run as one: both are serial, and 320 ns an item are too little to hand over"
//! );
//! assert_eq!(plan.domains[0].window, 64);
//! assert!(Passes::all().without(Pass::Replicas).apply(&mut plan, &Machine::new(4)).is_empty());
//! ```

mod burst;
mod fuse;
mod replicas;
mod window;

pub use burst::choose_burst;
pub use fuse::{FUSE_NS, fuse_serial_neighbours};
pub use replicas::choose_replicas;
pub use window::choose_window;

use crate::predict::{Bounds, Demands};
use crate::{Executor, Machine, Node, NodeId, Placement, Plan};
use std::fmt;

/// One of the passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Pass {
    /// [`fuse_serial_neighbours`].
    Fuse,
    /// [`choose_replicas`].
    Replicas,
    /// [`choose_window`].
    Window,
    /// [`choose_burst`].
    Burst,
}

impl Pass {
    /// All passes, in the order in which [`Passes::apply`] runs them.
    pub const ALL: [Pass; 4] = [Pass::Fuse, Pass::Replicas, Pass::Window, Pass::Burst];

    /// The name: `fuse`, `replicas`, `window` or `burst`.
    pub fn name(self) -> &'static str {
        match self {
            Pass::Fuse => "fuse",
            Pass::Replicas => "replicas",
            Pass::Window => "window",
            Pass::Burst => "burst",
        }
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One change that a pass has made to a plan, and the reason. Its [`Display`](fmt::Display) prints `pass:
/// text`. With the feature `json`, it implements `serde::Serialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Note {
    /// The pass.
    pub pass: Pass,
    /// The node that was changed. If there are several, the first.
    pub node: NodeId,
    /// A sentence without a full stop.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pass, self.text)
    }
}

/// The passes to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    on: [bool; Pass::ALL.len()],
    most_window: Option<usize>,
}

impl Passes {
    /// All passes.
    pub const fn all() -> Self {
        Passes { on: [true; Pass::ALL.len()], most_window: None }
    }

    /// No pass.
    pub const fn none() -> Self {
        Passes { on: [false; Pass::ALL.len()], most_window: None }
    }

    /// Switches a pass on.
    pub const fn with(mut self, pass: Pass) -> Self {
        self.on[pass as usize] = true;
        self
    }

    /// Switches a pass off.
    pub const fn without(mut self, pass: Pass) -> Self {
        self.on[pass as usize] = false;
        self
    }

    /// Allows a window to become wider, up to `items`. This is for a plan whose window the user did not set.
    pub const fn window_up_to(mut self, items: usize) -> Self {
        self.most_window = Some(items);
        self
    }

    /// Whether a pass is switched on.
    pub const fn contains(&self, pass: Pass) -> bool {
        self.on[pass as usize]
    }

    /// Runs the passes that are switched on, for the workers and the executor of the plan. Returns what they
    /// did, in the order in which they did it.
    pub fn apply(&self, plan: &mut Plan, machine: &Machine) -> Vec<Note> {
        let mut notes = Vec::new();
        // Networks have passes of their own.
        if plan.is_network() {
            return notes;
        }
        for pass in Pass::ALL.into_iter().filter(|pass| self.contains(*pass)) {
            notes.extend(match pass {
                Pass::Fuse => fuse_serial_neighbours(plan, machine),
                Pass::Replicas => choose_replicas(plan, machine),
                Pass::Window => choose_window(plan, machine, self.most_window),
                Pass::Burst => choose_burst(plan, machine),
            });
        }
        notes
    }
}

/// All passes, and no window may become wider.
impl Default for Passes {
    fn default() -> Self {
        Passes::all()
    }
}

/// How many threads share the work of the plan, without the threads of dedicated nodes.
fn workers(plan: &Plan) -> usize {
    if plan.settings.executor == Executor::Inline { 1 } else { plan.settings.workers }
}

/// Whether the run has one thread only, so that items are never handed over.
fn is_alone(plan: &Plan) -> bool {
    let dedicated = plan.nodes.iter().any(|node| node.placement == Placement::Dedicated);
    plan.settings.executor == Executor::Inline || (plan.settings.workers == 1 && !dedicated)
}

/// The demands of a plan and the time between two items that they allow. `None` if one thread runs the plan,
/// or its costs are not known.
fn demands(plan: &Plan, machine: &Machine) -> Option<(Demands, f64)> {
    if is_alone(plan) {
        return None;
    }
    let demands = Demands::of(plan, machine).ok()?;
    let time = Bounds::new(plan, &demands, machine).by_costs_alone(workers(plan));
    Some((demands, time))
}

/// The sum of the costs of the nodes, if all of them are known.
fn known_cost(nodes: &[Node]) -> Option<f64> {
    nodes.iter().map(|node| node.cost.map(|cost| cost as f64)).sum()
}

/// The names of the nodes in backquotes: `` `read` and `number` ``.
fn names(nodes: &[Node]) -> String {
    let names: Vec<String> =
        nodes.iter().map(|node| format!("`{}`", crate::wording::plain(&node.name))).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
