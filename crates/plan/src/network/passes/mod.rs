//! Passes over networks: they rewrite a plan so that it runs faster or takes less memory, and say what they
//! did and why.
//!
//! A pass changes only units, replicas, turns, horizons and the placement of rules. So the items that pass through each
//! record stay the same. A pass decides by the costs of the rules, and respects what is set: replicas, turns, horizons
//! and units of several rules do not change. Without costs, and for a plan that is not valid, it does nothing. The
//! costs of firings and turns are those of the [`Machine`]. On the machine of a program,
//! `anabranch::network::measured_overhead` measures them.

mod burst;
mod fission;
mod fuse;
mod horizon;
mod known;
mod note;
mod place;
mod strip;

pub use note::{Note, Pass};

use super::Cores;
use crate::quantity::span;
use crate::{Machine, Plan};

/// The passes to run over a network.
///
/// ```
/// use anabranch_plan::network::{Pass, Passes};
/// use anabranch_plan::{Flow, ItemType, Machine, Node, Plan, State};
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
/// assert!(Passes::all().without(Pass::Horizon).apply(&mut plan, &Machine::new(4)).is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    on: [bool; Pass::ALL.len()],
}

impl Passes {
    /// All passes.
    pub const fn all() -> Self {
        Passes { on: [true; Pass::ALL.len()] }
    }

    /// No pass.
    pub const fn none() -> Self {
        Passes { on: [false; Pass::ALL.len()] }
    }

    /// Switches a pass on.
    #[must_use]
    pub const fn with(mut self, pass: Pass) -> Self {
        self.on[pass as usize] = true;
        self
    }

    /// Switches a pass off.
    #[must_use]
    pub const fn without(mut self, pass: Pass) -> Self {
        self.on[pass as usize] = false;
        self
    }

    /// Whether a pass is switched on.
    pub const fn contains(&self, pass: Pass) -> bool {
        self.on[pass as usize]
    }

    /// Runs the passes that are switched on, for the workers of the plan. Returns what they did, in the order
    /// in which they did it. The cores are taken to be alike.
    pub fn apply(&self, plan: &mut Plan, machine: &Machine) -> Vec<Note> {
        self.apply_on(plan, machine, &Cores::new(0, |_, _| 0.0))
    }

    /// Like [`apply`](Self::apply), on these cores.
    ///
    /// ```
    /// use anabranch_plan::network::{Cores, Pass, Passes};
    /// use anabranch_plan::{Flow, ItemType, Machine, Node, Placement, Plan};
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
        let mut notes = Vec::new();
        if !plan.is_network() || plan.validate().is_err() {
            return notes;
        }
        let set_turns: Vec<bool> = plan.nodes.iter().map(|node| node.firings.is_some()).collect();
        for pass in Pass::ALL.into_iter().filter(|pass| self.contains(*pass)) {
            let before = plan.clone();
            let new = match pass {
                Pass::Fission => fission::apply(plan, machine),
                Pass::Fuse => fuse::apply(plan, machine),
                Pass::Burst => burst::apply(plan, machine),
                Pass::Strip => strip::apply(plan, &set_turns),
                Pass::Horizon => horizon::apply(plan, machine),
                Pass::Place => place::apply(plan, machine, cores),
            };
            // If the plan is no longer valid, the pass has met a case that it does not handle, and its changes are undone.
            if plan.validate().is_ok() { notes.extend(new) } else { *plan = before }
        }
        notes
    }
}

impl Passes {
    /// The network as these passes would leave it, as text: what runs, what is predicted for this machine, and what
    /// each pass has done and why, or why it has done nothing.
    ///
    /// ```
    /// use anabranch_plan::network::{Pass, Passes};
    /// use anabranch_plan::{Flow, ItemType, Machine, Node, Plan};
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
        self.explain_on(plan, machine, &Cores::new(0, |_, _| 0.0))
    }

    /// Like [`explain`](Self::explain), on these cores.
    pub fn explain_on(&self, plan: &Plan, machine: &Machine, cores: &Cores) -> String {
        let mut changed = plan.clone();
        let notes = self.apply_on(&mut changed, machine, cores);
        let mut text = changed.explain_on(machine);
        text += "\nChoices\n";
        let alike = match cores.range() {
            None => "(nothing to be changed; what the cores take to hand items over is not known)".to_owned(),
            Some((least, most)) => {
                let (least, most) = (span(least), span(most));
                let range = if least == most { least } else { format!("{least} to {most}") };
                format!(
                    "(nothing to be changed; the cores are alike: between any two, a cache line takes {range})"
                )
            }
        };
        for pass in Pass::ALL {
            let said: Vec<&str> =
                notes.iter().filter(|note| note.pass == pass).map(|note| &*note.text).collect();
            let otherwise = match () {
                () if !self.contains(pass) => "(switched off)",
                () if plan.validate().is_err() => "(the plan is not valid)",
                () if pass == Pass::Place && cores.are_alike() => &alike,
                () if plan.nodes.iter().any(|node| node.cost.is_none()) => {
                    "(nothing changed; not all costs are known)"
                }
                () => "(nothing to be changed)",
            };
            let lines = if said.is_empty() { vec![otherwise] } else { said };
            for line in lines {
                text += &format!("  {pass:<10}{line}\n");
            }
        }
        text
    }
}

/// All passes.
impl Default for Passes {
    fn default() -> Self {
        Passes::all()
    }
}
