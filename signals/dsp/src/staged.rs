//! Programs that are cut into stages, for schedulers that are no network.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Error, Result};

/// A program whose stages are called by another scheduler.
///
/// Each stage is called once for each block, in the order of the blocks unless the program says otherwise. A block
/// passes from stage to stage through one of a number of slots, `block % slots`. The caller calls a stage when the
/// stages before it have done the block, and when the stages behind it have done the block that had its slot.
pub trait Staged: Send + Sync {
    /// Returns the number of blocks.
    fn blocks(&self) -> u64;

    /// Computes a block of a stage.
    fn fire(&self, stage: usize, block: u64);

    /// Ends the program when all stages have done all blocks.
    ///
    /// # Errors
    /// The first error of a stage.
    fn finish(&self) -> Result<()>;
}

/// The items of an edge between two stages, a buffer for each slot.
#[derive(Debug)]
pub(crate) struct Slots<T>(Vec<Mutex<Vec<T>>>);

impl<T> Slots<T> {
    pub(crate) fn new(slots: usize) -> Self {
        Self((0..slots).map(|_| Mutex::default()).collect())
    }

    /// Returns the buffer of a block. The caller has it alone if it keeps the order of the stages.
    pub(crate) fn of(&self, block: u64) -> MutexGuard<'_, Vec<T>> {
        locked(&self.0[(block % self.0.len() as u64) as usize])
    }
}

/// The first error of a program.
#[derive(Debug, Default)]
pub(crate) struct FirstError(Mutex<Option<Error>>);

impl FirstError {
    pub(crate) fn note<T>(&self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                locked(&self.0).get_or_insert(error);
                None
            }
        }
    }

    pub(crate) fn take(&self) -> Result<()> {
        locked(&self.0).take().map_or(Ok(()), Err)
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
