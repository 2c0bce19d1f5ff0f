//! Multiplies two matrices, row by row. `tests/integration/examples.rs` checks that the five forms of the
//! loop agree.
//!
//! `cargo run --release --example matrix [SIZE]`

use std::collections::BTreeMap;
use std::thread;

use anabranch::{Stream, default_workers};
use crossbeam_channel::bounded;
use rayon::prelude::*;

/// A square matrix, stored row by row.
pub fn matrix(size: usize, seed: usize) -> Vec<f64> {
    (0..size * size).map(|at| ((at * seed + 7) % 13) as f64).collect()
}

fn multiply(row: &[f64], b: &[f64], size: usize) -> Vec<f64> {
    let cell = |column: usize| (0..size).map(|k| row[k] * b[k * size + column]).sum();
    (0..size).map(cell).collect()
}

/// The plain loop.
pub fn sequential(a: &[f64], b: &[f64], size: usize) -> Vec<f64> {
    let mut product = Vec::with_capacity(a.len());
    for row in a.chunks(size) {
        let cells = multiply(row, b, size);
        product.extend(cells);
    }
    product
}

/// The loop with annotations.
#[anabranch::stream]
pub fn annotated(a: &[f64], b: &[f64], size: usize) -> Vec<f64> {
    let mut product = Vec::with_capacity(a.len());
    #[to_stream]
    for row in a.chunks(size) {
        #[stage(replicate)]
        let cells = multiply(row, b, size);
        product.extend(cells);
    }
    product
}

/// The loop as a stream.
pub fn builder(a: &[f64], b: &[f64], size: usize) -> Vec<f64> {
    let mut product = Vec::with_capacity(a.len());
    Stream::from_iter(a.chunks(size))
        .map(|row| multiply(row, b, size))
        .for_each(|cells| product.extend(cells));
    product
}

/// With rayon, which keeps the order of chunks.
pub fn with_rayon(a: &[f64], b: &[f64], size: usize) -> Vec<f64> {
    a.par_chunks(size).flat_map_iter(|row| multiply(row, b, size)).collect()
}

/// With threads and channels, and a map that restores the order.
pub fn with_channels(a: &[f64], b: &[f64], size: usize) -> Vec<f64> {
    let (items, work) = bounded::<(usize, &[f64])>(64);
    let (results, done) = bounded(64);
    let mut product = Vec::with_capacity(a.len());
    thread::scope(|scope| {
        scope.spawn(move || a.chunks(size).enumerate().for_each(|item| items.send(item).unwrap()));
        for _ in 0..default_workers() {
            let (work, results) = (work.clone(), results.clone());
            scope.spawn(move || {
                work.iter().for_each(|(at, row)| results.send((at, multiply(row, b, size))).unwrap())
            });
        }
        drop(results);
        let (mut early, mut next) = (BTreeMap::new(), 0);
        for (at, cells) in done {
            early.insert(at, cells);
            while let Some(cells) = early.remove(&next) {
                product.extend(cells);
                next += 1;
            }
        }
    });
    product
}

fn main() {
    let size = std::env::args().nth(1).map_or(200, |text| text.parse().expect("a size"));
    let (a, b) = (matrix(size, 3), matrix(size, 5));
    let product = annotated(&a, &b, size);
    assert_eq!(product, sequential(&a, &b, size));
    assert_eq!(product, builder(&a, &b, size));
    println!("{size} x {size}: the sum of all cells is {}", product.iter().sum::<f64>());
}
