//! Passes: they rewrite a plan so that it runs better, and say what they did and why.
//!
//! A pass changes only units, replicas, windows and bursts. The results of the plan stay the
//! same, and only its time and its memory change. A pass decides by the costs of the nodes
//! ([`Node::cost`](crate::Node::cost)). It respects settings: what is set does not change, and a window becomes wider only if
//! this is allowed. Without costs, and for a plan that is not valid, it does nothing. Running a pass a second time changes
//! nothing.
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

    /// The plan as these passes would leave it, as text: what runs, what is predicted for this machine, and what
    /// each pass has done and why, or why it has done nothing.
    ///
    /// ```
    /// use anabranch_plan::{ItemType, Machine, Node, Pass, Passes, Plan, Settings};
    ///
    /// let mut plan = Plan::new(Settings::new(4, 64));
    /// plan.push(Node::source("read").cost(300));
    /// plan.then(ItemType::of::<u64>(), Node::serial("number").cost(20));
    /// plan.then(ItemType::of::<u64>(), Node::parallel("encode").cost(30_000));
    /// plan.then(ItemType::of::<u64>(), Node::sink("write").cost(5_000));
    /// let text = Passes::all().without(Pass::Burst).explain(&plan, &Machine::new(4));
    /// assert!(text.contains("fuse      `read` and `number` run as one"));
    /// assert!(text.contains("burst     (switched off)"));
    /// ```
    pub fn explain(&self, plan: &Plan, machine: &Machine) -> String {
        let mut changed = plan.clone();
        let notes = self.apply(&mut changed, machine);
        changed.explain_choices(machine, &notes, |pass| match () {
            () if !self.contains(pass) => "(switched off)".to_owned(),
            () if plan.validate().is_err() => "(the plan is not valid)".to_owned(),
            () if plan.nodes.iter().any(|node| node.cost.is_none()) => {
                "(nothing changed; not all costs are known)".to_owned()
            }
            () => "(nothing to be changed)".to_owned(),
        })
    }
}

impl Plan {
    /// Like [`explain_on`](Plan::explain_on), with a section on the choices: what each pass has done and why, or what
    /// `otherwise` says of a pass that has done nothing.
    pub fn explain_choices(
        &self,
        machine: &Machine,
        notes: &[Note],
        otherwise: impl Fn(Pass) -> String,
    ) -> String {
        let notes = notes.iter().map(|note| (note.pass.name(), &*note.text));
        choices(self.explain_on(machine), Pass::ALL.map(|pass| (pass.name(), otherwise(pass))), notes)
    }
}

/// A text with a section on the choices: for each pass what it says of its changes, or what is said of a pass without any.
pub fn choices<'n>(
    text: String,
    passes: impl IntoIterator<Item = (&'static str, String)>,
    notes: impl Iterator<Item = (&'static str, &'n str)> + Clone,
) -> String {
    let mut text = text + "\nChoices\n";
    for (pass, otherwise) in passes {
        let mut said = notes.clone().filter(|note| note.0 == pass).map(|note| note.1).peekable();
        if said.peek().is_none() {
            text += &format!("  {pass:<10}{otherwise}\n");
        }
        said.for_each(|said| text += &format!("  {pass:<10}{said}\n"));
    }
    text
}

/// All passes, and no window may become wider.
impl Default for Passes {
    fn default() -> Self {
        Passes::all()
    }
}
