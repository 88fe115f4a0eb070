// SPDX-License-Identifier: Apache-2.0
//! Goal: backups are made, listed, verified, restored and purged, and misuse is an error. Method:
//! databases of a few keys; a file of a backup is cut.

use std::path::Path;

use varve::{Backups, Conflicts, Database, ErrorKind, Options, TransactionDatabase};

mod folder;

use folder::{all, kind, Folder};

fn keys(folder: &Path) -> usize {
    let db = Database::open_read_only(folder, &Options::new()).unwrap();
    all(db.iterate(..).unwrap()).len()
}

#[test]
fn backups_are_restored() {
    let folder = Folder::new();
    let db = folder.open();
    let mut backups = Backups::open(folder.0.join("backups")).unwrap();
    assert!(backups.list().is_empty());
    for i in 0..3u8 {
        db.put(&[i], b"v").unwrap();
        let made = if i == 1 {
            backups.create_flushed(&db, &[0, i])
        } else {
            backups.create(&db, &[0, i])
        };
        assert_eq!(made.unwrap(), u32::from(i) + 1);
    }
    let list = backups.list();
    let told: Vec<_> = list.iter().map(|one| (one.id, &one.metadata[..])).collect();
    assert_eq!(told, [(1, &[0, 0][..]), (2, &[0, 1]), (3, &[0, 2])]);
    for one in &list {
        assert!(one.size > 0 && one.files > 0 && one.timestamp > 1_600_000_000);
        backups.verify(one.id).unwrap();
    }
    let restored = folder.0.join("restored");
    backups.restore_latest(&restored).unwrap();
    assert_eq!(keys(&restored), 3);
    backups.restore(1, &restored).unwrap();
    assert_eq!(keys(&restored), 1);
    backups.delete(1).unwrap();
    backups.purge(1).unwrap();
    assert_eq!(backups.list(), list[2..]);
    assert!(backups.restore(1, &restored).is_err() && backups.verify(1).is_err());
    assert_eq!(keys(&restored), 1);
    drop(backups);
    let mut reader = Backups::open_read_only(folder.0.join("backups")).unwrap();
    reader.restore(3, &restored).unwrap();
    assert_eq!(keys(&restored), 3);
    assert_eq!(kind(reader.purge(0)), ErrorKind::NotSupported);
    assert_eq!(kind(reader.create(&db, b"")), ErrorKind::NotSupported);
}

#[test]
fn backups_of_transactions_have_what_is_committed() {
    for conflicts in [Conflicts::Locks, Conflicts::AtCommit] {
        let folder = Folder::new();
        let path = folder.0.join("db");
        let db = TransactionDatabase::open(path, &Options::new(), conflicts).unwrap();
        let mut backups = Backups::open(folder.0.join("backups")).unwrap();
        let mut transaction = db.begin();
        transaction.put(b"k", b"v").unwrap();
        backups.create(&db, b"").unwrap();
        transaction.commit().unwrap();
        backups.create(&db, b"").unwrap();
        for (id, count) in [(1, 0), (2, 1)] {
            backups.restore(id, folder.0.join("restored")).unwrap();
            assert_eq!(keys(&folder.0.join("restored")), count);
        }
    }
}

#[test]
fn misuse_is_an_error() {
    let folder = Folder::new();
    let db = folder.open();
    assert!(Backups::open("a\0b").is_err());
    assert!(Backups::open_read_only(folder.0.join("absent/absent")).is_err());
    let mut backups = Backups::open(folder.0.join("backups")).unwrap();
    assert!(Backups::open(folder.0.join("backups")).is_err());
    assert!(backups.restore_latest(folder.0.join("never")).is_err());
    assert!(backups.verify(1).is_err() && backups.delete(1).is_err());
    db.put(b"k", &[7; 10000]).unwrap();
    backups.create_flushed(&db, b"").unwrap();
    assert!(backups.restore_latest(folder.0.join("db")).is_err(), "open");
    let tables = std::fs::read_dir(folder.0.join("backups/shared_checksum")).unwrap();
    for table in tables {
        let table = table.unwrap().path();
        let file = std::fs::OpenOptions::new().write(true).open(table);
        file.unwrap().set_len(100).unwrap();
    }
    assert_eq!(kind(backups.verify(1)), ErrorKind::Corruption);
    assert!(backups.restore_latest(folder.0.join("never")).is_err());
}
