//! The handle of a stream. C has it while it describes a stream, runs it, and reads its report.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use super::code::Source;
use super::item::{Destroy, Failure, Owned};
use super::outcome::{Refusal, invalid, status, value};
use super::text::{give, none};
use crate::line::{Ended, Line, ShowReport};
use crate::region::Region;

/// The Rust type of `anabranch_stream`.
#[derive(Debug)]
pub struct Handle {
    state: State,
    pub(super) source: Option<Source>,
    /// Destroys the items that are sent.
    items: Option<Destroy>,
    report: Option<ShowReport>,
}

#[derive(Debug)]
enum State {
    Described(Line),
    /// The stream was started. The region is `None` after `anabranch_finish`.
    Started(
        Option<Region>,
        #[expect(dead_code, reason = "its contexts live as long as the stream")] Arc<Line>,
    ),
    Over(#[expect(dead_code, reason = "its contexts live as long as the stream")] Line),
}

impl Handle {
    /// Returns the line, if it may still be changed.
    pub(super) fn line(&mut self) -> Result<&mut Line, Refusal> {
        match &mut self.state {
            State::Described(line) => Ok(line),
            _ => invalid("the stream was run or started before: it cannot be changed, and runs only once"),
        }
    }

    /// Takes the line to run it.
    fn run(&mut self) -> Result<Ended, Refusal> {
        self.line()?;
        let Some(mut source) = self.source.take() else {
            return invalid(
                "the stream has no source: call anabranch_source, or anabranch_start and anabranch_send",
            );
        };
        let State::Described(line) = std::mem::replace(&mut self.state, State::Over(Line::default())) else {
            return invalid("the stream was run");
        };
        let error = line.settings.error;
        let ended = line.run(|| source.next(error));
        self.state = State::Over(line);
        self.source = Some(source);
        Ok(ended)
    }

    fn start(&mut self, destroy: Option<Destroy>) -> Result<(), Refusal> {
        if self.source.is_some() {
            return invalid("a stream with a source cannot be sent items: call anabranch_run");
        }
        if self.line()?.settings.inline {
            return invalid(
                "a stream whose items are sent has threads of its own, so it cannot have ANABRANCH_INLINE",
            );
        }
        if self.line()?.settings.in_blocks {
            return invalid("ANABRANCH_IN_BLOCKS is for a stream with a source, and this stream has none");
        }
        let State::Described(line) = std::mem::replace(&mut self.state, State::Over(Line::default())) else {
            return invalid("the stream was run");
        };
        let line = Arc::new(line);
        self.items = destroy;
        let region = Region::start(&line);
        let (region, started) = match region {
            Ok(region) => (Some(region), Ok(())),
            Err(error) => {
                (None, invalid(format!("the system cannot create a thread for the stream: {error}")))
            }
        };
        self.state = State::Started(region, line);
        started
    }

    fn finish(&mut self) -> Result<Ended, Refusal> {
        match &mut self.state {
            State::Started(region, _) if region.is_some() => {
                region.take().expect("it is there").finish().map_err(Refusal::Panic)
            }
            _ => invalid("the stream is not running: call anabranch_start before"),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // All items that were sent are finished before the contexts are released.
        drop(self.finish());
    }
}

/// Returns the handle behind a pointer.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it.
pub(super) unsafe fn handle<'h>(stream: *mut Handle) -> Result<&'h mut Handle, Refusal> {
    // SAFETY: the caller guarantees that it is null, or a stream that no other thread uses.
    match unsafe { stream.as_mut() } {
        Some(handle) => Ok(handle),
        None => invalid("the stream is NULL"),
    }
}

/// Passes the first failure to the caller.
///
/// # Safety
/// `error` is null or may be written.
unsafe fn hand_over(ended: Ended, handle: &mut Handle, error: *mut *mut c_void) -> Result<(), Refusal> {
    handle.report = ended.report;
    let (pointer, outcome) = match ended.result {
        Err(Failure::Error(owned)) if error.is_null() => {
            drop(owned);
            (ptr::null_mut(), Err(Refusal::Failed))
        }
        Err(Failure::Error(owned)) => (owned.release(), Err(Refusal::Failed)),
        Ok(()) | Err(Failure::End) => (ptr::null_mut(), Ok(())),
    };
    if !error.is_null() {
        // SAFETY: the caller guarantees that it may be written.
        unsafe { error.write(pointer) }
    }
    outcome
}

/// See `anabranch.h`.
#[unsafe(no_mangle)]
pub extern "C" fn anabranch_stream_new() -> *mut Handle {
    value(ptr::null_mut(), || {
        let state = State::Described(Line::default());
        Ok(Box::into_raw(Box::new(Handle { state, source: None, items: None, report: None })))
    })
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_stream_free(stream: *mut Handle) {
    if !stream.is_null() {
        status(|| {
            // SAFETY: it is from `anabranch_stream_new`, and this is the only time that it is freed.
            drop(unsafe { Box::from_raw(stream) });
            Ok(())
        });
    }
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it; `error` is null or may be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_run(stream: *mut Handle, error: *mut *mut c_void) -> c_int {
    status(|| {
        // SAFETY: the caller guarantees it.
        let handle = unsafe { handle(stream) }?;
        let ended = handle.run()?;
        // SAFETY: the caller guarantees it.
        unsafe { hand_over(ended, handle, error) }
    })
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it; `destroy` is fit for the
/// items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_start(stream: *mut Handle, destroy: Option<Destroy>) -> c_int {
    // SAFETY: the caller guarantees it.
    status(|| unsafe { handle(stream) }?.start(destroy))
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it; `item` is an item that the
/// first stage can take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_send(stream: *mut Handle, item: *mut c_void) -> c_int {
    status(|| {
        // SAFETY: the caller guarantees it.
        let handle = unsafe { handle(stream) }?;
        let item = Owned::new(item, handle.items);
        match &handle.state {
            State::Started(Some(region), _) => region.send(item).map_err(|_| Refusal::Stopped),
            _ => invalid("the stream is not running: call anabranch_start before"),
        }
    })
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it; `error` is null or may be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_finish(stream: *mut Handle, error: *mut *mut c_void) -> c_int {
    status(|| {
        // SAFETY: the caller guarantees it.
        let handle = unsafe { handle(stream) }?;
        let ended = handle.finish()?;
        // SAFETY: the caller guarantees it.
        unsafe { hand_over(ended, handle, error) }
    })
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_plan(stream: *mut Handle, format: c_int) -> *mut c_char {
    value(none(), || {
        // SAFETY: the caller guarantees it.
        let plan = unsafe { handle(stream) }?.line()?.plan();
        match format {
            0 => Ok(give(&plan.to_string())),
            1 => Ok(give(&plan.to_json())),
            2 => Ok(give(&plan.to_dot())),
            3 => Ok(give(&plan.to_svg())),
            _ => invalid(format!("a plan has the formats 0 to 3, not {format}")),
        }
    })
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_report(stream: *mut Handle, format: c_int) -> *mut c_char {
    value(none(), || {
        // SAFETY: the caller guarantees it.
        let Some(report) = &unsafe { handle(stream) }?.report else {
            return invalid("there is no report: call anabranch_measure and run the stream before");
        };
        match (report.0)(format) {
            Some(text) => Ok(give(&text)),
            None => invalid(format!("a report has the formats 0, 1, 3 and 4, not {format}")),
        }
    })
}
