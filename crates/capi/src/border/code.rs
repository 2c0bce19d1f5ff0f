//! Wraps C functions, so that safe code can call them.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::item::{Destroy, Failure, Owned};

/// The item is passed on to the next stage.
pub(crate) const NEXT: c_int = 0;
/// The item is dropped.
pub(crate) const DROP: c_int = 1;
/// The stream ends before this item, without a failure.
pub(crate) const END: c_int = 3;

/// A source, which writes the next item.
pub(crate) type SourceFn = unsafe extern "C" fn(*mut c_void, *mut *mut c_void) -> c_int;
/// A stage, which takes the item and writes its result in its place.
pub(crate) type StageFn = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut *mut c_void) -> c_int;
/// Creates the state of a worker.
pub(crate) type LocalFn = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
/// Returns the number of bytes that an item stands for.
pub(crate) type WeighFn = unsafe extern "C" fn(*mut c_void, *mut c_void) -> u64;
/// Gets the number of items that have passed, and the time since the start in nanoseconds.
pub(crate) type ProgressFn = unsafe extern "C" fn(*mut c_void, u64, u64);

/// The result of a call: an item, no item, or a failure.
pub(crate) type Given = Result<Option<Owned>, Failure>;

fn given(status: c_int, pointer: *mut c_void, output: Option<Destroy>, error: Option<Destroy>) -> Given {
    match status {
        NEXT => Ok(Some(Owned::new(pointer, output))),
        DROP => Ok(None),
        END => Err(Failure::End),
        _ => Err(Failure::Error(Owned::new(pointer, error))),
    }
}

/// A function of the user, and the context with which it is called.
#[derive(Debug)]
pub(crate) struct Code<F> {
    call: F,
    context: Owned,
}

// SAFETY: `anabranch.h` demands that the functions of parallel stages, and the functions that make states,
// may be called by several threads at once with the same context; all others are called through `&mut`.
unsafe impl<F: Sync> Sync for Code<F> {}

impl<F> Code<F> {
    pub(crate) fn new(call: F, context: Owned) -> Self {
        Self { call, context }
    }
}

/// The function of a source.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) code: Code<SourceFn>,
    /// Destroys the items that the source gives.
    pub(crate) output: Option<Destroy>,
}

impl Source {
    /// Returns the next item, or `None` at the end. `error` destroys the errors of the function.
    pub(crate) fn next(&mut self, error: Option<Destroy>) -> Given {
        loop {
            let mut item = ptr::null_mut();
            // SAFETY: the function and its context came together, and `&mut` proves that no other thread
            // calls it. It may write to the variable `item`, which belongs to this call.
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

/// The function of a stage.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) code: Code<StageFn>,
    /// Destroys the items that the stage gives.
    pub(crate) output: Option<Destroy>,
    /// Creates the state of a worker, and destroys it.
    pub(crate) local: Option<(LocalFn, Option<Destroy>)>,
}

/// The state of a worker for a stage. It stays on the worker's thread.
#[derive(Debug)]
pub(crate) struct Local(*mut c_void, Option<Destroy>);

impl Local {
    /// The value for a stage without a state.
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
    /// Creates the state of a worker.
    pub(crate) fn local(&self) -> Local {
        match self.local {
            None => Local::none(),
            Some((make, destroy)) => {
                // SAFETY: the function came with this context, and may be called by several threads at once.
                Local(unsafe { make(self.code.context.get()) }, destroy)
            }
        }
    }

    /// Takes one item through the stage. `error` destroys the errors of the function. The caller makes sure
    /// that one thread at a time calls a serial stage.
    pub(crate) fn call(&self, local: &mut Local, item: Owned, error: Option<Destroy>) -> Given {
        let mut item = item.release();
        // SAFETY: the function came with this context. It now owns the item, and may write to the variable
        // `item`, which belongs to this call. The state belongs to this thread.
        let status = unsafe { (self.code.call)(self.code.context.get(), local.0, &raw mut item) };
        given(status, item, self.output, error)
    }
}

impl Code<WeighFn> {
    /// Returns the number of bytes that the item stands for.
    pub(crate) fn weigh(&self, item: &Owned) -> u64 {
        // SAFETY: the function came with this context, and may only read the item, which no other thread has.
        unsafe { (self.call)(self.context.get(), item.get()) }
    }
}

impl Code<ProgressFn> {
    /// Reports the progress.
    pub(crate) fn tell(&mut self, items: u64, nanos: u64) {
        // SAFETY: the function came with this context, and `&mut` proves that no other thread calls it.
        unsafe { (self.call)(self.context.get(), items, nanos) }
    }
}
