//! Tables and buffers that are kept for the next file.

use std::any::Any;
use std::fmt;
use std::mem;

/// The tables and buffers with which one thread compresses and decompresses file after file. Use one for each thread
/// to process many small files in parallel.
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
    /// The encoders and decoders that formats have kept for the next file, one of each type.
    kept: Vec<Box<dyn Any>>,
    block: Vec<u8>,
    data: Vec<u8>,
}

impl Tools {
    /// Creates an empty set of tools. Tables and buffers are allocated on first use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the kept tool of this type, if there is one.
    pub(crate) fn take<T: Any>(&mut self) -> Option<Box<T>> {
        let at = self.kept.iter().position(|kept| kept.is::<T>())?;
        self.kept.swap_remove(at).downcast().ok()
    }

    /// Keeps an encoder or decoder for the next file.
    pub(crate) fn keep<T: Any>(&mut self, tool: Box<T>) {
        self.kept.push(tool);
    }

    /// Takes the kept buffer for the bytes of a block.
    pub(crate) fn block(&mut self) -> Vec<u8> {
        mem::take(&mut self.block)
    }

    /// Takes the kept buffer for an encoded block, or for decoded data.
    pub(crate) fn data(&mut self) -> Vec<u8> {
        mem::take(&mut self.data)
    }

    /// Keeps the buffer that [`block`](Self::block) returned.
    pub(crate) fn keep_block(&mut self, block: Vec<u8>) {
        self.block = block;
    }

    /// Keeps the buffer that [`data`](Self::data) returned.
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
