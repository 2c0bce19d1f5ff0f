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
mod known;
mod note;
mod replicas;
mod window;

pub use burst::choose_burst;
pub use fuse::{FUSE_NS, fuse_serial_neighbours};
pub use note::{Note, Pass};
pub use replicas::choose_replicas;
pub use window::choose_window;

use crate::{Machine, Plan};

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
