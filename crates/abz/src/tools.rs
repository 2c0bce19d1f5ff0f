//! Encoders, decoders and buffers that are kept from one file to the next.

use std::any::Any;
use std::fmt;
use std::mem;

/// The tables and buffers with which one thread compresses and decompresses file after file. They are for many small
/// files, where each thread takes files of its own.
///
/// The output is the same as that of [`Compression::run`](crate::Compression::run) and
/// [`Decompression::run`](crate::Decompression::run).
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
    /// The tools of the formats, at most one of each type at a time.
    kept: Vec<Box<dyn Any>>,
    block: Vec<u8>,
    data: Vec<u8>,
}

impl Tools {
    /// Makes empty tools. Tables and buffers are allocated when they are first needed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes out the tool of type `T`, if one was kept.
    pub(crate) fn take<T: Any>(&mut self) -> Option<Box<T>> {
        let at = self.kept.iter().position(|kept| kept.is::<T>())?;
        self.kept.swap_remove(at).downcast().ok()
    }

    /// Keeps an encoder or decoder for the next file.
    pub(crate) fn keep<T: Any>(&mut self, tool: Box<T>) {
        self.kept.push(tool);
    }

    /// A buffer for the bytes of a block.
    pub(crate) fn block(&mut self) -> Vec<u8> {
        mem::take(&mut self.block)
    }

    /// A buffer for an encoded or decoded block.
    pub(crate) fn data(&mut self) -> Vec<u8> {
        mem::take(&mut self.data)
    }

    /// Keeps the buffer of [`block`](Self::block).
    pub(crate) fn keep_block(&mut self, block: Vec<u8>) {
        self.block = block;
    }

    /// Keeps the buffer of [`data`](Self::data).
    pub(crate) fn keep_data(&mut self, data: Vec<u8>) {
        self.data = data;
    }

    /// Keeps both buffers.
    pub(crate) fn keep_buffers(&mut self, block: Vec<u8>, data: Vec<u8>) {
        (self.block, self.data) = (block, data);
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").finish_non_exhaustive()
    }
}
