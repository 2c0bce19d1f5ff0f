//! Whole members into data.

use std::fmt;

use libdeflater::crc32;

use super::error::{DecodeError, Fault};
use super::header::{Trailer, filters};
use super::{HEADER_LEN, TRAILER_LEN};
use crate::damage::Place;
use crate::lzma::{Decoding, Obstacle};
use crate::memory::make_exact_room;

/// A member as it lies in the file, whole. [`Decoder::decode_into`] makes data of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Counted from 1.
    pub(super) number: u64,
    /// The offset of the first byte in the file.
    pub(super) start: u64,
    pub(super) dictionary: u32,
    /// Header, LZMA data, and a trailer that is right about their size.
    pub(super) bytes: Vec<u8>,
}

impl Member {
    /// The member's number in its file, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The offset of its first byte in the compressed file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Its bytes: header, LZMA data and trailer.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn trailer(&self) -> Trailer {
        Trailer::read(self.bytes.last_chunk().expect("a member has a trailer"))
    }

    fn fault(&self, at: u64, fault: Fault) -> DecodeError {
        let place = Place::Member { number: self.number, start: self.start };
        DecodeError { place, offset: self.start + at, fault }
    }
}

/// Decodes whole [`Member`]s, and verifies them.
#[derive(Default)]
pub struct Decoder(());

impl Decoder {
    /// A decoder.
    pub fn new() -> Self {
        Self::default()
    }

    /// The contents of a member, into the allocation of `data`, whose contents are dropped.
    ///
    /// # Errors
    ///
    /// If the member is damaged; `data` is then empty.
    pub fn decode_into(&mut self, member: &Member, data: &mut Vec<u8>) -> Result<(), DecodeError> {
        decode(member, data).map_err(|(at, fault)| {
            data.clear();
            member.fault(at, fault)
        })
    }
}

fn decode(member: &Member, data: &mut Vec<u8>) -> Result<(), (u64, Fault)> {
    let trailer = member.trailer();
    let trailer_at = (member.bytes.len() - TRAILER_LEN) as u64;
    let mut lzma = Lzma::new(member.dictionary).map_err(|fault| (HEADER_LEN as u64, fault))?;
    let mut input = &member.bytes[HEADER_LEN..member.bytes.len() - TRAILER_LEN];
    let len = usize::try_from(trailer.data_size).expect("the scanner has looked at it");
    make_exact_room(data, len).map_err(|fault| (0, fault.into()))?;
    data.resize(len, 0);
    let mut filled = 0;
    // What exceeds the size that the trailer says goes here, to be counted.
    let mut excess = [0; 4096];
    let mut data_size = 0;
    loop {
        let output = if filled < data.len() { &mut data[filled..] } else { &mut excess[..] };
        let step = lzma.step(&mut input, output).map_err(|fault| (lzma.at(), fault))?;
        data_size += step.produced as u64;
        filled = (filled + step.produced).min(data.len());
        if step.ended {
            break;
        }
        if input.is_empty() && step.produced == 0 {
            return Err((trailer_at, Fault::Endless));
        }
    }
    let member_size = lzma.at() + TRAILER_LEN as u64;
    let found = Trailer { checksum: crc32(&data[..filled]), data_size, member_size };
    // Of a wrong size the checksum says nothing.
    let sizes = Trailer { checksum: found.checksum, ..trailer };
    sizes.check(found).and_then(|()| trailer.check(found)).map_err(|(at, fault)| (trailer_at + at, fault))
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

/// The LZMA data of one member, decoded step by step.
pub(super) struct Lzma {
    decoding: Decoding,
    /// The first byte was there.
    has_begun: bool,
}

/// What a step did.
pub(super) struct Progress {
    pub(super) produced: usize,
    /// The data has ended, right before what is left of the input.
    pub(super) ended: bool,
}

impl Lzma {
    pub(super) fn new(dictionary: u32) -> Result<Self, Fault> {
        match Decoding::new(&filters(dictionary)) {
            Ok(decoding) => Ok(Lzma { decoding, has_begun: false }),
            Err(Obstacle::Memory) => Err(Fault::Memory { dictionary }),
            Err(Obstacle::Damage) => unreachable!("the settings were checked"),
        }
    }

    /// Decodes as much of `input` as fits into `output`, and takes from its front what it has done with.
    pub(super) fn step(&mut self, input: &mut &[u8], output: &mut [u8]) -> Result<Progress, Fault> {
        // lzip ignores the first byte, a zero in all files but those that somebody marked. liblzma does not.
        let given = match input {
            [_, ..] if !self.has_begun => {
                self.has_begun = true;
                &[0]
            }
            _ => *input,
        };
        match self.decoding.step(given, output) {
            Ok(step) => {
                *input = &input[step.consumed..];
                Ok(Progress { produced: step.produced, ended: step.ended })
            }
            Err(_) => Err(Fault::Lzma),
        }
    }

    /// How many bytes were decoded.
    pub(super) fn produced(&self) -> u64 {
        self.decoding.produced()
    }

    /// How many bytes of the member have been used, its header among them.
    pub(super) fn at(&self) -> u64 {
        HEADER_LEN as u64 + self.decoding.consumed()
    }
}
