//! An index of a file: the places of its parts and more, kept in a file of its own.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use crc32fast::hash as crc32;
use thiserror::Error;

use super::{Kind, Known, Part};
#[cfg(feature = "lzma")]
use crate::xz::Check;

/// The start of an index: a name and a version.
const MAGIC: [u8; 8] = *b"ABZIDX\n\x01";

/// The size of the fields before the first part, in bytes.
const HEADER: usize = 48;

/// The size of a part without its window, in bytes.
const RECORD: usize = 56;

/// The number of pieces of a file that go into its checksum, and the size of each in bytes.
const PIECES: u64 = 32;
const PIECE: u64 = 4096;

/// The places of the parts of a file, facts about their contents, and a checksum that identifies the file.
///
/// # Format
///
/// Numbers are little-endian. An index consists of
///
/// | at | bytes | |
/// |--:|--:|---|
/// | 0 | 8 | `ABZIDX`, a line feed, and the version, 1 |
/// | 8 | 8 | the size of the file in bytes |
/// | 16 | 4 | the CRC-32 of pieces of it, one after another (see [`Index::fits`]) |
/// | 20 | 4 | zeros |
/// | 24 | 8 | the size of its contents in bytes |
/// | 32 | 8 | the line feeds in them |
/// | 40 | 8 | the number of parts |
/// | 48 | ... | the parts, in order |
/// | ... | 4 | the CRC-32 of all that comes before it |
///
/// and each part of
///
/// | at | bytes | |
/// |--:|--:|---|
/// | 0 | 8 | its first bit in the file: eight times the byte plus the bit, from the lowest on (bzip2: the highest) |
/// | 8 | 8 | the first bit behind the part |
/// | 16 | 8 | the start of its contents, in bytes; they end where those of the next part start, or all contents end |
/// | 24 | 8 | the line feeds in the contents before it |
/// | 32 | 8 | the number of the part among those of its kind, counted from 1; for deflate blocks the number of the member, for a block the number in its stream, for a piece of a zstd frame the number of the frame |
/// | 40 | 8 | the number of the stream of a block of xz or bzip2, counted from 1; 0 for other kinds |
/// | 48 | 4 | the CRC-32 of its contents |
/// | 52 | 1 | its kind: 0 whole members of gzip, 1 deflate blocks, 2 a block of bzip2, 3 a member of lzip, 4 a block of xz, 5 a frame of zstd, 6 a piece of one |
/// | 53 | 1 | for a block of xz, the number of its check (0, 1, 4 or 10); 0 for other kinds |
/// | 54 | 2 | the size of its window, *n* |
/// | 56 | *n* | for deflate blocks, the contents before them to which they refer, at most 32 KiB, as a deflate stream; empty at the start of a member |
///
/// The contents of the first part are at the start of the file's contents. An index may have no parts; the file has to
/// be decoded from its start then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    file: u64,
    sample: u32,
    contents: u64,
    lines: u64,
    parts: Vec<Part>,
}

/// The error of an index that could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The file is no index, or an index of another version.
    #[error("expected an index of version 1, found something else")]
    Magic,
    /// The index is damaged or cut.
    #[error("expected an index with the CRC-32 at its end, found another")]
    Checksum,
    /// The checksum is right, but an entry makes no sense.
    #[error("at byte {offset}: expected {expected}")]
    Rule {
        /// The offset in the index of the part, or of the number, that is wrong.
        offset: usize,
        /// A description of what should be there.
        expected: &'static str,
    },
}

impl Index {
    /// Creates an index of `file` from all its parts, the size of its contents in bytes, and the number of line feeds
    /// in them. It moves the file's position.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    ///
    /// # Panics
    ///
    /// If a part has no [known](field@Part::known) facts.
    pub fn new<F: Read + Seek>(
        file: &mut F,
        parts: Vec<Part>,
        contents: u64,
        lines: u64,
    ) -> io::Result<Self> {
        assert!(parts.iter().all(|part| part.known.is_some()), "all contents are known");
        let (file, sample) = sample(file)?;
        Ok(Index { file, sample, contents, lines, parts })
    }

    /// Returns whether `file` is the one that the index was made of: whether its size is the same, and the CRC-32 of 32
    /// pieces of 4 KiB, at equal distances from its start to its end. A file of at most 128 KiB is compared as a whole.
    /// It moves the file's position.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn fits<F: Read + Seek>(&self, file: &mut F) -> io::Result<bool> {
        Ok(file.seek(SeekFrom::End(0))? == self.file && sample(file)? == (self.file, self.sample))
    }

    /// Returns the parts, in order. Each has contents.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the size of the contents of the file in bytes.
    pub fn contents(&self) -> u64 {
        self.contents
    }

    /// Returns the number of line feeds in the contents.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns the parts that contain the bytes behind `feeds.start` line feeds, up to and with the line feed number
    /// `feeds.end`.
    pub fn parts_with_lines(&self, feeds: &Range<u64>) -> &[Part] {
        // A line begins behind the feed before it, which may be the last byte of a part.
        let before = |feeds: u64| self.parts.partition_point(|part| part.known().lines < feeds);
        let from = before(feeds.start).saturating_sub(1);
        self.parts.get(from..before(feeds.end)).unwrap_or_default()
    }

    /// Returns the bytes of the index, to be written to a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(self.file.to_le_bytes());
        out.extend(self.sample.to_le_bytes());
        out.extend([0; 4]);
        out.extend(self.contents.to_le_bytes());
        out.extend(self.lines.to_le_bytes());
        out.extend((self.parts.len() as u64).to_le_bytes());
        for part in &self.parts {
            let known = part.known();
            let (kind, check, stream) = numbers_of(part.kind);
            for number in
                [part.bits.start, part.bits.end, part.contents.start, known.lines, part.number, stream]
            {
                out.extend(number.to_le_bytes());
            }
            out.extend(known.crc32.to_le_bytes());
            out.extend([kind, check]);
            out.extend(u16::try_from(known.window.len()).expect("a window has 32 KiB at most").to_le_bytes());
            out.extend(&known.window);
        }
        out.extend(crc32(&out).to_le_bytes());
        out
    }

    /// Reads an index that [`to_bytes`](Index::to_bytes) gave. The memory that it takes is a small multiple of the size
    /// of `bytes`, whatever they contain.
    ///
    /// # Errors
    ///
    /// If the bytes are no valid index; see [`IndexError`].
    pub fn parse(bytes: &[u8]) -> Result<Index, IndexError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(IndexError::Magic);
        }
        let Some((all, sum)) = bytes.split_last_chunk().filter(|(all, _)| all.len() >= HEADER) else {
            return Err(IndexError::Checksum);
        };
        if u32::from_le_bytes(*sum) != crc32(all) {
            return Err(IndexError::Checksum);
        }
        let rule = |at: &[u8], expected| IndexError::Rule { offset: all.len() - at.len(), expected };
        let mut rest = &all[MAGIC.len()..];
        let cut = |at: &[u8]| rule(at, "more bytes");
        let file = take_u64(&mut rest).ok_or(cut(rest))?;
        let sample = take_u64(&mut rest).ok_or(cut(rest))?;
        let sample = u32::try_from(sample).map_err(|_| rule(rest, "zeros behind the checksum"))?;
        let contents = take_u64(&mut rest).ok_or(cut(rest))?;
        let lines = take_u64(&mut rest).ok_or(cut(rest))?;
        let count = take_u64(&mut rest).ok_or(cut(rest))?;
        if count > (rest.len() / RECORD) as u64 {
            return Err(rule(rest, "as many parts as there is room for"));
        }
        let mut parts: Vec<Part> = Vec::new();
        for _ in 0..count {
            let at = rest;
            let part = take_part(&mut rest).ok_or(rule(at, "a part"))?;
            let begins = match parts.last_mut() {
                Some(before) => {
                    before.contents.end = part.contents.start;
                    before.bits.end <= part.bits.start
                        && !before.is_empty()
                        && before.known().lines <= part.known().lines
                }
                None => part.contents.start == 0 && part.known().lines == 0,
            };
            if !begins || part.bits.is_empty() || part.bits.end > file.saturating_mul(8) {
                return Err(rule(at, "a part behind the one before it, and in the file"));
            }
            parts.push(part);
        }
        if !rest.is_empty() {
            return Err(rule(rest, "the end"));
        }
        if let Some(last) = parts.last_mut() {
            last.contents.end = contents;
            if last.contents.is_empty() || last.known().lines > lines {
                return Err(rule(rest, "contents of the last part"));
            }
        }
        Ok(Index { file, sample, contents, lines, parts })
    }
}

/// Returns the size of a file, and the CRC-32 of pieces of it.
fn sample<F: Read + Seek>(file: &mut F) -> io::Result<(u64, u32)> {
    let size = file.seek(SeekFrom::End(0))?;
    let mut bytes = Vec::new();
    if size <= PIECES * PIECE {
        file.seek(SeekFrom::Start(0))?;
        file.take(size).read_to_end(&mut bytes)?;
    } else {
        for piece in 0..PIECES {
            let at = u128::from(size - PIECE) * u128::from(piece) / u128::from(PIECES - 1);
            file.seek(SeekFrom::Start(at as u64))?;
            file.by_ref().take(PIECE).read_to_end(&mut bytes)?;
        }
    }
    Ok((size, crc32(&bytes)))
}

fn take_u64(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}

/// Takes a part from the front of `bytes`. The end of its contents is not known yet.
fn take_part(bytes: &mut &[u8]) -> Option<Part> {
    let [first, behind, contents, lines, number, stream] = [(); 6].map(|()| take_u64(bytes));
    let last = take_u64(bytes)?;
    let [.., kind, check, low, high] = last.to_le_bytes();
    let (window, rest) = bytes.split_at_checked(u16::from_le_bytes([low, high]).into())?;
    *bytes = rest;
    let (contents, number) = (contents?, number?);
    let known = Known { lines: lines?, crc32: last as u32, window: window.to_vec() };
    let part = Part {
        kind: kind_of(kind, check, stream?)?,
        number,
        bits: first?..behind?,
        contents: contents..contents,
        known: Some(Box::new(known)),
    };
    let has_window = part.kind == Kind::DeflateBlocks || window.is_empty();
    (has_window && number > 0).then_some(part)
}

/// Returns the numbers that stand for a kind in the format: of the kind, the check and the stream.
fn numbers_of(kind: Kind) -> (u8, u8, u64) {
    match kind {
        Kind::GzipMembers => (0, 0, 0),
        Kind::DeflateBlocks => (1, 0, 0),
        Kind::Bzip2Block { stream } => (2, 0, stream),
        #[cfg(feature = "lzma")]
        Kind::LzipMember => (3, 0, 0),
        #[cfg(feature = "lzma")]
        Kind::XzBlock { check, stream } => (4, check.id(), stream),
        Kind::ZstdFrame => (5, 0, 0),
        Kind::ZstdPiece => (6, 0, 0),
    }
}

fn kind_of(number: u8, check: u8, stream: u64) -> Option<Kind> {
    let kind = match number {
        0 => Kind::GzipMembers,
        1 => Kind::DeflateBlocks,
        2 => Kind::Bzip2Block { stream },
        #[cfg(feature = "lzma")]
        3 => Kind::LzipMember,
        #[cfg(feature = "lzma")]
        4 => Kind::XzBlock { check: Check::of_id(check)?, stream },
        5 => Kind::ZstdFrame,
        6 => Kind::ZstdPiece,
        _ => return None,
    };
    (numbers_of(kind) == (number, check, stream)).then_some(kind)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn index() -> Index {
        let part = |kind, number, bits, contents, lines, window: &[u8]| Part {
            kind,
            number,
            bits,
            contents,
            known: Some(Box::new(Known { lines, crc32: 7, window: window.to_vec() })),
        };
        let check = Check::Sha256;
        let parts = vec![
            part(Kind::GzipMembers, 1, 0..80, 0..5, 0, b""),
            part(Kind::DeflateBlocks, 2, 83..97, 5..6, 0, b"window"),
            part(Kind::XzBlock { check, stream: 3 }, 4, 97..160, 6..10, 2, b""),
        ];
        Index::new(&mut Cursor::new([1; 20]), parts, 10, 2).unwrap()
    }

    #[test]
    fn an_index_is_read_as_it_was_written_and_fits_one_file() {
        let index = index();
        assert_eq!(Index::parse(&index.to_bytes()), Ok(index.clone()));
        assert!(index.fits(&mut Cursor::new([1; 20])).unwrap());
        assert!(!index.fits(&mut Cursor::new([1; 21])).unwrap());
        assert!(!index.fits(&mut Cursor::new([2; 20])).unwrap());
        let none = Index { parts: Vec::new(), ..index };
        assert_eq!(Index::parse(&none.to_bytes()), Ok(none));
    }

    #[test]
    fn every_change_and_every_cut_is_found() {
        let bytes = index().to_bytes();
        for at in 0..bytes.len() {
            assert!(Index::parse(&bytes[..at]).is_err());
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            assert!(Index::parse(&bytes).is_err(), "byte {at}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_also_with_the_right_checksum() {
        let bytes = index().to_bytes();
        let mut refused = 0;
        for at in 8..bytes.len() - 4 {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bytes = bytes[..bytes.len() - 4].to_vec();
                bytes[at] = value;
                bytes.extend(crc32(&bytes).to_le_bytes());
                match Index::parse(&bytes) {
                    Ok(index) => {
                        assert_eq!(index.to_bytes(), bytes);
                        let ends =
                            index.parts().windows(2).all(|two| two[0].contents.end == two[1].contents.start);
                        assert!(ends && index.parts().iter().all(|part| !part.is_empty()));
                    }
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(refused > 100, "{refused}");
    }

    #[test]
    fn lines_are_in_the_parts_where_they_begin_and_end() {
        let index = index();
        let parts =
            |feeds| index.parts_with_lines(&feeds).iter().map(|part| part.contents.start).collect::<Vec<_>>();
        assert_eq!(parts(0..1), [0, 5]);
        assert_eq!(parts(1..2), [5]);
        assert_eq!(parts(2..3), [5, 6]);
        assert_eq!(parts(0..u64::MAX), [0, 5, 6]);
    }
}
