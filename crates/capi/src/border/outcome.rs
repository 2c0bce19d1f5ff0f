//! What a call of the library gives.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::text::note;

const OK: c_int = 0;
pub(super) const FAILED: c_int = 1;
const STOPPED: c_int = 2;
const INVALID: c_int = 3;
const PANIC: c_int = 4;

/// Why a call did not do what it was asked for.
#[derive(Debug)]
pub(super) enum Refusal {
    /// A function of the user's has failed.
    Failed,
    /// The stream has ended.
    Stopped,
    /// The call makes no sense here.
    Invalid(String),
    /// The library has panicked.
    Panic(Box<dyn std::any::Any + Send>),
}

/// A call that makes no sense here.
pub(super) fn invalid<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Invalid(why.into()))
}

/// Runs `body`, and gives its status: no panic gets through.
pub(super) fn status(body: impl FnOnce() -> Result<(), Refusal>) -> c_int {
    match catch(body) {
        Ok(()) => OK,
        Err(refusal) => tell(refusal),
    }
}

/// As [`status`], for calls that give something else, or nothing.
pub(super) fn value<T>(otherwise: T, body: impl FnOnce() -> Result<T, Refusal>) -> T {
    catch(body).unwrap_or_else(|refusal| {
        tell(refusal);
        otherwise
    })
}

fn catch<T>(body: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(Refusal::Panic(payload)))
}

fn tell(refusal: Refusal) -> c_int {
    match refusal {
        Refusal::Failed => {
            note("a function of the stream has failed: the error was given");
            FAILED
        }
        Refusal::Stopped => {
            note("the stream has ended and takes no more items");
            STOPPED
        }
        Refusal::Invalid(why) => {
            note(&why);
            INVALID
        }
        Refusal::Panic(payload) => {
            let said = payload.downcast_ref::<&str>().map(|said| (*said).to_owned());
            let said = said.or_else(|| payload.downcast_ref::<String>().cloned());
            note(&format!("the library has panicked: {}", said.as_deref().unwrap_or("it did not say why")));
            // What a panic carries might panic when it is dropped.
            std::mem::forget(payload);
            PANIC
        }
    }
}
