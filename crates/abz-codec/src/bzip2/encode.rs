//! Encoding of blocks.

use std::fmt;

use super::bits::BitWriter;
use super::cut::Packed;
use super::huffman::{Codes, canonical, codes};
use super::runs::sums;
use super::sort::Sorter;
use super::{BLOCK_MAGIC, GROUP, MAX_SYMBOLS};
use crate::memory::{NoMemory, make_room};

/// The symbols for the two digits of a run of the first position.
const DIGITS: [u16; 2] = [0, 1];

/// An encoded block, ready for any bit of a stream. [`StreamWriter::write`](super::StreamWriter::write) writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedBlock {
    pub(super) bytes: Vec<u8>,
    /// The number of bits used in the last byte, 1 to 8.
    pub(super) last_bits: u32,
    pub(super) checksum: u32,
}

impl EncodedBlock {
    /// Returns its bytes, so that their allocation can be used again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// An encoder of blocks. It keeps its memory, some eight bytes for each byte of a block, so use one per worker for many
/// blocks.
pub struct Encoder {
    sorter: Sorter,
    last: Vec<u8>,
    symbols: Vec<u16>,
}

impl Encoder {
    /// Creates an encoder, for blocks of any level.
    pub fn new() -> Self {
        Encoder { sorter: Sorter::new(), last: Vec::new(), symbols: Vec::new() }
    }

    /// Encodes a block. Drops the contents of `bytes` and uses its allocation.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn encode_into(&mut self, block: &Packed, mut bytes: Vec<u8>) -> Result<EncodedBlock, NoMemory> {
        bytes.clear();
        let (checksum, _) = sums(&block.bytes).expect("the cutter gives each run its count");
        let row = self.sorter.sort(&block.bytes, &mut self.last)?;
        self.symbols.clear();
        self.symbols
            .try_reserve(block.bytes.len() + 1)
            .map_err(|_| NoMemory { needed: 2 * block.bytes.len() as u64 })?;
        make_room(&mut bytes, block.bytes.len() / 2)?;

        let mut bits = BitWriter::new(bytes);
        bits.put(24, (BLOCK_MAGIC >> 24) as u32);
        bits.put(24, BLOCK_MAGIC as u32 & 0xff_ffff);
        bits.put(32, checksum);
        bits.put(1, 0);
        bits.put(24, row as u32);
        let list = put_bytes_in_use(&mut bits, &self.last);
        let alphabet = list.len() + 2;
        move_to_front(&self.last, list, &mut self.symbols);
        let codes = codes(&self.symbols, alphabet);
        put_codes(&mut bits, &codes, alphabet);
        put_symbols(&mut bits, &codes, &self.symbols, alphabet);
        let (bytes, last_bits) = bits.finish();
        Ok(EncodedBlock { bytes, last_bits, checksum })
    }
}

impl Default for Encoder {
    fn default() -> Self {
        Encoder::new()
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

/// Writes the list of the bytes that occur, and returns it.
fn put_bytes_in_use(bits: &mut BitWriter, bytes: &[u8]) -> Vec<u8> {
    let mut occurs = [false; 256];
    for &byte in bytes {
        occurs[usize::from(byte)] = true;
    }
    let word = |occurs: &[bool]| occurs.iter().fold(0, |word, &bit| word << 1 | u32::from(bit));
    let sixteenths = occurs.chunks_exact(16);
    bits.put(16, sixteenths.clone().fold(0, |map, part| map << 1 | u32::from(word(part) != 0)));
    for part in sixteenths.map(word).filter(|&part| part != 0) {
        bits.put(16, part);
    }
    (0..=255).filter(|&byte| occurs[usize::from(byte)]).collect()
}

/// Replaces each byte by its position in a list that moves to front, and each run of the first position by its length,
/// in digits 1 and 2 (so 1, 2, 11, 21, 12, 22, ..., the lowest digit first). The symbol for the end follows.
fn move_to_front(bytes: &[u8], mut list: Vec<u8>, symbols: &mut Vec<u16>) {
    let end = list.len() as u16 + 1;
    list.resize(256, 0);
    let list: &mut [u8; 256] = list.first_chunk_mut().expect("it was made so long");
    symbols.clear();
    let mut firsts = 0u32;
    for &byte in bytes {
        if byte == list[0] {
            firsts += 1;
            continue;
        }
        put_run(&mut firsts, symbols);
        let mut moved = std::mem::replace(&mut list[0], byte);
        let mut at = 0;
        while moved != byte {
            at += 1;
            std::mem::swap(&mut moved, &mut list[at]);
        }
        symbols.push(at as u16 + 1);
    }
    put_run(&mut firsts, symbols);
    symbols.push(end);
}

fn put_run(length: &mut u32, symbols: &mut Vec<u16>) {
    while *length > 0 {
        *length -= 1;
        symbols.push(DIGITS[(*length & 1) as usize]);
        *length >>= 1;
    }
}

fn put_codes(bits: &mut BitWriter, codes: &Codes, alphabet: usize) {
    bits.put(3, codes.tables.len() as u32);
    bits.put(15, codes.selectors.len() as u32);
    let mut list = [0, 1, 2, 3, 4, 5];
    for &selector in &codes.selectors {
        let at = list.iter().position(|&table| table == selector).expect("there are six tables at most");
        list[..=at].rotate_right(1);
        bits.put(at as u32 + 1, (1 << (at + 1)) - 2);
    }
    for lengths in &codes.tables {
        let mut current = lengths[0];
        bits.put(5, current.into());
        for &length in &lengths[..alphabet] {
            while current < length {
                bits.put(2, 0b10);
                current += 1;
            }
            while current > length {
                bits.put(2, 0b11);
                current -= 1;
            }
            bits.put(1, 0);
        }
    }
}

fn put_symbols(bits: &mut BitWriter, codes: &Codes, symbols: &[u16], alphabet: usize) {
    let tables: Vec<[(u8, u32); MAX_SYMBOLS]> = codes
        .tables
        .iter()
        .map(|lengths| {
            let codes = canonical(&lengths[..alphabet]);
            std::array::from_fn(|symbol| (lengths[symbol], codes[symbol]))
        })
        .collect();
    for (group, &selector) in symbols.chunks(GROUP).zip(&codes.selectors) {
        let table = &tables[usize::from(selector)];
        for &symbol in group {
            let (length, code) = table[usize::from(symbol)];
            bits.put(length.into(), code);
        }
    }
}
