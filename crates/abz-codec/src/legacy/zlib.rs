//! Streams of zlib (RFC 1950), as `pigz -z` makes them.
//!
//! | bytes | |
//! |--:|---|
//! | 2 | `78`: deflate with a window of 32 KiB; and a byte that makes the two, as one number, a multiple of 31 |
//! | ... | deflate data |
//! | 4 | the Adler-32 of the contents, the highest byte first |

use libdeflater::Adler32;

use super::error::{DecodeError, Fault};
use super::held::Held;
use super::steps::{self, Steps, inflate};
use crate::gzip::Inflater;
use crate::parts::Serial;

const HEADER_LEN: usize = 2;
const TRAILER_LEN: usize = 4;

/// The flag in the second byte for a stream with a dictionary.
const HAS_DICTIONARY: u8 = 1 << 5;

/// Returns whether `start` is the start of a stream as programs write it: with a window of 32 KiB and one of the four
/// bytes for a level. (RFC 1950 allows other headers, but they resemble other files too much.)
pub fn is_zlib(start: &[u8]) -> bool {
    matches!(start, [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..])
}

/// A decoder of a stream that is pushed to it from its start. Bytes behind its end are [`Fault::TrailingGarbage`], or
/// [`Fault::AnotherStream`] if they begin with a valid stream. Either comes after all contents were given out.
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
    /// In a possible second stream, which begins at byte `from` of the file. Its contents are not given out.
    Another {
        from: u64,
    },
    /// In the trailer of the second stream.
    AnotherEnd {
        from: u64,
    },
    Ended,
}

impl Default for Decoder {
    /// Returns a decoder at the start of a stream.
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

impl Steps for Decoder {
    fn step(&mut self, input: &mut &[u8], data: &mut Vec<u8>, is_over: bool) -> Result<bool, DecodeError> {
        match self.state {
            State::Header => {
                if !self.held.fill(input, HEADER_LEN) {
                    return Ok(false);
                }
                let [method, flags] = [self.held.bytes[0], self.held.bytes[1]];
                let fault = |offset, fault| Err(DecodeError::at(offset, fault));
                if method & 15 != 8 || method >> 4 > 7 || u16::from_be_bytes([method, flags]) % 31 != 0 {
                    return fault(0, Fault::Magic { expected: "the header of a stream of zlib" });
                }
                if flags & HAS_DICTIONARY != 0 {
                    let expected = "a stream without a dictionary, found one that needs a dictionary";
                    return fault(1, Fault::Unsupported { expected });
                }
                self.held.bytes.clear();
                self.state = State::Deflated;
                Ok(true)
            }
            State::Deflated => {
                let (from, has_ended) = inflate(&mut self.inflater, &mut self.held, input, data)?;
                self.sum.update(&data[from..]);
                if has_ended {
                    self.state = State::Trailer;
                }
                Ok(has_ended || data.len() > from)
            }
            State::Trailer => {
                if !self.held.fill(input, TRAILER_LEN) {
                    return Ok(false);
                }
                let bytes = self.held.bytes[..].try_into().expect("four bytes were held");
                let (expected, found) = (u32::from_be_bytes(bytes), self.sum.sum());
                if expected != found {
                    let offset = self.held.offset_of(0);
                    return Err(DecodeError::at(offset, Fault::Adler { expected, found }));
                }
                self.held.bytes.clear();
                self.state = State::Behind;
                Ok(true)
            }
            State::Behind => {
                let (from, is_whole) = (self.held.offset_of(0), self.held.fill(input, HEADER_LEN));
                if is_zlib(&self.held.bytes) {
                    self.held.bytes.clear();
                    self.inflater.reset();
                    self.sum = Adler32::new();
                    self.state = State::Another { from };
                    return Ok(true);
                }
                let is_garbage = is_whole || is_over && !self.held.bytes.is_empty();
                if is_garbage { Err(DecodeError::at(from, Fault::TrailingGarbage)) } else { Ok(false) }
            }
            State::Another { from } => {
                let mut contents = Vec::new();
                let (at, has_ended) = inflate(&mut self.inflater, &mut self.held, input, &mut contents)
                    .map_err(|_| DecodeError::at(from, Fault::TrailingGarbage))?;
                self.sum.update(&contents[at..]);
                if has_ended {
                    self.state = State::AnotherEnd { from };
                }
                let goes_on = has_ended || contents.len() > at;
                if is_over && !goes_on {
                    Err(DecodeError::at(from, Fault::TrailingGarbage))
                } else {
                    Ok(goes_on)
                }
            }
            State::AnotherEnd { from } => {
                if !self.held.fill(input, TRAILER_LEN) && !is_over {
                    return Ok(false);
                }
                let is_right = self.held.bytes == self.sum.sum().to_be_bytes();
                let fault = if is_right { Fault::AnotherStream } else { Fault::TrailingGarbage };
                Err(DecodeError::at(from, fault))
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

impl Serial for Decoder {
    const NAME: &'static str = "zlib";
    const SUFFIX: &'static str = ".zz";
    const SUFFIXES: &'static [(&'static str, &'static str)] = &[(".zz", "")];
    const MAGIC: &'static [u8] = b"x"; // a window of 32 KiB

    type Error = DecodeError;

    fn begins(start: &[u8]) -> bool {
        is_zlib(start)
    }

    fn next(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        steps::next(self, input, data, false)
    }

    fn finish(&mut self, data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        let has_data = steps::next(self, &mut &[][..], data, true)?;
        if !has_data && !matches!(self.state, State::Behind | State::Ended) {
            return Err(DecodeError::at(self.held.offset, Fault::Truncated));
        }
        Ok(has_data)
    }
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder").field("state", &self.state).finish_non_exhaustive()
    }
}
