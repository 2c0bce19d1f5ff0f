//! The settings of a stream.

use std::ffi::{c_char, c_int, c_void};
use std::ops::RangeInclusive;
use std::sync::Mutex;

use anabranch::CancelToken;

use super::code::{Code, ProgressFn, WeighFn};
use super::handle::{Handle, handle};
use super::item::{Destroy, Owned};
use super::outcome::{Refusal, invalid, status};
use super::text::read;
use super::token::token;
use crate::line::{Kind, Line, Node};
use crate::run::measured;

/// The range of the number of threads, and of simultaneous calls.
const THREADS: RangeInclusive<i64> = 1..=1 << 16;
const ITEMS: RangeInclusive<i64> = 1..=1 << 31;

#[inline(never)]
fn number(name: &str, value: i64, range: RangeInclusive<i64>) -> Result<usize, Refusal> {
    let fits = range.contains(&value).then(|| usize::try_from(value).ok()).flatten();
    match fits {
        Some(value) => Ok(value),
        None => invalid(format!("{name} is {value}: it can be {} to {}", range.start(), range.end())),
    }
}

fn set(line: &mut Line, setting: c_int, value: i64) -> Result<(), Refusal> {
    let switch = |name| Ok(number(name, value, 0..=1)? == 1);
    let settings = &mut line.settings;
    match setting {
        0 => settings.workers = Some(number("ANABRANCH_WORKERS", value, THREADS)?),
        1 => settings.window = Some(number("ANABRANCH_WINDOW", value, ITEMS)?),
        2 => settings.burst = Some(number("ANABRANCH_BURST", value, ITEMS)?),
        3 => {
            let replicas = number("ANABRANCH_REPLICAS", value, THREADS)?;
            match line.nodes.last_mut() {
                Some(Node { kind: Kind::Parallel, replicas: of, .. }) => *of = Some(replicas),
                _ => {
                    return invalid(
                        "ANABRANCH_REPLICAS is for a parallel stage, and the last stage is not parallel",
                    );
                }
            }
        }
        4 => settings.spin = switch("ANABRANCH_SPIN")?,
        5 => settings.inline = switch("ANABRANCH_INLINE")?,
        6 => settings.in_blocks = switch("ANABRANCH_IN_BLOCKS")?,
        _ => return invalid(format!("there is no setting {setting}: the settings are 0 to 6")),
    }
    Ok(())
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_set(stream: *mut Handle, setting: c_int, value: i64) -> c_int {
    // SAFETY: the caller guarantees it.
    status(|| set(unsafe { handle(stream) }?.line()?, setting, value))
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_measure(stream: *mut Handle, traces: c_int) -> c_int {
    status(|| {
        // SAFETY: the caller guarantees it.
        let settings = &mut unsafe { handle(stream) }?.line()?.settings;
        settings.measured = Some(measured);
        settings.traces |= traces != 0;
        Ok(())
    })
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it; `text` is null or ends with
/// a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_name(stream: *mut Handle, what: c_int, text: *const c_char) -> c_int {
    status(|| {
        // SAFETY: the caller guarantees it.
        let line = unsafe { handle(stream) }?.line()?;
        // SAFETY: the caller guarantees it.
        let Some(text) = (unsafe { read(text) }) else { return invalid("the name is NULL") };
        match (what, line.nodes.last_mut()) {
            (0, _) => line.settings.title = Some(text),
            (1, Some(node)) => node.name = Some(text),
            (1, None) => line.settings.source = Some(text),
            _ => return invalid(format!("there is no name {what}: the names are 0 and 1")),
        }
        Ok(())
    })
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_unordered(stream: *mut Handle) -> c_int {
    status(|| {
        // SAFETY: the caller guarantees it.
        let line = unsafe { handle(stream) }?.line()?;
        line.settings.unordered_from.get_or_insert(line.nodes.len());
        Ok(())
    })
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it; `destroy` is fit for its
/// errors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_errors(stream: *mut Handle, destroy: Option<Destroy>) -> c_int {
    status(|| {
        // SAFETY: the caller guarantees it.
        unsafe { handle(stream) }?.line()?.settings.error = destroy;
        Ok(())
    })
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it; the functions are fit for
/// the context and for what the source gives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_window_bytes(
    stream: *mut Handle,
    bytes: u64,
    weigh: Option<WeighFn>,
    context: *mut c_void,
    release: Option<Destroy>,
) -> c_int {
    let context = Owned::new(context, release);
    status(|| {
        // SAFETY: the caller guarantees it.
        let line = unsafe { handle(stream) }?.line()?;
        let Some(weigh) = weigh else {
            return invalid("anabranch_window_bytes: the function that weighs items is NULL");
        };
        if bytes == 0 {
            return invalid("anabranch_window_bytes: a window is 1 byte or more, not 0");
        }
        line.settings.weigher = Some((bytes, Code::new(weigh, context)));
        Ok(())
    })
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it; the functions are fit for
/// the context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_on_progress(
    stream: *mut Handle,
    tell: Option<ProgressFn>,
    context: *mut c_void,
    release: Option<Destroy>,
) -> c_int {
    let context = Owned::new(context, release);
    status(|| {
        // SAFETY: the caller guarantees it.
        let line = unsafe { handle(stream) }?.line()?;
        let Some(tell) = tell else { return invalid("anabranch_on_progress: the function is NULL") };
        line.settings.progress = Some(Mutex::new(Code::new(tell, context)));
        Ok(())
    })
}

/// See `anabranch.h`.
///
/// # Safety
/// `stream` is null or a stream that was not freed, and no other thread uses it; `of` is null or a token that
/// was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_cancel_by(stream: *mut Handle, of: *mut CancelToken) -> c_int {
    status(|| {
        // SAFETY: the caller guarantees it.
        let line = unsafe { handle(stream) }?.line()?;
        // SAFETY: the caller guarantees it.
        line.settings.tokens.push(unsafe { token(of) }?.clone());
        Ok(())
    })
}
