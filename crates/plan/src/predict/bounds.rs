//! The bounds of operational analysis on the time between two items.

use super::demand::{Demands, UnitDemand, dearest};
use super::machine::{Machine, Overhead};
use super::prediction::Limit;
use crate::{NodeId, Plan};

/// How long a pull of the source takes at its mean cost, in nanoseconds.
const PULL_NS: f64 = 20_000.0;
/// The most items of a pull.
const PULL_ITEMS: f64 = 2_048.0;

/// The least time between two items that one limit allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// The time in nanoseconds.
    pub(crate) time: f64,
    pub(crate) limit: Limit,
    pub(crate) node: NodeId,
    /// The domain of the limit, if it belongs to one.
    pub(crate) domain: usize,
}

/// The bounds of a plan on a machine.
#[derive(Debug)]
pub(crate) struct Bounds<'p> {
    pub(super) plan: &'p Plan,
    pub(super) demands: &'p Demands,
    pub(super) machine: &'p Machine,
}

impl<'p> Bounds<'p> {
    pub(crate) fn new(plan: &'p Plan, demands: &'p Demands, machine: &'p Machine) -> Self {
        Bounds { plan, demands, machine }
    }

    /// The greatest bound for this many workers. If several are equal, the first that more workers would not
    /// lower.
    pub(crate) fn tightest(&self, workers: usize) -> Bound {
        self.tightest_of(workers, |_| true)
    }

    /// The same if windows were so large that they do not limit.
    pub(crate) fn tightest_but_window(&self, workers: usize) -> Bound {
        self.tightest_of(workers, |limit| limit != Limit::Window)
    }

    fn tightest_of(&self, workers: usize, counts: impl Fn(Limit) -> bool) -> Bound {
        let all = self.busiest_worker(workers);
        if self.is_plain_loop(workers) {
            return Bound { time: self.demands.sequential, ..all };
        }
        let fixed = self.tightest_fixed(Some(workers), counts);
        fixed.filter(|fixed| fixed.time >= all.time).unwrap_or(all)
    }

    /// By how much the time between two items exceeds the greatest bound, if the bounds of a serial unit and
    /// of the workers are close to each other.
    pub(super) fn contention(&self, bound: &Bound, workers: usize) -> f64 {
        let is_theirs = matches!(bound.limit, Limit::Serial | Limit::Cores | Limit::Workers);
        if !is_theirs || self.is_plain_loop(workers) {
            return 1.0;
        }
        let serial = self.demands.units.iter().filter(|unit| !unit.parallel).map(|unit| unit.time);
        let serial = serial.fold(0.0, f64::max);
        let shared = self.cores().time.max(self.busiest_worker(workers).time);
        let nearness = (serial.min(shared) / serial.max(shared).max(f64::MIN_POSITIVE)).powi(8);
        let Overhead { meeting, crowding, .. } = self.machine.overhead;
        // Only workers that have something to do take a core from others.
        let crowd = 1.0 - (self.machine.cores as f64 / workers as f64).min(1.0);
        let is_by_cores = self.cores().time >= self.busiest_worker(workers).time;
        1.0 + nearness * (meeting + if is_by_cores { crowding * crowd } else { 0.0 })
    }

    /// The time between two items if windows, bursts and replicas did not limit: what the costs alone allow.
    pub(crate) fn by_costs_alone(&self, workers: usize) -> f64 {
        if self.is_plain_loop(workers) {
            return self.demands.sequential;
        }
        let serial = self.demands.units.iter().filter(|unit| !unit.parallel).map(|unit| unit.time);
        let shared = self.cores().time.max(self.busiest_worker(workers).time);
        serial.fold(shared, f64::max)
    }

    /// The smallest number of workers that reaches what the other bounds allow. `None` if nothing else
    /// limits.
    pub(crate) fn enough_workers(&self) -> Option<usize> {
        let floor = self.tightest_fixed(None, |_| true)?.time;
        if self.is_plain_loop(1) && self.demands.sequential <= floor {
            return Some(1);
        }
        // A tiny amount is subtracted, so that 4.0000000001 becomes 4.
        let workers = (self.worker_time() / floor - 1e-9).ceil();
        Some((workers as usize).max(1))
    }

    /// The time from asking for an item until the sink has finished it, while the bound holds.
    pub(crate) fn latency(&self, bound: &Bound, workers: usize) -> f64 {
        if self.is_plain_loop(workers) {
            return self.demands.sequential;
        }
        let claims = self.demands.units.iter().filter_map(|unit| {
            let items = unit.burst?;
            Some((items as f64 - 1.0) / 2.0 * unit.each)
        });
        let alone = self.demands.alone + claims.sum::<f64>();
        let windows = self.plan.domains.iter().zip(&self.demands.indices);
        // Counted in items of the source. Items that never reach a domain do not queue in it.
        let full = |last: usize| -> f64 {
            let used = windows.clone().take(last + 1).filter(|(_, index)| **index > 0.0);
            used.map(|(domain, index)| domain.window as f64 / index).sum()
        };
        let in_flight = match bound.limit {
            Limit::Workers | Limit::Cores => {
                let source = self.plan.nodes[0].cost.unwrap_or(0) as f64;
                let pulled = (PULL_NS / source.max(1.0)).clamp(1.0, PULL_ITEMS);
                (pulled + workers as f64).min(full(0))
            }
            // Nothing queues after a source that is always asked for the next item at once.
            Limit::Serial if self.demands.units[0].first + self.demands.units[0].len > bound.node.0 => 1.0,
            _ => full(bound.domain),
        };
        alone.max(in_flight * bound.time)
    }

    /// Whether one worker runs the plan alone, and so runs the plain loop.
    pub(crate) fn is_plain_loop(&self, workers: usize) -> bool {
        workers == 1 && !self.demands.units.iter().any(|unit| unit.dedicated)
    }

    /// The greatest bound that more workers do not lower, for this many workers or for any number.
    fn tightest_fixed(&self, workers: Option<usize>, counts: impl Fn(Limit) -> bool) -> Option<Bound> {
        let units = self.demands.units.iter().filter_map(|unit| self.unit(unit, workers));
        let cores = (self.machine.cores < usize::MAX).then(|| self.cores());
        let mut bounds: Vec<Bound> = units.chain(self.windows()).chain(cores).collect();
        bounds.retain(|bound| bound.time > 0.0 && counts(bound.limit));
        bounds.into_iter().reduce(|best, bound| if bound.time > best.time { bound } else { best })
    }

    fn unit(&self, unit: &UnitDemand, workers: Option<usize>) -> Option<Bound> {
        let bound = |limit, calls: usize| Bound {
            time: unit.time / calls as f64,
            limit,
            node: unit.dearest(self.demands),
            domain: unit.domain,
        };
        if !unit.parallel {
            return Some(bound(Limit::Serial, 1));
        }
        let workers = workers.unwrap_or(usize::MAX);
        // The lane into a unit has at least the window of the domain.
        let claims = unit.burst.map(|burst| (self.plan.domains[unit.domain].window / burst).max(1));
        let replicas = unit.replicas.unwrap_or(usize::MAX);
        match claims {
            Some(claims) if claims < workers && claims < replicas => Some(bound(Limit::Burst, claims)),
            _ if replicas < workers => Some(bound(Limit::Replicas, replicas)),
            _ => None,
        }
    }

    fn windows(&self) -> impl Iterator<Item = Bound> {
        self.plan.domains.iter().enumerate().map(|(index, domain)| {
            let nodes = || self.plan.nodes.iter().filter(move |node| node.domain == index);
            let time: f64 = nodes().map(|node| self.demands.nodes[node.id.0]).sum();
            Bound {
                time: time / domain.window as f64,
                limit: Limit::Window,
                node: dearest(nodes().map(|node| node.id.0), &self.demands.nodes),
                domain: index,
            }
        })
    }

    fn cores(&self) -> Bound {
        let time: f64 = self.demands.units.iter().map(|unit| unit.processor).sum();
        Bound {
            time: self.shared(time) / self.machine.cores as f64,
            limit: Limit::Cores,
            node: dearest(0..self.plan.nodes.len(), &self.demands.processor),
            domain: 0,
        }
    }

    fn busiest_worker(&self, workers: usize) -> Bound {
        let units = self.demands.units.iter().filter(|unit| !unit.dedicated);
        let nodes = units.flat_map(|unit| unit.first..unit.first + unit.len);
        Bound {
            time: self.worker_time() / workers as f64,
            limit: Limit::Workers,
            node: dearest(nodes, &self.demands.nodes),
            domain: 0,
        }
    }

    /// The time of workers for an item, in nanoseconds.
    fn worker_time(&self) -> f64 {
        let units = self.demands.units.iter().filter(|unit| !unit.dedicated);
        self.shared(units.map(|unit| unit.time).sum())
    }

    fn shared(&self, time: f64) -> f64 {
        time * (1.0 + self.machine.overhead.sharing)
    }
}
