//! The Data Encryption Standard (FIPS 46-3). Each of its 16 rounds is a process.
//!
//! It is here as a benchmark. Do not use it to keep a secret: its keys can be found by trying all of them.

use crate::{Result, Run};

use super::lay::Lay;
use super::{Digest, Kernel, Task};

pub(super) const KERNEL: Kernel =
    Kernel { name: "des", about: "DES, in 16 rounds", unit: "blocks of 8 bytes", units: BLOCKS as u64, run };

/// The number of blocks of 8 bytes that pass together.
const BLOCKS: usize = 64;
const KEY: u64 = 0x1334_5779_9bbc_dff1;

/// The tables have positions of bits, where the highest bit has the position 1.
const CHOICE_1: [u8; 56] = [
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44,
    36, 63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20,
    12, 4,
];
const CHOICE_2: [u8; 48] = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37,
    47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];
const SHIFTS: [u32; 16] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];
const PERMUTATION: [u8; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6,
    22, 11, 4, 25,
];
#[rustfmt::skip]
const BOXES: [[u8; 64]; 8] = [
    [14,4,13,1,2,15,11,8,3,10,6,12,5,9,0,7, 0,15,7,4,14,2,13,1,10,6,12,11,9,5,3,8,
     4,1,14,8,13,6,2,11,15,12,9,7,3,10,5,0, 15,12,8,2,4,9,1,7,5,11,3,14,10,0,6,13],
    [15,1,8,14,6,11,3,4,9,7,2,13,12,0,5,10, 3,13,4,7,15,2,8,14,12,0,1,10,6,9,11,5,
     0,14,7,11,10,4,13,1,5,8,12,6,9,3,2,15, 13,8,10,1,3,15,4,2,11,6,7,12,0,5,14,9],
    [10,0,9,14,6,3,15,5,1,13,12,7,11,4,2,8, 13,7,0,9,3,4,6,10,2,8,5,14,12,11,15,1,
     13,6,4,9,8,15,3,0,11,1,2,12,5,10,14,7, 1,10,13,0,6,9,8,7,4,15,14,3,11,5,2,12],
    [7,13,14,3,0,6,9,10,1,2,8,5,11,12,4,15, 13,8,11,5,6,15,0,3,4,7,2,12,1,10,14,9,
     10,6,9,0,12,11,7,13,15,1,3,14,5,2,8,4, 3,15,0,6,10,1,13,8,9,4,5,11,12,7,2,14],
    [2,12,4,1,7,10,11,6,8,5,3,15,13,0,14,9, 14,11,2,12,4,7,13,1,5,0,15,10,3,9,8,6,
     4,2,1,11,10,13,7,8,15,9,12,5,6,3,0,14, 11,8,12,7,1,14,2,13,6,15,0,9,10,4,5,3],
    [12,1,10,15,9,2,6,8,0,13,3,4,14,7,5,11, 10,15,4,2,7,12,9,5,6,1,13,14,0,11,3,8,
     9,14,15,5,2,8,12,3,7,0,4,10,1,13,11,6, 4,3,2,12,9,5,15,10,11,14,1,7,6,0,8,13],
    [4,11,2,14,15,0,8,13,3,12,9,7,5,10,6,1, 13,0,11,7,4,9,1,10,14,3,5,12,2,15,8,6,
     1,4,11,13,12,3,7,14,10,15,6,8,0,5,9,2, 6,11,13,8,1,4,10,7,9,5,0,15,14,2,3,12],
    [13,2,8,4,6,15,11,1,10,9,3,14,5,0,12,7, 1,15,13,8,10,3,7,4,12,5,6,11,0,14,9,2,
     7,11,4,1,9,12,14,2,0,6,10,13,15,3,5,8, 2,1,14,7,4,10,8,13,15,12,9,0,3,5,6,11],
];

/// The bits of `value`, which has `width` bits, at the positions of a table.
fn permuted(value: u64, width: u32, table: &[u8]) -> u64 {
    table.iter().fold(0, |bits, &position| bits << 1 | value >> (width - u32::from(position)) & 1)
}

/// The first permutation, from the position of each bit.
fn initial() -> [u8; 64] {
    std::array::from_fn(|at| [58, 60, 62, 64, 57, 59, 61, 63][at / 8] - 8 * (at % 8) as u8)
}

/// The inverse of the first permutation.
fn last() -> [u8; 64] {
    let mut table = [0; 64];
    initial().iter().zip(1..).for_each(|(&position, at)| table[usize::from(position) - 1] = at);
    table
}

/// One round with its key.
#[derive(Debug, Clone)]
struct Round {
    /// The output of the substitution and the permutation for six bits.
    substituted: Box<[[u32; 64]; 8]>,
    /// The round's key in groups of six bits.
    key: [u8; 8],
}

impl Round {
    fn all(key: u64) -> Vec<Round> {
        let group = |group: usize, bits: usize| {
            let (row, column) = ((bits >> 4 & 2) | (bits & 1), bits >> 1 & 15);
            let value = u64::from(BOXES[group][16 * row + column]) << (28 - 4 * group);
            permuted(value, 32, &PERMUTATION) as u32
        };
        let substituted: [[u32; 64]; 8] =
            std::array::from_fn(|at| std::array::from_fn(|bits| group(at, bits)));
        let chosen = permuted(key, 64, &CHOICE_1);
        let (mut left, mut right) = (chosen >> 28, chosen & 0xfff_ffff);
        let rotated = |half: u64, by: u32| (half << by | half >> (28 - by)) & 0xfff_ffff;
        let round = |by: &u32| {
            (left, right) = (rotated(left, *by), rotated(right, *by));
            let key = permuted(left << 28 | right, 56, &CHOICE_2);
            let key = std::array::from_fn(|at| (key >> (42 - 6 * at) & 63) as u8);
            Round { substituted: Box::new(substituted), key }
        };
        SHIFTS.iter().map(round).collect()
    }

    /// The left half of the result is in the upper 32 bits.
    #[inline]
    fn apply(&self, block: u64) -> u64 {
        let (left, right) = ((block >> 32) as u32, block as u32);
        // Six bits from the bit before each group of four on.
        let around = right.rotate_right(1);
        let mixed = (0..8).fold(0, |mixed, at| {
            let bits = around.rotate_left(4 * at as u32) >> 26;
            mixed ^ self.substituted[at][(bits as u8 ^ self.key[at]) as usize]
        });
        u64::from(right) << 32 | u64::from(left ^ mixed)
    }
}

/// Encrypts one block of 8 bytes, the first byte in the highest bits.
pub fn encrypt(key: u64, block: u64) -> u64 {
    let rounds = Round::all(key);
    let mixed = rounds.iter().fold(permuted(block, 64, &initial()), |block, round| round.apply(block));
    permuted(mixed.rotate_left(32), 64, &last())
}

fn run(task: &Task, run: &Run) -> Result<Digest> {
    let (burst, rounds, mut digest) = (BLOCKS * task.burst, Round::all(KEY), Digest::EMPTY);
    let (initial, last, mut next) = (initial(), last(), 0u64);
    let mut source = move |blocks: &mut [u64]| {
        for block in blocks {
            next = next.wrapping_add(0x9e37_79b9_7f4a_7c15);
            *block = permuted(next, 64, &initial);
        }
    };
    let finish = move |block: u64| permuted(block.rotate_left(32), 64, &last);
    if run.is_inline() {
        let mut blocks = vec![0; burst];
        for _ in 0..task.firings() {
            source(&mut blocks);
            for &block in &blocks {
                digest.append(finish(rounds.iter().fold(block, |block, round| round.apply(block))));
            }
        }
        return Ok(digest);
    }
    let mut lay = Lay::new(run);
    let (give, mut take) = lay.record("blocks", burst);
    lay.source("source", task.firings(), (give, burst), source);
    for round in rounds {
        let (give, next) = lay.record("blocks", burst);
        lay.stage("round", (take, burst), (give, burst), move |from: &[u64], to: &mut [u64]| {
            to.iter_mut().zip(from).for_each(|(to, &from)| *to = round.apply(from));
        });
        take = next;
    }
    lay.sink("sink", (take, burst), |blocks| blocks.iter().for_each(|&block| digest.append(finish(block))));
    run.network(lay.net)?;
    Ok(digest)
}
