//! The functions that add a source and stages to a stream.

use std::ffi::{c_int, c_void};

use super::code::{Code, LocalFn, Source, SourceFn, Stage, StageFn};
use super::handle::{Handle, handle};
use super::item::{Destroy, Owned};
use super::outcome::{Refusal, invalid, status};
use crate::line::{Kind, Node};

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it; the functions are fit for
/// the context and for each other's items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_source(
    stream: *mut Handle,
    next: Option<SourceFn>,
    context: *mut c_void,
    release: Option<Destroy>,
    destroy: Option<Destroy>,
) -> c_int {
    // Taken over first, so that it is released even if the call fails.
    let context = Owned::new(context, release);
    status(|| {
        // SAFETY: the caller guarantees it.
        let handle = unsafe { handle(stream) }?;
        handle.line()?;
        let Some(next) = next else { return invalid("anabranch_source: the function is NULL") };
        if handle.source.is_some() {
            return invalid("the stream has a source already, and can have only one");
        }
        handle.source = Some(Source { code: Code::new(next, context), output: destroy });
        Ok(())
    })
}

/// See `anabranch.h`.
///
/// # Safety
/// As for [`anabranch_source`]; several threads may call the function at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_map(
    stream: *mut Handle,
    call: Option<StageFn>,
    context: *mut c_void,
    release: Option<Destroy>,
    destroy: Option<Destroy>,
) -> c_int {
    let context = Owned::new(context, release);
    // SAFETY: the caller guarantees it.
    status(|| unsafe { add(stream, Kind::Parallel, call, context, destroy) })
}

/// See `anabranch.h`.
///
/// # Safety
/// As for [`anabranch_source`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_serial_map(
    stream: *mut Handle,
    call: Option<StageFn>,
    context: *mut c_void,
    release: Option<Destroy>,
    destroy: Option<Destroy>,
) -> c_int {
    let context = Owned::new(context, release);
    // SAFETY: the caller guarantees it.
    status(|| unsafe { add(stream, Kind::Serial, call, context, destroy) })
}

/// # Safety
/// As for [`anabranch_source`].
unsafe fn add(
    stream: *mut Handle,
    kind: Kind,
    call: Option<StageFn>,
    context: Owned,
    output: Option<Destroy>,
) -> Result<(), Refusal> {
    // SAFETY: the caller guarantees it.
    let line = unsafe { handle(stream) }?.line()?;
    let Some(call) = call else { return invalid("the stage's function is NULL") };
    let stage = Stage { code: Code::new(call, context), output, local: None };
    line.nodes.push(Node { kind, stage, name: None, replicas: None });
    Ok(())
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it; several threads may call
/// `make` at once with the stage's context, and `destroy` is fit for what it gives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_state(
    stream: *mut Handle,
    make: Option<LocalFn>,
    destroy: Option<Destroy>,
) -> c_int {
    status(|| {
        // SAFETY: the caller guarantees it.
        let line = unsafe { handle(stream) }?.line()?;
        let Some(make) = make else { return invalid("the function that creates states is NULL") };
        match line.nodes.last_mut() {
            Some(Node { kind: Kind::Parallel, stage, .. }) => {
                stage.local = Some((make, destroy));
                Ok(())
            }
            _ => invalid("the last stage is not parallel: a serial stage keeps its state in its context"),
        }
    })
}
