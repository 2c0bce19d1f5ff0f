//! Transforms: the network against the sequential form, and bad input.

use std::io::Read;

use dsp::fft::{Shape, Split, TOLERANCE, transform};
use dsp::{Executor, Input, Output, Result, Run};

use crate::random::Random;

const SPLITS: [Split; 3] = [Split::Data, Split::Pipeline, Split::Both];

fn samples(count: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..2 * count).flat_map(|_| random.value().to_le_bytes()).collect()
}

fn spectra(bytes: &[u8], shape: Shape, executor: Executor) -> Result<Vec<u8>> {
    let mut result = Vec::new();
    let mut output = Output::from_writer("result", &mut result);
    transform(Input::from_reader("samples", bytes), &mut output, &shape, &Run::new(executor))?;
    output.finish()?;
    Ok(result)
}

fn values(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// The largest difference of two values, as a part of the largest value of their block.
fn difference(left: &[u8], right: &[u8], size: usize) -> f32 {
    assert_eq!(left.len(), right.len());
    let (left, right) = (values(left), values(right));
    let blocks = left.chunks_exact(2 * size).zip(right.chunks_exact(2 * size));
    let of_block = |(left, right): (&[f32], &[f32])| {
        let largest = left.iter().fold(0f32, |largest, value| largest.max(value.abs()));
        left.iter().zip(right).map(|(left, right)| (left - right).abs() / largest).fold(0f32, f32::max)
    };
    blocks.map(of_block).fold(0.0, f32::max)
}

#[test]
fn sequential_form_is_the_definition() {
    let size = 256;
    let bytes = samples(size, 1);
    let found = values(&spectra(&bytes, Shape::new(size, Split::Data).unwrap(), Executor::Inline).unwrap());
    let signal = values(&bytes);
    for k in [0, 1, 2, 17, 128, 255] {
        let (mut re, mut im) = (0f64, 0f64);
        for n in 0..size {
            let (sin, cos) = (-std::f64::consts::TAU * (n * k % size) as f64 / size as f64).sin_cos();
            let (x, y) = (f64::from(signal[2 * n]), f64::from(signal[2 * n + 1]));
            re += x * cos - y * sin;
            im += x * sin + y * cos;
        }
        assert!((re - f64::from(found[2 * k])).abs() < 1e-4, "real part of {k}");
        assert!((im - f64::from(found[2 * k + 1])).abs() < 1e-4, "imaginary part of {k}");
    }
}

#[test]
fn network_gives_the_spectra_of_the_sequential_form_for_every_split_and_number_of_workers() {
    for (size, blocks) in [(256, 0), (256, 1), (256, 37), (512, 16), (2_048, 9)] {
        let bytes = samples(size * blocks, size as u64);
        let expected = spectra(&bytes, Shape::new(size, Split::Data).unwrap(), Executor::Inline).unwrap();
        for split in SPLITS {
            for workers in [1, 2, 3] {
                for burst in [1, 4] {
                    let shape = Shape::new(size, split).unwrap().burst(burst);
                    let found = spectra(&bytes, shape, Executor::Workers(workers)).unwrap();
                    let off = difference(&expected, &found, size);
                    assert!(off <= TOLERANCE, "{size} samples, {split:?}, {workers} workers: {off} off");
                    if split == Split::Data {
                        assert_eq!(expected, found, "{size} samples, {workers} workers");
                    }
                }
            }
        }
    }
}

#[test]
fn largest_and_smallest_blocks_are_within_the_tolerance() {
    for (size, blocks) in [(1 << 8, 3), (1 << 15, 3), (1 << 20, 1)] {
        let bytes = samples(size * blocks, 7);
        let expected = spectra(&bytes, Shape::new(size, Split::Data).unwrap(), Executor::Inline).unwrap();
        let shape = Shape::new(size, Split::Pipeline).unwrap();
        let found = spectra(&bytes, shape, Executor::Workers(2)).unwrap();
        let off = difference(&expected, &found, size);
        assert!(off <= TOLERANCE, "{size} samples: {off} off");
    }
}

#[test]
fn a_size_that_is_not_possible_is_an_error() {
    for size in [0, 1, 128, 257, 1_000, 1 << 21, usize::MAX] {
        let error = Shape::new(size, Split::Data).unwrap_err().to_string();
        assert!(error.contains("power of two from 256 to 1048576"), "{error}");
    }
}

#[test]
fn a_cut_block_is_an_error_with_its_offset() {
    let mut bytes = samples(256 * 5, 3);
    bytes.truncate(bytes.len() - 3);
    for split in SPLITS {
        for executor in [Executor::Inline, Executor::Workers(2)] {
            let error = spectra(&bytes, Shape::new(256, split).unwrap(), executor).unwrap_err();
            assert_eq!(error.offset(), Some(256 * 4 * 8));
            assert!(error.to_string().contains("2045 of 2048 bytes are there"), "{error}");
        }
    }
}

/// Fails after some bytes.
struct Broken(usize);

impl Read for Broken {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let more = bytes.len().min(self.0);
        self.0 -= more;
        if more == 0 { Err(std::io::Error::other("the disk is gone")) } else { Ok(more) }
    }
}

#[test]
fn an_input_that_cannot_be_read_is_an_error_with_its_offset() {
    for executor in [Executor::Inline, Executor::Workers(2)] {
        let mut output = Output::from_writer("result", std::io::sink());
        let shape = Shape::new(256, Split::Data).unwrap();
        let input = Input::from_reader("disk", Broken(100_000));
        let error = transform(input, &mut output, &shape, &Run::new(executor)).unwrap_err().to_string();
        assert_eq!(error, "disk: cannot read behind byte 100000: the disk is gone");
    }
}
