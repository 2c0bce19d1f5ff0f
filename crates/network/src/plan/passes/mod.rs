//! Passes over networks. They change only units, replicas, turns, horizons and the placement of rules. So the items that pass
//! through each record stay the same. They respect what is set: replicas, turns, horizons and units of several rules do not
//! change. The costs of firings and turns are those of the [`Machine`].

mod burst;
mod fission;
mod fuse;
mod horizon;
mod known;
mod place;
mod strip;

use std::fmt;

use anabranch_plan::drawing::choices;
use anabranch_plan::quantity::span;

use super::{Cores, Machine, NodeId, Plan};

/// One of the passes over networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Pass {
    /// Makes copies of a rule without state that takes more of an iteration than its share. The copies take
    /// turns with ranges of its items, so the order stays.
    Fission,
    /// Joins neighbouring rules into a unit that one worker fires by turns, so that they need not be handed from queue to queue.
    Fuse,
    /// Chooses how many times in a row a rule fires, so that handing the rule on costs 0.3 % of the turn, but at most 256
    /// times. With the [measured](anabranch_plan::Overhead::MEASURED) overhead this is 10 µs of work.
    Burst,
    /// Shortens the turns of units of several rules until the records between them fit into the cache of a core
    /// (strip-mining).
    Strip,
    /// Chooses the smallest horizons with which the predicted throughput is at least 95 % of that with ample
    /// ones (S. Stuijk and others, *Exploring Trade-Offs in Buffer Requirements and Throughput Constraints for
    /// Synchronous Dataflow Graphs*, 2006).
    Horizon,
    /// Places rules that exchange many items on cores that hand them over quickly, with about the same work for
    /// each core. It needs to know the [`Cores`], and does nothing if they are [alike](Cores::are_alike).
    Place,
}

impl Pass {
    /// All passes, in the order in which [`Passes::apply`] runs them.
    pub const ALL: [Pass; 6] =
        [Pass::Fission, Pass::Fuse, Pass::Burst, Pass::Strip, Pass::Horizon, Pass::Place];

    /// The name, such as `fuse`.
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

/// One change that a pass has made to a plan, and the reason. Its [`Display`](fmt::Display) prints `pass:
/// text`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The pass.
    pub pass: Pass,
    /// The node that was changed. If there are several, the first. For a horizon, the rule that writes.
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
    pub const fn with(mut self, pass: Pass) -> Self {
        self.on[pass as usize] = true;
        self
    }

    /// Switches a pass off.
    pub const fn without(mut self, pass: Pass) -> Self {
        self.on[pass as usize] = false;
        self
    }

    /// Whether a pass is switched on.
    pub const fn contains(&self, pass: Pass) -> bool {
        self.on[pass as usize]
    }

    /// Runs the passes that are switched on. Returns what they
    /// did, in the order in which they did it. The cores are taken to be alike.
    ///
    /// ```
    /// use anabranch_network::plan::{Flow, ItemType, Machine, Node, Pass, Passes, Plan, State};
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
    /// use anabranch_network::plan::Cores;
    /// use anabranch_network::plan::{Flow, ItemType, Machine, Node, Pass, Passes, Placement, Plan};
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
    ///     Placement::Workers => unreachable!("it was placed"),
    /// });
    /// assert!(on[0] == on[2] && on[1] == on[3] && on[0] != on[1]);
    /// ```
    pub fn apply_on(&self, plan: &mut Plan, machine: &Machine, cores: &Cores) -> Vec<Note> {
        apply(Pass::ALL.into_iter().filter(|pass| self.contains(*pass)), plan, machine, cores)
    }

    /// The plan as these passes would leave it, as text: what runs, what is predicted for this machine, and what
    /// each pass has done and why, or why it has done nothing.
    ///
    /// ```
    /// use anabranch_network::plan::{Flow, ItemType, Machine, Node, Pass, Passes, Plan};
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
        let otherwise = |pass| match () {
            () if !self.contains(pass) => "(switched off)".to_owned(),
            () if plan.validate().is_err() => "(the plan is not valid)".to_owned(),
            () if plan.check_rules().is_err() => "(not all rates are known)".to_owned(),
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
        };
        let passes = Pass::ALL.map(|pass| (pass.name(), otherwise(pass)));
        let notes = notes.iter().map(|note| (note.pass.name(), &*note.text));
        choices(changed.explain_on(machine), passes, notes)
    }
}

impl Default for Passes {
    fn default() -> Self {
        Passes::all()
    }
}

/// Runs these passes over a network, in this order.
fn apply(passes: impl Iterator<Item = Pass>, plan: &mut Plan, machine: &Machine, cores: &Cores) -> Vec<Note> {
    let mut notes = Vec::new();
    if plan.validate().is_err() || plan.check_rules().is_err() {
        return notes;
    }
    let set_turns: Vec<bool> = plan.nodes.iter().map(|node| node.firings.is_some()).collect();
    for pass in passes {
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
