//! Allocation of memory whose amount depends on a level or a file.

use std::io;

use thiserror::Error;

/// The error of an encoder or a decoder that gets too little memory from the system. The data is not at fault. Fewer
/// threads, smaller blocks or a lower level need less memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected {needed} more bytes of memory, found that the system does not provide them")]
pub struct NoMemory {
    /// The number of bytes that were requested, at least.
    pub needed: u64,
}

impl NoMemory {
    /// Returns the message for a file that needs this memory.
    pub(crate) fn for_a_file(self) -> String {
        let NoMemory { needed } = self;
        format!(
            "expected {needed} bytes of memory for this file, found that the system does not provide them"
        )
    }
}

impl From<NoMemory> for io::Error {
    fn from(error: NoMemory) -> Self {
        io::Error::new(io::ErrorKind::OutOfMemory, error)
    }
}

/// Makes room for `more` bytes behind those in `bytes`.
///
/// # Errors
///
/// If the system does not provide the memory.
pub(crate) fn make_room(bytes: &mut Vec<u8>, more: usize) -> Result<(), NoMemory> {
    bytes.try_reserve(more).map_err(|_| NoMemory { needed: bytes.len() as u64 + more as u64 })
}

/// Clears `bytes`, and makes room for exactly `len` bytes.
///
/// # Errors
///
/// As [`make_room`].
pub(crate) fn make_exact_room(bytes: &mut Vec<u8>, len: usize) -> Result<(), NoMemory> {
    bytes.clear();
    bytes.try_reserve_exact(len).map_err(|_| NoMemory { needed: len as u64 })
}

/// Extends `items` to `len` items. The new ones are zeros.
///
/// # Errors
///
/// As [`make_room`].
pub(crate) fn grow<T: Clone + Default>(items: &mut Vec<T>, len: usize) -> Result<(), NoMemory> {
    let more = len.saturating_sub(items.len());
    items.try_reserve_exact(more).map_err(|_| NoMemory { needed: (len * size_of::<T>()) as u64 })?;
    items.resize(len, T::default());
    Ok(())
}
