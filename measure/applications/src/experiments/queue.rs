//! The record that passes items from one thread to one other.

use std::thread;

use anabranch_network::record::one_to_one;
use measure_programs::Output;
use measure_programs::experiments::queue::{Input, fold};

/// The writer commits each item by itself, and the reader receives each by itself.
pub fn one_by_one(input: &'static Input, _workers: usize, output: Output) -> Output {
    pass(input, 1, output)
}

/// The writer commits, and the reader receives, a quarter of the capacity at once.
pub fn in_bursts(input: &'static Input, _workers: usize, output: Output) -> Output {
    pass(input, (input.capacity / 4).max(1), output)
}

fn pass(input: &Input, burst: usize, mut output: Output) -> Output {
    let (mut writer, mut reader) = one_to_one(input.capacity, burst);
    let mut folded = 0;
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut next = 0;
            while next < input.items {
                let now = (input.items - next).min(burst as u64);
                let Ok(mut slots) = writer.stall(now as usize) else { return };
                (next..next + now).for_each(|item| slots.push(item));
                slots.commit();
                next += now;
            }
        });
        loop {
            let items = reader.receive(burst);
            if items.is_empty() {
                break;
            }
            folded = items.iter().copied().fold(folded, fold);
            items.release();
        }
    });
    output.write(&folded.to_le_bytes());
    output
}
