//! Cutting of an input into blocks, where bzip2 itself does.

use std::io::{self, Read};

use super::Level;
use super::runs::{LONGEST, RUN, find_run};
use crate::memory::make_exact_room;

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
    run: Run,
    /// The size of a block, in bytes, that is full.
    full: usize,
    ended: bool,
}

impl<R: Read> Cutter<R> {
    /// Creates a cutter of the input that `reader` gives, for `level`. It has its own buffer.
    pub fn new(reader: R, level: Level) -> Self {
        Cutter {
            reader,
            buffer: vec![0; INPUT],
            begin: 0,
            end: 0,
            run: Run { byte: 0, count: 0 },
            full: level.block_size() - 19,
            ended: false,
        }
    }

    /// Returns the next block, `None` at the end. Drops the contents of `bytes` and uses its allocation for the block.
    ///
    /// # Errors
    ///
    /// Returns the error of the reader, or [`NoMemory`](crate::NoMemory) if there is no memory for a block. Do not read
    /// on after an error.
    pub fn read_into(&mut self, mut bytes: Vec<u8>) -> io::Result<Option<Packed>> {
        make_exact_room(&mut bytes, self.full + RUN + 2)?;
        while bytes.len() < self.full {
            if self.begin == self.end && !self.fill()? {
                self.run.pack(&mut bytes);
                break;
            }
            self.pack(&mut bytes);
        }
        Ok((!bytes.is_empty()).then_some(Packed { bytes }))
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

    /// Packs some of the bytes that were read.
    fn pack(&mut self, bytes: &mut Vec<u8>) {
        let input = &self.buffer[self.begin..self.end];
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
            self.begin += stretch.len();
            return;
        }
        for &byte in &input[..input.len().min(FEW)] {
            self.begin += 1;
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
