// SPDX-License-Identifier: Apache-2.0
//! Changes that are made together.

use varve_sys as sys;

use crate::database::parts;
use crate::{Database, Family, Result};

/// Changes that [`Database::write`] makes at once.
pub struct Batch<'db> {
    pub(crate) db: &'db Database,
    raw: *mut sys::rocksdb_writebatch_t,
}

// SAFETY: the library's object belongs to this one alone; only `&mut self` adds updates to it.
unsafe impl Send for Batch<'_> {}

impl<'db> Batch<'db> {
    pub(crate) fn new(db: &'db Database) -> Batch<'db> {
        // SAFETY: the object is this one's own.
        let raw = unsafe { sys::rocksdb_writebatch_create() };
        assert!(!raw.is_null(), "no memory");
        Batch { db, raw }
    }

    pub(crate) fn raw(&self) -> *mut sys::rocksdb_writebatch_t {
        self.raw
    }

    /// Sets the value of a key of the default column family.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.put_in(self.db.default_family(), key, value)
    }

    /// Deletes a key of the default column family.
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.delete_in(self.db.default_family(), key)
    }

    /// Adds an operand to a key of the default column family.
    pub fn merge(&mut self, key: &[u8], operand: &[u8]) -> Result<()> {
        self.merge_in(self.db.default_family(), key, operand)
    }

    /// Sets the value of a key. A family of another database is an error, as in all methods.
    pub fn put_in(&mut self, family: Family<'_>, key: &[u8], value: &[u8]) -> Result<()> {
        let handle = self.db.handle(family)?;
        let ((key, key_size), (value, value_size)) = (parts(key), parts(value));
        // SAFETY: the batch copies the bytes, as in the methods below.
        unsafe {
            sys::rocksdb_writebatch_put_cf(self.raw, handle, key, key_size, value, value_size)
        };
        Ok(())
    }

    /// Deletes a key.
    pub fn delete_in(&mut self, family: Family<'_>, key: &[u8]) -> Result<()> {
        let handle = self.db.handle(family)?;
        let (key, size) = parts(key);
        unsafe { sys::rocksdb_writebatch_delete_cf(self.raw, handle, key, size) };
        Ok(())
    }

    /// Adds an operand to a key.
    pub fn merge_in(&mut self, family: Family<'_>, key: &[u8], operand: &[u8]) -> Result<()> {
        let handle = self.db.handle(family)?;
        let ((key, key_size), (value, value_size)) = (parts(key), parts(operand));
        unsafe {
            sys::rocksdb_writebatch_merge_cf(self.raw, handle, key, key_size, value, value_size)
        };
        Ok(())
    }

    /// Deletes the keys from `begin` to before `end`.
    pub fn delete_range_in(&mut self, family: Family<'_>, begin: &[u8], end: &[u8]) -> Result<()> {
        let handle = self.db.handle(family)?;
        let ((begin, begin_size), (end, end_size)) = (parts(begin), parts(end));
        unsafe {
            sys::rocksdb_writebatch_delete_range_cf(
                self.raw, handle, begin, begin_size, end, end_size,
            )
        };
        Ok(())
    }

    /// Removes all changes.
    pub fn clear(&mut self) {
        // SAFETY: as above.
        unsafe { sys::rocksdb_writebatch_clear(self.raw) };
    }

    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        // SAFETY: as above.
        unsafe { sys::rocksdb_writebatch_count(self.raw) as usize }
    }

    /// Returns true if there are no changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // SAFETY: it is this object's own.
        unsafe { sys::rocksdb_writebatch_destroy(self.raw) };
    }
}
