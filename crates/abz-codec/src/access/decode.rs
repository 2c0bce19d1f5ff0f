//! Decoding of parts.

use std::fmt;

use crc32fast::hash as crc32;
#[cfg(feature = "gzip")]
use libdeflater::Decompressor;
use thiserror::Error;

use super::{Kind, Part};
#[cfg(feature = "bzip2")]
use crate::bzip2;
use crate::damage::{Damage, Remedy};
#[cfg(feature = "gzip")]
use crate::gzip;
use crate::parts::{self, Scan, Scanned};
#[cfg(feature = "zstd")]
use crate::zstd;
#[cfg(feature = "lzma")]
use crate::{lzip, xz};

/// The error of a part that could not be decoded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The part breaks the rules of its format.
    #[error("{0}")]
    Damaged(Box<dyn Damage>),
    /// The contents have another size than stated: the statement is wrong, or the part is damaged.
    #[error("at byte {offset}: expected {expected} bytes of contents, found {found}")]
    Size {
        /// The offset of the part's first byte in the file.
        offset: u64,
        /// The size of the contents that was stated, in bytes.
        expected: u64,
        /// The size of the contents in bytes. If there are too many, a number above `expected` that may be too low.
        found: u64,
    },
    /// The deflate blocks are damaged, or do not have the stated contents.
    #[error("at byte {offset}: expected deflate blocks with {expected} bytes of contents, found others")]
    Blocks {
        /// The offset of the first byte of the blocks in the file.
        offset: u64,
        /// The size of the contents that was stated, in bytes.
        expected: u64,
    },
    /// The contents are not those that the part had when it was indexed.
    #[error("at byte {offset}: expected contents with the CRC-32 {expected:08x}, found {found:08x}")]
    Checksum {
        /// The offset of the part's first byte in the file.
        offset: u64,
        /// The CRC-32 that was stated.
        expected: u32,
        /// The CRC-32 of the decoded contents.
        found: u32,
    },
    /// The part is of a format that was left out of this build.
    #[error("at byte {offset}: expected a part of a format in this build, found {kind:?}")]
    LeftOut {
        /// The offset of the part's first byte in the file.
        offset: u64,
        /// The kind of the part.
        kind: Kind,
    },
}

impl DecodeError {
    fn of(damage: impl Damage) -> Self {
        DecodeError::Damaged(Box::new(damage))
    }
}

impl Damage for DecodeError {
    fn offset(&self) -> u64 {
        match self {
            DecodeError::Damaged(damage) => damage.offset(),
            DecodeError::Size { offset, .. }
            | DecodeError::Blocks { offset, .. }
            | DecodeError::Checksum { offset, .. }
            | DecodeError::LeftOut { offset, .. } => *offset,
        }
    }

    fn remedy(&self) -> Remedy {
        match self {
            DecodeError::Damaged(damage) => damage.remedy(),
            DecodeError::LeftOut { .. } => Remedy::AnotherProgram,
            _ => Remedy::RightPlace,
        }
    }
}

/// A decoder of parts, which verifies them. It keeps its tables, so use one per worker for many parts.
#[derive(Default)]
pub struct Decoder {
    #[cfg(feature = "gzip")]
    gzip: Option<gzip::Decoder>,
    #[cfg(feature = "gzip")]
    deflate: Option<Decompressor>,
    /// The contents of a member that is not the first of its part, or a window and the deflate blocks behind it.
    #[cfg(feature = "gzip")]
    spare: Vec<u8>,
    #[cfg(feature = "bzip2")]
    bzip2: bzip2::Decoder,
    #[cfg(feature = "zstd")]
    decoding: zstd::Decoding,
    #[cfg(feature = "zstd")]
    zstd: Option<zstd::Decoder>,
}

impl Decoder {
    /// Creates a decoder that reads frames of zstd with the limits and the dictionary of `decoding`.
    #[cfg(feature = "zstd")]
    pub fn new(decoding: &zstd::Decoding) -> Self {
        Decoder { decoding: decoding.clone(), ..Decoder::default() }
    }

    /// Decodes the part whose bytes ([`Part::bytes`]) are given. Replaces the contents of `data` and uses its
    /// allocation. It takes as much memory as the stated size of the contents.
    ///
    /// # Errors
    ///
    /// If the part is damaged, or differs from its description. The contents of `data` are of no use then.
    pub fn decode_into(&mut self, part: &Part, bytes: &[u8], data: &mut Vec<u8>) -> Result<(), DecodeError> {
        self.decode_at_most_into(part, bytes, data)?;
        let offset = part.bytes().start;
        let (expected, found) = (part.len(), data.len() as u64);
        if expected != found {
            return Err(DecodeError::Size { offset, expected, found });
        }
        if let Some(expected) = part.known.as_ref().map(|known| known.crc32) {
            let found = crc32(data);
            if expected != found {
                return Err(DecodeError::Checksum { offset, expected, found });
            }
        }
        Ok(())
    }

    /// Decodes a part like [`decode_into`](Decoder::decode_into), but allows fewer contents than stated, such as those
    /// of [`zstd::frames`].
    ///
    /// # Errors
    ///
    /// If the part is damaged, or has more contents than stated.
    pub fn decode_at_most_into(
        &mut self,
        part: &Part,
        bytes: &[u8],
        data: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        data.clear();
        let before = part.number.saturating_sub(1);
        let offset = part.bytes().start;
        match part.kind {
            #[cfg(feature = "gzip")]
            Kind::GzipMembers => {
                self.gzip(gzip::Scanner::at(before, offset), part, bytes, data).map_err(DecodeError::of)?;
            }
            #[cfg(feature = "gzip")]
            Kind::DeflateBlocks => self.deflate(part, bytes, data)?,
            #[cfg(feature = "bzip2")]
            Kind::Bzip2Block { stream } => {
                let decoded = self.bzip2.decode_block((stream, part.number), part.bits.clone(), bytes, data);
                decoded.map_err(DecodeError::of)?;
            }
            #[cfg(feature = "lzma")]
            Kind::LzipMember => {
                let mut decode = |late_flushes| {
                    data.clear();
                    let strictness = lzip::Strictness { late_flushes, ..lzip::Strictness::default() };
                    let scanner = lzip::Scanner::new(strictness).at(before, offset);
                    scan(scanner, &mut lzip::Decoder::new(), part, bytes, data)
                };
                match decode(false) {
                    Err(error) if error.remedy() == Remedy::RegularFile => decode(true)?,
                    done => done?,
                }
            }
            #[cfg(feature = "lzma")]
            Kind::XzBlock { check, stream } => {
                let scanner = xz::Scanner::new().at(check, stream, before, offset);
                scan(scanner, &mut xz::Decoder::new(), part, bytes, data)?;
            }
            #[cfg(feature = "zstd")]
            Kind::ZstdFrame => {
                let scanner = zstd::Scanner::at(&self.decoding, before, offset);
                let decoder = self.zstd.get_or_insert_with(|| scanner.decoder());
                scan(scanner, decoder, part, bytes, data)?;
            }
            #[cfg(feature = "zstd")]
            Kind::ZstdPiece => {
                let decoder = self.zstd.get_or_insert_with(|| zstd::Decoder::new(&self.decoding));
                let piece = zstd::piece(bytes, part.number, offset);
                let piece = piece.ok_or(DecodeError::Size { offset, expected: part.len(), found: 0 })?;
                let piece = piece.map_err(DecodeError::of)?;
                decoder.decode_into(&piece, data).map_err(DecodeError::of)?;
            }
            #[allow(unreachable_patterns)] // unless a format is left out
            kind => return Err(DecodeError::LeftOut { offset, kind }),
        }
        let (expected, found) = (part.len(), data.len() as u64);
        if found > expected {
            return Err(DecodeError::Size { offset, expected, found });
        }
        Ok(())
    }
}

#[cfg(feature = "gzip")]
impl Decoder {
    fn gzip(
        &mut self,
        scanner: gzip::Scanner,
        part: &Part,
        bytes: &[u8],
        data: &mut Vec<u8>,
    ) -> Result<(), gzip::DecodeError> {
        let decoder = self.gzip.get_or_insert_default();
        for piece in gzip::Splitter::with(scanner, bytes) {
            match piece {
                Ok(gzip::Piece::Member(member)) if data.is_empty() => decoder.decode_into(&member, data)?,
                Ok(gzip::Piece::Member(member)) => {
                    decoder.decode_into(&member, &mut self.spare)?;
                    data.extend_from_slice(&self.spare);
                }
                Ok(gzip::Piece::Data(more)) => data.extend(more),
                // Another member exists in the file, but not in this part.
                Err(error) if matches!(error.fault, gzip::Fault::MissingMember) => break,
                Err(error) => return Err(error),
            }
            if data.len() as u64 > part.len() {
                break;
            }
        }
        Ok(())
    }

    fn deflate(&mut self, part: &Part, bytes: &[u8], data: &mut Vec<u8>) -> Result<(), DecodeError> {
        let decompressor = self.deflate.get_or_insert_with(Decompressor::new);
        let window = part.known.as_ref().map_or(&[][..], |known| &known.window);
        let (first, expected) = (part.bits.start % 8, part.len());
        let last = first + (part.bits.end - part.bits.start);
        let is_right = match (usize::try_from(last), usize::try_from(expected)) {
            (Ok(last), Ok(len)) if bytes.len() >= last.div_ceil(8) => {
                let blocks = (bytes, first as usize..last);
                gzip::inflate_blocks(decompressor, window, blocks, len, (&mut self.spare, data))
            }
            _ => false,
        };
        let offset = part.bytes().start;
        if is_right { Ok(()) } else { Err(DecodeError::Blocks { offset, expected }) }
    }
}

/// Decodes all that `scanner` finds in the bytes of a part.
fn scan<S: Scan>(
    mut scanner: S,
    decoder: &mut S::Decoder,
    part: &Part,
    mut bytes: &[u8],
    data: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let mut chunk = Vec::with_capacity(parts::CHUNK);
    while data.len() as u64 <= part.len() {
        let found = match scanner.next(&mut bytes, &mut chunk).map_err(DecodeError::of)? {
            // The end of a part that is not whole is an error.
            None if (data.len() as u64) < part.len() => {
                scanner.finish(&mut chunk).map_err(DecodeError::of)?
            }
            found => found,
        };
        match found {
            Some(Scanned::Whole(whole)) => S::decode_into(decoder, &whole, data).map_err(DecodeError::of)?,
            Some(Scanned::Data) => data.extend_from_slice(&chunk),
            None => break,
        }
    }
    Ok(())
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}
