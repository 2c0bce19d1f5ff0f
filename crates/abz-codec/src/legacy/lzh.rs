//! The format of `compress -H` of SCO Unix: LZ77 with Huffman codes, the method `-lh5-` of LHA.
//!
//! The format has no specification but the programs; this is what GNU gzip 1.12 reads. Numbers and codes begin with
//! their highest bit. Blocks follow the magic bytes `1f a0`, and 16 zero bits follow the blocks:
//!
//! | bits | of a block |
//! |--:|---|
//! | 16 | the number of its symbols |
//! | 5 ... | the code lengths of the code that the next row uses, at most 19 |
//! | 9 ... | the code lengths of symbols, at most 510: 256 bytes, and matches of 3 to 256 bytes |
//! | 4 ... | the code lengths of distances, at most 14: 0 for the last byte, *n* for 2^(*n*-1) plus *n*-1 more bits |
//! | ... | symbols, and behind each match its distance |
//!
//! Each table of lengths begins with their number. If it is 0, the number of the only symbol follows, whose code has no
//! bits. Codes are canonical: shorter codes are lower, and codes of one length are in the order of their symbols.
//! Distances are at most 8 KiB, and zeros precede the contents. There is no checksum and no size.

use super::error::{DecodeError, Fault};
use crate::parts::{CHUNK, Serial};

/// The first bytes of a file.
pub const MAGIC: [u8; 2] = [0x1f, 0xa0];

/// The largest distance of a match, in bytes.
const WINDOW: usize = 8 << 10;

/// The first symbol that is the length of a match; lower ones are bytes. The least length of a match.
const FIRST_MATCH: u16 = 256;
const LEAST_MATCH: u16 = 3;

const LONGEST_CODE: usize = 16;
const SYMBOLS: usize = 510;
const DISTANCES: usize = 14;
/// The number of symbols for code lengths: three for runs of zeros, and the lengths from 1 to 16.
const LENGTHS: usize = 3 + LONGEST_CODE;

/// The number of bytes that suffices for the header of a block, or for a symbol with a distance.
const ENOUGH: usize = 4 << 10;

/// The number of bytes of the input that are held at once.
const HELD: usize = 64 << 10;

/// A decoder of a file that is pushed to it from its start.
///
/// ```
/// use abz_codec::legacy::lzh::Decoder;
/// use abz_codec::parts::Serial;
///
/// // A block of three symbols, all of which are an a, and the end.
/// let file = b"\x1f\xa0\0\x03\0\0\x06\x10\0\0\0";
/// let (mut decoder, mut data) = (Decoder::default(), Vec::new());
/// assert!(!decoder.next(&mut &file[..], &mut data)?);
/// assert!(decoder.finish(&mut data)?);
/// assert_eq!(data, b"aaa");
/// # Ok::<(), abz_codec::legacy::DecodeError>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    state: State,
    bits: Bits,
    symbols: Code,
    distances: Code,
    /// The last bytes of the contents, in a ring buffer, and the index of the next byte in it.
    window: Vec<u8>,
    at: usize,
    failed: Option<DecodeError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Header,
    Between,
    /// In a block of which `left` symbols are to come.
    Block {
        left: u16,
    },
    /// In a match of which `len` bytes are to be copied.
    Match {
        left: u16,
        len: u16,
        from: usize,
    },
    Ended,
}

impl Default for Decoder {
    /// Returns a decoder at the start of a file.
    fn default() -> Self {
        Decoder {
            state: State::Header,
            bits: Bits::default(),
            symbols: Code::default(),
            distances: Code::default(),
            window: vec![0; WINDOW],
            at: 0,
            failed: None,
        }
    }
}

impl Decoder {
    /// Decodes the held bytes, until there is a chunk of data or too few bytes for the next step.
    fn run(&mut self, data: &mut Vec<u8>, is_over: bool) -> Result<(), DecodeError> {
        while self.state != State::Ended && data.len() < CHUNK && (is_over || self.bits.left() >= 8 * ENOUGH)
        {
            self.step(data, is_over).map_err(|fault| {
                self.state = State::Ended;
                DecodeError::at(self.bits.offset(), fault)
            })?;
        }
        Ok(())
    }

    fn step(&mut self, data: &mut Vec<u8>, is_over: bool) -> Result<(), Fault> {
        match self.state {
            State::Header => {
                let magic = [self.bits.take(8)?, self.bits.take(8)?];
                if magic != MAGIC.map(u16::from) {
                    return Err(Fault::Magic { expected: "the magic bytes 1f a0" });
                }
                self.state = State::Between;
            }
            State::Between => {
                // gzip treats the end of the file as zeros.
                let is_end = is_over && self.bits.left() < 16 && self.bits.are_zeros();
                let left = if is_end { 0 } else { self.bits.take(16)? };
                self.state = if left == 0 { State::Ended } else { State::Block { left } };
                if left > 0 {
                    self.codes()?;
                }
            }
            State::Block { left: 0 } => self.state = State::Between,
            State::Block { left } => {
                let left = left - 1;
                let symbol = self.symbols.read(&mut self.bits)?;
                if symbol < FIRST_MATCH {
                    self.put(symbol as u8, data);
                    self.state = State::Block { left };
                } else {
                    let distance = match self.distances.read(&mut self.bits)? {
                        0 => 0,
                        more => 1 << (more - 1) | usize::from(self.bits.take(usize::from(more) - 1)?),
                    };
                    let from = (self.at + WINDOW - 1 - distance) % WINDOW;
                    self.state = State::Match { left, len: symbol - FIRST_MATCH + LEAST_MATCH, from };
                }
            }
            State::Match { left, len, from } => {
                for at in 0..usize::from(len) {
                    self.put(self.window[(from + at) % WINDOW], data);
                }
                self.state = State::Block { left };
            }
            State::Ended => {}
        }
        Ok(())
    }

    fn put(&mut self, byte: u8, data: &mut Vec<u8>) {
        self.window[self.at] = byte;
        self.at = (self.at + 1) % WINDOW;
        data.push(byte);
    }

    /// Reads the codes of a block.
    fn codes(&mut self) -> Result<(), Fault> {
        let bits = &mut self.bits;
        // Behind the third length, two bits give the number of zeros that follow.
        let of_lengths = code_of_lengths(bits, LENGTHS, 5, Some(3))?;
        let count = usize::from(bits.take(9)?);
        self.symbols = match count {
            0 => Code::of_one(bits.take(9)?, SYMBOLS)?,
            _ => {
                let mut lengths = Vec::with_capacity(SYMBOLS);
                while lengths.len() < count {
                    let zeros = match of_lengths.read(bits)? {
                        0 => 1,
                        1 => usize::from(bits.take(4)?) + 3,
                        2 => usize::from(bits.take(9)?) + 20,
                        length => {
                            lengths.push(length as u8 - 2);
                            continue;
                        }
                    };
                    lengths.resize(lengths.len() + zeros, 0);
                }
                Code::new(&lengths, SYMBOLS)?
            }
        };
        self.distances = code_of_lengths(bits, DISTANCES, 4, None)?;
        Ok(())
    }
}

/// Reads a code of at most `most` symbols. Their number has `width` bits. Code lengths have three bits, and further
/// ones if they are seven or more. Behind `pause` lengths, two bits give the number of zeros that follow.
fn code_of_lengths(bits: &mut Bits, most: usize, width: usize, pause: Option<usize>) -> Result<Code, Fault> {
    let count = usize::from(bits.take(width)?);
    if count == 0 {
        return Code::of_one(bits.take(width)?, most);
    }
    let mut lengths = Vec::with_capacity(most);
    while lengths.len() < count {
        let mut length = bits.take(3)? as u8;
        if length == 7 {
            while bits.take(1)? == 1 {
                length += 1;
                if usize::from(length) > LONGEST_CODE {
                    return Err(BAD_CODE);
                }
            }
        }
        lengths.push(length);
        if Some(lengths.len()) == pause {
            let zeros = usize::from(bits.take(2)?);
            lengths.resize(lengths.len() + zeros, 0);
        }
    }
    Code::new(&lengths, most)
}

const BAD_CODE: Fault = Fault::Header { expected: "a complete code" };

/// The number of bits of a code that are looked up at once.
const QUICK: usize = 9;

/// A canonical code.
#[derive(Debug, Default)]
struct Code {
    /// The symbols, in the order of their codes.
    symbols: Vec<u16>,
    /// For each length, the code behind the last one of that length, padded with zeros to 16 bits.
    ends: [u32; LONGEST_CODE + 1],
    /// For each length, the index in `symbols` of its first one.
    starts: [u16; LONGEST_CODE + 1],
    /// For each prefix of 9 bits, the symbol and the length of its code; 0 if the code is longer.
    quick: Vec<(u16, u8)>,
}

impl Code {
    /// Creates the code with these lengths for each symbol; 0 stands for no code.
    fn new(lengths: &[u8], most: usize) -> Result<Code, Fault> {
        if lengths.len() > most {
            return Err(Fault::Header { expected: "at most as many code lengths as symbols" });
        }
        let mut code = Code { quick: vec![(0, 0); 1 << QUICK], ..Code::default() };
        let mut next = 0u32;
        for length in 1..=LONGEST_CODE {
            code.starts[length] = code.symbols.len() as u16;
            for (symbol, _) in lengths.iter().enumerate().filter(|(_, is)| usize::from(**is) == length) {
                let step = 1u32 << (LONGEST_CODE - length);
                if next + step > 1 << LONGEST_CODE {
                    return Err(BAD_CODE);
                }
                code.symbols.push(symbol as u16);
                if length <= QUICK {
                    let (from, to) =
                        (next >> (LONGEST_CODE - QUICK), (next + step) >> (LONGEST_CODE - QUICK));
                    code.quick[from as usize..to as usize].fill((symbol as u16, length as u8));
                }
                next += step;
            }
            code.ends[length] = next;
        }
        if next == 1 << LONGEST_CODE { Ok(code) } else { Err(BAD_CODE) }
    }

    /// Creates the code of one symbol, which has no bits.
    fn of_one(symbol: u16, most: usize) -> Result<Code, Fault> {
        match usize::from(symbol) < most {
            true => Ok(Code { symbols: vec![symbol], ..Code::default() }),
            false => Err(Fault::Header { expected: "a code for a valid symbol" }),
        }
    }

    /// Reads a symbol.
    fn read(&self, bits: &mut Bits) -> Result<u16, Fault> {
        if self.quick.is_empty() {
            return Ok(self.symbols[0]);
        }
        let word = bits.peek();
        let (symbol, length) = self.quick[usize::from(word) >> (LONGEST_CODE - QUICK)];
        if length > 0 {
            bits.skip(length.into())?;
            return Ok(symbol);
        }
        let word = u32::from(word);
        let length = (QUICK + 1..=LONGEST_CODE).find(|&length| word < self.ends[length]);
        let length = length.expect("all words are used");
        bits.skip(length)?;
        let index = (word - self.ends[length - 1]) >> (LONGEST_CODE - length);
        Ok(self.symbols[usize::from(self.starts[length]) + index as usize])
    }
}

/// A buffer of bytes of the file, from whose front bits are taken.
#[derive(Debug, Default)]
struct Bits {
    held: Vec<u8>,
    /// The index of the next bit.
    at: usize,
    /// The offset in the file of the first byte that is held.
    offset: u64,
}

impl Bits {
    /// Drops the bytes that were taken, and takes as much of the input as may be held.
    fn fill(&mut self, input: &mut &[u8]) {
        if self.held.len() < HELD || self.left() < 8 * ENOUGH {
            self.held.drain(..self.at / 8);
            self.offset += (self.at / 8) as u64;
            self.at %= 8;
            let (taken, rest) = input.split_at(input.len().min(HELD - self.held.len()));
            self.held.extend_from_slice(taken);
            *input = rest;
        }
    }

    /// Returns the number of bits that are left.
    fn left(&self) -> usize {
        8 * self.held.len() - self.at
    }

    /// Returns the offset in the file of the byte with the next bit.
    fn offset(&self) -> u64 {
        self.offset + (self.at / 8) as u64
    }

    /// Returns the next 16 bits, with zeros behind the end.
    fn peek(&self) -> u16 {
        let byte = |at: usize| u32::from(self.held.get(self.at / 8 + at).copied().unwrap_or(0));
        let three = byte(0) << 16 | byte(1) << 8 | byte(2);
        (three >> (8 - self.at % 8)) as u16
    }

    fn skip(&mut self, count: usize) -> Result<(), Fault> {
        if count > self.left() {
            self.at = 8 * self.held.len();
            return Err(Fault::Truncated);
        }
        self.at += count;
        Ok(())
    }

    /// Takes the next `count` bits, at most 16, as a number.
    fn take(&mut self, count: usize) -> Result<u16, Fault> {
        let number = u32::from(self.peek()) >> (16 - count);
        self.skip(count)?;
        Ok(number as u16)
    }

    /// Returns whether only zeros are left, if these are fewer than 16 bits.
    fn are_zeros(&self) -> bool {
        self.peek() == 0
    }
}

impl Serial for Decoder {
    const NAME: &'static str = "lzh";
    const SUFFIX: &'static str = ".Z";
    const SUFFIXES: &'static [(&'static str, &'static str)] = &[(".z", "")];
    const MAGIC: &'static [u8] = &MAGIC;

    type Error = DecodeError;

    fn next(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        data.clear();
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let result = loop {
            // gzip ignores the bytes that follow, too.
            if self.state == State::Ended {
                *input = &[];
            }
            self.bits.fill(input);
            match self.run(data, false) {
                Ok(()) if data.len() < CHUNK && !input.is_empty() => {}
                result => break result,
            }
        };
        self.give(result, data)
    }

    fn finish(&mut self, data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        data.clear();
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let result = self.run(data, true);
        self.give(result, data)
    }
}

impl Decoder {
    /// Returns whether there is data. An error is kept until the next call.
    fn give(&mut self, result: Result<(), DecodeError>, data: &[u8]) -> Result<bool, DecodeError> {
        match result {
            Err(error) if data.is_empty() => Err(error),
            result => {
                self.failed = result.err();
                Ok(!data.is_empty())
            }
        }
    }
}
