//! Building: from a plan to a network that runs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::plan::{Edge, Flow, Node, NodeId, Placement, Plan};
use anabranch_record::sync::Arc;

use super::ends::{Copies, End, Sides};
use super::kernel::Attach;
use super::{BuildError, Ends, Kernels};
use crate::network::{
    Horizon, Network,
    contents::{Contents, FIRINGS, Member},
    placed::PlacedRules,
    process::Process,
    records::Side,
};

/// A rule that is not in its network yet.
struct Draft<'env, E> {
    process: Arc<Process>,
    firings: usize,
    attach: Attach<'env, E>,
}

impl<'env, E: Send + 'env> Kernels<'env, E> {
    /// Makes a network of a plan. It runs on as many workers as the plan's settings say.
    ///
    /// A rule with replicas becomes several rules, which take turns with ranges of its items. Rules of one unit
    /// are fired by turns. Records without a horizon get [those of the plan](Plan::horizons). If rules are
    /// [placed](Placement::Core) on cores, each of the first workers prefers the rules of one core. Workers that are threads of the
    /// network are pinned to it. The thread that calls `run` is a worker too, and is not pinned. On a [pool](Network::pool) the
    /// placement has no effect.
    ///
    /// # Errors
    /// The plan is not a [valid](Plan::validate) network; it names a kernel or a type of items that is not
    /// known; the edges of a node do not fit the ports of its kernel, or its parameters do not; the records
    /// would take too much memory. The message names the node or the edge.
    pub fn build(&self, plan: &Plan) -> Result<Network<'env, E>, BuildError> {
        plan.validate()?;
        let net = Network::new().workers(plan.workers);
        match self.fill(plan, net.contents()) {
            Ok(()) => Ok(net),
            Err(error) => {
                net.discard();
                Err(error)
            }
        }
    }

    fn fill(&self, plan: &Plan, contents: &Contents<'env, E>) -> Result<(), BuildError> {
        let mut sides = self.records(plan, contents)?;
        let mut units: BTreeMap<usize, Vec<Draft<'env, E>>> = BTreeMap::new();
        let mut edges: Vec<Vec<usize>> = vec![Vec::new(); plan.nodes.len()];
        for (at, edge) in plan.edges.iter().enumerate() {
            edges[edge.from.0].push(at);
            if edge.to != edge.from {
                edges[edge.to.0].push(at);
            }
        }
        // The units of rules with copies, each of which has one rule.
        let copied: BTreeSet<usize> =
            plan.nodes.iter().filter(|node| copies(node) > 1).map(|node| node.unit).collect();
        for (node, edges) in plan.nodes.iter().zip(&edges) {
            let drafts = self.rules(plan, node, edges, contents, &mut sides)?;
            units.entry(node.unit).or_default().extend(drafts);
        }
        // The records inside of units, by their indices.
        let unit = |node: NodeId| plan.nodes[node.0].unit;
        let inside = plan.edges.iter().enumerate().filter(|(_, edge)| unit(edge.from) == unit(edge.to));
        let inside: BTreeSet<usize> = inside.map(|(at, _)| at).collect();
        // The core of each rule, or of all rules of a unit: that of the first which was placed.
        let mut on = Vec::new();
        for (unit, drafts) in units {
            let core =
                plan.nodes.iter().filter(|node| node.unit == unit).find_map(|node| match node.placement {
                    Placement::Core(core) => Some(core),
                    Placement::Workers => None,
                });
            if copied.contains(&unit) {
                on.resize(on.len() + drafts.len(), core);
                drafts.into_iter().for_each(|draft| add(contents, vec![draft], &inside));
            } else {
                on.push(core);
                add(contents, drafts, &inside);
            }
        }
        let cores = plan.cores_of_rules();
        if !cores.is_empty() {
            contents.network.set_placed(PlacedRules::new(&on, cores.into_iter().collect()));
        }
        Ok(())
    }

    /// Makes the records of all edges.
    fn records(&self, plan: &Plan, contents: &Contents<'env, E>) -> Result<Vec<Sides>, BuildError> {
        let horizons = plan.horizons()?;
        let mut bytes = 0usize;
        let mut kinds = Vec::new();
        for (edge, horizon) in plan.edges.iter().zip(&horizons) {
            let wrong = |text: String| {
                Err(BuildError::Kernel(format!("the edge from {} {text}", between(plan, edge))))
            };
            let Some(kind) = self.items.get(&*edge.item.name) else {
                let known: Vec<String> = self.items.keys().map(|name| format!("`{name}`")).collect();
                return wrong(format!(
                    "has items of `{}`, but no kernel has such a port; the kernels' items are {}",
                    edge.item.name,
                    known.join(", ")
                ));
            };
            if let Some(text) = kind.misfit(&edge.item) {
                return wrong(text);
            }
            bytes = bytes.saturating_add(horizon.saturating_mul(kind.size.max(1)));
            if bytes > self.most_bytes {
                return wrong(format!(
                    "has a horizon of {horizon}: with it the records take {bytes} bytes, more than the {} that are \
                     allowed (Kernels::most_bytes)",
                    self.most_bytes
                ));
            }
            kinds.push(kind);
        }
        let turns = turns(plan, &horizons);
        let mut sides = Vec::new();
        for ((edge, horizon), kind) in plan.edges.iter().zip(horizons).zip(kinds) {
            let flow = edge.flow;
            let Some(items) = kind.fill(&self.initial, flow.delay) else {
                return Err(BuildError::Kernel(format!(
                    "the edge from {} has a delay of {}, but the value of a {} to begin with is not known: set it with \
                     Kernels::initial",
                    between(plan, edge),
                    flow.delay,
                    edge.item.name
                )));
            };
            let name = format!("{} to {}", plan.nodes[edge.from.0].name, plan.nodes[edge.to.0].name);
            let range = |node: NodeId, rate: usize| (copies(&plan.nodes[node.0]), rate * turns[node.0]);
            let copies =
                Copies { writers: range(edge.from, flow.produces), readers: range(edge.to, flow.consumes) };
            sides.push(kind.make(
                contents,
                Horizon::of(horizon).grow_to(flow.grows_to).named(&name),
                copies,
                items,
            ));
        }
        Ok(sides)
    }

    /// Makes the rule of a node, or its copies. `edges` are the indices of its edges.
    fn rules(
        &self,
        plan: &Plan,
        node: &Node,
        edges: &[usize],
        contents: &Contents<'env, E>,
        sides: &mut [Sides],
    ) -> Result<Vec<Draft<'env, E>>, BuildError> {
        let wrong = |text: &str| {
            BuildError::Kernel(format!(
                "node `{}` ({}) with kernel `{}`: {text}",
                node.name, node.id, node.operator
            ))
        };
        let Some(kernel) = self.kernels.get(&*node.operator) else {
            let known: Vec<String> = self.names().map(|name| format!("`{name}`")).collect();
            return Err(wrong(&format!("there is no such kernel; the kernels are {}", known.join(", "))));
        };
        let mut drafts = Vec::new();
        for _ in 0..copies(node) {
            let (mut inputs, mut outputs) = (VecDeque::new(), VecDeque::new());
            for &at in edges {
                let (edge, (writers, readers)) = (&plan.edges[at], &mut sides[at]);
                let flow = edge.flow;
                let end = |view, flow: Flow| End { view, flow, item: edge.item.name.clone().into_owned() };
                if edge.from == node.id && !writers.is_empty() {
                    outputs.push_back(end(writers.remove(0), flow));
                }
                if edge.to == node.id && !readers.is_empty() {
                    inputs.push_back(end(readers.remove(0), flow));
                }
            }
            let (mut inputs, mut outputs) =
                (Ends::new(Side::Readers, inputs), Ends::new(Side::Writers, outputs));
            let attach =
                kernel.make(&node.parameters, &mut inputs, &mut outputs).map_err(|error| wrong(&error.0))?;
            let process = contents.new_process(Node { replicas: None, ..node.clone() });
            let firings = node.firings.unwrap_or(FIRINGS);
            drafts.push(Draft { process, firings, attach });
        }
        Ok(drafts)
    }
}

/// Adds rules that are fired by turns. `inside` are the indices of the records between them.
fn add<'env, E: Send + 'env>(
    contents: &Contents<'env, E>,
    drafts: Vec<Draft<'env, E>>,
    inside: &BTreeSet<usize>,
) {
    contents.add_rules(|link| {
        let member = |draft: Draft<'env, E>| {
            let Draft { process, firings, attach } = draft;
            let mut body = attach(&process, link);
            // One thread at a time runs the rules at both ends.
            body.set_alone(&|record| inside.contains(&record.index));
            Member::new(&process, firings, body)
        };
        drafts.into_iter().map(member).collect()
    });
}

fn copies(node: &Node) -> usize {
    node.replicas.unwrap_or(1).max(1)
}

/// How many firings in a row the items of a copy of each rule are for. It is the same number on all edges of the
/// rule, because the items that a copy writes must have the places of those that it reads.
fn turns(plan: &Plan, horizons: &[usize]) -> Vec<usize> {
    let mut turns: Vec<usize> = plan.nodes.iter().map(|node| node.firings.unwrap_or(1)).collect();
    for (edge, horizon) in plan.edges.iter().zip(horizons) {
        let flow = edge.flow;
        for (node, rate) in [(edge.from.0, flow.produces), (edge.to.0, flow.consumes)] {
            // All copies should find room or items at the same time.
            let fit = horizon / rate / copies(&plan.nodes[node]);
            turns[node] = turns[node].min(fit.max(1));
        }
    }
    turns
}

/// The names of an edge's ends, for messages.
fn between(plan: &Plan, edge: &Edge) -> String {
    let name = |id: NodeId| plan.node(id).map_or_else(String::new, |node| node.name.clone().into_owned());
    format!("`{}` ({}) to `{}` ({})", name(edge.from), edge.from, name(edge.to), edge.to)
}
