//! The places in the middle of a gzip file at which decoding can begin.

use std::fmt;
use std::io::{self, Read};
use std::mem;

use libdeflater::Crc;
use memchr::memchr_iter;

use super::error::{DecodeError, Fault};
use super::header::MAGIC;
use super::scan::{MAX_BGZF, Scanner};
use super::split::Splitter;
use super::sums::Sums;
use super::{Extent, HEADER_LIMIT, Header, TRAILER_LEN};
use crate::access::{Kind, Known, Part};
use crate::damage::{Damage, MemberPart, Place, Remedy};
use crate::inflate::{Inflate, Pause};
use crate::memory::NoMemory;
use crate::system::Compressor;

/// The size of the input buffer in bytes: more than any header has.
const INPUT: usize = 2 * HEADER_LIMIT;

/// The level at which windows are compressed.
const LEVEL: u32 = 6;

/// The number of bytes that are decoded at once.
const OUTPUT: usize = 256 << 10;

/// Finds the parts of a gzip file by decoding it: pieces of members, which begin with a block, and groups of whole
/// members. A piece ends with the first block that ends at least `spacing` bytes of contents behind its start; a group
/// ends with the first member behind which it has `spacing` bytes of contents or of the file. All checksums are
/// verified. The file ends where no member follows. A [`Finder`] gives the contents, too.
///
/// # Errors
///
/// As a [`Reader`](super::Reader), except that bytes behind the last member are no error.
pub fn find_parts(mut reader: impl Read, spacing: u64) -> Result<Found, DecodeError> {
    let (mut finder, mut data) = (Finder::new(spacing), Vec::new());
    loop {
        match finder.next_into(&mut reader, &mut data) {
            Ok(true) => {}
            Ok(false) => return Ok(finder.found()),
            Err(error) if error.remedy() == Remedy::Ignore => return Ok(finder.found()),
            Err(error) => return Err(error),
        }
    }
}

/// The parts of a file, from [`find_parts`] or a [`Finder`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The parts, in order, with all known facts.
    pub parts: Vec<Part>,
    /// The size of the contents in bytes.
    pub contents: u64,
    /// The number of line feeds in the contents.
    pub lines: u64,
    /// The number of the first member with a wrong size in its header; see [`Scanner::mistaken`].
    pub mistaken: Option<u64>,
}

/// A part whose end was not yet found.
struct Begun {
    number: u64,
    bit: u64,
    contents: u64,
    lines: u64,
    crc: Crc,
    /// The window, compressed.
    window: Vec<u8>,
}

/// A decoder of a gzip file from start to end that records the parts on the way.
///
/// ```
/// use abz_codec::gzip::Finder;
///
/// let hello = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
/// let (mut finder, mut data, mut text) = (Finder::new(1 << 20), Vec::new(), Vec::new());
/// while finder.next_into(&mut &hello[..], &mut data)? {
///     text.extend_from_slice(&data);
/// }
/// assert_eq!(text, b"hello");
/// assert_eq!(finder.found().parts.len(), 1);
/// # Ok::<(), abz_codec::gzip::DecodeError>(())
/// ```
pub struct Finder {
    spacing: u64,
    state: State,
    /// The bytes that were read and not yet used are `input[begin..end]`. They begin at `offset` in the file.
    input: Vec<u8>,
    begin: usize,
    end: usize,
    offset: u64,
    is_over: bool,
    inflate: Inflate<u8>,
    /// Compresses windows. Made for the first window.
    compressor: Option<Compressor>,
    /// The number of the current member, counted from 1, and the offset of its first byte.
    number: u64,
    start: u64,
    /// Set if the member states that another one follows.
    expects_more: bool,
    /// The number of the first member with a wrong size in its header. Sizes in headers are ignored from there on.
    mistaken: Option<u64>,
    /// The size of the contents so far in bytes, and the number of line feeds in them.
    contents: u64,
    lines: u64,
    /// The group of members that is not yet large enough to be a part.
    group: Option<Begun>,
    parts: Vec<Part>,
    /// The error that follows the contents returned last.
    error: Option<DecodeError>,
}

enum State {
    /// Between members, or at the start of the file.
    Between,
    /// In deflate data.
    Data(Box<Inside>),
    Ended,
}

/// The facts about the member whose deflate data is being decoded.
struct Inside {
    header: Header,
    sums: Sums,
    /// The offset of the deflate data in the file, in bytes.
    begin: u64,
    /// The piece of the member that is being decoded.
    piece: Begun,
    /// The CRC-32 of the members before it in its group.
    before: u32,
}

impl Finder {
    /// Creates a finder of a file from its start. Parts have at least `spacing` bytes of contents; see
    /// [`find_parts`].
    pub fn new(spacing: u64) -> Self {
        Finder {
            spacing: spacing.max(1),
            state: State::Between,
            input: vec![0; INPUT],
            begin: 0,
            end: 0,
            offset: 0,
            is_over: false,
            inflate: Inflate::new(),
            compressor: None,
            number: 0,
            start: 0,
            expects_more: false,
            mistaken: None,
            contents: 0,
            lines: 0,
            group: None,
            parts: Vec::new(),
            error: None,
        }
    }

    /// Decodes the next contents, at most 256 KiB, of the file that `reader` gives from the place on at which the last call
    /// has left it. Replaces the contents of `data` and uses its allocation. Returns
    /// `false` if there are no more. Contents are given out before the checksum of their member is verified.
    ///
    /// # Errors
    ///
    /// As a [`Reader`](super::Reader). An error comes after all contents before it. Nothing comes after an error.
    pub fn next_into(&mut self, reader: &mut dyn Read, data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        data.clear();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let found = self.find_into(reader, data);
        if !matches!(found, Ok(true)) {
            self.state = State::Ended;
        }
        match found {
            Err(error) if !data.is_empty() => {
                self.error = Some(error);
                Ok(true)
            }
            found => found,
        }
    }

    /// Returns the parts that were found so far. They hold all contents up to the end of the last one.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the parts that were found, and the sizes of their contents. Call it when there are no more contents.
    pub fn found(self) -> Found {
        let Finder { parts, contents, lines, mistaken, .. } = self;
        Found { parts, contents, lines, mistaken }
    }

    fn find_into(&mut self, reader: &mut dyn Read, data: &mut Vec<u8>) -> Result<bool, DecodeError> {
        loop {
            match mem::replace(&mut self.state, State::Ended) {
                State::Between => match self.member(reader)? {
                    Some(inside) => self.state = State::Data(Box::new(inside)),
                    None => {
                        if let Some(group) = &self.group {
                            let crc = group.crc.sum();
                            self.end_group(self.start, self.contents, crc);
                        }
                        return self.rest(reader);
                    }
                },
                State::Data(mut inside) => {
                    if self.data(reader, &mut inside, data)? {
                        self.trailer(reader, *inside)?;
                        self.state = State::Between;
                    } else {
                        self.state = State::Data(inside);
                    }
                    if !data.is_empty() {
                        return Ok(true);
                    }
                }
                State::Ended => return Ok(false),
            }
        }
    }

    /// Begins the next member; `None` if there is none.
    fn member(&mut self, reader: &mut dyn Read) -> Result<Option<Inside>, DecodeError> {
        self.start = self.offset;
        let begins = self.hold(reader, MAGIC.len())? == MAGIC;
        if self.number > 0 && !begins {
            return if self.expects_more { Err(self.fault(Fault::MissingMember)) } else { Ok(None) };
        }
        self.number += 1;
        let header = match Header::parse(self.hold(reader, HEADER_LIMIT)?) {
            Ok(Some((header, len))) => {
                self.take(len);
                header
            }
            Ok(None) => return Err(self.cut_short(MemberPart::Header)),
            Err(error) => return Err(self.fault(Fault::Header(error))),
        };
        if self.group.is_none() {
            self.group = Some(self.begin(8 * self.start, Vec::new()));
        }
        let before = self.group.as_ref().map_or(0, |group| group.crc.sum());
        self.inflate.reset();
        self.inflate.stop_at(1);
        let piece = self.begin(8 * self.offset, Vec::new());
        Ok(Some(Inside { header, sums: Sums::new(), begin: self.offset, piece, before }))
    }

    /// Checks that only padding follows the last member. Returns `false`.
    fn rest(&mut self, reader: &mut dyn Read) -> Result<bool, DecodeError> {
        let held = &self.input[self.begin..self.end];
        let scanner = Scanner::behind(self.number, self.offset);
        match Splitter::with(scanner, held.chain(reader)).next() {
            Some(Err(error)) => Err(error),
            _ => Ok(false),
        }
    }

    /// Decodes some of the data of a member. Returns whether the data has ended. The group is dropped when a piece of
    /// the member becomes a part.
    fn data(
        &mut self,
        reader: &mut dyn Read,
        inside: &mut Inside,
        data: &mut Vec<u8>,
    ) -> Result<bool, DecodeError> {
        data.resize(OUTPUT, 0);
        let mut filled = 0;
        let has_ended = self.fill(reader, inside, data, &mut filled);
        data.truncate(filled);
        has_ended
    }

    /// Does the same into a slice. `filled` is the number of bytes written, also after an error.
    fn fill(
        &mut self,
        reader: &mut dyn Read,
        inside: &mut Inside,
        data: &mut [u8],
        filled: &mut usize,
    ) -> Result<bool, DecodeError> {
        loop {
            if self.begin == self.end && !self.is_over {
                self.read(reader)?;
            }
            let step = self.inflate.step(&self.input[self.begin..self.end], &mut data[*filled..]);
            let Ok(step) = step else {
                *filled += self.inflate.produced();
                self.offset = inside.begin + self.inflate.consumed();
                return Err(self.fault(Fault::Deflate));
            };
            self.take(step.consumed);
            let new = &data[*filled..*filled + step.produced];
            *filled += step.produced;
            inside.sums.add(new);
            inside.piece.crc.update(new);
            if let Some(group) = &mut self.group {
                group.crc.update(new);
            }
            self.contents += step.produced as u64;
            self.lines += memchr_iter(b'\n', new).count() as u64;
            match step.pause {
                Pause::Ended => return Ok(true),
                Pause::Block if self.contents - inside.piece.contents >= self.spacing => {
                    self.end_group(self.start, inside.piece.contents, inside.before);
                    let bit = 8 * inside.begin + self.inflate.bit();
                    let window = self.window().map_err(|fault| self.fault(fault.into()))?;
                    let next = self.begin(bit, window);
                    self.end_blocks(mem::replace(&mut inside.piece, next), bit);
                }
                Pause::Starved if self.is_over && self.inflate.is_hopeless() => {
                    return Err(self.fault(Fault::Deflate));
                }
                Pause::Starved if self.is_over => return Err(self.cut_short(MemberPart::Data)),
                Pause::Full => return Ok(false),
                Pause::Starved | Pause::Block => {}
            }
        }
    }

    /// Ends a member whose data has ended.
    fn trailer(&mut self, reader: &mut dyn Read, inside: Inside) -> Result<(), DecodeError> {
        let Inside { header, sums, piece, .. } = inside;
        if self.group.is_none() {
            self.end_blocks(piece, 8 * self.offset);
        }
        let Some(&trailer) = self.hold(reader, TRAILER_LEN)?.first_chunk() else {
            return Err(self.cut_short(MemberPart::Trailer));
        };
        if let Err((at, fault)) = sums.check(trailer) {
            self.offset += at;
            return Err(self.fault(fault));
        }
        self.take(TRAILER_LEN);
        let (compressed, contents) = (self.offset - self.start, sums.len());
        // A wrong size in the header is treated as if there were none.
        let is_right = |extent: &Extent| {
            let fits = match extent.uncompressed {
                Some(len) => u64::from(len) == contents,
                None => contents <= MAX_BGZF.into(),
            };
            fits && extent.is_whole() && u64::from(extent.compressed) == compressed
        };
        let extent = header.extent().filter(|extent| self.mistaken.is_none() && is_right(extent));
        if extent.is_none() && header.extent().is_some() {
            self.mistaken.get_or_insert(self.number);
        }
        self.expects_more = extent.is_some_and(|extent| extent.more);
        if let Some(group) = &self.group
            && (self.contents - group.contents).max(self.offset - group.bit / 8) >= self.spacing
        {
            let crc = group.crc.sum();
            self.end_group(self.offset, self.contents, crc);
        }
        Ok(())
    }

    /// Ends a piece of a member before bit `bit` of the file.
    fn end_blocks(&mut self, piece: Begun, bit: u64) {
        let crc = piece.crc.sum();
        self.end(Kind::DeflateBlocks, piece, bit, self.contents, crc);
    }

    /// Begins a part at bit `bit` of the file and at the next contents.
    fn begin(&self, bit: u64, window: Vec<u8>) -> Begun {
        let Finder { number, contents, lines, .. } = *self;
        Begun { number, bit, contents, lines, crc: Crc::new(), window }
    }

    /// Ends a part before bit `bit` of the file and before byte `contents` of the contents. `crc32` is the CRC-32 of
    /// its contents.
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

    /// Ends the group, if there is one, before byte `offset` of the file.
    fn end_group(&mut self, offset: u64, contents: u64, crc32: u32) {
        if let Some(group) = self.group.take() {
            self.end(Kind::GzipMembers, group, 8 * offset, contents, crc32);
        }
    }

    /// Returns the last contents to which deflate data may refer, compressed.
    fn window(&mut self) -> Result<Vec<u8>, NoMemory> {
        let window = self.inflate.window();
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(Compressor::new(LEVEL)?),
        };
        let mut packed = vec![0; compressor.bound(window.len())];
        let len = compressor.compress(window, &mut packed).expect("there is room for the worst");
        packed.truncate(len);
        Ok(packed)
    }

    /// Returns the next `wanted` bytes of the file, or all that are left.
    fn hold(&mut self, reader: &mut dyn Read, wanted: usize) -> Result<&[u8], DecodeError> {
        while self.end - self.begin < wanted && !self.is_over {
            self.read(reader)?;
        }
        Ok(&self.input[self.begin..self.end.min(self.begin + wanted)])
    }

    /// Drops the next `len` bytes.
    fn take(&mut self, len: usize) {
        self.begin += len;
        self.offset += len as u64;
    }

    /// Reads more of the file.
    fn read(&mut self, reader: &mut dyn Read) -> Result<(), DecodeError> {
        self.input.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        loop {
            match reader.read(&mut self.input[self.end..]) {
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

    /// Returns the error of a file that ends inside a member.
    fn cut_short(&mut self, inside: MemberPart) -> DecodeError {
        self.offset += (self.end - self.begin) as u64;
        self.fault(Fault::Truncated { inside })
    }

    fn fault(&self, fault: Fault) -> DecodeError {
        let place = Place::Member { number: self.number, start: self.start };
        DecodeError::new(place, self.offset, fault)
    }
}

impl fmt::Debug for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finder")
            .field("member", &self.number)
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}
