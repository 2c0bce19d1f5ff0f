//! A reader that decompresses what it reads.

mod builder;
mod by_parts;
pub(crate) mod line;
mod random;

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::mem;
use std::path::{Path, PathBuf};
use std::task::{Context, Poll, Waker};

use abz_codec::Remedy;
use abz_codec::access::{Index, Part};

pub use builder::ReaderBuilder;

use self::by_parts::ByParts;
use self::line::Decode;
use self::random::{Places, Shared};
use crate::decompression::Decompression;
use crate::error::{Error, Failure, is_passing};
use crate::format::Format;
use crate::index::make_index;
use crate::run_options::RunOptions;
use crate::threads::Threads;
use crate::tools::Lender;
use crate::wait::block_on;
use crate::zeros::Zeros;

/// A reader that decompresses what it reads, on all cores.
///
/// It detects the format by the first bytes: any [`Format`]. The thread that reads takes bytes from the inner reader. The
/// threads of a [pool] decode them meanwhile, after the first 128 KiB. With [one worker](ReaderBuilder::workers), the
/// reading thread does all.
///
/// ```
/// use std::io::{BufRead, Read, Seek, SeekFrom, Write};
///
/// let mut writer = abz::WriterBuilder::new().format(abz::Format::Xz).build(Vec::new())?;
/// (0..1000).try_for_each(|number| writeln!(writer, "line {number}"))?;
/// let file = std::io::Cursor::new(writer.finish()?);
///
/// let mut reader = abz::Reader::new(file)?;
/// assert_eq!(reader.format(), abz::Format::Xz);
/// let mut line = String::new();
/// reader.read_line(&mut line)?;
/// assert_eq!(line, "line 0\n");
///
/// reader.seek(SeekFrom::End(-9))?; // in bytes of the contents
/// let mut rest = String::new();
/// reader.read_to_string(&mut rest)?;
/// assert_eq!(rest, "line 999\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Seeking
///
/// Positions count bytes of the contents. A reader is [`Seek`] if its inner reader is. It decodes little more than what it
/// is asked for if the places of the file's parts are known: from an [index](ReaderBuilder::index), or from the file itself
/// if it is a file of several xz blocks, lzip members or zstd frames that tell their sizes, a BGZF file, or one that this
/// crate wrote. In bzip2 files and other gzip files it finds such places as it reads: the first way back in a gzip file
/// decodes it again from its start, and later ones are quick. Any other file is decoded from its start on each way back.
///
/// # Reading ahead
///
/// A reader takes up to 512 KiB of the inner reader ahead while that gives at least 64 KiB at a time. After a shorter read
/// it first returns all that it has. A peer that sends more than 64 KiB and then waits for an answer needs a reader with one
/// worker.
///
/// # Errors
///
/// The error of each call is an [`io::Error`] with an [`abz::Error`](crate::Error) inside, which says where the file is
/// damaged. All bytes that were read before are right, except those of a damaged gzip member that does not record where its
/// parts lie. When a read has failed, all later calls fail, unless the inner reader has
/// [no bytes yet](io::ErrorKind::WouldBlock) or has [timed out](io::ErrorKind::TimedOut): the same call may then be made
/// again. A seek that fails leaves the position where it was. An inner reader is not read again after its end.
///
/// [pool]: ReaderBuilder::pool
pub struct Reader<R> {
    inner: R,
    /// Whether the inner reader has given all it has, from the place where it is.
    is_at_end: bool,
    settings: Decompression,
    threads: Option<Threads>,
    lender: Lender,
    /// The name of the file, for messages.
    name: Option<PathBuf>,
    format: Format,
    /// Whether `format` was detected.
    has_format: bool,
    /// The first bytes of the file, which were read to detect the format.
    start: Vec<u8>,
    /// Decodes the file from its start; `None` before the first read.
    line: Option<Box<dyn Decode>>,
    /// The bytes of the file that `line` was given.
    line_read: Zeros,
    /// The place among the contents at which `line` goes on, and whether it is at their end.
    line_at: u64,
    has_ended: bool,
    /// Contents that are being read, and their place among all contents. `used` bytes of them were read.
    data: Vec<u8>,
    at: u64,
    used: usize,
    /// The number of bytes behind `data` to leave out.
    skip: u64,
    /// How to go to other places of the file; `None` if the inner reader cannot seek, or was not asked to.
    places: Option<Places<R>>,
    index: Option<Index>,
    garbage_at: Option<u64>,
    /// The place of what follows the last member, while that may still be padding.
    trailing_at: Option<u64>,
    failure: Failure,
    /// Wakes the task that reads, in an asynchronous reader. Others let the thread wait.
    waker: Option<Waker>,
}

impl Reader<File> {
    /// Opens a compressed file of any format.
    ///
    /// ```no_run
    /// use std::io::{self, Read};
    ///
    /// let mut reader = abz::Reader::open("log.gz")?;
    /// io::copy(&mut reader, &mut io::stdout())?;
    /// # Ok::<(), io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is of no known format ([`InvalidData`](io::ErrorKind::InvalidData)), or is too short to have one
    /// ([`UnexpectedEof`](io::ErrorKind::UnexpectedEof)).
    pub fn open(path: impl AsRef<Path>) -> io::Result<Reader<File>> {
        ReaderBuilder::new().open(path)
    }
}

impl<R: Read> Reader<R> {
    /// Decompresses what `inner` gives. Reads its first bytes.
    ///
    /// # Errors
    ///
    /// If `inner` cannot be read, is of no known format ([`InvalidData`](io::ErrorKind::InvalidData)), or is too short to have one
    /// ([`UnexpectedEof`](io::ErrorKind::UnexpectedEof)).
    pub fn new(inner: R) -> io::Result<Reader<R>> {
        ReaderBuilder::new().build(inner)
    }

    /// The format of the file. It is gzip until the first read, if the inner reader had no bytes yet when this reader was made.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The inner reader. Bytes may have been taken from it that were not yet decoded.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// Returns the inner reader. Bytes that were taken from it and not yet decoded are lost.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// The offset in the file, in bytes, of garbage after the last member, if there is any: bytes that are neither a member
    /// nor zeros. The contents end before it. It is known once the end of the contents was read.
    pub fn garbage_at(&self) -> Option<u64> {
        self.garbage_at
    }

    /// Lets no thread wait from here on: a call that would have to wait fails with
    /// [`WouldBlock`](io::ErrorKind::WouldBlock), and may be called again when `waker` was woken.
    #[cfg(feature = "tokio")]
    pub(crate) fn set_waker(&mut self, waker: &Waker) {
        self.waker.get_or_insert_with(|| waker.clone()).clone_from(waker);
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// The place among the contents of the next byte to be read.
    fn position(&self) -> u64 {
        self.at + self.used as u64 + self.skip
    }

    /// The same error, with the name of the file.
    fn named(&self, error: Error) -> Error {
        match self.name.clone() {
            Some(name) => Error::File(name, Box::new(error)),
            None => error,
        }
    }

    fn fail(&mut self, error: Error) -> io::Error {
        let error = self.named(error);
        match error.is_passing() {
            true => error.into(),
            false => self.failure.record(error),
        }
    }

    /// Finds out the format from the first bytes, unless it is known.
    fn detect(&mut self) -> Result<(), Error> {
        if self.has_format {
            return Ok(());
        }
        let mut inner = Ending { inner: &mut self.inner, is_at_end: &mut self.is_at_end };
        let format = Format::detect(&mut inner, &mut self.start).map_err(Error::Read)?;
        self.format = format.ok_or_else(|| of_no_format(&self.start))?;
        self.has_format = true;
        Ok(())
    }

    /// Whether the format was detected.
    #[cfg(feature = "tokio")]
    pub(crate) fn has_format(&self) -> bool {
        self.has_format
    }

    /// As [`detect`](Self::detect), unless the inner reader has too few bytes yet.
    fn detect_now(&mut self) -> io::Result<()> {
        match self.detect() {
            Err(error) if error.is_passing() => Ok(()),
            detected => detected.map_err(|error| self.fail(error)),
        }
    }

    /// Makes the next contents available, unless some are or there are no more.
    fn fill(&mut self) -> Result<(), Error> {
        while self.used == self.data.len() {
            self.at += self.data.len() as u64;
            self.used = 0;
            self.data.clear();
            if !self.produce()? {
                self.data.clear();
                break;
            }
            let skipped = self.skip.min(self.data.len() as u64);
            self.skip -= skipped;
            self.used = skipped as usize;
        }
        Ok(())
    }

    /// Replaces `data` by the contents at `at`. Returns `false` if there are none.
    fn produce(&mut self) -> Result<bool, Error> {
        loop {
            if let Some(places) = self.places.as_mut().filter(|places| places.by_parts.has_begun()) {
                let (inner, jump) = (&mut self.inner, &places.jump);
                let parts = known_parts(&places.parts, &self.line);
                let read = |offset, bytes: &mut [u8]| jump.read_at(inner, offset, bytes);
                places.has_moved = true;
                if places.by_parts.next(parts, read, &mut self.data)? {
                    return Ok(true);
                }
                if places.are_all_known {
                    return Ok(false);
                }
                places.by_parts.stop();
            }
            if self.at == self.line_at {
                return self.go_on();
            }
            let target = self.at + self.skip;
            self.go_back(target)?;
        }
    }

    /// Replaces `data` by the next contents that the line decodes. Returns `false` if there are none.
    fn go_on(&mut self) -> Result<bool, Error> {
        if self.has_ended {
            return Ok(false);
        }
        if let Some(places) = self.places.as_mut().filter(|places| places.has_moved) {
            places.jump.to(&mut self.inner, self.line_read.bytes).map_err(Error::Read)?;
            (places.has_moved, self.is_at_end) = (false, false);
            self.start.clear();
        }
        if let Some(place) = self.trailing_at {
            return self.end_at(place);
        }
        let Reader { inner, is_at_end, start, line_read, .. } = self;
        let mut source = Source { start, inner: Ending { inner, is_at_end }, read: line_read };
        let line = match &mut self.line {
            Some(line) => line,
            None => {
                source.extend().map_err(Error::Read)?;
                let line = {
                    let equipment = (self.threads.clone(), self.lender.clone());
                    self.format.reads().read(&self.settings, source.start, equipment)
                };
                self.line.insert(line)
            }
        };
        let mut next = |context: &mut Context<'_>| line.poll_next(context, &mut source, &mut self.data);
        let decoded = match &self.waker {
            None => block_on(next),
            Some(waker) => match next(&mut Context::from_waker(waker)) {
                Poll::Ready(decoded) => decoded,
                Poll::Pending => Err(Error::Read(io::ErrorKind::WouldBlock.into())),
            },
        };
        match decoded {
            Ok(true) => {
                self.line_at += self.data.len() as u64;
                Ok(true)
            }
            Ok(false) => {
                self.has_ended = true;
                Ok(false)
            }
            Err(error) => self.go_on_after(error),
        }
    }

    /// Returns `true` if the file has only zeros from this place on, where its format knows no other padding. Reads up to
    /// its end.
    fn ends_with_zeros_from(&mut self, place: u64) -> io::Result<bool> {
        let Reader { inner, is_at_end, start, line_read, .. } = self;
        let mut source = Source { start, inner: Ending { inner, is_at_end }, read: line_read };
        let mut buffer = [0; 4096];
        while self.format.reads().may_be_padded() && source.read.are_all_from(place) {
            match source.read(&mut buffer) {
                Ok(0) => return Ok(true),
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
        Ok(false)
    }

    /// Ends the contents before padding or garbage at `place`.
    fn end_at(&mut self, place: u64) -> Result<bool, Error> {
        // The inner reader may pause within the padding.
        self.trailing_at = Some(place);
        let is_padding = self.ends_with_zeros_from(place).map_err(Error::Read)?;
        self.garbage_at = Some(place).filter(|_| !is_padding);
        (self.trailing_at, self.has_ended) = (None, true);
        Ok(false)
    }

    /// Goes on after an error of the line, if it is none for a reader.
    fn go_on_after(&mut self, error: Error) -> Result<bool, Error> {
        if let Some(offset) = error.is_garbage_at(self.settings.loose_trailing) {
            return self.end_at(offset);
        }
        if error.is_passing() && self.line.as_ref().is_some_and(|line| !line.resumes()) {
            let target = self.at + self.skip;
            self.start_again(None);
            self.skip = target;
        }
        let needs_another_try =
            matches!(&error, Error::Damaged(damage) if damage.remedy() == Remedy::RegularFile);
        if needs_another_try && self.places.is_some() && self.settings.allow_late_flushes() {
            let target = self.at + self.skip;
            self.start_again(None);
            self.skip = target;
            return self.go_on();
        }
        Err(error)
    }

    /// Decodes the file from its start again, with `line`, or as at the first time.
    fn start_again(&mut self, line: Option<Box<dyn Decode>>) {
        self.line = line;
        (self.line_read, self.line_at, self.has_ended) = (Zeros::default(), 0, false);
        self.trailing_at = None;
        self.data.clear();
        (self.at, self.used, self.skip) = (0, 0, 0);
        if let Some(places) = &mut self.places {
            places.has_moved = true;
            places.by_parts.stop();
        }
    }

    /// Goes to a place before the one at which the line goes on.
    fn go_back(&mut self, target: u64) -> Result<(), Error> {
        if self.places.as_ref().is_some_and(|places| places.are_all_known) {
            return self.go_to_part(target).map(drop);
        }
        loop {
            if self.go_to_part(target)? {
                return Ok(());
            }
            let finds = self.line.as_ref().is_some_and(|line| line.parts().is_some());
            // The line has passed the place, but not the end of the part that contains it.
            if finds && self.line_at > target && !self.has_ended {
                self.pass()?;
                continue;
            }
            let spacing = self.places.as_ref().map_or(0, |places| places.spacing);
            let line = self.format.reads().read_finding(spacing).filter(|_| !finds);
            self.start_again(line);
            self.skip = target;
            return Ok(());
        }
    }

    /// Lets the line decode its next contents, which nobody reads now. The position does not change, also if that fails.
    fn pass(&mut self) -> Result<(), Error> {
        let held = (mem::take(&mut self.data), self.at, self.used, self.skip);
        (self.at, self.used, self.skip) = (self.line_at, 0, 0);
        let passed = self.go_on().map(drop);
        if passed.as_ref().is_err_and(|error| !error.is_passing()) {
            // A line does not go on after an error.
            self.start_again(None);
        }
        (self.data, self.at, self.used, self.skip) = held;
        passed
    }

    /// Goes to the known part that contains a place. Returns `false` if there is none.
    fn go_to_part(&mut self, target: u64) -> Result<bool, Error> {
        let Some(places) = &mut self.places else { return Ok(false) };
        let known = known_parts(&places.parts, &self.line);
        let number = known.partition_point(|part| part.contents.end <= target);
        let part = known.get(number);
        if part.is_none() && !places.are_all_known {
            return Ok(false);
        }
        (self.at, self.skip) = match part {
            Some(part) => (part.contents.start, target - part.contents.start),
            None => (target, 0),
        };
        places.by_parts.begin(number);
        self.data.clear();
        self.used = 0;
        Ok(true)
    }
}

/// The error of a file that begins with `start`, which is that of no format.
fn of_no_format(start: &[u8]) -> Error {
    let found = match start {
        [] => "an empty file".to_owned(),
        start if Format::may_begin(start) => {
            format!("a file that ends after `{}`: get all of it", start.escape_ascii())
        }
        start => format!("a file that begins with `{}`", start.escape_ascii()),
    };
    let names: Vec<_> = Format::all().map(Format::name).collect();
    let message = format!("expected a file of one of the formats {}, found {found}", names.join(", "));
    match Format::may_begin(start) {
        true => Error::Short(message),
        false => Error::Unknown(message),
    }
}

/// The parts that the file or an index tells, or those that a line has found.
fn known_parts<'a>(parts: &'a Option<Vec<Part>>, line: &'a Option<Box<dyn Decode>>) -> &'a [Part] {
    match (parts, line) {
        (Some(parts), _) => parts,
        (None, line) => line.as_ref().and_then(|line| line.parts()).unwrap_or_default(),
    }
}

/// The file, for the line: the bytes that were read to detect the format, and then the inner reader.
struct Source<'a, R> {
    start: &'a mut Vec<u8>,
    inner: Ending<'a, R>,
    /// The bytes given.
    read: &'a mut Zeros,
}

/// An inner reader that is not read again after its end.
struct Ending<'a, R> {
    inner: &'a mut R,
    is_at_end: &'a mut bool,
}

impl<R: Read> Read for Ending<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if *self.is_at_end || buffer.is_empty() {
            return Ok(0);
        }
        let len = self.inner.read(buffer)?;
        *self.is_at_end = len == 0;
        Ok(len)
    }
}

impl<R: Read> Source<'_, R> {
    /// Reads some more bytes of a file of which few were read yet, so that its first blocks can be looked at.
    fn extend(&mut self) -> io::Result<()> {
        let mut some = [0; 512];
        match self.inner.read(&mut some) {
            Ok(len) => self.start.extend_from_slice(&some[..len]),
            // There may be enough already.
            Err(error) if error.kind() == io::ErrorKind::Interrupted || is_passing(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl<R: Read> Read for Source<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let held = buffer.len().min(self.start.len());
        buffer[..held].copy_from_slice(&self.start[..held]);
        self.start.drain(..held);
        let more = match held {
            0 => self.inner.read(buffer)?,
            _ => 0,
        };
        self.read.add(&buffer[..held + more]);
        Ok(held + more)
    }
}

impl<R: Read> BufRead for Reader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.failure.check()?;
        self.detect().and_then(|()| self.fill()).map_err(|error| self.fail(error))?;
        Ok(&self.data[self.used..])
    }

    fn consume(&mut self, amount: usize) {
        self.used = (self.used + amount).min(self.data.len());
    }
}

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let available = self.fill_buf()?;
        let len = available.len().min(buffer.len());
        buffer[..len].copy_from_slice(&available[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl<R: Read + Seek + Send> Seek for Reader<R> {
    /// Goes to a place among the contents, in bytes. A place behind their end has nothing to read. To go to a place that
    /// counts from the end of a file that does not tell the size of its contents, the file is decoded to its end. After an
    /// error, the position is where it was, and the reader can still be used.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.failure.check()?;
        let target = match to {
            SeekFrom::Start(target) => Some(target),
            SeekFrom::Current(distance) => self.position().checked_add_signed(distance),
            SeekFrom::End(distance) => self
                .find_places()
                .and_then(|()| self.size())
                .map_err(|error| self.named(error))?
                .checked_add_signed(distance),
        };
        let Some(target) = target else {
            let message = "expected a place at or after the start of the contents, found one before it";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        };
        self.go_to(target).map_err(|error| self.named(error))?;
        Ok(target)
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(self.position())
    }
}

impl<R: Read + Seek + Send> Reader<R> {
    /// Goes to a place among the contents, in bytes, as [`seek`](Seek::seek) does, but never leaves them: a place before their start is
    /// the start, and one after their end is the end. Returns the place. A file that does not tell the size of its contents is decoded
    /// up to the place.
    ///
    /// ```
    /// use std::io::{Cursor, SeekFrom, Write};
    ///
    /// let mut writer = abz::Writer::new(Vec::new())?;
    /// writer.write_all(b"a branch of a river\n")?;
    /// let mut reader = abz::Reader::new(Cursor::new(writer.finish()?))?;
    /// assert_eq!(reader.seek_within(SeekFrom::Start(1_000))?, 20);
    /// assert_eq!(reader.seek_within(SeekFrom::End(-1_000))?, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the file is damaged up to the place or cannot be read. The position is then where it was, and the reader can still be used.
    pub fn seek_within(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.failure.check()?;
        let from = self.position();
        let sought = self.find_places().and_then(|()| self.go_within(to));
        if sought.is_err() {
            self.go_to(from).map_err(|error| self.fail(error))?;
        }
        sought.map_err(|error| self.named(error).into())
    }

    fn go_within(&mut self, to: SeekFrom) -> Result<u64, Error> {
        let target = match to {
            SeekFrom::Start(target) => target,
            SeekFrom::Current(distance) => self.position().saturating_add_signed(distance),
            SeekFrom::End(distance) => self.size()?.saturating_add_signed(distance),
        };
        self.go_to(target)?;
        let places = self.places.as_ref().expect("they were found");
        let tells_size = places.size.is_some() || places.are_all_known;
        if !tells_size && target > self.line_at {
            // Up to the place, or to the end.
            let filled = self.fill();
            if filled.as_ref().is_err_and(|error| !error.is_passing()) {
                // A line does not go on after an error.
                self.start_again(None);
            }
            filled?;
        }
        if tells_size || self.has_ended {
            let end = self.size()?;
            if end < target {
                return self.go_to(end).map(|()| end);
            }
        }
        Ok(target)
    }

    /// Makes an index of the file, to be saved for [`ReaderBuilder::index`]: its [bytes](Index::to_bytes). Decodes the whole
    /// file, unless the reader has an index. The position does not change. In a gzip file that does not record where its blocks
    /// lie, it has a place for each 256 KiB of contents, and fewer if the file is larger than 1 GiB.
    ///
    /// ```
    /// use std::io::{Cursor, Write};
    ///
    /// let mut writer = abz::Writer::new(Vec::new())?;
    /// writer.write_all(b"a branch of a river\n")?;
    /// let mut reader = abz::Reader::new(Cursor::new(writer.finish()?))?;
    /// assert_eq!(reader.index()?.lines(), 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn index(&mut self) -> io::Result<Index> {
        self.failure.check()?;
        let made = self.find_places().and_then(|()| self.make_index());
        made.map_err(|error| self.named(error).into())
    }

    fn make_index(&mut self) -> Result<Index, Error> {
        if let Some(index) = &self.index {
            return Ok(index.clone());
        }
        let places = self.places.as_mut().expect("they were found");
        places.has_moved = true;
        let pool = self.threads.as_ref().map(|threads| &*threads.pool);
        let spacing = places.index_spacing();
        let shared = Shared::new(&mut self.inner, &places.jump);
        make_index(&shared, spacing, &self.settings, RunOptions { pool, ..RunOptions::default() })
    }

    /// The places of the file, before it was looked for any.
    fn places(&mut self) -> Result<Places<R>, Error> {
        let by_parts = ByParts::new(&self.settings, self.threads.clone());
        Places::of(
            &mut self.inner,
            self.line_read.bytes + self.start.len() as u64,
            by_parts,
            &mut self.failure,
        )
    }

    /// Finds out how to go to other places of the file.
    fn find_places(&mut self) -> Result<(), Error> {
        self.detect()?;
        if self.places.is_none() {
            self.places = Some(self.places()?);
        }
        let places = self.places.as_mut().expect("they were found");
        places.look_for_parts(&mut self.inner, self.format, self.index.as_ref())
    }

    fn go_to(&mut self, target: u64) -> Result<(), Error> {
        let (from, held) = (self.at, self.data.len() as u64);
        if (from..=from + held).contains(&target) {
            self.used = (target - from) as usize;
            self.skip = 0;
            return Ok(());
        }
        self.find_places()?;
        let places = self.places.as_mut().expect("they were found");
        let next = from + held;
        if places.are_all_known {
            let parts = places.parts.as_deref().unwrap_or_default();
            let part = parts.get(parts.partition_point(|part| part.contents.end <= target));
            if !part.is_some_and(|part| (part.contents.start..=target).contains(&next)) {
                return self.go_to_part(target).map(drop);
            }
        } else if target < self.line_at {
            return self.go_back(target);
        } else {
            places.by_parts.stop();
            self.data.clear();
            (self.at, self.used, self.skip) = (self.line_at, 0, target - self.line_at);
            return Ok(());
        }
        self.data.clear();
        (self.at, self.used, self.skip) = (next, 0, target - next);
        Ok(())
    }

    /// The size of all contents in bytes.
    fn size(&mut self) -> Result<u64, Error> {
        let places = self.places.as_mut().expect("they were found");
        if let Some(size) = places.size {
            return Ok(size);
        }
        if places.are_all_known {
            let parts = places.parts.as_deref().unwrap_or_default();
            return Ok(parts.last().map_or(0, |part| part.contents.end));
        }
        while !self.has_ended {
            self.pass()?;
        }
        Ok(self.line_at)
    }
}

impl<R: fmt::Debug> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("inner", &self.inner)
            .field("format", &self.format)
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}
