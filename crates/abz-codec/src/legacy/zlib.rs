//! Streams of zlib (RFC 1950), as `pigz -z` makes them.
//!
//! | bytes | |
//! |--:|---|
//! | 2 | `78`: deflate with a window of 32 KiB; and a number that makes both, as one number, a multiple of 31 |
//! | ... | deflate data |
//! | 4 | the Adler-32 of the contents, the highest byte first |

use libdeflater::Adler32;

use super::error::{DecodeError, Fault};
use super::held::Held;
use crate::gzip::Inflater;
use crate::parts::{CHUNK, Serial};

const HEADER_LEN: usize = 2;
const TRAILER_LEN: usize = 4;

/// Set in the second byte if there is a dictionary.
const HAS_DICTIONARY: u8 = 1 << 5;

/// True if `start` is the start of a stream as programs make it: with a window of 32 KiB, and one of the four numbers for a
/// level. (By RFC 1950 others may be, which are less surely no other file.)
pub fn is_zlib(start: &[u8]) -> bool {
    matches!(start, [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..])
}

/// Decodes a stream that is pushed to it, piece by piece, from its start. Bytes behind its end are
/// [`Fault::TrailingGarbage`], which comes after all contents were given out.
pub struct Decoder {
    state: State,
    held: Held,
    inflater: Inflater,
    sum: Adler32,
    failed: Option<DecodeError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Header,
    Deflated,
    Trailer,
    /// Behind the stream.
    Behind,
    Ended,
}

impl Default for Decoder {
    /// A decoder at the start of a stream.
    fn default() -> Self {
        Decoder {
            state: State::Header,
            held: Held::default(),
            inflater: Inflater::new(),
            sum: Adler32::new(),
            failed: None,
        }
    }
}

impl Decoder {
    /// Goes on by a step; false if there is nothing to be done without more of the stream.
    fn step(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        match self.state {
            State::Header => {
                if !self.held.fill(input, HEADER_LEN) {
                    return Ok(false);
                }
                let [method, flags] = [self.held.bytes[0], self.held.bytes[1]];
                let fault = |offset, fault| Err(DecodeError { offset, fault });
                if method & 15 != 8 || method >> 4 > 7 || u16::from_be_bytes([method, flags]) % 31 != 0 {
                    return fault(0, Fault::Magic { expected: "the header of a stream of zlib" });
                }
                if flags & HAS_DICTIONARY != 0 {
                    let expected = "a stream without a dictionary, found one that needs it";
                    return fault(1, Fault::Unsupported { expected });
                }
                self.held.bytes.clear();
                self.state = State::Deflated;
                Ok(true)
            }
            State::Deflated => {
                let from = data.len();
                data.resize(CHUNK, 0);
                let before = self.inflater.consumed();
                let Ok(step) = self.inflater.step(input, &mut data[from..]) else {
                    data.truncate(from);
                    let offset = self.held.offset + (self.inflater.consumed() - before);
                    return Err(DecodeError { offset, fault: Fault::Deflate });
                };
                data.truncate(from + step.produced);
                self.sum.update(&data[from..]);
                *input = &input[step.consumed..];
                self.held.offset += step.consumed as u64;
                if step.ended {
                    self.state = State::Trailer;
                }
                Ok(step.ended || step.produced > 0)
            }
            State::Trailer => {
                if !self.held.fill(input, TRAILER_LEN) {
                    return Ok(false);
                }
                let bytes = self.held.bytes[..].try_into().expect("four bytes were held");
                let (expected, found) = (u32::from_be_bytes(bytes), self.sum.sum());
                if expected != found {
                    let offset = self.held.offset_of(0);
                    return Err(DecodeError { offset, fault: Fault::Adler { expected, found } });
                }
                self.held.bytes.clear();
                self.state = State::Behind;
                Ok(true)
            }
            State::Behind if input.is_empty() => Ok(false),
            State::Behind => Err(DecodeError { offset: self.held.offset, fault: Fault::TrailingGarbage }),
            State::Ended => {
                *input = &[];
                Ok(false)
            }
        }
    }
}

impl Serial for Decoder {
    const NAME: &'static str = "zlib";
    const SUFFIX: &'static str = ".zz";
    const SUFFIXES: &'static [(&'static str, &'static str)] = &[(".zz", "")];

    type Error = DecodeError;

    fn begins(start: &[u8]) -> bool {
        is_zlib(start)
    }

    fn next(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        data.clear();
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        loop {
            match self.step(input, data) {
                Ok(true) if data.len() < CHUNK => {}
                Ok(_) => return Ok(!data.is_empty()),
                Err(error) => {
                    self.state = State::Ended;
                    if data.is_empty() {
                        return Err(error);
                    }
                    // What was decoded before comes first.
                    self.failed = Some(error);
                    return Ok(true);
                }
            }
        }
    }

    fn finish(&mut self, data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        let has_data = self.next(&mut &[][..], data)?;
        if !has_data && !matches!(self.state, State::Behind | State::Ended) {
            return Err(DecodeError { offset: self.held.offset, fault: Fault::Truncated });
        }
        Ok(has_data)
    }
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder").field("state", &self.state).finish_non_exhaustive()
    }
}
