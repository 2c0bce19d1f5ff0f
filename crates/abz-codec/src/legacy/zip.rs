//! Archives of `zip` with one file, which is deflated or stored (PKWARE's APPNOTE 6.3, section 4.3).
//!
//! | bytes | |
//! |--:|---|
//! | 4 | `50 4b 03 04` |
//! | 2 | the version that is needed |
//! | 2 | flags: bit 0 for encryption, bit 3 for a descriptor behind the data |
//! | 2 | the method: 8 for deflate, 0 for none |
//! | 4 | time and date |
//! | 4 | the CRC-32 of the contents |
//! | 4 each | the compressed and the original size; if all bits are set, the extra field has the size |
//! | 2 each | the sizes of the name and of the extra field, which follow |
//! | ... | the data |
//! | 12 to 24 | the descriptor, if there is one: `50 4b 07 08`, which may be missing, CRC-32 and sizes, of 4 or 8 bytes |
//! | ... | the directory of the archive, which is not read |

use crc32fast::Hasher;

use super::error::{DecodeError, Fault};
use super::held::Held;
use super::steps::{self, Steps, inflate};
use crate::gzip::Inflater;
use crate::parts::{CHUNK, Serial};

/// The first bytes of a file.
pub const MAGIC: [u8; 4] = *b"PK\x03\x04";

/// The size of a header without name and extra field.
const START: usize = 30;

const DESCRIPTOR: &[u8] = b"PK\x07\x08";
/// The size of the longest descriptor.
const LONGEST_DESCRIPTOR: usize = 24;

const ENCRYPTED: u16 = 1;
const HAS_DESCRIPTOR: u16 = 8;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// The value of a size that is stored elsewhere.
const ELSEWHERE: u32 = u32::MAX;

/// A decoder of an archive that is pushed to it from its start.
pub struct Decoder {
    state: State,
    held: Held,
    inflater: Inflater,
    has_descriptor: bool,
    crc32: u32,
    size: u32,
    sum: Hasher,
    written: u64,
    failed: Option<DecodeError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Header,
    /// In the name and the extra field, of `len` bytes. The data behind them is deflated, or `stored` bytes long.
    Name {
        len: usize,
        stored: Option<u64>,
    },
    Deflated,
    Stored {
        left: u64,
    },
    Descriptor,
    /// Behind the contents of the file.
    Behind,
    Ended,
}

impl Default for Decoder {
    /// Returns a decoder at the start of an archive.
    fn default() -> Self {
        Decoder {
            state: State::Header,
            held: Held::default(),
            inflater: Inflater::new(),
            has_descriptor: false,
            crc32: 0,
            size: 0,
            sum: Hasher::new(),
            written: 0,
            failed: None,
        }
    }
}

impl Steps for Decoder {
    fn step(&mut self, input: &mut &[u8], data: &mut Vec<u8>, is_over: bool) -> Result<bool, DecodeError> {
        match self.state {
            State::Header => self.header(input),
            State::Name { len, stored } => {
                let is_there = self.held.fill(input, len);
                if is_there {
                    self.held.bytes.clear();
                    self.state = match stored {
                        None => State::Deflated,
                        Some(left) => State::Stored { left },
                    };
                }
                Ok(is_there)
            }
            State::Deflated => self.deflated(input, data),
            State::Stored { left } => {
                let len =
                    usize::try_from(left).unwrap_or(usize::MAX).min(input.len()).min(CHUNK - data.len());
                let (taken, rest) = input.split_at(len);
                data.extend_from_slice(taken);
                self.came(taken);
                (*input, self.held.offset) = (rest, self.held.offset + len as u64);
                let left = left - len as u64;
                self.state = if left > 0 { State::Stored { left } } else { State::Descriptor };
                Ok(left == 0)
            }
            State::Descriptor => self.descriptor(input, is_over),
            State::Behind => {
                let is_known = self.held.fill(input, MAGIC.len()) || is_over;
                if is_known && self.held.bytes.starts_with(&MAGIC) {
                    return Err(DecodeError::at(self.held.offset_of(0), Fault::MoreFiles));
                }
                if is_known {
                    self.state = State::Ended;
                }
                Ok(is_known)
            }
            State::Ended => {
                *input = &[];
                Ok(false)
            }
        }
    }

    fn end(&mut self) {
        self.state = State::Ended;
    }

    fn failed(&mut self) -> &mut Option<DecodeError> {
        &mut self.failed
    }
}

impl Decoder {
    fn header(&mut self, input: &mut &[u8]) -> Result<bool, DecodeError> {
        if !self.held.fill(input, START) {
            return Ok(false);
        }
        let error = |offset, fault| Err(DecodeError::at(offset, fault));
        let held = &self.held;
        if !held.bytes.starts_with(&MAGIC) {
            return error(0, Fault::Magic { expected: "the magic bytes 50 4b 03 04" });
        }
        let (flags, method) = (held.u16_at(6), held.u16_at(8));
        self.has_descriptor = flags & HAS_DESCRIPTOR != 0;
        if flags & ENCRYPTED != 0 {
            return error(
                6,
                Fault::Unsupported { expected: "a file that is not encrypted, found one that is" },
            );
        }
        let compressed = held.u32_at(18);
        let stored = match method {
            DEFLATED => None,
            STORED if !self.has_descriptor && compressed != ELSEWHERE => Some(compressed.into()),
            STORED => {
                let expected = "a stored file whose size is in its header, found one without it";
                return error(8, Fault::Unsupported { expected });
            }
            _ => {
                return error(
                    8,
                    Fault::Unsupported {
                        expected: "a file that is deflated or stored, found another method",
                    },
                );
            }
        };
        (self.crc32, self.size) = (held.u32_at(14), held.u32_at(22));
        let len = usize::from(held.u16_at(26)) + usize::from(held.u16_at(28));
        self.held.bytes.clear();
        self.state = State::Name { len, stored };
        Ok(true)
    }

    fn deflated(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        let (from, has_ended) = inflate(&mut self.inflater, &mut self.held, input, data)?;
        self.came(&data[from..]);
        if has_ended {
            self.state = State::Descriptor;
        }
        Ok(has_ended || data.len() > from)
    }

    /// Adds contents to the checksum and the size.
    fn came(&mut self, data: &[u8]) {
        self.sum.update(data);
        self.written += data.len() as u64;
    }

    /// Verifies the contents against the header or the descriptor.
    fn descriptor(&mut self, input: &mut &[u8], is_over: bool) -> Result<bool, DecodeError> {
        let mut at = 14;
        if self.has_descriptor {
            // The directory, which is longer, follows the descriptor.
            if !self.held.fill(input, LONGEST_DESCRIPTOR) && !is_over {
                return Ok(false);
            }
            let crc_at = if self.held.bytes.starts_with(DESCRIPTOR) { DESCRIPTOR.len() } else { 0 };
            if self.held.bytes.len() < crc_at + 12 {
                return Err(DecodeError::at(self.held.offset, Fault::Truncated));
            }
            self.crc32 = self.held.u32_at(crc_at);
            let compressed = self.inflater.consumed();
            let is_long = self.held.bytes.len() >= crc_at + 20
                && self.held.u32_at(crc_at + 4) == compressed as u32
                && self.held.u32_at(crc_at + 8) == (compressed >> 32) as u32
                && self.held.u32_at(crc_at + 12) == self.written as u32;
            self.size = self.held.u32_at(crc_at + if is_long { 12 } else { 8 });
            at = self.held.offset_of(crc_at);
            self.held.bytes.drain(..crc_at + if is_long { 20 } else { 12 });
        }
        let (expected, found) = (self.size, self.written as u32);
        // The extra field of a file of 4 GiB or more has the size; the checksum suffices then.
        if expected != found && (self.has_descriptor || expected != ELSEWHERE) {
            return Err(DecodeError::at(at, Fault::Length { expected, found }));
        }
        let (expected, found) = (self.crc32, self.sum.clone().finalize());
        if expected != found {
            return Err(DecodeError::at(at, Fault::Checksum { expected, found }));
        }
        self.state = State::Behind;
        Ok(true)
    }
}

impl Serial for Decoder {
    const NAME: &'static str = "zip";
    const SUFFIX: &'static str = ".zip";
    const SUFFIXES: &'static [(&'static str, &'static str)] = &[(".zip", "")];
    const MAGIC: &'static [u8] = &MAGIC;

    type Error = DecodeError;

    fn next(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        steps::next(self, input, data, false)
    }

    fn finish(&mut self, data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        let has_data = steps::next(self, &mut &[][..], data, true)?;
        if !has_data && self.state != State::Ended {
            return Err(DecodeError::at(self.held.offset, Fault::Truncated));
        }
        Ok(has_data)
    }
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder")
            .field("state", &self.state)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}
