//! A reader that produces a tar archive from files. The order of the members depends on their names alone.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::iter;
use std::mem;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use tar::{Builder, EntryType, GnuExtSparseHeader, Header};

use super::names;
use crate::command::messages::problem::Problem;
use crate::command::request::Archiving;
use crate::command::system::file_id::FileId;
use crate::command::system::temporary::is_temporary;

/// The size of a block in bytes; two blocks of zeros end an archive.
const BLOCK: u64 = 512;

/// The length of the text of a link that has room in a header, in bytes.
const LINK_BYTES: usize = 100;

/// Problems with single files, reported when the archive is complete.
pub(super) type Problems = Mutex<Vec<Problem>>;

/// Produces the archive file by file as it is read. A file that cannot be read is reported and left out.
pub(super) struct Pack<'a> {
    archiving: &'a Archiving,
    problems: &'a Problems,
    /// The paths still to be added, the next one last.
    waiting: Vec<PathBuf>,
    /// The stored names of files that have several hard links.
    linked: HashMap<FileId, PathBuf>,
    /// The archive file itself, if it existed before; it is left out.
    own: Option<FileId>,
    /// The header of the current member, or padding, and how many of its bytes have been returned.
    head: Vec<u8>,
    given: usize,
    body: Option<Body>,
    is_over: bool,
}

/// The file whose contents are being read.
struct Body {
    path: PathBuf,
    file: File,
    metadata: Metadata,
    /// The pieces of the file that are still to be stored, in order.
    pieces: VecDeque<Range<u64>>,
    /// The data of the file that is next, or in which the next byte is. Before it there is a hole.
    data: Range<u64>,
    /// The number of bytes that are stored, and of those that are left.
    stored: u64,
    left: u64,
    /// The file could not be read to its expected end. Zeros replace the missing bytes.
    has_ended: bool,
}

impl<'a> Pack<'a> {
    pub(super) fn new(
        paths: impl DoubleEndedIterator<Item = &'a Path>,
        archiving: &'a Archiving,
        own: Option<FileId>,
        problems: &'a Problems,
    ) -> Self {
        Pack {
            archiving,
            problems,
            waiting: paths.rev().map(Path::to_owned).collect(),
            linked: HashMap::new(),
            own,
            head: Vec::new(),
            given: 0,
            body: None,
            is_over: false,
        }
    }

    fn head_is_left(&self) -> bool {
        self.given < self.head.len()
    }

    fn tell(&self, problem: Problem) {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).push(problem);
    }

    /// Begins the next member, or ends the archive.
    fn next(&mut self) {
        match self.waiting.pop() {
            Some(path) => {
                if let Err(error) = self.begin(&path) {
                    self.tell(Problem::of_file(path.display(), "is not in the archive", &error));
                }
            }
            None => {
                (self.head, self.given) = (vec![0; 2 * BLOCK as usize], 0);
                self.is_over = true;
            }
        }
    }

    fn begin(&mut self, path: &Path) -> io::Result<()> {
        let metadata = fs::symlink_metadata(path)?;
        let Some(name) = names::stored(path) else {
            return Err(io::Error::other("its name contains ..: run abz in a folder above it"));
        };
        let kind = metadata.file_type();
        if kind.is_dir() {
            self.enter(path)?;
            // The current directory has no name to store.
            if name != Path::new("") {
                let mut name = name.into_os_string();
                name.push("/");
                self.add(&metadata, EntryType::Directory, &[], name.as_ref(), None)?;
            }
        } else if kind.is_symlink() {
            let target = fs::read_link(path)?;
            self.add(&metadata, EntryType::Symlink, &[], &name, Some(&target))?;
        } else if kind.is_file() {
            if self.own == Some(FileId::of(&metadata)) {
                return Ok(());
            }
            if metadata.nlink() > 1
                && let Some(first) = self.linked.get(&FileId::of(&metadata)).cloned()
            {
                return self.add(&metadata, EntryType::Link, &[], &name, Some(&first));
            }
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            let map = if self.archiving.sparse { data_of(&file, metadata.len()) } else { None };
            let kind = if map.is_some() { EntryType::GNUSparse } else { EntryType::Regular };
            let pieces = map.unwrap_or_else(|| iter::once(0..metadata.len()).collect());
            self.add(&metadata, kind, &pieces, &name, None)?;
            // A file that is not stored is no target of a link.
            if metadata.nlink() > 1 {
                self.linked.insert(FileId::of(&metadata), name);
            }
            self.body = Some(Body::new(path, file, metadata, pieces.into()));
        } else {
            let what = match () {
                () if kind.is_socket() => "a socket",
                () if kind.is_fifo() => "a pipe",
                () => "a device",
            };
            self.tell(Problem::warning(path.display(), format_args!("is {what} -- not in the archive")));
        }
        Ok(())
    }

    /// Queues the files in `folder` in the order of their names, before all others.
    fn enter(&mut self, folder: &Path) -> io::Result<()> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if !is_temporary(&entry.file_name()) {
                found.push(entry.path());
            }
        }
        found.sort_unstable_by(|a, b| b.as_os_str().as_bytes().cmp(a.as_os_str().as_bytes()));
        self.waiting.append(&mut found);
        Ok(())
    }

    /// Builds the header of a member, with its extension headers. `stored` are the pieces of the file that follow.
    fn add(
        &mut self,
        metadata: &Metadata,
        kind: EntryType,
        stored: &[Range<u64>],
        name: &Path,
        link: Option<&Path>,
    ) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(stored.iter().map(|piece| piece.end - piece.start).sum());
        header.set_mode(metadata.mode() & 0o7777);
        let time = u64::try_from(metadata.mtime()).unwrap_or(0);
        header.set_mtime(self.archiving.mtime.unwrap_or(time));
        let (user, group) = self.archiving.owner.unwrap_or((metadata.uid(), metadata.gid()));
        header.set_uid(user.into());
        header.set_gid(group.into());
        // The header has the size of the contents; the contents are read later.
        let mut builder = Builder::new(Vec::new());
        if self.archiving.mtime.is_none()
            && let Some(time) = exact_time(metadata)
        {
            builder.append_pax_extensions([("mtime", time.as_bytes())])?;
        }
        if let Some(link) = link {
            // The text of a link is stored as it is, and not as a path.
            let text = link.as_os_str().as_bytes();
            if text.len() > LINK_BYTES {
                let mut long = Header::new_gnu();
                long.set_entry_type(EntryType::GNULongLink);
                long.set_size(text.len() as u64 + 1);
                long.set_path("././@LongLink")?;
                long.set_cksum();
                builder.append(&long, text.chain(&[0][..]))?;
            }
            header.set_link_name_literal(&text[..text.len().min(LINK_BYTES)])?;
        }
        let mut more = Vec::new();
        if kind == EntryType::GNUSparse {
            more = set_map(&mut header, stored, metadata.len());
        }
        builder.append_data(&mut header, name, io::empty())?;
        self.head = mem::take(builder.get_mut());
        self.head.append(&mut more);
        self.given = 0;
        Ok(())
    }

    /// Reads from the current file. Returns 0 at its end.
    fn read_body(&mut self, buffer: &mut [u8]) -> usize {
        let Some(body) = &mut self.body else { return 0 };
        let wanted = buffer.len().min(usize::try_from(body.at_once()).unwrap_or(usize::MAX));
        let buffer = &mut buffer[..wanted];
        let mut problem = None;
        let mut read = 0;
        if body.is_in_hole() {
            buffer.fill(0);
            read = wanted;
        }
        while !body.has_ended && read == 0 && wanted > 0 {
            match body.file.read_at(buffer, body.at()) {
                Ok(0) => body.has_ended = true,
                Ok(len) => read = len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    body.has_ended = true;
                    problem = Some(Problem::of_file(body.path.display(), "reading failed", &error));
                }
            }
        }
        if body.has_ended {
            buffer.fill(0);
            read = wanted;
        }
        body.pass(read as u64);
        if body.left == 0 {
            let as_it_was = |now: &Metadata| {
                (now.len(), now.mtime(), now.mtime_nsec())
                    == (body.metadata.len(), body.metadata.mtime(), body.metadata.mtime_nsec())
            };
            if problem.is_none() && (body.has_ended || !body.file.metadata().is_ok_and(|now| as_it_was(&now)))
            {
                let message =
                    "was changed while it was read: its contents in the archive may be inconsistent";
                problem = Some(Problem::warning(body.path.display(), message));
            }
            let padding = body.stored.next_multiple_of(BLOCK) - body.stored;
            (self.head, self.given) = (vec![0; padding as usize], 0);
            self.body = None;
        }
        if let Some(problem) = problem {
            self.tell(problem);
        }
        read
    }
}

impl Body {
    fn new(path: &Path, file: File, metadata: Metadata, pieces: VecDeque<Range<u64>>) -> Self {
        let stored = pieces.iter().map(|piece| piece.end - piece.start).sum();
        let path = path.to_owned();
        let mut body =
            Body { path, file, metadata, pieces, data: 0..0, stored, left: stored, has_ended: false };
        body.pass(0);
        body
    }

    /// Returns the place in the file of the next byte.
    fn at(&self) -> u64 {
        self.pieces.front().map_or(0, |piece| piece.start)
    }

    /// Returns the number of bytes from here to the end of the piece, or to the next border between data and a hole.
    fn at_once(&self) -> u64 {
        let Some(piece) = self.pieces.front() else { return 0 };
        let border = if self.is_in_hole() { self.data.start } else { self.data.end };
        piece.end.min(border).saturating_sub(piece.start)
    }

    /// Returns `true` if the file has a hole here, which reads as zeros.
    fn is_in_hole(&self) -> bool {
        self.at() < self.data.start
    }

    /// Goes on by so many bytes, and finds out where the next data is.
    fn pass(&mut self, bytes: u64) {
        self.left -= bytes;
        if let Some(piece) = self.pieces.front_mut() {
            piece.start += bytes;
        }
        while self.pieces.front().is_some_and(Range::is_empty) {
            self.pieces.pop_front();
        }
        if let Some(piece) = self.pieces.front()
            && piece.start >= self.data.end
        {
            self.data = next_data(&self.file, piece.start).unwrap_or(piece.end..piece.end);
        }
    }
}

/// Returns the next data of a file from this place on, or `None` if only a hole follows. If the file system does not tell, all is
/// data.
fn next_data(file: &File, at: u64) -> Option<Range<u64>> {
    match seek(file, SeekFrom::Data(at)) {
        Ok(start) => Some(start..seek(file, SeekFrom::Hole(start)).unwrap_or(u64::MAX)),
        Err(Errno::NXIO) => None,
        Err(_) => Some(at..u64::MAX),
    }
}

/// Returns the data of a file of `len` bytes, if it has holes.
fn data_of(file: &File, len: u64) -> Option<Vec<Range<u64>>> {
    let (mut map, mut at) = (Vec::new(), 0);
    while at < len {
        let data = next_data(file, at).unwrap_or(len..len);
        let data = data.start.min(len)..data.end.min(len);
        if data.is_empty() {
            break;
        }
        at = data.end;
        map.push(data);
    }
    let is_whole = len == 0 || map.first().is_some_and(|first| *first == (0..len));
    (!is_whole).then_some(map)
}

/// Writes the map of a sparse file of `len` bytes to its header, in the old form of GNU tar. Returns the blocks that follow the
/// header, with the pieces that have no room in it.
fn set_map(header: &mut Header, map: &[Range<u64>], len: u64) -> Vec<u8> {
    /// The pieces in the header, and in each block after it.
    const IN_HEADER: usize = 4;
    const IN_BLOCK: usize = 21;
    let gnu = header.as_gnu_mut().expect("it was made as one of GNU");
    // A map ends with an empty piece at the end of the file, if a hole is there.
    let mut pieces: Vec<_> = map.iter().map(|piece| (piece.start, piece.end - piece.start)).collect();
    if map.last().is_none_or(|last| last.end < len) {
        pieces.push((len, 0));
    }
    let (first, rest) = pieces.split_at(pieces.len().min(IN_HEADER));
    for (entry, (at, len)) in gnu.sparse.iter_mut().zip(first) {
        entry.set_offset(*at);
        entry.set_length(*len);
    }
    gnu.set_is_extended(!rest.is_empty());
    gnu.set_real_size(len);
    let mut blocks = Vec::new();
    let count = rest.len().div_ceil(IN_BLOCK);
    for (number, pieces) in rest.chunks(IN_BLOCK).enumerate() {
        let mut block = GnuExtSparseHeader::new();
        for (entry, (at, len)) in block.sparse.iter_mut().zip(pieces) {
            entry.set_offset(*at);
            entry.set_length(*len);
        }
        block.set_is_extended(number + 1 < count);
        blocks.extend_from_slice(block.as_bytes());
    }
    blocks
}

/// Returns the modification time of a file for an extended header if it is before 1970, which an ordinary header
/// cannot hold. As in GNU tar, a fraction of a second alone needs no extended header: it would double an archive of
/// small files.
fn exact_time(metadata: &Metadata) -> Option<String> {
    // Unix times count nanoseconds forward from the second before.
    let (seconds, nanoseconds) = (metadata.mtime(), metadata.mtime_nsec());
    let (seconds, nanoseconds) = match nanoseconds {
        _ if seconds >= 0 => return None,
        0 => (-seconds, 0),
        _ => (-(seconds + 1), 1_000_000_000 - nanoseconds),
    };
    let time = format!("-{seconds}.{nanoseconds:09}");
    Some(time.trim_end_matches('0').trim_end_matches('.').to_owned())
}

impl Read for Pack<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.head_is_left() {
                let len = buffer.len().min(self.head.len() - self.given);
                buffer[..len].copy_from_slice(&self.head[self.given..][..len]);
                self.given += len;
                return Ok(len);
            }
            match self.read_body(buffer) {
                0 if !self.head_is_left() && self.is_over => return Ok(0),
                0 if !self.head_is_left() => self.next(),
                0 => {}
                read => return Ok(read),
            }
        }
    }
}
