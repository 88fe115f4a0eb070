// SPDX-License-Identifier: Apache-2.0
//! Entries of a range of keys, in order.

use std::marker::PhantomData;
use std::ops::{Range, RangeFrom, RangeFull, RangeTo};

use varve_sys as sys;

use crate::database::parts;
use crate::error::check;
use crate::options::bytes;
use crate::{Database, Error, Result};

/// Where an iteration begins, and which way it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the first key on.
    Forward,
    /// From the last key back.
    Reverse,
}

/// Keys from `begin` to before `end`.
#[derive(Clone, Debug)]
pub struct KeyRange<'a> {
    begin: Option<&'a [u8]>,
    end: Option<Vec<u8>>,
    direction: Direction,
}

impl<'a> KeyRange<'a> {
    /// Returns the keys that begin with a prefix.
    pub fn prefix(prefix: &'a [u8]) -> KeyRange<'a> {
        let mut end = prefix.to_vec();
        while end.last() == Some(&0xff) {
            end.pop();
        }
        if let Some(last) = end.last_mut() {
            *last += 1;
        }
        let end = (!end.is_empty()).then_some(end);
        KeyRange {
            begin: Some(prefix),
            end,
            direction: Direction::Forward,
        }
    }

    /// Sets the direction.
    pub fn direction(mut self, direction: Direction) -> KeyRange<'a> {
        self.direction = direction;
        self
    }
}

impl<'a> From<RangeFull> for KeyRange<'a> {
    fn from(_: RangeFull) -> KeyRange<'a> {
        KeyRange {
            begin: None,
            end: None,
            direction: Direction::Forward,
        }
    }
}

impl<'a> From<Range<&'a [u8]>> for KeyRange<'a> {
    fn from(range: Range<&'a [u8]>) -> KeyRange<'a> {
        let end = Some(range.end.to_vec());
        KeyRange {
            begin: Some(range.start),
            end,
            direction: Direction::Forward,
        }
    }
}

impl<'a> From<RangeFrom<&'a [u8]>> for KeyRange<'a> {
    fn from(range: RangeFrom<&'a [u8]>) -> KeyRange<'a> {
        KeyRange {
            begin: Some(range.start),
            end: None,
            direction: Direction::Forward,
        }
    }
}

impl<'a> From<RangeTo<&'a [u8]>> for KeyRange<'a> {
    fn from(range: RangeTo<&'a [u8]>) -> KeyRange<'a> {
        KeyRange {
            begin: None,
            end: Some(range.end.to_vec()),
            direction: Direction::Forward,
        }
    }
}

/// A key and its value.
pub type Entry = (Box<[u8]>, Box<[u8]>);

/// An iteration over what a database or a transaction has. As an Iterator it copies each entry;
/// `valid`, `key`, `value` and `advance` show entries where they lie.
pub struct Entries<'a, Source = Database> {
    raw: *mut sys::rocksdb_iterator_t,
    direction: Direction,
    ended: bool,
    source: PhantomData<&'a Source>,
}

// SAFETY: any thread may use it, one at a time, if another may use its source then. A transaction
// is not Sync, so its iterations stay on its thread.
unsafe impl<Source: Sync> Send for Entries<'_, Source> {}

impl<'a, Source> Entries<'a, Source> {
    /// `make` makes the library's iterator with these options.
    pub(crate) fn new(
        range: KeyRange<'_>,
        make: impl FnOnce(*mut sys::rocksdb_readoptions_t) -> *mut sys::rocksdb_iterator_t,
    ) -> Result<Entries<'a, Source>> {
        // SAFETY: the iterator has copies of the bounds, and the options are used here only.
        unsafe {
            let options = sys::rocksdb_readoptions_create();
            sys::rocksdb_readoptions_set_total_order_seek(options, 1);
            if let Some(begin) = range.begin {
                let (data, size) = parts(begin);
                sys::rocksdb_readoptions_set_iterate_lower_bound(options, data, size);
            }
            if let Some(end) = &range.end {
                let (data, size) = parts(end);
                sys::rocksdb_readoptions_set_iterate_upper_bound(options, data, size);
            }
            let raw = make(options);
            sys::rocksdb_readoptions_destroy(options);
            if raw.is_null() {
                return Err(Error::invalid("no iterator could be made"));
            }
            let mut entries = Entries {
                raw,
                direction: range.direction,
                ended: false,
                source: PhantomData,
            };
            match range.direction {
                Direction::Forward => sys::rocksdb_iter_seek_to_first(raw),
                Direction::Reverse => sys::rocksdb_iter_seek_to_last(raw),
            }
            entries.status().map(|()| entries)
        }
    }

    /// Goes to a key: forward to the first one that is not before it, in reverse to the last one
    /// that is not behind it.
    pub fn seek(&mut self, key: &[u8]) -> Result<()> {
        let (data, size) = parts(key);
        // SAFETY: the key outlives the call.
        unsafe {
            match self.direction {
                Direction::Forward => sys::rocksdb_iter_seek(self.raw, data, size),
                Direction::Reverse => sys::rocksdb_iter_seek_for_prev(self.raw, data, size),
            }
        }
        self.ended = false;
        self.status()
    }

    /// Returns true if there is an entry here.
    pub fn valid(&self) -> bool {
        // SAFETY: it is this object's own, as below.
        unsafe { sys::rocksdb_iter_valid(self.raw) != 0 }
    }

    /// Returns the key here; it is empty without an entry.
    pub fn key(&self) -> &[u8] {
        if !self.valid() {
            return &[];
        }
        let mut size = 0;
        // SAFETY: the bytes stay until the iterator moves, which needs `&mut self`.
        unsafe { bytes(sys::rocksdb_iter_key(self.raw, &mut size), size) }
    }

    /// Returns the value here; it is empty without an entry.
    pub fn value(&self) -> &[u8] {
        if !self.valid() {
            return &[];
        }
        let mut size = 0;
        // SAFETY: as for the key.
        unsafe { bytes(sys::rocksdb_iter_value(self.raw, &mut size), size) }
    }

    /// Goes to the next entry in the direction, if there is one here.
    pub fn advance(&mut self) -> Result<()> {
        if !self.valid() {
            return Ok(());
        }
        // SAFETY: there is an entry here.
        unsafe {
            match self.direction {
                Direction::Forward => sys::rocksdb_iter_next(self.raw),
                Direction::Reverse => sys::rocksdb_iter_prev(self.raw),
            }
        }
        if self.valid() {
            return Ok(());
        }
        self.status()
    }

    fn status(&mut self) -> Result<()> {
        // SAFETY: as above.
        check(|error| unsafe { sys::rocksdb_iter_get_error(self.raw, error) })
    }
}

impl<Source> Iterator for Entries<'_, Source> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Result<Entry>> {
        if self.ended {
            return None;
        }
        if !self.valid() {
            self.ended = true;
            return self.status().err().map(Err);
        }
        let entry = (self.key().into(), self.value().into());
        // An error is shown by the next call, after this entry.
        let _ = self.advance();
        Some(Ok(entry))
    }
}

impl<Source> Drop for Entries<'_, Source> {
    fn drop(&mut self) {
        // SAFETY: it is this object's own.
        unsafe { sys::rocksdb_iter_destroy(self.raw) };
    }
}
