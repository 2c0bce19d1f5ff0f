//! Bit-error rates over the ratio of signal to noise: in theory, and as measured with this receiver's demodulator and
//! decoder.

use std::collections::BTreeMap;
use std::sync::Arc;

use dsp_transforms::num_complex::Complex32;

use super::channel::Noise;
use super::code::{encode, outputs};
use super::decode::{Joiner, decode, demodulate};
use super::demodulate::{Demodulator, Estimate};
use super::frame::scrambled;
use super::interleaver::{interleave, positions};
use super::mapping::Modulation;
use super::rate::{CARRIERS, MOST_BYTES, Rate, SERVICE_BITS};
use super::scrambler::{PERIOD, polarity};
use super::signal::Signal;
use super::symbols::{PILOTS, Transform, USEFUL, bin, spectrum};
use super::synchronise::{Frame, GROUP, Group, Piece};
use super::viterbi::Viterbi;

/// Returns the probability that a normally distributed number with variance 1 is more than `x`.
pub fn tail(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - tail(-x);
    }
    let density = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if x < 3.0 {
        // 1/2 - φ(x) (x + x³/3 + x⁵/(3·5) + ...)
        let (mut term, mut sum) = (x, x);
        for odd in (3..).step_by(2) {
            term *= x * x / f64::from(odd);
            sum += term;
            if term < 1e-17 * sum || odd > 400 {
                break;
            }
        }
        return 0.5 - density * sum;
    }
    // φ(x) / (x + 1/(x + 2/(x + 3/(x + ...))))
    let fraction = (1..=100).rev().fold(x, |fraction, n| x + f64::from(n) / fraction);
    density / fraction
}

/// Returns the share of wrong bits without a code. `snr_db` is the ratio of a point's mean energy to the noise density.
pub fn uncoded(modulation: Modulation, snr_db: f64) -> f64 {
    let (bits, power) = match modulation {
        Modulation::Bpsk => (1, 1.0),
        Modulation::Qpsk => (1, 2.0),
        Modulation::Qam16 => (2, 10.0),
        Modulation::Qam64 => (3, 42.0),
    };
    // Half of the distance between neighbours in deviations of the noise on an axis.
    let half = (2.0 * 10_f64.powf(snr_db / 10.0) / power).sqrt();
    let count = 1_i32 << bits;
    let gray = |level: i32| level ^ level >> 1;
    let mut wrong = 0.0;
    for sent in 0..count {
        for taken in 0..count {
            let below = if taken == 0 { 1.0 } else { tail(f64::from(2 * (taken - sent) - 1) * half) };
            let above = if taken + 1 == count { 0.0 } else { tail(f64::from(2 * (taken - sent) + 1) * half) };
            wrong += (below - above) * f64::from((gray(sent) ^ gray(taken)).count_ones());
        }
    }
    wrong / f64::from(count * bits)
}

/// Returns an upper bound of the share of wrong bits for the rates with BPSK and QPSK, which is tight where the share
/// is small: the sum over all ways in which a path can leave the right one and join it again (the union bound; A. J.
/// Viterbi, *Convolutional Codes and Their Performance in Communication Systems*, 1971). `snr_db` is the ratio of a
/// point's energy to the noise density.
pub fn union_bound(rate: Rate, snr_db: f64) -> f64 {
    let energy_of_bit = 10_f64.powf(snr_db / 10.0) / rate.modulation().bits() as f64;
    let spectrum = spectrum_of_weights(rate);
    spectrum.into_iter().map(|(weight, bits)| bits * tail((2.0 * weight as f64 * energy_of_bit).sqrt())).sum()
}

/// Returns, for each weight, the number of wrong bits of the paths with this weight, as the mean over the places at
/// which they can begin. Weights that are more than 12 above the smallest are ignored.
fn spectrum_of_weights(rate: Rate) -> BTreeMap<usize, f64> {
    const MOST_WEIGHT: usize = 22;
    const STEPS: usize = 120;
    let pattern = rate.puncturing().pattern();
    let period = pattern.len() / 2;
    let mut spectrum = BTreeMap::new();
    for begin in 0..period {
        // The numbers of paths, and of their wrong bits, for each state and weight.
        let mut paths = BTreeMap::from([((0_u8, 0_usize), (1.0_f64, 0.0_f64))]);
        for step in 0..STEPS {
            let mut after = BTreeMap::new();
            for ((state, weight), (count, wrong)) in paths {
                for bit in 0..2 {
                    if step == 0 && bit == 0 {
                        continue;
                    }
                    let window = state << 1 | bit;
                    let sent = (begin + step) % period;
                    let pair = outputs(window).into_iter().zip(&pattern[2 * sent..]);
                    let weight = weight + pair.filter(|(output, is_sent)| **is_sent && *output == 1).count();
                    if weight > MOST_WEIGHT {
                        continue;
                    }
                    let (state, wrong) = (window & 63, wrong + count * f64::from(bit));
                    if state == 0 {
                        *spectrum.entry(weight).or_default() += wrong / period as f64;
                        continue;
                    }
                    let entry = after.entry((state, weight)).or_insert((0.0, 0.0));
                    *entry = (entry.0 + count, entry.1 + wrong);
                }
            }
            paths = after;
        }
    }
    spectrum
}

/// The counts of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Bits that were sent.
    pub bits: u64,
    /// Bits that were received wrongly.
    pub wrong: u64,
    /// Coded bits that were sent.
    pub coded_bits: u64,
    /// Coded bits whose soft bits have the wrong sign.
    pub wrong_coded: u64,
}

/// Sends `frames` frames of the largest size through noise on their data carriers, and counts the wrong bits. The
/// receiver knows where the frames begin, and the channel. `snr_db` is the ratio of a point's mean energy to the
/// noise density.
pub fn measure(rate: Rate, snr_db: f64, frames: u64, seed: u64) -> Counted {
    let mut counted = Counted { bits: 0, wrong: 0, coded_bits: 0, wrong_coded: 0 };
    let (mut demodulator, mut viterbi, mut transform) =
        (Demodulator::new(), Viterbi::new(), Transform::new());
    let (polarity, positions) = (polarity(), positions(rate));
    let deviation = (0.5 / 10_f64.powf(snr_db / 10.0)).sqrt() as f32;
    let pilots = PILOTS.map(bin);
    for index in 0..frames {
        let mut noise = Noise::new(seed, index);
        let bytes: Vec<u8> = (0..MOST_BYTES).map(|_| noise.bits() as u8).collect();
        let sent = scrambled(&bytes, rate, 1 + (noise.bits() % 127) as u8);
        let coded = encode(&sent, rate.puncturing());
        let estimate = Estimate { gains: [Complex32::ONE; USEFUL], turns: 0.0 };
        let signal = Signal { rate, bytes: bytes.len() };
        let frame = Arc::new(Frame { index, first: 0, signal, estimate });
        let mut groups = Vec::new();
        for (number, coded) in coded.chunks(GROUP * rate.coded_bits()).enumerate() {
            let first = 1 + number * GROUP;
            let mut samples = Vec::new();
            for (symbol, coded) in coded.chunks_exact(rate.coded_bits()).enumerate() {
                let bits = interleave(coded, &positions);
                let mut points = [Complex32::default(); CARRIERS];
                for (point, bits) in points.iter_mut().zip(bits.chunks_exact(rate.modulation().bits())) {
                    *point = rate.modulation().point(bits);
                }
                let mut values = spectrum(&points, polarity[(first + symbol) % PERIOD]);
                for (place, value) in values.iter_mut().enumerate() {
                    if !pilots.contains(&place) {
                        *value += noise.sample() * deviation;
                    }
                }
                transform.samples(&mut values);
                samples.extend(values);
            }
            groups.push(Piece::Part(demodulate(
                &mut demodulator,
                &Group { frame: Arc::clone(&frame), number: first, samples },
            )));
        }
        count_coded(&groups, &coded, rate, &mut counted);
        let mut joiner = Joiner::new();
        let mut received = Vec::new();
        let mut groups = groups.into_iter().peekable();
        while let Some(Piece::Part(group)) = groups.next() {
            received.extend(decode(&mut viterbi, &joiner.join(group, groups.peek())).into_bytes());
        }
        let bits = SERVICE_BITS + 8 * bytes.len();
        counted.bits += bits as u64;
        for (byte, sent) in received.iter().zip(sent[..bits].chunks_exact(8)) {
            let sent = sent.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
            counted.wrong += u64::from((byte ^ sent).count_ones());
        }
    }
    counted
}

fn count_coded(groups: &[Piece<super::decode::Soft>], coded: &[u8], rate: Rate, counted: &mut Counted) {
    let pattern = rate.puncturing().pattern().iter().cycle();
    let soft = groups.iter().filter_map(|group| match group {
        Piece::Part(group) => Some(group.soft()),
        Piece::Quiet | Piece::Bad(_) => None,
    });
    let sent = soft.flatten().zip(pattern).filter(|(_, is_sent)| **is_sent).map(|(soft, _)| *soft);
    for (soft, bit) in sent.zip(coded) {
        counted.coded_bits += 1;
        counted.wrong_coded += u64::from((soft > 0) != (*bit == 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_of_the_normal_distribution_are_right() {
        // From tables of the normal distribution.
        for (x, expected) in [
            (0.0, 0.5),
            (1.0, 0.158_655_254),
            (2.0, 0.022_750_132),
            (3.0, 0.001_349_898),
            (5.0, 2.866_516e-7),
        ] {
            assert!((tail(x) / expected - 1.0).abs() < 1e-6, "{x}: {}", tail(x));
        }
        assert!((tail(2.999_999) / tail(3.000_001) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn the_code_has_the_free_distances_of_the_literature() {
        // J. Hagenauer, Rate-Compatible Punctured Convolutional Codes, 1988; K = 7.
        for (mbps, distance) in [(6, 10), (48, 6), (9, 5)] {
            let spectrum = spectrum_of_weights(Rate::of_mbps(mbps).unwrap());
            assert_eq!(spectrum.keys().next(), Some(&distance), "{mbps} Mbit/s");
        }
        // 36 wrong bits at distance 10 and 211 at distance 12, none between.
        let spectrum = spectrum_of_weights(Rate::ALL[0]);
        assert_eq!((spectrum[&10], spectrum.get(&11), spectrum[&12]), (36.0, None, 211.0));
    }
}
