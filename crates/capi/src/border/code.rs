//! C functions as functions that safe code can call.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::item::{Destroy, Failure, Owned};

/// The item goes on to the next stage.
pub(crate) const NEXT: c_int = 0;
/// The item goes no further.
pub(crate) const DROP: c_int = 1;
/// The stream ends before this item, and that is no failure.
pub(crate) const END: c_int = 3;

/// A source: writes the next item.
pub(crate) type SourceFn = unsafe extern "C" fn(*mut c_void, *mut *mut c_void) -> c_int;
/// A stage: takes the item and writes what goes on.
pub(crate) type StageFn = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut *mut c_void) -> c_int;
/// Makes a worker's state.
pub(crate) type LocalFn = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
/// Says how many bytes an item stands for.
pub(crate) type WeighFn = unsafe extern "C" fn(*mut c_void, *mut c_void) -> u64;
/// Is told how many items have passed in how many nanoseconds.
pub(crate) type ProgressFn = unsafe extern "C" fn(*mut c_void, u64, u64);

/// What a call gave.
pub(crate) type Given = Result<Option<Owned>, Failure>;

fn given(status: c_int, pointer: *mut c_void, output: Option<Destroy>, error: Option<Destroy>) -> Given {
    match status {
        NEXT => Ok(Some(Owned::new(pointer, output))),
        DROP => Ok(None),
        END => Err(Failure::End),
        _ => Err(Failure::Error(Owned::new(pointer, error))),
    }
}

/// A function of the user's, and the context that it is called with.
#[derive(Debug)]
pub(crate) struct Code<F> {
    call: F,
    context: Owned,
}

// SAFETY: `anabranch.h` demands that the functions of parallel stages, and the functions that make states, may be called
// by several threads at once with the same context; all others are called through `&mut`.
unsafe impl<F: Sync> Sync for Code<F> {}

impl<F> Code<F> {
    pub(crate) fn new(call: F, context: Owned) -> Self {
        Self { call, context }
    }
}

/// A source.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) code: Code<SourceFn>,
    /// Destroys what it gives.
    pub(crate) output: Option<Destroy>,
}

impl Source {
    /// The next item, `None` at the end. `error` destroys what it fails with.
    pub(crate) fn next(&mut self, error: Option<Destroy>) -> Given {
        loop {
            let mut item = ptr::null_mut();
            // SAFETY: the function and its context came together, and `&mut` says that no other thread calls it. It
            // may write the item's place, which is ours.
            let status = unsafe { (self.code.call)(self.code.context.get(), &raw mut item) };
            match given(status, item, self.output, error) {
                Err(Failure::End) => return Ok(None),
                // A source that drops its item is asked again.
                Ok(None) => {}
                given => return given,
            }
        }
    }
}

/// What a stage calls.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) code: Code<StageFn>,
    /// Destroys what it gives.
    pub(crate) output: Option<Destroy>,
    /// Makes a worker's state, and destroys it.
    pub(crate) local: Option<(LocalFn, Option<Destroy>)>,
}

/// A worker's state for a stage. It stays on its worker's thread.
#[derive(Debug)]
pub(crate) struct Local(*mut c_void, Option<Destroy>);

impl Local {
    /// The state of a stage without one.
    pub(crate) fn none() -> Self {
        Self(ptr::null_mut(), None)
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        drop(Owned::new(self.0, self.1));
    }
}

impl Stage {
    /// Makes a worker's state.
    pub(crate) fn local(&self) -> Local {
        match self.local {
            None => Local::none(),
            Some((make, destroy)) => {
                // SAFETY: the function came with this context, and may be called by several threads at once.
                Local(unsafe { make(self.code.context.get()) }, destroy)
            }
        }
    }

    /// Takes one item through the stage. `error` destroys what it fails with. A serial stage is called by one thread at a
    /// time: by its caller, who has it to itself.
    pub(crate) fn call(&self, local: &mut Local, item: Owned, error: Option<Destroy>) -> Given {
        let mut item = item.release();
        // SAFETY: the function came with this context. The item is its now, and it may write the item's place, which is
        // ours. The state is of this thread.
        let status = unsafe { (self.code.call)(self.code.context.get(), local.0, &raw mut item) };
        given(status, item, self.output, error)
    }
}

impl Code<WeighFn> {
    /// How many bytes the item stands for.
    pub(crate) fn weigh(&self, item: &Owned) -> u64 {
        // SAFETY: the function came with this context, and may only read the item, which nobody else has.
        unsafe { (self.call)(self.context.get(), item.get()) }
    }
}

impl Code<ProgressFn> {
    /// Tells of the progress.
    pub(crate) fn tell(&mut self, items: u64, nanos: u64) {
        // SAFETY: the function came with this context, and `&mut` says that no other thread calls it.
        unsafe { (self.call)(self.context.get(), items, nanos) }
    }
}
