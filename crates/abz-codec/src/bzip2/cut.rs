//! Cutting of an input into blocks, where bzip2 itself does.

use std::io::{self, Read};
use std::mem;

use super::Level;
use super::runs::{LONGEST, RUN, find_run};
use crate::memory::{NoMemory, make_exact_room};

/// The number of bytes that are read at once.
const INPUT: usize = 128 * 1024;

/// The number of bytes that are searched for runs at once.
const STRETCH: usize = 4096;

/// The number of bytes that are taken one by one at a run.
const FEW: usize = 64;

/// A block of a stream, packed by the first layer of the format: a run of at least four equal bytes is four bytes and a
/// count. The size of a block is limited in this form, so an input is packed while it is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The packed bytes, at least 1.
    pub(super) bytes: Vec<u8>,
}

impl Packed {
    /// Returns the packed bytes, so that their allocation can be used again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Cuts an input into packed blocks of a level's size. It cuts where bzip2 1.0 does, so that the compressed file has
/// the size that bzip2 gives it.
#[derive(Debug)]
pub struct Cutter<R> {
    reader: R,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    packer: Packer,
    ended: bool,
}

impl<R: Read> Cutter<R> {
    /// Creates a cutter of the input that `reader` gives, for `level`. It has its own buffer.
    pub fn new(reader: R, level: Level) -> Self {
        let packer = Packer::new(level);
        Cutter { reader, buffer: vec![0; INPUT], begin: 0, end: 0, packer, ended: false }
    }

    /// Returns the next block, `None` at the end. Drops the contents of `bytes` and uses its allocation for the block.
    ///
    /// # Errors
    ///
    /// Returns the error of the reader, or [`NoMemory`] if there is no memory for a block. Do not read on after an
    /// error.
    pub fn read_into(&mut self, bytes: Vec<u8>) -> io::Result<Option<Packed>> {
        self.packer.begin(bytes)?;
        loop {
            if self.begin == self.end && !self.fill()? {
                return Ok(self.packer.end());
            }
            let mut input = &self.buffer[self.begin..self.end];
            let packed = self.packer.pack(&mut input);
            self.begin = self.end - input.len();
            if packed.is_some() {
                return Ok(packed);
            }
        }
    }

    /// Reads more of the input. Returns `false` at its end.
    fn fill(&mut self) -> io::Result<bool> {
        while !self.ended {
            match self.reader.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(0) => self.ended = true,
                Ok(read) => {
                    (self.begin, self.end) = (0, read);
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Packs an input that is pushed to it into blocks of a level's size, as a [`Cutter`] does.
///
/// ```
/// use abz_codec::bzip2::{Cutter, Level, Packer};
///
/// let text = b"a branch of a river".repeat(10_000);
/// let level = Level::new(1).unwrap();
/// let (mut packer, mut blocks) = (Packer::new(level), Vec::new());
/// for mut piece in text.chunks(1000) {
///     while let Some(block) = packer.pack(&mut piece) {
///         blocks.push(block);
///         packer.begin(Vec::new())?;
///     }
/// }
/// blocks.extend(packer.end());
/// assert_eq!(blocks.first(), Cutter::new(&text[..], level).read_into(Vec::new())?.as_ref());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Packer {
    /// The packed bytes of the block.
    bytes: Vec<u8>,
    run: Run,
    /// The size of a block, in bytes, that is full.
    full: usize,
}

impl Packer {
    /// Creates a packer for `level`.
    pub fn new(level: Level) -> Self {
        Packer { bytes: Vec::new(), run: Run { byte: 0, count: 0 }, full: level.block_size() - 19 }
    }

    /// Begins a block. Drops the contents of `bytes` and uses its allocation for the block. A block that is not begun
    /// allocates as it grows.
    ///
    /// # Errors
    ///
    /// If there is no memory for a block.
    pub fn begin(&mut self, mut bytes: Vec<u8>) -> Result<(), NoMemory> {
        make_exact_room(&mut bytes, self.full + RUN + 2)?;
        self.bytes = bytes;
        Ok(())
    }

    /// Returns whether all bytes that were pushed are in blocks that were returned.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.run.count == 0
    }

    /// Packs the bytes of `input`, and removes them from its front. Returns the block once it is full; bytes may be left
    /// then.
    pub fn pack(&mut self, input: &mut &[u8]) -> Option<Packed> {
        while self.bytes.len() < self.full {
            if input.is_empty() {
                return None;
            }
            self.pack_some(input);
        }
        Some(Packed { bytes: mem::take(&mut self.bytes) })
    }

    /// Returns the last block of the input, if there is one.
    pub fn end(&mut self) -> Option<Packed> {
        self.run.pack(&mut self.bytes);
        Some(Packed { bytes: mem::take(&mut self.bytes) }).filter(|packed| !packed.bytes.is_empty())
    }

    /// Packs some of the bytes of `input`.
    fn pack_some(&mut self, input: &mut &[u8]) {
        let bytes = &mut self.bytes;
        // Bytes without runs are copied. Near the end of a block each byte is counted.
        let room = (self.full - bytes.len()).saturating_sub(2 * RUN);
        let stretch = &input[..input.len().min(STRETCH).min(room)];
        let stretch = &stretch[..find_run(stretch).unwrap_or(stretch.len())];
        if stretch.len() >= RUN && (self.run.count == 0 || stretch[0] != self.run.byte) {
            self.run.pack(bytes);
            // Its last bytes may begin a run.
            let byte = stretch[stretch.len() - 1];
            let count = stretch.iter().rev().take_while(|&&other| other == byte).count();
            bytes.extend_from_slice(&stretch[..stretch.len() - count]);
            self.run = Run { byte, count };
            *input = &input[stretch.len()..];
            return;
        }
        let few = &input[..input.len().min(FEW)];
        let mut taken = 0;
        for &byte in few {
            taken += 1;
            if byte == self.run.byte && self.run.count < LONGEST {
                self.run.count += 1;
                continue;
            }
            self.run.pack(bytes);
            self.run = Run { byte, count: 1 };
            if bytes.len() >= self.full {
                break;
            }
        }
        *input = &input[taken..];
    }
}

/// The last byte that was taken and the number of times it came in a row. It is in no block yet.
#[derive(Debug)]
struct Run {
    byte: u8,
    count: usize,
}

impl Run {
    /// Packs the run, which is empty afterwards.
    fn pack(&mut self, bytes: &mut Vec<u8>) {
        bytes.extend(std::iter::repeat_n(self.byte, self.count.min(RUN)));
        if self.count >= RUN {
            bytes.push((self.count - RUN) as u8);
        }
        self.count = 0;
    }
}
