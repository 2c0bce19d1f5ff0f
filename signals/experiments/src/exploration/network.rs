//! The benchmark as a network of processes with threads.

use anabranch_network::{All, Closed, Dealt, Horizon, Network, Plan, Reader, Writer};

use dsp::{Error, Result};

use super::work::{consumed, produced};
use super::{Task, Work};

/// Returns the sum that each consumer finds.
///
/// # Errors
/// If the network cannot run, for example because the system gives no threads.
pub fn network(task: &Task) -> Result<Vec<u32>> {
    let mut sums = vec![0; task.shape.consumers];
    build(task, &mut sums).run().map_err(|error| Error::new(error.to_string()))?;
    Ok(sums)
}

/// Returns the plan of the network.
pub fn plan(task: &Task) -> Plan {
    // The network is not run, so the sums stay alive as long as it may.
    let sums = Box::leak(vec![0; task.shape.consumers].into_boxed_slice());
    build(task, sums).plan()
}

fn build<'env>(task: &Task, sums: &'env mut [u32]) -> Network<'env, Error> {
    let (task, mut net) = (*task, Network::new());
    let horizon = Horizon::of(task.horizon.max(2 * task.burst * task.shape.producers)).named("numbers");
    if (task.shape.producers, task.shape.consumers) == (1, 1) {
        let (give, mut take) = net.record(horizon);
        produce(&mut net, &task, vec![give]);
        let sum = &mut sums[0];
        net.process("consume", move |_| {
            pin(&task, 1);
            *sum = consume_dealt(&mut take, task);
            Ok(())
        });
        return net;
    }
    let writers = Dealt::of(task.shape.producers, task.burst);
    let (gives, takes) = net.shared(horizon, writers, All::of(task.shape.consumers));
    produce(&mut net, &task, gives);
    for (at, (mut take, sum)) in takes.into_iter().zip(sums).enumerate() {
        net.process("consume", move |_| {
            pin(&task, task.shape.producers + at);
            *sum = consume_all(&mut take, task);
            Ok(())
        });
    }
    net
}

/// Adds the producers.
fn produce(net: &mut Network<'_, Error>, task: &Task, gives: Vec<Writer<u32>>) {
    let task = *task;
    let bursts = task.rounded() / (task.burst * task.shape.producers) as u64;
    for (at, mut give) in gives.into_iter().enumerate() {
        net.process("produce", move |_| {
            pin(&task, at);
            // The consumers stay to the end, unless the network ends for another reason.
            let _ = (0..bursts).try_for_each(|_| store(&mut give, task.burst, task.work));
            Ok(())
        });
    }
}

#[inline]
fn store(give: &mut Writer<u32>, burst: usize, work: Work) -> std::result::Result<(), Closed> {
    let mut slots = give.stall(burst)?;
    let first = slots.index();
    slots.with_slices(|at, slice| {
        slice.iter_mut().zip(first + at as u64..).for_each(|(slot, index)| *slot = produced(work, index));
    });
    slots.commit();
    Ok(())
}

macro_rules! consume {
    ($name:ident, $views:ty) => {
        fn $name(take: &mut Reader<u32, $views>, task: Task) -> u32 {
            let mut sum = 0;
            loop {
                let numbers = take.receive(task.burst);
                if numbers.is_empty() {
                    return sum;
                }
                numbers.with_slices(|_, slice| sum = consumed(task.work, sum, slice));
                numbers.release();
            }
        }
    };
}

consume!(consume_dealt, Dealt);
consume!(consume_all, All);

/// Binds the calling thread to one processor, if the task asks for it and the system can do it.
fn pin(task: &Task, process: usize) {
    #[cfg(target_os = "linux")]
    if task.is_pinned {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let Ok(allowed) = sched_getaffinity(None) else { return };
        let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
        let mut one = CpuSet::new();
        one.set(allowed[process % allowed.len()]);
        // A process that could not be pinned runs anywhere.
        let _ = sched_setaffinity(None, &one);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (task, process);
}
