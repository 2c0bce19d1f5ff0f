//! A reader of tar archives: the members and their contents, in order. It reads sparse files in all forms of GNU tar
//! (its manual, *Storing Sparse Files*): the old one, and 0.0, 0.1 and 1.0 in POSIX archives.

use std::io::{self, Read};
use std::mem;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::vec;

use super::extended::{Records, Sparse, number};
use super::header::{BLOCK, Form, Header, more_pieces};

/// The largest extended header in bytes; it may hold the map of a sparse file.
const MAX_EXTENDED: u64 = 64 << 20;

/// The largest name in bytes that is stored as a member of its own.
const MAX_NAME: u64 = 1 << 20;

/// The largest number of data pieces of a sparse file.
const MAX_PIECES: usize = 4 << 20;

/// The largest piece that is returned at once, in bytes.
const BUFFER: usize = 128 << 10;

/// A member of an archive.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    /// The target of a link.
    pub(super) link: Vec<u8>,
    pub(super) kind: Kind,
    pub(super) mode: u32,
    pub(super) modified: SystemTime,
    /// The reason why the member cannot be extracted, if its headers are not understood.
    pub(super) problem: Option<String>,
}

/// The type of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Symlink,
    HardLink,
    Device,
    Pipe,
    /// The label of the archive, which is not a file.
    Label,
    Unknown,
}

/// A piece of a file's contents.
pub(super) enum Piece<'a> {
    Data(&'a [u8]),
    /// A hole, with its length in bytes.
    Hole(u64),
}

/// An iterator over the members of an archive.
pub(super) struct Entries<R> {
    archive: R,
    /// The number of bytes read from the archive.
    at: u64,
    /// The numbers of bytes left of the member, and of the padding after it.
    left: u64,
    padding: u64,
    /// The global records, which apply to all members that follow.
    global: Records,
    body: Body,
    buffer: Vec<u8>,
}

/// The contents of a member.
#[derive(Default)]
struct Body {
    /// The remaining pieces, in order, each with its offset and length in the file.
    pieces: vec::IntoIter<(u64, u64)>,
    /// The position in the file, the size of the file, and the number of bytes left of this piece.
    at: u64,
    len: u64,
    piece: u64,
}

impl<R: Read> Entries<R> {
    pub(super) fn new(archive: R) -> Self {
        Entries {
            archive,
            at: 0,
            left: 0,
            padding: 0,
            global: Records::default(),
            body: Body::default(),
            buffer: vec![0; BUFFER],
        }
    }

    /// Returns the next member. Skips the rest of the current one.
    ///
    /// # Errors
    ///
    /// If the archive cannot be read, or is not a tar archive.
    pub(super) fn next(&mut self) -> io::Result<Option<Entry>> {
        let mut records = self.global.clone();
        let (mut long_name, mut long_link, mut problem) = (None, None, None);
        loop {
            self.pass_over()?;
            let mut block = [0; BLOCK];
            let header_at = self.at;
            if !self.read_block(&mut block)? || block == [0; BLOCK] {
                return match problem {
                    Some(problem) => Err(other(format_args!("a member {problem}"))),
                    None => Ok(None),
                };
            }
            let Some(header) = Header::of(&block) else {
                return Err(other(format_args!("at byte {header_at} there is no valid header of a member")));
            };
            let kind = header.kind();
            let size = header.size().ok_or_else(|| other("the size in the header of a member is invalid"))?;
            let is_extension = matches!(kind, b'x' | b'X' | b'g' | b'L' | b'K');
            self.left = records.size.filter(|_| !is_extension).unwrap_or(size);
            // Links, devices, folders and pipes have no contents, whatever size a header or a record has. Nor does a folder
            // of an old archive, which only its name shows.
            if matches!(kind, b'1'..=b'6') || kind == b'\0' && header.name().ends_with(b"/") {
                self.left = 0;
            }
            self.padding = self.left.next_multiple_of(BLOCK as u64).wrapping_sub(self.left) % BLOCK as u64;
            match kind {
                b'x' | b'X' => {
                    let bytes = self.read_whole(MAX_EXTENDED)?;
                    problem = problem.or(records.read(&bytes).err());
                }
                b'g' => {
                    let bytes = self.read_whole(MAX_EXTENDED)?;
                    let mut global = mem::take(&mut self.global);
                    let done = global.read(&bytes).and_then(|()| match global.sparse.is_some() {
                        true => Err("has the map of a sparse file for all members".to_owned()),
                        false => Ok(()),
                    });
                    done.map_err(|problem| other(format_args!("the archive {problem}")))?;
                    records = global.clone();
                    self.global = global;
                }
                b'L' => long_name = Some(self.read_name()?),
                b'K' => long_link = Some(self.read_name()?),
                _ => {
                    let real = self.open_body(&header, records.sparse.as_ref());
                    let real = match real {
                        Ok(()) => Ok(()),
                        Err(Obstacle::Archive(error)) => return Err(error),
                        Err(Obstacle::Member(problem)) => Err(problem),
                    };
                    let sparse_name = records.sparse.and_then(|sparse| sparse.name);
                    let name = sparse_name.or(records.name).or(long_name).unwrap_or_else(|| header.name());
                    let link = records.link.or(long_link).unwrap_or_else(|| header.link());
                    let mode = header.mode();
                    let modified = records.modified.or_else(|| since_1970(header.time()?));
                    problem = problem.or(real.err());
                    if mode.is_none() || modified.is_none() {
                        problem = problem.or(Some("has a header with an invalid number".into()));
                    }
                    return Ok(Some(Entry {
                        kind: kind_of(kind, &name),
                        name,
                        link,
                        mode: mode.unwrap_or_default() & 0o777,
                        modified: modified.unwrap_or(UNIX_EPOCH),
                        problem,
                    }));
                }
            }
        }
    }

    /// Returns the next piece of the member's contents, or `None` at their end.
    ///
    /// # Errors
    ///
    /// If the archive cannot be read, or ends early.
    pub(super) fn next_piece(&mut self) -> io::Result<Option<Piece<'_>>> {
        let body = &mut self.body;
        if body.piece == 0 {
            // Empty pieces are skipped.
            let next = body.pieces.find(|(_, len)| *len > 0);
            let (start, len) = next.unwrap_or((body.len, 0));
            let hole = start - body.at;
            body.piece = len;
            body.at = start;
            if hole > 0 {
                return Ok(Some(Piece::Hole(hole)));
            }
        }
        let wanted = usize::try_from(body.piece).unwrap_or(usize::MAX).min(BUFFER);
        if wanted == 0 {
            return Ok(None);
        }
        let read = read_some(&mut self.archive, &mut self.buffer[..wanted])?;
        if read == 0 {
            return Err(ends_early());
        }
        self.at += read as u64;
        self.left -= read as u64;
        body.piece -= read as u64;
        body.at += read as u64;
        Ok(Some(Piece::Data(&self.buffer[..read])))
    }

    /// Determines the pieces of the file.
    fn open_body(&mut self, header: &Header<'_>, sparse: Option<&Sparse>) -> Result<(), Obstacle> {
        self.body = Body::default();
        let unknown = |what: &str| Err(Obstacle::Member(format!("is a sparse file {what}")));
        let (map, len) = match (header.kind(), sparse) {
            (b'S', None) if header.form() == Form::Gnu => {
                let map = self.read_old_map(header)?;
                let Some(len) = header.real_size() else { return unknown("with an invalid size") };
                (map, len)
            }
            (b'S', _) => return unknown("in a form that abz does not support"),
            (b'0' | b'\0' | b'7', Some(sparse)) => {
                let map = match sparse.version {
                    (None | Some(0), None | Some(0 | 1)) => {
                        if sparse.map.len() / 2 > MAX_PIECES {
                            return unknown("with more pieces than abz supports");
                        }
                        let (pairs, rest) = sparse.map.as_chunks::<2>();
                        let count = pairs.len() as u64;
                        if !rest.is_empty() || sparse.count.is_some_and(|said| said != count) {
                            return unknown("whose map has the wrong number of pieces");
                        }
                        pairs.iter().map(|&[at, len]| (at, len)).collect()
                    }
                    (Some(1), Some(0)) => self.read_map()?,
                    _ => return unknown("in a form that abz does not support"),
                };
                let Some(len) = sparse.size else { return unknown("without a size") };
                (map, len)
            }
            (_, Some(_)) => return unknown("that is not a regular file"),
            (_, None) => (vec![(0, self.left)], self.left),
        };
        let mut end = 0;
        let mut stored = 0u64;
        for &(at, piece) in &map {
            let next = at.checked_add(piece).filter(|&next| at >= end && next <= len);
            let Some(next) = next else {
                return unknown("whose pieces overlap, or exceed its size");
            };
            end = next;
            stored += piece;
        }
        if stored != self.left {
            let left = self.left;
            return unknown(&format!("with {left} bytes of data, where its map requires {stored}"));
        }
        self.body = Body { pieces: map.into_iter(), at: 0, len, piece: 0 };
        Ok(())
    }

    /// Reads the map of the old form, which is in the header and in the blocks after it.
    fn read_old_map(&mut self, header: &Header<'_>) -> Result<Vec<(u64, u64)>, Obstacle> {
        let wrong = || Obstacle::Member("is a sparse file whose map has an invalid number".to_owned());
        let mut pieces = header.pieces().ok_or_else(wrong)?;
        let mut map = mem::take(&mut pieces.found);
        while pieces.more {
            let mut block = [0; BLOCK];
            if !self.read_block(&mut block).map_err(Obstacle::Archive)? {
                return Err(Obstacle::Archive(ends_early()));
            }
            pieces = more_pieces(&block).ok_or_else(wrong)?;
            map.append(&mut pieces.found);
            if map.len() > MAX_PIECES {
                return Err(Obstacle::Member(
                    "is a sparse file with more pieces than abz supports".to_owned(),
                ));
            }
        }
        Ok(map)
    }

    /// Reads the map of form 1.0, which precedes the contents: decimal numbers in lines, padded with zeros to a whole
    /// block.
    fn read_map(&mut self) -> Result<Vec<(u64, u64)>, Obstacle> {
        let wrong = |what: &str| Obstacle::Member(format!("is a sparse file {what}"));
        let mut map = Vec::new();
        let (mut digits, mut first, mut wanted) = (Vec::new(), None, None);
        loop {
            let mut block = [0; BLOCK];
            if self.left < BLOCK as u64 {
                return Err(wrong("whose map is incomplete"));
            }
            if !self.read_block(&mut block).map_err(Obstacle::Archive)? {
                return Err(Obstacle::Archive(ends_early()));
            }
            self.left -= BLOCK as u64;
            for byte in block {
                if byte != b'\n' {
                    digits.push(byte);
                    if digits.len() > 20 {
                        return Err(wrong("whose map has an invalid number"));
                    }
                    continue;
                }
                let found = number(&mem::take(&mut digits));
                let found = found.ok_or_else(|| wrong("whose map has an invalid number"))?;
                match (wanted, first) {
                    (None, _) if found > MAX_PIECES as u64 => {
                        return Err(wrong("with more pieces than abz supports"));
                    }
                    (None, _) => wanted = Some(found as usize),
                    (_, None) => first = Some(found),
                    (_, Some(at)) => {
                        map.push((at, found));
                        first = None;
                    }
                }
                if wanted == Some(map.len()) && first.is_none() {
                    return Ok(map);
                }
            }
        }
    }

    /// Reads a name that is stored as a member, up to its first zero byte.
    fn read_name(&mut self) -> io::Result<Vec<u8>> {
        let mut name = self.read_whole(MAX_NAME)?;
        name.truncate(name.iter().position(|&byte| byte == 0).unwrap_or(name.len()));
        Ok(name)
    }

    /// Reads all of the member, which may have at most `most` bytes.
    fn read_whole(&mut self, most: u64) -> io::Result<Vec<u8>> {
        if self.left > most {
            let left = self.left;
            return Err(other(format_args!("an extended header has {left} bytes, and may have {most}")));
        }
        let mut bytes = Vec::new();
        self.archive.by_ref().take(self.left).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != self.left {
            return Err(ends_early());
        }
        self.at += self.left;
        self.left = 0;
        Ok(bytes)
    }

    /// Skips the rest of the member and its padding.
    fn pass_over(&mut self) -> io::Result<()> {
        let mut left = self
            .left
            .checked_add(self.padding)
            .ok_or_else(|| other("the size in the header of a member is too large"))?;
        while left > 0 {
            let wanted = left.min(BUFFER as u64) as usize;
            let read = read_some(&mut self.archive, &mut self.buffer[..wanted])?;
            if read == 0 {
                return Err(ends_early());
            }
            left -= read as u64;
            self.at += read as u64;
        }
        (self.left, self.padding) = (0, 0);
        self.body = Body::default();
        Ok(())
    }

    /// Reads a block. Returns `false` at the end of the archive.
    fn read_block(&mut self, block: &mut [u8; BLOCK]) -> io::Result<bool> {
        let mut filled = 0;
        while filled < BLOCK {
            match read_some(&mut self.archive, &mut block[filled..])? {
                0 if filled == 0 => return Ok(false),
                0 => return Err(ends_early()),
                read => filled += read,
            }
        }
        self.at += BLOCK as u64;
        Ok(true)
    }
}

/// The reason why the contents of a member cannot be read.
enum Obstacle {
    /// The member is not understood; the archive can be read on.
    Member(String),
    /// The rest of the archive cannot be read.
    Archive(io::Error),
}

/// Returns `true` if `start` is the start of an uncompressed archive.
pub(super) fn begins(start: &[u8]) -> bool {
    start.first_chunk::<BLOCK>().is_some_and(|block| *block == [0; BLOCK] || Header::of(block).is_some())
}

fn kind_of(letter: u8, name: &[u8]) -> Kind {
    match letter {
        // Archives of Unix V7 mark a directory by a trailing slash only.
        b'0' | b'\0' | b'7' if name.ends_with(b"/") => Kind::Folder,
        b'0' | b'\0' | b'7' | b'S' => Kind::File,
        b'1' => Kind::HardLink,
        b'2' => Kind::Symlink,
        b'3' | b'4' => Kind::Device,
        // `D` is a directory in a GNU incremental archive; its contents are a list of names.
        b'5' | b'D' => Kind::Folder,
        b'6' => Kind::Pipe,
        b'V' => Kind::Label,
        _ => Kind::Unknown,
    }
}

fn since_1970(seconds: i64) -> Option<SystemTime> {
    let distance = Duration::from_secs(seconds.unsigned_abs());
    if seconds < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) }
}

fn read_some(mut archive: impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match archive.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

fn other(message: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.to_string())
}

fn ends_early() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it ends in the middle of a member")
}
