//! The progress that a run reports.

use std::sync::Mutex;

use abz::program::{RunOptions, compress_with, decompress_with};
use abz::{Compression, Decompression, Format, Setting};

use crate::support::{noise, prose};

/// Returns the numbers of bytes that a run has reported as done, in order.
fn told(run: impl FnOnce(RunOptions<'_>)) -> Vec<u64> {
    let told = Mutex::new(Vec::new());
    let tell = |bytes| told.lock().unwrap().push(bytes);
    run(RunOptions { progress: Some(&tell), ..RunOptions::default() });
    told.into_inner().unwrap()
}

#[test]
fn all_of_the_input_is_told_and_nothing_twice() {
    let data = [prose(1_500_000), noise(300_000, 3)].concat();
    for format in Format::written() {
        for workers in [1, 2] {
            let level = (*format.levels().start()).max(1);
            let block_size = format.has(Setting::BlockSize).then_some(500_000);
            let compression = Compression { format, level, block_size, workers, ..Default::default() };
            let mut file = Vec::new();
            let done = told(|run_options| {
                compress_with(&data[..], &mut file, &compression, run_options).unwrap();
            });
            assert_eq!(done.iter().sum::<u64>(), data.len() as u64, "{format}");
            let decompression = Decompression { workers, ..Default::default() };
            let mut out = Vec::new();
            let done = told(|run_options| {
                decompress_with(&file[..], &mut out, &decompression, run_options).unwrap();
            });
            assert!(out == data);
            assert_eq!(done.iter().sum::<u64>(), file.len() as u64, "{format}");
        }
    }
}

#[test]
fn within_a_long_block_it_is_told_how_far_it_is() {
    let data = prose(4 << 20);
    for format in [Format::Lzip, Format::Xz] {
        let (level, block_size) = (*format.levels().start(), Some(data.len()));
        let compression = Compression { format, level, block_size, workers: 1, ..Default::default() };
        let done = told(|run_options| {
            compress_with(&data[..], std::io::sink(), &compression, run_options).unwrap();
        });
        assert!(done.len() >= 10 && done.iter().all(|&bytes| bytes <= 1 << 20), "{format}: {done:?}");
    }
}
