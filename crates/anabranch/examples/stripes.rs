//! Listing 2 of the paper on SPar and data compression. The source gives the numbers of the workers. Each
//! replica of the last stage reads, decodes and writes its stripe of the blocks, each at its own offset, so
//! there is no sink. `tests/integration/examples.rs` checks that the five forms of the loop agree.
//!
//! `cargo run --release --example stripes`

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;

use anabranch::Stream;
use bzip2::Compression;
use bzip2::read::{BzDecoder, BzEncoder};
use rayon::prelude::*;

/// The position of a block in the compressed file and in the output.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    at: u64,
    length: u64,
    target: u64,
}

/// Reads and decodes one block, and writes it at its position.
fn decode(packed: &Path, entry: Entry, output: &Path) -> io::Result<()> {
    let mut packed = File::open(packed)?;
    packed.seek(SeekFrom::Start(entry.at))?;
    let mut block = Vec::new();
    BzDecoder::new(packed.take(entry.length)).read_to_end(&mut block)?;
    let mut output = File::options().write(true).open(output)?;
    output.seek(SeekFrom::Start(entry.target))?;
    output.write_all(&block)
}

/// The plain loop.
pub fn sequential(packed: &Path, index: &[Entry], output: &Path, workers: usize) -> io::Result<()> {
    for worker in 0..workers {
        for entry in index.iter().skip(worker).step_by(workers) {
            decode(packed, *entry, output)?;
        }
    }
    Ok(())
}

/// The loop with annotations.
#[anabranch::stream]
pub fn annotated(packed: &Path, index: &[Entry], output: &Path, workers: usize) -> io::Result<()> {
    #[to_stream]
    for worker in 0..workers {
        #[stage(replicate = workers)]
        for entry in index.iter().skip(worker).step_by(workers) {
            decode(packed, *entry, output)?;
        }
    }
    Ok(())
}

/// The loop as a stream.
pub fn builder(packed: &Path, index: &[Entry], output: &Path, workers: usize) -> io::Result<()> {
    Stream::from_iter(0..workers)
        .replicas(workers)
        .try_map(|worker| {
            let mut stripe = index.iter().skip(worker).step_by(workers);
            stripe.try_for_each(|entry| decode(packed, *entry, output))
        })
        .for_each(|()| ())
}

/// With rayon, on its own threads.
pub fn with_rayon(packed: &Path, index: &[Entry], output: &Path, workers: usize) -> io::Result<()> {
    (0..workers).into_par_iter().try_for_each(|worker| {
        for entry in index.iter().skip(worker).step_by(workers) {
            decode(packed, *entry, output)?;
        }
        Ok(())
    })
}

/// With threads. They have nothing to send to each other.
pub fn with_threads(packed: &Path, index: &[Entry], output: &Path, workers: usize) -> io::Result<()> {
    thread::scope(|scope| {
        let stripe = |worker| {
            scope.spawn(move || {
                for entry in index.iter().skip(worker).step_by(workers) {
                    decode(packed, *entry, output)?;
                }
                Ok(())
            })
        };
        let threads: Vec<_> = (0..workers).map(stripe).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })
}

/// Compresses a text block by block. Returns the position of each block.
pub fn pack(text: &[u8], packed: &Path) -> io::Result<Vec<Entry>> {
    let mut file = File::create(packed)?;
    let (mut at, mut target) = (0, 0);
    let mut index = Vec::new();
    for block in text.chunks(10_000) {
        let mut member = Vec::new();
        BzEncoder::new(block, Compression::fast()).read_to_end(&mut member)?;
        file.write_all(&member)?;
        index.push(Entry { at, length: member.len() as u64, target });
        at += member.len() as u64;
        target += block.len() as u64;
    }
    Ok(index)
}

fn main() -> io::Result<()> {
    let folder = std::env::temp_dir();
    let name = |what: &str| folder.join(format!("anabranch-stripes-{}-{what}", std::process::id()));
    let (packed, output) = (name("packed"), name("output"));
    let text: Vec<u8> = (0..500_000u32).map(|n| (n % 251) as u8).collect();
    let index = pack(&text, &packed)?;
    for form in [sequential, annotated, builder] {
        File::create(&output)?;
        form(&packed, &index, &output, 4)?;
        assert!(std::fs::read(&output)? == text);
    }
    println!("{} blocks were decoded in stripes, each to its place", index.len());
    std::fs::remove_file(packed)?;
    std::fs::remove_file(output)
}
