//! A stream into blocks, where bzip2 itself cuts it.

use std::io::{self, Read};

use super::Level;
use super::runs::{LONGEST, RUN, find_run};
use crate::memory::make_exact_room;

/// How much is read at once, in bytes.
const INPUT: usize = 128 * 1024;

/// How much is looked at for runs at once, in bytes.
const STRETCH: usize = 4096;

/// How many bytes are taken one by one where there is a run.
const FEW: usize = 64;

/// A block of a stream, packed as the format's first layer does: a run of four equal bytes and more is four bytes and a
/// count. That is how its size is limited, so that it is cut where it is packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The packed bytes, at least 1.
    pub(super) bytes: Vec<u8>,
}

impl Packed {
    /// The packed bytes, to use their allocation again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Cuts what a reader gives into blocks of a level's size, each packed. The borders are those of bzip2 1.0, so that
/// the compressed file is as large as its is.
#[derive(Debug)]
pub struct Cutter<R> {
    reader: R,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    run: Run,
    /// A block of so many bytes gets no more.
    full: usize,
    ended: bool,
}

impl<R: Read> Cutter<R> {
    /// Cuts what `reader` gives into blocks for `level`. It has a buffer of its own.
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

    /// The next block, in the allocation of `bytes`, whose contents are dropped; `None` at the end.
    ///
    /// # Errors
    ///
    /// Returns the error of the reader, or [`NoMemory`](crate::NoMemory) if there is no memory for a block. Do not read on after
    /// an error.
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

    /// Reads on; false at the end.
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

    /// Packs some of what was read.
    fn pack(&mut self, bytes: &mut Vec<u8>) {
        let input = &self.buffer[self.begin..self.end];
        // Bytes without runs are packed as they are. Near the end of a block each one counts.
        let room = (self.full - bytes.len()).saturating_sub(2 * RUN);
        let stretch = &input[..input.len().min(STRETCH).min(room)];
        let stretch = &stretch[..find_run(stretch).unwrap_or(stretch.len())];
        if stretch.len() >= RUN && (self.run.count == 0 || stretch[0] != self.run.byte) {
            self.run.pack(bytes);
            // Its last bytes may be the first of a run.
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

/// The last byte that was taken and how often it came in a row: it is not yet in a block.
#[derive(Debug)]
struct Run {
    byte: u8,
    count: usize,
}

impl Run {
    /// Packs the run, and leaves none.
    fn pack(&mut self, bytes: &mut Vec<u8>) {
        bytes.extend(std::iter::repeat_n(self.byte, self.count.min(RUN)));
        if self.count >= RUN {
            bytes.push((self.count - RUN) as u8);
        }
        self.count = 0;
    }
}
