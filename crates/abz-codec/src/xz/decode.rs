//! Decoding of whole blocks.

use std::fmt;

use super::check::{Check, Sum};
use super::error::{DecodeError, Fault};
use super::header::BlockHeader;
use crate::damage::Place;
use crate::lzma::{Decoding, Obstacle};
use crate::memory::make_exact_room;

/// A whole block, still compressed. [`Decoder::decode_into`] decodes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The number of the stream, and of the block in it, counted from 1.
    pub(super) stream: u64,
    pub(super) number: u64,
    /// The offset of the first byte in the file.
    pub(super) start: u64,
    pub(super) header: BlockHeader,
    pub(super) check: Check,
    /// Whether the contents are verified against the check.
    pub(super) is_checked: bool,
    /// Header, compressed data, padding and check. The header states both sizes, and they are within the limits.
    pub(super) bytes: Vec<u8>,
}

impl Block {
    /// Returns the offset of the block's first byte in the compressed file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the bytes of the block: header, compressed data, padding and check.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A decoder of whole [`Block`]s, which verifies them.
#[derive(Default)]
pub struct Decoder(());

impl Decoder {
    /// Creates a decoder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes a block. Replaces the contents of `data` and uses its allocation.
    ///
    /// # Errors
    ///
    /// If the block is damaged. `data` is empty then.
    pub fn decode_into(&mut self, block: &Block, data: &mut Vec<u8>) -> Result<(), DecodeError> {
        decode(block, data).map_err(|(at, fault)| {
            data.clear();
            let place = Place::Block { stream: block.stream, number: block.number };
            DecodeError::new(place, block.start + at, fault)
        })
    }
}

fn decode(block: &Block, data: &mut Vec<u8>) -> Result<(), (u64, Fault)> {
    let header = &block.header;
    let [compressed, uncompressed] = [header.compressed, header.uncompressed]
        .map(|len| usize::try_from(len.expect("the header states it")).expect("the scanner limits it"));
    let (begin, end) = (header.len, header.len + compressed);
    let mut filtered = Filtered::new(header).map_err(|fault| (0, fault))?;
    let mut input = &block.bytes[begin..end];
    make_exact_room(data, uncompressed).map_err(|fault| (0, fault.into()))?;
    data.resize(uncompressed, 0);
    let mut filled = 0;
    // One byte beyond the stated size is an error.
    let mut excess = [0];
    loop {
        let output = if filled < uncompressed { &mut data[filled..] } else { &mut excess[..] };
        let step = filtered.step(&mut input, output);
        let step = step.map_err(|fault| (begin as u64 + filtered.consumed(), fault))?;
        if filled == uncompressed && step.produced > 0 {
            return Err((0, too_much(uncompressed as u64)));
        }
        filled += step.produced;
        if step.ended {
            break;
        }
        if input.is_empty() && step.produced == 0 {
            return Err((end as u64, Fault::Rule { expected: "the end of the compressed data" }));
        }
    }
    check_sizes(header, filtered.consumed(), filled as u64).map_err(|fault| (0, fault))?;
    let mut sum = Sum::new(block.check);
    sum.add(data);
    check_end(&block.bytes[end..], block.check, sum, block.is_checked)
        .map_err(|(at, fault)| (end as u64 + at, fault))
}

/// Returns the fault of a block with more contents than its header states.
pub(super) fn too_much(uncompressed: u64) -> Fault {
    Fault::Size { what: "a block with contents", expected: uncompressed, found: uncompressed + 1 }
}

/// Compares the sizes in a header with those that were found.
pub(super) fn check_sizes(header: &BlockHeader, compressed: u64, uncompressed: u64) -> Result<(), Fault> {
    if let Some(expected) = header.compressed.filter(|&expected| expected != compressed) {
        return Err(Fault::Size { what: "a block with compressed data", expected, found: compressed });
    }
    if let Some(expected) = header.uncompressed.filter(|&expected| expected != uncompressed) {
        return Err(Fault::Size { what: "a block with contents", expected, found: uncompressed });
    }
    Ok(())
}

/// Verifies the padding and, if `is_checked`, the check at the end of a block. A fault comes with its offset in `end`.
pub(super) fn check_end(end: &[u8], check: Check, sum: Sum, is_checked: bool) -> Result<(), (u64, Fault)> {
    let (padding, expected) = end.split_at(end.len() - check.len());
    if padding.iter().any(|&byte| byte != 0) {
        return Err((0, Fault::Rule { expected: "zeros as padding of a block" }));
    }
    let found = sum.finish();
    if is_checked && expected != found {
        let [expected, found] = [expected, &found].map(|sum| digits(sum, check));
        return Err((padding.len() as u64, Fault::Check { kind: check, expected, found }));
    }
    Ok(())
}

/// Returns a check as hexadecimal digits. CRCs are numbers, so their highest digits come first.
fn digits(sum: &[u8], check: Check) -> String {
    let digits = |bytes: &mut dyn Iterator<Item = &u8>| bytes.map(|byte| format!("{byte:02x}")).collect();
    match check {
        Check::Sha256 => digits(&mut sum.iter()),
        _ => digits(&mut sum.iter().rev()),
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

/// A decoder of the compressed data of one block, or of a `.lzma` file, step by step.
pub(super) struct Filtered {
    decoding: Decoding,
    dictionary: u32,
}

/// The result of a step.
pub(super) struct Progress {
    pub(super) produced: usize,
    /// Whether the data has ended, right before the rest of the input.
    pub(super) ended: bool,
}

impl Filtered {
    pub(super) fn new(header: &BlockHeader) -> Result<Self, Fault> {
        let dictionary = header.dictionary()?;
        match Decoding::new(&header.filters()?) {
            Ok(decoding) => Ok(Filtered { decoding, dictionary }),
            Err(Obstacle::Memory) => Err(Fault::Memory { dictionary: dictionary.into() }),
            Err(Obstacle::Damage) => Err(Fault::Unsupported { expected: "a series of filters" }),
        }
    }

    /// Creates a decoder of a whole `.lzma` file with its header, which states the dictionary size.
    pub(super) fn alone(dictionary: u32) -> Result<Self, Fault> {
        let decoding = Decoding::alone().map_err(|_| Fault::Memory { dictionary: dictionary.into() })?;
        Ok(Filtered { decoding, dictionary })
    }

    /// Decodes as much of `input` as fits into `output`, and removes the processed bytes from the front of `input`.
    pub(super) fn step(&mut self, input: &mut &[u8], output: &mut [u8]) -> Result<Progress, Fault> {
        match self.decoding.step(input, output) {
            Ok(step) => {
                *input = &input[step.consumed..];
                Ok(Progress { produced: step.produced, ended: step.ended })
            }
            Err(Obstacle::Memory) => Err(Fault::Memory { dictionary: self.dictionary.into() }),
            Err(Obstacle::Damage) => Err(Fault::Lzma),
        }
    }

    /// Returns the number of bytes that have been used.
    pub(super) fn consumed(&self) -> u64 {
        self.decoding.consumed()
    }

    /// Returns the number of bytes that were decoded.
    pub(super) fn produced(&self) -> u64 {
        self.decoding.produced()
    }
}
