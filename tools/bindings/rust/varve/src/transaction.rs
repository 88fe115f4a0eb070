// SPDX-License-Identifier: Apache-2.0
//! Transactions, and the databases that have them.

use std::ffi::c_void;
use std::ops::Deref;
use std::os::raw::c_uchar;
use std::path::Path;
use std::time::Duration;
use std::{fmt, ptr};

use varve_sys as sys;

use crate::database::{parts, Kind, Mode};
use crate::error::check;
use crate::iterator::{Entries, KeyRange};
use crate::{Database, Family, Options, Pinned, Result};

/// When a database finds out that two transactions change one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflicts {
    /// At once: transactions lock keys, and wait for each other. So do plain writes.
    Locks,
    /// In the commit, which fails if another transaction or write has changed a key. No call waits.
    AtCommit,
}

/// A database with transactions. It has all methods of [`Database`].
pub struct TransactionDatabase {
    db: Database,
}

impl TransactionDatabase {
    /// Opens the database in a folder.
    pub fn open(
        path: impl AsRef<Path>,
        options: &Options,
        conflicts: Conflicts,
    ) -> Result<TransactionDatabase> {
        let db = Database::open_with(path.as_ref(), options, Mode::Transactions(conflicts))?;
        Ok(TransactionDatabase { db })
    }

    /// Begins a transaction.
    pub fn begin(&self) -> Transaction<'_> {
        self.begin_with(&TransactionOptions::default())
    }

    /// Begins a transaction with options.
    pub fn begin_with(&self, options: &TransactionOptions) -> Transaction<'_> {
        Transaction::new(&self.db, options)
    }
}

impl Deref for TransactionDatabase {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.db
    }
}

impl fmt::Debug for TransactionDatabase {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.db.fmt(to)
    }
}

/// Options of one transaction. Options of locks have no effect with [`Conflicts::AtCommit`].
#[derive(Clone, Debug, Default)]
pub struct TransactionOptions {
    /// Whether reads see the state in which the transaction began, and its changes. A key that
    /// others have changed since is a conflict. Otherwise each read sees the newest state.
    pub snapshot: bool,
    /// Whether the commit returns when it is durable.
    pub synced: bool,
    /// How long a call waits for a lock. None is the default of one second.
    pub lock_timeout: Option<Duration>,
    /// Whether a call fails with Busy if its wait would never end; otherwise it ends by the time.
    pub detect_deadlocks: bool,
}

/// Changes that become visible together, by `commit`, or not at all. It may be sent to another
/// thread, but is used by one at a time. Dropping it drops its changes.
pub struct Transaction<'db> {
    db: &'db Database,
    raw: *mut sys::rocksdb_transaction_t,
    reads: *mut sys::rocksdb_readoptions_t,
    has_snapshot: bool,
}

// SAFETY: any thread may use it, one at a time.
unsafe impl Send for Transaction<'_> {}

impl<'db> Transaction<'db> {
    fn new(db: &'db Database, options: &TransactionOptions) -> Transaction<'db> {
        // SAFETY: the options are used here only, and freed; the transaction is this object's own.
        unsafe {
            let raw = Self::begin(db, options);
            let reads = sys::rocksdb_readoptions_create();
            assert!(!raw.is_null() && !reads.is_null(), "no memory");
            let transaction = Transaction {
                db,
                raw,
                reads,
                has_snapshot: options.snapshot,
            };
            transaction.set_snapshot(reads);
            transaction
        }
    }

    unsafe fn begin(
        db: &Database,
        options: &TransactionOptions,
    ) -> *mut sys::rocksdb_transaction_t {
        let writes = db.write_options(options.synced);
        let none = ptr::null_mut();
        match db.kind {
            Kind::Plain => none,
            Kind::Optimistic(own) => {
                let raw = sys::rocksdb_optimistictransaction_options_create();
                sys::rocksdb_optimistictransaction_options_set_set_snapshot(
                    raw,
                    c_uchar::from(options.snapshot),
                );
                let begun = sys::rocksdb_optimistictransaction_begin(own, writes, raw, none);
                sys::rocksdb_optimistictransaction_options_destroy(raw);
                begun
            }
            Kind::Pessimistic(own) => {
                let raw = sys::rocksdb_transaction_options_create();
                sys::rocksdb_transaction_options_set_set_snapshot(
                    raw,
                    c_uchar::from(options.snapshot),
                );
                sys::rocksdb_transaction_options_set_deadlock_detect(
                    raw,
                    c_uchar::from(options.detect_deadlocks),
                );
                if let Some(time) = options.lock_timeout {
                    let time = time.as_millis().min(1 << 40) as i64;
                    sys::rocksdb_transaction_options_set_lock_timeout(raw, time);
                }
                let begun = sys::rocksdb_transaction_begin(own, writes, raw, none);
                sys::rocksdb_transaction_options_destroy(raw);
                begun
            }
        }
    }

    /// Lets reads with these options see the state of the beginning, if there is a snapshot.
    ///
    /// # Safety
    /// The options are valid.
    unsafe fn set_snapshot(&self, options: *mut sys::rocksdb_readoptions_t) {
        if self.has_snapshot {
            let snapshot = sys::rocksdb_transaction_get_snapshot(self.raw);
            sys::rocksdb_readoptions_set_snapshot(options, snapshot);
            sys::rocksdb_free(snapshot as *mut c_void);
        }
    }

    /// Returns the value of a key of the default column family, as the transaction sees it.
    pub fn get(&self, key: &[u8]) -> Result<Option<Pinned<'db>>> {
        self.get_in(self.db.default_family(), key)
    }

    /// Returns the value of a key. A family of another database is an error, as in all methods.
    pub fn get_in(&self, family: Family<'_>, key: &[u8]) -> Result<Option<Pinned<'db>>> {
        let (handle, (key, size)) = (self.db.handle(family)?, parts(key));
        // SAFETY: the arguments outlive the calls. The value has its own bytes, or the database's.
        unsafe {
            let (raw, reads) = (self.raw, self.reads);
            check(|error| {
                sys::rocksdb_transaction_get_pinned_cf(raw, reads, handle, key, size, error)
            })
            .map(|value| Pinned::take(value))
        }
    }

    /// Returns the value of a key of the default column family, which no other transaction changes
    /// from now on.
    pub fn get_for_update(&mut self, key: &[u8]) -> Result<Option<Pinned<'db>>> {
        self.get_for_update_in(self.db.default_family(), key)
    }

    /// Returns the value of a key, which no other transaction changes from now on: it waits, or its
    /// commit fails.
    pub fn get_for_update_in(
        &mut self,
        family: Family<'_>,
        key: &[u8],
    ) -> Result<Option<Pinned<'db>>> {
        let (handle, (key, size)) = (self.db.handle(family)?, parts(key));
        // SAFETY: as above.
        unsafe {
            let (raw, reads) = (self.raw, self.reads);
            check(|error| {
                sys::rocksdb_transaction_get_pinned_for_update_cf(
                    raw, reads, handle, key, size, 1, error,
                )
            })
            .map(|value| Pinned::take(value))
        }
    }

    /// Iterates over keys of the default column family in order, with the changes made so far.
    pub fn iterate<'a>(
        &self,
        range: impl Into<KeyRange<'a>>,
    ) -> Result<Entries<'_, Transaction<'db>>> {
        self.iterate_in(self.db.default_family(), range)
    }

    /// Iterates over keys of a column family in order, with the changes made so far.
    pub fn iterate_in<'a>(
        &self,
        family: Family<'_>,
        range: impl Into<KeyRange<'a>>,
    ) -> Result<Entries<'_, Transaction<'db>>> {
        let handle = self.db.handle(family)?;
        Entries::new(range.into(), |options| {
            // SAFETY: the options outlive the calls.
            unsafe {
                self.set_snapshot(options);
                sys::rocksdb_transaction_create_iterator_cf(self.raw, options, handle)
            }
        })
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

    /// Sets the value of a key. With locks it waits for a transaction that has changed the key, as
    /// the methods below do.
    pub fn put_in(&mut self, family: Family<'_>, key: &[u8], value: &[u8]) -> Result<()> {
        let handle = self.db.handle(family)?;
        let ((key, key_size), (value, size)) = (parts(key), parts(value));
        // SAFETY: the library copies the bytes, as in the methods below.
        check(|error| unsafe {
            sys::rocksdb_transaction_put_cf(self.raw, handle, key, key_size, value, size, error)
        })
    }

    /// Deletes a key.
    pub fn delete_in(&mut self, family: Family<'_>, key: &[u8]) -> Result<()> {
        let (handle, (key, size)) = (self.db.handle(family)?, parts(key));
        check(|error| unsafe {
            sys::rocksdb_transaction_delete_cf(self.raw, handle, key, size, error)
        })
    }

    /// Adds an operand to a key.
    pub fn merge_in(&mut self, family: Family<'_>, key: &[u8], operand: &[u8]) -> Result<()> {
        let handle = self.db.handle(family)?;
        let ((key, key_size), (value, size)) = (parts(key), parts(operand));
        check(|error| unsafe {
            sys::rocksdb_transaction_merge_cf(self.raw, handle, key, key_size, value, size, error)
        })
    }

    /// Notes this state, to which `rollback_to_savepoint` returns.
    pub fn set_savepoint(&mut self) {
        // SAFETY: it is this object's own, as below.
        unsafe { sys::rocksdb_transaction_set_savepoint(self.raw) };
    }

    /// Undoes all changes since the last save point, and removes that. Without one it is NotFound.
    pub fn rollback_to_savepoint(&mut self) -> Result<()> {
        // SAFETY: no iteration exists, as it would borrow the transaction.
        check(|error| unsafe { sys::rocksdb_transaction_rollback_to_savepoint(self.raw, error) })
    }

    /// Makes the changes visible. After an error they are dropped; Busy is a conflict.
    pub fn commit(self) -> Result<()> {
        // SAFETY: as above.
        check(|error| unsafe { sys::rocksdb_transaction_commit(self.raw, error) })
    }

    /// Drops the changes.
    pub fn rollback(self) -> Result<()> {
        // SAFETY: as above.
        check(|error| unsafe { sys::rocksdb_transaction_rollback(self.raw, error) })
    }
}

impl fmt::Debug for Transaction<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Transaction").finish_non_exhaustive()
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // SAFETY: they are this object's own, and nothing borrows it any more.
        unsafe {
            sys::rocksdb_transaction_destroy(self.raw);
            sys::rocksdb_readoptions_destroy(self.reads);
        }
    }
}
