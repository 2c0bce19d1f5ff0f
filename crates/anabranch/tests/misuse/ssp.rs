//! The mistakes that one makes first with the macros of Rust-SSP.

use anabranch::ssp::*;

/// A stage in the middle takes other items than the stage before it gives.
fn other_items() {
    let pipeline = pipeline![
        parallel!(|n: u64| Some(n.to_string()), 2),
        parallel!(|n: u32| Some(n + 1), 2),
        collect_ordered!()
    ];
    pipeline.post(1).unwrap();
}

/// So does the last stage.
fn other_items_at_the_end() {
    let pipeline = pipeline![parallel!(|n: u64| Some(n.to_string()), 2), sequential!(|n: u32| n + 1)];
    pipeline.post(1).unwrap();
}

struct Count;

impl InOut<u32, u32> for Count {
    fn process(&mut self, item: u32) -> Option<u32> {
        Some(item + 1)
    }
}

/// A struct takes other items.
fn other_items_of_a_struct() {
    let pipeline = pipeline![parallel!(|n: u64| Some(n), 2), sequential!(Count), collect!()];
    pipeline.post(1).unwrap();
}

/// A stage returns no `Option`.
fn no_option() {
    let pipeline = pipeline![parallel!(|n: u32| n + 1, 2), collect!()];
    pipeline.post(1).unwrap();
}

/// A closure is no stage yet.
fn bare_closure() {
    let pipeline = pipeline![|n: u32| Some(n), collect!()];
    pipeline.post(1).unwrap();
}

fn main() {}
