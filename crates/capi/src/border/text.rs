//! Texts that pass between C and Rust.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::ptr;

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Stores the message of this thread's last error.
pub(super) fn note(what: &str) {
    LAST_ERROR.set(text(what));
}

/// Returns the text for C. Zero bytes become spaces, because a C string ends at its first zero.
fn text(of: &str) -> CString {
    CString::new(of.replace('\0', " ")).unwrap_or_default()
}

/// Hands a text over to C, which has to free it.
pub(super) fn give(of: &str) -> *mut c_char {
    text(of).into_raw()
}

/// Copies a text of C.
///
/// # Safety
/// `text` is null or a text that ends with a zero.
pub(super) unsafe fn read(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller guarantees that it ends with a zero.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// See `anabranch.h`.
#[unsafe(no_mangle)]
pub extern "C" fn anabranch_last_error() -> *const c_char {
    LAST_ERROR.try_with(|text| text.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// See `anabranch.h`.
///
/// # Safety
/// `text` is null or a text that the library gave and that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: it is from `give`, and this is the only time that it is freed.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// See `anabranch.h`.
#[unsafe(no_mangle)]
pub extern "C" fn anabranch_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// See `anabranch.h`.
#[unsafe(no_mangle)]
pub extern "C" fn anabranch_abi() -> u32 {
    2
}

/// See `anabranch.h`.
#[unsafe(no_mangle)]
pub extern "C" fn anabranch_default_workers() -> usize {
    std::panic::catch_unwind(anabranch::default_workers).unwrap_or(1)
}

/// Returns the pointer for no text.
pub(super) fn none() -> *mut c_char {
    ptr::null_mut()
}
