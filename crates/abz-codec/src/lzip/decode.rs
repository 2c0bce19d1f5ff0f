//! Decoding of whole members.

use std::fmt;

use crc32fast::hash as crc32;

use super::error::{DecodeError, Fault};
use super::flushed::{Flushed, Step};
use super::header::{Trailer, filters};
use super::{HEADER_LEN, TRAILER_LEN};
use crate::damage::Place;
use crate::lzma::{Decoding, Obstacle};
use crate::memory::make_exact_room;

/// A whole member, still compressed. [`Decoder::decode_into`] decodes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The number of the member, counted from 1.
    pub(super) number: u64,
    /// The offset of the first byte in the file.
    pub(super) start: u64,
    pub(super) dictionary: u32,
    /// The header, the LZMA data, and a trailer that states the right size of the member.
    pub(super) bytes: Vec<u8>,
}

impl Member {
    /// Returns the number of the member in its file, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the offset of the member's first byte in the compressed file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the bytes of the member: header, LZMA data and trailer.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn trailer(&self) -> Trailer {
        Trailer::read(self.bytes.last_chunk().expect("a member has a trailer"))
    }

    fn fault(&self, at: u64, fault: Fault) -> DecodeError {
        let place = Place::Member { number: self.number, start: self.start };
        DecodeError::new(place, self.start + at, fault)
    }
}

/// A decoder of whole [`Member`]s, which verifies them.
#[derive(Default)]
pub struct Decoder(());

impl Decoder {
    /// Creates a decoder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes a member. Replaces the contents of `data` and uses its allocation.
    ///
    /// # Errors
    ///
    /// If the member is damaged. `data` is empty then.
    pub fn decode_into(&mut self, member: &Member, data: &mut Vec<u8>) -> Result<(), DecodeError> {
        decode(member, data).map_err(|(at, fault)| {
            data.clear();
            member.fault(at, fault)
        })
    }
}

fn decode(member: &Member, data: &mut Vec<u8>) -> Result<(), (u64, Fault)> {
    let library = Lzma::new(member.dictionary).map_err(|fault| (HEADER_LEN as u64, fault))?;
    match decode_with(library, member, data)? {
        End::Right => Ok(()),
        // The end that liblzma has seen may be a sync flush marker.
        End::Early => decode_with(Lzma::flushed(member.dictionary), member, data).map(drop),
    }
}

/// The place at which the data of a member has ended.
enum End {
    Right,
    /// Before the trailer. Nothing else was checked.
    Early,
}

fn decode_with(mut lzma: Lzma, member: &Member, data: &mut Vec<u8>) -> Result<End, (u64, Fault)> {
    let trailer = member.trailer();
    let trailer_at = (member.bytes.len() - TRAILER_LEN) as u64;
    let mut input = &member.bytes[HEADER_LEN..member.bytes.len() - TRAILER_LEN];
    let len = usize::try_from(trailer.data_size).expect("the scanner has looked at it");
    make_exact_room(data, len).map_err(|fault| (0, fault.into()))?;
    data.resize(len, 0);
    let mut filled = 0;
    // Receives the contents beyond the size in the trailer, which are only counted.
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
    if !input.is_empty() && !lzma.knows_flushes() {
        return Ok(End::Early);
    }
    let member_size = lzma.at() + TRAILER_LEN as u64;
    let found = Trailer { checksum: crc32(&data[..filled]), data_size, member_size };
    // If the size is wrong, the checksum gives no further information.
    let sizes = Trailer { checksum: found.checksum, ..trailer };
    let checked = sizes.check(found).and_then(|()| trailer.check(found));
    checked.map(|()| End::Right).map_err(|(at, fault)| (trailer_at + at, fault))
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

/// A decoder of the LZMA data of one member, step by step.
pub(super) enum Lzma {
    /// liblzma. It is faster, and takes a sync flush marker for the end.
    Library {
        decoding: Decoding,
        /// Whether the first byte has come.
        has_begun: bool,
    },
    Flushed(Flushed),
}

impl Lzma {
    /// Creates a decoder of data without sync flush markers.
    pub(super) fn new(dictionary: u32) -> Result<Self, Fault> {
        match Decoding::new(&filters(dictionary)) {
            Ok(decoding) => Ok(Lzma::Library { decoding, has_begun: false }),
            Err(Obstacle::Memory) => Err(Fault::Memory { dictionary }),
            Err(Obstacle::Damage) => unreachable!("the settings were checked"),
        }
    }

    /// Creates a decoder of any data.
    pub(super) fn flushed(dictionary: u32) -> Self {
        Lzma::Flushed(Flushed::new(dictionary))
    }

    /// Returns whether it continues behind sync flush markers.
    pub(super) fn knows_flushes(&self) -> bool {
        matches!(self, Lzma::Flushed(_))
    }

    /// Decodes as much of `input` as fits into `output`, and removes the processed bytes from the front of `input`.
    pub(super) fn step(&mut self, input: &mut &[u8], output: &mut [u8]) -> Result<Step, Fault> {
        let (decoding, has_begun) = match self {
            Lzma::Library { decoding, has_begun } => (decoding, has_begun),
            Lzma::Flushed(flushed) => return flushed.step(input, output),
        };
        // lzip ignores the first byte, which is zero except in files that were marked on purpose. liblzma rejects other
        // values.
        let given = match input {
            [_, ..] if !*has_begun => {
                *has_begun = true;
                &[0]
            }
            _ => *input,
        };
        let step = decoding.step(given, output).map_err(|_| Fault::Lzma)?;
        *input = &input[step.consumed..];
        Ok(Step { produced: step.produced, ended: step.ended })
    }

    /// Returns whether there may be more output without more input.
    pub(super) fn has_more(&self) -> bool {
        match self {
            Lzma::Library { .. } => false,
            Lzma::Flushed(flushed) => flushed.has_more(),
        }
    }

    /// Returns the number of bytes that were decoded.
    pub(super) fn produced(&self) -> u64 {
        match self {
            Lzma::Library { decoding, .. } => decoding.produced(),
            Lzma::Flushed(flushed) => flushed.produced(),
        }
    }

    /// Returns the number of bytes of the member that have been used, with its header.
    pub(super) fn at(&self) -> u64 {
        HEADER_LEN as u64
            + match self {
                Lzma::Library { decoding, .. } => decoding.consumed(),
                Lzma::Flushed(flushed) => flushed.consumed(),
            }
    }
}
