//! Decoding a whole file by its index, in parts, without trusting the index.
//!
//! The index states where a part begins, and the contents before it to which deflate data may refer. [`PartDecoder`]s
//! decode the parts by themselves, in any order. A [`Chain`] then compares each part, in the order of the file, with
//! the parts before it: it must begin at the bit at which the one before it ended, and the stated contents before it
//! must be the actual ones. A decoder that goes from the start of the file to its end therefore gives the same
//! contents.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use crc32fast::Hasher;
use libdeflater::Decompressor;

use super::decode::Decoder;
use super::error::Fault;
use super::mark::{MARK_LEN, Mark};
use super::scan::Scanner;
use super::split::{Piece, Splitter};
use super::{HEADER_LIMIT, Header, TRAILER_LEN, u32_at};
use crate::access::{Kind, Part};
use crate::damage::{Damage, Remedy};
use crate::inflate::{Inflate, Pause, WINDOW};

/// The number of bytes that are first read for a header. Most headers are shorter.
const GLANCE: usize = 512;

/// The largest number of headers and ends of empty members that are read between two parts.
const MOST_EMPTY: usize = 64;

/// The room behind the expected contents in bytes, so that surplus contents are noticed and the last ones are decoded
/// as quickly as all others.
const SLACK: usize = 1024;

/// The reason why a part was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The index is wrong, or the file is damaged.
    Wrong,
    /// The index may be right, but such a part can only be decoded from the start of the file, for example a member
    /// whose header states its size or that has marks.
    Unsupported,
}

/// A decoder of the parts of a gzip file that an index describes. It keeps its buffers, so use one per worker for many
/// parts.
pub struct PartDecoder {
    inflate: Inflate<u8>,
    decompressor: Decompressor,
    members: Decoder,
}

/// A part of a gzip file that was decoded with the stated contents before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedPart {
    kind: Kind,
    /// The bits of the file that were used.
    begin: u64,
    end: u64,
    /// For deflate blocks, the stated contents before them.
    window: Vec<u8>,
    /// Whether the deflate data of the member ends with this part.
    is_last: bool,
    crc32: u32,
}

impl PartDecoder {
    /// Creates a decoder.
    pub fn new() -> Self {
        PartDecoder { inflate: Inflate::new(), decompressor: Decompressor::new(), members: Decoder::new() }
    }

    /// Decodes the part whose bytes ([`Part::bytes`]) are given. Replaces the contents of `data` and uses its
    /// allocation. It takes as much memory as the stated size of the contents.
    ///
    /// # Errors
    ///
    /// If the bytes are no such part, if its description is wrong, or if such a part is not supported.
    pub fn decode_into(
        &mut self,
        part: &Part,
        bytes: &[u8],
        data: &mut Vec<u8>,
    ) -> Result<DecodedPart, Refusal> {
        data.clear();
        let mut decoded = match part.kind {
            Kind::GzipMembers => self.members(part, bytes, data)?,
            Kind::DeflateBlocks => self.blocks(part, bytes, data).ok_or(Refusal::Wrong)?,
            _ => return Err(Refusal::Wrong),
        };
        decoded.crc32 = libdeflater::crc32(data);
        let is_known = part.known.as_ref().is_none_or(|known| known.crc32 == decoded.crc32);
        if is_known && data.len() as u64 == part.len() { Ok(decoded) } else { Err(Refusal::Wrong) }
    }

    fn members(&mut self, part: &Part, bytes: &[u8], data: &mut Vec<u8>) -> Result<DecodedPart, Refusal> {
        let (mut member, limit) = (Vec::new(), part.len());
        let before = part.number.checked_sub(1).ok_or(Refusal::Wrong)?;
        let mut pieces = Splitter::with(Scanner::behind(before, part.bytes().start), bytes);
        while let Some(piece) = pieces.next().transpose().map_err(|error| match error.fault {
            // The last member states that another one follows. This is left to a decoder of the whole file.
            Fault::MissingMember => Refusal::Unsupported,
            _ => Refusal::Wrong,
        })? {
            match piece {
                Piece::Member(whole) => {
                    self.members.decode_into(&whole, &mut member).map_err(|_| Refusal::Wrong)?;
                    data.extend_from_slice(&member);
                }
                Piece::Data(more) => data.extend(more),
            }
            if data.len() as u64 > limit {
                return Err(Refusal::Wrong);
            }
        }
        if pieces.mistaken().is_some() {
            return Err(Refusal::Unsupported);
        }
        if bytes.is_empty() || !pieces.is_between() {
            return Err(Refusal::Wrong);
        }
        let (begin, end) = (part.bits.start, part.bits.end);
        let is_last = true;
        Ok(DecodedPart { kind: part.kind, begin, end, window: Vec::new(), is_last, crc32: 0 })
    }

    fn blocks(&mut self, part: &Part, bytes: &[u8], data: &mut Vec<u8>) -> Option<DecodedPart> {
        let known = part.known.as_ref()?;
        let mut window = Vec::new();
        if !known.window.is_empty() {
            window.resize(WINDOW, 0);
            let len = self.decompressor.deflate_decompress(&known.window, &mut window).ok()?;
            window.truncate(len);
        }
        let room = usize::try_from(part.len()).ok()?.checked_add(SLACK)?;
        data.try_reserve_exact(room).ok()?;
        data.resize(room, 0);
        let (first, len) = (part.bits.start % 8, part.bits.end.checked_sub(part.bits.start)?);
        self.inflate.begin_at(first as u32, &window);
        self.inflate.stop_at(first + len);
        let step = self.inflate.step(bytes, data).ok()?;
        let is_last = match step.pause {
            Pause::Block => false,
            Pause::Ended => true,
            Pause::Starved | Pause::Full => return None,
        };
        data.truncate(step.produced);
        let (begin, end) = (part.bits.start, part.bits.start - first + self.inflate.bit());
        (end == part.bits.end).then_some(DecodedPart {
            kind: part.kind,
            begin,
            end,
            window,
            is_last,
            crc32: 0,
        })
    }
}

/// Compares the parts of a file with each other, in order, from its start.
#[derive(Debug, Default)]
pub struct Chain {
    /// The bit of the file up to which all parts were accepted.
    at: u64,
    /// The member that continues behind the last part.
    inside: Option<Inside>,
    /// The number of parts that were given.
    parts: u64,
}

#[derive(Debug)]
struct Inside {
    /// The CRC-32 and the size of its contents so far.
    sum: Hasher,
    /// The last contents to which later data may refer.
    window: Vec<u8>,
}

impl Chain {
    /// Creates a chain for a file from its start.
    pub fn new() -> Self {
        Chain::default()
    }

    /// Accepts the next part and its contents, if a decoder that reads `file` from its start would give the same. It
    /// reads headers and trailers from `file`. Do not call it again after a refusal.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn take(
        &mut self,
        part: &DecodedPart,
        data: &[u8],
        file: &mut (impl Read + Seek),
    ) -> io::Result<Result<(), Refusal>> {
        self.parts += 1;
        // A part has contents, so blocks and members without contents may lie between parts.
        for _ in 0..MOST_EMPTY {
            match self.inside.take() {
                Some(inside) if part.kind == Kind::DeflateBlocks && part.begin == self.at => {
                    return self.take_blocks(inside, part, data, file);
                }
                None if part.kind == Kind::GzipMembers && part.begin == self.at => {
                    self.at = part.end;
                    return Ok(Ok(()));
                }
                Some(inside) => {
                    if let Err(refusal) = self.close(inside, file)? {
                        return Ok(Err(refusal));
                    }
                }
                None => {
                    let len = match header_len(file, self.at / 8)? {
                        Ok(len) => len,
                        Err(refusal) => return Ok(Err(refusal)),
                    };
                    self.at += 8 * len as u64;
                    self.inside = Some(Inside { sum: Hasher::new(), window: Vec::new() });
                }
            }
        }
        Ok(Err(Refusal::Unsupported))
    }

    /// Accepts a part of a member that begins at the right place.
    fn take_blocks(
        &mut self,
        mut inside: Inside,
        part: &DecodedPart,
        data: &[u8],
        file: &mut (impl Read + Seek),
    ) -> io::Result<Result<(), Refusal>> {
        if part.window != inside.window {
            return Ok(Err(Refusal::Wrong));
        }
        inside.sum.combine(&Hasher::new_with_initial_len(part.crc32, data.len() as u64));
        self.at = part.end;
        if part.is_last {
            return self.check(&inside, file);
        }
        keep_last(&mut inside.window, data);
        self.inside = Some(inside);
        Ok(Ok(()))
    }

    /// Ends a member, if its remaining blocks have no contents and its trailer is right.
    fn close(&mut self, inside: Inside, file: &mut (impl Read + Seek)) -> io::Result<Result<(), Refusal>> {
        let mut rest = Vec::new();
        file.seek(SeekFrom::Start(self.at / 8))?;
        file.take(GLANCE as u64).read_to_end(&mut rest)?;
        let mut inflate = Inflate::new();
        inflate.begin_at((self.at % 8) as u32, &inside.window);
        match inflate.step(&rest, &mut [0]) {
            Ok(step) if (step.pause, step.produced) == (Pause::Ended, 0) => {
                self.at = self.at / 8 * 8 + inflate.bit();
                self.check(&inside, file)
            }
            // There are more blocks without contents than this looks at.
            Ok(step) if (step.pause, step.produced) == (Pause::Starved, 0) && rest.len() == GLANCE => {
                Ok(Err(Refusal::Unsupported))
            }
            _ => Ok(Err(Refusal::Wrong)),
        }
    }

    /// Verifies a member whose data has ended against its trailer.
    fn check(&mut self, inside: &Inside, file: &mut (impl Read + Seek)) -> io::Result<Result<(), Refusal>> {
        let mut trailer = Vec::new();
        file.seek(SeekFrom::Start(self.at / 8))?;
        file.take(TRAILER_LEN as u64).read_to_end(&mut trailer)?;
        self.at += 8 * TRAILER_LEN as u64;
        let sums = (inside.sum.clone().finalize(), inside.sum.total_len() as u32);
        let is_right = trailer.len() == TRAILER_LEN && (u32_at(&trailer, 0), u32_at(&trailer, 4)) == sums;
        Ok(if is_right { Ok(()) } else { Err(Refusal::Wrong) })
    }

    /// Ends the chain after all parts. Returns the offset in `file` of the bytes behind the last member, if they are
    /// not only padding, and otherwise `None`. Refuses if the parts do not cover the whole file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn finish(mut self, file: &mut (impl Read + Seek)) -> io::Result<Result<Option<u64>, Refusal>> {
        let ended = match self.inside.take() {
            Some(inside) => self.close(inside, file)?,
            None if self.parts > 0 => Ok(()),
            None => Err(Refusal::Wrong),
        };
        if let Err(refusal) = ended {
            return Ok(Err(refusal));
        }
        file.seek(SeekFrom::Start(self.at / 8))?;
        let rest = Splitter::with(Scanner::behind(self.parts, self.at / 8), file).next();
        Ok(match rest {
            None => Ok(None),
            Some(Err(error)) if error.remedy() == Remedy::Ignore => Ok(Some(error.offset)),
            // An empty member that states its size, as the last one of BGZF does, is no part.
            Some(Ok(Piece::Member(member))) if member.uncompressed_len() == 0 => Err(Refusal::Unsupported),
            // The caller looks for more members there, and reports damage.
            Some(_) => Err(Refusal::Wrong),
        })
    }
}

/// Returns the size of the header at byte `offset` of `file`, if there is one and its member is decoded as a stream.
fn header_len(file: &mut (impl Read + Seek), offset: u64) -> io::Result<Result<usize, Refusal>> {
    for limit in [GLANCE, HEADER_LIMIT] {
        let mut start = Vec::new();
        file.seek(SeekFrom::Start(offset))?;
        file.take((limit + MARK_LEN) as u64).read_to_end(&mut start)?;
        match Header::parse(&start) {
            Ok(Some((header, len))) => {
                let is_marked = Mark::parse(&start[len..]).is_some();
                let is_stream = header.extent().is_none() && !is_marked;
                return Ok(if is_stream { Ok(len) } else { Err(Refusal::Unsupported) });
            }
            Ok(None) => {}
            Err(_) => return Ok(Err(Refusal::Wrong)),
        }
    }
    Ok(Err(Refusal::Wrong))
}

/// Appends `data` to a window, and drops all but the last [`WINDOW`] bytes.
fn keep_last(window: &mut Vec<u8>, data: &[u8]) {
    let data = &data[data.len().saturating_sub(WINDOW)..];
    let kept = (WINDOW - data.len()).min(window.len());
    window.drain(..window.len() - kept);
    window.extend_from_slice(data);
}

impl Default for PartDecoder {
    fn default() -> Self {
        PartDecoder::new()
    }
}

impl fmt::Debug for PartDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartDecoder").finish_non_exhaustive()
    }
}
