//! A channel vocoder: the pitch of the signal by its autocorrelation, and the loudness of sixteen bands.

use crate::filter::{Causal, Fir, low_pass_of};
use crate::{Result, Run};

use super::lay::Lay;
use super::noise::Noise;
use super::{Digest, Kernel, Task};

pub(super) const KERNEL: Kernel = Kernel {
    name: "vocoder",
    about: "a channel vocoder with sixteen bands",
    unit: "samples",
    units: SAMPLES as u64,
    run,
};

const BANDS: usize = 16;
const TAPS: usize = 64;
/// The number of samples for a pitch and a loudness.
const STEP: usize = 64;
/// The number of samples that pass together.
const SAMPLES: usize = 256;
/// The longest period of a pitch in samples.
const LONGEST: usize = 100;

/// Finds the period in which the signal is most similar to itself.
struct Pitch {
    line: Vec<f32>,
}

impl Pitch {
    fn new() -> Self {
        Self { line: vec![0.0; LONGEST] }
    }

    fn find(&mut self, from: &[f32], to: &mut [f32]) {
        for (samples, pitch) in from.chunks_exact(STEP).zip(to) {
            self.line.truncate(LONGEST);
            // Samples near 0 give no information about the pitch.
            let clipped = |&sample: &f32| if sample.abs() < 0.1 { 0.0 } else { sample };
            self.line.extend(samples.iter().map(clipped));
            let likeness = |period: usize| -> f32 {
                let (now, before) = (&self.line[LONGEST..], &self.line[LONGEST - period..]);
                now.iter().zip(before).fold(0.0, |sum, (now, before)| sum + now * before)
            };
            let (mut best, mut period) = (f32::MIN, 0);
            for at in 20..=LONGEST {
                let found = likeness(at);
                if found > best {
                    (best, period) = (found, at);
                }
            }
            *pitch = period as f32;
            self.line.copy_within(STEP.., 0);
        }
    }
}

/// Measures the loudness of a band.
struct Band {
    band: Causal,
    envelope: Causal,
    samples: Vec<f32>,
}

impl Band {
    fn new(band: usize, samples: usize) -> Self {
        let below = |end: usize| low_pass_of(0.45 * end.max(1) as f64 / BANDS as f64, TAPS);
        let mut taps = below(band + 1);
        if band > 0 {
            taps.iter_mut().zip(below(band)).for_each(|(tap, below)| *tap -= below);
        }
        Self {
            band: Causal::new(Fir::new(taps, 1)),
            envelope: Causal::new(Fir::new(low_pass_of(0.5 / STEP as f64, 2 * STEP), STEP)),
            samples: vec![0.0; samples],
        }
    }

    fn measure(&mut self, from: &[f32], to: &mut [f32]) {
        self.band.apply(from, &mut self.samples);
        self.samples.iter_mut().for_each(|sample| *sample = sample.abs());
        self.envelope.apply(&self.samples, to);
    }
}

/// A voice: pulses with a pitch that falls and rises, and noise.
fn speak(noise: &mut Noise, at: &mut u64, signal: &mut [f32]) {
    noise.signal(signal);
    for sample in signal {
        let period = 40 + (*at >> 12) % 48;
        *sample = 0.2 * *sample + if at.is_multiple_of(period) { 1.0 } else { 0.0 };
        *at += 1;
    }
}

fn run(task: &Task, run: &Run) -> Result<Digest> {
    let samples = SAMPLES * task.burst;
    let results = samples / STEP;
    let (mut noise, mut at, mut digest) = (Noise::new(4), 0, Digest::EMPTY);
    let mut pitch = Pitch::new();
    let bands = (0..BANDS).map(|band| Band::new(band, samples));
    if run.is_inline() {
        let mut bands: Vec<Band> = bands.collect();
        let (mut signal, mut result) = (vec![0.0; samples], vec![0.0; (1 + BANDS) * results]);
        for _ in 0..task.firings() {
            speak(&mut noise, &mut at, &mut signal);
            pitch.find(&signal, &mut result[..results]);
            for (band, to) in bands.iter_mut().zip(result[results..].chunks_exact_mut(results)) {
                band.measure(&signal, to);
            }
            digest.append_all(&result);
        }
        return Ok(digest);
    }
    let mut lay = Lay::new(run);
    let (give, takes) = lay.fork("signal", samples, 1 + BANDS);
    lay.source("source", task.firings(), (give, samples), move |signal| speak(&mut noise, &mut at, signal));
    let (gives, result) = lay.join("results", results, 1 + BANDS);
    let mut ends = takes.into_iter().zip(gives);
    if let Some((take, give)) = ends.next() {
        lay.stage("pitch", (take, samples), (give, results), move |from, to| pitch.find(from, to));
    }
    for ((take, give), mut band) in ends.zip(bands) {
        lay.stage("band", (take, samples), (give, results), move |from, to| band.measure(from, to));
    }
    lay.sink("sink", (result, (1 + BANDS) * results), |result| digest.append_all(result));
    run.network(lay.net)?;
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitch_of_pulses_is_their_distance() {
        let signal: Vec<f32> = (0..4 * STEP).map(|n| if n % 31 == 0 { 1.0 } else { 0.05 }).collect();
        let mut periods = [0.0; 4];
        Pitch::new().find(&signal, &mut periods);
        assert_eq!(periods[2..], [31.0, 31.0]);
    }
}
