//! A whole file decoded by its index, in parts, without any trust in the index.
//!
//! A part says where it begins, and what comes before it, as far as deflate may refer to that. Each part is decoded by itself
//! with that, in any order ([`PartDecoder`]). Then each of them, in the order of the file, is held against those before it
//! ([`Chain`]): it has to begin at the bit at which the one before it ended, and what was said to come before it has to be what
//! did. So a decoder that goes from the start of the file to its end does the same, and comes to the same contents.

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
use crate::inflate::{Inflate, Pause, WINDOW};

/// How many bytes are looked at first for a header: most are shorter.
const GLANCE: usize = 512;

/// The most headers and ends of members without contents that are looked at between two parts.
const MOST_EMPTY: usize = 64;

/// More than the contents that there should be, so that too many are noticed, and the last ones are decoded as quickly as
/// all others.
const SLACK: usize = 1024;

/// Why a part is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The index is wrong, or the file is damaged.
    Wrong,
    /// The index may be right, but such a part can only be decoded from the start of the file. An example is a member whose
    /// header tells its size or its blocks.
    Unsupported,
}

/// Decodes parts of a file of gzip that an index tells of. It has what a worker uses again and again.
pub struct PartDecoder {
    inflate: Inflate<u8>,
    decompressor: Decompressor,
    members: Decoder,
}

/// A part of a file of gzip, decoded with what was said to come before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedPart {
    kind: Kind,
    /// The bits of the file that were used.
    begin: u64,
    end: u64,
    /// Of deflate blocks, what was said to come before them.
    window: Vec<u8>,
    /// The deflate data of the member has ended.
    is_last: bool,
    crc32: u32,
}

impl PartDecoder {
    /// A decoder.
    pub fn new() -> Self {
        PartDecoder { inflate: Inflate::new(), decompressor: Decompressor::new(), members: Decoder::new() }
    }

    /// Decodes a part of which these are the bytes ([`Part::bytes`]) into the allocation of `data`, whose contents are dropped.
    /// It takes as much memory as the part says that it has contents.
    ///
    /// # Errors
    ///
    /// If that is no such part, what was said of it is wrong, or it is not decoded in this way.
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
            // The last one says that another one follows, which is for those to see who come to it.
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

/// Holds the parts of a file against each other, in order, from its start.
#[derive(Debug, Default)]
pub struct Chain {
    /// The bit of the file up to which all is right.
    at: u64,
    /// The member of whose deflate data there is more.
    inside: Option<Inside>,
    /// How many parts there were.
    parts: u64,
}

#[derive(Debug)]
struct Inside {
    /// Of its contents.
    sum: Hasher,
    /// The last of them, as far as others may refer to them.
    window: Vec<u8>,
}

impl Chain {
    /// No part was seen yet.
    pub fn new() -> Self {
        Chain::default()
    }

    /// Takes the next part and its contents, if both are what one comes to who decodes `file` from its start. Headers and
    /// trailers are read from there. After a refusal there is nothing to be taken.
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
        // A part has contents, and so there may be blocks and members between parts that have none.
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

    /// Takes a piece of a member that begins where it should.
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

    /// Ends a member whose blocks that are left have no contents, if that is so, and its trailer is right.
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
            // More blocks without contents than are looked at.
            Ok(step) if (step.pause, step.produced) == (Pause::Starved, 0) && rest.len() == GLANCE => {
                Ok(Err(Refusal::Unsupported))
            }
            _ => Ok(Err(Refusal::Wrong)),
        }
    }

    /// Holds a member whose data has ended against its trailer.
    fn check(&mut self, inside: &Inside, file: &mut (impl Read + Seek)) -> io::Result<Result<(), Refusal>> {
        let mut trailer = Vec::new();
        file.seek(SeekFrom::Start(self.at / 8))?;
        file.take(TRAILER_LEN as u64).read_to_end(&mut trailer)?;
        self.at += 8 * TRAILER_LEN as u64;
        let sums = (inside.sum.clone().finalize(), inside.sum.total_len() as u32);
        let is_right = trailer.len() == TRAILER_LEN && (u32_at(&trailer, 0), u32_at(&trailer, 4)) == sums;
        Ok(if is_right { Ok(()) } else { Err(Refusal::Wrong) })
    }

    /// All parts were taken. The offset in `file` of what lies behind the last member, where that is no padding; `None` if
    /// there is nothing but that. A refusal if the parts are not all of the file.
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
            Some(Err(error)) if matches!(error.fault, Fault::TrailingGarbage) => Ok(Some(error.offset)),
            // One that says how large it is, as the last one of BGZF, is no part if it is empty.
            Some(Ok(Piece::Member(member))) if member.uncompressed_len() == 0 => Err(Refusal::Unsupported),
            // The caller looks for more members there, and tells of damage.
            Some(_) => Err(Refusal::Wrong),
        })
    }
}

/// The size of the header at a byte of `file`, if there is one, and its member is decoded as a stream.
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
