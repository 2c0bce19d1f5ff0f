//! A beamformer: twelve antennas, each with two decimating filters for both parts of its signal; four beams, each of
//! which weighs and adds the antennas, applies a matched filter, and computes the power.

use crate::filter::{Causal, Fir, low_pass_of};
use crate::{Result, Run};

use super::lay::Lay;
use super::noise::Noise;
use super::{Digest, Kernel, Task};

pub(super) const KERNEL: Kernel = Kernel {
    name: "beamformer",
    about: "a beamformer with twelve antennas and four beams",
    unit: "samples of an antenna",
    units: SAMPLES as u64,
    run,
};

const ANTENNAS: usize = 12;
const BEAMS: usize = 4;
const TAPS: usize = 64;
/// The decimation of each of an antenna's two filters.
const STEP: usize = 2;
/// The number of samples of each antenna that pass together.
const SAMPLES: usize = 256;

/// An antenna. Its samples are the in-phase parts of a burst, and then the quadrature parts.
struct Antenna {
    noise: Noise,
    /// The first and the second filter of each part.
    filters: [[Causal; 2]; 2],
    samples: Vec<f32>,
    between: Vec<f32>,
}

impl Antenna {
    fn new(antenna: usize, samples: usize) -> Self {
        let filter = || Causal::new(Fir::new(low_pass_of(0.25, TAPS), STEP));
        Self {
            noise: Noise::new(antenna as u32 + 10),
            filters: [[filter(), filter()], [filter(), filter()]],
            samples: vec![0.0; samples],
            between: vec![0.0; samples / STEP],
        }
    }

    fn listen(&mut self, to: &mut [f32]) {
        let half = to.len() / 2;
        for ([first, second], to) in self.filters.iter_mut().zip(to.chunks_exact_mut(half)) {
            self.noise.signal(&mut self.samples);
            first.apply(&self.samples, &mut self.between);
            second.apply(&self.between, to);
        }
    }
}

/// A beam.
struct Beam {
    /// The factor of each antenna: a delay, as a complex number.
    weights: [(f32, f32); ANTENNAS],
    matched: [Causal; 2],
    sums: [Vec<f32>; 2],
    filtered: [Vec<f32>; 2],
}

impl Beam {
    fn new(beam: usize, samples: usize) -> Self {
        let weight = |antenna: usize| {
            let angle = 0.4 * (beam as f64 - 1.5) * antenna as f64;
            let (sin, cos) = angle.sin_cos();
            (cos as f32, sin as f32)
        };
        let matched = || Causal::new(Fir::new(low_pass_of(0.2, TAPS), 1));
        Self {
            weights: std::array::from_fn(weight),
            matched: [matched(), matched()],
            sums: std::array::from_fn(|_| vec![0.0; samples]),
            filtered: std::array::from_fn(|_| vec![0.0; samples]),
        }
    }

    /// Computes powers from the samples of all antennas, one burst behind the other.
    fn steer(&mut self, antennas: &[f32], powers: &mut [f32]) {
        let samples = powers.len();
        let [in_phase, quadrature] = &mut self.sums;
        in_phase.fill(0.0);
        quadrature.fill(0.0);
        for ((cos, sin), burst) in self.weights.iter().zip(antennas.chunks_exact(2 * samples)) {
            let (i, q) = burst.split_at(samples);
            for n in 0..samples {
                in_phase[n] += cos * i[n] - sin * q[n];
                quadrature[n] += sin * i[n] + cos * q[n];
            }
        }
        for ((filter, sums), to) in self.matched.iter_mut().zip(&self.sums).zip(&mut self.filtered) {
            filter.apply(sums, to);
        }
        let [i, q] = &self.filtered;
        for (power, (i, q)) in powers.iter_mut().zip(i.iter().zip(q)) {
            *power = i * i + q * q;
        }
    }
}

fn run(task: &Task, run: &Run) -> Result<Digest> {
    let samples = SAMPLES * task.burst;
    let after = samples / STEP / STEP;
    let antennas = (0..ANTENNAS).map(|antenna| Antenna::new(antenna, samples));
    let beams = (0..BEAMS).map(|beam| Beam::new(beam, after));
    let mut digest = Digest::EMPTY;
    if run.is_inline() {
        let (mut antennas, mut beams): (Vec<_>, Vec<_>) = (antennas.collect(), beams.collect());
        let (mut heard, mut powers) = (vec![0.0; ANTENNAS * 2 * after], vec![0.0; BEAMS * after]);
        for _ in 0..task.firings() {
            for (antenna, to) in antennas.iter_mut().zip(heard.chunks_exact_mut(2 * after)) {
                antenna.listen(to);
            }
            for (beam, powers) in beams.iter_mut().zip(powers.chunks_exact_mut(after)) {
                beam.steer(&heard, powers);
            }
            digest.append_all(&powers);
        }
        return Ok(digest);
    }
    let mut lay = Lay::new(run);
    let (gives, takes) = lay.cross("antennas", 2 * after, ANTENNAS, BEAMS);
    for (mut antenna, give) in antennas.zip(gives) {
        lay.source("antenna", task.firings(), (give, 2 * after), move |to| antenna.listen(to));
    }
    let (gives, powers) = lay.join("powers", after, BEAMS);
    for (mut beam, (take, give)) in beams.zip(takes.into_iter().zip(gives)) {
        let take = (take, ANTENNAS * 2 * after);
        lay.stage("beam", take, (give, after), move |from, to| beam.steer(from, to));
    }
    lay.sink("sink", (powers, BEAMS * after), |powers| digest.append_all(powers));
    run.network(lay.net)?;
    Ok(digest)
}
