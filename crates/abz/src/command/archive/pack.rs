//! A reader that produces a tar archive from files. The order of the members depends on their names alone.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tar::{Builder, EntryType, Header};

use super::names;
use crate::command::messages::problem::Problem;
use crate::command::request::Archiving;
use crate::command::system::file_id::FileId;
use crate::command::system::temporary::is_temporary;

/// The size of a block in bytes; two blocks of zeros end an archive.
const BLOCK: u64 = 512;

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
                self.add(&metadata, EntryType::Directory, 0, name.as_ref(), None)?;
            }
        } else if kind.is_symlink() {
            let target = fs::read_link(path)?;
            self.add(&metadata, EntryType::Symlink, 0, &name, Some(&target))?;
        } else if kind.is_file() {
            if self.own == Some(FileId::of(&metadata)) {
                return Ok(());
            }
            if metadata.nlink() > 1 {
                if let Some(first) = self.linked.get(&FileId::of(&metadata)).cloned() {
                    return self.add(&metadata, EntryType::Link, 0, &name, Some(&first));
                }
                self.linked.insert(FileId::of(&metadata), name.clone());
            }
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            self.add(&metadata, EntryType::Regular, metadata.len(), &name, None)?;
            let left = metadata.len();
            self.body = Some(Body { path: path.to_owned(), file, metadata, left, has_ended: false });
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

    /// Builds the header of a member, with its extension headers.
    fn add(
        &mut self,
        metadata: &Metadata,
        kind: EntryType,
        len: u64,
        name: &Path,
        link: Option<&Path>,
    ) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(len);
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
        match link {
            Some(link) => builder.append_link(&mut header, name, link),
            None => builder.append_data(&mut header, name, io::empty()),
        }?;
        self.head = mem::take(builder.get_mut());
        self.given = 0;
        Ok(())
    }

    /// Reads from the current file. Returns 0 at its end.
    fn read_body(&mut self, buffer: &mut [u8]) -> usize {
        let Some(body) = &mut self.body else { return 0 };
        let wanted = buffer.len().min(usize::try_from(body.left).unwrap_or(usize::MAX));
        let buffer = &mut buffer[..wanted];
        let mut problem = None;
        let mut read = 0;
        while !body.has_ended && read == 0 && wanted > 0 {
            match body.file.read(buffer) {
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
        body.left -= read as u64;
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
            let padding = body.metadata.len().next_multiple_of(BLOCK) - body.metadata.len();
            (self.head, self.given) = (vec![0; padding as usize], 0);
            self.body = None;
        }
        if let Some(problem) = problem {
            self.tell(problem);
        }
        read
    }
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
