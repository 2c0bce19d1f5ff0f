//! Whole blocks into data.

use std::fmt;

use super::check::{Check, Sum};
use super::error::{DecodeError, Fault};
use super::header::BlockHeader;
use crate::damage::Place;
use crate::lzma::{Decoding, Obstacle};
use crate::memory::make_exact_room;

/// A block as it lies in the file, whole. [`Decoder::decode_into`] makes data of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The stream and the block in it, counted from 1.
    pub(super) stream: u64,
    pub(super) number: u64,
    /// The offset of the first byte in the file.
    pub(super) start: u64,
    pub(super) header: BlockHeader,
    pub(super) check: Check,
    /// The contents are held against it.
    pub(super) is_checked: bool,
    /// Header, compressed data, padding and check; both sizes are said, and are not too large.
    pub(super) bytes: Vec<u8>,
}

impl Block {
    /// The offset of its first byte in the compressed file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Its bytes: header, compressed data, padding and check.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Decodes whole [`Block`]s, and verifies them.
#[derive(Default)]
pub struct Decoder(());

impl Decoder {
    /// A decoder.
    pub fn new() -> Self {
        Self::default()
    }

    /// The contents of a block, into the allocation of `data`, whose contents are dropped.
    ///
    /// # Errors
    ///
    /// If the block is damaged; `data` is then empty.
    pub fn decode_into(&mut self, block: &Block, data: &mut Vec<u8>) -> Result<(), DecodeError> {
        decode(block, data).map_err(|(at, fault)| {
            data.clear();
            let place = Place::Block { stream: block.stream, number: block.number };
            DecodeError { place, offset: block.start + at, fault }
        })
    }
}

fn decode(block: &Block, data: &mut Vec<u8>) -> Result<(), (u64, Fault)> {
    let header = &block.header;
    let [compressed, uncompressed] = [header.compressed, header.uncompressed]
        .map(|len| usize::try_from(len.expect("the scanner saw to it")).expect("and that it is no larger"));
    let (begin, end) = (header.len, header.len + compressed);
    let mut filtered = Filtered::new(header).map_err(|fault| (0, fault))?;
    let mut input = &block.bytes[begin..end];
    make_exact_room(data, uncompressed).map_err(|fault| (0, fault.into()))?;
    data.resize(uncompressed, 0);
    let mut filled = 0;
    // One byte more than there shall be is too much.
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

/// What is wrong with a block of more contents than its header says.
pub(super) fn too_much(uncompressed: u64) -> Fault {
    Fault::Size { what: "a block with contents", expected: uncompressed, found: uncompressed + 1 }
}

/// Holds the sizes in a header against what was found.
pub(super) fn check_sizes(header: &BlockHeader, compressed: u64, uncompressed: u64) -> Result<(), Fault> {
    if let Some(expected) = header.compressed.filter(|&expected| expected != compressed) {
        return Err(Fault::Size { what: "a block with compressed data", expected, found: compressed });
    }
    if let Some(expected) = header.uncompressed.filter(|&expected| expected != uncompressed) {
        return Err(Fault::Size { what: "a block with contents", expected, found: uncompressed });
    }
    Ok(())
}

/// Holds padding and check, the end of a block, against its contents, the check if it counts; a fault comes with its offset.
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

/// A check as one writes it: numbers with the highest digits first.
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

/// The compressed data of one block, or of a file of `.lzma`, decoded step by step.
pub(super) struct Filtered {
    decoding: Decoding,
    dictionary: u32,
}

/// What a step did.
pub(super) struct Progress {
    pub(super) produced: usize,
    /// The data has ended, right before what is left of the input.
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

    /// Of a whole file of `.lzma`, its header, which says the dictionary, included.
    pub(super) fn alone(dictionary: u32) -> Result<Self, Fault> {
        let decoding = Decoding::alone().map_err(|_| Fault::Memory { dictionary: dictionary.into() })?;
        Ok(Filtered { decoding, dictionary })
    }

    /// Decodes as much of `input` as fits into `output`, and takes from its front what it has done with.
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

    /// How many bytes have been used.
    pub(super) fn consumed(&self) -> u64 {
        self.decoding.consumed()
    }

    /// How many bytes were decoded.
    pub(super) fn produced(&self) -> u64 {
        self.decoding.produced()
    }
}
