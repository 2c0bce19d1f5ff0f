//! Patches: a file compressed as its differences from a reference. One worker makes a patch, while another one reads.

use std::io::{self, Read, Write};

use abz_codec::Block;
use abz_codec::zstd::{PatchWriter, Reference};
use anabranch::TryStream;

use crate::count::Counted;
use crate::error::Error;
use crate::formats::writes::{Compressed, Compression};
use crate::pipes::inputs::Telling;
use crate::pipes::{begin, carry_out, window};
use crate::run_options::RunOptions;

/// The size of a block in bytes.
pub(super) const BLOCK: usize = 1 << 20;

/// Makes a patch of `input`.
pub(super) fn compress(
    (how, level): (&Compression, i32),
    options: RunOptions<'_>,
    input: impl Read + Send,
    output: impl Write + Send,
) -> Result<Compressed, Error> {
    let mut patch = Patch::new((how, level), output)?;
    carry_out(blocks(how, input, options), &options, |block: Block| patch.write(&block.data))?;
    patch.finish()
}

/// Cuts `input` into blocks.
pub(super) fn blocks<'a, R: Read + Send + 'a>(
    how: &'a Compression,
    input: R,
    options: RunOptions<'a>,
) -> TryStream<'a, Block, Error> {
    let blocks =
        how.blocks(Telling::new(input, options.advance())).map(|block| block.map_err(Error::of_input));
    begin(blocks, "abz patch", how.workers, window(how.workers), options.pool)
}

/// A patch that is being written.
struct Patch<'a, W> {
    writer: PatchWriter<'a, Counted<W>>,
    /// The expected size of the contents in bytes, and the number of bytes written.
    contents: u64,
    written: u64,
}

impl<'a, W: Write> Patch<'a, W> {
    fn new((how, level): (&'a Compression, i32), output: W) -> Result<Self, Error> {
        let reference: &Reference = how.zstd.patch_from.as_ref().expect("a patch has a reference");
        let Some(contents) = how.contents else {
            let message = "a patch needs an input whose size is known beforehand";
            return Err(Error::Read(io::Error::new(io::ErrorKind::InvalidInput, message)));
        };
        let writer = PatchWriter::new(Counted::new(output), level, &how.zstd, reference, contents)
            .map_err(Error::Memory)?;
        Ok(Patch { writer, contents, written: 0 })
    }

    fn write(&mut self, data: &[u8]) -> Result<(), Error> {
        self.written += data.len() as u64;
        if self.written > self.contents {
            return Err(self.changed("more"));
        }
        self.writer.write_all(data).map_err(of_writer)
    }

    fn finish(self) -> Result<Compressed, Error> {
        if self.written < self.contents {
            return Err(self.changed("fewer"));
        }
        let mut output = self.writer.finish().map_err(of_writer)?;
        output.flush().map_err(Error::Write)?;
        Ok(Compressed { read: self.written, written: output.bytes })
    }

    /// The error for an input whose size has changed.
    fn changed(&self, found: &str) -> Error {
        let message = format!(
            "expected {} bytes, the size of the file when it was opened, found {found}",
            self.contents
        );
        Error::Read(io::Error::new(io::ErrorKind::UnexpectedEof, message))
    }
}

/// The error of the writer: the output cannot be written, or there is not enough memory.
fn of_writer(error: io::Error) -> Error {
    error.downcast().map_or_else(Error::Write, Error::Memory)
}
