//! The result of a call of the library.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::text::note;

const OK: c_int = 0;
pub(super) const FAILED: c_int = 1;
const STOPPED: c_int = 2;
const INVALID: c_int = 3;
const PANIC: c_int = 4;

/// The reason why a call has failed.
#[derive(Debug)]
pub(super) enum Refusal {
    /// A function of the user has failed.
    Failed,
    /// The stream has ended.
    Stopped,
    /// The call is not allowed in this state of the stream, or has a wrong argument.
    Invalid(String),
    /// The library has panicked.
    Panic(Box<dyn std::any::Any + Send>),
}

/// Returns the refusal of a call that is not allowed, for the reason `why`.
pub(super) fn invalid<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Invalid(why.into()))
}

/// Runs `body`, and returns its status. A panic becomes a status, too.
pub(super) fn status(body: impl FnOnce() -> Result<(), Refusal>) -> c_int {
    match catch(body) {
        Ok(()) => OK,
        Err(refusal) => tell(refusal),
    }
}

/// Like [`status`], for calls that return something else. If `body` fails, the result is `otherwise`.
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
            note("a function of the stream has failed, and its error was returned");
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
            // The drop of a panic's payload could panic again, so the payload is leaked.
            std::mem::forget(payload);
            PANIC
        }
    }
}
