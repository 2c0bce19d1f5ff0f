//! Members in, data out.

use std::io::{self, Read, Write};

use abz_codec::gzip::{Decoder, Fault, Verifier};
use anabranch::{Apply, May, Plan, Pool, Recycled, Recycler, Stream};

use crate::Error;
use crate::conduct::Conduct;
use crate::count::Counted;
use crate::scan::{Inputs, Piece, Scan};

/// How to decompress any gzip file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decompression {
    /// Threads that work, the caller's among them; at least 1.
    pub workers: usize,
}

/// What [`Decompression::run`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decompressed {
    /// Bytes of input.
    pub read: u64,
    /// Bytes of output.
    pub written: u64,
    /// The offset in the input of bytes after the last member that are neither a member nor zeros, if there are
    /// any. The data before them is whole and right.
    pub garbage_at: Option<u64>,
}

impl Default for Decompression {
    /// As many workers as the process may use cores.
    fn default() -> Self {
        Decompression { workers: anabranch::default_workers() }
    }
}

impl Decompression {
    /// Writes the contents of the gzip file `input` to `output`. Members that say how long they are, those that
    /// this crate makes and those of BGZF, are decoded by all workers. Other members are decoded one after another,
    /// while other workers read, verify and write.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, is damaged or no gzip file, or the output cannot be written. What was written
    /// by then is the contents before that place, and right, except of a damaged member that does not say how
    /// long it is.
    ///
    /// # Panics
    ///
    /// If there are no workers.
    pub fn run(&self, input: impl Read + Send, output: impl Write + Send) -> Result<Decompressed, Error> {
        self.conduct(Conduct::default(), input, output)
    }

    /// As [`run`](Decompression::run), carried out and watched as `conduct` says.
    ///
    /// # Errors
    ///
    /// As [`run`](Decompression::run).
    ///
    /// # Panics
    ///
    /// As [`run`](Decompression::run).
    pub fn conduct(
        &self,
        conduct: Conduct<'_>,
        input: impl Read + Send,
        output: impl Write + Send,
    ) -> Result<Decompressed, Error> {
        let mut input = Counted::new(input);
        let mut output = Counted::new(output);
        let stream = self.stream(&mut input, conduct.pool);
        let write = |data: Recycled<Vec<u8>>| output.write_all(&data).map_err(Error::Write);
        let result = match conduct.report {
            None => stream.try_for_each(write),
            Some(tell) => {
                let stream = if conduct.traces { stream.trace() } else { stream };
                let (result, report) = stream.report().try_for_each(write);
                tell(&report);
                result
            }
        };
        let garbage_at = match result {
            Ok(()) => None,
            Err(Error::Decode(error)) if matches!(error.fault, Fault::TrailingGarbage) => Some(error.offset),
            Err(error) => return Err(error),
        };
        output.flush().map_err(Error::Write)?;
        Ok(Decompressed { read: input.bytes, written: output.bytes, garbage_at })
    }

    /// The most pieces (members, or chunks of 256 KiB) that are in memory at once: two for each worker. There are as
    /// many buffers of 128 KiB for what was read.
    pub fn window(&self) -> usize {
        2 * self.workers
    }

    /// The plan that [`run`](Decompression::run) would run.
    pub fn plan(&self) -> Plan {
        self.stream(io::empty(), None).plan()
    }

    /// The pipeline, without its end: the one that runs and the one whose plan is shown.
    fn stream<'a, R: Read + Send + 'a>(
        &'a self,
        input: R,
        pool: Option<&'a Pool>,
    ) -> Stream<'a, impl Apply<Error, Out = Recycled<Vec<u8>>> + Send + use<'a, R>, May<Error>> {
        let stream = Stream::try_from_iter(Inputs::new(input, self.window()))
            .name("read")
            .title("abz decompress")
            .name_end("write")
            .workers(self.workers)
            .window(self.window());
        let stream = match pool {
            Some(pool) => stream.pool(pool),
            None => stream,
        };
        let scan = Scan::new(Recycler::new(self.window(), Vec::new));
        let buffers = Recycler::new(self.window(), Vec::new);
        let mut verifier = Verifier::new();
        stream
            .try_serial_flat_map(move |input| scan.pieces_of(input))
            .name("split or inflate")
            .try_map_with(Decoder::new, move |decoder, piece| match piece {
                Piece::Member(member, mut home) => {
                    let mut data = buffers.take();
                    decoder.decode_into(&member, &mut data)?;
                    *home = member.into_bytes();
                    Ok((data, None))
                }
                Piece::Data(data, stretch) => Ok((data, Some(stretch))),
            })
            .name("decode")
            .try_serial(move |(data, stretch)| {
                if let Some(stretch) = stretch {
                    verifier.verify(&stretch, &data)?;
                }
                Ok(data)
            })
            .name("verify")
    }
}
