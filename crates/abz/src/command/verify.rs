//! What `--verify` does: decompress what is written, while it is written, and hold it against the input.

use std::io::{self, PipeWriter, Read, Write};
use std::thread;

use abz::{Compressed, Compression, Conduct, Decompressed, Decompression, Error, Tools};

use super::crew::Crew;
use super::output::Output;
use super::problem::Problem;
use super::sums::{Fingerprint, Summed};

/// Why there is no output.
#[derive(Debug)]
pub(super) enum Failure {
    Run(Error),
    /// What was written does not give back what was read: what was found out about it.
    Check(String),
    /// This is to be told.
    Told(Problem),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Run(error)
    }
}

/// Compresses as without `--verify`; `input` must take a fingerprint.
///
/// # Errors
///
/// As without, and if what was written is not what was read.
pub(super) fn compress<R: Read + Send>(
    compression: &Compression,
    input: &mut Summed<R>,
    output: &mut Output,
    crew: Crew<'_>,
    decompression: &Decompression,
) -> Result<Compressed, Failure> {
    let (done, found) = match crew {
        Crew::Alone(tools) => alone(compression, &mut *input, output, tools, decompression)?,
        Crew::Together(conduct) => together(compression, &mut *input, output, conduct, decompression)?,
    };
    let expected = input.fingerprint().expect("the input takes one");
    match found {
        Ok(found) if found == expected => Ok(done),
        Ok(found) => Err(Failure::Check(format!("expected {expected}, found {found}"))),
        Err(error) => Err(Failure::Check(error.to_string())),
    }
}

/// A small file: what becomes of it fits into memory.
fn alone(
    compression: &Compression,
    input: impl Read,
    mut output: impl Write,
    tools: &mut Tools,
    decompression: &Decompression,
) -> Result<(Compressed, Result<Fingerprint, Error>), Failure> {
    let mut file = Vec::new();
    let done = tools.compress(compression, input, &mut file)?;
    output.write_all(&file).map_err(Error::Write)?;
    Ok((done, fingerprint(|data| tools.decompress(decompression, &file[..], data))))
}

/// Any file: what is written goes through a pipe to another run, with the same threads if they are a pool's.
fn together(
    compression: &Compression,
    input: impl Read + Send,
    output: &mut Output,
    conduct: Conduct<'_>,
    decompression: &Decompression,
) -> Result<(Compressed, Result<Fingerprint, Error>), Failure> {
    let cannot = |error: io::Error| Failure::Check(format!("it cannot be verified: {error}"));
    let (reader, pipe) = io::pipe().map_err(cannot)?;
    let pool = conduct.pool;
    thread::scope(|scope| {
        let read_back = move || {
            let conduct = Conduct { pool, ..Conduct::default() };
            fingerprint(|data| decompression.conduct(conduct, reader, data))
        };
        let thread = thread::Builder::new().name("abz verify".into()).spawn_scoped(scope, read_back);
        let Ok(thread) = thread else {
            return one_after_the_other(compression, input, output, conduct, decompression);
        };
        // The pipe ends with the tee.
        let done = compression.conduct(conduct, input, Tee { output, pipe: Some(pipe) });
        let found = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((done?, found))
    })
}

/// The same where there is no thread to do both at once: a file is read back, and of what goes elsewhere a copy is kept.
fn one_after_the_other(
    compression: &Compression,
    input: impl Read + Send,
    output: &mut Output,
    conduct: Conduct<'_>,
    decompression: &Decompression,
) -> Result<(Compressed, Result<Fingerprint, Error>), Failure> {
    let Some(mut written) = output.written().map_err(Error::Write)? else {
        return alone(compression, input, output, &mut Tools::new(), decompression);
    };
    let done = compression.conduct(conduct, input, &mut *output)?;
    Ok((done, fingerprint(|data| decompression.run(&mut written, data))))
}

/// That of the data which `decompress` writes.
fn fingerprint(
    decompress: impl FnOnce(&mut Summed<io::Sink>) -> Result<Decompressed, Error>,
) -> Result<Fingerprint, Error> {
    let mut data = Summed::new(io::sink()).with_fingerprint(true);
    decompress(&mut data)?;
    Ok(data.fingerprint().expect("it was just asked for"))
}

/// Writes to two places.
#[derive(Debug)]
struct Tee<W> {
    output: W,
    /// `None` when its reader is gone: that has found a fault, and tells it.
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
