//! Applies filters to the pictures of a folder: each picture is blurred, its colours are turned, and it is
//! made smaller. `tests/integration/examples.rs` checks that the five forms of the loop agree.
//!
//! `cargo run --release --example images` creates its own pictures.

use std::collections::BTreeMap;
use std::thread;

use anabranch::{Stream, default_workers};
use crossbeam_channel::bounded;
use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};
use rayon::prelude::*;

/// Filters that cost about the same share a stage. A filter that costs more gets a stage of its own.
fn blurred(picture: &RgbImage) -> RgbImage {
    imageops::blur(picture, 1.5)
}

fn finished(picture: &RgbImage) -> RgbImage {
    let turned = imageops::huerotate(picture, 90);
    imageops::resize(&turned, picture.width() / 2, picture.height() / 2, FilterType::Triangle)
}

/// The plain loop.
pub fn sequential(pictures: &[RgbImage]) -> Vec<RgbImage> {
    let mut done = Vec::new();
    for picture in pictures {
        let blurred = blurred(picture);
        let finished = finished(&blurred);
        done.push(finished);
    }
    done
}

/// The loop with annotations.
#[anabranch::stream]
pub fn annotated(pictures: &[RgbImage]) -> Vec<RgbImage> {
    let mut done = Vec::new();
    #[to_stream(window = 16)]
    for picture in pictures {
        #[stage(replicate)]
        let blurred = blurred(picture);
        #[stage(replicate)]
        let finished = finished(&blurred);
        done.push(finished);
    }
    done
}

/// The loop as a stream.
pub fn builder(pictures: &[RgbImage]) -> Vec<RgbImage> {
    Stream::from_iter(pictures).window(16).map(blurred).map(|picture| finished(&picture)).collect()
}

/// With rayon, which keeps the order of a slice.
pub fn with_rayon(pictures: &[RgbImage]) -> Vec<RgbImage> {
    pictures.par_iter().map(blurred).map(|picture| finished(&picture)).collect()
}

/// With threads and channels, with one thread for each of the two stages, and a map that restores the order.
pub fn with_channels(pictures: &[RgbImage]) -> Vec<RgbImage> {
    let (items, work) = bounded::<(usize, &RgbImage)>(16);
    let (halves, half_done) = bounded::<(usize, RgbImage)>(16);
    let (results, whole) = bounded(16);
    let mut done = Vec::new();
    thread::scope(|scope| {
        scope.spawn(move || pictures.iter().enumerate().for_each(|item| items.send(item).unwrap()));
        for _ in 0..default_workers() {
            let (work, halves) = (work.clone(), halves.clone());
            scope.spawn(move || {
                work.iter().for_each(|(at, picture)| halves.send((at, blurred(picture))).unwrap())
            });
            let (half_done, results) = (half_done.clone(), results.clone());
            scope.spawn(move || {
                half_done.iter().for_each(|(at, blurred)| results.send((at, finished(&blurred))).unwrap())
            });
        }
        drop((halves, results));
        let (mut early, mut next) = (BTreeMap::new(), 0);
        for (at, finished) in whole {
            early.insert(at, finished);
            while let Some(finished) = early.remove(&next) {
                done.push(finished);
                next += 1;
            }
        }
    });
    done
}

/// Pictures of several sizes.
pub fn sample(count: u32) -> Vec<RgbImage> {
    let pixel = |n: u32| move |x: u32, y: u32| Rgb([(x * n) as u8, (y + n) as u8, (x ^ y) as u8]);
    (1..=count).map(|n| RgbImage::from_fn(24 + n, 20, pixel(n))).collect()
}

fn main() {
    let pictures = sample(40);
    let done = annotated(&pictures);
    assert!(done == sequential(&pictures) && done == builder(&pictures));
    println!("{} pictures; the last is {} x {}", done.len(), done[39].width(), done[39].height());
}
