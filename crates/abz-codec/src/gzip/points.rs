//! Places in the middle of a gzip file where decoding can begin.

use std::io::{self, Read};
use std::mem;

use libdeflater::{CompressionLvl, Compressor, Crc};
use memchr::memchr_iter;

use super::error::{DecodeError, Fault, Part as Place};
use super::header::MAGIC;
use super::sums::Sums;
use super::{HEADER_LIMIT, Header, TRAILER_LEN};
use crate::access::{Kind, Known, Part};
use crate::inflate::{Inflate, Pause};

/// How much is read at once, in bytes: more than any header has.
const INPUT: usize = 2 * HEADER_LIMIT;

/// How much is decoded at once, in bytes.
const OUTPUT: usize = 256 << 10;

/// Finds the parts of a gzip file by decoding it: pieces of members, which begin where a block does, and groups of whole
/// members. A part has `spacing` bytes of contents, and some more, up to the end of a block or a member; a group has so
/// many bytes of either kind. All checksums are verified. It ends where no member follows.
///
/// # Errors
///
/// As a [`Reader`](super::Reader), but that nothing is wrong with garbage behind the last member.
pub fn find_parts(reader: impl Read, spacing: u64) -> Result<Found, DecodeError> {
    let mut surveyor = Surveyor::new(reader, spacing.max(1));
    while surveyor.member()? {}
    if let Some(crc) = surveyor.group.as_ref().map(|group| group.crc.sum()) {
        surveyor.end_group(surveyor.start, surveyor.contents, crc);
    }
    Ok(Found { parts: surveyor.parts, contents: surveyor.contents, lines: surveyor.lines })
}

/// What is in a file, from [`find_parts`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Its parts, in order, with all that is known of them.
    pub parts: Vec<Part>,
    /// The size of its contents in bytes.
    pub contents: u64,
    /// The line feeds in them.
    pub lines: u64,
}

/// A part that has begun.
struct Begun {
    number: u64,
    bit: u64,
    contents: u64,
    lines: u64,
    crc: Crc,
    /// Compressed.
    window: Vec<u8>,
}

struct Surveyor<R> {
    reader: R,
    spacing: u64,
    /// What was read and not yet used lies in `input` at `begin..end`, and at `offset` in the file.
    input: Vec<u8>,
    begin: usize,
    end: usize,
    offset: u64,
    is_over: bool,
    output: Vec<u8>,
    inflate: Inflate<u8>,
    compressor: Compressor,
    /// The member, counted from 1, and its first byte.
    number: u64,
    start: u64,
    /// It says that another one follows.
    expects_more: bool,
    /// How many bytes of contents there were so far, and line feeds in them.
    contents: u64,
    lines: u64,
    /// The members that wait for more of them to be a part, with what came of this one.
    group: Option<Begun>,
    parts: Vec<Part>,
}

impl<R: Read> Surveyor<R> {
    fn new(reader: R, spacing: u64) -> Self {
        Surveyor {
            reader,
            spacing,
            input: vec![0; INPUT],
            begin: 0,
            end: 0,
            offset: 0,
            is_over: false,
            output: vec![0; OUTPUT],
            inflate: Inflate::new(),
            compressor: Compressor::new(CompressionLvl::default()),
            number: 0,
            start: 0,
            expects_more: false,
            contents: 0,
            lines: 0,
            group: None,
            parts: Vec::new(),
        }
    }

    /// Goes through the next member; false if there is none.
    fn member(&mut self) -> Result<bool, DecodeError> {
        self.start = self.offset;
        let begins = self.hold(MAGIC.len())? == MAGIC;
        if self.number > 0 && !begins {
            return if self.expects_more { Err(self.fault(Fault::MissingMember)) } else { Ok(false) };
        }
        self.number += 1;
        let header = match Header::parse(self.hold(HEADER_LIMIT)?) {
            Ok(Some((header, len))) => {
                self.take(len);
                header
            }
            Ok(None) => return Err(self.cut_short(Place::Header)),
            Err(error) => return Err(self.fault(Fault::Header(error))),
        };
        if self.group.is_none() {
            self.group = Some(self.begin(8 * self.start, Vec::new()));
        }
        let sums = self.data()?;
        let Some(&trailer) = self.hold(TRAILER_LEN)?.first_chunk() else {
            return Err(self.cut_short(Place::Trailer));
        };
        if let Err((at, fault)) = sums.check(trailer) {
            self.offset += at;
            return Err(self.fault(fault));
        }
        self.take(TRAILER_LEN);
        // A size that is not that of the member is none.
        let extent =
            header.extent().filter(|extent| u64::from(extent.compressed) == self.offset - self.start);
        self.expects_more = extent.is_some_and(|extent| extent.more);
        if let Some(group) = &self.group
            && (self.contents - group.contents).max(self.offset - group.bit / 8) >= self.spacing
        {
            let crc = group.crc.sum();
            self.end_group(self.offset, self.contents, crc);
        }
        Ok(true)
    }

    /// Decodes the deflate data of a member, and gives the sums of its contents. If a piece of it became a part, there is
    /// no group.
    fn data(&mut self) -> Result<Sums, DecodeError> {
        let mut sums = Sums::new();
        let mut piece = self.begin(8 * self.offset, Vec::new());
        // Of the members before it.
        let before = self.group.as_ref().map_or(0, |group| group.crc.sum());
        self.inflate.reset();
        self.inflate.stop_at(1);
        let begin = self.offset;
        loop {
            if self.begin == self.end && !self.is_over {
                self.read()?;
            }
            let step = self.inflate.step(&self.input[self.begin..self.end], &mut self.output);
            let Ok(step) = step else {
                self.offset = begin + self.inflate.consumed();
                return Err(self.fault(Fault::Deflate));
            };
            self.take(step.consumed);
            let data = &self.output[..step.produced];
            sums.add(data);
            piece.crc.update(data);
            if let Some(group) = &mut self.group {
                group.crc.update(data);
            }
            self.contents += step.produced as u64;
            self.lines += memchr_iter(b'\n', data).count() as u64;
            match step.pause {
                Pause::Ended => {
                    if self.group.is_none() {
                        let crc = piece.crc.sum();
                        self.end(Kind::DeflateBlocks, piece, 8 * self.offset, self.contents, crc);
                    }
                    return Ok(sums);
                }
                Pause::Block if self.contents - piece.contents >= self.spacing => {
                    self.end_group(self.start, piece.contents, before);
                    let bit = 8 * begin + self.inflate.bit();
                    let window = self.window();
                    let next = self.begin(bit, window);
                    let piece = mem::replace(&mut piece, next);
                    let crc = piece.crc.sum();
                    self.end(Kind::DeflateBlocks, piece, bit, self.contents, crc);
                }
                Pause::Starved if self.is_over => return Err(self.cut_short(Place::Data)),
                Pause::Starved | Pause::Block | Pause::Full => {}
            }
        }
    }

    /// A part that begins at a bit of the file, and with the next contents.
    fn begin(&self, bit: u64, window: Vec<u8>) -> Begun {
        let Surveyor { number, contents, lines, .. } = *self;
        Begun { number, bit, contents, lines, crc: Crc::new(), window }
    }

    /// Ends a part whose last bit and whose contents lie before these, and whose contents have this checksum.
    fn end(&mut self, kind: Kind, begun: Begun, bit: u64, contents: u64, crc32: u32) {
        if contents > begun.contents {
            let known = Known { lines: begun.lines, crc32, window: begun.window };
            self.parts.push(Part {
                kind,
                number: begun.number,
                bits: begun.bit..bit,
                contents: begun.contents..contents,
                known: Some(Box::new(known)),
            });
        }
    }

    /// Ends the group before a byte of the file, if there is one.
    fn end_group(&mut self, offset: u64, contents: u64, crc32: u32) {
        if let Some(group) = self.group.take() {
            self.end(Kind::GzipMembers, group, 8 * offset, contents, crc32);
        }
    }

    /// The last contents, as far as deflate may refer to them, compressed.
    fn window(&mut self) -> Vec<u8> {
        let window = self.inflate.window();
        let mut packed = vec![0; self.compressor.deflate_compress_bound(window.len())];
        let len = self.compressor.deflate_compress(window, &mut packed).expect("there is room for the worst");
        packed.truncate(len);
        packed
    }

    /// The next bytes of the file: so many, or as many as there are.
    fn hold(&mut self, wanted: usize) -> Result<&[u8], DecodeError> {
        while self.end - self.begin < wanted && !self.is_over {
            self.read()?;
        }
        Ok(&self.input[self.begin..self.end.min(self.begin + wanted)])
    }

    /// These are done with.
    fn take(&mut self, len: usize) {
        self.begin += len;
        self.offset += len as u64;
    }

    /// Reads on.
    fn read(&mut self) -> Result<(), DecodeError> {
        self.input.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        loop {
            match self.reader.read(&mut self.input[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.fault(Fault::Io(error))),
                Ok(read) => {
                    self.end += read;
                    self.is_over = read == 0;
                    return Ok(());
                }
            }
        }
    }

    /// The file ends inside of a member.
    fn cut_short(&mut self, inside: Place) -> DecodeError {
        self.offset += (self.end - self.begin) as u64;
        self.fault(Fault::Truncated { inside })
    }

    fn fault(&self, fault: Fault) -> DecodeError {
        DecodeError { member: self.number, start: self.start, offset: self.offset, fault }
    }
}
