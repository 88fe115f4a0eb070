// SPDX-License-Identifier: Apache-2.0
//! Backups of databases, in a folder of their own.

use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_uchar};
use std::path::Path;
use std::ptr;

use varve_sys as sys;

use crate::database::{parts, path_text};
use crate::error::check;
use crate::options::bytes;
use crate::{Database, Result};

/// The backups in a folder, which share the tables that they have in common. It may be sent to
/// another thread, but is used by one at a time.
pub struct Backups {
    raw: *mut sys::rocksdb_backup_engine_t,
}

// SAFETY: any thread may use it, one at a time.
unsafe impl Send for Backups {}

/// What [`Backups::list`] says of a backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Its number.
    pub id: u32,
    /// When it was made, in seconds since 1970.
    pub timestamp: i64,
    /// Its size in bytes.
    pub size: u64,
    /// The number of its files.
    pub files: u32,
    /// The bytes that [`Backups::create`] was given.
    pub metadata: Vec<u8>,
}

impl Backups {
    /// Opens the backups in a folder, which is made if it is missing. Only one object, of all
    /// processes, may be open so.
    pub fn open(folder: impl AsRef<Path>) -> Result<Backups> {
        Self::open_with(folder.as_ref(), false)
    }

    /// Opens the backups in a folder for `list`, `verify` and `restore`.
    pub fn open_read_only(folder: impl AsRef<Path>) -> Result<Backups> {
        Self::open_with(folder.as_ref(), true)
    }

    fn open_with(folder: &Path, read_only: bool) -> Result<Backups> {
        let folder = path_text(folder)?;
        // SAFETY: the options are used here only, and freed; no environment is the default one.
        let raw = check(|error| unsafe {
            let options = sys::rocksdb_backup_engine_options_create(folder.as_ptr());
            let env = ptr::null_mut();
            let raw = if read_only {
                sys::rocksdb_backup_engine_open_read_only(options, env, error)
            } else {
                sys::rocksdb_backup_engine_open_opts(options, env, error)
            };
            sys::rocksdb_backup_engine_options_destroy(options);
            raw
        })?;
        Ok(Backups { raw })
    }

    /// Makes a backup of an open database, and returns its number. `metadata` is any bytes.
    pub fn create(&mut self, db: &Database, metadata: &[u8]) -> Result<u32> {
        self.create_with(db, metadata, false)
    }

    /// Makes a backup after writing what is in memory to tables, which it needs for changes that
    /// were not logged.
    pub fn create_flushed(&mut self, db: &Database, metadata: &[u8]) -> Result<u32> {
        self.create_with(db, metadata, true)
    }

    fn create_with(&mut self, db: &Database, metadata: &[u8], flush: bool) -> Result<u32> {
        let (mut id, (data, size)) = (0, parts(metadata));
        // SAFETY: the arguments outlive the call; the options are used here only, and freed.
        check(|error| unsafe {
            let options = sys::rocksdb_create_backup_options_create();
            let flush = c_uchar::from(flush);
            sys::rocksdb_create_backup_options_set_flush_before_backup(options, flush);
            sys::rocksdb_backup_engine_create_new_backup_with_metadata(
                self.raw, db.raw, options, data, size, &mut id, error,
            );
            sys::rocksdb_create_backup_options_destroy(options);
        })?;
        Ok(id)
    }

    /// Returns the backups, the oldest first.
    pub fn list(&self) -> Vec<Backup> {
        // SAFETY: the list is used here only, and freed; each index is below its count.
        unsafe {
            let info = sys::rocksdb_backup_engine_get_backup_info(self.raw);
            let count = sys::rocksdb_backup_engine_info_count(info);
            let backups = (0..count).map(|i| backup_at(info, i)).collect();
            sys::rocksdb_backup_engine_info_destroy(info);
            backups
        }
    }

    /// Fails if a file of the backup is missing or has another size. A restore compares checksums.
    pub fn verify(&self, id: u32) -> Result<()> {
        // SAFETY: it is this object's own, as below.
        check(|error| unsafe { sys::rocksdb_backup_engine_verify_backup(self.raw, id, error) })
    }

    /// Puts a backup in place of the database in a folder, which must not be open.
    pub fn restore(&self, id: u32, folder: impl AsRef<Path>) -> Result<()> {
        self.restore_with(folder.as_ref(), |folder, options, error| unsafe {
            sys::rocksdb_backup_engine_restore_db_from_backup(
                self.raw, folder, folder, options, id, error,
            )
        })
    }

    /// Puts the latest backup in place of the database in a folder, which must not be open.
    pub fn restore_latest(&self, folder: impl AsRef<Path>) -> Result<()> {
        self.restore_with(folder.as_ref(), |folder, options, error| unsafe {
            sys::rocksdb_backup_engine_restore_db_from_latest_backup(
                self.raw, folder, folder, options, error,
            )
        })
    }

    fn restore_with(
        &self,
        folder: &Path,
        call: impl FnOnce(*const c_char, *const sys::rocksdb_restore_options_t, *mut *mut c_char),
    ) -> Result<()> {
        let folder: CString = path_text(folder)?;
        check(|error| {
            // SAFETY: the options are used here only, and freed.
            let options = unsafe { sys::rocksdb_restore_options_create() };
            call(folder.as_ptr(), options, error);
            unsafe { sys::rocksdb_restore_options_destroy(options) };
        })
    }

    /// Deletes a backup.
    pub fn delete(&mut self, id: u32) -> Result<()> {
        check(|error| unsafe { sys::rocksdb_backup_engine_delete_backup(self.raw, id, error) })
    }

    /// Deletes all backups but the `keep` latest ones.
    pub fn purge(&mut self, keep: u32) -> Result<()> {
        check(|error| unsafe {
            sys::rocksdb_backup_engine_purge_old_backups(self.raw, keep, error)
        })
    }
}

impl Drop for Backups {
    fn drop(&mut self) {
        // SAFETY: it is this object's own.
        unsafe { sys::rocksdb_backup_engine_close(self.raw) };
    }
}

/// # Safety
/// The index is below the count of the list.
unsafe fn backup_at(info: *const sys::rocksdb_backup_engine_info_t, i: c_int) -> Backup {
    let mut size = 0;
    let metadata = sys::rocksdb_backup_engine_info_app_metadata(info, i, &mut size);
    Backup {
        id: sys::rocksdb_backup_engine_info_backup_id(info, i),
        timestamp: sys::rocksdb_backup_engine_info_timestamp(info, i),
        size: sys::rocksdb_backup_engine_info_size(info, i),
        files: sys::rocksdb_backup_engine_info_number_files(info, i),
        metadata: bytes(metadata, size).to_vec(),
    }
}
