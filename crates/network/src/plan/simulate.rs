//! A simulation of the workers that fire the rules of a network: discrete events, firing by firing.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::room::turn;
use crate::plan::{Flow, Plan};
use anabranch_plan::Overhead;

/// The time from the moment at which a rule is ready until a worker that sleeps fires it, in nanoseconds.
pub(super) const CALL_NS: f64 = 20_000.0;
/// How many firings are simulated.
const FIRINGS: usize = 24_000;
/// One in this many of the simulated firings is warm-up and is not measured. These come first.
const WARM_UP: usize = 3;

/// The outcome of a simulation.
#[derive(Debug, Clone)]
pub(super) struct Simulated {
    /// The time of an iteration, in nanoseconds.
    pub(super) iteration: f64,
    /// The share of the time in which each rule was fired. More than 1 for copies that run at the same time.
    pub(super) busy: Vec<f64>,
    /// The mean number of items in each record.
    pub(super) items: Vec<f64>,
    /// For each record, the share of the time in which only a lack of room kept its writer from firing.
    pub(super) full: Vec<f64>,
    /// The share of the time in which the workers were busy, of all of them together.
    pub(super) workers: f64,
}

/// A unit: rules that one worker fires by turns.
struct Unit {
    members: Vec<usize>,
    /// How many workers may be inside, and how many are.
    copies: usize,
    inside: usize,
    queued: bool,
}

/// A worker inside a unit.
#[derive(Clone, Copy)]
struct Visit {
    unit: usize,
    member: usize,
    /// How many times the member has fired in this turn.
    fired: usize,
    has_fired: bool,
}

struct Edge {
    flow: Flow,
    from: usize,
    to: usize,
    horizon: usize,
    /// Items that are committed and that no firing has begun to consume.
    ready: usize,
    /// Slots that are not free.
    used: usize,
    /// When the fields below were last brought up to date.
    since: f64,
    item_time: f64,
    full_time: f64,
}

struct Simulation<'p> {
    plan: &'p Plan,
    costs: &'p [f64],
    overhead: Overhead,
    units: Vec<Unit>,
    edges: Vec<Edge>,
    inputs: Vec<Vec<usize>>,
    outputs: Vec<Vec<usize>>,
    unit_of: Vec<usize>,
    queue: VecDeque<usize>,
    /// The unit that each worker takes next: the last one that its firings have made ready.
    slots: Vec<Option<usize>>,
    idle: Vec<usize>,
    visits: Vec<Option<Visit>>,
    /// The ends of firings: the time in picoseconds, and the worker.
    ends: BinaryHeap<Reverse<(u64, usize)>>,
    now: f64,
    fired: Vec<u64>,
    busy: Vec<f64>,
    worked: f64,
}

/// Simulates a valid network on some workers. `costs` are the times of the kernels in nanoseconds. `None` if it
/// stands still.
pub(super) fn simulate(
    plan: &Plan,
    firings: &[u64],
    costs: &[f64],
    horizons: &[usize],
    workers: usize,
    overhead: Overhead,
) -> Option<Simulated> {
    let mut simulation = Simulation::new(plan, costs, horizons, workers, overhead);
    let mut start: Option<(f64, Vec<u64>, Vec<f64>, f64)> = None;
    for event in 0..FIRINGS {
        if event == FIRINGS / WARM_UP {
            simulation.settle_all();
            for edge in &mut simulation.edges {
                (edge.item_time, edge.full_time) = (0.0, 0.0);
            }
            start =
                Some((simulation.now, simulation.fired.clone(), simulation.busy.clone(), simulation.worked));
        }
        simulation.step()?;
    }
    let (began, fired, busy, worked) = start?;
    simulation.settle_all();
    let time = (simulation.now - began).max(1.0);
    let iterations = simulation
        .fired
        .iter()
        .zip(&fired)
        .zip(firings)
        .map(|((after, before), firings)| (after - before) as f64 / *firings as f64);
    let iterations = iterations.sum::<f64>() / firings.len().max(1) as f64;
    Some(Simulated {
        iteration: time / iterations.max(f64::MIN_POSITIVE),
        busy: simulation.busy.iter().zip(&busy).map(|(after, before)| (after - before) / time).collect(),
        items: simulation.edges.iter().map(|edge| edge.item_time / time).collect(),
        full: simulation.edges.iter().map(|edge| edge.full_time / time).collect(),
        workers: (simulation.worked - worked) / time / workers as f64,
    })
}

impl<'p> Simulation<'p> {
    fn new(plan: &'p Plan, costs: &'p [f64], horizons: &[usize], workers: usize, overhead: Overhead) -> Self {
        let count = plan.nodes.len();
        let mut units: Vec<Unit> = Vec::new();
        let mut numbers: Vec<usize> = Vec::new();
        let mut unit_of = Vec::with_capacity(count);
        for (at, node) in plan.nodes.iter().enumerate() {
            let unit = numbers.iter().position(|number| *number == node.unit).unwrap_or_else(|| {
                numbers.push(node.unit);
                let copies = node.replicas.unwrap_or(1).max(1);
                units.push(Unit { members: Vec::new(), copies, inside: 0, queued: false });
                units.len() - 1
            });
            units[unit].members.push(at);
            unit_of.push(unit);
        }
        let edges = plan.edges.iter().zip(horizons).map(|(edge, horizon)| Edge {
            flow: edge.flow,
            from: edge.from.0,
            to: edge.to.0,
            horizon: *horizon,
            ready: edge.flow.delay,
            used: edge.flow.delay,
            since: 0.0,
            item_time: 0.0,
            full_time: 0.0,
        });
        let edges: Vec<Edge> = edges.collect();
        let (mut inputs, mut outputs) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (at, edge) in edges.iter().enumerate() {
            outputs[edge.from].push(at);
            inputs[edge.to].push(at);
        }
        let mut simulation = Simulation {
            plan,
            costs,
            overhead,
            units,
            edges,
            inputs,
            outputs,
            unit_of,
            queue: VecDeque::new(),
            slots: vec![None; workers],
            idle: Vec::new(),
            visits: vec![None; workers],
            ends: BinaryHeap::new(),
            now: 0.0,
            fired: vec![0; count],
            busy: vec![0.0; count],
            worked: 0.0,
        };
        for unit in 0..simulation.units.len() {
            if simulation.is_ready(unit) {
                simulation.enqueue(unit);
            }
        }
        for worker in 0..workers {
            simulation.seek(worker, 0.0);
        }
        simulation
    }

    /// Brings the sums of an edge up to date.
    fn settle(&mut self, edge: usize) {
        let edge = &mut self.edges[edge];
        let time = self.now - edge.since;
        edge.item_time += time * edge.ready as f64;
        if edge.used + edge.flow.produces > edge.horizon {
            edge.full_time += time;
        }
        edge.since = self.now;
    }

    fn settle_all(&mut self) {
        (0..self.edges.len()).for_each(|edge| self.settle(edge));
    }

    fn may_fire(&self, node: usize) -> bool {
        self.inputs[node].iter().all(|&edge| self.edges[edge].ready >= self.edges[edge].flow.sees())
            && self.outputs[node].iter().all(|&edge| {
                let edge = &self.edges[edge];
                edge.used + edge.flow.produces <= edge.horizon
            })
    }

    /// Whether another worker may enter a unit and fire, and none will.
    fn is_ready(&self, unit: usize) -> bool {
        let Unit { members, copies, inside, queued } = &self.units[unit];
        !queued && inside < copies && members.iter().any(|member| self.may_fire(*member))
    }

    /// Queues a unit for any worker.
    fn enqueue(&mut self, unit: usize) {
        self.units[unit].queued = true;
        self.queue.push_back(unit);
    }

    /// Puts a unit that a worker has made ready into the worker's slot. The unit that was there is for any
    /// worker.
    fn poke(&mut self, worker: usize, unit: usize) {
        if self.is_ready(unit) {
            self.units[unit].queued = true;
            if let Some(other) = self.slots[worker].replace(unit) {
                self.queue.push_back(other);
            }
        }
    }

    /// Lets a worker take the next unit after `delay`, or go idle.
    fn seek(&mut self, worker: usize, delay: f64) {
        while let Some(unit) = self.slots[worker].take().or_else(|| self.queue.pop_front()) {
            self.units[unit].queued = false;
            self.units[unit].inside += 1;
            let visit = Visit { unit, member: 0, fired: 0, has_fired: false };
            if self.go_on(worker, visit, delay + self.overhead.turn) {
                // Another worker may enter a unit with copies as well.
                if self.is_ready(unit) {
                    self.enqueue(unit);
                }
                return;
            }
            self.units[unit].inside -= 1;
        }
        self.visits[worker] = None;
        self.idle.push(worker);
    }

    /// Begins the next firing of a visit. Returns whether there is one.
    fn go_on(&mut self, worker: usize, mut visit: Visit, delay: f64) -> bool {
        while let Some(&node) = self.units[visit.unit].members.get(visit.member) {
            if visit.fired < turn(&self.plan.nodes[node]) && self.may_fire(node) {
                for at in 0..self.inputs[node].len() {
                    let edge = self.inputs[node][at];
                    self.settle(edge);
                    self.edges[edge].ready -= self.edges[edge].flow.consumes;
                }
                for at in 0..self.outputs[node].len() {
                    let edge = self.outputs[node][at];
                    self.settle(edge);
                    self.edges[edge].used += self.edges[edge].flow.produces;
                }
                let time = self.costs[node] + self.overhead.firing;
                self.busy[node] += time;
                self.worked += time + delay.min(self.overhead.turn);
                visit.fired += 1;
                visit.has_fired = true;
                self.visits[worker] = Some(visit);
                let end = ((self.now + delay + time) * 1e3).round() as u64;
                self.ends.push(Reverse((end, worker)));
                return true;
            }
            visit.member += 1;
            visit.fired = 0;
        }
        false
    }

    /// Ends the next firing. `None` if no worker fires.
    fn step(&mut self) -> Option<()> {
        let Reverse((end, worker)) = self.ends.pop()?;
        self.now = end as f64 * 1e-3;
        let visit = self.visits[worker]?;
        let node = self.units[visit.unit].members[visit.member];
        self.fired[node] += 1;
        let mut neighbours = Vec::new();
        for at in 0..self.inputs[node].len() {
            let edge = self.inputs[node][at];
            self.settle(edge);
            self.edges[edge].used -= self.edges[edge].flow.consumes;
            neighbours.push(self.unit_of[self.edges[edge].from]);
        }
        for at in 0..self.outputs[node].len() {
            let edge = self.outputs[node][at];
            self.settle(edge);
            self.edges[edge].ready += self.edges[edge].flow.produces;
            neighbours.push(self.unit_of[self.edges[edge].to]);
        }
        for unit in neighbours {
            self.poke(worker, unit);
        }
        if !self.go_on(worker, visit, 0.0) {
            self.units[visit.unit].inside -= 1;
            if self.is_ready(visit.unit) {
                self.enqueue(visit.unit);
            }
            self.seek(worker, 0.0);
        }
        while !self.queue.is_empty() && !self.idle.is_empty() {
            let Some(worker) = self.idle.pop() else { break };
            let before = self.queue.len();
            self.seek(worker, CALL_NS);
            if self.queue.len() >= before {
                break;
            }
        }
        Some(())
    }
}
