//! Passes over networks: they rewrite a plan so that it runs faster or takes less memory, and say what they
//! did and why.
//!
//! A pass changes only units, replicas, turns, horizons and the placement of rules. So the items that pass through each record stay
//! the same. A pass decides by the costs of the rules, and respects what is set: replicas, turns, horizons
//! and units of several rules do not change. Without costs, and for a plan that is not valid, it does nothing. What firings
//! and turns cost is that of the [`Machine`]; on the machine of a program, `anabranch::network::measured_overhead` measures it.

mod burst;
mod fission;
mod fuse;
mod horizon;
mod place;
mod strip;

use std::fmt;

use super::Cores;
use crate::quantity::span;
use crate::wording::plain;
use crate::{Machine, Node, NodeId, Plan, Role};

/// One of the passes over networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Pass {
    /// Makes copies of a rule without state that takes more of an iteration than its share. The copies take
    /// turns with ranges of its items, so the order stays.
    Fission,
    /// Joins neighbouring rules into a unit that one worker fires by turns, so that they need not be handed
    /// from queue to queue.
    Fuse,
    /// Chooses how many times in a row a rule fires: so often that handing the rule on costs 0.3 % of that, but at most 256
    /// times. With the [measured](crate::Overhead::MEASURED) overhead this is 10 µs of work.
    Burst,
    /// Strip-mines the units of several rules: shortens their turns until the records between them fit into
    /// the cache of a core.
    Strip,
    /// Chooses the smallest horizons with which the predicted throughput is at least 95 % of that with ample
    /// ones (S. Stuijk and others, *Exploring Trade-Offs in Buffer Requirements and Throughput Constraints for
    /// Synchronous Dataflow Graphs*, 2006).
    Horizon,
    /// Places rules that exchange many items on cores that hand them over quickly, with about the same work for each core. It
    /// needs to know the [`Cores`], and does nothing if they are [alike](Cores::are_alike).
    Place,
}

impl Pass {
    /// All passes, in the order in which [`Passes::apply`] runs them.
    pub const ALL: [Pass; 6] =
        [Pass::Fission, Pass::Fuse, Pass::Burst, Pass::Strip, Pass::Horizon, Pass::Place];

    /// The name: `fission`, `fuse`, `burst`, `strip`, `horizon` or `place`.
    pub fn name(self) -> &'static str {
        match self {
            Pass::Fission => "fission",
            Pass::Fuse => "fuse",
            Pass::Burst => "burst",
            Pass::Strip => "strip",
            Pass::Horizon => "horizon",
            Pass::Place => "place",
        }
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One change that a pass has made to a network, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Note {
    /// The pass.
    pub pass: Pass,
    /// The rule that was changed. If there are several, the first. For a horizon, the rule that writes.
    pub node: NodeId,
    /// A sentence without a full stop.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pass, self.text)
    }
}

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
        for pass in Pass::ALL.into_iter().filter(|pass| self.contains(*pass)) {
            let before = plan.clone();
            let new = match pass {
                Pass::Fission => fission::apply(plan, machine),
                Pass::Fuse => fuse::apply(plan, machine),
                Pass::Burst => burst::apply(plan, machine),
                Pass::Strip => strip::apply(plan),
                Pass::Horizon => horizon::apply(plan, machine),
                Pass::Place => place::apply(plan, machine, cores),
            };
            // A pass that would break the plan has met a case that it does not know.
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

/// How many workers have a core.
fn workers(plan: &Plan, machine: &Machine) -> usize {
    plan.settings.workers.min(machine.cores).max(1)
}

/// The time of each rule in an iteration, in nanoseconds. `None` if a cost is not known.
fn loads(plan: &Plan, machine: &Machine) -> Option<Vec<f64>> {
    let firings = plan.repetitions().ok()?;
    let load =
        |(node, firings): (&Node, u64)| Some((node.cost? as f64 + machine.overhead.firing) * firings as f64);
    plan.nodes.iter().zip(firings).map(load).collect()
}

/// Whether several rules share the unit of a rule.
fn is_joined(plan: &Plan, node: &Node) -> bool {
    plan.nodes.iter().any(|other| other.unit == node.unit && other.id != node.id)
}

fn copies(node: &Node) -> usize {
    node.replicas.unwrap_or(1).max(1)
}

/// The name of a rule in backquotes.
fn name(node: &Node) -> String {
    debug_assert_eq!(node.role, Role::Rule);
    format!("`{}`", plain(&node.name))
}
