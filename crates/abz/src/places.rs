//! Files whose parts are read and written where they lie, by all workers at once: no thread reads or writes for the
//! others.

use std::io::{self, Read, Seek, SeekFrom, Write};

use abz_codec::bzip2::StreamWriter;
use abz_codec::gzip::{Entry, Index, MAX_BLOCK};
use anabranch::Recycled;

use crate::conduct::Conduct;
use crate::count::Counted;
use crate::pipes::{self, carry_out, carry_out_at};
use crate::{Compressed, Compression, Decompressed, Decompression, Error, Format};

/// An input of known size whose parts any thread may read at any time.
pub trait ReadAt: Sync {
    /// How many bytes are to be read of it: what comes behind is ignored.
    fn size(&self) -> u64;

    /// Reads what lies at `offset`.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not there any more.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
}

/// An output whose parts any thread may write at any time.
pub trait WriteAt: Sync {
    /// Writes `bytes` to `offset`, at or behind the end of what was written so far, or before it.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

/// How an input is read.
#[allow(missing_debug_implementations)] // it is the caller's
pub enum Reading<'a> {
    /// From start to end, by one thread at a time.
    Stream(&'a mut (dyn Read + Send)),
    /// In parts, by all workers.
    Places(&'a dyn ReadAt),
}

/// How an output is written.
#[allow(missing_debug_implementations)] // it is the caller's
pub enum Writing<'a> {
    /// From start to end, by one thread at a time.
    Stream(&'a mut (dyn Write + Send)),
    /// In parts, by all workers.
    Places(&'a dyn WriteAt),
}

impl ReadAt for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).ok();
        let range = start.and_then(|start| Some(start..start.checked_add(bytes.len())?));
        bytes.copy_from_slice(range.and_then(|range| self.get(range)).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// Parts, read one after another.
pub(crate) struct Along<'a> {
    places: &'a dyn ReadAt,
    position: u64,
}

impl<'a> Along<'a> {
    /// From the start.
    pub(crate) fn new(places: &'a dyn ReadAt) -> Self {
        Along::at(places, 0)
    }

    pub(crate) fn at(places: &'a dyn ReadAt, position: u64) -> Self {
        Along { places, position }
    }
}

impl Read for Along<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.places.size().saturating_sub(self.position);
        let len = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.places.read_at(&mut bytes[..len], self.position)?;
        self.position += len as u64;
        Ok(len)
    }
}

impl Seek for Along<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(distance) => self.places.size().checked_add_signed(distance),
            SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
        };
        self.position = target.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// Writes what a stream gives by a writer of its format, and gives the size of the file in bytes. No function, since
/// the writer has to live longer than the stream.
macro_rules! write_out {
    ($stream:expr, $conduct:expr, $output:expr, |$to:ident| $writer:expr) => {
        match $output {
            Writing::Stream(output) => {
                let $to = Counted::new(output);
                let mut file = $writer;
                carry_out($stream, $conduct, |part| file.write(&part).map_err(Error::Write))?;
                file.finish().map_err(Error::Write)?.bytes
            }
            Writing::Places(places) => {
                let ($to, mut end) = (Vec::new(), 0);
                let mut file = $writer;
                carry_out_at($stream, $conduct, places, &mut end, |part| {
                    file.write(&part).map_err(Error::Write)?;
                    Ok(std::mem::take(file.get_mut()))
                })?;
                let rest = file.finish().map_err(Error::Write)?;
                places.write_at(&rest, end).map_err(Error::Write)?;
                end + rest.len() as u64
            }
        }
    };
}

impl Compression {
    /// Whether workers can write this format where it belongs.
    pub fn can_write_at(&self) -> bool {
        matches!(self.format, Format::Gzip | Format::Bzip2)
    }

    /// As [`conduct`](Compression::conduct), with the same output, read and written in the given ways. The blocks of gzip
    /// are read where they lie; those of other formats, and those that are cut by their contents, begin where the one before
    /// ends, and are read one after another.
    ///
    /// # Errors
    ///
    /// As [`conduct`](Compression::conduct).
    ///
    /// # Panics
    ///
    /// As [`conduct`](Compression::conduct), and where parts are to be written of a format of which they
    /// [cannot](Compression::can_write_at).
    pub fn conduct_by(
        &self,
        conduct: Conduct<'_>,
        input: Reading<'_>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        let pool = conduct.pool;
        let (read, written) = match (self.format, input) {
            (Format::Gzip, Reading::Places(places)) if !self.rsyncable => {
                let written =
                    write_out!(pipes::gzip::compress_at(self, places, pool), &conduct, output, |to| {
                        pipes::gzip::writer(self, to)
                    });
                (places.size(), written)
            }
            (Format::Gzip, input) => {
                let mut input = Counted::new(in_order(input));
                let written =
                    write_out!(pipes::gzip::compress(self, &mut input, conduct), &conduct, output, |to| {
                        pipes::gzip::writer(self, to)
                    });
                (input.bytes, written)
            }
            (Format::Bzip2, input) => {
                let level = pipes::bzip2::level(self);
                let mut input = Counted::new(in_order(input));
                let written =
                    write_out!(pipes::bzip2::compress(self, &mut input, conduct), &conduct, output, |to| {
                        StreamWriter::new(to, level)
                    });
                (input.bytes, written)
            }
            (_, input) => {
                let Writing::Stream(output) = output else { panic!("{} is written in order", self.format) };
                return self.conduct(conduct, in_order(input), output);
            }
        };
        Ok(Compressed { read, written })
    }
}

impl Decompression {
    /// Decompresses a file of gzip that tells where each block or member lies, as each file of several blocks does
    /// that this crate makes: each worker reads, decodes and writes members where they belong. `None` if it is no such
    /// file, or is damaged: then the output is not what it should be, and [`conduct`](Decompression::conduct) gives what
    /// is right, and says what is wrong.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or the output not written.
    ///
    /// # Panics
    ///
    /// If there are no workers.
    pub fn conduct_at(
        &self,
        conduct: Conduct<'_>,
        input: &dyn ReadAt,
        output: &dyn WriteAt,
    ) -> Result<Option<Decompressed>, Error> {
        let mut file = Along::new(input);
        let index = match Index::read(&mut file) {
            Ok(None) => Index::of_marks(&mut file).map_err(Error::Read)?,
            index => index.ok().flatten(),
        };
        let Some(index) = index else { return Ok(None) };
        // No size that a file claims is believed.
        let is_ours = |entry: &Entry| {
            entry.uncompressed as usize <= MAX_BLOCK && entry.compressed as usize <= MAX_BLOCK + (1 << 20)
        };
        if !index.entries().iter().all(is_ours) {
            return Ok(None);
        }
        let stream = pipes::gzip::decompress_at(self.workers, input, index.entries(), conduct.pool)
            .try_map(|(data, start): (Recycled<Vec<u8>>, u64)| {
                output.write_at(&data, start).map_err(Error::Write)
            })
            .name("write");
        match carry_out(stream, &conduct, |()| Ok(())) {
            Ok(()) => Ok(Some(Decompressed {
                read: input.size(),
                written: index.uncompressed(),
                garbage_at: None,
                mistaken: None,
            })),
            Err(Error::Gzip(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// An input, read from start to end.
fn in_order<'a>(input: Reading<'a>) -> Box<dyn Read + Send + 'a> {
    match input {
        Reading::Stream(input) => Box::new(input),
        Reading::Places(places) => Box::new(Along::new(places)),
    }
}
