// SPDX-License-Identifier: Apache-2.0
//! Goal: transactions of both kinds are whole or nothing, and find conflicts. Method: two
//! transactions, or a transaction and a plain write, at the same keys; threads that move sums, of
//! which none may be lost. What must not compile is in lib.rs.

use std::time::Duration;

use varve::{
    Conflicts, Database, Direction, ErrorKind, KeyRange, Options, TransactionDatabase,
    TransactionOptions,
};

mod folder;

use folder::{all, kind, Folder};

const BOTH: [Conflicts; 2] = [Conflicts::Locks, Conflicts::AtCommit];

fn open(folder: &Folder, conflicts: Conflicts) -> TransactionDatabase {
    let options = Options::new().text("merge_operator=stringappend").unwrap();
    TransactionDatabase::open(folder.0.join("db"), &options, conflicts).unwrap()
}

fn pairs(of: &[(&str, &str)]) -> Vec<(Vec<u8>, Vec<u8>)> {
    of.iter()
        .map(|(k, v)| (k.as_bytes().to_vec(), v.as_bytes().to_vec()))
        .collect()
}

#[test]
fn transactions_are_whole_or_nothing() {
    for conflicts in BOTH {
        let folder = Folder::new();
        let db = open(&folder, conflicts);
        let two = db.create_family("two", &Options::new()).unwrap();
        db.put(b"k", b"0").unwrap();
        let mut transaction = db.begin();
        transaction.put(b"k", b"1").unwrap();
        transaction.put(b"e", b"").unwrap();
        transaction.put_in(two, b"l", b"2").unwrap();
        transaction.merge(b"m", b"x").unwrap();
        transaction
            .merge_in(db.default_family(), b"m", b"y")
            .unwrap();
        assert_eq!(&*transaction.get(b"k").unwrap().unwrap(), b"1");
        assert_eq!(&*transaction.get(b"m").unwrap().unwrap(), b"x,y");
        assert_eq!(&*transaction.get(b"e").unwrap().unwrap(), b"");
        assert_eq!(&*transaction.get_in(two, b"l").unwrap().unwrap(), b"2");
        assert!(transaction.get(b"absent").unwrap().is_none());
        assert_eq!(&*db.get(b"k").unwrap().unwrap(), b"0");
        transaction.commit().unwrap();
        let expected = pairs(&[("e", ""), ("k", "1"), ("m", "x,y")]);
        assert_eq!(all(db.iterate(..).unwrap()), expected);
        let mut dropped = db.begin();
        dropped.delete(b"k").unwrap();
        dropped.delete_in(two, b"l").unwrap();
        assert!(dropped.get(b"k").unwrap().is_none());
        drop(dropped);
        let mut undone = db.begin_with(&TransactionOptions {
            synced: true,
            ..TransactionOptions::default()
        });
        undone.put(b"k", b"2").unwrap();
        undone.rollback().unwrap();
        assert_eq!(all(db.iterate(..).unwrap()), expected);
        assert_eq!(all(two.iterate(..).unwrap()), pairs(&[("l", "2")]));
    }
}

#[test]
fn values_outlive_their_transaction() {
    for conflicts in BOTH {
        let folder = Folder::new();
        let db = open(&folder, conflicts);
        db.put(b"stored", b"old").unwrap();
        let mut transaction = db.begin();
        transaction.put(b"own", b"value").unwrap();
        let values = [&b"own"[..], b"stored"].map(|key| transaction.get(key).unwrap().unwrap());
        let locked = transaction.get_for_update(b"own").unwrap().unwrap();
        for i in 0..1000u32 {
            transaction.put(&i.to_be_bytes(), &[7; 100]).unwrap();
        }
        transaction.put(b"own", b"other").unwrap();
        transaction.commit().unwrap();
        assert_eq!((&*values[0], &*values[1]), (&b"value"[..], &b"old"[..]));
        assert_eq!(&*locked, b"value");
    }
}

#[test]
fn iterations_have_the_changes() {
    for conflicts in BOTH {
        let folder = Folder::new();
        let db = open(&folder, conflicts);
        for key in ["a", "c", "e"] {
            db.put(key.as_bytes(), b"0").unwrap();
        }
        let mut transaction = db.begin();
        transaction.put(b"b", b"1").unwrap();
        transaction.put(b"c", b"1").unwrap();
        transaction.delete(b"e").unwrap();
        let expected = pairs(&[("a", "0"), ("b", "1"), ("c", "1")]);
        assert_eq!(all(transaction.iterate(..).unwrap()), expected);
        let range = KeyRange::from(&b"b"[..]..).direction(Direction::Reverse);
        let mut back = all(transaction.iterate(range).unwrap());
        back.reverse();
        assert_eq!(back, expected[1..]);
        let mut entries = transaction.iterate(..).unwrap();
        entries.seek(b"bb").unwrap();
        assert_eq!((entries.key(), entries.value()), (&b"c"[..], &b"1"[..]));
        drop(entries);
        transaction.set_savepoint();
        transaction.put(b"d", b"2").unwrap();
        assert_eq!(transaction.iterate(..).unwrap().count(), 4);
        transaction.rollback_to_savepoint().unwrap();
        assert_eq!(all(transaction.iterate(..).unwrap()), expected);
        assert_eq!(
            kind(transaction.rollback_to_savepoint()),
            ErrorKind::NotFound
        );
    }
}

#[test]
fn conflicts_are_found() {
    let folder = Folder::new();
    {
        let db = open(&folder, Conflicts::Locks);
        let mut first = db.begin();
        assert!(first.get_for_update(b"k").unwrap().is_none());
        let mut second = db.begin_with(&TransactionOptions {
            lock_timeout: Some(Duration::from_millis(20)),
            ..TransactionOptions::default()
        });
        assert_eq!(kind(second.put(b"k", b"2")), ErrorKind::TimedOut);
        assert_eq!(kind(second.get_for_update(b"k")), ErrorKind::TimedOut);
        assert_eq!(kind(db.put(b"k", b"2")), ErrorKind::TimedOut);
        assert_eq!(
            kind(db.default_family().delete_range(b"a", b"z")),
            ErrorKind::TimedOut
        );
        first.put(b"k", b"1").unwrap();
        first.commit().unwrap();
        second.put(b"k", b"2").unwrap();
        second.commit().unwrap();
        assert_eq!(&*db.get(b"k").unwrap().unwrap(), b"2");
        db.merge(b"k", b"3").unwrap();
        db.delete(b"absent").unwrap();
        assert_eq!(&*db.get(b"k").unwrap().unwrap(), b"2,3");
    }
    let db = open(&folder, Conflicts::AtCommit);
    let mut first = db.begin();
    first.get_for_update(b"k").unwrap();
    db.put(b"k", b"2").unwrap();
    first.put(b"l", b"1").unwrap();
    assert_eq!(kind(first.commit()), ErrorKind::Busy);
    assert!(db.get(b"l").unwrap().is_none());
}

#[test]
fn snapshots_of_transactions_hold_still() {
    for conflicts in BOTH {
        let folder = Folder::new();
        let db = open(&folder, conflicts);
        db.put(b"k", b"0").unwrap();
        let options = TransactionOptions {
            snapshot: true,
            ..TransactionOptions::default()
        };
        let mut transaction = db.begin_with(&options);
        db.put(b"k", b"1").unwrap();
        assert_eq!(&*transaction.get(b"k").unwrap().unwrap(), b"0");
        assert_eq!(all(transaction.iterate(..).unwrap()), pairs(&[("k", "0")]));
        let refused = transaction
            .put(b"k", b"2")
            .and_then(|()| transaction.commit());
        assert_eq!(kind(refused), ErrorKind::Busy);
        assert_eq!(&*db.get(b"k").unwrap().unwrap(), b"1");
    }
}

#[test]
fn foreign_families_are_refused() {
    let folder = Folder::new();
    let other_folder = Folder::new();
    let (db, other) = (open(&folder, Conflicts::Locks), other_folder.open());
    let mut transaction = db.begin();
    let foreign = other.default_family();
    for result in [
        transaction.put_in(foreign, b"k", b"v"),
        transaction.delete_in(foreign, b"k"),
        transaction.merge_in(foreign, b"k", b"v"),
        transaction.get_in(foreign, b"k").map(|_| ()),
        transaction.get_for_update_in(foreign, b"k").map(|_| ()),
        transaction.iterate_in(foreign, ..).map(|_| ()),
    ] {
        assert_eq!(kind(result), ErrorKind::InvalidArgument);
    }
    drop(transaction);
    drop(db);
    let plain = Database::open(folder.0.join("db"), &Options::new()).unwrap();
    assert_eq!(plain.iterate(..).unwrap().count(), 0);
}

#[test]
fn threads_move_sums() {
    for conflicts in BOTH {
        let folder = Folder::new();
        let db = open(&folder, conflicts);
        for account in 0..4u8 {
            db.put(&[account], &100u64.to_be_bytes()).unwrap();
        }
        let step = |from: u8, to: u8| -> varve::Result<()> {
            let mut transaction = db.begin();
            for (account, change) in [(from, u64::MAX), (to, 1)] {
                let value = transaction.get_for_update(&[account])?.unwrap();
                let value = u64::from_be_bytes((&*value).try_into().unwrap());
                let value = value.wrapping_add(change);
                transaction.put(&[account], &value.to_be_bytes())?;
            }
            transaction.commit()
        };
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                let step = &step;
                scope.spawn(move || {
                    for i in 0..50 {
                        let (from, to) = ((thread + i) % 4, (thread + i * 3 + 1) % 4);
                        if from == to {
                            continue;
                        }
                        // Locks in the order of accounts cannot wait for each other for ever.
                        let (from, to) = (from.min(to), from.max(to));
                        while let Err(error) = step(from, to) {
                            let kinds = [ErrorKind::Busy, ErrorKind::TimedOut];
                            assert!(kinds.contains(&error.kind()), "{error}");
                        }
                    }
                });
            }
        });
        let sum: u64 = all(db.iterate(..).unwrap())
            .iter()
            .map(|(_, value)| u64::from_be_bytes(value[..].try_into().unwrap()))
            .fold(0, u64::wrapping_add);
        assert_eq!(sum, 400);
    }
}
