//! Plain data in, a compressed file out.

use std::io::{self, Read, Write};

use abz_codec::DEFAULT_BLOCK_SIZE;
use abz_codec::bzip2::{EncodedBlock, StreamWriter};
use abz_codec::gzip::{Encoded, MemberWriter, Origin};
use anabranch::Plan;

use crate::conduct::Conduct;
use crate::count::Counted;
use crate::pipes::{self, carry_out};
use crate::{Error, Format};

/// How to compress. All but `workers` decides what comes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// What to make, one of [`Format::WRITTEN`].
    pub format: Format,
    /// 1 (fastest) to [`Format::highest_level`] (smallest).
    pub level: u32,
    /// Bytes of input in a block of gzip, 1 to [`gzip::MAX_BLOCK`](crate::gzip::MAX_BLOCK). A block of bzip2 is as large
    /// as its level says.
    pub block_size: usize,
    /// The name and the time that a file of gzip tells.
    pub origin: Origin,
    /// Threads that work, the caller's among them; at least 1.
    pub workers: usize,
}

/// What [`Compression::run`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// Bytes of input.
    pub read: u64,
    /// Bytes of output.
    pub written: u64,
}

impl Default for Compression {
    /// gzip at level 6, blocks of 1.25 MiB, nothing told, as many workers as the process may use cores.
    fn default() -> Self {
        Compression {
            format: Format::Gzip,
            level: Format::Gzip.default_level(),
            block_size: DEFAULT_BLOCK_SIZE,
            origin: Origin::default(),
            workers: anabranch::default_workers(),
        }
    }
}

impl Compression {
    /// Compresses all of `input` to one file on `output`.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or the output not written. What was written by then is no whole file.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn run(&self, input: impl Read + Send, output: impl Write + Send) -> Result<Compressed, Error> {
        self.conduct(Conduct::default(), input, output)
    }

    /// As [`run`](Compression::run), carried out and watched as `conduct` says.
    ///
    /// # Errors
    ///
    /// As [`run`](Compression::run).
    ///
    /// # Panics
    ///
    /// As [`run`](Compression::run).
    pub fn conduct(
        &self,
        conduct: Conduct<'_>,
        input: impl Read + Send,
        output: impl Write + Send,
    ) -> Result<Compressed, Error> {
        let mut input = Counted::new(input);
        let output = Counted::new(output);
        let (read, pool) = (&mut input, conduct.pool);
        let output = match self.format {
            Format::Gzip => {
                let mut file = MemberWriter::new(output);
                let write = |member: Encoded| file.write(&member).map_err(Error::Write);
                carry_out(pipes::gzip::compress(self, read, pool), &conduct, write)?;
                file.finish()
            }
            Format::Bzip2 => {
                let mut file = StreamWriter::new(output, pipes::bzip2::level(self));
                let write = |block: EncodedBlock| file.write(&block).map_err(Error::Write);
                carry_out(pipes::bzip2::compress(self, read, pool), &conduct, write)?;
                file.finish()
            }
            Format::Compress => pipes::not_written(self.format),
        };
        let mut output = output.map_err(Error::Write)?;
        output.flush().map_err(Error::Write)?;
        Ok(Compressed { read: input.bytes, written: output.bytes })
    }

    /// The size of a block in bytes.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn block_len(&self) -> usize {
        match self.format {
            Format::Gzip => self.block_size,
            Format::Bzip2 => pipes::bzip2::level(self).block_size(),
            Format::Compress => pipes::not_written(self.format),
        }
    }

    /// The most blocks that are in memory at once: two for each worker, one in its hands and one that waits to be
    /// taken, or to be written.
    pub fn window(&self) -> usize {
        pipes::window(self.workers)
    }

    /// The plan that [`run`](Compression::run) would run.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn plan(&self) -> Plan {
        match self.format {
            Format::Gzip => pipes::gzip::compress(self, io::empty(), None).plan(),
            Format::Bzip2 => pipes::bzip2::compress(self, io::empty(), None).plan(),
            Format::Compress => pipes::not_written(self.format),
        }
    }
}
