//! One file on one thread, with tools that are kept for the next.

use std::any::Any;
use std::fmt;
use std::io::{Read, Write};
use std::mem;
use std::sync::atomic::AtomicU64;

use crate::count::Counted;
use crate::formats::RunAlone;
use crate::{Compressed, Compression, Decompressed, Decompression, Error, Format};

/// What one thread needs to compress and decompress file after file by itself: tables and buffers. For many small
/// files, where each thread takes files of its own.
///
/// The output is the same as that of [`Compression::run`] and [`Decompression::run`].
///
/// ```
/// use abz::{Compression, Decompression, Tools};
///
/// let mut tools = Tools::new();
/// for text in ["one small file", "another one"] {
///     let (mut file, mut back) = (Vec::new(), Vec::new());
///     tools.compress(&Compression::default(), text.as_bytes(), &mut file)?;
///     tools.decompress(&Decompression::default(), &file[..], &mut back)?;
///     assert_eq!(back, text.as_bytes());
/// }
/// # Ok::<(), abz::Error>(())
/// ```
#[derive(Default)]
pub struct Tools {
    /// What formats have kept for the next file, one of each type.
    kept: Vec<Box<dyn Any>>,
    block: Vec<u8>,
    data: Vec<u8>,
}

impl Tools {
    /// Tools that were not used yet; what they need is made when it is needed.
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`Compression::run`], on this thread alone.
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

    /// As [`Decompression::run`], on this thread alone.
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
            Err(error) => Some(error.is_garbage_at().ok_or(error)?),
        };
        output.flush().map_err(Error::Write)?;
        let mistaken = Some(mistaken.into_inner()).filter(|&number| number > 0);
        Ok(Decompressed { read: input.bytes, written: output.bytes, garbage_at, mistaken })
    }

    /// The tool of this type that was kept, if there is one.
    pub(crate) fn take<T: Any>(&mut self) -> Option<Box<T>> {
        let at = self.kept.iter().position(|kept| kept.is::<T>())?;
        self.kept.swap_remove(at).downcast().ok()
    }

    /// Keeps a tool for the next file.
    pub(crate) fn keep<T: Any>(&mut self, tool: Box<T>) {
        self.kept.push(tool);
    }

    /// An allocation for the bytes of a block.
    pub(crate) fn block(&mut self) -> Vec<u8> {
        mem::take(&mut self.block)
    }

    /// An allocation for what a block becomes.
    pub(crate) fn data(&mut self) -> Vec<u8> {
        mem::take(&mut self.data)
    }

    /// Keeps the allocation of [`block`](Self::block).
    pub(crate) fn keep_block(&mut self, block: Vec<u8>) {
        self.block = block;
    }

    /// Keeps the allocation of [`data`](Self::data).
    pub(crate) fn keep_data(&mut self, data: Vec<u8>) {
        self.data = data;
    }

    /// Keeps both.
    pub(crate) fn keep_buffers(&mut self, block: Vec<u8>, data: Vec<u8>) {
        (self.block, self.data) = (block, data);
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").finish_non_exhaustive()
    }
}
