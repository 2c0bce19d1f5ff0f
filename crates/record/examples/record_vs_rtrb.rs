//! One writer, one reader, bursts of 64 `u64`: the one-to-one record against `rtrb`'s chunks.
//!
//!     cargo run --release -p anabranch-record --example record_vs_rtrb [rounds] [items a round]
//!
//! Both move the same items between two threads through a buffer of the same capacity, written and read as
//! slices. Both wait the same way where they can: `rtrb` does not wait, so its loops poll; the second column
//! of rounds gives it the record's own pauses between two looks. Rounds are interleaved, ratios taken within
//! a round: over 1 means that the record is quicker.

use std::time::Instant;

const BURST: usize = 64;
const CAPACITY: usize = 4096;

/// A name, and what moves that many items and gives their sum.
type Rival = (&'static str, fn(usize) -> u64);

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().expect("a number"));
    let rounds = arguments.next().unwrap_or(21).max(3);
    let items = arguments.next().unwrap_or(20_000_000) / BURST * BURST;
    let rivals: [Rival; 3] = [
        ("rtrb, polling", |items| rtrb(items, 1)),
        ("rtrb, with pauses", |items| rtrb(items, 16)),
        ("record", record),
    ];
    let mut times = vec![[0.0; 3]; rounds];
    for (round, times) in times.iter_mut().enumerate() {
        for turn in 0..3 {
            let rival = (round + turn) % 3;
            let start = Instant::now();
            let sum = rivals[rival].1(items);
            times[rival] = start.elapsed().as_secs_f64() * 1e9 / items as f64;
            assert_eq!(sum, (items as u64 - 1) * items as u64 / 2);
        }
    }
    println!("{rounds} rounds of {items} items, bursts of {BURST}, capacity {CAPACITY}");
    for (rival, (name, _)) in rivals.iter().enumerate() {
        let mut column: Vec<f64> = times.iter().map(|round| round[rival]).collect();
        let (low, median, high) = interval(&mut column);
        println!("{name:18} {median:6.3} ns/item, 95 % interval of the median {low:.3} to {high:.3}");
    }
    for rival in 0..2 {
        let mut ratios: Vec<f64> = times.iter().map(|round| round[rival] / round[2]).collect();
        let won = ratios.iter().filter(|&&ratio| ratio >= 1.0).count();
        let (low, median, high) = interval(&mut ratios);
        println!(
            "record over {}: {median:.2} times, 95 % interval {low:.2} to {high:.2}, {won} of {rounds} rounds won",
            rivals[rival].0
        );
    }
}

fn record(items: usize) -> u64 {
    let (mut writer, mut reader) = anabranch_record::one_to_one::<u64>(CAPACITY / 2, CAPACITY / 2);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut next = 0;
            while next < items as u64 {
                let mut slots = writer.stall(BURST).unwrap();
                for slice in slots.slices_mut() {
                    next = write(slice, next);
                }
                slots.commit();
            }
        });
        let mut sum = 0u64;
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
                next = poll(most_pauses, || {
                    let mut chunk = producer.write_chunk_uninit(BURST).ok()?;
                    let (first, second) = chunk.as_mut_slices();
                    let next = write(as_plain(second), write(as_plain(first), next));
                    // SAFETY: both slices were filled.
                    unsafe { chunk.commit_all() };
                    Some(next)
                });
            }
        });
        let (mut sum, mut left) = (0u64, items);
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

/// `rtrb` would write zeros first (`write_chunk`); the rival shall not pay for that.
fn as_plain(slice: &mut [std::mem::MaybeUninit<u64>]) -> &mut [u64] {
    // SAFETY: the slice is only written to, and every bit pattern is a `u64`.
    unsafe { std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), slice.len()) }
}

/// Looks until there is something, pausing 1, 2, 4, .. `most` times between two looks.
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

/// The median and a 95 % interval for it, by order statistics (normal approximation of the binomial).
fn interval(values: &mut [f64]) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let half = 1.96 * n.sqrt() / 2.0;
    let low = (n / 2.0 - half).floor().max(0.0) as usize;
    let high = ((n / 2.0 + half).ceil() as usize).min(values.len() - 1);
    (values[low], values[values.len() / 2], values[high])
}
