//! Tokens, which stop streams from outside.

use std::ffi::c_int;
use std::ptr;

use anabranch::CancelToken;

use super::outcome::{Refusal, invalid, status, value};

/// Returns the token behind a handle.
///
/// # Safety
/// `token` is null or a token that was not freed.
pub(super) unsafe fn token<'t>(token: *const CancelToken) -> Result<&'t CancelToken, Refusal> {
    // SAFETY: the caller guarantees that it is null or a token, and any number of threads may share a token.
    match unsafe { token.as_ref() } {
        Some(token) => Ok(token),
        None => invalid("the token is NULL"),
    }
}

/// See `anabranch.h`.
#[unsafe(no_mangle)]
pub extern "C" fn anabranch_token_new() -> *mut CancelToken {
    value(ptr::null_mut(), || Ok(Box::into_raw(Box::new(CancelToken::new()))))
}

/// See `anabranch.h`.
///
/// # Safety
/// `token` is null or a token that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_token_free(token: *mut CancelToken) {
    if !token.is_null() {
        status(|| {
            // SAFETY: it is from `anabranch_token_new`, and this is the only time that it is freed. Streams
            // have clones.
            drop(unsafe { Box::from_raw(token) });
            Ok(())
        });
    }
}

/// See `anabranch.h`.
///
/// # Safety
/// `of` is null or a token that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_token_cancel(of: *mut CancelToken) {
    status(|| {
        // SAFETY: the caller guarantees it.
        unsafe { token(of) }?.cancel();
        Ok(())
    });
}

/// See `anabranch.h`.
///
/// # Safety
/// `of` is null or a token that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_token_drain(of: *mut CancelToken) {
    status(|| {
        // SAFETY: the caller guarantees it.
        unsafe { token(of) }?.drain();
        Ok(())
    });
}

/// See `anabranch.h`.
///
/// # Safety
/// `of` is null or a token that was not freed; `delivered` and `dropped` are null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_token_stopped(
    of: *const CancelToken,
    delivered: *mut u64,
    dropped: *mut u64,
) -> c_int {
    value(0, || {
        // SAFETY: the caller guarantees it.
        let Some(stopped) = unsafe { token(of) }?.stopped() else { return Ok(0) };
        for (place, count) in [(delivered, stopped.delivered), (dropped, stopped.dropped)] {
            if !place.is_null() {
                // SAFETY: the caller guarantees that it may be written.
                unsafe { place.write(count) }
            }
        }
        Ok(1)
    })
}
