// SPDX-License-Identifier: Apache-2.0
//! States of a database.

use varve_sys as sys;

use crate::iterator::{Entries, KeyRange};
use crate::{Database, Family, Pinned, Result};

/// The state of a database at one moment. Any number of threads may read it.
pub struct Snapshot<'db> {
    db: &'db Database,
    raw: *const sys::rocksdb_snapshot_t,
    reads: *mut sys::rocksdb_readoptions_t,
}

// SAFETY: reads do not change it.
unsafe impl Send for Snapshot<'_> {}
unsafe impl Sync for Snapshot<'_> {}

impl<'db> Snapshot<'db> {
    pub(crate) fn new(db: &'db Database) -> Snapshot<'db> {
        // SAFETY: both objects are this one's own.
        unsafe {
            let raw = sys::rocksdb_create_snapshot(db.raw);
            let reads = sys::rocksdb_readoptions_create();
            assert!(!raw.is_null() && !reads.is_null(), "no snapshot");
            sys::rocksdb_readoptions_set_snapshot(reads, raw);
            Snapshot { db, raw, reads }
        }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &[u8]) -> Result<Option<Pinned<'db>>> {
        self.get_in(self.db.default_family(), key)
    }

    /// Returns the value of a key of a column family.
    pub fn get_in(&self, family: Family<'db>, key: &[u8]) -> Result<Option<Pinned<'db>>> {
        self.db.handle(family)?;
        family.get_with(self.reads, key)
    }

    /// Iterates over keys in order.
    pub fn iterate<'a>(&self, range: impl Into<KeyRange<'a>>) -> Result<Entries<'_>> {
        self.iterate_in(self.db.default_family(), range)
    }

    /// Iterates over keys of a column family in order.
    pub fn iterate_in<'a>(
        &self,
        family: Family<'db>,
        range: impl Into<KeyRange<'a>>,
    ) -> Result<Entries<'_>> {
        let handle = self.db.handle(family)?;
        Entries::new(range.into(), |options| {
            // SAFETY: the options and the snapshot outlive the call.
            unsafe {
                sys::rocksdb_readoptions_set_snapshot(options, self.raw);
                sys::rocksdb_create_iterator_cf(self.db.raw, options, handle)
            }
        })
    }

    /// Returns its place in the order of writes.
    pub fn sequence(&self) -> u64 {
        // SAFETY: it is valid as long as this object.
        unsafe { sys::rocksdb_snapshot_get_sequence_number(self.raw) }
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // SAFETY: they are this object's own.
        unsafe {
            sys::rocksdb_readoptions_destroy(self.reads);
            sys::rocksdb_release_snapshot(self.db.raw, self.raw);
        }
    }
}
