//! Decoding of LZW codes.

use std::fmt;

use super::MAGIC;
use super::error::{DecodeError, Fault};
use crate::parts::{CHUNK, Serial};

/// The size of the header in bytes.
const HEADER_LEN: usize = 3;

/// The width of the first codes, and of those behind a clear code, in bits.
const LEAST_WIDTH: usize = 9;

/// The width of the widest codes in bits.
const GREATEST_WIDTH: usize = 16;

/// The code that clears the table, if the file has such a code.
const CLEAR: u16 = 256;

/// A decoder of a file that is pushed to it from its start.
///
/// ```
/// use abz_codec::lzw::Decoder;
///
/// let file = b"\x1f\x9d\x90\x61\x02\x86\x01";
/// let (mut decoder, mut data, mut text) = (Decoder::new(), Vec::new(), Vec::new());
/// for mut piece in file.chunks(4) {
///     while decoder.next(&mut piece, &mut data)? {
///         text.extend_from_slice(&data);
///     }
/// }
/// while decoder.finish(&mut data)? {
///     text.extend_from_slice(&data);
/// }
/// assert_eq!(text, b"aaaa");
/// # Ok::<(), abz_codec::lzw::DecodeError>(())
/// ```
pub struct Decoder {
    state: State,
    group: Group,
    /// The string of each code. The single bytes are in it from the start.
    table: Vec<Entry>,
    /// The largest number of entries of the table.
    capacity: usize,
    /// Whether code 256 clears the table.
    clears: bool,
    /// The width of the current codes, and of the widest codes, in bits.
    width: usize,
    widest: usize,
    /// The previous code.
    last: Option<u16>,
}

#[derive(Debug)]
enum State {
    Header,
    Codes,
    /// The data before the error was given out, and the next call returns the error.
    Failed(DecodeError),
    Ended,
}

/// A string: the string of another code, and a byte.
#[derive(Clone, Copy)]
struct Entry {
    /// The code of the string without its last byte, if it has more than one byte.
    front: u16,
    /// The size of the string in bytes: at most the number of entries of the table.
    len: u16,
    first: u8,
    last: u8,
}

/// A group of bytes: the header, or eight codes.
#[derive(Default)]
struct Group {
    /// The codes that were not taken yet, from the lowest bits on.
    bits: u128,
    /// The number of bits that are left.
    left: usize,
    /// The bytes of the next group that have come.
    held: [u8; GREATEST_WIDTH],
    held_len: usize,
    /// The offset in the file of the byte behind `bits`.
    end: u64,
}

impl Group {
    /// Takes the next group of `len` bytes from `input`. Returns `false` if it is incomplete.
    fn fill(&mut self, input: &mut &[u8], len: usize) -> bool {
        let taken = (len - self.held_len).min(input.len());
        let (front, rest) = input.split_at(taken);
        self.held[self.held_len..][..taken].copy_from_slice(front);
        self.held_len += taken;
        *input = rest;
        let is_whole = self.held_len == len;
        if is_whole {
            self.close();
        }
        is_whole
    }

    /// Makes a group of the available bytes.
    fn close(&mut self) {
        self.held[self.held_len..].fill(0);
        self.bits = u128::from_le_bytes(self.held);
        self.left = 8 * self.held_len;
        self.end += self.held_len as u64;
        self.held_len = 0;
    }

    /// Takes the next code of `width` bits, if this group has one.
    fn take(&mut self, width: usize) -> Option<u16> {
        self.left = self.left.checked_sub(width)?;
        let code = self.bits as u16 & (u16::MAX >> (GREATEST_WIDTH - width));
        self.bits >>= width;
        Some(code)
    }

    /// Returns the offset in the file of the first bit of the last code, which had `width` bits.
    fn offset(&self, width: usize) -> u64 {
        self.end - (self.left + width).div_ceil(8) as u64
    }

    /// Drops the codes that were not taken.
    fn skip(&mut self) {
        self.left = 0;
    }
}

impl Serial for Decoder {
    const NAME: &'static str = "compress";
    const SUFFIX: &'static str = ".Z";
    const SUFFIXES: &'static [(&'static str, &'static str)] =
        &[(".z", ""), (".taz", ".tar"), ("-z", ""), ("_z", "")];
    const MAGIC: &'static [u8] = &MAGIC;

    type Error = DecodeError;

    fn next(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        Decoder::next(self, input, data)
    }

    fn finish(&mut self, data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        Decoder::finish(self, data)
    }
}

impl Decoder {
    /// Creates a decoder at the start of a file.
    pub fn new() -> Self {
        let bytes = (0..=u8::MAX).map(|byte| Entry { front: 0, len: 1, first: byte, last: byte });
        Decoder {
            state: State::Header,
            group: Group::default(),
            table: bytes.collect(),
            capacity: 0,
            clears: false,
            width: LEAST_WIDTH,
            widest: LEAST_WIDTH,
            last: None,
        }
    }

    /// Decodes more of the file. `input` has its next bytes, and the decoder removes those that it has processed from
    /// the front. Returns `true` if there is new data in `data`, about 256 KiB at most, and `false` if all input was
    /// taken and more is needed. The previous contents of `data` are dropped.
    ///
    /// # Errors
    ///
    /// If the file is damaged at this place, or is no file of `compress`. All data before that place was given out.
    pub fn next(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        data.clear();
        let decoded = match self.state {
            State::Header if !self.group.fill(input, HEADER_LEN) => Ok(()),
            State::Header => self.begin().and_then(|()| self.decode(input, data)),
            State::Codes => self.decode(input, data),
            State::Failed(_) | State::Ended => Ok(()),
        };
        let has_data = self.settle(decoded, data)?;
        if matches!(self.state, State::Ended) {
            *input = &[];
        }
        Ok(has_data)
    }

    /// Ends the file. Returns `true` if there is new data in `data`; call it until it returns `false`.
    ///
    /// # Errors
    ///
    /// As [`next`](Decoder::next), or if the file was cut in its header.
    pub fn finish(&mut self, data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        data.clear();
        let decoded = match self.state {
            State::Header => {
                self.group.close();
                Err(DecodeError::at(self.group.end, Fault::Truncated))
            }
            State::Codes => {
                // The last group has only as many bytes as its codes need.
                if self.group.held_len > 0 {
                    self.group.close();
                }
                self.decode(&mut &[][..], data)
            }
            State::Failed(_) | State::Ended => Ok(()),
        };
        self.settle(decoded, data)
    }

    /// Returns whether there is data. An error is kept until the data before it was given out.
    fn settle(&mut self, decoded: Result<(), DecodeError>, data: &[u8]) -> Result<bool, DecodeError> {
        if let Err(error) = decoded {
            self.state = State::Failed(error);
        }
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Failed(error) if data.is_empty() => return Err(error),
            state => self.state = state,
        }
        Ok(!data.is_empty())
    }

    /// Parses the header, which is in the group.
    fn begin(&mut self) -> Result<(), DecodeError> {
        let [first, second, flags, ..] = self.group.bits.to_le_bytes();
        self.group.skip();
        let found = [first, second];
        if found != MAGIC {
            return Err(DecodeError::at(0, Fault::Magic { found }));
        }
        let greatest = flags & 0x1f;
        if flags & 0x60 != 0 {
            return Err(DecodeError::at(2, Fault::ReservedFlags { found: flags }));
        }
        if !(LEAST_WIDTH..=GREATEST_WIDTH).contains(&greatest.into()) {
            return Err(DecodeError::at(2, Fault::Width { found: greatest }));
        }
        self.capacity = 1 << greatest;
        // Programs that write a table for 9 bits widen its codes to 10 bits nevertheless.
        self.widest = usize::from(greatest).max(LEAST_WIDTH + 1);
        self.clears = flags & 0x80 != 0;
        if self.clears {
            self.table.push(self.table[0]);
        }
        self.state = State::Codes;
        Ok(())
    }

    /// Clears the table to the strings of one byte. The next code adds a string for code 256, which is never used.
    fn clear(&mut self) {
        self.table.truncate(CLEAR.into());
        self.width = LEAST_WIDTH;
        self.last = Some(0);
    }

    /// Decodes until `input` is used up or there is enough in `data`.
    fn decode(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<(), DecodeError> {
        while data.len() < CHUNK {
            if self.table.len() == 1 << self.width && self.width < self.widest {
                self.width += 1;
                self.group.skip();
            }
            let Some(code) = self.group.take(self.width) else {
                if !self.group.fill(input, self.width) {
                    break;
                }
                continue;
            };
            if code == CLEAR && self.clears && self.last.is_some() {
                self.group.skip();
                self.clear();
                continue;
            }
            self.add(code)?;
            self.put(code, data);
            self.last = Some(code);
        }
        Ok(())
    }

    /// Adds the string that `code` completes: the string of the previous code, and the first byte of the current one.
    fn add(&mut self, code: u16) -> Result<(), DecodeError> {
        let is_full = self.table.len() == self.capacity;
        // The first code must be a byte. A later code may be the one whose string is added now.
        let most = match self.last {
            None => u16::from(u8::MAX),
            Some(_) if is_full => (self.table.len() - 1) as u16,
            Some(_) => self.table.len() as u16,
        };
        if code > most {
            let fault = Fault::Code { most, found: code };
            return Err(DecodeError::at(self.group.offset(self.width), fault));
        }
        let Some(last) = self.last else { return Ok(()) };
        if !is_full {
            let front = self.table[usize::from(last)];
            let own = self.table.get(usize::from(code)).unwrap_or(&front);
            self.table.push(Entry { front: last, len: front.len + 1, first: front.first, last: own.first });
        }
        Ok(())
    }

    /// Appends the string of `code`, filled in from its last byte to its first.
    fn put(&self, mut code: u16, data: &mut Vec<u8>) {
        let begin = data.len();
        data.resize(begin + usize::from(self.table[usize::from(code)].len), 0);
        for place in data[begin..].iter_mut().rev() {
            let entry = self.table[usize::from(code)];
            *place = entry.last;
            code = entry.front;
        }
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("state", &self.state)
            .field("width", &self.width)
            .finish_non_exhaustive()
    }
}
