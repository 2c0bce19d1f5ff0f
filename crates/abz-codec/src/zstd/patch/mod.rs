//! Patches: a file as its differences from another one, as `zstd --patch-from` makes it.
//!
//! A patch is one frame that may refer to the whole other file, as if that came before it. So its window has to reach
//! from the end of the contents to their start; otherwise the other file is out of reach. (RFC 8878 does not describe
//! this; libzstd calls the other file a prefix.)

mod memory;
mod reference;

use std::fmt;
use std::io::{self, Write};

use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

use self::memory::window_of;
use super::Encoding;
use super::error::MEMORY;
use crate::memory::NoMemory;

pub use self::memory::patch_memory;
pub use self::reference::Reference;

/// A writer of a patch, which is a frame of the data written to it. `zstd -d --patch-from` and a
/// [`Scanner`](super::Scanner) with the same reference read it.
///
/// ```
/// use abz_codec::zstd::{Decoding, Encoding, PatchWriter, Reader, Reference};
///
/// let before: Vec<u8> = (0..100_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
/// let after = [&before[..200_000], b"a river", &before[200_000..]].concat();
/// let reference = Reference::new(&before);
/// let mut patch = PatchWriter::new(Vec::new(), 3, &Encoding::default(), &reference, after.len() as u64)?;
/// patch.write_all(&after)?;
/// let patch = patch.finish()?;
/// assert!(patch.len() < 1000);
///
/// let decoding = Decoding { patch_from: Some(reference), ..Decoding::default() };
/// let (mut reader, mut data, mut contents) = (Reader::new(&patch[..], &decoding), Vec::new(), Vec::new());
/// while reader.read_into(&mut data)? {
///     contents.extend_from_slice(&data);
/// }
/// assert!(contents == after);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct PatchWriter<'a, W> {
    context: CCtx<'a>,
    output: W,
    buffer: Vec<u8>,
    /// The approximate memory that it takes, in bytes.
    memory: u64,
}

impl<'a, W: Write> PatchWriter<'a, W> {
    /// Creates a patch of `contents` bytes at a level. It uses two settings of `encoding`: the checksum, and the
    /// window, if that is larger than the contents.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn new(
        output: W,
        level: i32,
        encoding: &Encoding,
        reference: &'a Reference,
        contents: u64,
    ) -> Result<Self, NoMemory> {
        let window = window_of(encoding, contents);
        let memory = patch_memory(level, encoding, reference, contents);
        let mut context = CCtx::try_create().ok_or(NoMemory { needed: memory })?;
        for parameter in [
            CParameter::CompressionLevel(level),
            CParameter::WindowLog(window),
            // Repetitions may be as far apart as the files are long.
            CParameter::EnableLongDistanceMatching(true),
            CParameter::ChecksumFlag(encoding.checksum),
        ] {
            context.set_parameter(parameter).expect("it is in its range");
        }
        context.set_pledged_src_size(Some(contents)).expect("no frame is begun");
        context.ref_prefix(&reference.bytes[1..]).expect("no frame is begun");
        Ok(PatchWriter { context, output, buffer: Vec::with_capacity(CCtx::out_size()), memory })
    }

    /// Writes some of the contents.
    ///
    /// # Errors
    ///
    /// If the output cannot be written, if there is no memory, or if these are more contents than were announced.
    pub fn write_all(&mut self, data: &[u8]) -> io::Result<()> {
        let mut input = InBuffer::around(data);
        while input.pos() < data.len() {
            self.buffer.clear();
            let mut out = OutBuffer::around(&mut self.buffer);
            self.context.compress_stream(&mut out, &mut input).map_err(|code| failure(code, self.memory))?;
            self.output.write_all(&self.buffer)?;
        }
        Ok(())
    }

    /// Returns the underlying writer, for example to take the bytes written so far.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.output
    }

    /// Ends the frame.
    ///
    /// # Errors
    ///
    /// If the output cannot be written, if there is no memory, or if there were fewer contents than were announced.
    pub fn finish(mut self) -> io::Result<W> {
        loop {
            self.buffer.clear();
            let mut out = OutBuffer::around(&mut self.buffer);
            let left = self.context.end_stream(&mut out).map_err(|code| failure(code, self.memory))?;
            self.output.write_all(&self.buffer)?;
            if left == 0 {
                return Ok(self.output);
            }
        }
    }
}

impl<W> fmt::Debug for PatchWriter<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PatchWriter").finish_non_exhaustive()
    }
}

/// Returns the error of libzstd. `needed` is the memory that it takes, in bytes.
fn failure(code: usize, needed: u64) -> io::Error {
    if code.wrapping_neg() == MEMORY {
        return NoMemory { needed }.into();
    }
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("libzstd made no patch: {}", zstd_safe::get_error_name(code)),
    )
}
