// SPDX-License-Identifier: Apache-2.0
//! What the tests share: a temporary folder, and short forms of results.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use varve::{Database, ErrorKind, Options};

/// A folder that is deleted at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "varve-rust-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub fn open(&self) -> Database {
        Database::open(self.0.join("db"), &Options::new()).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

pub fn kind<T>(result: varve::Result<T>) -> ErrorKind {
    result.err().expect("an error").kind()
}

pub fn all<Source>(entries: varve::Entries<'_, Source>) -> Vec<(Vec<u8>, Vec<u8>)> {
    entries
        .map(|entry| entry.unwrap())
        .map(|(k, v)| (k.into_vec(), v.into_vec()))
        .collect()
}
