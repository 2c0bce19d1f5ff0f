//! Compares predictions and passes with a simulation. Its workers look for work from the sink to the source,
//! its serial units take one item at a time in order, and its source waits for room in the window. The time
//! is simulated, so the outcome is the same on every machine.

use anabranch_plan::{ItemType, Limit, Machine, Node, Overhead, Pass, Passes, Plan, Prediction, Settings};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// How the costs of the items differ.
#[derive(Clone, Copy, Debug)]
enum Items {
    Even,
    /// Between half and one and a half times the mean.
    Uneven,
    /// One in 16 costs eight times the mean, the rest about half of it.
    Skewed,
}

impl Items {
    fn cost(self, mean: u64, unit: usize, index: u64) -> u64 {
        let mut random = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (unit as u64 + 1);
        for (left, right) in [(13, 7), (17, 11)] {
            random ^= random << left;
            random ^= random >> right;
        }
        match self {
            Items::Even => mean,
            Items::Uneven => mean / 2 + random % mean.max(1),
            Items::Skewed if random.is_multiple_of(16) => mean * 8,
            Items::Skewed => mean * 8 / 15,
        }
    }
}

/// A unit of the line, while it is simulated.
struct Unit {
    mean: u64,
    parallel: bool,
    most: usize,
    running: usize,
    /// The items that wait before it, and the next index if it is serial.
    ready: BTreeSet<u64>,
    next: u64,
}

/// The nanoseconds that an item takes in a plan with one domain, measured in the middle of the stream.
fn simulate(plan: &Plan, items: Items) -> f64 {
    const COUNT: u64 = 6_000;
    let (workers, window) = (plan.settings.workers, plan.domains[0].window as u64);
    let mut units: Vec<Unit> = plan
        .nodes
        .chunk_by(|a, b| a.unit == b.unit)
        .map(|nodes| Unit {
            mean: nodes.iter().map(|node| node.cost.unwrap_or(0)).sum(),
            parallel: nodes[0].role.is_parallel(),
            most: nodes.iter().filter_map(|node| node.replicas).min().unwrap_or(usize::MAX),
            running: 0,
            ready: BTreeSet::new(),
            next: 0,
        })
        .collect();
    let (mut idle, mut now, mut released, mut pulled) = (workers, 0, 0, 0);
    let mut running = BinaryHeap::new();
    let mut ends = Vec::new();
    while released < COUNT {
        while idle > 0 {
            let last = units.len() - 1;
            let found = (0..=last).rev().find_map(|at| {
                let unit = &mut units[at];
                let is_free = unit.running < if unit.parallel { unit.most } else { 1 };
                let item = match at {
                    0 => (pulled < released + window).then_some(pulled),
                    _ if unit.parallel => unit.ready.first().copied(),
                    _ => unit.ready.first().copied().filter(|first| *first == unit.next),
                };
                item.filter(|_| is_free).map(|item| (at, item))
            });
            let Some((at, item)) = found else { break };
            units[at].running += 1;
            units[at].ready.remove(&item);
            if at == 0 {
                pulled += 1;
            }
            idle -= 1;
            running.push(Reverse((now + items.cost(units[at].mean, at, item), at, item)));
        }
        let Reverse((end, at, item)) = running.pop().expect("somebody works");
        now = end;
        idle += 1;
        units[at].running -= 1;
        if !units[at].parallel {
            units[at].next = item + 1;
        }
        match units.get_mut(at + 1) {
            Some(after) => {
                after.ready.insert(item);
            }
            None => {
                released += 1;
                ends.push(now);
            }
        }
    }
    let (first, last) = (COUNT as usize / 6, COUNT as usize - 1);
    (ends[last] - ends[first]) as f64 / (last - first) as f64
}

fn ideal() -> Machine {
    Machine::ample().overhead(Overhead::NONE)
}

fn predicted(plan: &Plan) -> Prediction {
    plan.predict_on(&ideal(), plan.settings.workers).unwrap()
}

/// Twenty lines with all kinds of stages. Their costs put the limit at each place in turn.
fn lines() -> Vec<Plan> {
    let costs: [[u64; 5]; 10] = [
        [1_000, 30_000, 0, 0, 2_000],
        [9_000, 30_000, 0, 0, 2_000],
        [1_000, 30_000, 0, 0, 9_000],
        [500, 9_000, 3_000, 12_000, 700],
        [500, 9_000, 9_000, 12_000, 700],
        [500, 60_000, 800, 12_000, 700],
        [500, 9_000, 800, 90_000, 700],
        [200, 400, 100, 300, 100],
        [100, 1_000_000, 100, 5_000, 40_000],
        [4_000, 20_000, 4_000, 20_000, 4_000],
    ];
    let line = |workers: usize, costs: [u64; 5]| {
        let [source, first, middle, second, sink] = costs;
        let mut plan = Plan::new(Settings::new(workers, 4_096));
        plan.push(Node::source("source").cost(source));
        plan.then(ItemType::of::<u64>(), Node::parallel("first").cost(first));
        if middle > 0 {
            plan.then(ItemType::of::<u64>(), Node::serial("middle").cost(middle));
            plan.then(ItemType::of::<u64>(), Node::parallel("second").cost(second));
        }
        plan.then(ItemType::of::<u64>(), Node::sink("sink").cost(sink));
        plan
    };
    costs.into_iter().flat_map(|costs| [line(3, costs), line(16, costs)]).collect()
}

// The bounds do not depend on how much the items differ. This matters only if they differ much.
#[test]
fn predictions_are_within_a_tenth_of_the_simulation_and_a_fifth_for_skewed_items() {
    for items in [Items::Even, Items::Uneven, Items::Skewed] {
        for (at, plan) in lines().into_iter().enumerate() {
            let (predicted, simulated) = (predicted(&plan), simulate(&plan, items));
            let off = simulated / predicted.per_item - 1.0;
            // If a serial stage and the workers limit about equally, the stage often has to wait for a
            // worker.
            let serial =
                plan.nodes.iter().filter(|node| !node.role.is_parallel()).filter_map(|node| node.cost);
            let meet = predicted.limit == Limit::Workers
                && serial.max().unwrap_or(0) as f64 > 0.8 * predicted.per_item;
            let most = match items {
                _ if meet => 0.2,
                Items::Even | Items::Uneven => 0.1,
                Items::Skewed => 0.2,
            };
            assert!(
                (-0.03..most).contains(&off),
                "line {at}, {items:?}: {simulated} ns where {predicted} ({:?})",
                predicted.limit
            );
        }
    }
}

#[test]
fn narrow_windows_and_few_replicas_are_predicted_too() {
    for (at, mut plan) in lines().into_iter().enumerate() {
        if at % 2 == 0 {
            plan.domains[0].window = 2 + at % 4;
        } else {
            plan.nodes[1].replicas = Some(1 + at % 3);
        }
        let (predicted, simulated) = (predicted(&plan), simulate(&plan, Items::Even));
        let off = simulated / predicted.per_item - 1.0;
        assert!((-0.03..0.25).contains(&off), "line {at}: {simulated} ns where {predicted}");
    }
}

#[test]
fn what_the_passes_choose_is_within_a_tenth_of_the_best() {
    for items in [Items::Even, Items::Uneven, Items::Skewed] {
        for (at, plan) in lines().into_iter().enumerate() {
            let mut chosen = plan.clone();
            let passes = Passes::all().without(Pass::Burst).window_up_to(usize::MAX);
            passes.apply(&mut chosen, &Machine::ample());
            let mut best = f64::MAX;
            for window in [4, 16, 64, 256, 4_096] {
                for replicas in [Some(1), Some(4), None] {
                    let mut other = plan.clone();
                    other.domains[0].window = window;
                    for node in other.nodes.iter_mut().filter(|node| node.role.is_parallel()) {
                        node.replicas = replicas;
                    }
                    best = best.min(simulate(&other, items));
                }
            }
            let time = simulate(&chosen, items);
            let window = chosen.domains[0].window;
            assert!(time <= 1.1 * best, "line {at}, {items:?}, window {window}: {time} ns for {best}");
        }
    }
}
