//! The pass that lets rules which exchange items run on cores that are near each other.

use std::collections::{BTreeMap, BTreeSet};

use super::known::{copies, loads, name};
use crate::plan::Cores;
use crate::plan::{Machine, NodeId, Note, Pass, Placement, Plan};
use anabranch_plan::quantity::span;

/// A core may get this many times its share of the work.
const ROOM: f64 = 1.1;
/// How many times the pass looks for units that are better placed elsewhere.
const MOST_ROUNDS: usize = 20;
/// With more units than this, no two of them change places.
const MOST_SWAPPED_UNITS: usize = 200;
/// The size of a cache line, in bytes.
const LINE_BYTES: f64 = 64.0;
/// How many rules a note names.
const NAMED_RULES: usize = 4;

pub(super) fn apply(plan: &mut Plan, machine: &Machine, cores: &Cores) -> Vec<Note> {
    // If the user has placed any rule, the pass does nothing.
    if cores.are_alike() || plan.nodes.iter().any(|node| node.placement != Placement::Workers) {
        return Vec::new();
    }
    let workers = plan.workers.min(cores.count());
    let (Some(units), true) = (Units::of(plan, machine), workers > 1) else { return Vec::new() };
    let in_turn: Vec<usize> = (0..units.loads.len()).map(|unit| unit % workers).collect();
    let placed = units.placed(cores, workers);
    let (before, after) = (units.cost(cores, &in_turn), units.cost(cores, &placed));
    if after > before {
        return Vec::new();
    }
    let mut notes = Vec::new();
    for core in placed.iter().copied().collect::<BTreeSet<_>>() {
        let here: Vec<usize> = (0..plan.nodes.len())
            .filter(|at| units.of_node[*at].is_some_and(|unit| placed[unit] == core))
            .collect();
        for &at in &here {
            plan.nodes[at].placement = Placement::Core(core);
        }
        let mut names: Vec<String> = here.iter().take(NAMED_RULES).map(|at| name(&plan.nodes[*at])).collect();
        if here.len() > NAMED_RULES {
            names.push(format!("{} others", here.len() - NAMED_RULES));
        }
        let mut text = format!("core {core} gets {}", names.join(", "));
        if notes.is_empty() && before > 0.0 {
            text += &format!(
                ": handing items from core to core takes {} of an iteration, and would take {} if the cores took the rules \
                 in turn",
                span(after),
                span(before)
            );
        }
        notes.push(Note { pass: Pass::Place, node: NodeId(here[0]), text });
    }
    notes
}

/// The units that are placed. A rule with copies is in none, because its copies are everywhere.
struct Units {
    /// The unit of each node.
    of_node: Vec<Option<usize>>,
    /// The time of each unit in an iteration, in nanoseconds.
    loads: Vec<f64>,
    /// For each unit, the others with which it exchanges items, and how many cache lines in an iteration.
    lines: Vec<BTreeMap<usize, f64>>,
}

impl Units {
    fn of(plan: &Plan, machine: &Machine) -> Option<Self> {
        let (loads_of_nodes, firings) = (loads(plan, machine)?, plan.repetitions().ok()?);
        let mut numbers = BTreeMap::new();
        let (mut of_node, mut loads) = (Vec::new(), Vec::new());
        for (node, load) in plan.nodes.iter().zip(loads_of_nodes) {
            if copies(node) > 1 {
                of_node.push(None);
                continue;
            }
            let unit = *numbers.entry(node.unit).or_insert_with(|| {
                loads.push(0.0);
                loads.len() - 1
            });
            loads[unit] += load;
            of_node.push(Some(unit));
        }
        let mut lines = vec![BTreeMap::new(); loads.len()];
        for (edge, flow) in plan.edges.iter().map(|edge| (edge, edge.flow)) {
            let (Some(from), Some(to)) = (of_node[edge.from.0], of_node[edge.to.0]) else { continue };
            if from != to {
                let items = firings[edge.from.0] as f64 * flow.produces as f64;
                let many = items * edge.item.size as f64 / LINE_BYTES;
                *lines[from].entry(to).or_insert(0.0) += many;
                *lines[to].entry(from).or_insert(0.0) += many;
            }
        }
        (loads.len() > 1).then_some(Units { of_node, loads, lines })
    }

    /// The cost of a unit on a core, if the others stand on these cores.
    fn cost_on(&self, cores: &Cores, unit: usize, core: usize, on: impl Fn(usize) -> Option<usize>) -> f64 {
        let lines = self.lines[unit].iter();
        lines.filter_map(|(other, many)| Some(many * cores.cost(core, on(*other)?))).sum()
    }

    fn cost(&self, cores: &Cores, on: &[usize]) -> f64 {
        let units = 0..self.loads.len();
        units.map(|unit| self.cost_on(cores, unit, on[unit], |other| Some(on[other]))).sum::<f64>() / 2.0
    }

    /// The core of each unit: on at most `workers` cores, of which none has much more than its share of the work.
    fn placed(&self, cores: &Cores, workers: usize) -> Vec<usize> {
        let total: f64 = self.loads.iter().sum();
        let most = self.loads.iter().copied().fold(ROOM * total / workers as f64, f64::max) * (1.0 + 1e-9);
        let mut work = vec![0.0; cores.count()];
        let mut used = BTreeSet::new();
        let mut on: Vec<Option<usize>> = vec![None; self.loads.len()];
        // Each unit goes to the core with room that is nearest to the units with which it
        // exchanges items.
        for unit in 0..self.loads.len() {
            let open = |core: &usize| used.contains(core) || used.len() < workers;
            let cost = |core: usize| {
                let over = f64::max(work[core] + self.loads[unit] - most, 0.0);
                // Among equal cores, one near the used cores is taken, so that later units are near as well.
                let near: f64 = used.iter().map(|other| cores.cost(core, *other)).sum();
                (over, self.cost_on(cores, unit, core, |other| on[other]), near)
            };
            let best = (0..cores.count()).filter(open).min_by(|a, b| {
                let (a, b) = (cost(*a), cost(*b));
                a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
            });
            let best = best.unwrap_or(0);
            used.insert(best);
            work[best] += self.loads[unit];
            on[unit] = Some(best);
        }
        let mut on: Vec<usize> = on.into_iter().map(|core| core.unwrap_or(0)).collect();
        for _ in 0..MOST_ROUNDS {
            let moved = self.move_units(cores, most, &used, &mut work, &mut on);
            let swapped =
                self.loads.len() <= MOST_SWAPPED_UNITS && self.swap_units(cores, most, &mut work, &mut on);
            if !moved && !swapped {
                break;
            }
        }
        on
    }

    /// Moves units to cores where they cost less. Returns whether it has moved one.
    fn move_units(
        &self,
        cores: &Cores,
        most: f64,
        used: &BTreeSet<usize>,
        work: &mut [f64],
        on: &mut [usize],
    ) -> bool {
        let mut moved = false;
        for unit in 0..on.len() {
            let (here, load) = (on[unit], self.loads[unit]);
            let cost = |core: usize| self.cost_on(cores, unit, core, |other| Some(on[other]));
            let now = cost(here);
            let better = used.iter().filter(|core| **core != here && work[**core] + load <= most);
            let best = better.map(|core| (cost(*core), *core)).min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((_, there)) = best.filter(|(cost, _)| *cost < now * (1.0 - 1e-9)) {
                work[here] -= load;
                work[there] += load;
                on[unit] = there;
                moved = true;
            }
        }
        moved
    }

    /// Lets pairs of units change places if this costs less. Returns whether one has.
    fn swap_units(&self, cores: &Cores, most: f64, work: &mut [f64], on: &mut [usize]) -> bool {
        let mut swapped = false;
        for a in 0..on.len() {
            for b in a + 1..on.len() {
                let (at, bt) = (on[a], on[b]);
                let more = self.loads[a] - self.loads[b];
                if at == bt || work[at] - more > most || work[bt] + more > most {
                    continue;
                }
                // The lines between the two are counted twice before and after.
                let both = |on: &[usize]| -> f64 {
                    let cost = |unit: usize| self.cost_on(cores, unit, on[unit], |other| Some(on[other]));
                    cost(a) + cost(b)
                };
                let now = both(on);
                on.swap(a, b);
                if both(on) < now * (1.0 - 1e-9) {
                    work[at] -= more;
                    work[bt] += more;
                    swapped = true;
                } else {
                    on.swap(a, b);
                }
            }
        }
        swapped
    }
}
