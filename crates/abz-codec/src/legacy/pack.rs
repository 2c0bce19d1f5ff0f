//! The format of `pack`, whose files end with `.z`: a Huffman code for bytes.
//!
//! The format has no specification but the programs; this is what GNU gzip 1.12 reads. Codes begin with their highest
//! bit.
//!
//! | bytes | |
//! |--:|---|
//! | 2 | `1f 1e` |
//! | 4 | the size of the contents modulo 2^32, the highest byte first |
//! | 1 | the length of the longest codes in bits, 1 to 25 |
//! | 1 each | for each length, the number of codes; for the longest, two less, and one of these codes is the end |
//! | 1 each | the bytes that the codes stand for, ordered by code length; the end is the last and is left out |
//! | ... | codes up to the end |
//!
//! The codes of each length are consecutive, and higher than the prefixes of longer codes. There is no checksum.

use super::error::{DecodeError, Fault};
use super::held::Held;
use crate::parts::{CHUNK, Serial};

/// The first bytes of a file.
pub const MAGIC: [u8; 2] = [0x1f, 0x1e];

/// The size in bytes of the fields before the numbers of codes.
const START: usize = 7;

/// The length of the longest code in bits.
const LONGEST: usize = 25;

/// A decoder of a file that is pushed to it from its start.
///
/// ```
/// use abz_codec::legacy::pack::Decoder;
/// use abz_codec::parts::Serial;
///
/// // The codes are 1 for a, 00 for b, and 01 for the end.
/// let file = b"\x1f\x1e\0\0\0\x03\x02\x01\0ab\xc4";
/// let (mut decoder, mut data) = (Decoder::default(), Vec::new());
/// assert!(decoder.next(&mut &file[..], &mut data)?);
/// assert_eq!(data, b"aab");
/// # Ok::<(), abz_codec::legacy::DecodeError>(())
/// ```
#[derive(Debug, Default)]
pub struct Decoder {
    state: State,
    held: Held,
    codes: Codes,
    /// The size of the contents in the header, modulo 2^32.
    size: u32,
    /// The bits of the incomplete code, and their number.
    code: u32,
    len: usize,
    written: u32,
    failed: Option<DecodeError>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Header,
    Codes,
    Ended,
}

/// The codes of a file.
#[derive(Debug, Default)]
struct Codes {
    /// For each length, from 1 on, the lowest code, and the index in `bytes` of the byte for it.
    lengths: Vec<(u32, usize)>,
    /// The bytes that the codes stand for. The code of the end comes behind the last of them.
    bytes: Vec<u8>,
    end: u32,
}

impl Codes {
    /// Creates the codes from the number of codes of each length. The end is among the longest ones.
    fn new(counts: &[u32], bytes: &[u8]) -> Option<Codes> {
        let mut lengths = vec![(0, 0); counts.len()];
        let mut inner = 0u32;
        for (index, &count) in counts.iter().enumerate().rev() {
            lengths[index].0 = inner;
            inner += count;
            if !inner.is_multiple_of(2) {
                return None;
            }
            inner /= 2;
        }
        let mut at = 0;
        for (length, &count) in lengths.iter_mut().zip(counts) {
            length.1 = at;
            at += count as usize;
        }
        let end = counts.last()? - 1;
        // All codes are used if exactly one empty prefix remains.
        (inner == 1).then(|| Codes { lengths, bytes: bytes.to_vec(), end })
    }
}

impl Decoder {
    /// Reads the header. Returns `false` if it is incomplete.
    fn header(&mut self, input: &mut &[u8]) -> Result<bool, DecodeError> {
        if !self.held.fill(input, START) {
            return Ok(false);
        }
        let bytes = &self.held.bytes;
        if !bytes.starts_with(&MAGIC) {
            return Err(DecodeError::at(0, Fault::Magic { expected: "the magic bytes 1f 1e" }));
        }
        self.size = u32::from_be_bytes([bytes[2], bytes[3], bytes[4], bytes[5]]);
        let longest = usize::from(bytes[6]);
        let fault = |offset, expected| Err(DecodeError::at(offset, Fault::Header { expected }));
        if !(1..=LONGEST).contains(&longest) {
            return fault(6, "a maximum code length of 1 to 25 bits");
        }
        if !self.held.fill(input, START + longest) {
            return Ok(false);
        }
        let mut counts: Vec<u32> =
            self.held.bytes[START..].iter().take(longest).map(|&count| count.into()).collect();
        counts[longest - 1] += 2;
        let number: u32 = counts.iter().sum();
        if number > 257 {
            return fault(START as u64, "at most 257 codes");
        }
        let bytes_at = START + longest;
        if !self.held.fill(input, bytes_at + number as usize - 1) {
            return Ok(false);
        }
        match Codes::new(&counts, &self.held.bytes[bytes_at..]) {
            Some(codes) => self.codes = codes,
            None => return fault(START as u64, "a complete code"),
        }
        self.state = State::Codes;
        Ok(true)
    }

    /// Decodes one byte of the input.
    fn byte(&mut self, byte: u8, data: &mut Vec<u8>) {
        for bit in (0..8).rev() {
            self.code = self.code << 1 | u32::from(byte >> bit & 1);
            let (lowest, at) = self.codes.lengths[self.len];
            self.len += 1;
            let Some(index) = self.code.checked_sub(lowest) else { continue };
            if self.len == self.codes.lengths.len() && index == self.codes.end {
                self.state = State::Ended;
                return;
            }
            data.push(self.codes.bytes[at + index as usize]);
            self.written = self.written.wrapping_add(1);
            (self.code, self.len) = (0, 0);
        }
    }
}

impl Serial for Decoder {
    const NAME: &'static str = "pack";
    const SUFFIX: &'static str = ".z";
    const SUFFIXES: &'static [(&'static str, &'static str)] = &[(".z", "")];
    const MAGIC: &'static [u8] = &MAGIC;

    type Error = DecodeError;

    fn next(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        data.clear();
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.state == State::Header && !self.header(input)? {
            return Ok(false);
        }
        while self.state == State::Codes && data.len() < CHUNK {
            let Some((&byte, rest)) = input.split_first() else { break };
            *input = rest;
            self.held.offset += 1;
            self.byte(byte, data);
            if self.state == State::Ended && self.written != self.size {
                let fault = Fault::Length { expected: self.size, found: self.written };
                self.failed = Some(DecodeError::at(2, fault));
            }
        }
        // gzip ignores the bytes that follow, too.
        if self.state == State::Ended {
            *input = &[];
        }
        match self.failed.take() {
            Some(error) if data.is_empty() => Err(error),
            failed => {
                self.failed = failed;
                Ok(!data.is_empty())
            }
        }
    }

    fn finish(&mut self, data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        data.clear();
        match self.failed.take() {
            Some(error) => Err(error),
            None if self.state == State::Ended => Ok(false),
            None => Err(DecodeError::at(self.held.offset, Fault::Truncated)),
        }
    }
}
