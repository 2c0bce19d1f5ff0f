//! Files of any bytes, read in pieces of any size: the network and the sequential form agree in their output and in
//! their errors. The tests run for `DSP_FUZZ_SECONDS` seconds.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use dsp::fft::{self, Shape, Split};
use dsp::fmradio::{self, History, Radio};
use dsp::{Executor, Input, Output, Result, Run};

use crate::random::Random;

/// Calls `attempt` with one seed after another.
fn for_some_time(attempt: impl Fn(&mut Random)) {
    let seconds = std::env::var("DSP_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0.3);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    for seed in 1.. {
        attempt(&mut Random::new(seed));
        if Instant::now() >= end {
            break;
        }
    }
}

/// Gives some bytes at a time, and fails at the end if it `is_broken`.
struct Pieces<'a> {
    bytes: &'a [u8],
    random: Random,
    is_broken: bool,
}

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.random.next() % 8 {
            0 => return Err(io::ErrorKind::Interrupted.into()),
            _ if self.bytes.is_empty() && self.is_broken => return Err(io::Error::other("the disk is gone")),
            _ => {}
        }
        let most = into.len().min(self.bytes.len());
        let count = if most == 0 { 0 } else { 1 + self.random.next() as usize % most };
        into[..count].copy_from_slice(&self.bytes[..count]);
        self.bytes = &self.bytes[count..];
        Ok(count)
    }
}

fn bytes(random: &mut Random, most: usize) -> Vec<u8> {
    let count = random.next() as usize % (most + 1);
    // Some files have only a few different bytes.
    let mask = random.next() as u8 | if random.next().is_multiple_of(2) { 255 } else { 0 };
    (0..count).map(|_| (random.next() >> 16) as u8 & mask).collect()
}

/// Returns the output of a program for these bytes, in this form.
fn given(
    bytes: &[u8],
    seed: u64,
    is_broken: bool,
    program: impl Fn(Input<'_>, &mut Output<'_>) -> Result<()>,
) -> std::result::Result<Vec<u8>, String> {
    let mut result = Vec::new();
    let mut output = Output::from_writer("output", &mut result);
    let input = Input::from_reader("input", Pieces { bytes, random: Random::new(seed), is_broken });
    program(input, &mut output).map_err(|error| error.to_string())?;
    output.finish().map_err(|error| error.to_string())?;
    Ok(result)
}

#[test]
fn recordings_of_any_bytes_give_the_same_audio_or_the_same_error() {
    for_some_time(|random| {
        let bytes = bytes(random, 6_000);
        let rate = 150_000 + (random.next() % 1_500_000) as u32;
        let history = if random.next().is_multiple_of(4) { History::Rings } else { History::Records };
        let radio = Radio::new(rate)
            .unwrap()
            .burst(1 + random.next() as usize % 200)
            .doubled(random.next().is_multiple_of(2))
            .history(history);
        let (seed, is_broken) = (random.next(), random.next().is_multiple_of(8));
        let workers = 1 + random.next() as usize % 4;
        let [inline, network] = [Executor::Inline, Executor::Workers(workers)].map(|executor| {
            given(&bytes, seed, is_broken, |input, output| {
                fmradio::receive(input, output, &radio, &Run::new(executor))
            })
        });
        assert!(
            inline == network,
            "{radio:?}, {} bytes: {:?}, {:?}",
            bytes.len(),
            inline.err(),
            network.err()
        );
        assert_eq!(inline.is_ok(), bytes.len().is_multiple_of(2) && !is_broken);
    });
}

#[test]
fn blocks_of_any_bytes_give_the_same_spectra_or_the_same_error() {
    for_some_time(|random| {
        let mut bytes = bytes(random, 40_000);
        if !random.next().is_multiple_of(4) {
            bytes.truncate(bytes.len() / 2_048 * 2_048);
        }
        let shape = Shape::new(256, Split::Data).unwrap().burst(1 + random.next() as usize % 9);
        let shape = shape.copies(random.next() as usize % 4);
        let (seed, is_broken) = (random.next(), random.next().is_multiple_of(8));
        let workers = 1 + random.next() as usize % 4;
        let [inline, network] = [Executor::Inline, Executor::Workers(workers)].map(|executor| {
            given(&bytes, seed, is_broken, |input, output| {
                fft::transform(input, output, &shape, &Run::new(executor))
            })
        });
        assert!(
            inline == network,
            "{shape:?}, {} bytes: {:?}, {:?}",
            bytes.len(),
            inline.err(),
            network.err()
        );
        assert_eq!(inline.is_ok(), bytes.len().is_multiple_of(2_048) && !is_broken);
    });
}
