// SPDX-License-Identifier: Apache-2.0
//! Varve, an embeddable key-value engine.
//!
//! ```
//! # let folder = std::env::temp_dir().join(format!("varve-doc-{}", std::process::id()));
//! let db = varve::Database::open(&folder, &varve::Options::new())?;
//! db.put(b"key", b"value")?;
//! assert_eq!(db.get(b"key")?.as_deref(), Some(&b"value"[..]));
//! for entry in db.iterate(..)? {
//!     let (key, value) = entry?;
//!     println!("{key:?} {value:?}");
//! }
//! # drop(db);
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), varve::Error>(())
//! ```
//!
//! What a database gives out borrows it: values, iterators, snapshots, families, batches and
//! transactions end before it is closed, or the program does not compile.
//!
//! ```compile_fail,E0505
//! let db = varve::Database::open("path", &varve::Options::new()).unwrap();
//! let value = db.get(b"key");
//! drop(db); // error: `db` is borrowed
//! println!("{:?}", value);
//! ```
//!
//! ```compile_fail,E0597
//! let db = varve::Database::open("path", &varve::Options::new()).unwrap();
//! let entries = {
//!     let snapshot = db.snapshot();
//!     snapshot.iterate(..).unwrap() // error: `snapshot` does not live long enough
//! };
//! println!("{}", entries.count());
//! ```
//!
//! ```compile_fail,E0505
//! let options = varve::Options::new();
//! let db = varve::TransactionDatabase::open("path", &options, varve::Conflicts::Locks).unwrap();
//! let transaction = db.begin();
//! drop(db); // error: `db` is borrowed
//! transaction.commit().unwrap();
//! ```
//!
//! An iteration over a transaction borrows that, so it sees no change, and stays on its thread.
//!
//! ```compile_fail,E0502
//! # let options = varve::Options::new();
//! let db = varve::TransactionDatabase::open("path", &options, varve::Conflicts::Locks).unwrap();
//! let mut transaction = db.begin();
//! let entries = transaction.iterate(..).unwrap();
//! transaction.put(b"key", b"value").unwrap(); // error: `transaction` is borrowed
//! println!("{}", entries.count());
//! ```
//!
//! ```compile_fail,E0277
//! # let options = varve::Options::new();
//! let db = varve::TransactionDatabase::open("path", &options, varve::Conflicts::Locks).unwrap();
//! let transaction = db.begin();
//! let entries = transaction.iterate(..).unwrap();
//! std::thread::scope(|scope| {
//!     scope.spawn(move || entries.count()); // error: `Transaction` is not `Sync`
//! });
//! ```

#![deny(missing_docs)]

mod backup;
mod batch;
mod database;
mod error;
mod iterator;
mod options;
mod snapshot;
mod transaction;

pub use backup::{Backup, Backups};
pub use batch::Batch;
pub use database::{Database, Family, Pinned};
pub use error::{Error, ErrorKind};
pub use iterator::{Direction, Entries, Entry, KeyRange};
pub use options::Options;
pub use snapshot::Snapshot;
pub use transaction::{Conflicts, Transaction, TransactionDatabase, TransactionOptions};

/// What fallible calls return.
pub type Result<T> = std::result::Result<T, Error>;
