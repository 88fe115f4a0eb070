// SPDX-License-Identifier: Apache-2.0
//! Errors, by the status of the engine, and how calls of the library report them.

use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::{c_char, c_void};
use std::ptr;

use varve_sys as sys;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file or a database is absent. Absent keys are no errors.
    NotFound,
    /// Stored bytes are damaged.
    Corruption,
    /// The library lacks a feature.
    NotSupported,
    /// An argument or an option is wrong; nothing was changed.
    InvalidArgument,
    /// A call of the file system failed, or another process has the database open.
    Io,
    /// Another call or transaction is in the way; a repetition may succeed.
    Busy,
    /// Another transaction has kept a lock for too long.
    TimedOut,
    /// Any other error.
    Other,
}

/// An error of the engine. Its text says what failed, and where.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    text: String,
}

impl Error {
    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(crate) fn invalid(text: &str) -> Error {
        Error {
            kind: ErrorKind::InvalidArgument,
            text: format!("Invalid argument: {text}"),
        }
    }

    fn of_text(text: String) -> Error {
        let kind = match text.split(':').next().unwrap_or("") {
            "NotFound" => ErrorKind::NotFound,
            "Corruption" => ErrorKind::Corruption,
            "Not implemented" => ErrorKind::NotSupported,
            "Invalid argument" => ErrorKind::InvalidArgument,
            "IO error" => ErrorKind::Io,
            "Resource busy" | "Operation failed. Try again." => ErrorKind::Busy,
            "Operation timed out" => ErrorKind::TimedOut,
            _ => ErrorKind::Other,
        };
        Error { kind, text }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

/// Makes a call with a place for its error, and returns its result or the error.
#[inline]
pub(crate) fn check<T>(call: impl FnOnce(*mut *mut c_char) -> T) -> crate::Result<T> {
    let mut error: *mut c_char = ptr::null_mut();
    let result = call(&mut error);
    if error.is_null() {
        return Ok(result);
    }
    // SAFETY: the library has set it to a text that the caller frees.
    Err(unsafe { taken(error) })
}

/// Makes an error of a text of the library, and frees that.
///
/// # Safety
/// The text is the caller's.
#[cold]
unsafe fn taken(text: *mut c_char) -> Error {
    let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
    sys::rocksdb_free(text as *mut c_void);
    Error::of_text(copy)
}

/// Returns a text for C.
pub(crate) fn c_text(bytes: impl Into<Vec<u8>>, what: &str) -> crate::Result<CString> {
    CString::new(bytes).map_err(|_| Error::invalid(&format!("{what} has a zero byte")))
}
