// SPDX-License-Identifier: Apache-2.0
//! Options of an opening, and merge operators.

use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_uchar, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::{ptr, slice};

use varve_sys as sys;

use crate::error::{c_text, check};
use crate::Result;

type Merge = dyn Fn(&[u8], Option<&[u8]>, &[&[u8]]) -> Option<Vec<u8>> + Send + Sync;

/// Options of a database, for all its column families.
pub struct Options {
    raw: *mut sys::rocksdb_options_t,
}

// SAFETY: the library's object is a plain structure, which `&self` does not change.
unsafe impl Send for Options {}
unsafe impl Sync for Options {}

impl Options {
    /// Returns the defaults, with which a missing database is created.
    pub fn new() -> Options {
        // SAFETY: the object belongs to this one from here on.
        unsafe {
            let raw = sys::rocksdb_options_create();
            assert!(!raw.is_null(), "no memory");
            sys::rocksdb_options_set_create_if_missing(raw, 1);
            Options { raw }
        }
    }

    /// Sets whether a missing database is created; otherwise its opening fails.
    pub fn create_if_missing(self, create: bool) -> Options {
        // SAFETY: `raw` is valid as long as this object.
        unsafe { sys::rocksdb_options_set_create_if_missing(self.raw, create as c_uchar) };
        self
    }

    /// Sets options by a text, such as "write_buffer_size=1M;compression=kZSTD".
    pub fn text(self, text: &str) -> Result<Options> {
        let text = c_text(text, "the text of options")?;
        let changed = Options::new();
        // SAFETY: both objects and the text outlive the call.
        check(|error| unsafe {
            sys::rocksdb_get_options_from_string(self.raw, text.as_ptr(), changed.raw, error)
        })?;
        Ok(changed)
    }

    /// Sets the merge operator. `merge` gets the key, its value if there is one, and the operands,
    /// oldest first. It returns the new value; with None, or when it panics, reads of the key fail.
    /// It is called by several threads at once. The name is stored in the database.
    pub fn merge_operator<F>(self, name: &str, merge: F) -> Result<Options>
    where
        F: Fn(&[u8], Option<&[u8]>, &[&[u8]]) -> Option<Vec<u8>> + Send + Sync + 'static,
    {
        let name = c_text(name, "the name of the merge operator")?;
        let state = Box::new(Operator {
            name,
            merge: Box::new(merge),
        });
        // SAFETY: the library calls the functions below with this state, frees it once by `forget`,
        // and the options own the operator.
        unsafe {
            let made = sys::rocksdb_mergeoperator_create(
                Box::into_raw(state) as *mut c_void,
                Some(forget),
                Some(full_merge),
                Some(partial_merge),
                Some(free_value),
                Some(name_of),
            );
            assert!(!made.is_null(), "no memory");
            sys::rocksdb_options_set_merge_operator(self.raw, made);
        }
        Ok(self)
    }

    pub(crate) fn raw(&self) -> *const sys::rocksdb_options_t {
        self.raw
    }
}

impl Default for Options {
    fn default() -> Options {
        Options::new()
    }
}

impl Drop for Options {
    fn drop(&mut self) {
        // SAFETY: nothing uses it any more; databases have copies.
        unsafe { sys::rocksdb_options_destroy(self.raw) };
    }
}

struct Operator {
    name: CString,
    merge: Box<Merge>,
}

/// Returns bytes of the library; a null pointer is an empty slice.
///
/// # Safety
/// `data` is null, or has `size` bytes that stay for the lifetime.
pub(crate) unsafe fn bytes<'a>(data: *const c_char, size: usize) -> &'a [u8] {
    if data.is_null() {
        &[]
    } else {
        slice::from_raw_parts(data as *const u8, size)
    }
}

unsafe extern "C" fn forget(state: *mut c_void) {
    drop(Box::from_raw(state as *mut Operator));
}

unsafe extern "C" fn name_of(state: *mut c_void) -> *const c_char {
    (*(state as *const Operator)).name.as_ptr()
}

unsafe extern "C" fn full_merge(
    state: *mut c_void,
    key: *const c_char,
    key_size: usize,
    existing: *const c_char,
    existing_size: usize,
    operands: *const *const c_char,
    operand_sizes: *const usize,
    count: c_int,
    success: *mut c_uchar,
    new_size: *mut usize,
) -> *mut c_char {
    *success = 0;
    *new_size = 0;
    let operator = &*(state as *const Operator);
    let merged = catch_unwind(AssertUnwindSafe(|| {
        let operands: Vec<&[u8]> = (0..count as usize)
            .map(|i| bytes(*operands.add(i), *operand_sizes.add(i)))
            .collect();
        let value = (!existing.is_null()).then(|| bytes(existing, existing_size));
        (operator.merge)(bytes(key, key_size), value, &operands)
    }));
    match merged {
        Ok(Some(value)) => {
            *success = 1;
            *new_size = value.len();
            Box::into_raw(value.into_boxed_slice()) as *mut u8 as *mut c_char
        }
        _ => ptr::null_mut(),
    }
}

unsafe extern "C" fn partial_merge(
    _state: *mut c_void,
    _key: *const c_char,
    _key_size: usize,
    _operands: *const *const c_char,
    _operand_sizes: *const usize,
    _count: c_int,
    success: *mut c_uchar,
    _new_size: *mut usize,
) -> *mut c_char {
    *success = 0;
    ptr::null_mut()
}

unsafe extern "C" fn free_value(_state: *mut c_void, value: *const c_char, size: usize) {
    if !value.is_null() {
        drop(Box::from_raw(ptr::slice_from_raw_parts_mut(
            value as *mut u8,
            size,
        )));
    }
}
