//! Blocks in, members out.

use std::io::{self, Read, Write};

use abz_codec::gzip::{Encoded, Encoder, MemberWriter, Origin};
use abz_codec::{Blocks, DEFAULT_BLOCK_SIZE};
use anabranch::{Apply, May, Plan, Pool, Stream};

use crate::Error;
use crate::conduct::Conduct;
use crate::count::Counted;

/// How to compress. All but `workers` decides what comes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// 1 (fastest) to 12 (smallest).
    pub level: u32,
    /// Bytes of input in a block, 1 to [`gzip::MAX_BLOCK`](crate::gzip::MAX_BLOCK).
    pub block_size: usize,
    /// The name and the time that the file tells.
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
    /// Level 6, blocks of 1.25 MiB, nothing told, as many workers as the process may use cores.
    fn default() -> Self {
        Compression {
            level: 6,
            block_size: DEFAULT_BLOCK_SIZE,
            origin: Origin::default(),
            workers: anabranch::default_workers(),
        }
    }
}

impl Compression {
    /// Compresses all of `input` to one gzip file on `output`.
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
        let mut file = MemberWriter::new(Counted::new(output));
        let stream = self.stream(&mut input, conduct.pool);
        let write = |member: Encoded| file.write(&member).map_err(Error::Write);
        match conduct.report {
            None => stream.try_for_each(write)?,
            Some(tell) => {
                let stream = if conduct.traces { stream.trace() } else { stream };
                let (result, report) = stream.report().try_for_each(write);
                tell(&report);
                result?;
            }
        }
        let output = file.finish().map_err(Error::Write)?;
        Ok(Compressed { read: input.bytes, written: output.bytes })
    }

    /// The most blocks that are in memory at once: two for each worker, one in its hands and one that waits to be
    /// taken, or to be written.
    pub fn window(&self) -> usize {
        2 * self.workers
    }

    /// The plan that [`run`](Compression::run) would run.
    pub fn plan(&self) -> Plan {
        self.stream(io::empty(), None).plan()
    }

    /// The pipeline, without its end: the one that runs and the one whose plan is shown.
    fn stream<'a, R: Read + Send + 'a>(
        &'a self,
        input: R,
        pool: Option<&'a Pool>,
    ) -> Stream<'a, impl Apply<Error, Out = Encoded> + Send + use<'a, R>, May<Error>> {
        let stream = Stream::try_from_iter(
            Blocks::new(input, self.block_size).map(|block| block.map_err(Error::Read)),
        )
        .name("read")
        .title("abz compress")
        .name_end("write")
        .workers(self.workers)
        .window(self.window());
        let stream = match pool {
            Some(pool) => stream.pool(pool),
            None => stream,
        };
        stream
            .map_with(
                || Encoder::new(self.level).origin(self.origin.clone()),
                |encoder, block| encoder.encode(&block),
            )
            .name("encode")
    }
}
