//! Compression and decompression of one file on the calling thread, with buffers and tables kept for the next file.

use std::io::{Read, Write};
use std::sync::atomic::AtomicU64;

use crate::count::Counted;
use crate::decompress::{Decompressed, Decompression};
use crate::error::Error;
use crate::formats::Format;
use crate::formats::writes::{Compressed, Compression};
use crate::run::RunAlone;
use crate::tools::Tools;

impl Tools {
    /// Compresses as [`Compression::run`] does, but on the calling thread only.
    ///
    /// # Errors
    ///
    /// As [`Compression::run`].
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn compress(
        &mut self,
        compression: &Compression,
        input: impl Read,
        output: impl Write,
    ) -> Result<Compressed, Error> {
        let mut input = Counted::new(input);
        let mut output = Counted::new(output);
        compression.format.writes().compress_alone(compression, self, &mut input, &mut output)?;
        Ok(Compressed { read: input.bytes, written: output.bytes })
    }

    /// Decompresses as [`Decompression::run`] does, but on the calling thread only.
    ///
    /// # Errors
    ///
    /// As [`Decompression::run`].
    pub fn decompress(
        &mut self,
        decompression: &Decompression,
        input: impl Read,
        output: impl Write,
    ) -> Result<Decompressed, Error> {
        let mut input = Counted::new(input);
        let mut output = Counted::new(output);
        let mistaken = AtomicU64::new(0);
        let result = {
            let (format, mut whole) = Format::sniff(&mut input).map_err(Error::Read)?;
            let run = RunAlone {
                how: decompression,
                tools: self,
                input: &mut whole,
                output: &mut output,
                mistaken: &mistaken,
            };
            format.unwrap_or_default().reads().decompress_alone(run)
        };
        let garbage_at = match result {
            Ok(()) => None,
            Err(error) => Some(error.is_garbage_at(decompression).ok_or(error)?),
        };
        output.flush().map_err(Error::Write)?;
        let mistaken = Some(mistaken.into_inner()).filter(|&number| number > 0);
        Ok(Decompressed { read: input.bytes, written: output.bytes, garbage_at, mistaken })
    }
}
