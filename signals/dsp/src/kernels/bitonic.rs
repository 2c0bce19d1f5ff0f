//! Batcher's bitonic sort: a network of compare-and-exchange steps (K. Batcher, *Sorting Networks and their
//! Applications*, 1968). Each step is a process.

use crate::{Result, Run};

use super::lay::Lay;
use super::noise::Noise;
use super::{Digest, Kernel, Task};

pub(super) const KERNEL: Kernel = Kernel {
    name: "bitonic",
    about: "bitonic sort of 64 numbers, in 21 steps",
    unit: "numbers",
    units: KEYS as u64,
    run,
};

/// The number of values that are sorted together.
const KEYS: usize = 64;

/// One step: compares numbers whose positions differ in the bit `distance`. Runs of `run` numbers rise and fall
/// in turn.
#[derive(Debug, Clone, Copy)]
struct Step {
    run: usize,
    distance: usize,
}

impl Step {
    fn all() -> Vec<Step> {
        let mut steps = Vec::new();
        let mut run = 2;
        while run <= KEYS {
            let mut distance = run / 2;
            while distance > 0 {
                steps.push(Step { run, distance });
                distance /= 2;
            }
            run *= 2;
        }
        steps
    }

    fn apply(self, from: &[u32], to: &mut [u32]) {
        to.copy_from_slice(from);
        for keys in to.chunks_exact_mut(KEYS) {
            for at in 0..KEYS {
                let other = at ^ self.distance;
                if other > at && (keys[at] > keys[other]) == (at & self.run == 0) {
                    keys.swap(at, other);
                }
            }
        }
    }
}

fn append(digest: &mut Digest, sorted: &[u32]) {
    sorted.iter().for_each(|&key| digest.append(key.into()));
}

fn run(task: &Task, run: &Run) -> Result<Digest> {
    let (burst, steps) = (KEYS * task.burst, Step::all());
    let (mut noise, mut digest) = (Noise::new(1), Digest::EMPTY);
    let mut source = move |keys: &mut [u32]| keys.iter_mut().for_each(|key| *key = noise.number());
    if run.is_inline() {
        let (mut keys, mut sorted) = (vec![0; burst], vec![0; burst]);
        for _ in 0..task.firings() {
            source(&mut keys);
            for step in &steps {
                step.apply(&keys, &mut sorted);
                std::mem::swap(&mut keys, &mut sorted);
            }
            append(&mut digest, &keys);
        }
        return Ok(digest);
    }
    let mut lay = Lay::new(run);
    let (give, mut take) = lay.record("keys", burst);
    lay.source("source", task.firings(), (give, burst), source);
    for step in steps {
        let (give, next) = lay.record("keys", burst);
        lay.stage("step", (take, burst), (give, burst), move |from, to| step.apply(from, to));
        take = next;
    }
    lay.sink("sink", (take, burst), |sorted| append(&mut digest, sorted));
    run.network(lay.net)?;
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_sort() {
        let mut noise = Noise::new(3);
        let mut keys: Vec<u32> = (0..3 * KEYS).map(|_| noise.number()).collect();
        let mut expected = keys.clone();
        expected.chunks_mut(KEYS).for_each(<[u32]>::sort_unstable);
        for step in Step::all() {
            let from = keys.clone();
            step.apply(&from, &mut keys);
        }
        assert_eq!(keys, expected);
        assert_eq!(Step::all().len(), 21);
    }
}
