//! A filter bank: each of eight branches filters the signal, keeps every eighth sample, puts zeros in place of
//! the others, and filters again. The branches are added.

use crate::filter::{Causal, Fir, low_pass_of};
use crate::{Result, Run};

use super::lay::Lay;
use super::noise::Noise;
use super::{Digest, Kernel, Task};

pub(super) const KERNEL: Kernel = Kernel {
    name: "filterbank",
    about: "a bank of eight filters that decimates and expands",
    unit: "samples",
    units: SAMPLES as u64,
    run,
};

const BRANCHES: usize = 8;
const TAPS: usize = 128;
/// The number of samples that pass together.
const SAMPLES: usize = 64;

/// One branch.
struct Branch {
    analysis: Causal,
    synthesis: Causal,
    kept: Vec<f32>,
    expanded: Vec<f32>,
}

impl Branch {
    fn new(branch: usize, samples: usize) -> Self {
        let low = low_pass_of(0.5 / BRANCHES as f64, TAPS);
        // The low-pass filter, shifted to the middle of the branch's band.
        let middle = std::f64::consts::PI * (branch as f64 + 0.5) / BRANCHES as f64;
        let shifted = low.iter().enumerate().map(|(n, tap)| 2.0 * tap * (middle * n as f64).cos());
        let taps: Vec<f64> = shifted.collect();
        Self {
            analysis: Causal::new(Fir::new(taps.clone(), BRANCHES)),
            synthesis: Causal::new(Fir::new(taps, 1)),
            kept: vec![0.0; samples / BRANCHES],
            expanded: vec![0.0; samples],
        }
    }

    fn analyse(&mut self, from: &[f32], to: &mut [f32]) {
        self.analysis.apply(from, to);
    }

    fn synthesise(&mut self, from: &[f32], to: &mut [f32]) {
        for (slots, &sample) in self.expanded.chunks_exact_mut(BRANCHES).zip(from) {
            slots[0] = BRANCHES as f32 * sample;
        }
        self.synthesis.apply(&self.expanded, to);
    }
}

/// Adds the branches; `from` has one burst behind the other.
fn add(from: &[f32], to: &mut [f32]) {
    let samples = to.len();
    for (n, sum) in to.iter_mut().enumerate() {
        *sum = (0..BRANCHES).fold(0.0, |sum, branch| sum + from[branch * samples + n]);
    }
}

fn run(task: &Task, run: &Run) -> Result<Digest> {
    let samples = SAMPLES * task.burst;
    let (mut noise, mut digest) = (Noise::new(2), Digest::EMPTY);
    let branches = (0..BRANCHES).map(|branch| Branch::new(branch, samples));
    if run.is_inline() {
        let mut branches: Vec<Branch> = branches.collect();
        let (mut signal, mut sum) = (vec![0.0; samples], vec![0.0; samples]);
        let mut bands = vec![0.0; BRANCHES * samples];
        for _ in 0..task.firings() {
            noise.signal(&mut signal);
            for (branch, band) in branches.iter_mut().zip(bands.chunks_exact_mut(samples)) {
                let mut kept = std::mem::take(&mut branch.kept);
                branch.analyse(&signal, &mut kept);
                branch.synthesise(&kept, band);
                branch.kept = kept;
            }
            add(&bands, &mut sum);
            digest.append_all(&sum);
        }
        return Ok(digest);
    }
    let mut lay = Lay::new(run);
    let (give, takes) = lay.fork("signal", samples, BRANCHES);
    lay.source("source", task.firings(), (give, samples), move |signal| noise.signal(signal));
    let (gives, bands) = lay.join("bands", samples, BRANCHES);
    for (at, (take, give)) in takes.into_iter().zip(gives).enumerate() {
        let (give_kept, kept) = lay.record("kept", samples / BRANCHES);
        let (mut first, mut second) = (Branch::new(at, samples), Branch::new(at, samples));
        let to = (give_kept, samples / BRANCHES);
        lay.stage("analysis", (take, samples), to, move |from, to| first.analyse(from, to));
        let from = (kept, samples / BRANCHES);
        lay.stage("synthesis", from, (give, samples), move |from, to| second.synthesise(from, to));
    }
    let (give, sums) = lay.record("sums", samples);
    lay.stage("add", (bands, BRANCHES * samples), (give, samples), add);
    lay.sink("sink", (sums, samples), |sums| digest.append_all(sums));
    run.network(lay.net)?;
    Ok(digest)
}
