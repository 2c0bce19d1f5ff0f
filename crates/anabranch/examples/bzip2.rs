//! Compresses to bzip2, in memory or on disk, as in the papers on SPar and on Rust-SSP. Each block of 900 kB
//! becomes a member of its own, so `bunzip2` reads the whole file. `tests/integration/examples.rs` checks
//! that the five forms of the loop agree.
//!
//! `cargo run --release --example bzip2 [FILE]` writes `FILE.bz2`. Without a file it works in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::iter;
use std::thread;

use anabranch::{Stream, default_workers};
use bzip2::Compression;
use bzip2::read::BzEncoder;
use crossbeam_channel::bounded;
use rayon::prelude::*;

const BLOCK: u64 = 900_000;

/// The next block, or `None` at the end.
fn read_block(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut block = Vec::new();
    input.take(BLOCK).read_to_end(&mut block)?;
    Ok((!block.is_empty()).then_some(block))
}

fn compress(block: &[u8]) -> io::Result<Vec<u8>> {
    let mut member = Vec::new();
    BzEncoder::new(block, Compression::best()).read_to_end(&mut member)?;
    Ok(member)
}

/// The plain loop.
pub fn sequential(mut input: impl Read + Send, mut output: impl Write + Send) -> io::Result<()> {
    while let Some(block) = read_block(&mut input)? {
        let member = compress(&block)?;
        output.write_all(&member)?;
    }
    output.flush()
}

/// The loop with annotations.
#[anabranch::stream]
pub fn annotated(mut input: impl Read + Send, mut output: impl Write + Send) -> io::Result<()> {
    #[to_stream(window = 16)]
    while let Some(block) = read_block(&mut input)? {
        #[stage(replicate)]
        let member = compress(&block)?;
        output.write_all(&member)?;
    }
    output.flush()
}

/// The loop as a stream.
pub fn builder(mut input: impl Read + Send, mut output: impl Write + Send) -> io::Result<()> {
    Stream::try_from_iter(iter::from_fn(|| read_block(&mut input).transpose()))
        .window(16)
        .try_map(|block| compress(&block))
        .try_for_each(|member| output.write_all(&member))?;
    output.flush()
}

/// With rayon. The whole input is in memory, and then the whole output.
pub fn with_rayon(mut input: impl Read + Send, mut output: impl Write + Send) -> io::Result<()> {
    let mut blocks = Vec::new();
    while let Some(block) = read_block(&mut input)? {
        blocks.push(block);
    }
    let members: Vec<io::Result<Vec<u8>>> = blocks.par_iter().map(|block| compress(block)).collect();
    for member in members {
        output.write_all(&member?)?;
    }
    output.flush()
}

/// With threads and channels, and a map that restores the order.
pub fn with_channels(mut input: impl Read + Send, mut output: impl Write + Send) -> io::Result<()> {
    let (items, work) = bounded::<(usize, io::Result<Vec<u8>>)>(8);
    let (results, done) = bounded(8);
    thread::scope(|scope| {
        scope.spawn(move || {
            for at in 0.. {
                let Some(block) = read_block(&mut input).transpose() else { break };
                let is_last = block.is_err();
                if items.send((at, block)).is_err() || is_last {
                    break;
                }
            }
        });
        for _ in 0..default_workers() {
            let (work, results) = (work.clone(), results.clone());
            scope.spawn(move || {
                for (at, block) in work {
                    if results.send((at, block.and_then(|block| compress(&block)))).is_err() {
                        break;
                    }
                }
            });
        }
        drop((work, results));
        let (mut early, mut next) = (BTreeMap::new(), 0);
        for (at, member) in done {
            early.insert(at, member);
            while let Some(member) = early.remove(&next) {
                output.write_all(&member?)?;
                next += 1;
            }
        }
        output.flush()
    })
}

/// A text of `size` bytes.
pub fn sample(size: usize) -> Vec<u8> {
    (0..size).map(|at| b"a branch of a river joins it again"[(at * at / 7) % 34]).collect()
}

fn main() -> io::Result<()> {
    let Some(path) = std::env::args().nth(1) else {
        let text = sample(3_000_000);
        let (mut first, mut second, mut third) = (Vec::new(), Vec::new(), Vec::new());
        sequential(&text[..], &mut first)?;
        annotated(&text[..], &mut second)?;
        builder(&text[..], &mut third)?;
        assert!(first == second && first == third);
        println!("{} bytes of text are {} bytes of bzip2", text.len(), first.len());
        return Ok(());
    };
    let target = format!("{path}.bz2");
    annotated(File::open(&path)?, BufWriter::new(File::create_new(&target)?))?;
    println!("{target}: {} bytes", std::fs::metadata(&target)?.len());
    Ok(())
}
