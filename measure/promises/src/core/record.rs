//! One writer and one reader move bursts of 64 `u64`: the one-to-one record against `rtrb`'s chunks.
//!
//! Both move the same items between two threads, through a buffer of the same capacity. The record is written
//! and read as slices. `rtrb` is read as slices and filled from an iterator. That needs no unsafe code here
//! and is as fast as writing to its slices; its other safe methods are slower. `rtrb` does not wait, so its
//! loops poll: once without pauses, and once with the pauses that the record makes between two looks.

use super::{Setup, nanos};
use measure_harness::rounds::{Contender, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Digest;

const BURST: usize = 64;
const CAPACITY: usize = 4096;

/// The name of a rival, and the most pauses that it makes between two looks.
const RIVALS: [(&str, u32); 2] = [("polling", 1), ("with pauses", 16)];

pub fn rows(setup: &Setup) -> Vec<Row> {
    let items: usize = if setup.quick { 10_000_000 } else { 40_000_000 };
    let items = items / BURST * BURST;
    let expected = digest((0..items as u64).fold(0, u64::wrapping_add));
    let rivals =
        RIVALS.map(|(name, most)| Contender::timed(name, expected, move || digest(rtrb(items, most))));
    let ours = Contender::timed("record", expected, move || digest(record(items)));
    let contenders = rivals.into_iter().chain([ours]).collect();
    let rounds = measure(setup.budget, Some(setup.probe()), contenders);
    let row = |(at, (name, _)): (usize, (&str, u32))| {
        let what = format!("record, one to one, bursts of 64 u64: times rtrb's chunks, {name}");
        Row::new("record", what, (Target::Rival, Unit::Times), &rounds, |rounds| {
            let each = |at: usize| nanos(rounds.median(|round| round.samples[at]), items as u64);
            (
                rounds.summary(|round| round.samples[at] / round.samples[RIVALS.len()]),
                format!("record {:.3} ns an item, rtrb {:.3}", each(RIVALS.len()), each(at)),
            )
        })
    };
    RIVALS.into_iter().enumerate().map(row).collect()
}

fn digest(sum: u64) -> Digest {
    Digest::EMPTY.with(sum)
}

fn record(items: usize) -> u64 {
    let (mut writer, mut reader) = anabranch_network::record::one_to_one::<u64>(CAPACITY / 2, CAPACITY / 2);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut next = 0;
            while next < items as u64 {
                let mut slots = writer.stall(BURST).expect("the reader stays to the end");
                for slice in slots.slices_mut() {
                    next = write(slice, next);
                }
                slots.commit();
            }
        });
        let mut sum = 0;
        loop {
            let items = reader.receive(BURST);
            if items.is_empty() {
                return sum;
            }
            for slice in items.slices() {
                sum = read(slice, sum);
            }
            items.release();
        }
    })
}

fn rtrb(items: usize, most_pauses: u32) -> u64 {
    let (mut producer, mut consumer) = rtrb::RingBuffer::<u64>::new(CAPACITY);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut next = 0;
            while next < items as u64 {
                next += poll(most_pauses, || {
                    let chunk = producer.write_chunk_uninit(BURST).ok()?;
                    Some(chunk.fill_from_iter(next..) as u64)
                });
            }
        });
        let (mut sum, mut left) = (0, items);
        while left > 0 {
            sum = poll(most_pauses, || {
                let chunk = consumer.read_chunk(BURST).ok()?;
                let (first, second) = chunk.as_slices();
                let sum = read(second, read(first, sum));
                chunk.commit_all();
                Some(sum)
            });
            left -= BURST;
        }
        sum
    })
}

/// Polls until there is something, with 1, 2, 4 and so on up to `most` pauses between two looks.
fn poll<R>(most: u32, mut look: impl FnMut() -> Option<R>) -> R {
    let mut pauses = 1;
    loop {
        if let Some(found) = look() {
            return found;
        }
        for _ in 0..pauses {
            std::hint::spin_loop();
        }
        pauses = most.min(pauses * 2);
    }
}

#[inline]
fn write(slice: &mut [u64], next: u64) -> u64 {
    for (item, value) in slice.iter_mut().zip(next..) {
        *item = value;
    }
    next + slice.len() as u64
}

#[inline]
fn read(slice: &[u64], sum: u64) -> u64 {
    slice.iter().fold(sum, |sum, &item| sum.wrapping_add(item))
}
