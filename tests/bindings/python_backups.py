# SPDX-License-Identifier: Apache-2.0
"""Goal: backups are made, listed, verified, restored and purged, and misuse is an exception. Method: databases of a few keys; a
file of a backup is cut; objects are used in wrong states."""
import os
import threading
import time

from python_package import path, raises
import varve


def keys_of(directory, **more):
    with varve.open(directory, **more) as db:
        return [key for key, _ in db.iterate()]


def test_backups():
    with varve.open(path("backed"), options="compression=kNoCompression") as db, varve.Backups(path("backups")) as backups:
        assert backups.list() == []
        for i in range(3):
            db.put(b"%d" % i, os.urandom(1000))
            assert backups.create(db, metadata=b"\0%d" % i, flush=i == 1) == i + 1
        found = backups.list()
        assert [one.id for one in found] == [1, 2, 3] and [one.metadata for one in found] == [b"\x000", b"\x001", b"\x002"]
        assert all(abs(one.timestamp - time.time()) < 3600 and one.size > 1000 and one.files > 2 for one in found), found
        for one in found:
            backups.verify(one.id)
        backups.restore(path("restored"))
        assert keys_of(path("restored")) == [b"0", b"1", b"2"]
        backups.restore(path("restored"), 1)
        assert keys_of(path("restored")) == [b"0"]
        backups.delete(1)
        backups.purge(1)
        assert [one.id for one in backups.list()] == [3]
        raises(varve.VarveError, backups.restore, path("restored"), 1)
        raises(varve.VarveError, backups.verify, 1)
        assert keys_of(path("restored")) == [b"0"]
    with varve.Backups(path("backups"), read_only=True) as reader:
        assert [one.id for one in reader.list()] == [3]
        reader.restore(path("restored"), 3)
        assert len(keys_of(path("restored"))) == 3
        raises(varve.NotSupportedError, reader.purge, 0)
        raises(varve.NotSupportedError, reader.delete, 3)


def test_backups_of_transactions():
    for kind in ("optimistic", "pessimistic"):
        with varve.open(path(kind + " backed"), transactions=kind) as db, varve.Backups(path(kind + " backups")) as backups:
            db.create_family("two")
            with db.transaction() as transaction:
                transaction.put(b"k", b"v", family="two")
                db.put(b"l", b"w")
                backups.create(db)
            backups.create(db)
            for number, value in ((1, None), (2, b"v")):
                backups.restore(path(kind + " restored"), number)
                with varve.open(path(kind + " restored"), transactions=kind) as restored:
                    assert restored.get(b"k", family="two") == value and restored.get(b"l") == b"w"


def test_damaged_backup():
    with varve.open(path("cut")) as db, varve.Backups(path("cut backups")) as backups:
        db.put(b"k", os.urandom(10000))
        backups.create(db, flush=True)
        backups.verify(1)
        tables = [os.path.join(folder, name) for folder, _, names in os.walk(path("cut backups")) for name in names
                  if name.endswith(".sst")]
        os.truncate(tables[0], 100)
        raises(varve.CorruptionError, backups.verify, 1)
        raises(varve.VarveError, backups.restore, path("cut restored"))


def test_backup_misuse():
    raises(ValueError, varve.Backups, "")
    raises(TypeError, varve.Backups, 7.5)
    raises(varve.VarveError, varve.Backups, path("absent/absent/absent"), read_only=True)
    db, backups = varve.open(path("misused")), varve.Backups(path("misused backups"))
    for wrong in (None, "db", backups, 7):
        raises(TypeError, backups.create, wrong)
    raises(TypeError, backups.create, db, metadata="text")
    for call in (backups.verify, backups.delete, backups.purge, lambda number: backups.restore(path("never"), number)):
        raises(TypeError, call, "1")
        raises(TypeError, call, True)
        raises(ValueError, call, -1)
        raises(ValueError, call, 1 << 32)
    assert not os.path.exists(path("never"))
    raises(varve.VarveError, backups.restore, path("never"))
    raises(varve.VarveError, backups.verify, 1)
    raises(varve.VarveError, varve.Backups, path("misused backups"))
    assert backups.create(db) == 1
    raises(varve.VarveError, backups.restore, path("misused"))  # It is open.
    db.close()
    raises(varve.ClosedError, backups.create, db)
    backups.restore(path("misused"))
    backups.close()
    backups.close()
    for call in (backups.list, lambda: backups.verify(1), lambda: backups.purge(1), lambda: backups.create(db),
                 lambda: backups.restore(path("never"))):
        raises(varve.ClosedError, call)


def test_closing_beneath_backups():
    """Threads make backups and lists while another closes the database, and then the backups."""
    for _ in range(5):
        db, backups, ended = varve.open(path("beneath")), varve.Backups(path("beneath backups")), []
        db.put(b"k", b"v")

        def work(call, db=db, backups=backups, ended=ended):
            try:
                while True:
                    call(backups, db)
            except varve.ClosedError:
                ended.append(1)

        calls = (lambda backups, db: backups.create(db), lambda backups, _: backups.list(), lambda backups, _: backups.purge(2))
        threads = [threading.Thread(target=work, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        db.close()
        backups.close()
        for thread in threads:
            thread.join(60)
        assert len(ended) == 3
