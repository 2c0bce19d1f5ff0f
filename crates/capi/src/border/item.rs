//! Pointers that C hands over: items, errors, contexts and states, each with the function that destroys it.

use std::ffi::c_void;

/// Destroys the object behind a pointer.
pub(crate) type Destroy = unsafe extern "C" fn(*mut c_void);

/// A pointer that C has handed over, and the function that destroys its object.
#[derive(Debug)]
pub(crate) struct Owned {
    pointer: *mut c_void,
    destroy: Option<Destroy>,
}

// SAFETY: `anabranch.h` demands of items, errors, contexts and states that they may be used and destroyed on
// any thread, by one thread at a time; contexts of parallel stages also by several at once.
unsafe impl Send for Owned {}

impl Owned {
    /// Takes over the object behind `pointer`.
    pub(crate) fn new(pointer: *mut c_void, destroy: Option<Destroy>) -> Self {
        Self { pointer, destroy }
    }

    /// Returns the pointer, which still belongs to `self`.
    pub(super) fn get(&self) -> *mut c_void {
        self.pointer
    }

    /// Hands the pointer back to C, which then has to destroy the object.
    pub(super) fn release(mut self) -> *mut c_void {
        self.destroy = None;
        self.pointer
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let (Some(destroy), false) = (self.destroy, self.pointer.is_null()) {
            // SAFETY: the pointer came from C together with this function, which `anabranch.h` demands to be
            // fit for it, and nothing else has destroyed it: `release` takes the function away.
            unsafe { destroy(self.pointer) }
        }
    }
}

/// The first failure of a run, in the order of the items.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A function of the user failed with this error.
    Error(Owned),
    /// A function of the user has ended the stream. This is not an error.
    End,
}
