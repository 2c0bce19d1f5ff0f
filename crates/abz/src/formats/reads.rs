//! What is asked of a format that is read.

use std::io::{self, Read, Seek, Write};
use std::ops::Range;
use std::sync::atomic::AtomicU64;

use abz_codec::access::{Kind, Part};
use anabranch::Plan;

use crate::conduct::Conduct;
use crate::count::Counted;
use crate::decompress::{Decompressed, Decompression};
use crate::error::Error;
use crate::places::Along;
use crate::places::{ReadAt, WriteAt};
use crate::recovery::Recover;
use crate::run::{Run, RunAlone};
use crate::tally::{Indexed, Tally};

/// Where a file of the formats is read from: a file, or parts of one.
pub(crate) trait ReadSeek: Read + Seek {}

impl<F: Read + Seek> ReadSeek for F {}

/// What came of it to decode a file by its index.
#[derive(Debug)]
pub(crate) enum ByIndex {
    /// Nothing was done: the index is of no use for that.
    Unused,
    Done(Decompressed),
    /// The index is wrong, or the file is damaged. Before that was found out, `written` bytes of contents were written, and they
    /// are right.
    Refuted {
        written: u64,
    },
    /// The index may be right, but the file goes on in a way that is not decoded in parts. Before, `written` bytes were written, and
    /// they are right.
    LeftOff {
        written: u64,
    },
}

/// How a format and its files are called.
#[derive(Debug)]
pub(crate) struct Names {
    /// In lower case.
    pub(crate) name: &'static str,
    /// The usual end of a file's name.
    pub(crate) suffix: &'static str,
    /// The ends of names that are known, and what stands in their place in the names of the contents.
    pub(crate) suffixes: &'static [(&'static str, &'static str)],
}

/// A format that is read.
pub(crate) trait Reads: Sync {
    /// Its name, and those of its files.
    fn names(&self) -> &'static Names;

    /// True if `start` can be the start of a file of this format.
    fn begins(&self, start: &[u8]) -> bool;

    /// True if a file says how much memory it takes to decode it.
    fn asks_for_memory(&self) -> bool {
        false
    }

    /// The most pieces of a file that are in memory at once with so many workers.
    fn window(&self, workers: usize) -> usize {
        crate::pipes::window(workers)
    }

    /// Decodes a file.
    fn decompress(&self, run: Run<'_>) -> Result<(), Error>;

    /// Decodes a file on this thread.
    fn decompress_alone(&self, run: RunAlone<'_>) -> Result<(), Error>;

    /// The plan of [`decompress`](Self::decompress).
    fn plan_to_read(&self, how: &Decompression) -> Plan;

    /// True if some files say where their parts are, so that workers read and write them where they belong.
    fn is_read_at(&self) -> bool {
        false
    }

    /// Decodes such a file; `None` if it is no such file, or is damaged.
    fn decompress_at(
        &self,
        _how: &Decompression,
        _conduct: &Conduct<'_>,
        _input: &dyn ReadAt,
        _output: &dyn WriteAt,
    ) -> Result<Option<Decompressed>, Error> {
        Ok(None)
    }

    /// The size of the contents in bytes, if the file says it.
    fn contents(&self, _file: &mut dyn ReadSeek) -> io::Result<Option<u64>> {
        Ok(None)
    }

    /// The parts of a file, if it says where they are.
    fn parts(&self, _file: &mut Along<'_>) -> io::Result<Option<Vec<Part>>> {
        Ok(None)
    }

    /// Those of the parts of a file in which there are these bytes of the contents, and the size of all contents, where that is
    /// found without looking at the others.
    fn parts_around(
        &self,
        _file: &mut Along<'_>,
        _bytes: &Range<u64>,
    ) -> io::Result<Option<(Vec<Part>, u64)>> {
        Ok(None)
    }

    /// Decodes what follows in a file from a part on, of which `input` gives the bytes, as one decodes the file: true. False if
    /// such a part is of another format, or is decoded by itself only.
    fn decompress_from(&self, _kind: Kind, _from: Behind, _run: Run<'_>) -> Result<bool, Error> {
        Ok(false)
    }

    /// Decodes a file, and gives its parts, with what is known of them then. Where it does not say where they are, those that are
    /// found are at least `spacing` bytes of contents apart.
    fn index(
        &self,
        how: &Decompression,
        conduct: Conduct<'_>,
        input: &dyn ReadAt,
        _spacing: u64,
        output: &mut (dyn Write + Send),
    ) -> Result<Indexed, Error> {
        let parts = self.parts(&mut Along::new(input)).map_err(Error::Read)?;
        index_of_parts(self, parts.unwrap_or_default(), how, conduct, input, output)
    }

    /// Decodes a file with the help of what an index says of its parts, if that is quicker. Nothing is believed: only what one
    /// comes to who decodes the file from its start is written.
    fn decompress_indexed(
        &self,
        _how: &Decompression,
        _conduct: &Conduct<'_>,
        _input: &dyn ReadAt,
        _parts: &[Part],
        _output: &mut (dyn Write + Send),
    ) -> Result<ByIndex, Error> {
        Ok(ByIndex::Unused)
    }

    /// The plan of [`decompress_indexed`](Self::decompress_indexed), where that is quicker.
    fn plan_to_read_indexed(&self, _how: &Decompression, _parts: &[Part]) -> Option<Plan> {
        None
    }

    /// What finds all that is whole in a damaged file, if one can go on behind damage.
    fn recover(&self) -> Option<Recover> {
        None
    }
}

/// Where a part begins: behind so many of its kind, and so many bytes of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behind {
    pub(crate) parts: u64,
    pub(crate) bytes: u64,
}

impl Behind {
    /// The start of the file.
    pub(crate) const START: Behind = Behind { parts: 0, bytes: 0 };
}

/// Decodes a file of a format.
pub(crate) fn decode<R: Reads + ?Sized>(
    format: &R,
    how: &Decompression,
    conduct: &Conduct<'_>,
    input: &mut (dyn Read + Send),
    output: &mut (dyn Write + Send),
) -> Result<Decompressed, Error> {
    let mut input = Counted::new(input);
    let mut output = Counted::new(output);
    let mistaken = AtomicU64::new(0);
    let run = Run { how, conduct, input: &mut input, output: &mut output, mistaken: &mistaken };
    let garbage_at = match format.decompress(run) {
        Ok(()) => None,
        Err(error) => Some(error.is_garbage_at(how).ok_or(error)?),
    };
    output.flush().map_err(Error::Write)?;
    let mistaken = Some(mistaken.into_inner()).filter(|&number| number > 0);
    Ok(Decompressed { read: input.bytes, written: output.bytes, garbage_at, mistaken })
}

/// What is known of these parts of a file of a format, when it was decoded.
pub(crate) fn index_of_parts<R: Reads + ?Sized>(
    format: &R,
    parts: Vec<Part>,
    how: &Decompression,
    conduct: Conduct<'_>,
    input: &dyn ReadAt,
    output: &mut (dyn Write + Send),
) -> Result<Indexed, Error> {
    let mut tally = Tally::new(parts, output);
    let done = decode(format, how, &conduct, &mut Along::new(input), &mut tally)?;
    Ok(Indexed { garbage_at: done.garbage_at, mistaken: done.mistaken, ..tally.finish() })
}
