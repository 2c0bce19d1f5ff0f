//! The benchmark as a loop, and two loops that do not communicate.

use std::hint::black_box;
use std::ops::Range;

use super::work::{consumed, produced};
use super::{Shape, Work};

/// The number of values between the stores and the loads. They stay in the first-level cache.
const STRIP: u64 = 1_024;

/// Returns the sum that each consumer finds, computed by a loop. The loop does the work of all processes.
pub fn sequential(shape: Shape, work: Work, indices: u64) -> Vec<u32> {
    part(shape, work, 0..indices)
}

fn part(shape: Shape, work: Work, indices: Range<u64>) -> Vec<u32> {
    let mut sums = vec![0u32; shape.consumers];
    let mut strip = [0u32; STRIP as usize];
    let mut first = indices.start;
    while first < indices.end {
        let strip = &mut strip[..STRIP.min(indices.end - first) as usize];
        strip.iter_mut().zip(first..).for_each(|(slot, index)| *slot = produced(work, index));
        // The numbers are stored and loaded, as in the network.
        let strip = black_box(&*strip);
        sums.iter_mut().for_each(|sum| *sum = consumed(work, *sum, black_box(strip)));
        first += STRIP;
    }
    sums
}

/// Does the work of the loop on two threads that do not communicate. No network with two threads can be faster.
pub(super) fn ceiling(shape: Shape, work: Work, indices: u64) -> Vec<u32> {
    let half = indices / 2;
    std::thread::scope(|scope| {
        let other = scope.spawn(move || part(shape, work, 0..half));
        let mine = part(shape, work, half..indices);
        let other = other.join().unwrap_or_default();
        mine.iter().zip(other).map(|(mine, other)| mine.wrapping_add(other)).collect()
    })
}
