//! Memory, as much as a level or a file asks for.

use std::io;

use thiserror::Error;

/// The system does not give as much memory as an encoder or a decoder needs. Nothing is wrong with the data: fewer threads at
/// once, smaller blocks or a lower level need less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected {needed} bytes of memory more, and the system does not give them")]
pub struct NoMemory {
    /// How many bytes were asked for, at least.
    pub needed: u64,
}

impl NoMemory {
    /// Returns the message for a file that needs this memory.
    pub(crate) fn for_a_file(self) -> String {
        let NoMemory { needed } = self;
        format!(
            "expected {needed} bytes of memory for what is in the file, found that the system does not give them"
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
/// If the system does not give so much memory.
pub(crate) fn make_room(bytes: &mut Vec<u8>, more: usize) -> Result<(), NoMemory> {
    bytes.try_reserve(more).map_err(|_| NoMemory { needed: bytes.len() as u64 + more as u64 })
}

/// Drops what is in `bytes`, and makes room for exactly so many.
///
/// # Errors
///
/// As [`make_room`].
pub(crate) fn make_exact_room(bytes: &mut Vec<u8>, len: usize) -> Result<(), NoMemory> {
    bytes.clear();
    bytes.try_reserve_exact(len).map_err(|_| NoMemory { needed: len as u64 })
}

/// Makes `items` have `len` items, of which those that are new are zeros.
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
