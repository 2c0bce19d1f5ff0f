//! Decoding of whole members.

use std::fmt;

use libdeflater::{Decompressor, crc32};
use memchr::memmem;

use super::error::{DecodeError, Fault, Part};
use super::inflate::Inflater;
use super::mark::{MARK_LEN, Mark};
use super::member::{Member, SENTINEL};
use super::sums::Sums;
use super::{EMPTY_DEFLATE, Header, MAX_BLOCK, TRAILER_LEN, u32_at};
use crate::damage::Place;
use crate::memory::grow;

/// A decoder of whole [`Member`]s. It keeps its tables, so use one per worker for many members.
///
/// ```
/// # use abz_codec::{Block, gzip::{Decoder, Encoder, Piece, Splitter}};
/// # let block = Block { data: b"water".to_vec(), whole: true, ..Block::default() };
/// # let file = Encoder::new(6).encode(&block)?.bytes;
/// let mut decoder = Decoder::new();
/// let mut data = Vec::new(); // used again for each member
/// for piece in Splitter::new(&file[..]) {
///     if let Piece::Member(member) = piece? {
///         decoder.decode_into(&member, &mut data)?;
///         assert_eq!(data, b"water");
///     }
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Decoder {
    fast: Decompressor,
    /// Made for the first member that libdeflate does not decode without doubt.
    exact: Option<Inflater>,
}

impl Decoder {
    /// Creates a decoder.
    pub fn new() -> Self {
        Decoder { fast: Decompressor::new(), exact: None }
    }

    /// Returns the contents of a member, after its checksum and its sizes were verified.
    ///
    /// # Errors
    ///
    /// If the member is damaged, or does not end where its header states; see [`Fault`].
    pub fn decode(&mut self, member: &Member) -> Result<Vec<u8>, DecodeError> {
        let mut data = Vec::new();
        self.decode_into(member, &mut data)?;
        Ok(data)
    }

    /// As [`Decoder::decode`], but replaces the contents of `data` and uses its allocation.
    ///
    /// # Errors
    ///
    /// As [`Decoder::decode`]. `data` is empty then.
    pub fn decode_into(&mut self, member: &Member, data: &mut Vec<u8>) -> Result<(), DecodeError> {
        let (start, decoded) = match &member.block {
            Some((mark, at)) => (*at, self.block_into(member, mark, data)),
            None => (member.start, self.member_into(member, data)),
        };
        decoded.map_err(|(at, fault)| {
            data.clear();
            let place = Place::Member { number: member.number, start: member.start };
            DecodeError::new(place, start + at, fault)
        })
    }

    /// Decodes a file of a single member without marks that has at most [`MAX_BLOCK`] bytes of contents, in a fraction
    /// of the time that a [`Splitter`](super::Splitter) takes. Returns `false` for any other file and for a damaged
    /// one. `data` is of no use then, and a splitter decodes the file or finds the error.
    ///
    /// ```
    /// use abz_codec::gzip::Decoder;
    ///
    /// let hello = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
    /// let mut data = Vec::new();
    /// assert!(Decoder::new().decode_alone(hello, &mut data) && data == b"hello");
    /// assert!(!Decoder::new().decode_alone(&hello.repeat(2), &mut data));
    /// ```
    pub fn decode_alone(&mut self, file: &[u8], data: &mut Vec<u8>) -> bool {
        let Ok(Some((header, header_len))) = Header::parse(file) else { return false };
        if header.extent().is_some() || file.len() < header_len + EMPTY_DEFLATE.len() + TRAILER_LEN {
            return false;
        }
        let len = u32_at(file, file.len() - 4) as usize;
        if len > MAX_BLOCK || Mark::parse(&file[header_len..]).is_some() || grow(data, len).is_err() {
            return false;
        }
        data.truncate(len);
        self.fast(file, header_len, data)
    }

    /// Decodes a member. The offset of a fault is relative to the start of the member.
    fn member_into(&mut self, member: &Member, data: &mut Vec<u8>) -> Result<(), (u64, Fault)> {
        grow(data, member.uncompressed_len()).map_err(|fault| (0, fault.into()))?;
        data.truncate(member.uncompressed_len());
        if self.fast(&member.bytes, member.header_len, data) { Ok(()) } else { self.exact(member, data) }
    }

    /// Decodes a block and verifies it against its mark. The offset of a fault is relative to the start of the mark.
    fn block_into(&mut self, member: &Member, mark: &Mark, data: &mut Vec<u8>) -> Result<(), (u64, Fault)> {
        let len = mark.len as usize;
        grow(data, len + SENTINEL.len()).map_err(|fault| (0, fault.into()))?;
        data.truncate(len + SENTINEL.len());
        let found = self.fast.deflate_decompress(&member.bytes[MARK_LEN..], data);
        // If the deflate data ended elsewhere, or not at all, the contents of the tail would not be decoded.
        let is_whole = found == Ok(data.len()) && data.ends_with(&SENTINEL);
        data.truncate(len);
        if is_whole && crc32(data) == mark.crc32 {
            return Ok(());
        }
        let inflater = self.exact.get_or_insert_with(Inflater::new);
        inflater.reset();
        let mut input = &member.bytes()[MARK_LEN..];
        let mut chunk = [0; 4096];
        let mut sums = Sums::new();
        loop {
            let step = inflater.step(input, &mut chunk);
            let step = step.map_err(|fault| (MARK_LEN as u64 + inflater.consumed(), fault))?;
            sums.add(&chunk[..step.produced]);
            input = &input[step.consumed..];
            if step.ended || input.is_empty() && step.produced == 0 {
                let expected = mark.compressed.into();
                let found = inflater.consumed();
                // A block does not end the deflate stream: the next block continues it.
                if step.ended || found != expected {
                    return Err((MARK_LEN as u64 + found, Fault::BlockSize { expected, found }));
                }
                break;
            }
        }
        sums.check_mark(mark).map_err(|fault| (0, fault))?;
        // The contents are right, but the data does not end with the end of a block.
        let expected = mark.compressed.into();
        Err((mark.size() as u64, Fault::BlockSize { expected, found: expected + 1 }))
    }

    /// Decodes with libdeflate. Returns whether the result is right without doubt.
    ///
    /// libdeflate verifies the trailer that follows the deflate data, but does not report where it was. If the size in
    /// the header is wrong, that trailer may be another than the one at the member's end, and bytes between them would
    /// go unnoticed. That is impossible if the last trailer fits the data too and its bytes occur only once in the
    /// member.
    fn fast(&mut self, bytes: &[u8], header_len: usize, data: &mut [u8]) -> bool {
        let trailer = &bytes[bytes.len() - TRAILER_LEN..];
        let before_its_last_byte = &bytes[header_len..bytes.len() - 1];
        self.fast.gzip_decompress(bytes, data) == Ok(data.len())
            && u32_at(trailer, 0) == crc32(data)
            && memmem::find(before_its_last_byte, trailer).is_none()
    }

    /// Decodes step by step, to find the fault and its offset in the member.
    fn exact(&mut self, member: &Member, data: &mut [u8]) -> Result<(), (u64, Fault)> {
        let inflater = self.exact.get_or_insert_with(Inflater::new);
        inflater.reset();
        let header_len = member.header_len as u64;
        let mut input = &member.bytes[member.header_len..];
        let mut sums = Sums::new();
        let mut filled = 0;
        // Receives the contents beyond the size in the trailer, which are only counted.
        let mut excess = [0; 4096];
        loop {
            let output = if filled < data.len() { &mut data[filled..] } else { &mut excess[..] };
            let step = inflater.step(input, output);
            let step = step.map_err(|fault| (header_len + inflater.consumed(), fault))?;
            sums.add(&output[..step.produced]);
            input = &input[step.consumed..];
            filled += step.produced;
            if step.ended {
                break;
            }
            if input.is_empty() && step.produced == 0 {
                return Err((member.bytes.len() as u64, Fault::Truncated { inside: Part::Data }));
            }
        }
        let end = header_len + inflater.consumed();
        let found = end + TRAILER_LEN as u64;
        let expected = member.bytes.len() as u64;
        match input.first_chunk::<TRAILER_LEN>() {
            Some(&trailer) if found == expected => {
                sums.check(trailer).map_err(|(at, fault)| (end + at, fault))
            }
            _ => Err((end, Fault::MemberSize { expected, found })),
        }
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
