//! Opening, checking and removing of input files.

pub(crate) mod walk;

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use abz::gzip::{HEADER_LIMIT, Header, Origin};
use abz::program::MAGIC_LEN;
use abz::program::descriptors::{StandardStream, was_closed};
use abz::{Decompression, Format, Giving};
use rustix::fs::OFlags;

use super::request::{Inputs, Source};
use crate::command::messages::problem::{CLOSED, Problem, STANDARD_INPUT};
use crate::command::request::behaviour::Refusal;
use crate::command::system::file_id::FileId;
use crate::command::system::patient::Patient;

/// A compressed file with fewer bytes is decoded by one worker.
const SMALL: u64 = 64 << 10;

/// An open input.
#[derive(Debug)]
pub(crate) struct Input {
    /// The source. For a file this is the existing path, which may be the given one with a suffix added.
    pub(crate) source: Source,
    pub(crate) file: Patient<File>,
    /// The metadata when the file was opened.
    pub(crate) metadata: Metadata,
    /// The file was found in a folder, not named itself.
    pub(crate) was_found: bool,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Stdin => f.write_str(STANDARD_INPUT),
            Source::File(path) => path.display().fmt(f),
        }
    }
}

impl Input {
    /// Opens an input, if its kind is accepted.
    pub(crate) fn open(source: Source, was_found: bool, inputs: &Inputs) -> Result<Input, Problem> {
        match source {
            Source::Stdin => open_stdin(inputs),
            Source::File(path) => open_file(path, was_found, inputs),
        }
    }

    /// Returns the initial position in the file, if known. Standard input may have been read partly before.
    pub(crate) fn position(&self) -> Option<u64> {
        match self.source {
            Source::File(_) => Some(0),
            Source::Stdin => (&self.file).stream_position().ok(),
        }
    }

    /// Returns a reader of the bytes from `position` on, if the input is a regular file.
    pub(crate) fn again(&self, position: Option<u64>) -> Option<io::Result<impl Read + Send>> {
        let start = position.filter(|_| self.metadata.is_file())?;
        let mut file = &self.file;
        Some(file.seek(SeekFrom::Start(start)).map(|_| file))
    }

    /// Returns a reader of the bytes from the current position on.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader {
            file: &self.file,
            at: 0,
            end: self.is_file().then_some(self.metadata.len()),
            has_ended: false,
        }
    }

    /// Returns the size in bytes, if the input is a regular file.
    pub(crate) fn len(&self) -> Option<u64> {
        self.metadata.is_file().then_some(self.metadata.len())
    }

    /// Returns `true` for a regular file with a name.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self.source, Source::File(_)) && self.metadata.is_file()
    }

    /// Returns the settings to decompress this input: one worker for a small file, and prompt output if the input is
    /// not a regular file.
    pub(crate) fn decompression(&self, how: &Decompression) -> Decompression {
        let workers = if self.len().is_some_and(|len| len < SMALL) { 1 } else { how.workers };
        let giving = Giving { prompt: !self.metadata.is_file(), ..how.giving };
        Decompression { workers, giving, ..how.clone() }
    }

    /// Returns the gzip header at the start of the file, if there is one. Keeps the position.
    fn header(&self) -> Option<Header> {
        let mut start = Vec::new();
        for wanted in [512, HEADER_LIMIT] {
            start.resize(wanted, 0);
            // A read from a regular file is only short at the end.
            let len = self.is_file().then(|| self.file.read_at(&mut start, 0).ok()).flatten()?;
            if let Some((header, _)) = Header::parse(&start[..len]).ok()? {
                return Some(header);
            }
        }
        None
    }

    /// Returns the size of the gzip header in bytes, if there is one.
    pub(crate) fn header_len(&self) -> Option<usize> {
        let mut bytes = Vec::new();
        self.header()?.write(&mut bytes);
        Some(bytes.len())
    }

    /// Returns the format of a compressed file, if it is recognized. Keeps the position.
    pub(crate) fn format(&self) -> Option<Format> {
        let mut start = [0; MAGIC_LEN];
        let len = self.is_file().then(|| self.file.read_at(&mut start, 0).ok()).flatten()?;
        Format::of(&start[..len])
    }

    /// Returns the stored name without folders, if it is a valid file name.
    pub(crate) fn stored_name(&self) -> Option<OsString> {
        let name = self.header()?.name?;
        let last = name.rsplit(|&byte| byte == b'/').next()?;
        let is_a_name = !matches!(last, b"" | b"." | b"..");
        is_a_name.then(|| OsString::from_vec(last.to_vec()))
    }

    /// Returns the stored time.
    pub(crate) fn stored_time(&self) -> Option<SystemTime> {
        let seconds = self.header()?.mtime;
        (seconds > 0).then(|| UNIX_EPOCH + Duration::from_secs(seconds.into()))
    }

    /// Returns `false` if the file's time is out of the range that gzip can store.
    pub(crate) fn has_a_time_to_store(&self) -> bool {
        let seconds = self.metadata.mtime();
        !self.is_file() || (1..=i64::from(u32::MAX)).contains(&seconds)
    }

    /// Returns the name and time to store in the compressed file.
    pub(crate) fn origin(&self) -> Origin {
        let Source::File(path) = &self.source else { return Origin::default() };
        let modified = self.metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Origin {
            name: path.file_name().map(|name| name.as_encoded_bytes().to_vec()),
            mtime: modified.and_then(|time| time.as_secs().try_into().ok()).unwrap_or(0),
        }
    }

    /// Removes the input after its output is complete, unless the file has changed since it was opened.
    pub(crate) fn remove(self) -> Result<(), Problem> {
        let Source::File(path) = &self.source else { return Ok(()) };
        let is_as_read = fs::metadata(path).is_ok_and(|now| {
            let facts = |m: &Metadata| (m.dev(), m.ino(), m.len(), m.mtime(), m.mtime_nsec());
            facts(&now) == facts(&self.metadata)
        });
        if !is_as_read {
            return Err(Problem::warning(
                &self,
                "was changed while it was read: it is kept, and the output has the data that was read",
            )
            .afterwards());
        }
        fs::remove_file(path).map_err(|error| Problem::of_file(&self, "cannot be removed", &error))
    }
}

/// A reader of an input. A short read that ends at the initial size of the file counts as the end, which saves a
/// system call.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    file: &'a Patient<File>,
    at: u64,
    end: Option<u64>,
    has_ended: bool,
}

impl Read for Reader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.has_ended {
            return Ok(0);
        }
        let len = self.file.read(bytes)?;
        self.at += len as u64;
        self.has_ended = len < bytes.len() && Some(self.at) == self.end;
        Ok(len)
    }
}

fn open_stdin(inputs: &Inputs) -> Result<Input, Problem> {
    let name = STANDARD_INPUT;
    if was_closed(StandardStream::Input) {
        return Err(Problem::error(name, CLOSED));
    }
    let stdin = io::stdin();
    if inputs.are_compressed && stdin.is_terminal() && !inputs.may_be_typed {
        return Err(Problem::error(
            name,
            "compressed data is not read from a terminal: name a file, or use -f to force it",
        ));
    }
    // `std::io::Stdin` would copy everything through a small buffer.
    let file = stdin.as_fd().try_clone_to_owned().map(File::from);
    let opened = file.and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = opened.map_err(|error| Problem::of_file(name, "cannot be read", &error))?;
    Ok(Input { source: Source::Stdin, file: Patient(file), metadata, was_found: false })
}

fn open_file(path: PathBuf, was_found: bool, inputs: &Inputs) -> Result<Input, Problem> {
    if was_found && let Some(input) = open_found(&path) {
        check_kind(&path, &input.metadata, inputs)?;
        return Ok(input);
    }
    let (path, found) = look_up(path, inputs);
    let subject = &path.display();
    let cannot = |error| {
        Problem::of_file(subject, "cannot be opened", &error)
            .with_severity(inputs.behaviour.severities.missing)
    };
    let found = found.map_err(cannot)?;

    // An output that replaces its input must not replace the target of a link.
    if let Some(severity) = inputs.behaviour.severities.link
        && found.is_symlink()
        && inputs.are_replaced
        && !inputs.may_be_links()
    {
        let message = "is a symbolic link: use -f to follow it, or -c";
        return Err(Problem::new(severity, subject, message));
    }
    // This is before opening the file, since opening a pipe waits for a writer.
    let metadata = if found.is_symlink() { fs::metadata(&path).map_err(cannot)? } else { found };
    check_kind(&path, &metadata, inputs)?;
    let opened = File::open(&path).and_then(|file| Ok((file.metadata()?, file)));
    let (opened, file) = opened.map_err(cannot)?;
    if FileId::of(&opened) != FileId::of(&metadata) {
        return Err(Problem::error(subject, "was replaced while it was opened: try again"));
    }
    Ok(Input { source: Source::File(path), file: Patient(file), metadata: opened, was_found })
}

/// Opens a path that was a regular file a moment ago, with fewer system calls. Returns `None` if it has become
/// something else. Follows no link, and does not wait for the writer of a pipe.
fn open_found(path: &Path) -> Option<Input> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
    let metadata = file.metadata().ok().filter(Metadata::is_file)?;
    Some(Input { source: Source::File(path.to_owned()), file: Patient(file), metadata, was_found: true })
}

/// Looks up `path`, or `path` with a suffix if only that exists.
fn look_up(path: PathBuf, inputs: &Inputs) -> (PathBuf, io::Result<Metadata>) {
    let found = fs::symlink_metadata(&path);
    if let Err(error) = &found
        && error.kind() == io::ErrorKind::NotFound
        && inputs.are_compressed
        && let Some(with_suffix) = inputs.names.compressed_path(&path)
        && let Ok(found) = fs::symlink_metadata(&with_suffix)
    {
        return (with_suffix, Ok(found));
    }
    (path, found)
}

/// Returns a problem if files of this kind are not accepted.
fn check_kind(path: &Path, metadata: &Metadata, inputs: &Inputs) -> Result<(), Problem> {
    let subject = path.display();
    let severities = &inputs.behaviour.severities;
    if metadata.is_dir() {
        let advice = if inputs.behaviour.is_foreign() { "" } else { " (use -r to process the files in it)" };
        let message = format_args!("is a directory -- ignored{advice}");
        return Err(Problem::new(severities.no_file, subject, message));
    }
    if inputs.are_files && !metadata.is_file() {
        let message = "is not a regular file -- ignored (use -c to read it)";
        return Err(Problem::new(severities.no_file, subject, message));
    }
    check_special_bits(path, metadata, inputs)?;
    // An output that replaces its input would separate the file from its other hard links.
    if let Some(severity) = severities.names
        && inputs.are_replaced
        && metadata.nlink() > 1
        && !inputs.may_be_links()
    {
        let others = metadata.nlink() - 1;
        let links = if others == 1 { "link" } else { "links" };
        return Err(Problem::new(
            severity,
            subject,
            format_args!("has {others} other {links} -- ignored (use -f to process it anyway, or -c)"),
        ));
    }
    Ok(())
}

/// Returns a problem if the file has special permissions that its output would not have.
fn check_special_bits(path: &Path, metadata: &Metadata, inputs: &Inputs) -> Result<(), Problem> {
    let (found, force, keep) = (metadata.mode(), inputs.force, inputs.keep);
    let advice = match inputs.behaviour.special_bits.refused {
        Refusal::Always if inputs.are_files && (found & RUNS_AS != 0 || !force) => "use -c",
        Refusal::UnlessKept if inputs.are_replaced && !force && !keep => {
            "its output would not be: use -k to keep it, or -f"
        }
        _ => return Ok(()),
    };
    match special_bits(found) {
        None => Ok(()),
        Some(what) => {
            let message = format_args!("is {what} -- ignored ({advice})");
            Err(Problem::new(inputs.behaviour.severities.no_file, path.display(), message))
        }
    }
}

/// The setuid and setgid bits.
const RUNS_AS: u32 = 0o6000;

/// Describes the special permission bits of a mode, if any.
pub(crate) fn special_bits(mode: u32) -> Option<&'static str> {
    Some(match mode & 0o7000 {
        0 => return None,
        0o1000 => "a file with the sticky bit",
        mode if mode & 0o4000 != 0 => "set-user-ID on execution",
        _ => "set-group-ID on execution",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(path: &Path) -> Input {
        let file = File::open(path).unwrap();
        let metadata = file.metadata().unwrap();
        Input { source: Source::File(path.to_owned()), file: Patient(file), metadata, was_found: false }
    }

    #[test]
    fn only_what_was_read_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");

        fs::write(&path, "data").unwrap();
        let grown = opened(&path);
        fs::write(&path, "data and more").unwrap();
        assert!(grown.remove().is_err() && path.exists());

        let replaced = opened(&path);
        fs::write(folder.path().join("y"), "data and more").unwrap();
        fs::rename(folder.path().join("y"), &path).unwrap();
        assert!(replaced.remove().is_err() && path.exists());

        let untouched = opened(&path);
        assert!(untouched.remove().is_ok() && !path.exists());
    }
}
