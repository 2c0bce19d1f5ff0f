//! The Viterbi decoder for the convolutional code of 802.11a, with soft bits
//! (A. J. Viterbi, *Error Bounds for
//! Convolutional Codes and an Asymptotically Optimum Decoding Algorithm*, 1967).
//!
//! A state is the last six input bits, the newest being the lowest. The states *i* and *i* + 32 lead to the
//! states 2*i* and 2*i* + 1. Both polynomials have their first and their last tap, so the outputs of these four
//! branches are a pair of bits and its complement, and one sum of two soft bits serves all four.

/// The largest soft bit. This is exact enough: the loss against real numbers is below 0.05 dB.
pub const SUREST: i8 = 15;
/// States of the encoder.
const STATES: usize = 64;
/// Pairs of states that lead to the same pair of states.
const PAIRS: usize = STATES / 2;
/// The number of steps after which the smallest cost is subtracted from all. A branch costs at most 30, so the costs of
/// two states differ by at most 6 × 30, after the six steps in which any state can be reached. The smallest cost rises
/// by at most 15 in a step, because two branches from a state together cost at most 30. So no cost is above 255.
const STEPS_TO_LEVEL: usize = 4;
/// The cost of an impossible state of the encoder.
const IMPOSSIBLE: u8 = 195;

/// The knowledge of the encoder's state at an end of the soft bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is state 0, because the message begins or ends here.
    Zero,
    /// Nothing is known.
    Any,
}

/// For each pair of states, whether the encoder puts out ones in the branch from the first state with input 0.
const ONES: [[u8; PAIRS]; 2] = {
    let mut ones = [[0; PAIRS]; 2];
    let mut pair = 0;
    while pair < PAIRS {
        // The window of the branch has a 0 as its newest and as its oldest bit.
        let window = 2 * pair as u8;
        ones[0][pair] = mask(window & super::code::FIRST_TAPS);
        ones[1][pair] = mask(window & super::code::SECOND_TAPS);
        pair += 1;
    }
    ones
};

const fn mask(taps: u8) -> u8 {
    if taps.count_ones() % 2 == 1 { 0xff } else { 0 }
}

/// For each pair of states, whether the first one leads to the even state more cheaply, and then for each pair, whether
/// it leads to the odd state more cheaply: 0xff or 0.
type Choices = [u8; STATES];

/// A decoder, with its memory.
#[derive(Debug, Default)]
pub struct Viterbi {
    /// For each step.
    choices: Vec<Choices>,
}

impl Viterbi {
    /// Creates a decoder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Finds the most probable encoded bits. `soft` has two soft bits for each of them, from -[`SUREST`] for a sure 0
    /// to [`SUREST`] for a sure 1, and 0 for a bit that was not sent. Fills `bytes` with the bits behind the first
    /// `skip` ones. The first bit of a byte is the lowest.
    ///
    /// # Panics
    /// If `soft` has an odd length, or has too few bits.
    pub fn decode(&mut self, soft: &[i8], begin: State, end: State, skip: usize, bytes: &mut [u8]) {
        let steps = soft.len() / 2;
        let keep = skip..skip + 8 * bytes.len();
        assert!(
            soft.len().is_multiple_of(2) && keep.end <= steps,
            "{steps} steps do not have the bits {keep:?}"
        );
        if self.choices.len() < steps {
            self.choices.resize(steps, [0; STATES]);
        }
        let mut costs = [0; STATES];
        if begin == State::Zero {
            costs = [IMPOSSIBLE; STATES];
            costs[0] = 0;
        }
        let choices = &mut self.choices[..steps];
        forward(&mut costs, soft, choices);
        let best = || (0..STATES).min_by_key(|state| costs[*state]).unwrap_or(0);
        let mut state = if end == State::Zero { 0 } else { best() };
        let before = |state: usize, choices: &Choices| {
            let is_first = choices[state % 2 * PAIRS + state / 2] != 0;
            state / 2 + if is_first { 0 } else { PAIRS }
        };
        for choices in choices[keep.end..].iter().rev() {
            state = before(state, choices);
        }
        for (byte, choices) in bytes.iter_mut().rev().zip(choices[keep].rchunks_exact(8)) {
            for choices in choices.iter().rev() {
                *byte = *byte << 1 | (state & 1) as u8;
                state = before(state, choices);
            }
        }
    }
}

/// Goes through all steps, and stores the choices.
fn forward(costs: &mut [u8; STATES], soft: &[i8], choices: &mut [Choices]) {
    let mut now = *costs;
    let blocks = soft.chunks(2 * STEPS_TO_LEVEL).zip(choices.chunks_mut(STEPS_TO_LEVEL));
    for (soft, choices) in blocks {
        let least = now.iter().copied().fold(u8::MAX, u8::min);
        now.iter_mut().for_each(|cost| *cost -= least);
        for (soft, choices) in soft.chunks_exact(2).zip(choices) {
            now = step(&now, soft[0], soft[1], choices);
        }
    }
    *costs = now;
}

/// One step: adds, compares and selects.
#[inline(always)]
fn step(costs: &[u8; STATES], first: i8, second: i8, choices: &mut Choices) -> [u8; STATES] {
    // An output costs as much as the soft bit favours the other value.
    let cost = |soft: i8| (soft.max(0) as u8, soft.min(0).unsigned_abs());
    let ((zero_first, one_first), (zero_second, one_second)) = (cost(first), cost(second));
    let to_one = [zero_first ^ one_first, zero_second ^ one_second];
    let both = to_one[0].wrapping_add(to_one[1]);
    let (low, high) = costs.split_at(PAIRS);
    let (to_even, to_odd) = choices.split_at_mut(PAIRS);
    let (mut even, mut odd) = ([0; PAIRS], [0; PAIRS]);
    for pair in 0..PAIRS {
        let straight =
            (zero_first ^ ONES[0][pair] & to_one[0]).wrapping_add(zero_second ^ ONES[1][pair] & to_one[1]);
        let crossed = both.wrapping_sub(straight);
        let from_low = low[pair].saturating_add(straight);
        even[pair] = from_low.min(high[pair].saturating_add(crossed));
        to_even[pair] = if even[pair] == from_low { 0xff } else { 0 };
        let from_low = low[pair].saturating_add(crossed);
        odd[pair] = from_low.min(high[pair].saturating_add(straight));
        to_odd[pair] = if odd[pair] == from_low { 0xff } else { 0 };
    }
    let mut after = [0; STATES];
    for pair in 0..PAIRS {
        (after[2 * pair], after[2 * pair + 1]) = (even[pair], odd[pair]);
    }
    after
}

#[cfg(test)]
mod tests {
    use super::super::code::{Puncturing, encode};
    use super::*;

    fn bits(count: usize, mut seed: u32) -> Vec<u8> {
        let next = move || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 31) as u8
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    fn decoded(soft: &[i8], begin: State, end: State, keep: std::ops::Range<usize>) -> Vec<u8> {
        let mut bytes = vec![0; keep.len() / 8];
        Viterbi::new().decode(soft, begin, end, keep.start, &mut bytes);
        bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1)).collect()
    }

    #[test]
    fn a_message_with_wrong_bits_is_decoded() {
        let mut message = bits(994, 1);
        message.extend([0; 6]);
        let mut soft: Vec<i8> = encode(&message, Puncturing::Half)
            .iter()
            .map(|bit| if *bit == 1 { SUREST } else { -SUREST })
            .collect();
        // Four wrong bits in 40 are within half of the free distance, which is 10.
        for at in (0..soft.len() - 40).step_by(40) {
            for wrong in [at, at + 3, at + 11, at + 20] {
                soft[wrong] = -soft[wrong];
            }
        }
        assert_eq!(decoded(&soft, State::Zero, State::Zero, 0..1_000), message);
    }

    #[test]
    fn the_middle_of_a_message_is_decoded_without_its_ends() {
        let message = bits(1_000, 2);
        let soft: Vec<i8> = encode(&message, Puncturing::Half)[200..1_800]
            .iter()
            .map(|bit| if *bit == 1 { 9 } else { -9 })
            .collect();
        assert_eq!(decoded(&soft, State::Any, State::Any, 100..700), message[200..800]);
    }

    #[test]
    fn long_messages_of_the_surest_bits_do_not_overflow() {
        let message = bits(8_000, 3);
        let soft = |sure: i8| -> Vec<i8> {
            encode(&message, Puncturing::Half)
                .iter()
                .map(|bit| if *bit == 1 { sure } else { -sure })
                .collect()
        };
        assert_eq!(decoded(&soft(SUREST), State::Zero, State::Any, 0..8_000), message);
        // Soft bits that contradict the code everywhere raise all costs as fast as they can rise.
        decoded(&soft(-SUREST), State::Zero, State::Any, 0..8_000);
        decoded(&[SUREST, -SUREST].repeat(8_000), State::Any, State::Any, 0..8_000);
    }
}
