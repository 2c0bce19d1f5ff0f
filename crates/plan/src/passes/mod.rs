//! Passes: they rewrite a plan so that it runs better, and say what they did and why.
//!
//! A pass changes only units, replicas, windows, bursts, turns, horizons and placements. The results of the plan stay the
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

use crate::network::Cores;
use crate::quantity::span;
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
    /// did, in the order in which they did it. The cores are taken to be alike.
    ///
    /// ```
    /// use anabranch_plan::{Flow, ItemType, Machine, Node, Pass, Passes, Plan, State};
    ///
    /// let mut plan = Plan::network(4);
    /// let source = plan.rule(Node::rule("source").cost(500));
    /// let filter = plan.rule(Node::rule("filter").state(State::None).cost(9_000));
    /// let sink = plan.rule(Node::rule("sink").cost(300));
    /// plan.record(source, filter, ItemType::of::<f32>(), Flow::of(1, 1));
    /// plan.record(filter, sink, ItemType::of::<f32>(), Flow::of(1, 1));
    ///
    /// let notes = Passes::all().without(Pass::Horizon).apply(&mut plan, &Machine::new(4));
    /// assert_eq!(plan.nodes[filter.0].replicas, Some(4));
    /// assert!(notes[0].to_string().starts_with("fission: `filter` runs in 4 copies"));
    /// ```
    pub fn apply(&self, plan: &mut Plan, machine: &Machine) -> Vec<Note> {
        self.apply_on(plan, machine, &Cores::unknown())
    }

    /// Like [`apply`](Self::apply), on these cores.
    ///
    /// ```
    /// use anabranch_plan::network::Cores;
    /// use anabranch_plan::{Flow, ItemType, Machine, Node, Pass, Passes, Placement, Plan};
    ///
    /// // Two lines that exchange nothing, on two pairs of cores.
    /// let mut plan = Plan::network(4);
    /// let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| plan.rule(Node::rule(name).cost(5_000)));
    /// plan.record(a, c, ItemType::of::<[u8; 4_096]>(), Flow::of(1, 1));
    /// plan.record(b, d, ItemType::of::<[u8; 4_096]>(), Flow::of(1, 1));
    /// let cores = Cores::new(4, |a, b| if a / 2 == b / 2 { 40.0 } else { 200.0 });
    ///
    /// let notes = Passes::none().with(Pass::Place).apply_on(&mut plan, &Machine::new(4), &cores);
    /// assert!(notes[0].text.contains("takes 5.12 µs of an iteration, and would take 25.6 µs"), "{}", notes[0]);
    /// let on = [a, b, c, d].map(|rule| match plan.nodes[rule.0].placement {
    ///     Placement::Core(core) => core / 2,
    ///     _ => unreachable!("it was placed"),
    /// });
    /// assert!(on[0] == on[2] && on[1] == on[3] && on[0] != on[1]);
    /// ```
    pub fn apply_on(&self, plan: &mut Plan, machine: &Machine, cores: &Cores) -> Vec<Note> {
        let passes = Pass::ALL.into_iter().filter(|pass| self.contains(*pass));
        if plan.is_network() {
            return crate::network::passes::apply(passes, plan, machine, cores);
        }
        let mut notes = Vec::new();
        for pass in passes {
            notes.extend(match pass {
                Pass::Fuse => fuse_serial_neighbours(plan, machine),
                Pass::Replicas => choose_replicas(plan, machine),
                Pass::Window => choose_window(plan, machine, self.most_window),
                Pass::Burst => choose_burst(plan, machine),
                Pass::Fission | Pass::Strip | Pass::Horizon | Pass::Place => Vec::new(),
            });
        }
        notes
    }

    /// The plan as these passes would leave it, as text: what runs, what is predicted for this machine, and what
    /// each pass has done and why, or why it has done nothing.
    ///
    /// ```
    /// use anabranch_plan::{Flow, ItemType, Machine, Node, Pass, Passes, Plan};
    ///
    /// let mut plan = Plan::network(1);
    /// let source = plan.rule(Node::rule("source").cost(50));
    /// let sink = plan.rule(Node::rule("sink").cost(80));
    /// plan.record(source, sink, ItemType::of::<f32>(), Flow::of(1, 1));
    /// let text = Passes::all().without(Pass::Burst).explain(&plan, &Machine::new(1));
    /// assert!(text.contains("fuse      `source` and `sink` are fired by turns: with one worker"));
    /// assert!(text.contains("burst     (switched off)"));
    /// ```
    pub fn explain(&self, plan: &Plan, machine: &Machine) -> String {
        self.explain_on(plan, machine, &Cores::unknown())
    }

    /// Like [`explain`](Self::explain), on these cores.
    pub fn explain_on(&self, plan: &Plan, machine: &Machine, cores: &Cores) -> String {
        let mut changed = plan.clone();
        let notes = self.apply_on(&mut changed, machine, cores);
        changed.explain_choices(machine, &notes, |pass| match () {
            () if !self.contains(pass) => "(switched off)".to_owned(),
            () if plan.validate().is_err() => "(the plan is not valid)".to_owned(),
            () if plan.is_network() && plan.check_rules().is_err() => "(not all rates are known)".to_owned(),
            () if pass == Pass::Place && cores.are_alike() => match cores.range() {
                None => {
                    "(nothing to be changed; what the cores take to hand items over is not known)".to_owned()
                }
                Some((least, most)) => {
                    let (least, most) = (span(least), span(most));
                    let range = if least == most { least } else { format!("{least} to {most}") };
                    format!(
                        "(nothing to be changed; the cores are alike: between any two, a cache line takes {range})"
                    )
                }
            },
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
        let mut text = self.explain_on(machine) + "\nChoices\n";
        for pass in Pass::ALL.into_iter().filter(|pass| pass.is_for(self)) {
            let said = notes.iter().filter(|note| note.pass == pass).map(|note| note.text.clone());
            let mut said: Vec<String> = said.collect();
            if said.is_empty() {
                said.push(otherwise(pass));
            }
            for line in said {
                text += &format!("  {pass:<10}{line}\n");
            }
        }
        text
    }
}

/// All passes, and no window may become wider.
impl Default for Passes {
    fn default() -> Self {
        Passes::all()
    }
}
