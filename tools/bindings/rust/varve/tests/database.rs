// SPDX-License-Identifier: Apache-2.0
//! Goal: the crate answers as the engine does, and misuse is an error. Method: small databases in a
//! temporary folder, beside maps that say what must come out. What must not compile is in lib.rs.

use std::collections::BTreeMap;

use varve::{Database, Direction, ErrorKind, KeyRange, Options};

mod folder;

use folder::{all, kind, Folder};

#[test]
fn values_are_read_where_they_lie() {
    let folder = Folder::new();
    let db = folder.open();
    assert!(db.get(b"k").unwrap().is_none());
    db.put(b"k", b"v").unwrap();
    db.put(b"", b"").unwrap();
    let pinned = db.get(b"k").unwrap().unwrap();
    db.put(b"k", b"later").unwrap();
    db.default_family().flush().unwrap();
    db.default_family().compact();
    assert_eq!(&*pinned, b"v");
    assert_eq!(&*db.get(b"").unwrap().unwrap(), b"");
    db.delete(b"k").unwrap();
    assert!(db.get(b"k").unwrap().is_none());
    assert!(db.metrics().unwrap().contains("varve_"));
    assert!(db.default_family().property("rocksdb.stats").is_some());
    assert!(db.default_family().property("nonsense").is_none());
}

#[test]
fn iterators_agree_with_a_map() {
    let folder = Folder::new();
    let db = folder.open();
    let mut model = BTreeMap::new();
    let mut batch = db.batch();
    for i in 0..2000u32 {
        let (key, value) = (
            format!("{:05}", i * 7919 % 3001).into_bytes(),
            i.to_string().into_bytes(),
        );
        batch.put(&key, &value).unwrap();
        model.insert(key, value);
    }
    assert_eq!(batch.len(), 2000);
    db.write_synced(&batch).unwrap();
    batch.clear();
    assert!(batch.is_empty());
    let model: Vec<_> = model.into_iter().collect();
    assert_eq!(all(db.iterate(..).unwrap()), model);
    let (from, to) = (&b"00500"[..], &b"01000"[..]);
    let part: Vec<_> = model
        .iter()
        .filter(|(k, _)| &k[..] >= from && &k[..] < to)
        .cloned()
        .collect();
    assert_eq!(all(db.iterate(from..to).unwrap()), part);
    let mut back = all(db
        .iterate(KeyRange::from(from..to).direction(Direction::Reverse))
        .unwrap());
    back.reverse();
    assert_eq!(back, part);
    let with: Vec<_> = model
        .iter()
        .filter(|(k, _)| k.starts_with(b"02"))
        .cloned()
        .collect();
    assert_eq!(all(db.iterate(KeyRange::prefix(b"02")).unwrap()), with);
    db.put(b"\xff\xff1", b"x").unwrap();
    assert_eq!(
        all(db.iterate(KeyRange::prefix(b"\xff\xff")).unwrap()).len(),
        1
    );
    let mut entries = db.iterate(..).unwrap();
    entries.seek(b"00500").unwrap();
    assert_eq!(
        (entries.key(), entries.value()),
        (&part[0].0[..], &part[0].1[..])
    );
    entries.advance().unwrap();
    assert_eq!(entries.key(), &part[1].0[..]);
    entries.seek(b"\xff\xff2").unwrap();
    assert!(!entries.valid() && entries.key().is_empty() && entries.value().is_empty());
    entries.advance().unwrap();
    assert!(entries.next().is_none() && entries.next().is_none());
}

#[test]
fn snapshots_hold_still() {
    let folder = Folder::new();
    let db = folder.open();
    db.put(b"a", b"1").unwrap();
    let snapshot = db.snapshot();
    db.put(b"a", b"2").unwrap();
    db.put(b"b", b"3").unwrap();
    assert_eq!(&*snapshot.get(b"a").unwrap().unwrap(), b"1");
    assert_eq!(
        all(snapshot.iterate(..).unwrap()),
        [(b"a".to_vec(), b"1".to_vec())]
    );
    assert!(snapshot.sequence() < db.snapshot().sequence());
}

#[test]
fn families_are_apart() {
    let folder = Folder::new();
    {
        let db = folder.open();
        let two = db.create_family("two", &Options::new()).unwrap();
        two.put(b"k", b"2").unwrap();
        assert!(db.get(b"k").unwrap().is_none());
        let mut batch = db.batch();
        batch.put_in(two, b"l", b"3").unwrap();
        batch.delete_in(two, b"k").unwrap();
        db.write(&batch).unwrap();
        assert_eq!(
            kind(db.create_family("two", &Options::new())),
            ErrorKind::InvalidArgument
        );
    }
    let db = folder.open();
    assert_eq!(db.families(), ["default", "two"]);
    let two = db.family("two").unwrap();
    assert_eq!(
        all(two.iterate(..).unwrap()),
        [(b"l".to_vec(), b"3".to_vec())]
    );
    two.delete_range(b"a", b"z").unwrap();
    assert!(two.get(b"l").unwrap().is_none());
    db.drop_family(two).unwrap();
    assert_eq!(kind(two.put(b"k", b"v")), ErrorKind::InvalidArgument);
    let again = db.create_family("two", &Options::new()).unwrap();
    assert_eq!(db.families(), ["default", "two"]);
    again.put(b"k", b"v").unwrap();
    assert_eq!(kind(two.put(b"k", b"v")), ErrorKind::InvalidArgument);
}

#[test]
fn merge_operators_are_closures() {
    let folder = Folder::new();
    let options = Options::new()
        .merge_operator("append", |key, value, operands| {
            assert_ne!(key, b"panic");
            let mut all = value.unwrap_or(b"-").to_vec();
            operands
                .iter()
                .for_each(|operand| all.extend_from_slice(operand));
            (key != b"refused").then_some(all)
        })
        .unwrap();
    let db = Database::open(folder.0.join("db"), &options).unwrap();
    drop(options);
    db.merge(b"k", b"x").unwrap();
    db.merge(b"k", b"y").unwrap();
    assert_eq!(&*db.get(b"k").unwrap().unwrap(), b"-xy");
    db.put(b"k", b"").unwrap();
    let mut batch = db.batch();
    batch.merge(b"k", b"z").unwrap();
    db.write(&batch).unwrap();
    assert_eq!(&*db.get(b"k").unwrap().unwrap(), b"z");
    for key in [&b"refused"[..], b"panic"] {
        db.merge(key, b"x").unwrap();
        assert!(db.get(key).is_err());
    }
}

#[test]
fn checkpoints_are_databases() {
    let folder = Folder::new();
    let db = folder.open();
    db.put(b"k", b"v").unwrap();
    let copy = folder.0.join("copy");
    db.checkpoint(&copy).unwrap();
    assert_eq!(kind(db.checkpoint(&copy)), ErrorKind::InvalidArgument);
    db.put(b"k", b"later").unwrap();
    let copied = Database::open_read_only(&copy, &Options::new()).unwrap();
    assert_eq!(&*copied.get(b"k").unwrap().unwrap(), b"v");
    assert_eq!(kind(copied.put(b"k", b"v")), ErrorKind::NotSupported);
}

#[test]
fn misuse_is_an_error() {
    let folder = Folder::new();
    let absent = Options::new().create_if_missing(false);
    assert!(Database::open(folder.0.join("absent"), &absent).is_err());
    assert!(Database::open("a\0b", &Options::new()).is_err());
    assert_eq!(
        kind(Options::new().text("nonsense=1")),
        ErrorKind::InvalidArgument
    );
    let db = Database::open(
        folder.0.join("db"),
        &Options::new().text("write_buffer_size=1M").unwrap(),
    )
    .unwrap();
    assert_eq!(
        kind(Database::open(folder.0.join("db"), &Options::new())),
        ErrorKind::Io
    );
    let other = Database::open(folder.0.join("other"), &Options::new()).unwrap();
    assert_eq!(kind(db.write(&other.batch())), ErrorKind::InvalidArgument);
    assert_eq!(
        kind(db.batch().put_in(other.default_family(), b"k", b"v")),
        ErrorKind::InvalidArgument
    );
    assert_eq!(
        kind(db.drop_family(other.default_family())),
        ErrorKind::InvalidArgument
    );
    assert!(db.drop_family(db.default_family()).is_err());
    assert_eq!(kind(db.merge(b"k", b"v")), ErrorKind::NotSupported);
}

#[test]
fn threads_share_a_database() {
    let folder = Folder::new();
    let db = folder.open();
    std::thread::scope(|scope| {
        for t in 0..4u8 {
            let db = &db;
            scope.spawn(move || {
                for i in 0..500u32 {
                    let key = [&[t][..], &i.to_be_bytes()].concat();
                    db.put(&key, &key).unwrap();
                    assert_eq!(&*db.get(&key).unwrap().unwrap(), &key[..]);
                }
            });
        }
    });
    assert_eq!(db.iterate(..).unwrap().count(), 2000);
}
