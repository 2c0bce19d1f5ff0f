//! The inverse cosine transform in integers (C. Loeffler and others, *Practical Fast 1-D DCT Algorithms with 11
//! Multiplications*, 1989), with the scaling of the Independent JPEG Group's slow integer transform, which T.81
//! decoders commonly use. So samples are the same in each bit.

use std::num::Wrapping;

/// A number that wraps. Coefficients of a damaged file can be too large; the samples are meaningless then.
type Number = Wrapping<i32>;

/// Bits behind the point of the constants.
const CONSTANT_BITS: usize = 13;
/// Bits that are kept between the passes.
const KEPT_BITS: usize = 2;

/// A constant of the transform.
const fn fixed(value: f64) -> Number {
    Wrapping((value * (1 << CONSTANT_BITS) as f64 + 0.5) as i32)
}

/// Samples of a block, from 0 to 255, row after row.
pub(super) fn transform(coefficients: &[i16; 64], quantisers: &[u16; 64], samples: &mut [u8; 64]) {
    if coefficients[1..].iter().fold(0, |any, value| any | value) == 0 {
        // A flat block: both passes only scale.
        let value = coefficients[0].wrapping_mul(quantisers[0] as i16);
        let kept = i32::from(value) << KEPT_BITS;
        samples.fill(sample((kept + (1 << (KEPT_BITS + 2))) >> (KEPT_BITS + 3)));
        return;
    }
    let mut values = [Wrapping(0); 64];
    for (value, (coefficient, quantiser)) in values.iter_mut().zip(coefficients.iter().zip(quantisers)) {
        *value = Wrapping(i32::from(coefficient.wrapping_mul(*quantiser as i16)));
    }
    pass::<{ CONSTANT_BITS - KEPT_BITS }>(&mut values);
    transpose(&mut values);
    pass::<{ CONSTANT_BITS + KEPT_BITS + 3 }>(&mut values);
    transpose(&mut values);
    for (out, value) in samples.iter_mut().zip(values) {
        *out = sample(value.0);
    }
}

fn sample(value: i32) -> u8 {
    (value + 128).clamp(0, 255) as u8
}

fn transpose(values: &mut [Number; 64]) {
    let from = *values;
    for row in 0..8 {
        for column in 0..8 {
            values[8 * row + column] = from[8 * column + row];
        }
    }
}

/// Transforms each column, and leaves out the lowest `SHIFT` bits.
#[inline(always)]
fn pass<const SHIFT: usize>(values: &mut [Number; 64]) {
    let from = *values;
    for column in 0..8 {
        let at = |row: usize| from[8 * row + column];
        // Even rows.
        let turned = (at(2) + at(6)) * fixed(0.541_196_100);
        let two = turned - at(6) * fixed(1.847_759_065);
        let three = turned + at(2) * fixed(0.765_366_865);
        let zero = (at(0) + at(4)) << CONSTANT_BITS;
        let one = (at(0) - at(4)) << CONSTANT_BITS;
        let even = [zero + three, one + two, one - two, zero - three];
        // Odd rows.
        let all = (at(7) + at(3) + at(5) + at(1)) * fixed(1.175_875_602);
        let outer = (at(7) + at(1)) * fixed(0.899_976_223);
        let inner = (at(5) + at(3)) * fixed(2.562_915_447);
        let high = all - (at(7) + at(3)) * fixed(1.961_570_560);
        let low = all - (at(5) + at(1)) * fixed(0.390_180_644);
        let odd = [
            at(1) * fixed(1.501_321_110) - outer + low,
            at(3) * fixed(3.072_711_026) - inner + high,
            at(5) * fixed(2.053_119_869) - inner + low,
            at(7) * fixed(0.298_631_336) - outer + high,
        ];
        let half = Wrapping(1 << (SHIFT - 1));
        for row in 0..4 {
            values[8 * row + column] = (even[row] + odd[row] + half) >> SHIFT;
            values[8 * (7 - row) + column] = (even[row] - odd[row] + half) >> SHIFT;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_those_of_the_definition() {
        let quantisers = [1; 64];
        let mut seed = 1_u32;
        for _ in 0..200 {
            let coefficients: [i16; 64] = std::array::from_fn(|at| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let limit = 800 / (1 + at as i32);
                ((seed >> 8) as i32 % (2 * limit + 1) - limit) as i16
            });
            let mut samples = [0; 64];
            transform(&coefficients, &quantisers, &mut samples);
            for (at, sample) in samples.iter().enumerate() {
                let scale = |frequency: usize| if frequency == 0 { 0.5_f64.sqrt() } else { 1.0 };
                let wave = |frequency: usize, at: usize| {
                    (std::f64::consts::PI * frequency as f64 * (2 * at + 1) as f64 / 16.0).cos()
                };
                let term = |f: usize| {
                    let (v, u) = (f / 8, f % 8);
                    scale(u) * scale(v) * f64::from(coefficients[f]) * wave(u, at % 8) * wave(v, at / 8) / 4.0
                };
                let exact = ((0..64).map(term).sum::<f64>() + 128.0).clamp(0.0, 255.0);
                assert!((f64::from(*sample) - exact).abs() < 0.6, "{sample} and not {exact}");
            }
        }
    }

    #[test]
    fn flat_blocks_are_those_of_the_whole_transform() {
        for value in -1_100..1_100 {
            let mut flat = [0; 64];
            flat[0] = value;
            let mut samples = [0; 64];
            transform(&flat, &[1; 64], &mut samples);
            let mut values = flat.map(|value| Wrapping(i32::from(value)));
            pass::<{ CONSTANT_BITS - KEPT_BITS }>(&mut values);
            transpose(&mut values);
            pass::<{ CONSTANT_BITS + KEPT_BITS + 3 }>(&mut values);
            assert_eq!(samples.map(i32::from), values.map(|value| (value.0 + 128).clamp(0, 255)));
        }
    }

    #[test]
    fn coefficients_that_are_too_large_do_no_harm() {
        for value in [i16::MIN, i16::MAX] {
            transform(&[value; 64], &[u16::MAX; 64], &mut [0; 64]);
            transform(&[value; 64], &[1; 64], &mut [0; 64]);
        }
    }
}
