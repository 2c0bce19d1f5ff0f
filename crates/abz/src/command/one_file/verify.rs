//! The check of `--verify`: the output is decompressed while it is written, and compared with the input.

use std::io::{self, PipeWriter, Read, Write};
use std::thread;

use abz::program::{RunOptions, compress_with, decompress_with};
use abz::{Compressed, Compression, Decompressed, Decompression, Error, decompress};

use super::sums::{Fingerprint, Summed};
use crate::command::action::Failure;
use crate::command::output::Output;

/// Compresses `input`, which must compute a fingerprint, and verifies the output.
///
/// # Errors
///
/// As for compression without `--verify`, and if the output does not decompress to the input.
pub(crate) fn compress<R: Read + Send>(
    compression: &Compression,
    input: &mut Summed<R>,
    output: &mut Output,
    run_options: RunOptions<'_>,
    decompression: &Decompression,
) -> Result<Compressed, Failure> {
    let verified = if run_options.tools.is_some() { alone } else { together };
    let (done, found) = verified(compression, input, output, run_options, decompression)?;
    let expected = input.fingerprint().expect("the input takes one");
    match found {
        Ok(found) if found == expected => Ok(done),
        Ok(found) => Err(Failure::Check(format!("expected {expected}, found {found}"))),
        Err(error) => Err(Failure::Check(error.to_string())),
    }
}

/// Processes a small file, whose output fits in memory.
fn alone<R: Read + Send>(
    compression: &Compression,
    input: &mut Summed<R>,
    output: &mut Output,
    run_options: RunOptions<'_>,
    decompression: &Decompression,
) -> Result<(Compressed, Result<Fingerprint, Error>), Failure> {
    let mut file = Vec::new();
    let done = compress_with(input, &mut file, compression, run_options)?;
    output.write_all(&file).map_err(Error::Write)?;
    let run_options = RunOptions { progress: None, ..run_options };
    Ok((done, fingerprint(|data| decompress_with(&file[..], data, decompression, run_options))))
}

/// Processes any file: the output goes through a pipe to a decompression, which uses the same thread pool if there is
/// one.
fn together<R: Read + Send>(
    compression: &Compression,
    input: &mut Summed<R>,
    output: &mut Output,
    run_options: RunOptions<'_>,
    decompression: &Decompression,
) -> Result<(Compressed, Result<Fingerprint, Error>), Failure> {
    let cannot = |error: io::Error| Failure::Check(format!("it cannot be verified: {error}"));
    let (reader, pipe) = io::pipe().map_err(cannot)?;
    let pool = run_options.pool;
    thread::scope(|scope| {
        let read_back = move || {
            let run_options = RunOptions { pool, ..RunOptions::default() };
            fingerprint(|data| decompress_with(reader, data, decompression, run_options))
        };
        let thread = thread::Builder::new().name("abz verify".into()).spawn_scoped(scope, read_back);
        let Ok(thread) = thread else {
            return one_after_the_other(compression, input, output, run_options, decompression);
        };
        // Dropping the tee closes the pipe.
        let done = compress_with(input, Tee { output, pipe: Some(pipe) }, compression, run_options);
        let found = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((done?, found))
    })
}

/// Verifies the output after it is written, if no thread can be started: a file is read back, and for other outputs a
/// copy is kept in memory.
fn one_after_the_other<R: Read + Send>(
    compression: &Compression,
    input: &mut Summed<R>,
    output: &mut Output,
    run_options: RunOptions<'_>,
    decompression: &Decompression,
) -> Result<(Compressed, Result<Fingerprint, Error>), Failure> {
    let Some(start) = output.position().map_err(Error::Write)? else {
        return alone(compression, input, output, run_options, decompression);
    };
    let done = compress_with(input, &mut *output, compression, run_options)?;
    Ok((done, fingerprint(|data| decompress(output.written_from(start), data, decompression))))
}

/// Returns the fingerprint of the data that `decompress` writes.
fn fingerprint(
    decompress: impl FnOnce(&mut Summed<io::Sink>) -> Result<Decompressed, Error>,
) -> Result<Fingerprint, Error> {
    let mut data = Summed::new(io::sink()).with_fingerprint(true);
    decompress(&mut data)?;
    Ok(data.fingerprint().expect("it was just asked for"))
}

/// A writer that copies its bytes to a pipe.
#[derive(Debug)]
struct Tee<W> {
    output: W,
    /// `None` after the reader of the pipe has ended, which reports the fault.
    pipe: Option<PipeWriter>,
}

impl<W: Write> Write for Tee<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(bytes)?;
        if let Some(pipe) = &mut self.pipe
            && pipe.write_all(&bytes[..written]).is_err()
        {
            self.pipe = None;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
