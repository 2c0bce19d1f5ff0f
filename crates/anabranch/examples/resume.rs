//! Copies a file, and can resume a copy that has failed. Every block is checked before it is written, and the
//! written blocks are exactly those before the failure. `tests/integration/examples.rs` checks that the five
//! forms of the loop agree.
//!
//! `cargo run --release --example resume FROM TO` continues at the present length of `TO`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::iter;
use std::thread;

use anabranch::{Stream, default_workers};
use crossbeam_channel::bounded;
use rayon::prelude::*;

const BLOCK: u64 = 64 << 10;

fn read_block(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut block = Vec::new();
    input.take(BLOCK).read_to_end(&mut block)?;
    Ok((!block.is_empty()).then_some(block))
}

/// Rejects a block that has a hole in it, as a failing disk may return.
fn check(block: &[u8]) -> io::Result<u32> {
    if block.len() >= 512 && block.chunks(512).any(|sector| sector.iter().all(|&byte| byte == 0xEE)) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a sector that was never written"));
    }
    let table =
        |value: u32| (0..8).fold(value, |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()));
    Ok(!block.iter().fold(!0, |crc: u32, &byte| (crc >> 8) ^ table((crc ^ u32::from(byte)) & 0xFF)))
}

/// Copies what follows the first `done` bytes. Even if it fails, `done` says how many bytes are copied.
/// Returns the checksums of the blocks.
pub fn sequential(
    mut from: impl Read + Seek + Send,
    mut to: impl Write + Seek + Send,
    done: &mut u64,
) -> io::Result<Vec<u32>> {
    from.seek(SeekFrom::Start(*done))?;
    to.seek(SeekFrom::Start(*done))?;
    let mut sums = Vec::new();
    while let Some(block) = read_block(&mut from)? {
        let sum = check(&block)?;
        to.write_all(&block)?;
        *done += block.len() as u64;
        sums.push(sum);
    }
    Ok(sums)
}

/// The loop with annotations.
#[anabranch::stream]
pub fn annotated(
    mut from: impl Read + Seek + Send,
    mut to: impl Write + Seek + Send,
    done: &mut u64,
) -> io::Result<Vec<u32>> {
    from.seek(SeekFrom::Start(*done))?;
    to.seek(SeekFrom::Start(*done))?;
    let mut sums = Vec::new();
    #[to_stream]
    while let Some(block) = read_block(&mut from)? {
        #[stage(replicate)]
        let sum = check(&block)?;
        to.write_all(&block)?;
        *done += block.len() as u64;
        sums.push(sum);
    }
    Ok(sums)
}

/// The loop as a stream.
pub fn builder(
    mut from: impl Read + Seek + Send,
    mut to: impl Write + Seek + Send,
    done: &mut u64,
) -> io::Result<Vec<u32>> {
    from.seek(SeekFrom::Start(*done))?;
    to.seek(SeekFrom::Start(*done))?;
    let mut sums = Vec::new();
    Stream::try_from_iter(iter::from_fn(|| read_block(&mut from).transpose()))
        .try_map(|block| Ok((check(&block)?, block)))
        .try_for_each(|(sum, block)| -> io::Result<()> {
            to.write_all(&block)?;
            *done += block.len() as u64;
            sums.push(sum);
            Ok(())
        })?;
    Ok(sums)
}

/// With rayon. All blocks are in memory before the first one is checked. If one cannot be read, none is
/// written.
pub fn with_rayon(
    mut from: impl Read + Seek + Send,
    mut to: impl Write + Seek + Send,
    done: &mut u64,
) -> io::Result<Vec<u32>> {
    from.seek(SeekFrom::Start(*done))?;
    to.seek(SeekFrom::Start(*done))?;
    let mut sums = Vec::new();
    let mut blocks = Vec::new();
    while let Some(block) = read_block(&mut from)? {
        blocks.push(block);
    }
    let checked: Vec<io::Result<(u32, Vec<u8>)>> =
        blocks.into_par_iter().map(|block| Ok((check(&block)?, block))).collect();
    for result in checked {
        let (sum, block) = result?;
        to.write_all(&block)?;
        *done += block.len() as u64;
        sums.push(sum);
    }
    Ok(sums)
}

/// With threads and channels, and a map that restores the order.
pub fn with_channels(
    mut from: impl Read + Seek + Send,
    mut to: impl Write + Seek + Send,
    done: &mut u64,
) -> io::Result<Vec<u32>> {
    from.seek(SeekFrom::Start(*done))?;
    to.seek(SeekFrom::Start(*done))?;
    let mut sums = Vec::new();
    let (items, work) = bounded::<(usize, io::Result<Vec<u8>>)>(64);
    let (results, checked) = bounded(64);
    thread::scope(|scope| {
        scope.spawn(move || {
            for at in 0.. {
                let Some(block) = read_block(&mut from).transpose() else { break };
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
                    if results.send((at, block.and_then(|block| Ok((check(&block)?, block))))).is_err() {
                        break;
                    }
                }
            });
        }
        drop((work, results));
        let (mut early, mut next) = (BTreeMap::new(), 0);
        for (at, result) in checked {
            early.insert(at, result);
            while let Some(result) = early.remove(&next) {
                let (sum, block) = result?;
                to.write_all(&block)?;
                *done += block.len() as u64;
                sums.push(sum);
                next += 1;
            }
        }
        Ok(sums)
    })
}

fn main() -> io::Result<()> {
    let mut paths = std::env::args().skip(1);
    let (Some(from), Some(to)) = (paths.next(), paths.next()) else {
        println!("expected two files: FROM TO");
        return Ok(());
    };
    let target = File::options().create(true).truncate(false).write(true).open(&to)?;
    let mut done = target.metadata()?.len() / BLOCK * BLOCK;
    let result = annotated(File::open(&from)?, &target, &mut done);
    println!("{to} has {done} bytes");
    result.map(|sums| println!("{} blocks were copied now", sums.len()))
}
