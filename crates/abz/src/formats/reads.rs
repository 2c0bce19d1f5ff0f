//! The interface of a format that is read.

use std::io::{self, Read, Seek, Write};
use std::ops::Range;
use std::sync::atomic::AtomicU64;

use abz_codec::access::{Kind, Part};
use anabranch::Plan;

use crate::count::Counted;
use crate::decompression::{Decompressed, Decompression};
use crate::error::Error;
use crate::index_builder::{IndexBuilder, Indexed};
use crate::pipes::decode::Steps;
use crate::positional::Along;
use crate::positional::{ReadAt, WriteAt};
use crate::reader::line::{Decode, DecodeLine};
use crate::recovery::Recover;
use crate::run::Run;
use crate::run_options::{Equipment, RunOptions};
use crate::threads::Threads;
use crate::tools::Lender;
use crate::zeros::Zeros;

/// A reader that can seek, as a trait object.
pub(crate) trait ReadSeek: Read + Seek {}

impl<F: Read + Seek> ReadSeek for F {}

/// The result of decoding a file by its index.
#[derive(Debug)]
pub(crate) enum ByIndex {
    /// The index is of no use for that, and nothing has been written.
    Unused,
    Done(Decompressed),
    /// The index is wrong, or the file is damaged. `written` bytes of contents have been written, and they are right.
    Refuted {
        written: u64,
    },
    /// The index may be right, but the rest of the file cannot be decoded in parts. `written` bytes of contents have
    /// been written, and they are right.
    LeftOff {
        written: u64,
    },
}

/// The names of a format and its files.
#[derive(Debug)]
pub(crate) struct Names {
    /// The name, in lower case.
    pub(crate) name: &'static str,
    /// The usual suffix of a file's name.
    pub(crate) suffix: &'static str,
    /// The suffixes of file names, each with the suffix that replaces it in the name of the decompressed file.
    pub(crate) suffixes: &'static [(&'static str, &'static str)],
}

/// A format that is read.
pub(crate) trait Reads: Sync {
    /// The names of the format and its files.
    fn names(&self) -> &'static Names;

    /// The bytes with which files begin, as far as they are the same in most files.
    fn magic(&self) -> &'static [u8];

    /// Returns true if `start` can be the start of a file of this format.
    fn begins(&self, start: &[u8]) -> bool {
        start.starts_with(self.magic())
    }

    /// Returns true if a file that ends after `start`, before it [begins](Self::begins), may be the first bytes of one of this format.
    fn may_begin(&self, start: &[u8]) -> bool {
        self.magic().starts_with(start)
    }

    /// Returns true if zeros may follow the last part of a file, in any number.
    fn may_be_padded(&self) -> bool {
        true
    }

    /// Returns true if a file determines how much memory decoding takes.
    fn asks_for_memory(&self) -> bool {
        false
    }

    /// The maximum number of pieces of a file in memory at once, with `workers` workers.
    fn window(&self, workers: usize) -> usize {
        crate::pipes::window(workers)
    }

    /// Returns the steps in which a file is decoded. Its first bytes are `start`, if they are known.
    fn decode_steps<'a>(&self, how: &Decompression, start: &[u8], equipment: Equipment<'a>) -> Steps<'a>;

    /// Decodes a file.
    fn decompress(&self, run: Run<'_>) -> Result<(), Error> {
        let Run { how, options, input, output, .. } = run;
        let steps = self.decode_steps(how, &[], options.equipment());
        steps.run(options, input, &mut |_, contents| contents.write_to(&mut *output))
    }

    /// Begins to decode a file whose bytes the caller reads. The first of them are `start`.
    fn read(
        &self,
        how: &Decompression,
        start: &[u8],
        (threads, lender): (Option<Threads>, Lender),
    ) -> Box<dyn Decode> {
        let equipment = Equipment { lender, ..Equipment::default() };
        DecodeLine::new(self.decode_steps(how, start, equipment), threads)
    }

    /// As [`read`](Self::read), and finds parts that are at least `spacing` bytes of contents apart, if that is slower
    /// than not to find them.
    fn read_finding(&self, _spacing: u64) -> Option<Box<dyn Decode>> {
        None
    }

    /// Returns the plan of [`decompress`](Self::decompress).
    fn plan_to_read(&self, how: &Decompression) -> Plan {
        self.decode_steps(how, &[], Equipment::default()).plan()
    }

    /// Returns true if some files record where their parts lie, so that workers can read and write them at their
    /// offsets.
    fn is_read_at(&self) -> bool {
        false
    }

    /// Decodes such a file. Returns `None` if it is no such file, or is damaged.
    fn decompress_at(
        &self,
        _how: &Decompression,
        _options: &RunOptions<'_>,
        _input: &dyn ReadAt,
        _output: &dyn WriteAt,
    ) -> Result<Option<Decompressed>, Error> {
        Ok(None)
    }

    /// The size of the contents in bytes, if the file records it.
    fn contents(&self, _file: &mut dyn ReadSeek) -> io::Result<Option<u64>> {
        Ok(None)
    }

    /// The parts of a file, if it records where they lie.
    fn parts(&self, _file: &mut Along<'_>) -> io::Result<Option<Vec<Part>>> {
        Ok(None)
    }

    /// The parts that hold the given bytes of the contents, and the size of all contents in bytes. `None` if the file
    /// does not allow finding them without reading the other parts.
    fn parts_around(
        &self,
        _file: &mut Along<'_>,
        _bytes: &Range<u64>,
    ) -> io::Result<Option<(Vec<Part>, u64)>> {
        Ok(None)
    }

    /// Decodes a file from the part at `from` on, as [`decompress`](Self::decompress) decodes it from its start. The
    /// input of `run` begins with that part. Returns false if the kind of part belongs to another format, or can only
    /// be decoded by itself.
    fn decompress_from(&self, _kind: Kind, _from: Behind, _run: Run<'_>) -> Result<bool, Error> {
        Ok(false)
    }

    /// Decodes a file, and returns its parts, with their checksums and line counts. If the file does not record where
    /// its parts lie, those found are at least `spacing` bytes of contents apart.
    fn index(
        &self,
        how: &Decompression,
        options: RunOptions<'_>,
        input: &dyn ReadAt,
        _spacing: u64,
        output: &mut (dyn Write + Send),
    ) -> Result<Indexed, Error> {
        let parts = self.parts(&mut Along::new(input)).map_err(Error::Read)?;
        index_of_parts(self, parts.unwrap_or_default(), how, options, input, output)
    }

    /// Decodes a file by the parts of an index, if that is quicker. The parts are not trusted: only those contents are
    /// written that decoding the file from its start would give too.
    fn decompress_indexed(
        &self,
        _how: &Decompression,
        _options: &RunOptions<'_>,
        _input: &dyn ReadAt,
        _parts: &[Part],
        _output: &mut (dyn Write + Send),
    ) -> Result<ByIndex, Error> {
        Ok(ByIndex::Unused)
    }

    /// The plan of [`decompress_indexed`](Self::decompress_indexed), if that is quicker.
    fn plan_to_read_indexed(&self, _how: &Decompression, _parts: &[Part]) -> Option<Plan> {
        None
    }

    /// The function that recovers damaged files of this format, if there is one.
    fn recover(&self) -> Option<Recover> {
        None
    }
}

/// The position of a part: the number of parts of its kind before it, and the number of bytes of the file before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behind {
    pub(crate) parts: u64,
    pub(crate) bytes: u64,
}

impl Behind {
    /// The start of the file.
    pub(crate) const START: Behind = Behind { parts: 0, bytes: 0 };
}

/// A reader that looks for zeros at the end of what it reads.
struct Watched<'a> {
    inner: &'a mut (dyn Read + Send),
    zeros: Zeros,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.zeros.add(&buffer[..len]);
        Ok(len)
    }
}

impl Watched<'_> {
    /// Reads up to the end as long as there are only zeros from this place on. Returns `true` if there are no others.
    fn ends_with_zeros_from(&mut self, place: u64) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        while self.zeros.are_all_from(place) {
            match self.read(&mut buffer) {
                Ok(0) => return Ok(true),
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
        Ok(false)
    }
}

/// Decodes a file, and returns the number of bytes read and written.
pub(crate) fn decode<R: Reads + ?Sized>(
    format: &R,
    how: &Decompression,
    options: &RunOptions<'_>,
    input: &mut (dyn Read + Send),
    output: &mut (dyn Write + Send),
) -> Result<Decompressed, Error> {
    let mut input = Watched { inner: input, zeros: Zeros::default() };
    let mut output = Counted::new(output);
    let mistaken = AtomicU64::new(0);
    let run = Run { how, options, input: &mut input, output: &mut output, mistaken: &mistaken };
    let mut garbage_at = match format.decompress(run) {
        Ok(()) => None,
        Err(error) => Some(error.is_garbage_at(how.loose_trailing).ok_or(error)?),
    };
    let padding_at = match garbage_at {
        Some(at) if format.may_be_padded() && input.ends_with_zeros_from(at).map_err(Error::Read)? => {
            garbage_at.take()
        }
        _ => None,
    };
    output.flush().map_err(Error::Write)?;
    let mistaken = Some(mistaken.into_inner()).filter(|&number| number > 0);
    Ok(Decompressed { read: input.zeros.bytes, written: output.bytes, garbage_at, padding_at, mistaken })
}

/// Decodes a file, and returns `parts` with their checksums and line counts.
pub(crate) fn index_of_parts<R: Reads + ?Sized>(
    format: &R,
    parts: Vec<Part>,
    how: &Decompression,
    options: RunOptions<'_>,
    input: &dyn ReadAt,
    output: &mut (dyn Write + Send),
) -> Result<Indexed, Error> {
    let mut builder = IndexBuilder::new(parts, output);
    let done = decode(format, how, &options, &mut Along::new(input), &mut builder)?;
    Ok(Indexed { garbage_at: done.garbage_at, mistaken: done.mistaken, ..builder.finish() })
}
