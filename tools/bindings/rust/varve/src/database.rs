// SPDX-License-Identifier: Apache-2.0
//! Databases, their column families, and the values that reads return.
//!
//! The library has three kinds of databases, and for those with transactions a handle beside that
//! of the kind. All reads use the latter, as for a plain database; what differs is in `Kind`.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::ops::Deref;
use std::os::raw::{c_char, c_void};
use std::path::Path;
use std::sync::Mutex;
use std::{fmt, ptr};

use varve_sys as sys;

use crate::error::{c_text, check};
use crate::iterator::{Entries, KeyRange};
use crate::options::bytes;
use crate::{Batch, Conflicts, Error, Options, Result, Snapshot};

/// An open database, with all its column families. It is closed when it is dropped; what it has
/// given out has ended by then. Any number of threads may use it.
pub struct Database {
    pub(crate) raw: *mut sys::rocksdb_t,
    reads: *mut sys::rocksdb_readoptions_t,
    writes: [*mut sys::rocksdb_writeoptions_t; 2], // without and with a sync
    default: *mut sys::rocksdb_column_family_handle_t,
    families: Mutex<BTreeMap<String, Handle>>,
    pub(crate) kind: Kind,
}

/// What a database is to the library, beside its handle for reads.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Plain,
    /// Writes and transactions lock keys, which those of the other handle do not.
    Pessimistic(*mut sys::rocksdb_transactiondb_t),
    Optimistic(*mut sys::rocksdb_optimistictransactiondb_t),
}

/// How a database is opened.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    Write,
    Read,
    Transactions(Conflicts),
}

/// A handle of a column family, which the database frees when it is closed.
#[derive(Clone, Copy)]
struct Handle(*mut sys::rocksdb_column_family_handle_t);

// SAFETY: the library's calls on a database and its handles may be made by any thread.
unsafe impl Send for Database {}
unsafe impl Sync for Database {}

/// A column family of a database.
#[derive(Clone, Copy)]
pub struct Family<'db> {
    pub(crate) db: &'db Database,
    pub(crate) raw: *mut sys::rocksdb_column_family_handle_t,
}

// SAFETY: it is a reference into a database, which is Sync.
unsafe impl Send for Family<'_> {}
unsafe impl Sync for Family<'_> {}

/// A value, where it lies in the memory of the database.
pub struct Pinned<'db> {
    raw: *mut sys::rocksdb_pinnableslice_t,
    data: *const c_char,
    size: usize,
    db: PhantomData<&'db Database>,
}

impl Database {
    /// Opens the database in a folder.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Database> {
        Self::open_with(path.as_ref(), options, Mode::Write)
    }

    /// Opens a database for reading. No file is changed, and another process may write it.
    pub fn open_read_only(path: impl AsRef<Path>, options: &Options) -> Result<Database> {
        Self::open_with(path.as_ref(), options, Mode::Read)
    }

    pub(crate) fn open_with(path: &Path, options: &Options, mode: Mode) -> Result<Database> {
        let folder = path_text(path)?;
        let names = if path.join("CURRENT").exists() {
            list_families(&folder, options)?
        } else {
            vec![c_text("default", "")?]
        };
        let name_pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let all_options = vec![options.raw(); names.len()];
        let mut handles = vec![ptr::null_mut(); names.len()];
        let count = names.len() as i32;
        // SAFETY: the arrays have `count` elements and outlive the call.
        let (raw, kind) = check(|error| unsafe {
            let (options, folder) = (options.raw(), folder.as_ptr());
            let (names, each) = (name_pointers.as_ptr(), all_options.as_ptr());
            let handles = handles.as_mut_ptr();
            match mode {
                Mode::Read => {
                    let raw = sys::rocksdb_open_for_read_only_column_families(
                        options, folder, count, names, each, handles, 0, error,
                    );
                    (raw, Kind::Plain)
                }
                Mode::Write => {
                    let raw = sys::rocksdb_open_column_families(
                        options, folder, count, names, each, handles, error,
                    );
                    (raw, Kind::Plain)
                }
                Mode::Transactions(Conflicts::AtCommit) => {
                    let own = sys::rocksdb_optimistictransactiondb_open_column_families(
                        options, folder, count, names, each, handles, error,
                    );
                    let raw = sys::rocksdb_optimistictransactiondb_get_base_db(own);
                    (raw, Kind::Optimistic(own))
                }
                Mode::Transactions(Conflicts::Locks) => {
                    let own_options = sys::rocksdb_transactiondb_options_create();
                    let own = sys::rocksdb_transactiondb_open_column_families(
                        options,
                        own_options,
                        folder,
                        count,
                        names,
                        each,
                        handles,
                        error,
                    );
                    sys::rocksdb_transactiondb_options_destroy(own_options);
                    let raw = sys::rocksdb_transactiondb_get_base_db(own);
                    (raw, Kind::Pessimistic(own))
                }
            }
        })?;
        let families: BTreeMap<String, Handle> = names
            .iter()
            .map(|name| name.to_string_lossy().into_owned())
            .zip(handles.into_iter().map(Handle))
            .collect();
        // SAFETY: these objects belong to the database from here on.
        let (reads, writes) = unsafe {
            let synced = sys::rocksdb_writeoptions_create();
            sys::rocksdb_writeoptions_set_sync(synced, 1);
            (
                sys::rocksdb_readoptions_create(),
                [sys::rocksdb_writeoptions_create(), synced],
            )
        };
        let default = families["default"].0;
        Ok(Database {
            raw,
            reads,
            writes,
            default,
            families: Mutex::new(families),
            kind,
        })
    }

    /// Returns options of writes that are synced, or not.
    pub(crate) fn write_options(&self, synced: bool) -> *const sys::rocksdb_writeoptions_t {
        self.writes[usize::from(synced)]
    }

    /// Returns the default column family, which the methods below without a family use.
    #[inline]
    pub fn default_family(&self) -> Family<'_> {
        Family {
            db: self,
            raw: self.default,
        }
    }

    /// Returns a column family by its name.
    pub fn family(&self, name: &str) -> Option<Family<'_>> {
        let families = self.families.lock().unwrap_or_else(|e| e.into_inner());
        families.get(name).map(|handle| Family {
            db: self,
            raw: handle.0,
        })
    }

    /// Returns the names of all column families, also of dropped ones.
    pub fn families(&self) -> Vec<String> {
        let families = self.families.lock().unwrap_or_else(|e| e.into_inner());
        let names = families.keys().filter(|name| !name.contains('\0'));
        names.cloned().collect()
    }

    /// Creates a column family.
    pub fn create_family(&self, name: &str, options: &Options) -> Result<Family<'_>> {
        let text = c_text(name, "the name of the column family")?;
        let mut families = self.families.lock().unwrap_or_else(|e| e.into_inner());
        // SAFETY: the arguments outlive the call.
        let raw = check(|error| unsafe {
            let (options, text) = (options.raw(), text.as_ptr());
            match self.kind {
                Kind::Pessimistic(own) => {
                    sys::rocksdb_transactiondb_create_column_family(own, options, text, error)
                }
                _ => sys::rocksdb_create_column_family(self.raw, options, text, error),
            }
        })?;
        // A dropped family of that name keeps its handle, which a Family may still have. It is kept
        // under a name that no family can have, with zero bytes.
        let mut kept = name.to_owned();
        if let Some(old) = families.insert(kept.clone(), Handle(raw)) {
            while families.contains_key(&kept) {
                kept.push('\0');
            }
            families.insert(kept, old);
        }
        Ok(Family { db: self, raw })
    }

    /// Deletes a column family with all its keys. Calls with it fail from then on.
    pub fn drop_family(&self, family: Family<'_>) -> Result<()> {
        let raw = self.handle(family)?;
        // SAFETY: the handle stays until the database is closed.
        check(|error| unsafe { sys::rocksdb_drop_column_family(self.raw, raw, error) })
    }

    /// Returns the value of a key.
    #[inline]
    pub fn get(&self, key: &[u8]) -> Result<Option<Pinned<'_>>> {
        self.default_family().get(key)
    }

    /// Sets the value of a key.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        self.default_family().put(key, value)
    }

    /// Deletes a key, which may be absent.
    pub fn delete(&self, key: &[u8]) -> Result<()> {
        self.default_family().delete(key)
    }

    /// Adds an operand, which the merge operator of the options combines with the value.
    pub fn merge(&self, key: &[u8], operand: &[u8]) -> Result<()> {
        self.default_family().merge(key, operand)
    }

    /// Iterates over keys in order: `..`, `a..b`, `a..`, `..b`, or a KeyRange.
    pub fn iterate<'a>(&self, range: impl Into<KeyRange<'a>>) -> Result<Entries<'_>> {
        self.default_family().iterate(range)
    }

    /// Returns the state of this moment.
    pub fn snapshot(&self) -> Snapshot<'_> {
        Snapshot::new(self)
    }

    /// Returns an empty batch.
    pub fn batch(&self) -> Batch<'_> {
        Batch::new(self)
    }

    /// Makes all changes of a batch at once.
    pub fn write(&self, batch: &Batch<'_>) -> Result<()> {
        self.write_batch(batch, false)
    }

    /// Makes all changes of a batch at once, and returns when they are durable.
    pub fn write_synced(&self, batch: &Batch<'_>) -> Result<()> {
        self.write_batch(batch, true)
    }

    fn write_batch(&self, batch: &Batch<'_>, synced: bool) -> Result<()> {
        if !ptr::eq(batch.db, self) {
            return Err(Error::invalid("the batch was made for another database"));
        }
        // SAFETY: both objects outlive the call, which changes no updates of the batch.
        check(|error| unsafe {
            let (options, batch) = (self.write_options(synced), batch.raw());
            match self.kind {
                Kind::Pessimistic(own) => {
                    sys::rocksdb_transactiondb_write(own, options, batch, error)
                }
                _ => sys::rocksdb_write(self.raw, options, batch, error),
            }
        })
    }

    /// Makes a copy of the database in a folder that does not exist.
    pub fn checkpoint(&self, folder: impl AsRef<Path>) -> Result<()> {
        let folder = path_text(folder.as_ref())?;
        // SAFETY: the maker is used here only, and freed.
        unsafe {
            let maker = check(|error| sys::rocksdb_checkpoint_object_create(self.raw, error))?;
            let made =
                check(|error| sys::rocksdb_checkpoint_create(maker, folder.as_ptr(), 0, error));
            sys::rocksdb_checkpoint_object_destroy(maker);
            made
        }
    }

    /// Returns all metrics as the text of Prometheus.
    pub fn metrics(&self) -> Result<String> {
        // SAFETY: the text is the caller's.
        let text = check(|error| unsafe { sys::rocksdb_metrics_text(self.raw, error) })?;
        Ok(take_text(text).unwrap_or_default())
    }

    pub(crate) fn handle(
        &self,
        family: Family<'_>,
    ) -> Result<*mut sys::rocksdb_column_family_handle_t> {
        if ptr::eq(family.db, self) {
            return Ok(family.raw);
        }
        Err(Error::invalid("the column family is of another database"))
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Database")
            .field("families", &self.families())
            .finish()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: nothing borrows the database any more, and the objects are its own.
        unsafe {
            for handle in self
                .families
                .get_mut()
                .unwrap_or_else(|e| e.into_inner())
                .values()
            {
                sys::rocksdb_column_family_handle_destroy(handle.0);
            }
            match self.kind {
                Kind::Plain => sys::rocksdb_close(self.raw),
                Kind::Pessimistic(own) => {
                    sys::rocksdb_transactiondb_close_base_db(self.raw);
                    sys::rocksdb_transactiondb_close(own);
                }
                Kind::Optimistic(own) => {
                    sys::rocksdb_optimistictransactiondb_close_base_db(self.raw);
                    sys::rocksdb_optimistictransactiondb_close(own);
                }
            }
            sys::rocksdb_readoptions_destroy(self.reads);
            for options in self.writes {
                sys::rocksdb_writeoptions_destroy(options);
            }
        }
    }
}

impl<'db> Family<'db> {
    /// Returns the value of a key.
    #[inline]
    pub fn get(&self, key: &[u8]) -> Result<Option<Pinned<'db>>> {
        self.get_with(self.db.reads, key)
    }

    #[inline]
    pub(crate) fn get_with(
        &self,
        options: *const sys::rocksdb_readoptions_t,
        key: &[u8],
    ) -> Result<Option<Pinned<'db>>> {
        // SAFETY: the arguments outlive the call.
        let raw = check(|error| unsafe {
            let (data, size) = parts(key);
            sys::rocksdb_get_pinned_cf(self.db.raw, options, self.raw, data, size, error)
        })?;
        // SAFETY: the value is the caller's.
        Ok(unsafe { Pinned::take(raw) })
    }

    /// Makes one change by a batch, which takes the locks that a call on the database would not.
    fn locked(&self, add: impl FnOnce(&mut Batch<'db>) -> Result<()>) -> Result<()> {
        let mut batch = self.db.batch();
        add(&mut batch)?;
        self.db.write(&batch)
    }

    fn locks(&self) -> bool {
        matches!(self.db.kind, Kind::Pessimistic(_))
    }

    /// Sets the value of a key.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.locks() {
            return self.locked(|batch| batch.put_in(*self, key, value));
        }
        let ((key, key_size), (value, value_size)) = (parts(key), parts(value));
        let (db, options) = (self.db.raw, self.db.writes[0]);
        // SAFETY: the arguments outlive the call, as in the methods below.
        check(|error| unsafe {
            sys::rocksdb_put_cf(
                db, options, self.raw, key, key_size, value, value_size, error,
            )
        })
    }

    /// Deletes a key, which may be absent.
    pub fn delete(&self, key: &[u8]) -> Result<()> {
        if self.locks() {
            return self.locked(|batch| batch.delete_in(*self, key));
        }
        let (key, size) = parts(key);
        check(|error| unsafe {
            sys::rocksdb_delete_cf(self.db.raw, self.db.writes[0], self.raw, key, size, error)
        })
    }

    /// Deletes the keys from `begin` to before `end`.
    pub fn delete_range(&self, begin: &[u8], end: &[u8]) -> Result<()> {
        if self.locks() {
            return self.locked(|batch| batch.delete_range_in(*self, begin, end));
        }
        let ((begin, begin_size), (end, end_size)) = (parts(begin), parts(end));
        let (db, options) = (self.db.raw, self.db.writes[0]);
        check(|error| unsafe {
            sys::rocksdb_delete_range_cf(
                db, options, self.raw, begin, begin_size, end, end_size, error,
            )
        })
    }

    /// Adds an operand, which the merge operator of the options combines with the value.
    pub fn merge(&self, key: &[u8], operand: &[u8]) -> Result<()> {
        if self.locks() {
            return self.locked(|batch| batch.merge_in(*self, key, operand));
        }
        let ((key, key_size), (value, value_size)) = (parts(key), parts(operand));
        let (db, options) = (self.db.raw, self.db.writes[0]);
        check(|error| unsafe {
            sys::rocksdb_merge_cf(
                db, options, self.raw, key, key_size, value, value_size, error,
            )
        })
    }

    /// Iterates over keys in order.
    pub fn iterate<'a>(&self, range: impl Into<KeyRange<'a>>) -> Result<Entries<'db>> {
        Entries::new(range.into(), |options| {
            // SAFETY: the options outlive the call.
            unsafe { sys::rocksdb_create_iterator_cf(self.db.raw, options, self.raw) }
        })
    }

    /// Writes what is in memory to tables.
    pub fn flush(&self) -> Result<()> {
        // SAFETY: the options are used here only, and freed.
        unsafe {
            let options = sys::rocksdb_flushoptions_create();
            let done = check(|error| sys::rocksdb_flush_cf(self.db.raw, options, self.raw, error));
            sys::rocksdb_flushoptions_destroy(options);
            done
        }
    }

    /// Merges all tables.
    pub fn compact(&self) {
        // SAFETY: null bounds are none.
        unsafe {
            sys::rocksdb_compact_range_cf(self.db.raw, self.raw, ptr::null(), 0, ptr::null(), 0)
        };
    }

    /// Returns a property such as "rocksdb.stats", if there is one of that name.
    pub fn property(&self, name: &str) -> Option<String> {
        let name = CString::new(name).ok()?;
        // SAFETY: the text is the caller's.
        take_text(unsafe { sys::rocksdb_property_value_cf(self.db.raw, self.raw, name.as_ptr()) })
    }
}

// SAFETY: the bytes do not change, and any thread may release them.
unsafe impl Send for Pinned<'_> {}
unsafe impl Sync for Pinned<'_> {}

impl Pinned<'_> {
    /// Takes over a value of the library; a null pointer is none.
    ///
    /// # Safety
    /// The value is the caller's, and its bytes stay as long as it and the database.
    #[inline]
    pub(crate) unsafe fn take<'db>(raw: *mut sys::rocksdb_pinnableslice_t) -> Option<Pinned<'db>> {
        if raw.is_null() {
            return None;
        }
        let mut size = 0;
        let data = sys::rocksdb_pinnableslice_value(raw, &mut size);
        Some(Pinned {
            raw,
            data,
            size,
            db: PhantomData,
        })
    }
}

impl Deref for Pinned<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes stay as long as `raw`.
        unsafe { bytes(self.data, self.size) }
    }
}

impl fmt::Debug for Pinned<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, to)
    }
}

impl Drop for Pinned<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: it is this object's own.
        unsafe { sys::rocksdb_pinnableslice_destroy(self.raw) };
    }
}

/// Returns a slice for C.
#[inline]
pub(crate) fn parts(bytes: &[u8]) -> (*const c_char, usize) {
    (bytes.as_ptr() as *const c_char, bytes.len())
}

#[cfg(unix)]
pub(crate) fn path_text(path: &Path) -> Result<CString> {
    use std::os::unix::ffi::OsStrExt;
    c_text(path.as_os_str().as_bytes(), "the path")
}

fn list_families(folder: &CStr, options: &Options) -> Result<Vec<CString>> {
    let mut count = 0;
    // SAFETY: the list has `count` texts, and is freed.
    unsafe {
        let list = check(|error| {
            sys::rocksdb_list_column_families(options.raw(), folder.as_ptr(), &mut count, error)
        })?;
        let names = (0..count)
            .map(|i| CStr::from_ptr(*list.add(i)).to_owned())
            .collect();
        sys::rocksdb_list_column_families_destroy(list, count);
        Ok(names)
    }
}

/// Takes over a text of the library.
fn take_text(text: *mut c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: it is a text that the caller frees.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        sys::rocksdb_free(text as *mut c_void);
        Some(copy)
    }
}
