//! Decoding of blocks.

use std::fmt;
use std::io::{self, Read, Write};

use super::bits::{BitReader, BitWriter};
use super::error::Fault;
use super::runs::{Stretch, checksum, stretches, sums};
use super::scan::Segment;
use super::table::Table;
use super::unsort::Unsorter;
use super::write::StreamWriter;
use super::{BLOCK_MAGIC, EncodedBlock, GROUP, Level, MAX_SYMBOLS, MAX_TABLES};

/// The largest packed block of any level, in bytes.
const MAX_BLOCK: usize = 900_000;

/// The largest contents, in bytes, that are unpacked at once. Larger contents (runs, mostly) stay packed until they are
/// written, so that memory is bounded: 900,000 bytes may expand to 46 million.
const MAX_PLAIN: usize = 2 << 20;

/// The contents of a block, whose checksum was verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    bytes: Vec<u8>,
    is_packed: bool,
}

impl Contents {
    /// Writes the contents, and returns their size in bytes.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn write_to(&self, mut writer: impl Write) -> io::Result<u64> {
        if !self.is_packed {
            writer.write_all(&self.bytes)?;
            return Ok(self.bytes.len() as u64);
        }
        let mut written = 0;
        let mut buffer = Vec::with_capacity(2 * STEP);
        for stretch in stretches(&self.bytes).flatten() {
            match stretch {
                Stretch::Plain(bytes) if bytes.len() >= STEP => {
                    writer.write_all(&buffer)?;
                    writer.write_all(bytes)?;
                    written += (buffer.len() + bytes.len()) as u64;
                    buffer.clear();
                }
                Stretch::Plain(bytes) => buffer.extend_from_slice(bytes),
                Stretch::Repeated(byte, times) => buffer.extend(std::iter::repeat_n(byte, times)),
            }
            if buffer.len() >= STEP {
                writer.write_all(&buffer)?;
                written += buffer.len() as u64;
                buffer.clear();
            }
        }
        writer.write_all(&buffer)?;
        Ok(written + buffer.len() as u64)
    }

    /// Returns the bytes, so that their allocation can be used again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// The number of bytes that are written at once if runs are unpacked.
const STEP: usize = 64 << 10;

/// The result of decoding a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Block(Block),
    /// The segment does not begin like a block.
    Other,
    /// The segment begins like a block, but the block is damaged.
    Damaged {
        fault: Fault,
        bit: u64,
    },
    /// The segment begins like a block, and ends before the block does.
    Short,
}

/// A decoded block. The assembler checks where it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) contents: Contents,
    pub(super) checksum: u32,
    /// The size of the block in bytes before runs are unpacked.
    pub(super) packed_len: usize,
    /// The bit of the file at which the block ends.
    pub(super) end: u64,
}

/// A segment and the result of decoding it, from [`Decoder::decode_into`].
#[derive(Clone, Debug)]
pub struct Decoded {
    pub(super) segment: Segment,
    pub(super) found: Found,
}

impl Decoded {
    /// Returns the bytes of the segment, so that their allocation can be used again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.segment.bytes
    }
}

/// A decoder of blocks. It keeps its memory, some eight bytes for each byte of the largest block, so use one per
/// worker for many blocks.
pub struct Decoder {
    selectors: Vec<u8>,
    tables: Vec<Table>,
    /// The last column of the sorted rotations.
    last: Vec<u8>,
    /// How often each byte is in the last column.
    counts: [u32; 256],
    unsorter: Unsorter,
    packed: Vec<u8>,
}

impl Decoder {
    /// Creates a decoder.
    pub fn new() -> Self {
        let (selectors, tables, last, unsorter, packed) = Default::default();
        Decoder { selectors, tables, last, counts: [0; 256], unsorter, packed }
    }

    /// Decodes the block at the start of `segment`, if there is one, into `bytes`, whose contents are dropped. An
    /// [`Assembler`](super::Assembler) decides whether the segment began with a block.
    pub fn decode_into(&mut self, segment: Segment, bytes: Vec<u8>) -> Decoded {
        let found = self.decode(&segment, bytes);
        Decoded { segment, found }
    }

    pub(super) fn decode(&mut self, segment: &Segment, bytes: Vec<u8>) -> Found {
        let mut bits = BitReader::new(&segment.bytes, segment.first_bit());
        let magic = u64::from(bits.take(24)) << 24 | u64::from(bits.take(24));
        if magic != BLOCK_MAGIC {
            return Found::Other;
        }
        let result = self.block(&mut bits, segment, bytes);
        let len = segment.first_bit() + (segment.end - segment.start);
        if bits.position() > len {
            return Found::Short;
        }
        let bit = segment.start - segment.first_bit() + bits.position();
        match result {
            Ok((contents, checksum, packed_len)) => {
                Found::Block(Block { contents, checksum, packed_len, end: bit })
            }
            Err(fault) => Found::Damaged { fault, bit },
        }
    }

    fn block(
        &mut self,
        bits: &mut BitReader<'_>,
        segment: &Segment,
        bytes: Vec<u8>,
    ) -> Result<(Contents, u32, usize), Fault> {
        let rule = |expected| Fault::Block { expected };
        let checksum = bits.take(32);
        let is_scrambled = bits.take(1) == 1;
        let row = bits.take(24) as usize;
        let list = bytes_in_use(bits);
        if list.is_empty() {
            return Err(rule("at least one byte in use"));
        }
        let alphabet = list.len() + 2;
        self.read_codes(bits, alphabet)?;
        self.read_last_column(bits, &list)?;
        if row >= self.last.len() {
            return Err(rule("a start row inside the block"));
        }
        let packed_len = self.last.len();
        if is_scrambled {
            let contents = unscrambled(segment, bits.position(), checksum)?;
            return Ok((contents, checksum, packed_len));
        }
        self.unsorter.unsort(&self.last, &self.counts, row, &mut self.packed);
        Ok((self.unpacked(checksum, bytes)?, checksum, packed_len))
    }

    fn read_codes(&mut self, bits: &mut BitReader<'_>, alphabet: usize) -> Result<(), Fault> {
        let rule = |expected| Err(Fault::Block { expected });
        let tables = bits.take(3) as usize;
        let selectors = bits.take(15);
        if !(2..=MAX_TABLES).contains(&tables) {
            return rule("2 to 6 code tables");
        }
        if selectors == 0 {
            return rule("at least one selector");
        }
        self.selectors.clear();
        let mut list: [u8; MAX_TABLES] = [0, 1, 2, 3, 4, 5];
        for _ in 0..selectors {
            let mut at = 0;
            while bits.take(1) == 1 {
                at += 1;
                if at == tables {
                    return rule("a selector of one of the code tables");
                }
            }
            list[..=at].rotate_right(1);
            self.selectors.push(list[0]);
        }
        self.tables.resize_with(MAX_TABLES, Table::default);
        for table in &mut self.tables[..tables] {
            let mut lengths = [0; MAX_SYMBOLS];
            let mut current = bits.take(5);
            for length in &mut lengths[..alphabet] {
                loop {
                    if !(1..=20).contains(&current) {
                        return rule("code lengths of 1 to 20 bits");
                    }
                    if bits.take(1) == 0 {
                        break;
                    }
                    current = if bits.take(1) == 0 { current + 1 } else { current - 1 };
                }
                *length = current as u8;
            }
            table.fill(&lengths[..alphabet]);
        }
        Ok(())
    }

    /// Decodes the symbols, and undoes the coding of the last column: runs, and moving to front.
    fn read_last_column(&mut self, bits: &mut BitReader<'_>, list: &[u8]) -> Result<(), Fault> {
        let rule = |expected| Err(Fault::Block { expected });
        let end = list.len() as u16 + 1;
        let mut list = Recent::new(list);
        let (last, counts) = (&mut self.last, &mut self.counts);
        last.clear();
        *counts = [0; 256];
        let (mut run, mut digit) = (0usize, 1usize);
        for &selector in &self.selectors {
            let table = &self.tables[usize::from(selector)];
            for _ in 0..GROUP {
                bits.refill();
                let Some(symbol) = table.next(bits) else { return rule("a code in the table") };
                if symbol <= 1 {
                    run += digit << symbol;
                    digit <<= 1;
                    if run > MAX_BLOCK {
                        return rule("a block of at most 900,000 bytes");
                    }
                    continue;
                }
                if run > 0 {
                    last.resize(last.len() + run, list.first());
                    counts[usize::from(list.first())] += run as u32;
                    (run, digit) = (0, 1);
                }
                // A byte follows, unless this symbol is the end.
                if last.len() + usize::from(symbol != end) > MAX_BLOCK {
                    return rule("a block of at most 900,000 bytes");
                }
                if symbol == end {
                    return Ok(());
                }
                let byte = list.take(usize::from(symbol - 1));
                counts[usize::from(byte)] += 1;
                last.push(byte);
            }
        }
        rule("a selector for every 50 symbols")
    }

    /// Returns the contents of the packed block, after verifying their checksum.
    fn unpacked(&mut self, expected: u32, mut bytes: Vec<u8>) -> Result<Contents, Fault> {
        let no_count = Fault::Block { expected: "a count after four equal bytes" };
        bytes.clear();
        for stretch in stretches(&self.packed) {
            match stretch.ok_or(no_count.clone())? {
                Stretch::Plain(plain) => bytes.extend_from_slice(plain),
                Stretch::Repeated(byte, times) => bytes.extend(std::iter::repeat_n(byte, times)),
            }
            if bytes.len() > MAX_PLAIN {
                break;
            }
        }
        let is_packed = bytes.len() > MAX_PLAIN;
        let found = if is_packed { sums(&self.packed).ok_or(no_count)?.0 } else { checksum(&bytes) };
        if found != expected {
            return Err(Fault::Checksum { expected, found });
        }
        if is_packed {
            bytes.clear();
            bytes.extend_from_slice(&self.packed);
        }
        Ok(Contents { bytes, is_packed })
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Decoder::new()
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

/// Reads the list of the bytes that occur.
fn bytes_in_use(bits: &mut BitReader<'_>) -> Vec<u8> {
    let sixteenths = bits.take(16);
    let mut list = Vec::with_capacity(256);
    for sixteenth in (0..16).filter(|part| sixteenths >> (15 - part) & 1 == 1) {
        let part = bits.take(16);
        list.extend(
            (0..16).filter(|byte| part >> (15 - byte) & 1 == 1).map(|byte| 16 * sixteenth + byte as u8),
        );
    }
    list
}

/// The bytes that occur, the most recent one first.
struct Recent {
    /// The first sixteen bytes, the first one lowest. They are moved without a loop.
    front: u128,
    rest: [u8; 240],
}

impl Recent {
    fn new(list: &[u8]) -> Self {
        let mut all = [0; 256];
        all[..list.len()].copy_from_slice(list);
        let (front, rest) = all.split_at(16);
        Recent {
            front: u128::from_le_bytes(front.try_into().expect("it is so long")),
            rest: rest.try_into().expect("it is so long"),
        }
    }

    fn first(&self) -> u8 {
        self.front as u8
    }

    /// Takes the byte at position `at`, 1 to 255, and moves it to the front.
    #[inline]
    fn take(&mut self, at: usize) -> u8 {
        let at = at & 0xff;
        if at < 16 {
            let shift = 8 * at as u32;
            let byte = (self.front >> shift) as u8;
            let below = (1 << shift) - 1;
            let above = !(below << 8 | 0xff);
            self.front = self.front & above | (self.front & below) << 8 | u128::from(byte);
            return byte;
        }
        let at = at - 16;
        let byte = self.rest[at];
        self.rest.copy_within(..at, 1);
        self.rest[0] = (self.front >> 120) as u8;
        self.front = self.front << 8 | u128::from(byte);
        byte
    }
}

/// Returns the contents of a randomised block, as bzip2 0.9.0 made them: bytes at places from a fixed list are changed.
/// Such blocks are so rare today that the reference implementation decodes them here, each in a stream of its own.
fn unscrambled(segment: &Segment, end: u64, checksum: u32) -> Result<Contents, Fault> {
    let damaged = |_| Fault::Block { expected: "a scrambled block" };
    let mut bits = BitReader::new(&segment.bytes, segment.first_bit());
    let mut block = BitWriter::default();
    let mut left = end - segment.first_bit();
    while left > 0 {
        let count = left.min(24) as u32;
        block.put(count, bits.take(count));
        left -= u64::from(count);
    }
    let (bytes, last_bits) = block.finish();
    let mut stream = StreamWriter::new(Vec::new(), Level::BEST);
    let block = EncodedBlock { bytes, last_bits, checksum };
    let stream = stream.write(&block).and_then(|()| stream.finish()).map_err(damaged)?;
    let mut bytes = Vec::new();
    bzip2::read::BzDecoder::new(&stream[..]).read_to_end(&mut bytes).map_err(damaged)?;
    Ok(Contents { bytes, is_packed: false })
}
