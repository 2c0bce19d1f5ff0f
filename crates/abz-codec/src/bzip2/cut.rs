//! Cutting of an input into blocks, where bzip2 itself does.

use std::io::{self, Read};
use std::mem;

use super::Level;
use super::runs::{LONGEST, RUN, find_run};
use crate::memory::make_exact_room;

/// The number of bytes that are read at once.
const INPUT: usize = 128 * 1024;

/// The number of bytes that are searched for runs at once.
const STRETCH: usize = 4096;

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

/// Cuts contents that are read piece by piece into packed blocks of a level's size. It cuts where bzip2 1.0 does, so that
/// the compressed file has the size that bzip2 gives it.
///
/// ```
/// use abz_codec::bzip2::{Cutter, Level};
///
/// let text = b"a branch of a river\n".repeat(20_000);
/// let (mut cutter, mut input, mut blocks) = (Cutter::new(Level::new(1).unwrap()), &text[..], Vec::new());
/// while let Some(block) = cutter.next(&mut input)? {
///     blocks.push(block);
/// }
/// blocks.extend(cutter.rest());
/// assert_eq!(blocks.len(), 5);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Cutter {
    buffer: Vec<u8>,
    /// The bytes of the buffer that are in no block yet.
    begin: usize,
    end: usize,
    /// The packed bytes of the block.
    bytes: Vec<u8>,
    run: Run,
    /// The size of a block, in bytes, that is full.
    full: usize,
}

impl Cutter {
    /// Creates a cutter for `level`. It has a buffer for its input.
    pub fn new(level: Level) -> Self {
        let (buffer, run) = (vec![0; INPUT], Run { byte: 0, count: 0 });
        Cutter { buffer, begin: 0, end: 0, bytes: Vec::new(), run, full: level.block_size() - 19 }
    }

    /// Returns the next block that is full. Returns `None` when `input` gives no more bytes: then the input may go on, or
    /// [`rest`](Self::rest) returns the last block.
    ///
    /// # Errors
    ///
    /// Returns the error of the reader, or [`NoMemory`](crate::NoMemory) if there is no memory for a block.
    pub fn next(&mut self, input: &mut (impl Read + ?Sized)) -> io::Result<Option<Packed>> {
        while self.bytes.len() < self.full {
            if self.begin == self.end {
                match input.read(&mut self.buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                    Ok(0) => return Ok(None),
                    Ok(read) => (self.begin, self.end) = (0, read),
                }
                continue;
            }
            if self.bytes.capacity() == 0 {
                make_exact_room(&mut self.bytes, self.full + RUN + 2)?;
            }
            self.pack_some();
        }
        Ok(Some(Packed { bytes: mem::take(&mut self.bytes) }))
    }

    /// Returns a block of the bytes that are in no block yet, if there are any. More input may follow.
    pub fn rest(&mut self) -> Option<Packed> {
        self.run.pack(&mut self.bytes);
        Some(Packed { bytes: mem::take(&mut self.bytes) }).filter(|packed| !packed.bytes.is_empty())
    }

    /// Packs some of the bytes of the buffer, which has some.
    fn pack_some(&mut self) {
        let (bytes, input) = (&mut self.bytes, &self.buffer[self.begin..self.end]);
        let mut taken = 0;
        if self.run.count == 0 || input[0] != self.run.byte {
            // Bytes without runs are copied. Near the end of a block each byte is counted.
            let room = (self.full - bytes.len()).saturating_sub(2 * RUN);
            let stretch = &input[..input.len().min(STRETCH).min(room)];
            let stretch = &stretch[..find_run(stretch).unwrap_or(stretch.len())];
            if stretch.len() >= RUN {
                self.run.pack(bytes);
                // Its last bytes may begin a run.
                let byte = stretch[stretch.len() - 1];
                let count = stretch.iter().rev().take_while(|&&other| other == byte).count();
                bytes.extend_from_slice(&stretch[..stretch.len() - count]);
                self.run = Run { byte, count };
                self.begin += stretch.len();
                return;
            }
        } else {
            let most = input.len().min(LONGEST - self.run.count);
            taken = input[..most].iter().take_while(|&&byte| byte == self.run.byte).count();
            self.run.count += taken;
        }
        if let Some(&byte) = input.get(taken) {
            taken += 1;
            self.run.pack(bytes);
            self.run = Run { byte, count: 1 };
        }
        self.begin += taken;
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
